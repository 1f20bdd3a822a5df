//! Storing what a client tells of a task. The same said again in one session within a few minutes is the same episode.

use jiff::SignedDuration;
use reasoning_bank_domain::episode::{
    DUPLICATE_MINUTES, EpisodeFilter, MadeEpisode, NewEpisode, RecordedEpisode, ReportedEpisode, Visibility,
    content_key, not_taken,
};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::{Trace, TraceSource};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use tokio::time::timeout_at;
use uuid::Uuid;

use super::EpisodesHandle;
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::Record;
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// The most episodes of a session that are looked at for one that says the same.
const COMPARED_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub struct RecordEpisode {
    pub episode: NewEpisode,
    pub workspace: WorkspaceRef,
    /// The session that tells it: the source of evidence.
    pub session: Option<String>,
}

impl EpisodesHandle {
    /// Stores an episode. The same said again is the same episode, to which nothing is added.
    pub async fn record(&self, request: RecordEpisode, deadline: Deadline) -> Result<ReportedEpisode, Error> {
        // A client may say the same in several calls at once.
        let alone = timeout_at(deadline.instant(), self.reporting.lock()).await;
        let _alone = alone.map_err(|_| Error::DeadlineExceeded)?;
        self.store_episode(None, request, deadline).await
    }

    /// Stores an episode under an id. A report is the same episode where it has the same id, and only there.
    pub(crate) async fn record_as(
        &self,
        id: TraceId,
        request: RecordEpisode,
        deadline: Deadline,
    ) -> Result<RecordedEpisode, Error> {
        Ok(self.store_episode(Some(id), request, deadline).await?.episode)
    }

    async fn store_episode(
        &self,
        given: Option<TraceId>,
        request: RecordEpisode,
        deadline: Deadline,
    ) -> Result<ReportedEpisode, Error> {
        let RecordEpisode { episode, workspace, session } = request;
        episode.check_counts()?;
        let workspace = self.workspaces.resolve(&workspace, deadline).await?.workspace;
        let id = given.unwrap_or_else(|| Uuid::now_v7().into());
        let now = self.clock.now();
        let MadeEpisode { trace, artefacts, removed } =
            episode.into_trace(id, TraceSource::Reported, workspace.id.clone(), session.as_deref(), now)?;
        let recorded = |episode_id, created| RecordedEpisode {
            episode_id,
            created,
            status: trace.outcome.into(),
            task_type: trace.task_type(),
            redactions: removed.redactions,
            dropped_characters: removed.dropped_characters,
        };
        let same = match given {
            Some(id) => self.store.episode(id, Some(workspace.id.clone()), deadline).await?.map(|row| row.trace),
            None => self.same_as(&trace, &workspace.id, deadline).await?,
        };
        if let Some(same) = same {
            let notes = not_taken(&same, &trace).into_iter().collect();
            return Ok(ReportedEpisode { episode: recorded(same.trace_id, false), notes });
        }
        self.keep(artefacts, id, &workspace.id, deadline).await?;
        let mut batch = vec![Record::Trace(trace.clone())];
        batch.extend(self.vectors_of(&trace, 0, deadline.halfway()).await.map(Record::EpisodeVectors));
        self.workspaces.commit_to(&workspace, &self.store, batch, deadline).await?;
        self.refer(&trace, &workspace.id, deadline).await;
        self.memories.observe(std::slice::from_ref(&trace), &workspace, deadline).await;
        Ok(ReportedEpisode { episode: recorded(id, true), notes: Vec::new() })
    }

    /// Finds an episode of the same session and of about the same time that says the same.
    async fn same_as(
        &self,
        trace: &Trace,
        workspace: &WorkspaceId,
        deadline: Deadline,
    ) -> Result<Option<Trace>, Error> {
        let Some(session) = trace.session() else { return Ok(None) };
        let around = SignedDuration::from_mins(DUPLICATE_MINUTES);
        let filter = EpisodeFilter {
            session: Some(session.to_owned()),
            status: Some(trace.outcome),
            since: trace.created_at.checked_sub(around).ok(),
            until: trace.created_at.checked_add(around).ok(),
            visible: vec![Visibility::Active, Visibility::Archived],
            ..self.filter(workspace.clone())
        };
        let key = content_key(trace);
        let rows = self.store.episodes(filter, None, COMPARED_MAX, deadline).await?;
        let same = rows.into_iter().find(|row| is_of_session(&row.trace, trace) && content_key(&row.trace) == key);
        Ok(same.map(|row| row.trace))
    }

    /// Notes this episode in the state of each episode of the same workspace that it names. A failure is only logged,
    /// because the episode is stored.
    async fn refer(&self, trace: &Trace, workspace: &WorkspaceId, deadline: Deadline) {
        let failures = trace.failures();
        let named = failures.iter().filter_map(|failure| failure.resolved_by).chain(trace.parent_trace_id);
        for id in named {
            let change = async |_tries| {
                let Some(row) = self.store.episode(id, Some(workspace.clone()), deadline).await? else { return Ok(()) };
                let Some(next) = row.state.referenced(trace.trace_id) else { return Ok(()) };
                self.store.commit(vec![Record::EpisodeState(next)], deadline).await.map(drop)
            };
            if let Err(error) = retry_on_conflict(change).await {
                tracing::debug!(code = error.code().as_str(), "an episode does not know which other one names it");
            }
        }
    }
}

/// Tells whether two episodes whose sessions have the same name are of one session. A session that the reports name is
/// one wherever it is told from, such as a connection after a restart; any other is one connection.
fn is_of_session(kept: &Trace, told: &Trace) -> bool {
    let names = |trace: &Trace| trace.episode.as_ref().is_some_and(|parts| parts.session_id.is_some());
    (names(kept) && names(told)) || kept.metadata.source_session == told.metadata.source_session
}
