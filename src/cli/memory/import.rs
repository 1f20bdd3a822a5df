//! `memory import`: what `memory export` wrote, restored exactly. The whole file is checked first, and put aside without
//! its secrets; only then it is written. What a line has to be is `line`'s matter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use futures::{StreamExt, stream};
use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::genealogy::circles;
use reasoning_bank_domain::ids::MemoryId;
use serde::Serialize;
use tokio::sync::mpsc;

use self::aside::Entry;
use self::line::{Defaults, Line, Raw};
use crate::cli::failure::Failure;
use crate::cli::maintain::upkeep;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::jsonl::{FieldProblem, ReadError, read_on_all_cores};
use crate::settings::Loaded;

mod aside;
mod line;

const PATIENCE: Duration = Duration::from_secs(30);
/// What is written at once. The store takes batches of this size without writing them twice.
const BATCH_THINGS: usize = 8_192;
const BATCH_BYTES: usize = 32 * 1024 * 1024;
/// Of what has no vectors yet, or those of another embedder.
const BATCH_UNEMBEDDED: usize = 256;
const BATCH_UNEMBEDDED_BYTES: usize = 1024 * 1024;
/// While one batch is embedded or stored, another is read and prepared.
const BATCHES_AT_ONCE: usize = 2;
/// For one batch, whose texts may all have to be embedded.
const BATCH_PATIENCE: Duration = Duration::from_secs(600);

/// In notes; of others the number.
const CIRCLES_NAMED: usize = 10;

const UNTRUSTED: &str = "the team and organisation of workspaces are not taken from a file; `workspace trust` grants \
                         them";

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub(in crate::cli) struct Imported {
    pub(in crate::cli) imported: Counts,
    /// Whose ids were there already.
    pub(in crate::cli) skipped: u64,
    /// Secrets that were replaced in what was imported.
    pub(in crate::cli) redactions: u64,
    /// What of the file was not taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(in crate::cli) struct Counts {
    pub(in crate::cli) memories: u64,
    pub(in crate::cli) traces: u64,
    pub(in crate::cli) signals: u64,
}

impl Counts {
    /// A workspace is not counted.
    fn of(thing: &Restorable) -> Self {
        let none = Self::default();
        match thing {
            Restorable::Workspace(_) => none,
            Restorable::Memory { .. } => Self { memories: 1, ..none },
            Restorable::Trace(_) => Self { traces: 1, ..none },
            Restorable::Signal(_) => Self { signals: 1, ..none },
        }
    }

    fn add(&mut self, more: Self) {
        self.memories += more.memories;
        self.traces += more.traces;
        self.signals += more.signals;
    }

    fn sum(self) -> u64 {
        self.memories + self.traces + self.signals
    }
}

/// A memory that names no workspace goes to the one in use.
///
/// # Errors
/// Where a line is wrong, all that is wrong (up to a bound), and nothing is written. Where writing fails, a part is
/// written, and the same import again does the rest.
pub(in crate::cli) async fn import(
    path: &Path,
    loaded: &Loaded,
    output: Output,
    system: &SystemHandle,
) -> Result<Imported, Failure> {
    let resolved = system.workspaces.resolve(&loaded.workspace, Deadline::after(PATIENCE)).await?;
    let defaults = Defaults { here: resolved.workspace, now: Timestamp::now() };
    let aside = tempfile::tempfile_in(&loaded.settings.data_dir).map_err(Failure::put_aside)?;
    let (path, progress) = (path.to_owned(), output.progress("lines checked"));
    let checking = tokio::task::spawn_blocking(move || check(&path, aside, &defaults, &progress));
    let checked = checking.await.map_err(Error::internal)??;
    let progress = output.progress("lines imported");
    progress.most(checked.things);
    let imported = write(checked, system, &progress).await?;
    drop(progress);
    if imported.imported.sum() > 0 {
        // what was written is stored and found whatever becomes of this, only more slowly
        if let Err(failure) = upkeep(system).await {
            tracing::warn!(reason = failure.message, "the indexes of what was imported are left to later upkeep");
        }
    }
    Ok(imported)
}

/// Everything that is to be written, in a file without a name.
struct Checked {
    file: File,
    things: u64,
    /// Some workspace of the file had a team or an organisation.
    untrusted: bool,
    /// Memories, each with a source that it is to be imported without: with it, it would come from itself.
    circles: BTreeSet<(MemoryId, MemoryId)>,
}

impl Checked {
    fn notes(&self) -> Vec<String> {
        let untrusted = self.untrusted.then(|| UNTRUSTED.to_owned());
        let open = |(id, source): &(MemoryId, MemoryId)| {
            format!("{id} was not linked to its source {source}, which comes from it")
        };
        let more = self.circles.len().checked_sub(CIRCLES_NAMED).filter(|more| *more > 0);
        let more = more.map(|more| format!("nor were {more} more memories linked to sources that come from them"));
        untrusted.into_iter().chain(self.circles.iter().take(CIRCLES_NAMED).map(open)).chain(more).collect()
    }
}

/// A line that is right, as it is put aside.
struct Made {
    things: u64,
    bytes: Vec<u8>,
    untrusted: bool,
    sources: Option<(MemoryId, Vec<MemoryId>)>,
}

impl Made {
    fn of(line: Line) -> io::Result<Self> {
        let sources = match &line.thing {
            Restorable::Memory { memory, .. } => {
                let from: Vec<MemoryId> = memory.derived_from.iter().copied().chain(memory.parent_memory_id).collect();
                (!from.is_empty()).then_some((memory.id, from))
            }
            _ => None,
        };
        let mut made = Self { things: 0, bytes: Vec::new(), untrusted: line.untrusted, sources };
        let workspace =
            line.workspace.map(|workspace| Entry { redactions: 0, thing: Restorable::Workspace(workspace) });
        for entry in workspace.into_iter().chain([Entry { redactions: line.redactions, thing: line.thing }]) {
            entry.write(&mut made.bytes)?;
            made.things += 1;
        }
        Ok(made)
    }
}

/// `aside` is an empty file, which what is checked is written to.
fn check(path: &Path, aside: File, defaults: &Defaults, progress: &Progress) -> Result<Checked, Failure> {
    let (source, name) = open(path)?;
    let mut checked = Checked { file: aside, things: 0, untrusted: false, circles: BTreeSet::new() };
    let mut out = BufWriter::with_capacity(1 << 20, &checked.file);
    let mut sources: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
    let (mut lines, mut untrusted) = (0, false);
    let make = |raw: Raw| {
        let line = line::parse(raw, defaults)?;
        Made::of(line).map_err(|error| vec![FieldProblem::new("", error.to_string())])
    };
    let read = read_on_all_cores(source, make, |made: Made| {
        lines += 1;
        progress.done(lines);
        checked.things += made.things;
        untrusted |= made.untrusted;
        if let Some((id, from)) = made.sources {
            sources.entry(id).or_insert(from);
        }
        out.write_all(&made.bytes)
    });
    match read {
        Ok(()) => {}
        Err(ReadError::Io(error)) => return Err(Failure::usage(format!("{name} cannot be read")).caused_by(error)),
        Err(ReadError::NotTaken(error)) => return Err(Failure::put_aside(error)),
        Err(bad @ ReadError::Bad(_)) => {
            let hint = "correct or remove what each line names, and import the whole file again";
            return Err(Failure::usage(format!("{name}: nothing was imported{bad}")).hint(hint));
        }
    }
    out.flush().map_err(Failure::put_aside)?;
    drop(out);
    checked.untrusted = untrusted;
    checked.circles = circles(&sources);
    checked.file.rewind().map_err(Failure::put_aside)?;
    Ok(checked)
}

fn open(path: &Path) -> Result<(Box<dyn Read + Send>, String), Failure> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin()), "stdin".into()));
    }
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((Box::new(file), name)),
        Err(error) => Err(Failure::usage(format!("{name} cannot be read")).caused_by(error)),
    }
}

async fn write(checked: Checked, system: &SystemHandle, progress: &Progress) -> Result<Imported, Failure> {
    let mut done = Imported { notes: checked.notes(), ..Imported::default() };
    let (send, mut receive) = mpsc::channel(1);
    let embedder = system.embedder_fingerprint().to_string();
    let reading = tokio::task::spawn_blocking(move || read_batches(checked, &embedder, &send));
    let mut restored = stream::poll_fn(|context| receive.poll_recv(context))
        .map(async |batch: Batch| {
            let Batch { things, redactions } = batch;
            let counts: Vec<Counts> = things.iter().map(Counts::of).collect();
            let is_new = system.memories.restore(things, Deadline::after(BATCH_PATIENCE)).await?;
            Ok::<_, Error>((is_new, counts, redactions))
        })
        .buffered(BATCHES_AT_ONCE);
    let mut read = 0;
    while let Some(batch) = restored.next().await {
        let (is_new, counts, redactions) = batch.map_err(|error| broken_off(error, &done))?;
        read += is_new.len() as u64;
        for ((is_new, counts), redactions) in is_new.into_iter().zip(counts).zip(redactions) {
            if is_new {
                done.imported.add(counts);
                done.redactions += u64::from(redactions);
            } else {
                done.skipped += counts.sum();
            }
        }
        progress.done(read);
    }
    drop(restored);
    reading.await.map_err(Error::internal)?.map_err(Failure::put_aside)?;
    Ok(done)
}

/// Things to be written at once, and how many secrets were replaced in each.
#[derive(Default)]
struct Batch {
    things: Vec<Restorable>,
    redactions: Vec<u32>,
}

/// Until nobody takes them.
fn read_batches(checked: Checked, embedder: &str, send: &mpsc::Sender<Batch>) -> io::Result<()> {
    let mut entries = BufReader::with_capacity(1 << 20, checked.file);
    loop {
        let batch = next_batch(&mut entries, &checked.circles, embedder)?;
        if batch.things.is_empty() || send.blocking_send(batch).is_err() {
            return Ok(());
        }
    }
}

fn without_circles(thing: &mut Restorable, circles: &BTreeSet<(MemoryId, MemoryId)>) {
    let Restorable::Memory { memory, .. } = thing else { return };
    let id = memory.id;
    let is_open = |source: &MemoryId| !circles.contains(&(id, *source));
    memory.derived_from.retain(is_open);
    memory.parent_memory_id = memory.parent_memory_id.filter(is_open);
}

/// Whether its vectors are still to be made: it has none, or those of another embedder.
fn is_unembedded(thing: &Restorable, embedder: &str) -> bool {
    let Restorable::Memory { memory, passages } = thing else { return false };
    passages.is_empty() || memory.embedder.as_deref() != Some(embedder)
}

fn next_batch(
    entries: &mut impl BufRead,
    circles: &BTreeSet<(MemoryId, MemoryId)>,
    embedder: &str,
) -> io::Result<Batch> {
    let (mut batch, mut bytes) = (Batch::default(), 0);
    let (mut unembedded, mut unembedded_bytes) = (0, 0);
    while batch.things.len() < BATCH_THINGS
        && bytes < BATCH_BYTES
        && unembedded < BATCH_UNEMBEDDED
        && unembedded_bytes < BATCH_UNEMBEDDED_BYTES
    {
        let Some((Entry { redactions, mut thing }, size)) = Entry::read(entries)? else { break };
        without_circles(&mut thing, circles);
        if is_unembedded(&thing, embedder) {
            unembedded += 1;
            unembedded_bytes += size;
        }
        bytes += size;
        batch.things.push(thing);
        batch.redactions.push(redactions);
    }
    Ok(batch)
}

fn broken_off(error: Error, done: &Imported) -> Failure {
    let written = done.imported.sum() + done.skipped;
    let mut failure = Failure::from(error);
    failure.message = format!("the import broke off after {written} lines: {}", failure.message);
    failure.hint("import the same file again: what is there already is skipped")
}

#[cfg(test)]
mod tests;
