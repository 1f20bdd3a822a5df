//! The reads of the port, each on tables as they are between two commits. How each is done is in `search`,
//! `tables::read` and `vectors::unembedded`.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, PoisonError};

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_actors::ports::{
    EpisodeRow, EpisodeSearch, Held, HistoryFilter, JobFilter, MemoryFilter, MemoryRow, Page, Passage, Recall,
    StoreError, StoreFuture, StoreReads, Summary, Visible,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeState, EpisodeVectors, ScoreInputs, Visibility};
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, KeyedRequestId, MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::pattern::finding::PatternIndex;
use reasoning_bank_domain::retrieval::candidates::Candidates;
use uuid::Uuid;

use super::errors::{before_deadline, failed};
use super::search::{self, episodes, pages, summary, view};
use super::shared::SharedStore;
use super::tables::Tables;
use super::tables::read;
use super::vectors::fingerprint::check_embedder;
use super::vectors::unembedded;
use super::{LanceStore, resident};

impl LanceStore {
    /// Does a read that sees each commit whole or not at all. It fails where the directory has come to belong to
    /// another embedder: then its vectors are not those that the caller can compare with.
    fn of_own_vectors<T>(
        &self,
        deadline: Deadline,
        read: impl AsyncFn(&SharedStore, &Tables) -> Result<T, StoreError>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let shared = self.for_reading();
        before_deadline(deadline, async move { with_own_vectors(&shared, view::whole(&shared, read)).await })
    }

    /// Does a read of one table at one look, for which vectors do not matter.
    fn at_one_look<T>(
        &self,
        deadline: Deadline,
        read: impl AsyncFn(&SharedStore, &Tables) -> Result<T, StoreError>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        let shared = self.for_reading();
        before_deadline(deadline, async move { view::at_one_look(&shared, read).await })
    }
}

/// Does a read, and fails where the directory has come to belong to another embedder meanwhile.
async fn with_own_vectors<T>(
    shared: &SharedStore,
    read: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let read = read.await;
    check_embedder(&shared.layout, &shared.fingerprint)?;
    read
}

/// Names the embedder of the directory in these memories: vectors may have been made again since their memory was
/// written.
fn name_embedder(shared: &SharedStore, mut rows: Vec<MemoryRow>) -> Vec<MemoryRow> {
    for embedder in rows.iter_mut().filter_map(|row| row.memory.embedder.as_mut()) {
        *embedder = shared.fingerprint.to_string();
    }
    rows
}

/// Reads these memories, in the order of `ids`, and with `visible` those alone that may be shown: nothing is looked up
/// of others, so that they take as long as unknown ids. Where memory does not have all, the tables answer alone, so that
/// no two commits are mixed.
async fn rows(
    shared: Arc<SharedStore>,
    ids: Vec<MemoryId>,
    visible: Option<Visible>,
) -> Result<Vec<MemoryRow>, StoreError> {
    let mut found = resident::rows(&shared.resident, &ids, visible.as_ref()).await;
    if found.len() < ids.len() {
        let (ids, visible) = (ids.clone(), visible.clone());
        let read = async move |_: &SharedStore, tables: &Tables| {
            Ok(read::get(tables, &ids, visible.as_ref()).await?.collect())
        };
        found = view::whole(&shared, read).await?;
    }
    let found = ids.iter().filter_map(|id| found.remove(id));
    let may_be_shown = |row: &MemoryRow| visible.as_ref().is_none_or(|visible| visible.contains(&row.memory));
    Ok(name_embedder(&shared, found.filter(may_be_shown).collect()))
}

/// Reads the workspaces, in the order of their ids. Every call that writes asks for them, so they are kept until their
/// table has another version.
async fn workspaces(shared: &SharedStore, tables: &Tables) -> Result<Vec<Workspace>, StoreError> {
    let version = tables.workspaces.version().await.map_err(failed)?;
    let kept = || shared.workspaces.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, workspaces)) = kept().as_ref().filter(|(of, _)| *of == version) {
        return Ok(workspaces.clone());
    }
    let mut workspaces: Vec<Workspace> = read::records(&tables.workspaces, None).await?;
    workspaces.sort_by(|a, b| a.id.cmp(&b.id));
    *kept() = Some((version, workspaces.clone()));
    Ok(workspaces)
}

impl StoreReads for LanceStore {
    fn candidates(&self, recall: Recall, deadline: Deadline) -> StoreFuture<'_, Candidates> {
        let shared = self.for_reading();
        before_deadline(deadline, async move { with_own_vectors(&shared, search::candidates(&shared, recall)).await })
            .boxed()
    }

    fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        before_deadline(deadline, rows(self.for_reading(), ids, None)).boxed()
    }

    fn readable(&self, ids: Vec<MemoryId>, visible: Visible, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        before_deadline(deadline, rows(self.for_reading(), ids, Some(visible))).boxed()
    }

    fn memories(&self, filter: MemoryFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        self.of_own_vectors(deadline, async move |shared, tables| {
            let found = pages::memories(tables, &filter, &page).await?;
            Ok(name_embedder(shared, read::with_evidence(tables, found).await?))
        })
        .boxed()
    }

    fn patterns(&self, visible: Visible, deadline: Deadline) -> StoreFuture<'_, Arc<PatternIndex>> {
        self.of_own_vectors(deadline, async move |shared, tables| {
            shared.resident.patterns.index(tables, &visible).await
        })
        .boxed()
    }

    fn derived_from(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        self.of_own_vectors(deadline, async move |shared, tables| {
            let found = pages::derived_from(&tables.memories, &ids, &page).await?;
            Ok(name_embedder(shared, read::with_evidence(tables, found).await?))
        })
        .boxed()
    }

    fn lineage(&self, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<(MemoryId, Vec<MemoryId>)>> {
        self.of_own_vectors(deadline, async move |_, tables| pages::lineage(&tables.memories, &page).await).boxed()
    }

    fn passages(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, BTreeMap<MemoryId, Vec<Passage>>> {
        self.of_own_vectors(deadline, async move |_, tables| read::passages(tables, &ids).await).boxed()
    }

    fn without_vectors(&self, limit: usize, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryId>> {
        self.of_own_vectors(deadline, async move |shared, tables| unembedded::some(&shared.layout, tables, limit).await)
            .boxed()
    }

    fn existing_ids(&self, ids: Vec<Uuid>, deadline: Deadline) -> StoreFuture<'_, HashSet<Uuid>> {
        self.of_own_vectors(deadline, async move |_, tables| read::existing(tables, &ids).await).boxed()
    }

    fn traces(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Trace>> {
        self.of_own_vectors(deadline, async move |_, tables| pages::records(&tables.traces, of.as_ref(), &page).await)
            .boxed()
    }

    fn trace(&self, id: TraceId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<Trace>> {
        let id = id.to_string();
        self.at_one_look(deadline, async move |_, tables| read::record(&tables.traces, &id, of.as_ref()).await).boxed()
    }

    fn episodes(
        &self,
        filter: EpisodeFilter,
        after: Option<TraceId>,
        limit: usize,
        deadline: Deadline,
    ) -> StoreFuture<'_, Vec<EpisodeRow>> {
        self.of_own_vectors(deadline, async move |shared, tables| {
            episodes::episodes(shared, tables, &filter, after, limit).await
        })
        .boxed()
    }

    fn episode(&self, id: TraceId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<EpisodeRow>> {
        self.of_own_vectors(deadline, async move |_, tables| episodes::episode(tables, id, of.as_ref()).await).boxed()
    }

    fn episodes_of_ids(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeRow>> {
        self.of_own_vectors(deadline, async move |shared, tables| episodes::of_ids(shared, tables, &ids).await).boxed()
    }

    fn nearest_episodes(&self, search: EpisodeSearch, deadline: Deadline) -> StoreFuture<'_, Vec<(ScoreInputs, f64)>> {
        self.of_own_vectors(deadline, async move |shared, tables| episodes::nearest(shared, tables, &search).await)
            .boxed()
    }

    fn episodes_without_vectors(
        &self,
        filter: EpisodeFilter,
        embedder: String,
        limit: usize,
        deadline: Deadline,
    ) -> StoreFuture<'_, Vec<(Trace, u64)>> {
        self.of_own_vectors(deadline, async move |shared, tables| {
            episodes::without_vectors(shared, tables, &filter, &embedder, limit).await
        })
        .boxed()
    }

    fn count_episodes(&self, filter: EpisodeFilter, deadline: Deadline) -> StoreFuture<'_, BTreeMap<Visibility, u64>> {
        self.of_own_vectors(deadline, async move |shared, tables| episodes::count(shared, tables, &filter).await)
            .boxed()
    }

    fn episode_states(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeState>> {
        self.of_own_vectors(deadline, async move |_, tables| episodes::states(tables, &ids).await).boxed()
    }

    fn episode_vectors(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeVectors>> {
        self.of_own_vectors(deadline, async move |_, tables| episodes::vectors(tables, &ids).await).boxed()
    }

    fn history(&self, filter: HistoryFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<HistoryEntry>> {
        self.of_own_vectors(deadline, async move |_, tables| pages::history(&tables.history, &filter, &page).await)
            .boxed()
    }

    fn signals(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>> {
        self.of_own_vectors(deadline, async move |_, tables| pages::records(&tables.signals, of.as_ref(), &page).await)
            .boxed()
    }

    fn signals_about(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>> {
        self.of_own_vectors(deadline, async move |_, tables| pages::signals_about(&tables.signals, &ids, &page).await)
            .boxed()
    }

    fn workspaces(&self, deadline: Deadline) -> StoreFuture<'_, Vec<Workspace>> {
        self.at_one_look(deadline, async move |shared, tables| workspaces(shared, tables).await).boxed()
    }

    fn held(&self, workspace: WorkspaceId, deadline: Deadline) -> StoreFuture<'_, Held> {
        self.of_own_vectors(deadline, async move |_, tables| pages::held(tables, &workspace).await).boxed()
    }

    fn jobs(&self, filter: JobFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Job>> {
        self.of_own_vectors(deadline, async move |_, tables| pages::jobs(&tables.jobs, &filter, &page).await).boxed()
    }

    fn job(&self, id: JobId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<Job>> {
        let id = id.to_string();
        self.at_one_look(deadline, async move |_, tables| read::record(&tables.jobs, &id, of.as_ref()).await).boxed()
    }

    fn request(&self, id: KeyedRequestId, deadline: Deadline) -> StoreFuture<'_, Option<KeyedRequest>> {
        self.at_one_look(deadline, async move |_, tables| read::record(&tables.requests, &id.to_string(), None).await)
            .boxed()
    }

    fn next_job(&self, now: Timestamp, deadline: Deadline) -> StoreFuture<'_, Option<Job>> {
        self.of_own_vectors(deadline, async move |_, tables| pages::next_job(&tables.jobs, now).await).boxed()
    }

    fn backlog(&self, deadline: Deadline) -> StoreFuture<'_, BTreeMap<JobState, u64>> {
        self.of_own_vectors(deadline, async |_, tables| summary::backlog(tables).await).boxed()
    }

    fn summary(&self, deadline: Deadline) -> StoreFuture<'_, Summary> {
        self.of_own_vectors(deadline, async |shared, tables| summary::summary(shared, tables).await).boxed()
    }
}
