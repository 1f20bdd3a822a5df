//! Stores and records for the tests of the store port.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use reasoning_bank_actors::ports::{
    Conditions, Fingerprint, MemoryStore, Page, Passage, PassageKind, Recall, Record, Visible,
};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_domain::learning::job::{Job, Work};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::pattern::{PatternAction, PatternCategory, PatternContent, PatternPart};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::trace::MattsMode;
use reasoning_bank_domain::memory::trace::{Outcome, Trace, TraceMetadata, TraceSource, VerdictSource};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{ErrorContext, Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use reasoning_bank_domain::retrieval::fusion::RankedList;
use reasoning_bank_store::{LanceStore, Options};
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) use reasoning_bank_actors::testkit::soon;

pub(crate) const DIMS: usize = 4;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Backend {
    Memory,
    /// The store over LanceDB, which searches its tables.
    Lance,
    /// The store over LanceDB, which searches what it holds of them in memory.
    Resident,
}

/// A store that is empty, and the directory it lives in.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn MemoryStore>,
    _dir: Option<TempDir>,
}

impl Backend {
    pub(crate) async fn open(self) -> Opened {
        match self {
            Self::Memory => Opened { store: Arc::new(MemStore::new()), _dir: None },
            Self::Lance | Self::Resident => {
                let dir = tempfile::tempdir().unwrap();
                let resident_bytes = if matches!(self, Self::Resident) { 64 << 20 } else { 0 };
                let options = Options { resident_bytes, ..Options::default() };
                Opened { store: Arc::new(open_with(dir.path(), options).await), _dir: Some(dir) }
            }
        }
    }
}

pub(crate) fn fingerprint() -> Fingerprint {
    Fingerprint { name: "test".into(), dims: DIMS, hash: "0123456789abcdef0123".into() }
}

pub(crate) async fn open(dir: &Path) -> LanceStore {
    open_with(dir, Options::default()).await
}

pub(crate) async fn open_with(dir: &Path, options: Options) -> LanceStore {
    LanceStore::open(dir, &fingerprint(), options).await.unwrap()
}

pub(crate) fn workspace(name: &str) -> WorkspaceId {
    WorkspaceId::of_root(name)
}

pub(crate) fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

/// An active memory of project scope.
pub(crate) fn memory(workspace: &WorkspaceId, title: &str, content: &str) -> Memory {
    Memory::new(NewMemory {
        id: Uuid::now_v7().into(),
        title: title.into(),
        description: format!("When it is about {title}"),
        content: content.into(),
        outcome: MemoryOutcome::Success,
        workspace_id: workspace.clone(),
        source_type: SourceType::Explicit,
        trust: Trust::Agent,
        prior: 0.8,
        at: now(),
    })
}

/// A candidate.
pub(crate) fn pattern(workspace: &WorkspaceId, title: &str) -> Memory {
    let action = PatternAction { text: format!("Do it as {title} says"), tools: vec!["rg".into()] };
    let content = PatternContent::Heuristic { condition: "It is so".into(), action, rationale: String::new() };
    let part = PatternPart::new(PatternCategory::ToolSelection, content);
    Memory { pattern: Some(Box::new(part)), ..memory(workspace, title, "words") }
}

pub(crate) fn warning(mut memory: Memory) -> Memory {
    memory.error_context = Some(ErrorContext {
        error_type: "ValueError".into(),
        failure_pattern: "it was not checked".into(),
        corrective_guidance: "check it".into(),
        error_message: None,
        stack_trace: None,
        task_domain: None,
    });
    memory.outcome = MemoryOutcome::Failure;
    memory
}

/// The memory with one passage: its text, and this vector. It confirms what says the same.
pub(crate) fn record(memory: &Memory, vector: Option<[f32; DIMS]>) -> Record {
    record_with(memory, vec![whole_text(memory, vector)])
}

pub(crate) fn record_with(memory: &Memory, passages: Vec<Passage>) -> Record {
    Record::Memory { memory: memory.clone(), passages, confirm: Some(Uuid::now_v7().into()) }
}

/// Makes a record that is stored whatever else says the same.
pub(crate) fn as_it_is(memory: &Memory, vector: Option<[f32; DIMS]>) -> Record {
    Record::Memory { memory: memory.clone(), passages: vec![whole_text(memory, vector)], confirm: None }
}

/// The memory as it is now, instead of what is stored.
pub(crate) fn change(memory: &Memory, vector: Option<[f32; DIMS]>) -> Record {
    Record::Revision { memory: memory.clone(), passages: vec![whole_text(memory, vector)] }
}

/// The next revision, with this change.
pub(crate) fn next(memory: &Memory, change: impl FnOnce(&mut Memory)) -> Memory {
    let mut next = Memory { revision: memory.revision + 1, ..memory.clone() };
    change(&mut next);
    next
}

fn whole_text(memory: &Memory, vector: Option<[f32; DIMS]>) -> Passage {
    let vector = vector.map(|vector| vector.to_vec());
    Passage { kind: PassageKind::Content, n: 0, text: memory.content_text(), vector }
}

pub(crate) fn passage(kind: PassageKind, n: u32, text: &str, vector: [f32; DIMS]) -> Passage {
    Passage { kind, n, text: text.into(), vector: Some(vector.to_vec()) }
}

pub(crate) fn signal(memory: &Memory, kind: SignalKind, at: Timestamp) -> Signal {
    Signal::new(Uuid::now_v7().into(), memory.id, memory.workspace_id.clone(), kind, at)
}

pub(crate) fn trace(workspace: &WorkspaceId, task: &str) -> Trace {
    let metadata = TraceMetadata {
        model: "test".into(),
        reasoning_effort: "medium".into(),
        matts_enabled: false,
        matts_k: 1,
        matts_mode: MattsMode::Parallel,
        total_iterations: 1,
        total_tokens: 10,
        workspace_id: workspace.clone(),
        source_session: None,
    };
    Trace {
        task: task.into(),
        outcome: Outcome::Success,
        final_score: Some(0.9),
        verdict_source: VerdictSource::Judge,
        ..Trace::new(Uuid::now_v7().into(), TraceSource::Solve, metadata, now())
    }
}

/// Makes a job that a session of this name queued, due at this time.
pub(crate) fn job(workspace: &WorkspaceId, session: &str, due: Timestamp) -> Job {
    let work = Work::Distill {
        session_id: session.into(),
        outcome: MemoryOutcome::Mixed,
        transcript: "what \"was\" said\n".into(),
    };
    Job { due, ..Job::queued(workspace.clone(), work, now()) }
}

pub(crate) fn workspace_record(root: &str) -> Record {
    Record::Workspace(Workspace::of_root(root, now()))
}

pub(crate) fn visible(workspace: &WorkspaceId) -> Visible {
    Visible { workspace: Some(workspace.clone()), team: None, org: None }
}

pub(crate) fn recall(workspace: &WorkspaceId) -> Recall {
    Recall {
        with_superseded: false,
        visible: visible(workspace),
        conditions: Conditions::default(),
        text: None,
        vector: None,
        signature: None,
        limit: 50,
    }
}

pub(crate) fn by_text(workspace: &WorkspaceId, text: &str) -> Recall {
    Recall { text: Some(text.into()), ..recall(workspace) }
}

pub(crate) fn by_vector(workspace: &WorkspaceId, vector: [f32; DIMS]) -> Recall {
    Recall { vector: Some(vector.to_vec()), ..recall(workspace) }
}

/// The whole of whatever is scanned.
pub(crate) fn everything() -> Page {
    Page::first(10_000)
}

pub(crate) fn ids(list: &Option<RankedList>) -> Vec<MemoryId> {
    list.as_ref().map(|list| list.hits.iter().map(|(id, _)| *id).collect()).unwrap_or_default()
}

/// Returns the ids of the memories, in order.
pub(crate) fn ids_of(memories: &[Memory]) -> Vec<MemoryId> {
    sorted(memories.iter().map(|memory| memory.id).collect())
}

pub(crate) fn sorted(mut ids: Vec<MemoryId>) -> Vec<MemoryId> {
    ids.sort();
    ids
}
