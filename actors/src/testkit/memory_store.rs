//! The store port in memory, with the semantics of the contract suite and the cheapest algorithms. Nothing survives the
//! process.

mod data;
mod search;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::ready;
use jiff::Timestamp;
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeState, EpisodeVectors, ScoreInputs, Visibility};
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, KeyedRequestId, MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{Memory, Status};
use reasoning_bank_domain::pattern::finding::PatternIndex;
use reasoning_bank_domain::retrieval::candidates::Candidates;
use uuid::Uuid;

use self::data::{Data, Stored};
use crate::ports::{
    Batch, Committed, Conditions, EpisodeRow, EpisodeSearch, EraseScope, Erased, Held, HistoryFilter, JobFilter,
    Maintained, MemoryFilter, MemoryRow, MemoryStore, Page, Passage, PassageKind, Recall, StoreError, StoreFuture,
    StoreReads, Summary, Visible,
};
use crate::runtime::Deadline;

type BeforeEach = Box<dyn Fn(&'static str) -> Result<(), StoreError> + Send + Sync>;

/// An empty store that tests may share through an `Arc`.
#[derive(Default)]
pub struct MemStore {
    data: Mutex<Data>,
    before_each: Mutex<Option<BeforeEach>>,
}

impl MemStore {
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes every call answer with this error, until it is set to `None` again.
    pub fn fail_with(&self, failure: Option<StoreError>) {
        self.before_each(move |_| failure.clone().map_or(Ok(()), Err));
    }

    /// The hook is told the name of each operation before it is carried out; an error that it gives is the operation's
    /// answer. It takes the place of an earlier hook and of [`fail_with`](Self::fail_with).
    pub fn before_each(&self, hook: impl Fn(&'static str) -> Result<(), StoreError> + Send + Sync + 'static) {
        *lock(&self.before_each) = Some(Box::new(hook));
    }

    fn answer<'a, T: Send + 'a>(
        &'a self,
        op: &'static str,
        deadline: Deadline,
        work: impl FnOnce(&mut Data) -> T,
    ) -> StoreFuture<'a, T> {
        let allowed = lock(&self.before_each).as_ref().map_or(Ok(()), |hook| hook(op));
        let answer = match allowed {
            Ok(()) if deadline.passed() => Err(StoreError::TimedOut),
            allowed => allowed.map(|()| work(&mut lock(&self.data))),
        };
        ready(answer).boxed()
    }
}

/// Locks, even where the lock is poisoned. A test that panicked while it held the lock has failed already, and the
/// others go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryStore for MemStore {
    fn reads(&self) -> &dyn StoreReads {
        self
    }

    fn commit(&self, batch: Batch, deadline: Deadline) -> StoreFuture<'_, Committed> {
        let committed = self.answer("commit", deadline, |data| data.commit(batch));
        async move { committed.await? }.boxed()
    }

    fn erase(&self, scope: EraseScope, deadline: Deadline) -> StoreFuture<'_, Erased> {
        self.answer("erase", deadline, |data| data.erase(&scope))
    }

    fn maintain(&self, deadline: Deadline) -> StoreFuture<'_, Maintained> {
        self.answer("maintain", deadline, |_| Maintained::default())
    }
}

impl StoreReads for MemStore {
    fn candidates(&self, recall: Recall, deadline: Deadline) -> StoreFuture<'_, Candidates> {
        self.answer("candidates", deadline, |data| data.candidates(&recall))
    }

    fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        self.answer("get", deadline, |data| {
            ids.iter().filter_map(|id| Some(data.row(data.memories.get(id)?))).collect()
        })
    }

    fn readable(&self, ids: Vec<MemoryId>, visible: Visible, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        self.answer("readable", deadline, |data| {
            let stored = ids.iter().filter_map(|id| data.memories.get(id));
            stored.filter(|stored| visible.contains(&stored.memory)).map(|stored| data.row(stored)).collect()
        })
    }

    fn memories(&self, filter: MemoryFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        let MemoryFilter { workspace, status, scope, patterns_only, conditions } = filter;
        let has_conditions = conditions != Conditions::default();
        let wanted = |Stored { memory, passages, .. }: &Stored| {
            workspace.as_ref().is_none_or(|id| memory.workspace_id == *id)
                && status.is_none_or(|status| memory.status == status)
                && scope.is_none_or(|scope| memory.scope == scope)
                && (!patterns_only || memory.pattern.is_some())
                && (!has_conditions || !passages.is_empty() && conditions.hold(memory))
        };
        self.answer("memories", deadline, |data| {
            paged(&data.memories, &page, |id| id.uuid(), wanted).map(|stored| data.row(stored)).collect()
        })
    }

    fn patterns(&self, visible: Visible, deadline: Deadline) -> StoreFuture<'_, Arc<PatternIndex>> {
        let is_shown = |memory: &&Memory| memory.status == Status::Active && visible.contains(memory);
        self.answer("patterns", deadline, |data| {
            let memories = data.memories.values().map(|stored| &stored.memory);
            Arc::new(PatternIndex::of(memories.filter(is_shown).cloned().map(Arc::new)))
        })
    }

    fn derived_from(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>> {
        let wanted = |stored: &Stored| stored.memory.sources().any(|source| ids.contains(&source));
        self.answer("derived_from", deadline, |data| {
            paged(&data.memories, &page, |id| id.uuid(), wanted).map(|stored| data.row(stored)).collect()
        })
    }

    fn lineage(&self, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<(MemoryId, Vec<MemoryId>)>> {
        let wanted = |stored: &Stored| stored.memory.sources().next().is_some();
        let each_once = |memory: &Memory| memory.sources().collect::<BTreeSet<_>>().into_iter().collect();
        self.answer("lineage", deadline, |data| {
            let linked = paged(&data.memories, &page, |id| id.uuid(), wanted);
            linked.map(|stored| (stored.memory.id, each_once(&stored.memory))).collect()
        })
    }

    fn passages(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, BTreeMap<MemoryId, Vec<Passage>>> {
        self.answer("passages", deadline, |data| {
            let stored = ids.iter().filter_map(|id| data.memories.get(id));
            let searched = stored.filter(|stored| !stored.passages.is_empty());
            searched.map(|stored| (stored.memory.id, stored.passages.clone())).collect()
        })
    }

    fn without_vectors(&self, limit: usize, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryId>> {
        let is_first = |passage: &&Passage| passage.kind == PassageKind::Content && passage.n == 0;
        let lacks = |stored: &&Stored| stored.passages.iter().find(is_first).is_some_and(|p| p.vector.is_none());
        self.answer("without_vectors", deadline, |data| {
            data.memories.values().filter(lacks).map(|stored| stored.memory.id).take(limit).collect()
        })
    }

    fn existing_ids(&self, ids: Vec<Uuid>, deadline: Deadline) -> StoreFuture<'_, HashSet<Uuid>> {
        self.answer("existing_ids", deadline, |data| {
            let is_stored = |id: &Uuid| {
                data.memories.contains_key(&(*id).into())
                    || data.traces.contains_key(&(*id).into())
                    || data.signals.contains_key(&(*id).into())
                    || data.jobs.contains_key(&(*id).into())
            };
            ids.into_iter().filter(is_stored).collect()
        })
    }

    fn traces(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Trace>> {
        let wanted = |trace: &Trace| of.as_ref().is_none_or(|id| trace.metadata.workspace_id == *id);
        self.answer("traces", deadline, |data| paged(&data.traces, &page, |id| id.uuid(), wanted).cloned().collect())
    }

    fn trace(&self, id: TraceId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<Trace>> {
        let wanted = |trace: &&Trace| of.as_ref().is_none_or(|id| trace.metadata.workspace_id == *id);
        self.answer("trace", deadline, |data| data.traces.get(&id).filter(wanted).cloned())
    }

    fn episodes(
        &self,
        filter: EpisodeFilter,
        after: Option<TraceId>,
        limit: usize,
        deadline: Deadline,
    ) -> StoreFuture<'_, Vec<EpisodeRow>> {
        self.answer("episodes", deadline, |data| {
            let made = |trace: &Trace| (trace.created_at.as_microsecond(), trace.trace_id);
            let is_of = |trace: &&Trace| filter.workspace.as_ref().is_none_or(|id| trace.metadata.workspace_id == *id);
            let after = match after.map(|id| data.traces.get(&id).filter(is_of).map(made)) {
                Some(None) => return Vec::new(),
                known => known.flatten(),
            };
            let rows = data.episodes(&filter).into_iter();
            rows.filter(|row| after.is_none_or(|after| made(&row.trace) < after)).take(limit).collect()
        })
    }

    fn episode(&self, id: TraceId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<EpisodeRow>> {
        let wanted = |trace: &&Trace| of.as_ref().is_none_or(|id| trace.metadata.workspace_id == *id);
        self.answer("episode", deadline, |data| data.traces.get(&id).filter(wanted).map(|trace| data.episode(trace)))
    }

    fn episodes_of_ids(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeRow>> {
        self.answer("episodes_of_ids", deadline, |data| data.episodes_of_ids(&ids))
    }

    fn nearest_episodes(&self, search: EpisodeSearch, deadline: Deadline) -> StoreFuture<'_, Vec<(ScoreInputs, f64)>> {
        self.answer("nearest_episodes", deadline, |data| data.nearest_episodes(&search))
    }

    fn episodes_without_vectors(
        &self,
        filter: EpisodeFilter,
        embedder: String,
        limit: usize,
        deadline: Deadline,
    ) -> StoreFuture<'_, Vec<(Trace, u64)>> {
        self.answer("episodes_without_vectors", deadline, |data| {
            let lacking = data.episodes(&filter).into_iter().filter_map(|row| {
                match data.episode_vectors.get(&row.trace.trace_id) {
                    None => Some((row.trace, 0)),
                    Some(stored) => (stored.embedder != embedder).then_some((row.trace, stored.revision + 1)),
                }
            });
            lacking.take(limit).collect()
        })
    }

    fn count_episodes(&self, filter: EpisodeFilter, deadline: Deadline) -> StoreFuture<'_, BTreeMap<Visibility, u64>> {
        self.answer("count_episodes", deadline, |data| {
            counted(data.episodes(&filter).iter().map(|row| row.state.visibility(filter.rules, filter.now)))
        })
    }

    fn episode_states(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeState>> {
        self.answer("episode_states", deadline, |data| {
            ids.iter().filter_map(|id| data.episode_states.get(id)).cloned().collect()
        })
    }

    fn episode_vectors(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeVectors>> {
        self.answer("episode_vectors", deadline, |data| {
            ids.iter().filter_map(|id| data.episode_vectors.get(id)).cloned().collect()
        })
    }

    fn history(&self, filter: HistoryFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<HistoryEntry>> {
        let wanted = |entry: &HistoryEntry| filter.holds(entry);
        self.answer("history", deadline, |data| paged(&data.history, &page, |id| id.uuid(), wanted).cloned().collect())
    }

    fn signals(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>> {
        let wanted = |signal: &Signal| of.as_ref().is_none_or(|id| signal.workspace_id == *id);
        self.answer("signals", deadline, |data| paged(&data.signals, &page, |id| id.uuid(), wanted).cloned().collect())
    }

    fn signals_about(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>> {
        let wanted = |signal: &Signal| ids.contains(&signal.memory_id);
        self.answer("signals_about", deadline, |data| {
            paged(&data.signals, &page, |id| id.uuid(), wanted).cloned().collect()
        })
    }

    fn workspaces(&self, deadline: Deadline) -> StoreFuture<'_, Vec<Workspace>> {
        self.answer("workspaces", deadline, |data| data.workspaces.values().cloned().collect())
    }

    fn held(&self, workspace: WorkspaceId, deadline: Deadline) -> StoreFuture<'_, Held> {
        self.answer("held", deadline, |data| Held {
            memories: data.memories.values().filter(|stored| stored.memory.workspace_id == workspace).count() as u64,
            traces: data.traces.values().filter(|trace| trace.metadata.workspace_id == workspace).count() as u64,
            signals: data.signals.values().filter(|signal| signal.workspace_id == workspace).count() as u64,
            jobs: data.jobs.values().filter(|job| job.workspace_id == workspace).count() as u64,
        })
    }

    fn jobs(&self, filter: JobFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Job>> {
        let JobFilter { workspace, state, due } = filter;
        let wanted = |job: &Job| {
            workspace.as_ref().is_none_or(|id| job.workspace_id == *id)
                && state.is_none_or(|state| job.state == state)
                && due.is_none_or(|due| job.due.as_microsecond() <= due.as_microsecond())
        };
        self.answer("jobs", deadline, |data| paged(&data.jobs, &page, |id| id.uuid(), wanted).cloned().collect())
    }

    fn job(&self, id: JobId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<Job>> {
        let wanted = |job: &&Job| of.as_ref().is_none_or(|id| job.workspace_id == *id);
        self.answer("job", deadline, |data| data.jobs.get(&id).filter(wanted).cloned())
    }

    fn request(&self, id: KeyedRequestId, deadline: Deadline) -> StoreFuture<'_, Option<KeyedRequest>> {
        self.answer("request", deadline, |data| data.requests.get(&id).cloned())
    }

    fn next_job(&self, now: Timestamp, deadline: Deadline) -> StoreFuture<'_, Option<Job>> {
        let is_due = |job: &&Job| job.state == JobState::Queued && job.due.as_microsecond() <= now.as_microsecond();
        let order = |job: &&Job| (job.due.as_microsecond(), job.created_at.as_microsecond(), job.id);
        self.answer("next_job", deadline, |data| data.jobs.values().filter(is_due).min_by_key(order).cloned())
    }

    fn backlog(&self, deadline: Deadline) -> StoreFuture<'_, BTreeMap<JobState, u64>> {
        self.answer("backlog", deadline, |data| backlog(data))
    }

    fn summary(&self, deadline: Deadline) -> StoreFuture<'_, Summary> {
        self.answer("summary", deadline, |data| summary(data))
    }
}

fn backlog(data: &Data) -> BTreeMap<JobState, u64> {
    counted(data.jobs.values().map(|job| job.state))
}

fn summary(data: &Data) -> Summary {
    let memories = || data.memories.values().map(|stored| &stored.memory);
    let passages: usize = data.memories.values().map(|stored| stored.passages.len()).sum();
    let rows = data.memories.len() + passages + data.traces.len() + data.signals.len();
    let rows = rows + data.workspaces.len() + data.jobs.len();
    let rows = rows + data.episode_states.len() + data.episode_vectors.len() + data.history.len();
    Summary {
        traces: counted(data.traces.values().map(|trace| trace.outcome)),
        memories_by_outcome: counted(memories().map(|memory| memory.outcome)),
        memories_by_scope: counted(memories().map(|memory| memory.scope)),
        memories_by_status: counted(memories().map(|memory| memory.status)),
        patterns: counted(memories().filter_map(|memory| memory.pattern.as_ref()).map(|part| part.stage)),
        episodes_with_vectors: data.episode_vectors.len() as u64,
        applications: data.signals.values().filter(|signal| signal.kind == SignalKind::Applied).count() as u64,
        consolidation_runs: data.history.values().filter_map(HistoryEntry::as_run).count() as u64,
        last_consolidation: data.history.values().filter_map(HistoryEntry::as_run).map(|run| run.started_at).max(),
        jobs: backlog(data),
        rows: rows as u64,
        ..Summary::default()
    }
}

fn counted<T: Ord>(things: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for thing in things {
        *counts.entry(thing).or_default() += 1;
    }
    counts
}

fn paged<'a, K, V>(
    map: &'a BTreeMap<K, V>,
    page: &Page,
    uuid: impl Fn(&K) -> Uuid,
    keep: impl Fn(&V) -> bool,
) -> impl Iterator<Item = &'a V> {
    let beyond = move |id: Uuid, after| if page.newest_first { id < after } else { id > after };
    let on_page = move |(key, value): &(&K, &V)| page.after.is_none_or(|after| beyond(uuid(key), after)) && keep(value);
    let ascending = (!page.newest_first).then(|| map.iter());
    let descending = page.newest_first.then(|| map.iter().rev());
    let entries = ascending.into_iter().flatten().chain(descending.into_iter().flatten());
    entries.filter(on_page).map(|(_, value)| value).take(page.limit)
}
