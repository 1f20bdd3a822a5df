//! Listing memories and traces page by page, newest first. Pages go by id. The ids of captured and distilled memories
//! hold no time, so these may stand on another page than their time says.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use reasoning_bank_domain::episode::EpisodeFilter;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::trace::{Trace, TraceSummary, Traces};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Status, check_range};
use reasoning_bank_domain::retrieval::conditions::TimeRange;
use reasoning_bank_domain::retrieval::responses::{MemoryPage, MemoryView};

use super::{MemoriesHandle, ScopeFilter, WorkspaceRef, visible, with_time_range};
use crate::error::Error;
use crate::pages::{MAX_LISTED, cut_to};
use crate::ports::{Conditions, MemoryFilter, MemoryRow, Page};
use crate::runtime::Deadline;

/// The number of memories or signals that one read takes where all are looked at.
pub(super) const PAGE: usize = 1_000;

#[derive(Debug, Clone, PartialEq)]
pub struct ListRequest {
    pub workspace: WorkspaceRef,
    /// The list has only memories that name this one as parent or source, whoever made them, as far as the workspace
    /// may read them. None: it has those that were learned or recorded in the workspace itself.
    pub parent: Option<MemoryId>,
    /// The status of the memories. None: any status.
    pub status: Option<Status>,
    /// The list has only memories that meet these conditions. Their range of time comes from `made`.
    pub conditions: Conditions,
    pub made: TimeRange,
    /// The most memories on the page, in 1..=500.
    pub limit: usize,
    /// The `next` of the page before. None: the first page.
    pub after: Option<MemoryId>,
}

impl ListRequest {
    pub fn new(workspace: WorkspaceRef, limit: usize) -> Self {
        let (conditions, made) = (Conditions::default(), TimeRange::default());
        Self { workspace, parent: None, status: None, conditions, made, limit, after: None }
    }
}

impl MemoriesHandle {
    pub async fn list(&self, request: ListRequest, deadline: Deadline) -> Result<MemoryPage, Error> {
        check_range("limit", request.limit, 1..=MAX_LISTED)?;
        let now = self.clock.now();
        let conditions = with_time_range(&request.conditions, &request.made, now)?;
        let workspace = self.workspaces.resolve(&request.workspace, deadline).await?.workspace;
        if let Some(parent) = request.parent {
            self.readable_one(parent, &workspace, deadline).await?;
        }
        let (own, status) = (Some(workspace.id.clone()), request.status);
        let filter = MemoryFilter { workspace: own, status, conditions: conditions.clone(), ..MemoryFilter::default() };
        let visible = visible(&workspace, ScopeFilter::Cascade);
        let wanted = |row: &MemoryRow| {
            let is_asked = status.is_none_or(|status| row.memory.status == status) && conditions.hold(&row.memory);
            is_asked && visible.contains(&row.memory)
        };
        let limit = request.limit;
        let mut rows: Vec<MemoryRow> = Vec::new();
        let mut page = Some(Page { after: request.after.map(MemoryId::uuid), ..Page::newest(limit + 1) });
        // One memory more than the page has is read, to know whether there is another page.
        while let Some(asked) = page.filter(|_| rows.len() <= limit) {
            let found = match request.parent {
                Some(parent) => self.store.derived_from(vec![parent], asked.clone(), deadline).await?,
                None => self.store.memories(filter.clone(), asked.clone(), deadline).await?,
            };
            page = asked.following(&found, |row| row.memory.id.uuid());
            rows.extend(found.into_iter().filter(wanted));
        }
        let next = cut_to(limit, &mut rows).map(|last| last.memory.id);
        rows.sort_by_key(|row| Reverse(row.memory.created_at));
        let memories = rows.into_iter().map(|row| MemoryView::new(row.memory, &row.evidence, now)).collect();
        Ok(MemoryPage { memories, next })
    }

    /// Lists the traces of a workspace. `limit` lies in 1..=500, and `after` is the `next` of the page before.
    pub async fn traces(
        &self,
        workspace: &WorkspaceRef,
        limit: usize,
        after: Option<TraceId>,
        deadline: Deadline,
    ) -> Result<Traces, Error> {
        check_range("limit", limit, 1..=MAX_LISTED)?;
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let filter = EpisodeFilter::of_any_age(workspace.id, self.clock.now());
        let mut rows = self.store.page_of_episodes("trace", filter, after, limit + 1, deadline).await?;
        let next = cut_to(limit, &mut rows).map(|last| last.trace.trace_id);
        Ok(Traces { traces: rows.iter().map(|row| TraceSummary::of(&row.trace)).collect(), next })
    }

    /// Reads a trace of the workspace. Any other trace is not found.
    pub async fn trace(&self, id: TraceId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Trace, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        self.own_trace(id, &workspace, deadline).await
    }

    pub(super) async fn own_trace(
        &self,
        id: TraceId,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Trace, Error> {
        let own = self.store.episode(id, Some(workspace.id.clone()), deadline).await?;
        let shown = own.filter(|episode| !episode.state.is_deleted());
        Ok(shown.ok_or_else(|| Error::NotFound(format!("trace {id} here")))?.trace)
    }

    /// Gives all memories that the filter lets through to `take`, page by page, until it breaks off.
    pub(crate) async fn each_page(
        &self,
        filter: &MemoryFilter,
        deadline: Deadline,
        mut take: impl FnMut(Vec<MemoryRow>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut page = Some(Page::first(PAGE));
        while let Some(asked) = page {
            let rows = self.store.memories(filter.clone(), asked.clone(), deadline).await?;
            let following = asked.following(&rows, |row| row.memory.id.uuid());
            let flow = take(rows);
            page = following.filter(|_| flow.is_continue());
        }
        Ok(())
    }
}
