//! The traces that the sessions of clients left in this process, and that their next solve or report continues. Nothing
//! here is stored: a session ends with its process.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::normalised;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use tokio::sync::Mutex;
use uuid::Uuid;

/// The most conversations that this process remembers, and the most sources. They count once for each workspace that
/// they work in.
const SESSIONS_MAX: u64 = 10_000;
/// The time after which a session that neither solved nor reported anything is forgotten.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);

/// The number of latest tasks whose traces are remembered of a source.
const TASKS_MAX: usize = 64;

/// The reported traces of a source, each with its normalised task. The latest is the last.
#[derive(Default)]
pub(crate) struct ReportedTraces(VecDeque<(String, TraceId)>);

impl ReportedTraces {
    /// Gives the trace that a report on this task extends or begins. All conversations of the source share it, because
    /// a source counts once for each task.
    fn of_task(&mut self, task: &str) -> TraceId {
        let task = normalised(task);
        let known = self.0.iter().position(|(known, _)| *known == task);
        let fresh = || (task, TraceId::from(Uuid::now_v7()));
        let latest = known.and_then(|known| self.0.remove(known)).unwrap_or_else(fresh);
        let id = latest.1;
        self.0.push_back(latest);
        if self.0.len() > TASKS_MAX {
            self.0.pop_front();
        }
        id
    }
}

/// A conversation or a source, in a workspace.
type SessionKey = (WorkspaceId, String);

#[derive(Clone)]
pub(crate) struct Sessions {
    /// The latest trace of each conversation.
    latest: Cache<SessionKey, TraceId>,
    /// The latest of the traces of each conversation that were reported.
    latest_reported: Cache<SessionKey, TraceId>,
    /// The traces that each source reported.
    reported: Cache<SessionKey, Arc<Mutex<ReportedTraces>>>,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        Self { latest: bounded(), latest_reported: bounded(), reported: bounded() }
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

    /// Gives the traces that the source of the session reported. Whoever locks them reports; the reports of a source
    /// come one after another, so that they extend one trace.
    pub(crate) async fn reported(
        &self,
        workspace: &WorkspaceId,
        session: &ClientSession,
    ) -> Arc<Mutex<ReportedTraces>> {
        self.reported.get_with((workspace.clone(), session.source.clone()), async { Arc::default() }).await
    }

    /// Gives the trace that a report of the session extends or begins. A report that names no task is about what its
    /// conversation reported last. None where nothing came before, unless the conversation is all that its source says.
    pub(crate) async fn reports_on(
        &self,
        workspace: &WorkspaceId,
        session: &ClientSession,
        task: Option<&str>,
        traces: &mut ReportedTraces,
    ) -> Option<TraceId> {
        let conversation = conversation(workspace, session);
        let latest = match &conversation {
            Some(conversation) => self.latest_reported.get(conversation).await,
            None => None,
        };
        let trace = match (task, latest) {
            (Some(task), _) => traces.of_task(task),
            (None, Some(latest)) => latest,
            (None, None) if session.is_whole_source() => traces.of_task(""),
            (None, None) => return None,
        };
        if let Some(conversation) = conversation {
            self.latest_reported.insert(conversation, trace).await;
        }
        Some(trace)
    }
}

fn conversation(workspace: &WorkspaceId, session: &ClientSession) -> Option<SessionKey> {
    Some((workspace.clone(), session.conversation.clone()?))
}

fn bounded<T: Clone + Send + Sync + 'static>() -> Cache<SessionKey, T> {
    Cache::builder().max_capacity(SESSIONS_MAX).time_to_idle(IDLE).build()
}
