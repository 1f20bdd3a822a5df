//! The command `memory import` restores what `memory export` wrote: exactly where the user vouches for the file,
//! otherwise as the word of a stranger. The whole file is checked first, and put aside without its secrets; only then
//! it is written. `line` decides what a line has to be, `domain::imported` what a stranger may claim.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, stream};
use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::evidence::genealogy::cycle_edges;
use reasoning_bank_domain::learning::imported::UntrustedReaders;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::safety::secrets::Removed;
use tokio::sync::mpsc;
use uuid::Uuid;

use self::aside::AsideEntry;
use self::foreign::Foreign;
use self::line::{ImportLine, ImportTarget, Raw, Taken};
use self::outcome::NotTaken;
use crate::cli::answers::{ImportCounts, Imported};
use crate::cli::args::ImportArgs;
use crate::cli::failure::CommandFailure;
use crate::cli::maintain::upkeep;
use crate::cli::output::Output;
use crate::cli::progress::ProgressIndicator;
use crate::jsonl::{ItemProblem, ReadError, read_on_all_cores};
use crate::settings::Loaded;

mod aside;
mod foreign;
mod line;
mod outcome;

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

/// Imports a file. A memory that names no workspace goes to the one in use.
///
/// # Errors
/// Where a line is wrong, the error names all that is wrong, up to a bound, and nothing is written. Nothing is written
/// either where the user does not agree to other workspaces. Where writing fails, a part is written, and the same
/// import again does the rest.
pub(in crate::cli) async fn import(
    args: &ImportArgs,
    loaded: &Loaded,
    output: Output,
    system: &SystemHandle,
) -> Result<Imported, CommandFailure> {
    let bank = Arc::new(bank(args.trusted_backup, loaded, system).await?);
    let aside = tempfile::tempfile_in(&loaded.settings.data_dir).map_err(CommandFailure::put_aside)?;
    let (path, progress, known) = (args.file.clone(), output.progress("lines checked"), Arc::clone(&bank));
    let checking = tokio::task::spawn_blocking(move || check(&path, aside, &known, &progress));
    let mut checked = checking.await.map_err(Error::internal)??;
    checked.foreign.agree(&bank, args.sure)?;
    checked.lineage.forget_stored(system).await?;
    let progress = output.progress("lines imported");
    progress.most(checked.things);
    let root_of = |id: &WorkspaceId| bank.workspace(id).map(|known| known.root.clone()).filter(|root| !root.is_empty());
    let notes = checked.not_taken.notes(root_of);
    let imported = Imported { notes, ..write(checked, system, &progress).await? };
    drop(progress);
    if imported.imported.sum() > 0 {
        // what was written is stored and found whatever becomes of this, only more slowly
        if let Err(failure) = upkeep(system).await {
            tracing::warn!(reason = failure.message, "the indexes of what was imported are left to later upkeep");
        }
    }
    Ok(imported)
}

/// Collects what is known here of the workspaces that a file may name.
async fn bank(is_backup: bool, loaded: &Loaded, system: &SystemHandle) -> Result<ImportTarget, CommandFailure> {
    let here = system.workspaces.resolve(&loaded.workspace, Deadline::after(REQUEST_TIMEOUT)).await?.workspace;
    let all = system.workspaces.list(Deadline::after(REQUEST_TIMEOUT)).await?;
    let known = all.into_iter().map(|workspace| (workspace.id.clone(), workspace)).collect();
    Ok(ImportTarget { here, now: Timestamp::now(), is_backup, known })
}

/// Everything that is to be written, in a file without a name.
struct Checked {
    file: File,
    things: u64,
    /// The other workspaces, where somebody has to agree to them.
    foreign: Foreign,
    not_taken: NotTaken,
    lineage: ImportLineage,
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
    async fn forget_stored(&mut self, system: &SystemHandle) -> Result<(), CommandFailure> {
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
}

impl CheckedLine {
    fn of(line: ImportLine) -> io::Result<Self> {
        let ImportLine { taken, of, workspace, removed } = line;
        let thing = match taken {
            Taken::Thing(thing) => thing,
            Taken::LeftOut(left_out) => return Ok(Self { left_out: of.map(|of| (of, left_out)), ..Self::default() }),
            Taken::Doubted(doubted) => return Ok(Self { doubted, ..Self::default() }),
        };
        let memory = match &thing {
            Restorable::Memory { memory, .. } => {
                let from = memory.derived_from.iter().copied().chain(memory.parent_memory_id).collect();
                Some((memory.id, from))
            }
            _ => None,
        };
        let registered = workspace.iter().map(|workspace| (workspace.id.clone(), ImportCounts::default()));
        let workspaces = of.map(|of| (of, ImportCounts::of(&thing))).into_iter().chain(registered).collect();
        let mut made = Self { workspaces, described: workspace.clone(), memory, ..Self::default() };
        let workspace = workspace
            .map(|workspace| AsideEntry { removed: Removed::default(), thing: Restorable::Workspace(workspace) });
        for entry in workspace.into_iter().chain([AsideEntry { removed, thing }]) {
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
    foreign: Foreign,
    not_taken: NotTaken,
    sources: BTreeMap<MemoryId, Vec<MemoryId>>,
    memories: HashSet<MemoryId>,
    /// The reason why the file is not imported although its lines are right.
    refused: Option<CommandFailure>,
}

impl SeenLines {
    fn add(&mut self, made: &mut CheckedLine, bank: &ImportTarget) {
        self.lines += 1;
        self.things += made.things;
        self.not_taken.doubted.add(made.doubted);
        if let Some(left_out) = made.left_out.take() {
            *self.not_taken.left_out.entry(left_out).or_default() += 1;
        }
        if let Some((id, from)) = made.memory.take() {
            if !from.is_empty() {
                self.sources.entry(id).or_insert(from);
            }
            if !bank.is_backup {
                self.memories.insert(id);
            }
        }
        if bank.is_backup {
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

/// Checks a file, and writes what is checked to `aside`, which is empty.
fn check(
    path: &Path,
    aside: File,
    bank: &ImportTarget,
    progress: &ProgressIndicator,
) -> Result<Checked, CommandFailure> {
    let (source, name) = open(path)?;
    let mut out = BufWriter::with_capacity(1 << 20, &aside);
    let mut seen = SeenLines::default();
    let make = |raw: Raw| {
        let line = line::parse(raw, bank)?;
        CheckedLine::of(line).map_err(|error| vec![ItemProblem::new("", error.to_string())])
    };
    let read = read_on_all_cores(source, make, |mut made: CheckedLine| {
        seen.add(&mut made, bank);
        progress.done(seen.lines);
        if seen.refused.is_some() {
            return Err(io::Error::other("refused"));
        }
        out.write_all(&made.bytes)
    });
    if let Some(refused) = seen.refused {
        return Err(refused);
    }
    match read {
        Ok(()) => {}
        Err(ReadError::Io(error)) => {
            return Err(CommandFailure::usage(format!("{name} cannot be read")).caused_by(error));
        }
        Err(ReadError::NotTaken(error)) => return Err(CommandFailure::put_aside(error)),
        Err(bad @ ReadError::Bad(_)) => {
            let hint = "correct or remove what each line names, and import the whole file again";
            return Err(CommandFailure::usage(format!("{name}: nothing was imported{bad}")).hint(hint));
        }
    }
    out.flush().map_err(CommandFailure::put_aside)?;
    drop(out);
    let SeenLines { things, foreign, mut not_taken, sources, memories, .. } = seen;
    let inside =
        (!bank.is_backup).then(|| sources.values().flatten().copied().filter(|id| memories.contains(id)).collect());
    let lineage = ImportLineage { cycle_edges: cycle_edges(&sources), inside };
    not_taken.cycle_edges.clone_from(&lineage.cycle_edges);
    let mut checked = Checked { file: aside, things, foreign, not_taken, lineage };
    checked.file.rewind().map_err(CommandFailure::put_aside)?;
    Ok(checked)
}

fn open(path: &Path) -> Result<(Box<dyn Read + Send>, String), CommandFailure> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), "stdin".into()));
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((Box::new(file), name)),
        Err(error) => Err(CommandFailure::usage(format!("{name} cannot be read")).caused_by(error)),
    }
}

async fn write(
    checked: Checked,
    system: &SystemHandle,
    progress: &ProgressIndicator,
) -> Result<Imported, CommandFailure> {
    let mut done = Imported { left_out: checked.not_taken.counts(), ..Imported::default() };
    let (send, mut receive) = mpsc::channel(1);
    let embedder = system.embedder_fingerprint().to_string();
    let reading = tokio::task::spawn_blocking(move || read_batches(checked, &embedder, &send));
    let mut restored = stream::poll_fn(|context| receive.poll_recv(context))
        .map(async |batch: ImportBatch| {
            let ImportBatch { things, removed } = batch;
            let counts: Vec<ImportCounts> = things.iter().map(ImportCounts::of).collect();
            let is_new = system.memories.restore(things, Deadline::after(BATCH_TIMEOUT)).await?;
            Ok::<_, Error>((is_new, counts, removed))
        })
        .buffered(BATCHES_AT_ONCE);
    let mut read = 0;
    while let Some(batch) = restored.next().await {
        let (is_new, counts, removed) = batch.map_err(|error| broken_off(error, &done))?;
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
        progress.done(read);
    }
    drop(restored);
    reading.await.map_err(Error::internal)?.map_err(CommandFailure::put_aside)?;
    Ok(done)
}

/// The things that are written at once, and what was taken out of the texts of each.
#[derive(Default)]
struct ImportBatch {
    things: Vec<Restorable>,
    removed: Vec<Removed>,
}

/// Reads batches until nobody takes them.
fn read_batches(checked: Checked, embedder: &str, send: &mpsc::Sender<ImportBatch>) -> io::Result<()> {
    let mut entries = BufReader::with_capacity(1 << 20, checked.file);
    loop {
        let batch = next_batch(&mut entries, &checked.lineage, embedder)?;
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

fn next_batch(entries: &mut impl BufRead, lineage: &ImportLineage, embedder: &str) -> io::Result<ImportBatch> {
    let (mut batch, mut bytes) = (ImportBatch::default(), 0);
    let (mut unembedded, mut unembedded_bytes) = (0, 0);
    while batch.things.len() < BATCH_THINGS
        && bytes < BATCH_BYTES
        && unembedded < BATCH_UNEMBEDDED
        && unembedded_bytes < BATCH_UNEMBEDDED_BYTES
    {
        let Some((AsideEntry { removed, mut thing }, size)) = AsideEntry::read(entries)? else { break };
        lineage.keep(&mut thing);
        if is_unembedded(&thing, embedder) {
            unembedded += 1;
            unembedded_bytes += size;
        }
        bytes += size;
        batch.things.push(thing);
        batch.removed.push(removed);
    }
    Ok(batch)
}

fn broken_off(error: Error, done: &Imported) -> CommandFailure {
    let written = done.imported.sum() + done.skipped;
    let mut failure = CommandFailure::from(error);
    failure.message = format!("the import broke off after {written} lines: {}", failure.message);
    failure.hint("import the same file again: what is there already is skipped")
}

#[cfg(test)]
mod tests;
