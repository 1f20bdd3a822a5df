//! An export is JSON Lines, one line for each thing, in the order of ids over all kinds. What is written is what is
//! stored, so that `import` restores it exactly. A signal's own kind is called `signal`, because `kind` says what a
//! line is. The first line of a workspace also has the `workspace` itself: its root, its name, its team and
//! organisation, which `import` takes of a trusted backup alone. The line of a trace also has what happened to it as an
//! episode (`episode_state`): accesses, archiving, and which others name it. Deleted episodes are left out, although
//! they can still be restored here: a file outlives their deletion. Jobs hold whole sessions, so they are written only
//! where that is asked for. The files of memory banks come last, each as a line: those of the bank of each workspace,
//! and all others where all workspaces are written.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{BankLocation, JobFilter, MemoryFilter, MemoryRow, Page, Passage};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::store::StoreHandle;
use reasoning_bank_actors::system::SystemHandle;
use reasoning_bank_domain::bank::{BankKey, BankPath};
use reasoning_bank_domain::episode::EpisodeState;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::safety::invisible::escaped_in_json;
use reasoning_bank_domain::safety::secrets::Scrub;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

/// The page is small because traces and vectors may be large.
const PAGE: usize = 500;
/// The page is smaller because a session may be half a million characters long.
const PAGE_OF_JOBS: usize = 16;
/// The page is large because the ids of a bank are read once for each page.
const PAGE_OF_MEMORIES: usize = 4_096;
/// One page may take this long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The things that are exported besides memories, traces and signals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ExportOptions {
    /// The memories have their passages with vectors, and the name of the embedder.
    pub(crate) vectors: bool,
    pub(crate) jobs: bool,
}

/// An export, which is read line by line.
pub(crate) struct Export {
    streams: Vec<Stream>,
    /// The workspaces that no line has named yet.
    unnamed: HashMap<WorkspaceId, Workspace>,
    /// The memory banks that are still to be read.
    banks: Vec<BankLocation>,
    bank_files: VecDeque<BankFileLine>,
    system: SystemHandle,
}

/// A file of a memory bank, as a line.
#[derive(Serialize)]
struct BankFileLine {
    kind: &'static str,
    bank: BankKey,
    path: BankPath,
    text: String,
}

impl Export {
    /// Begins an export of one workspace, or of all.
    pub(crate) async fn begin(
        workspace: Option<WorkspaceId>,
        options: ExportOptions,
        system: SystemHandle,
    ) -> Result<Self, Error> {
        let mut streams = vec![
            Stream::new(ExportedKind::Memories { vectors: options.vectors }, &workspace),
            Stream::new(ExportedKind::Traces, &workspace),
            Stream::new(ExportedKind::Signals, &workspace),
        ];
        if options.jobs {
            streams.push(Stream::new(ExportedKind::Jobs, &workspace));
        }
        let workspaces = system.store.workspaces(Deadline::after(REQUEST_TIMEOUT)).await?;
        let keys = system.banks.keys(Deadline::after(REQUEST_TIMEOUT)).await?;
        let mut places = bank_locations(&workspaces);
        let only = workspace.as_ref().map(BankKey::code);
        let wanted = keys.into_iter().rev().filter(|key| only.as_ref().is_none_or(|only| only == key));
        let place = |key: BankKey| places.remove(&key).unwrap_or(BankLocation { key, checkout: None });
        let banks = wanted.map(place).collect();
        let unnamed = workspaces.into_iter().map(|workspace| (workspace.id.clone(), workspace)).collect();
        Ok(Self { streams, unnamed, banks, bank_files: VecDeque::new(), system })
    }

    /// Returns the next line, without its end. None at the end.
    pub(crate) async fn next_line(&mut self) -> Result<Option<String>, Error> {
        let mut line = loop {
            let Some(line) = next(&mut self.streams, &self.system.store).await? else {
                return self.next_bank_file().await;
            };
            if !line.is_deleted {
                break line;
            }
        };
        if let Some(mut workspace) = self.unnamed.remove(&line.workspace) {
            workspace.scrub();
            line.fields.insert("workspace".into(), value(&workspace)?);
        }
        written(&line).map(Some)
    }

    async fn next_bank_file(&mut self) -> Result<Option<String>, Error> {
        while self.bank_files.is_empty() {
            let Some(place) = self.banks.pop() else { return Ok(None) };
            let (texts, _) = self.system.banks.texts(&place, Deadline::after(REQUEST_TIMEOUT)).await?;
            let line = |(path, mut text): (BankPath, String)| {
                text.scrub();
                BankFileLine { kind: "bank_file", bank: place.key.clone(), path, text }
            };
            self.bank_files = texts.into_iter().map(line).collect();
        }
        self.bank_files.pop_front().map(|line| written(&line)).transpose()
    }
}

/// Returns where the memory banks of workspaces are asked for.
pub(crate) fn bank_locations(workspaces: &[Workspace]) -> BTreeMap<BankKey, BankLocation> {
    workspaces.iter().map(BankLocation::of_workspace).map(|place| (place.key.clone(), place)).collect()
}

fn written(line: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(line).map_err(Error::internal)?;
    Ok(escaped_in_json(&text).into_owned())
}

#[derive(Serialize)]
struct ExportLine {
    #[serde(skip)]
    id: Uuid,
    #[serde(skip)]
    workspace: WorkspaceId,
    /// The line is about an episode that was deleted. It is not written.
    #[serde(skip)]
    is_deleted: bool,
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
            Self::Memories { vectors: false } | Self::Signals => PAGE_OF_MEMORIES,
            Self::Memories { vectors: true } | Self::Traces => PAGE,
            Self::Jobs => PAGE_OF_JOBS,
        }
    }

    /// Reads a page of one workspace, or of all.
    async fn read(
        self,
        workspace: Option<WorkspaceId>,
        page: Page,
        store: &StoreHandle,
    ) -> Result<VecDeque<ExportLine>, Error> {
        let deadline = Deadline::after(REQUEST_TIMEOUT);
        match self {
            Self::Memories { vectors } => {
                let filter = MemoryFilter { workspace, ..MemoryFilter::default() };
                memory_lines(store.memories(filter, page, deadline).await?, vectors, store).await
            }
            Self::Traces => {
                let traces = store.traces(workspace, page, deadline).await?;
                trace_lines(&traces, store).await
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

async fn memory_lines(rows: Vec<MemoryRow>, vectors: bool, store: &StoreHandle) -> Result<VecDeque<ExportLine>, Error> {
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

async fn trace_lines(traces: &[Trace], store: &StoreHandle) -> Result<VecDeque<ExportLine>, Error> {
    let ids = traces.iter().map(|trace| trace.trace_id).collect();
    let states = store.episode_states(ids, Deadline::after(REQUEST_TIMEOUT)).await?;
    let states: HashMap<TraceId, EpisodeState> = states.into_iter().map(|state| (state.episode_id, state)).collect();
    let with_state = |trace: &Trace| {
        let mut line = line("trace", trace.trace_id.uuid(), &trace.metadata.workspace_id, trace)?;
        if let Some(state) = states.get(&trace.trace_id) {
            line.is_deleted = state.is_deleted();
            line.fields.insert("episode_state".into(), portable(state)?);
        }
        Ok(line)
    };
    traces.iter().map(with_state).collect()
}

/// Writes the state of an episode without what its trace says, and without its revision, which counts from 1 elsewhere.
fn portable(state: &EpisodeState) -> Result<Value, Error> {
    let mut portable = value(state)?;
    if let Some(fields) = portable.as_object_mut() {
        ["episode_id", "workspace_id", "created_at", "revision"].iter().for_each(|name| drop(fields.remove(*name)));
    }
    Ok(portable)
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

    async fn fill(&mut self, store: &StoreHandle) -> Result<(), Error> {
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
async fn next(streams: &mut [Stream], store: &StoreHandle) -> Result<Option<ExportLine>, Error> {
    for stream in streams.iter_mut() {
        stream.fill(store).await?;
    }
    let first = streams.iter_mut().filter(|stream| !stream.page.is_empty());
    Ok(first.min_by_key(|stream| stream.page.front().map(|line| line.id)).and_then(|stream| stream.page.pop_front()))
}

fn line(kind: &str, id: Uuid, workspace: &WorkspaceId, thing: &impl Serialize) -> Result<ExportLine, Error> {
    let mut fields = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
    if let Value::Object(own) = value(thing)? {
        fields
            .extend(own.into_iter().map(|(name, value)| (if name == "kind" { kind.to_owned() } else { name }, value)));
    }
    Ok(ExportLine { id, workspace: workspace.clone(), is_deleted: false, fields, passages: None })
}

fn value(thing: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(thing).map_err(Error::internal)
}
