//! An episode that was stored is archived, deleted or restored, and in the end purged.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use reasoning_bank_domain::episode::{
    ArchivedEpisode, DeletedEpisode, EpisodeFilter, EpisodeState, LifecycleProblem, PurgedEpisodes, RestoredEpisode,
    Visibility,
};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::{EpisodesHandle, not_found};
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{EpisodeRow, EraseScope, Record};
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// The number of episodes that are purged at once.
const PURGED_AT_ONCE: usize = 1_000;

impl EpisodesHandle {
    /// Archives an episode: no search finds it unless archived ones are asked for.
    pub async fn archive(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<ArchivedEpisode, Error> {
        let now = self.clock.now();
        let change = |state: &EpisodeState| match state.archived(now) {
            Err(LifecycleProblem::Deleted) => Err(not_found(id)),
            other => other.map_err(refused),
        };
        let (_, archived) = self.change(id, workspace, change, deadline).await?;
        Ok(ArchivedEpisode { episode_id: id, archived })
    }

    /// Deletes an episode. It is hidden at once, and can be restored for some days.
    pub async fn delete(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<DeletedEpisode, Error> {
        let now = self.clock.now();
        let (state, _) = self.change(id, workspace, |state| Ok(state.deleted(now)), deadline).await?;
        let days = SignedDuration::from_hours(24 * i64::from(self.rules.retention_days));
        let restorable_until = state.deleted_at.and_then(|deleted| deleted.checked_add(days).ok());
        Ok(DeletedEpisode { episode_id: id, restorable_until })
    }

    /// Erases an episode for good, with its state and its vectors. One that was deleted before can be erased as well.
    pub async fn erase(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<DeletedEpisode, Error> {
        let workspace = self.workspace_of(workspace, deadline).await?;
        let row = self.own(id, &workspace, deadline).await?;
        let ids = self.with_consolidated(&[row], deadline).await?;
        self.store.erase(EraseScope::Episodes(ids), deadline).await?;
        Ok(DeletedEpisode { episode_id: id, restorable_until: None })
    }

    /// Brings a deleted episode back as it was, or an archived one back into search.
    pub async fn restore(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<RestoredEpisode, Error> {
        let now = self.clock.now();
        let restored = |state: &EpisodeState| state.restored(self.rules, now).map(Some).map_err(refused);
        let (state, _) = self.change(id, workspace, restored, deadline).await?;
        Ok(RestoredEpisode { episode_id: id, phase: state.phase(self.rules, now) })
    }

    /// Erases the deleted episodes of a workspace for good: those whose time is over, or all of them.
    pub async fn purge(
        &self,
        workspace: &WorkspaceRef,
        all: bool,
        deadline: Deadline,
    ) -> Result<PurgedEpisodes, Error> {
        let workspace = self.workspace_of(workspace, deadline).await?;
        let filter = EpisodeFilter { visible: vec![Visibility::Deleted], ..self.filter(workspace) };
        self.purge_those(filter, all, deadline).await
    }

    /// Erases the deleted episodes of all workspaces whose time is over.
    pub async fn purge_due(&self, deadline: Deadline) -> Result<PurgedEpisodes, Error> {
        let filter = EpisodeFilter::of_all(self.rules, self.clock.now());
        self.purge_those(EpisodeFilter { visible: vec![Visibility::Deleted], ..filter }, false, deadline).await
    }

    async fn purge_those(&self, filter: EpisodeFilter, all: bool, deadline: Deadline) -> Result<PurgedEpisodes, Error> {
        let now = filter.now;
        let mut outcome = PurgedEpisodes::default();
        let mut after = None;
        loop {
            let rows = self.store.episodes(filter.clone(), after, PURGED_AT_ONCE, deadline).await?;
            let is_last = rows.len() < PURGED_AT_ONCE;
            let (due, left): (Vec<EpisodeRow>, Vec<EpisodeRow>) =
                rows.into_iter().partition(|row| all || row.state.is_due(self.rules, now));
            outcome.left += left.len() as u64;
            // The place of an episode that is erased is not known any more.
            after = left.last().map(|row| row.trace.trace_id).or(after);
            if !due.is_empty() {
                let ids = self.with_consolidated(&due, deadline).await?;
                outcome.purged += self.store.erase(EraseScope::Episodes(ids), deadline).await?.traces;
            }
            if is_last {
                return Ok(outcome);
            }
        }
    }

    /// Returns these episodes and those that stand for them, which tell what they told. The others that a consolidated
    /// episode stands for come back into search.
    async fn with_consolidated(&self, doomed: &[EpisodeRow], deadline: Deadline) -> Result<Vec<TraceId>, Error> {
        let mut ids: BTreeSet<TraceId> = doomed.iter().map(|row| row.trace.trace_id).collect();
        for row in doomed {
            let workspace = Some(row.trace.metadata.workspace_id.clone());
            for other in &row.state.referenced_by {
                let trace = self.store.trace(*other, workspace.clone(), deadline).await?;
                let told = trace.and_then(|trace| trace.episode).and_then(|parts| parts.consolidated);
                let Some(told) = told.filter(|_| ids.insert(*other)) else { continue };
                for instance in told.variations.iter().map(|variation| variation.episode_id) {
                    retry_on_conflict(async |_tries| {
                        let row = self.store.episode(instance, workspace.clone(), deadline).await?;
                        if let Some(state) = row.and_then(|row| row.state.unarchived_from(*other)) {
                            self.store.commit(vec![Record::EpisodeState(state)], deadline).await?;
                        }
                        Ok(())
                    })
                    .await?;
                }
            }
        }
        Ok(ids.into_iter().collect())
    }

    /// Stores the state as `change` makes it. Returns the state that is stored then, and whether it was changed.
    async fn change(
        &self,
        id: TraceId,
        workspace: &WorkspaceRef,
        change: impl Fn(&EpisodeState) -> Result<Option<EpisodeState>, Error>,
        deadline: Deadline,
    ) -> Result<(EpisodeState, bool), Error> {
        let workspace: WorkspaceId = self.workspace_of(workspace, deadline).await?;
        retry_on_conflict(async |_tries| {
            let row = self.own(id, &workspace, deadline).await?;
            let Some(next) = change(&row.state)? else { return Ok((row.state, false)) };
            self.store.commit(vec![Record::EpisodeState(next.clone())], deadline).await?;
            Ok((next, true))
        })
        .await
    }
}

fn refused(problem: LifecycleProblem) -> Error {
    Error::invalid("episode_id", problem.to_string())
}
