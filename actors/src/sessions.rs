//! What the sessions of clients left in this process: the traces that their next solve or report continues. Nothing here
//! is stored: a session ends with its process.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::normalised;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use tokio::sync::Mutex;
use uuid::Uuid;

/// This process remembers at most so many sessions, counted once for each workspace that they work in.
const SESSIONS_MAX: u64 = 10_000;
/// A session is forgotten when it neither solved nor reported anything for so long.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// A session remembers the traces of its latest tasks, at most so many.
const TASKS_MAX: usize = 64;

/// The reported traces of a session. The latest is the last; each stands with its normalised task, which is blank where no
/// task was named.
#[derive(Default)]
pub(crate) struct ReportedTraces(VecDeque<(String, TraceId)>);

impl ReportedTraces {
    /// Gives the trace that a report on this task extends or begins. A report that names no task extends the latest one.
    pub(crate) fn of_task(&mut self, task: Option<&str>) -> TraceId {
        let task = task.map(normalised);
        let known = match &task {
            Some(task) => self.0.iter().position(|(known, _)| known == task),
            None => self.0.len().checked_sub(1),
        };
        let fresh = || (task.unwrap_or_default(), TraceId::from(Uuid::now_v7()));
        let latest = known.and_then(|known| self.0.remove(known)).unwrap_or_else(fresh);
        let id = latest.1;
        self.0.push_back(latest);
        if self.0.len() > TASKS_MAX {
            self.0.pop_front();
        }
        id
    }
}

type SessionKey = (WorkspaceId, String);

#[derive(Clone)]
pub(crate) struct Sessions {
    latest: Cache<SessionKey, TraceId>,
    reported: Cache<SessionKey, Arc<Mutex<ReportedTraces>>>,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Self { latest: bounded(), reported: bounded() }
    }

    /// Gives the latest trace of the session, be it a solve or a reported one.
    pub(crate) async fn latest(&self, workspace: &WorkspaceId, session: &str) -> Option<TraceId> {
        self.latest.get(&(workspace.clone(), session.to_owned())).await
    }

    /// Notes the latest trace of the session. Callers do this once the trace is stored.
    pub(crate) async fn left(&self, workspace: &WorkspaceId, session: &str, trace: TraceId) {
        self.latest.insert((workspace.clone(), session.to_owned()), trace).await;
    }

    pub(crate) async fn reported(&self, workspace: &WorkspaceId, session: &str) -> Arc<Mutex<ReportedTraces>> {
        self.reported.get_with((workspace.clone(), session.to_owned()), async { Arc::default() }).await
    }
}

fn bounded<T: Clone + Send + Sync + 'static>() -> Cache<SessionKey, T> {
    Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(IDLE).build()
}
