//! The command `memory export` writes JSON Lines, one line for each thing, in the order of ids over all kinds. What is
//! written is what is stored, so that `import` restores it exactly. A signal's own kind is called `signal`, because
//! `kind` says what a line is. The first line of a workspace also has the `workspace` itself: its root, its name, its
//! team and organisation, which `import` takes of a trusted backup alone. Jobs hold whole sessions, so they are written
//! only where that is asked for.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{JobFilter, MemoryFilter, MemoryRow, Page, Passage};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::store::StoreHandle;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::safety::invisible::escaped_in_json;
use reasoning_bank_domain::safety::secrets::Scrub;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::cli::failure::CommandFailure;

/// The page is small because traces may be large.
const PAGE: usize = 500;
/// The page is smaller because a session may be half a million characters long.
const PAGE_OF_JOBS: usize = 16;
/// The page is large because the ids of a bank are read once for each page.
const PAGE_OF_MEMORIES: usize = 4_096;
/// One page may take this long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Writes the lines to `out`, or one array of them with `as_array`. Where no workspace is named, it writes those of
/// all. It is no failure when the reader goes away.
///
/// # Errors
/// Until the first line is read, nothing is written. A later failure says that the answer has begun.
pub(in crate::cli) async fn export(
    workspace: Option<&WorkspaceRef>,
    vectors: bool,
    with_jobs: bool,
    as_array: bool,
    system: &SystemHandle,
    out: &mut impl Write,
) -> Result<(), CommandFailure> {
    let workspace = match workspace {
        Some(named) => Some(system.workspaces.resolve(named, Deadline::after(REQUEST_TIMEOUT)).await?.workspace.id),
        None => None,
    };
    let mut streams = vec![
        Stream::new(ExportedKind::Memories { vectors }, &workspace),
        Stream::new(ExportedKind::Traces, &workspace),
        Stream::new(ExportedKind::Signals, &workspace),
    ];
    if with_jobs {
        streams.push(Stream::new(ExportedKind::Jobs, &workspace));
    }
    let mut unnamed = workspaces(system).await?;
    let mut lines = ExportLines { out, as_array, begun: false };
    let exported = write_all(&mut streams, &mut unnamed, system, &mut lines).await;
    exported.map_err(|failure| if lines.begun { failure.after_output() } else { failure })
}

async fn write_all(
    streams: &mut [Stream],
    unnamed: &mut HashMap<WorkspaceId, Workspace>,
    system: &SystemHandle,
    lines: &mut ExportLines<'_, impl Write>,
) -> Result<(), CommandFailure> {
    while let Some(mut line) = next(streams, system).await? {
        if let Some(mut workspace) = unnamed.remove(&line.workspace) {
            workspace.scrub();
            line.fields.insert("workspace".into(), value(&workspace)?);
        }
        if !lines.write(&line)? {
            return Ok(());
        }
    }
    lines.end()
}

async fn workspaces(system: &SystemHandle) -> Result<HashMap<WorkspaceId, Workspace>, CommandFailure> {
    let workspaces = system.store.workspaces(Deadline::after(REQUEST_TIMEOUT)).await?;
    Ok(workspaces.into_iter().map(|workspace| (workspace.id.clone(), workspace)).collect())
}

#[derive(Serialize)]
struct ExportLine {
    #[serde(skip)]
    id: Uuid,
    #[serde(skip)]
    workspace: WorkspaceId,
    #[serde(flatten)]
    fields: Map<String, Value>,
    /// The passages of a memory that is written with its vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    passages: Option<Vec<Passage>>,
}

/// The kind of things that a stream writes.
#[derive(Clone, Copy)]
enum ExportedKind {
    Memories { vectors: bool },
    Traces,
    Signals,
    Jobs,
}

impl ExportedKind {
    fn page_size(self) -> usize {
        match self {
            Self::Memories { .. } | Self::Signals => PAGE_OF_MEMORIES,
            Self::Traces => PAGE,
            Self::Jobs => PAGE_OF_JOBS,
        }
    }

    /// Reads a page of one workspace, or of all.
    async fn read(
        self,
        workspace: Option<WorkspaceId>,
        page: Page,
        store: &StoreHandle,
    ) -> Result<VecDeque<ExportLine>, CommandFailure> {
        let deadline = Deadline::after(REQUEST_TIMEOUT);
        match self {
            Self::Memories { vectors } => {
                let filter = MemoryFilter { workspace, ..MemoryFilter::default() };
                memory_lines(store.memories(filter, page, deadline).await?, vectors, store).await
            }
            Self::Traces => {
                let traces = store.traces(workspace, page, deadline).await?;
                let of = |trace: &Trace| line("trace", trace.trace_id.uuid(), &trace.metadata.workspace_id, trace);
                traces.iter().map(of).collect()
            }
            Self::Signals => {
                let signals = store.signals(workspace, page, deadline).await?;
                signals.iter().map(|signal| line("signal", signal.id.uuid(), &signal.workspace_id, signal)).collect()
            }
            Self::Jobs => {
                let filter = JobFilter { workspace, ..JobFilter::default() };
                let jobs = store.jobs(filter, page, deadline).await?;
                jobs.iter().map(|job| line("job", job.id.uuid(), &job.workspace_id, job)).collect()
            }
        }
    }
}

async fn memory_lines(
    rows: Vec<MemoryRow>,
    vectors: bool,
    store: &StoreHandle,
) -> Result<VecDeque<ExportLine>, CommandFailure> {
    let ids = rows.iter().map(|row| row.memory.id).collect();
    let mut passages = if vectors { Some(store.passages(ids, Deadline::after(REQUEST_TIMEOUT)).await?) } else { None };
    let with_passages = |MemoryRow { memory, .. }: MemoryRow| {
        let mut line = line("memory", memory.id.uuid(), &memory.workspace_id, &memory)?;
        line.passages = passages.as_mut().map(|passages| passages.remove(&memory.id).unwrap_or_default());
        if line.passages.is_none() {
            // the name of the embedder only makes sense beside its vectors
            line.fields.remove("embedder");
        }
        Ok(line)
    };
    rows.into_iter().map(with_passages).collect()
}

/// A stream of things of one kind, which are read a page at a time.
struct Stream {
    kind: ExportedKind,
    workspace: Option<WorkspaceId>,
    page: VecDeque<ExportLine>,
    after: Option<Uuid>,
    ended: bool,
}

impl Stream {
    fn new(kind: ExportedKind, workspace: &Option<WorkspaceId>) -> Self {
        Self { kind, workspace: workspace.clone(), page: VecDeque::new(), after: None, ended: false }
    }

    async fn fill(&mut self, store: &StoreHandle) -> Result<(), CommandFailure> {
        if self.ended || !self.page.is_empty() {
            return Ok(());
        }
        let size = self.kind.page_size();
        let page = Page { after: self.after, ..Page::first(size) };
        self.page = self.kind.read(self.workspace.clone(), page, store).await?;
        self.ended = self.page.len() < size;
        self.after = self.page.back().map(|line| line.id).or(self.after);
        Ok(())
    }
}

/// Returns the line with the lowest id of all streams.
async fn next(streams: &mut [Stream], system: &SystemHandle) -> Result<Option<ExportLine>, CommandFailure> {
    for stream in streams.iter_mut() {
        stream.fill(&system.store).await?;
    }
    let first = streams.iter_mut().filter(|stream| !stream.page.is_empty());
    Ok(first.min_by_key(|stream| stream.page.front().map(|line| line.id)).and_then(|stream| stream.page.pop_front()))
}

fn line(kind: &str, id: Uuid, workspace: &WorkspaceId, thing: &impl Serialize) -> Result<ExportLine, CommandFailure> {
    let mut fields = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
    if let Value::Object(own) = value(thing)? {
        fields
            .extend(own.into_iter().map(|(name, value)| (if name == "kind" { kind.to_owned() } else { name }, value)));
    }
    Ok(ExportLine { id, workspace: workspace.clone(), fields, passages: None })
}

fn value(thing: &impl Serialize) -> Result<Value, CommandFailure> {
    serde_json::to_value(thing).map_err(|error| CommandFailure::from(Error::internal(error)))
}

struct ExportLines<'a, W> {
    out: &'a mut W,
    as_array: bool,
    begun: bool,
}

impl<W: Write> ExportLines<'_, W> {
    /// Writes a line. It returns false once nobody reads any more.
    fn write(&mut self, line: &ExportLine) -> Result<bool, CommandFailure> {
        let text = serde_json::to_string(line).map_err(|error| CommandFailure::from(Error::internal(error)))?;
        let text = escaped_in_json(&text);
        match (self.as_array, self.begun) {
            (true, false) => self.put(&format!("[{text}")),
            (true, true) => self.put(&format!(",\n{text}")),
            (false, _) => self.put(&format!("{text}\n")),
        }
    }

    fn end(&mut self) -> Result<(), CommandFailure> {
        if self.as_array {
            self.put(if self.begun { "]\n" } else { "[]\n" })?;
        }
        unless_closed(self.out.flush()).map(|_| ())
    }

    fn put(&mut self, text: &str) -> Result<bool, CommandFailure> {
        self.begun = true;
        unless_closed(self.out.write_all(text.as_bytes()))
    }
}

/// Returns false when nobody reads any more.
fn unless_closed(written: io::Result<()>) -> Result<bool, CommandFailure> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(CommandFailure::output(error)),
    }
}
