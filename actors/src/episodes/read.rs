//! Showing one episode, and listing them page by page, the newest first.

use std::collections::{BTreeMap, HashSet};
use std::slice;

use reasoning_bank_domain::episode::{Episode, EpisodeFilter, EpisodeList, EpisodeSummary, Visibility};
use reasoning_bank_domain::memory::check_range;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::{Outcome, TraceSource};
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::{EpisodesHandle, not_found};
use crate::error::Error;
use crate::pages::{MAX_LISTED, cut_to};
use crate::ports::EpisodeRow;
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// The episodes that a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    /// Those that are neither archived nor deleted.
    #[default]
    Current,
    /// Archived ones as well.
    WithArchived,
    /// The deleted ones that can still be restored, and no others.
    Deleted,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeListRequest {
    pub workspace: WorkspaceRef,
    pub shown: Shown,
    pub domain: Option<String>,
    pub task_type: Option<String>,
    pub status: Option<Outcome>,
    /// The most episodes on the page, in 1..=500.
    pub limit: usize,
    /// The `next` of the page before. None: the first page.
    pub after: Option<TraceId>,
}

impl EpisodeListRequest {
    pub fn new(workspace: WorkspaceRef, limit: usize) -> Self {
        let (domain, task_type, status) = (None, None, None);
        Self { workspace, shown: Shown::Current, domain, task_type, status, limit, after: None }
    }
}

impl EpisodesHandle {
    /// Counts the episodes of all workspaces, by who is shown them.
    pub(crate) async fn counts(&self, deadline: Deadline) -> Result<BTreeMap<Visibility, u64>, Error> {
        let all = EpisodeFilter::of_all(self.rules, self.clock.now());
        self.store.count_episodes(EpisodeFilter { visible: Visibility::ALL.into(), ..all }, deadline).await
    }

    /// Reads an episode of the workspace as a whole, and counts it as an access. Any other, and a deleted one, is not
    /// found.
    pub async fn get(&self, id: TraceId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Episode, Error> {
        let workspace_id = self.workspace_of(workspace, deadline).await?;
        let mut row = self.own(id, &workspace_id, deadline).await?;
        if row.state.is_deleted() {
            return Err(not_found(id));
        }
        self.name_readable(slice::from_mut(&mut row), &workspace_id, deadline).await?;
        self.usage.accessed(id, &workspace_id);
        Ok(Episode::new(&row.trace, &row.state, self.rules, self.clock.now()))
    }

    /// Returns the source of an episode of the workspace, deleted or not. None where there is no such episode.
    pub(crate) async fn source(
        &self,
        id: TraceId,
        workspace: &WorkspaceId,
        deadline: Deadline,
    ) -> Result<Option<TraceSource>, Error> {
        Ok(self.store.episode(id, Some(workspace.clone()), deadline).await?.map(|row| row.trace.source))
    }

    /// Sees to it that episodes name only such others as can be read here. A failure that was resolved in an episode
    /// that is deleted, unknown or of another workspace has nothing that tells how.
    pub(super) async fn name_readable(
        &self,
        rows: &mut [EpisodeRow],
        workspace: &WorkspaceId,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let named: HashSet<TraceId> = rows.iter().flat_map(|row| row.trace.resolved_in()).collect();
        let mut readable = HashSet::new();
        for id in named {
            let row = self.store.episode(id, Some(workspace.clone()), deadline).await?;
            readable.extend(row.filter(|row| !row.state.is_deleted()).map(|_| id));
        }
        rows.iter_mut().for_each(|row| row.trace.resolved_only_in(&readable));
        Ok(())
    }

    /// Lists the episodes of a workspace.
    pub async fn list(&self, request: EpisodeListRequest, deadline: Deadline) -> Result<EpisodeList, Error> {
        check_range("limit", request.limit, 1..=MAX_LISTED)?;
        let workspace = self.workspace_of(&request.workspace, deadline).await?;
        let visible = match request.shown {
            Shown::Current => vec![Visibility::Active],
            Shown::WithArchived => vec![Visibility::Active, Visibility::Archived],
            Shown::Deleted => vec![Visibility::Deleted],
        };
        let EpisodeListRequest { domain, task_type, status, limit, after, .. } = request;
        let filter = EpisodeFilter { visible, domain, task_type, status, ..self.filter(workspace) };
        let (rules, now) = (self.rules, filter.now);
        // One episode more than the page has is read, to know whether there is another page.
        let mut rows = self.store.page_of_episodes("episode", filter, after, limit + 1, deadline).await?;
        let next = cut_to(limit, &mut rows).map(|last| last.trace.trace_id);
        let episodes = rows.iter().map(|row| EpisodeSummary::new(&row.trace, &row.state, rules, now)).collect();
        Ok(EpisodeList { episodes, next })
    }
}
