//! `memory export`: JSON Lines, a line a thing, in the order of ids over all kinds. What is written is what is stored,
//! so that `import` restores it exactly; a signal's own kind is called `signal`, as `kind` says what a line is. The
//! first line of a workspace also has the `workspace` itself: its root, its name, its team and organisation, which `import`
//! takes of a trusted backup alone. Jobs are written where that is asked for: they hold whole sessions.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::WorkspaceRef;
use reasoning_bank_actors::ports::{Filter, Page, Passage, Scanned};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::safety::invisible::escaped_in_json;
use reasoning_bank_domain::safety::secrets::Scrub;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::cli::failure::Failure;

/// Traces may be large.
const PAGE: usize = 500;
/// A session may be half a million characters long.
const PAGE_OF_JOBS: usize = 16;
/// The ids of a bank are read once a page, so pages are large.
const PAGE_OF_MEMORIES: usize = 4_096;
/// For one page.
const PATIENCE: Duration = Duration::from_secs(30);

/// Writes the lines to `out`, or with `as_array` one array of them; of all workspaces where none is named. That nobody
/// reads on is no failure.
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
) -> Result<(), Failure> {
    let workspace = match workspace {
        Some(named) => Some(system.workspaces.resolve(named, Deadline::after(PATIENCE)).await?.workspace.id),
        None => None,
    };
    let mut streams = vec![
        Stream::new(
            Filter::Memories { workspace: workspace.clone(), status: None, scope: None },
            PAGE_OF_MEMORIES,
            vectors,
        ),
        Stream::new(Filter::Traces { workspace: workspace.clone() }, PAGE, false),
        Stream::new(Filter::Signals { workspace: workspace.clone() }, PAGE_OF_MEMORIES, false),
    ];
    if with_jobs {
        streams.push(Stream::new(Filter::Jobs { workspace, state: None, due: None }, PAGE_OF_JOBS, false));
    }
    let mut unnamed = workspaces(system).await?;
    let mut lines = Lines { out, as_array, begun: false };
    let exported = write_all(&mut streams, &mut unnamed, system, &mut lines).await;
    exported.map_err(|failure| if lines.begun { failure.after_output() } else { failure })
}

async fn write_all(
    streams: &mut [Stream],
    unnamed: &mut HashMap<WorkspaceId, Workspace>,
    system: &SystemHandle,
    lines: &mut Lines<'_, impl Write>,
) -> Result<(), Failure> {
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

async fn workspaces(system: &SystemHandle) -> Result<HashMap<WorkspaceId, Workspace>, Failure> {
    let scanned = system.store.scan(Filter::Workspaces, Page::first(PAGE), Deadline::after(PATIENCE)).await?;
    let Scanned::Workspaces(workspaces) = scanned else { return Ok(HashMap::new()) };
    Ok(workspaces.into_iter().map(|workspace| (workspace.id.clone(), workspace)).collect())
}

#[derive(Serialize)]
struct Line {
    #[serde(skip)]
    id: Uuid,
    #[serde(skip)]
    workspace: WorkspaceId,
    #[serde(flatten)]
    fields: Map<String, Value>,
    /// Of a memory that is written with its vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    passages: Option<Vec<Passage>>,
}

/// One kind of things, read a page at a time.
struct Stream {
    filter: Filter,
    size: usize,
    vectors: bool,
    page: VecDeque<Line>,
    after: Option<Uuid>,
    ended: bool,
}

impl Stream {
    fn new(filter: Filter, size: usize, vectors: bool) -> Self {
        Self { filter, size, vectors, page: VecDeque::new(), after: None, ended: false }
    }

    async fn fill(&mut self, system: &SystemHandle) -> Result<(), Failure> {
        if self.ended || !self.page.is_empty() {
            return Ok(());
        }
        let page = Page { after: self.after, ..Page::first(self.size) };
        let scanned = system.store.scan(self.filter.clone(), page, Deadline::after(PATIENCE)).await?;
        self.page = lines(scanned, self.vectors)?;
        self.ended = self.page.len() < self.size;
        self.after = self.page.back().map(|line| line.id).or(self.after);
        if self.vectors { self.add_vectors(system).await } else { Ok(()) }
    }

    async fn add_vectors(&mut self, system: &SystemHandle) -> Result<(), Failure> {
        let ids = self.page.iter().map(|line| line.id.into()).collect();
        let scanned =
            system.store.scan(Filter::Passages(ids), Page::first(self.size), Deadline::after(PATIENCE)).await?;
        let Scanned::Passages(mut passages) = scanned else { return Ok(()) };
        for line in &mut self.page {
            line.passages = Some(passages.remove(&line.id.into()).unwrap_or_default());
        }
        Ok(())
    }
}

/// The line with the lowest id of all streams.
async fn next(streams: &mut [Stream], system: &SystemHandle) -> Result<Option<Line>, Failure> {
    for stream in streams.iter_mut() {
        stream.fill(system).await?;
    }
    let first = streams.iter_mut().filter(|stream| !stream.page.is_empty());
    Ok(first.min_by_key(|stream| stream.page.front().map(|line| line.id)).and_then(|stream| stream.page.pop_front()))
}

fn lines(scanned: Scanned, vectors: bool) -> Result<VecDeque<Line>, Failure> {
    match scanned {
        Scanned::Memories(rows) => rows
            .into_iter()
            .map(|row| {
                let mut line = line("memory", row.memory.id.uuid(), &row.memory.workspace_id, &row.memory)?;
                if !vectors {
                    // it only makes sense beside them
                    line.fields.remove("embedder");
                }
                Ok(line)
            })
            .collect(),
        Scanned::Traces(traces) => traces
            .iter()
            .map(|trace| line("trace", trace.trace_id.uuid(), &trace.metadata.workspace_id, trace))
            .collect(),
        Scanned::Signals(signals) => {
            signals.iter().map(|signal| line("signal", signal.id.uuid(), &signal.workspace_id, signal)).collect()
        }
        Scanned::Jobs(jobs) => jobs.iter().map(|job| line("job", job.id.uuid(), &job.workspace_id, job)).collect(),
        Scanned::Workspaces(_)
        | Scanned::Passages(_)
        | Scanned::Lineage(_)
        | Scanned::Stored(_)
        | Scanned::Backlog(_)
        | Scanned::Held(_)
        | Scanned::Summary(_) => Ok(VecDeque::new()),
    }
}

fn line(kind: &str, id: Uuid, workspace: &WorkspaceId, thing: &impl Serialize) -> Result<Line, Failure> {
    let mut fields = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
    if let Value::Object(own) = value(thing)? {
        fields
            .extend(own.into_iter().map(|(name, value)| (if name == "kind" { kind.to_owned() } else { name }, value)));
    }
    Ok(Line { id, workspace: workspace.clone(), fields, passages: None })
}

fn value(thing: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(thing).map_err(|error| Failure::from(Error::internal(error)))
}

struct Lines<'a, W> {
    out: &'a mut W,
    as_array: bool,
    begun: bool,
}

impl<W: Write> Lines<'_, W> {
    /// False once nobody reads any more.
    fn write(&mut self, line: &Line) -> Result<bool, Failure> {
        let text = serde_json::to_string(line).map_err(|error| Failure::from(Error::internal(error)))?;
        let text = escaped_in_json(&text);
        match (self.as_array, self.begun) {
            (true, false) => self.put(&format!("[{text}")),
            (true, true) => self.put(&format!(",\n{text}")),
            (false, _) => self.put(&format!("{text}\n")),
        }
    }

    fn end(&mut self) -> Result<(), Failure> {
        if self.as_array {
            self.put(if self.begun { "]\n" } else { "[]\n" })?;
        }
        unless_closed(self.out.flush()).map(|_| ())
    }

    fn put(&mut self, text: &str) -> Result<bool, Failure> {
        self.begun = true;
        unless_closed(self.out.write_all(text.as_bytes()))
    }
}

/// False when nobody reads any more.
fn unless_closed(written: io::Result<()>) -> Result<bool, Failure> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::output(error)),
    }
}
