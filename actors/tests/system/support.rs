//! A system over the in-memory store, the hash embedder and a model of choice.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::memories::{FeedbackRequest, Learning, RecordRequest, RetrieveRequest};
use reasoning_bank_actors::ports::{Clock, LanguageModel, MemoryFilter, Page, Passage, StoreReads};
use reasoning_bank_actors::runtime::{Deadline, Subscription, SystemEvent};
use reasoning_bank_actors::store::StoreOpener;
use reasoning_bank_actors::system::{System, SystemHandle, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{
    HashEmbedder, MemAccount, MemArtefacts, MemBanks, MemLease, MemLogs, Scripted, opener_of,
};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::evidence::feedback::Reported;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::observation::Feedback;
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::trace::{MattsMode, Trace};
use reasoning_bank_domain::memory::{ErrorContext, Memory, Scope, SourceType, Trust};
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::retrieval::responses::Retrieved;
use reasoning_bank_domain::solve::task::SolveTask;

pub(crate) use reasoning_bank_actors::testkit::soon;

pub(crate) const DAY: SignedDuration = SignedDuration::from_hours(24);

pub(crate) struct World {
    pub(crate) system: System,
    pub(crate) handle: SystemHandle,
    pub(crate) store: Arc<MemStore>,
    pub(crate) embedder: Arc<HashEmbedder>,
}

pub(crate) async fn world(model: impl LanguageModel) -> World {
    world_with(model, SystemSettings::default()).await
}

pub(crate) async fn world_with(model: impl LanguageModel, settings: SystemSettings) -> World {
    let store = Arc::new(MemStore::new());
    start(opener_of(Arc::clone(&store) as Arc<_>), model, settings, store, Clock::system()).await
}

/// Makes a world whose time is what the clock says.
pub(crate) async fn world_at(clock: Clock, model: impl LanguageModel, settings: SystemSettings) -> World {
    let store = Arc::new(MemStore::new());
    start(opener_of(Arc::clone(&store) as Arc<_>), model, settings, store, clock).await
}

/// Starts a world over the store that the opener opens.
pub(crate) async fn world_over(opener: StoreOpener, model: impl LanguageModel) -> World {
    world_over_with(opener, model, SystemSettings::default()).await
}

pub(crate) async fn world_over_with(opener: StoreOpener, model: impl LanguageModel, settings: SystemSettings) -> World {
    start(opener, model, settings, Arc::new(MemStore::new()), Clock::system()).await
}

async fn start(
    opener: StoreOpener,
    model: impl LanguageModel,
    settings: SystemSettings,
    store: Arc<MemStore>,
    clock: Clock,
) -> World {
    let embedder = Arc::new(HashEmbedder::new());
    let parts = SystemParts {
        store: opener,
        embedder: Arc::clone(&embedder) as Arc<_>,
        model: Arc::new(model),
        provider: "test".into(),
        settings,
        clock,
        background: None,
        backups: None,
        working: Arc::new(MemLogs::default()),
        artefacts: Arc::new(MemArtefacts::default()),
        banks: Arc::new(MemBanks::default()),
        account: Arc::new(MemAccount::default()),
        consolidation: Arc::new(MemLease::default()),
    };
    let system = System::start(parts).await.unwrap();
    let handle = system.handle();
    World { system, handle, store, embedder }
}

impl World {
    pub(crate) async fn stop(self) {
        self.system.stop(Duration::from_secs(5)).await;
    }
}

pub(crate) fn call() -> SolveOptions {
    SolveOptions::until(Deadline::after(Duration::from_secs(60)))
}

pub(crate) fn project() -> WorkspaceRef {
    WorkspaceRef::Root("/home/me/project".into())
}

pub(crate) fn task(text: &str, k: u32) -> SolveTask {
    SolveTask { task: text.into(), use_memory: true, k, mode: MattsMode::Parallel, store_result: true, domain: None }
}

pub(crate) fn lesson(title: &str, content: &str) -> RecordRequest {
    RecordRequest {
        title: title.into(),
        description: "when it fits".into(),
        content: content.into(),
        outcome: None,
        error_context: None,
        pattern_tags: vec![],
        domain_category: None,
        difficulty_level: None,
        parent_memory_id: None,
        derived_from: vec![],
        scope: Scope::Project,
        task: None,
        workspace: project(),
        source_type: SourceType::Explicit,
        trust: Trust::Agent,
        session: None,
        supersedes: vec![],
        valid_from: None,
    }
}

/// Asks the project for the five best memories.
pub(crate) fn query(text: &str) -> RetrieveRequest {
    RetrieveRequest::new(text, project(), 5)
}

pub(crate) fn ids(retrieved: &Retrieved) -> Vec<MemoryId> {
    retrieved.memories.iter().map(|found| found.memory.id).collect()
}

/// A verdict on memories of the project, which is no report of work.
pub(crate) fn feedback_on(memory_ids: Vec<MemoryId>, verdict: Feedback) -> FeedbackRequest {
    FeedbackRequest {
        workspace: project(),
        memory_ids,
        trace_id: None,
        task: None,
        commit: None,
        verdict,
        learnings: vec![],
        session: None,
        counts_in: Scope::SHARED.to_vec(),
        is_work: false,
    }
}

/// Makes the report of a session about the memories that its work in the project used; it may not share them.
pub(crate) fn work_report(session: &str, task: Option<&str>, used: &[MemoryId], verdict: Feedback) -> FeedbackRequest {
    FeedbackRequest {
        task: task.map(Into::into),
        session: Some(session.into()),
        counts_in: vec![],
        is_work: true,
        ..feedback_on(used.to_vec(), verdict)
    }
}

/// Makes a lesson as a client reports it.
pub(crate) fn learning(title: &str, content: &str) -> Learning {
    Learning { title: title.into(), description: "when it fits".into(), content: content.into(), error_context: None }
}

pub(crate) fn helpful() -> Feedback {
    Feedback { helpful: Some(true), ..Feedback::default() }
}

pub(crate) fn claims(succeeded: bool) -> Feedback {
    Feedback { task_succeeded: Some(succeeded), ..Feedback::default() }
}

/// The lesson as a warning of this error.
pub(crate) fn warning(error_type: &str, domain: Option<&str>, lesson: RecordRequest) -> RecordRequest {
    let error = ErrorContext {
        error_type: error_type.into(),
        failure_pattern: "it went wrong".into(),
        corrective_guidance: "do it right".into(),
        error_message: None,
        stack_trace: None,
        task_domain: domain.map(Into::into),
    };
    RecordRequest { error_context: Some(error), ..lesson }
}

pub(crate) const GOOD: &str = r#"{"score": 0.9, "feedback": "fine"}"#;
pub(crate) const JUDGED: &str = r#"{"verdict": "success", "score": 0.9, "reasoning": "it works", "learnings": [
    {"title": "Bisect with a half-open range", "description": "When searching sorted data.",
     "content": "Keep the upper bound exclusive and stop when the bounds meet.", "pattern_tags": ["search"],
     "domain_category": "algorithms", "difficulty_level": "easy", "error_context": null}]}"#;
pub(crate) const CONTRASTED: &str = r#"{"best_index": 1, "analysis": "a", "learnings": [
    {"title": "Name the edge cases first", "description": "When drafting several attempts.",
     "content": "Attempts that listed edge cases before code scored higher.", "pattern_tags": [],
     "domain_category": null, "difficulty_level": null, "error_context": null}]}"#;

/// A model that solves everything at the first try.
pub(crate) fn good_model() -> Scripted {
    let model = Scripted::new();
    model
        .answer(Purpose::Think, |request| Ok(format!("draft {}", request.attempt.unwrap_or(0))))
        .answer(Purpose::Refine, |_| Ok("refined".into()))
        .answer(Purpose::Evaluate, |_| Ok(GOOD.into()))
        .answer(Purpose::Judge, |_| Ok(JUDGED.into()))
        .answer(Purpose::Extract, |_| Ok(r#"{"learnings": []}"#.into()))
        .answer(Purpose::Contrast, |_| Ok(CONTRASTED.into()));
    model
}

pub(crate) async fn restarted(events: &mut Subscription, name: &'static str) {
    let again = |event: &SystemEvent| matches!(event, SystemEvent::ChildStarted { child, incarnation } if *child == name && *incarnation > 1);
    assert!(events.wait_for(again, soon()).await.is_some(), "{name} was not started again");
}

/// The workspace of somebody else.
pub(crate) fn elsewhere() -> WorkspaceRef {
    WorkspaceRef::Root("/home/me/other".into())
}

impl World {
    /// Gives both projects the same team.
    pub(crate) async fn share_a_team(&self) {
        for workspace in [project(), elsewhere()] {
            self.handle.workspaces.trust(&workspace, Some("blue".into()), None, soon()).await.unwrap();
        }
    }

    /// Records a lesson and returns its id.
    pub(crate) async fn recorded(&self, request: RecordRequest) -> MemoryId {
        self.handle.memories.record(request, soon()).await.unwrap().id
    }

    pub(crate) async fn feedback(&self, request: FeedbackRequest) -> Reported {
        self.handle.memories.feedback(request, soon()).await.unwrap()
    }

    pub(crate) async fn trace(&self, id: TraceId) -> Trace {
        self.handle.memories.trace(id, &project(), soon()).await.unwrap()
    }

    pub(crate) async fn signal_kinds(&self) -> Vec<SignalKind> {
        self.signals().await.into_iter().map(|signal| signal.kind).collect()
    }

    pub(crate) async fn signals(&self) -> Vec<Signal> {
        self.store.signals(None, Page::first(1_000), soon()).await.unwrap()
    }

    pub(crate) async fn memories(&self) -> Vec<Memory> {
        let rows = self.store.memories(MemoryFilter::default(), Page::first(20_000), soon()).await.unwrap();
        rows.into_iter().map(|row| row.memory).collect()
    }

    pub(crate) async fn passages(&self, id: MemoryId) -> Vec<Passage> {
        self.store.passages(vec![id], soon()).await.unwrap().remove(&id).unwrap_or_default()
    }
}
