//! The traces that the sessions of clients left in this process, and that their next solve or report continues. Nothing
//! here is stored: a session ends with its process. The trace of a task that a report names is found by its id instead.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use tokio::sync::Mutex;

/// The most conversations that this process remembers, and the most sources. They count once for each workspace that
/// they work in.
const SESSIONS_MAX: u64 = 10_000;
/// The time after which a session that neither solved nor reported anything is forgotten.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// A conversation or a source, in a workspace.
type SessionKey = (WorkspaceId, String);

#[derive(Clone)]
pub(crate) struct Sessions {
    /// The latest trace of each conversation.
    latest: Cache<SessionKey, TraceId>,
    /// The latest of the traces of each conversation that were reported.
    latest_reported: Cache<SessionKey, TraceId>,
    /// Whoever locks the one of a source reports.
    turns: Cache<SessionKey, Arc<Mutex<()>>>,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Self { latest: bounded(), latest_reported: bounded(), turns: bounded() }
    }

    /// Gives the latest trace of the conversation, be it a solve or a reported one.
    pub(crate) async fn latest(&self, workspace: &WorkspaceId, session: &ClientSession) -> Option<TraceId> {
        self.latest.get(&conversation(workspace, session)?).await
    }

    /// Notes the latest trace of the conversation. Callers do this once the trace is stored.
    pub(crate) async fn left(&self, workspace: &WorkspaceId, session: &ClientSession, trace: TraceId) {
        if let Some(conversation) = conversation(workspace, session) {
            self.latest.insert(conversation, trace).await;
        }
    }

    /// Gives the turn of the source of the session. The reports of a source come one after another, so that they extend
    /// one trace.
    pub(crate) async fn turn(&self, workspace: &WorkspaceId, session: &ClientSession) -> Arc<Mutex<()>> {
        self.turns.get_with((workspace.clone(), session.source.clone()), async { Arc::default() }).await
    }

    /// Gives the trace that the conversation reported on last.
    pub(crate) async fn latest_reported(&self, workspace: &WorkspaceId, session: &ClientSession) -> Option<TraceId> {
        self.latest_reported.get(&conversation(workspace, session)?).await
    }

    /// Notes the trace that the conversation reports on.
    pub(crate) async fn reports_on(&self, workspace: &WorkspaceId, session: &ClientSession, trace: TraceId) {
        if let Some(conversation) = conversation(workspace, session) {
            self.latest_reported.insert(conversation, trace).await;
        }
    }
}

fn conversation(workspace: &WorkspaceId, session: &ClientSession) -> Option<SessionKey> {
    Some((workspace.clone(), session.conversation.clone()?))
}

fn bounded<T: Clone + Send + Sync + 'static>() -> Cache<SessionKey, T> {
    Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(IDLE).build()
}
