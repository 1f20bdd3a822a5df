//! An import restores what an export wrote (`export`): exactly where the user vouches for the file, otherwise as the
//! word of a stranger. The whole file is checked first, and put aside without its secrets; only then it is written.
//! `line` decides what a line has to be, `domain::learning::imported` what a stranger may claim. The command
//! `memory import` and the route for imports both come here.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::time::Duration;

use futures::{StreamExt, stream};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{MissingVectors, Restorable};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::evidence::genealogy::cycle_edges;
use reasoning_bank_domain::learning::imported::UntrustedReaders;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::safety::secrets::Removed;
use tokio::sync::mpsc;
use uuid::Uuid;

use self::banks::{BANKS_MAX_BYTES, ImportedBanks};
use self::copies::CopyIds;
pub(crate) use self::foreign_workspaces::ForeignWorkspaces;
use self::line::{BankFile, ImportLine, Raw, Taken};
pub(crate) use self::line::{ImportMode, ImportTarget};
use self::outcome::NotTaken;
pub(crate) use self::outcome::{ImportCounts, ImportWords, Imported};
pub(crate) use self::preview::{KindPreview, KindPreviews};
pub(crate) use self::sources::{CollectError, CollectedSource, SourceContext, SplitThings, collect};
use self::staging::StagedEntry;
use crate::jsonl::{ItemProblem, LocatedProblem, ReadError, read_on_all_cores};

mod banks;
mod copies;
mod foreign_workspaces;
mod line;
mod outcome;
mod preview;
mod sources;
mod staging;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// This much is written at once. The store takes batches of this size without writing them twice.
const BATCH_THINGS: usize = 8_192;
const BATCH_BYTES: usize = 32 * 1024 * 1024;
/// This much is written at once of what has no vectors yet, or those of another embedder.
const BATCH_UNEMBEDDED: usize = 256;
const BATCH_UNEMBEDDED_BYTES: usize = 1024 * 1024;
/// While one batch is embedded or stored, another is read and prepared.
const BATCHES_AT_ONCE: usize = 2;
/// One batch may take this long, because all its texts may have to be embedded.
const BATCH_TIMEOUT: Duration = Duration::from_secs(600);

/// The reason why a file is not imported.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportFailure {
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// The disk has no room for what is checked.
    #[error("what was checked cannot be put aside: {0}")]
    Aside(io::Error),
    #[error("nothing was imported{}", ReadError::Bad(.0.clone()))]
    Bad(Vec<LocatedProblem>),
    #[error("nothing was imported: the file names more than {} workspaces", foreign_workspaces::MOST)]
    TooManyWorkspaces,
    #[error("nothing was imported: its memory banks have more than {} MiB; import them in parts", BANKS_MAX_BYTES >> 20)]
    BanksTooLarge,
    /// A part is written. The same import again does the rest.
    #[error("the import broke off after {lines} lines")]
    BrokenOff { lines: u64, error: Box<Error> },
}

impl ImportFailure {
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Unreadable(_) | Self::Bad(_) | Self::TooManyWorkspaces | Self::BanksTooLarge => Code::InvalidArgument,
            Self::Aside(_) => Code::StoreUnavailable,
            Self::BrokenOff { error, .. } => error.code(),
        }
    }
}

/// Everything that is to be written, in a file without a name.
pub(crate) struct Checked {
    file: File,
    things: u64,
    /// The other workspaces, where somebody has to agree to them.
    foreign: ForeignWorkspaces,
    not_taken: NotTaken,
    lineage: ImportLineage,
    /// The ids of copies, where the file is imported as such.
    copies: Option<CopyIds>,
    vectors: MissingVectors,
    banks: ImportedBanks,
}

impl Checked {
    pub(crate) fn things(&self) -> u64 {
        self.things
    }

    /// Says whether memories are stored without vectors, which upkeep makes later.
    pub(crate) fn leaves_vectors(&self) -> bool {
        self.vectors == MissingVectors::LeftToUpkeep
    }

    pub(crate) fn foreign(&self) -> &ForeignWorkspaces {
        &self.foreign
    }

    /// Writes in sentences what of the file is not taken.
    pub(crate) fn notes(&self, words: &impl ImportWords) -> Vec<String> {
        self.not_taken.notes(words)
    }

    /// Writes what was checked. `progress` is told how many things are done.
    ///
    /// # Errors
    /// The store does not take it, or what was put aside cannot be read.
    pub(crate) async fn write(
        mut self,
        system: &SystemHandle,
        progress: impl Fn(u64),
    ) -> Result<Imported, ImportFailure> {
        let mut done = Imported { left_out: self.not_taken.counts(), ..Imported::default() };
        let banks = std::mem::take(&mut self.banks);
        self.look_up(system).await.map_err(|error| done.broken_off(error))?;
        let (send, mut receive) = mpsc::channel(1);
        let vectors = self.vectors;
        let embedder = system.embedder_fingerprint().to_string();
        let reading = tokio::task::spawn_blocking(move || read_batches(&self, &embedder, &send));
        let mut restored = stream::poll_fn(|context| receive.poll_recv(context))
            .map(async |batch: ImportBatch| {
                let ImportBatch { things, removed } = batch;
                let counts: Vec<ImportCounts> = things.iter().map(ImportCounts::of).collect();
                let until = Deadline::after(BATCH_TIMEOUT);
                let is_new = system.memories.restore_with(things, vectors, until).await?;
                Ok::<_, Error>((is_new, counts, removed))
            })
            .buffered(BATCHES_AT_ONCE);
        let mut read = 0;
        while let Some(batch) = restored.next().await {
            let (is_new, counts, removed) = batch.map_err(|error| done.broken_off(error))?;
            read += is_new.len() as u64;
            for ((is_new, counts), removed) in is_new.into_iter().zip(counts).zip(removed) {
                if is_new {
                    done.imported.add(counts);
                    done.redactions += u64::from(removed.redactions);
                    done.dropped_characters += u64::from(removed.dropped_characters);
                } else {
                    done.skipped += counts.sum();
                }
            }
            progress(read);
        }
        drop(restored);
        match reading.await {
            Ok(read) => read.map_err(ImportFailure::Aside)?,
            Err(error) => return Err(done.broken_off(Error::internal(error))),
        }
        banks.write(system, &mut done).await.map_err(|error| done.broken_off(error))?;
        Ok(done)
    }

    /// Looks up what of the file is stored already.
    async fn look_up(&mut self, system: &SystemHandle) -> Result<(), Error> {
        match &mut self.copies {
            Some(copies) => copies.look_up(&system.store).await,
            None => self.lineage.forget_stored(system).await,
        }
    }

    /// Reads the next thing that was put aside, with the ids and the sources that it has here, and its size in bytes.
    fn next(&self, entries: &mut impl BufRead) -> io::Result<Option<(StagedEntry, usize)>> {
        let Some((mut entry, size)) = StagedEntry::read(entries)? else { return Ok(None) };
        self.lineage.keep(&mut entry.thing);
        self.copies.iter().for_each(|copies| copies.rename(&mut entry.thing));
        Ok(Some((entry, size)))
    }
}

/// Says which sources the memories of the file keep.
#[derive(Default)]
struct ImportLineage {
    /// The memories with a source that comes from them.
    cycle_edges: BTreeSet<(MemoryId, MemoryId)>,
    /// The memories of the file that others came from, where no other sources are taken.
    inside: Option<HashSet<MemoryId>>,
}

impl ImportLineage {
    /// Forgets what is stored already: it is not of the file, whatever the file says of it.
    async fn forget_stored(&mut self, system: &SystemHandle) -> Result<(), Error> {
        let Some(inside) = &mut self.inside else { return Ok(()) };
        let ids: Vec<Uuid> = inside.iter().map(|id| id.uuid()).collect();
        for ids in ids.chunks(BATCH_THINGS) {
            for id in system.store.existing_ids(ids.to_vec(), Deadline::after(REQUEST_TIMEOUT)).await? {
                inside.remove(&id.into());
            }
        }
        Ok(())
    }

    fn keep(&self, thing: &mut Restorable) {
        let Restorable::Memory { memory, .. } = thing else { return };
        let id = memory.id;
        let is_kept = |source: &MemoryId| {
            self.inside.as_ref().is_none_or(|inside| inside.contains(source))
                && !self.cycle_edges.contains(&(id, *source))
        };
        memory.derived_from.retain(is_kept);
        memory.parent_memory_id = memory.parent_memory_id.filter(is_kept);
    }
}

/// A line that is right, as it is put aside.
#[derive(Default)]
struct CheckedLine {
    things: u64,
    bytes: Vec<u8>,
    /// The workspaces that the line is written to, or that are registered with it.
    workspaces: Vec<(WorkspaceId, ImportCounts)>,
    described: Option<Workspace>,
    memory: Option<(MemoryId, Vec<MemoryId>)>,
    left_out: Option<(WorkspaceId, UntrustedReaders)>,
    doubted: ImportCounts,
    trace: Option<TraceId>,
    bank_file: Option<(BankFile, Removed)>,
}

impl CheckedLine {
    fn of(line: ImportLine) -> io::Result<Self> {
        let ImportLine { taken, of, workspace, removed } = line;
        let thing = match taken {
            Taken::Thing(thing) => thing,
            Taken::LeftOut(left_out) => return Ok(Self { left_out: of.map(|of| (of, left_out)), ..Self::default() }),
            Taken::Doubted(doubted) => return Ok(Self { doubted, ..Self::default() }),
            Taken::BankFile(file) => return Ok(Self { bank_file: Some((file, removed)), ..Self::default() }),
        };
        let (memory, trace) = match &thing {
            Restorable::Memory { memory, .. } => (Some((memory.id, memory.sources().collect())), None),
            Restorable::Trace { trace, .. } => (None, Some(trace.trace_id)),
            _ => (None, None),
        };
        let registered = workspace.iter().map(|workspace| (workspace.id.clone(), ImportCounts::default()));
        let workspaces = of.map(|of| (of, ImportCounts::of(&thing))).into_iter().chain(registered).collect();
        let mut made = Self { workspaces, described: workspace.clone(), memory, trace, ..Self::default() };
        let workspace = workspace
            .map(|workspace| StagedEntry { removed: Removed::default(), thing: Restorable::Workspace(workspace) });
        for entry in workspace.into_iter().chain([StagedEntry { removed, thing }]) {
            entry.write(&mut made.bytes)?;
            made.things += 1;
        }
        Ok(made)
    }
}

/// Everything that was seen of the lines so far.
#[derive(Default)]
struct SeenLines {
    lines: u64,
    things: u64,
    foreign: ForeignWorkspaces,
    not_taken: NotTaken,
    sources: BTreeMap<MemoryId, Vec<MemoryId>>,
    memories: HashSet<MemoryId>,
    /// The traces, where they are imported as copies.
    traces: Vec<TraceId>,
    banks: ImportedBanks,
    /// The reason why the file is not imported although its lines are right.
    refused: Option<ImportFailure>,
}

impl SeenLines {
    fn add(&mut self, made: &mut CheckedLine, bank: &ImportTarget) {
        self.lines += 1;
        self.things += made.things;
        self.not_taken.doubted.add(made.doubted);
        if let Some(left_out) = made.left_out.take() {
            *self.not_taken.left_out.entry(left_out).or_default() += 1;
        }
        if made.bank_file.take().is_some_and(|(file, removed)| !self.banks.add(file, removed)) {
            self.refused.get_or_insert(ImportFailure::BanksTooLarge);
        }
        if let Some((id, from)) = made.memory.take() {
            if !from.is_empty() {
                self.sources.entry(id).or_insert(from);
            }
            if !bank.mode.is_backup() {
                self.memories.insert(id);
            }
        }
        if bank.mode == ImportMode::Copies {
            self.traces.extend(made.trace);
        }
        if bank.mode.is_backup() {
            return;
        }
        self.not_taken.is_doubted |= made.things > 0;
        made.described.iter().for_each(|workspace| self.foreign.describe(workspace));
        for (workspace, counts) in made.workspaces.drain(..) {
            if let Err(failure) = self.foreign.add(&workspace, counts, bank) {
                self.refused.get_or_insert(failure);
            }
        }
    }
}

/// Checks a file, and writes what is checked to `aside`, which is empty. `progress` is told how many lines are read.
///
/// # Errors
/// A line is wrong. The error names all that is wrong, up to a bound.
pub(crate) fn check(
    source: impl Read + Send,
    aside: File,
    bank: &ImportTarget,
    progress: impl Fn(u64),
) -> Result<Checked, ImportFailure> {
    let mut out = BufWriter::with_capacity(1 << 20, &aside);
    let mut seen = SeenLines::default();
    let make = |raw: Raw| {
        let line = line::parse(raw, bank)?;
        CheckedLine::of(line).map_err(|error| vec![ItemProblem::new("", error.to_string())])
    };
    let read = read_on_all_cores(source, make, |mut made: CheckedLine| {
        seen.add(&mut made, bank);
        progress(seen.lines);
        if seen.refused.is_some() {
            return Err(io::Error::other("refused"));
        }
        out.write_all(&made.bytes)
    });
    if let Some(refused) = seen.refused {
        return Err(refused);
    }
    read.map_err(|error| match error {
        ReadError::Io(error) => ImportFailure::Unreadable(error),
        ReadError::NotTaken(error) => ImportFailure::Aside(error),
        ReadError::Bad(problems) => ImportFailure::Bad(problems),
    })?;
    out.flush().map_err(ImportFailure::Aside)?;
    drop(out);
    let SeenLines { things, foreign, mut not_taken, sources, memories, traces, banks, .. } = seen;
    let inside = (!bank.mode.is_backup())
        .then(|| sources.values().flatten().copied().filter(|id| memories.contains(id)).collect());
    let lineage = ImportLineage { cycle_edges: cycle_edges(&sources), inside };
    not_taken.cycle_edges.clone_from(&lineage.cycle_edges);
    let copies = (bank.mode == ImportMode::Copies)
        .then(|| CopyIds::new(bank.here.id.clone(), memories.into_iter().collect(), traces));
    let mut checked =
        Checked { file: aside, things, foreign, not_taken, lineage, copies, vectors: MissingVectors::MadeNow, banks };
    checked.file.rewind().map_err(ImportFailure::Aside)?;
    Ok(checked)
}

/// The things that are written at once, and what was taken out of the texts of each.
#[derive(Default)]
struct ImportBatch {
    things: Vec<Restorable>,
    removed: Vec<Removed>,
}

/// Reads batches until nobody takes them.
fn read_batches(checked: &Checked, embedder: &str, send: &mpsc::Sender<ImportBatch>) -> io::Result<()> {
    let mut entries = BufReader::with_capacity(1 << 20, &checked.file);
    loop {
        let batch = next_batch(embedder, checked.vectors, || checked.next(&mut entries))?;
        if batch.things.is_empty() || send.blocking_send(batch).is_err() {
            return Ok(());
        }
    }
}

/// Says whether the vectors of a thing are still to be made: it has none, or those of another embedder.
fn is_unembedded(thing: &Restorable, embedder: &str) -> bool {
    let Restorable::Memory { memory, passages } = thing else { return false };
    passages.is_empty() || memory.embedder.as_deref() != Some(embedder)
}

fn next_batch(
    embedder: &str,
    vectors: MissingVectors,
    mut next: impl FnMut() -> io::Result<Option<(StagedEntry, usize)>>,
) -> io::Result<ImportBatch> {
    let (mut batch, mut bytes) = (ImportBatch::default(), 0);
    let (mut unembedded, mut unembedded_bytes) = (0, 0);
    while batch.things.len() < BATCH_THINGS
        && bytes < BATCH_BYTES
        && unembedded < BATCH_UNEMBEDDED
        && unembedded_bytes < BATCH_UNEMBEDDED_BYTES
    {
        let Some((StagedEntry { removed, thing }, size)) = next()? else { break };
        if vectors == MissingVectors::MadeNow && is_unembedded(&thing, embedder) {
            unembedded += 1;
            unembedded_bytes += size;
        }
        bytes += size;
        batch.things.push(thing);
        batch.removed.push(removed);
    }
    Ok(batch)
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
