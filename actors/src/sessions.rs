//! What the sessions of clients left in this process: the traces that their next solve or report continues. Nothing here
//! is stored: a session ends with its process.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use reasoning_bank_domain::ids::TraceId;
use reasoning_bank_domain::workspace::WorkspaceId;
use tokio::sync::Mutex;

/// Sessions that are remembered, each in each of its workspaces.
const SESSIONS_MAX: u64 = 10_000;
/// How long a session is remembered after its last solve or report.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The trace of the task that a session last reported on. Whoever holds it decides what the next report extends.
pub(crate) type ReportedTrace = Arc<Mutex<Option<TraceId>>>;

type Key = (WorkspaceId, String);

#[derive(Clone)]
pub(crate) struct Sessions {
    latest: Cache<Key, TraceId>,
    reported: Cache<Key, ReportedTrace>,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Self { latest: bounded(), reported: bounded() }
    }

    /// The trace that the session left last, whoever did the work.
    pub(crate) async fn latest(&self, workspace: &WorkspaceId, session: &str) -> Option<TraceId> {
        self.latest.get(&(workspace.clone(), session.to_owned())).await
    }

    /// To be called once the trace is stored.
    pub(crate) async fn left(&self, workspace: &WorkspaceId, session: &str, trace: TraceId) {
        self.latest.insert((workspace.clone(), session.to_owned()), trace).await;
    }

    pub(crate) async fn reported(&self, workspace: &WorkspaceId, session: &str) -> ReportedTrace {
        self.reported.get_with((workspace.clone(), session.to_owned()), async { Arc::default() }).await
    }
}

fn bounded<T: Clone + Send + Sync + 'static>() -> Cache<Key, T> {
    Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(IDLE).build()
}
