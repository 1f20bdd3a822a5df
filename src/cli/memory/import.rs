//! `memory import`: what `memory export` wrote, restored exactly. The whole file is checked first, and put aside without
//! its secrets; only then it is written. What a line has to be is `line`'s matter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{Restorable, WorkspaceRef};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::genealogy::circles;
use reasoning_bank_domain::ids::MemoryId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::line::Defaults;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::jsonl::{self, ReadError, Refusal};

mod line;

const PATIENCE: Duration = Duration::from_secs(30);
/// What is written at once.
const BATCH_THINGS: usize = 256;
const BATCH_BYTES: usize = 1024 * 1024;
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

/// `here` is whose a memory is that names no workspace.
///
/// # Errors
/// Where a line is wrong, all that is wrong (up to a bound), and nothing is written. Where writing fails, a part is
/// written, and the same import again does the rest.
pub(in crate::cli) async fn import(
    path: &Path,
    here: &WorkspaceRef,
    system: &SystemHandle,
    progress: &Progress,
) -> Result<Imported, Failure> {
    let resolved = system.workspaces.resolve(here, Deadline::after(PATIENCE)).await?;
    let defaults = Defaults { here: resolved.workspace, now: Timestamp::now() };
    let path = path.to_owned();
    let checking = tokio::task::spawn_blocking(move || check(&path, &defaults));
    let checked = checking.await.map_err(Error::internal)??;
    progress.most(checked.things);
    write(checked, system, progress).await
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

#[derive(Serialize, Deserialize)]
struct Entry {
    redactions: u32,
    thing: Restorable,
}

fn check(path: &Path, defaults: &Defaults) -> Result<Checked, Failure> {
    let (source, name) = open(path)?;
    let aside = tempfile::tempfile().map_err(Failure::temporary)?;
    let mut checked = Checked { file: aside, things: 0, untrusted: false, circles: BTreeSet::new() };
    let mut out = BufWriter::new(&checked.file);
    let mut sources: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
    let mut untrusted = false;
    let mut put = |redactions: u32, thing: Restorable| {
        checked.things += 1;
        serde_json::to_writer(&mut out, &Entry { redactions, thing }).map_err(io::Error::from)?;
        out.write_all(b"\n")
    };
    let read = jsonl::read(source, |_, fields: Map<String, Value>| {
        let line = line::parse(fields, defaults).map_err(Refusal::Bad)?;
        if let Restorable::Memory { memory, .. } = &line.thing {
            let from: Vec<MemoryId> = memory.derived_from.iter().copied().chain(memory.parent_memory_id).collect();
            if !from.is_empty() {
                sources.entry(memory.id).or_insert(from);
            }
        }
        untrusted |= line.untrusted;
        let workspace = line.workspace.map_or(Ok(()), |workspace| put(0, Restorable::Workspace(workspace)));
        workspace.and_then(|()| put(line.redactions, line.thing)).map_err(Refusal::Io)
    });
    match read {
        Ok(()) => {}
        Err(ReadError::Io(error)) => return Err(Failure::usage(format!("{name} cannot be read")).caused_by(error)),
        Err(bad @ ReadError::Bad(_)) => {
            let hint = "correct or remove what each line names, and import the whole file again";
            return Err(Failure::usage(format!("{name}: nothing was imported{bad}")).hint(hint));
        }
    }
    out.flush().map_err(Failure::temporary)?;
    drop(out);
    checked.untrusted = untrusted;
    checked.circles = circles(&sources);
    checked.file.rewind().map_err(Failure::temporary)?;
    Ok(checked)
}

fn open(path: &Path) -> Result<(Box<dyn Read>, String), Failure> {
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
    let (mut done, mut read) = (Imported { notes: checked.notes(), ..Imported::default() }, 0);
    let (mut entries, circles) = (BufReader::new(checked.file), checked.circles);
    loop {
        let batch = next_batch(&mut entries).map_err(Failure::temporary)?;
        if batch.is_empty() {
            return Ok(done);
        }
        read += batch.len() as u64;
        let (redactions, mut things): (Vec<u32>, Vec<Restorable>) =
            batch.into_iter().map(|entry| (entry.redactions, entry.thing)).unzip();
        things.iter_mut().for_each(|thing| without_circles(thing, &circles));
        let counts: Vec<Counts> = things.iter().map(Counts::of).collect();
        let is_new = system.memories.restore(things, Deadline::after(BATCH_PATIENCE)).await;
        let is_new = is_new.map_err(|error| broken_off(error, &done))?;
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
}

fn without_circles(thing: &mut Restorable, circles: &BTreeSet<(MemoryId, MemoryId)>) {
    let Restorable::Memory { memory, .. } = thing else { return };
    let id = memory.id;
    let is_open = |source: &MemoryId| !circles.contains(&(id, *source));
    memory.derived_from.retain(is_open);
    memory.parent_memory_id = memory.parent_memory_id.filter(is_open);
}

fn next_batch(entries: &mut impl BufRead) -> io::Result<Vec<Entry>> {
    let (mut batch, mut bytes, mut line) = (Vec::new(), 0, Vec::new());
    while batch.len() < BATCH_THINGS && bytes < BATCH_BYTES && entries.read_until(b'\n', &mut line)? > 0 {
        batch.push(serde_json::from_slice(&line)?);
        bytes += line.len();
        line.clear();
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
