//! The store port in memory, with the semantics of the contract suite and the cheapest algorithms. Texts are searched
//! by an owner index of the resident read model made for the query. Nothing survives the process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, MemoryId, SignalId, TraceId};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::signature::Carriers;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{ErrorContext, Facts, Memory, Scope, Status};
use reasoning_bank_domain::retrieval::candidates::{Candidates, MatchedTerms};
use reasoning_bank_domain::retrieval::fusion::RankedList;
use reasoning_bank_domain::text::terms;
use reasoning_bank_index::{Collection, IndexedMemory, OwnerIndex, Query};

use crate::ports::{
    Batch, Committed, Conditions, EraseScope, Erased, Filter, Held, Maintained, MemoryCommit, MemoryRow, MemoryStore,
    Page, Passage, PassageKind, Recall, Record, Scanned, StoreError, Summary,
};
use crate::runtime::Deadline;

/// An empty store that tests may share through an `Arc`.
#[derive(Debug, Default)]
pub struct MemStore {
    data: Mutex<Data>,
    failure: Mutex<Option<StoreError>>,
}

impl MemStore {
    pub fn new() -> Self {
        Self::default()
    }

    /// Every call answers with this error until it is set to `None` again.
    pub fn fail_with(&self, failure: Option<StoreError>) {
        *lock(&self.failure) = failure;
    }

    fn answer<'a, T: Send + 'a>(
        &'a self,
        deadline: Deadline,
        work: impl FnOnce(&mut Data) -> T,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let answer = match lock(&self.failure).clone() {
            Some(failure) => Err(failure),
            None if deadline.passed() => Err(StoreError::TimedOut),
            None => Ok(work(&mut lock(&self.data))),
        };
        ready(answer).boxed()
    }
}

/// A test that panicked while it held the lock has failed already; the others go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryStore for MemStore {
    fn commit(&self, batch: Batch, deadline: Deadline) -> BoxFuture<'_, Result<Committed, StoreError>> {
        let committed = self.answer(deadline, |data| data.commit(batch));
        async move { committed.await? }.boxed()
    }

    fn candidates(&self, recall: Recall, deadline: Deadline) -> BoxFuture<'_, Result<Candidates, StoreError>> {
        self.answer(deadline, |data| data.candidates(&recall))
    }

    fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> BoxFuture<'_, Result<Vec<MemoryRow>, StoreError>> {
        self.answer(deadline, |data| ids.iter().filter_map(|id| Some(data.row(data.memories.get(id)?))).collect())
    }

    fn scan(&self, filter: Filter, page: Page, deadline: Deadline) -> BoxFuture<'_, Result<Scanned, StoreError>> {
        self.answer(deadline, |data| data.scan(filter, &page))
    }

    fn erase(&self, scope: EraseScope, deadline: Deadline) -> BoxFuture<'_, Result<Erased, StoreError>> {
        self.answer(deadline, |data| data.erase(&scope))
    }

    fn maintain(&self, deadline: Deadline) -> BoxFuture<'_, Result<Maintained, StoreError>> {
        self.answer(deadline, |_| Maintained::default())
    }
}

#[derive(Debug)]
struct Stored {
    memory: Memory,
    passages: Vec<Passage>,
    /// Of each passage.
    terms: Vec<String>,
}

impl Stored {
    fn new(memory: Memory, passages: Vec<Passage>) -> Self {
        let terms = passages.iter().map(|passage| terms::indexed(&memory.title, &passage.text)).collect();
        Self { memory, passages, terms }
    }
}

#[derive(Debug, Default)]
struct Data {
    memories: BTreeMap<MemoryId, Stored>,
    traces: BTreeMap<TraceId, Trace>,
    signals: BTreeMap<SignalId, Signal>,
    workspaces: BTreeMap<WorkspaceId, Workspace>,
    jobs: BTreeMap<JobId, Job>,
}

impl Data {
    fn commit(&mut self, batch: Batch) -> Result<Committed, StoreError> {
        let mut revised: HashMap<MemoryId, &Memory> = HashMap::new();
        let mut worked_on: HashMap<JobId, &Job> = HashMap::new();
        let mut judged: HashMap<TraceId, &Trace> = HashMap::new();
        for record in &batch {
            match record {
                Record::Revision { memory, .. } => {
                    let stored = self.memories.get(&memory.id).map(|stored| &stored.memory);
                    if !fits(revised.insert(memory.id, memory), stored, memory, Memory::follows) {
                        return Err(StoreError::Conflict(memory.id));
                    }
                }
                Record::Verdict(trace) => {
                    let stored = self.traces.get(&trace.trace_id);
                    if !fits(judged.insert(trace.trace_id, trace), stored, trace, Trace::follows) {
                        return Err(StoreError::TraceChanged(trace.trace_id));
                    }
                }
                Record::Job(job) if job.revision > 0 => {
                    let stored = self.jobs.get(&job.id);
                    if !fits(worked_on.insert(job.id, job), stored, job, Job::follows) {
                        return Err(StoreError::JobChanged(job.id));
                    }
                }
                _ => {}
            }
        }
        let mut committed = Committed::default();
        for record in batch {
            match record {
                Record::Workspace(workspace) => {
                    let id = workspace.id.clone();
                    keep_newest(&mut self.workspaces, id, workspace, |workspace| workspace.revision);
                }
                Record::Revision { memory, passages } => {
                    self.memories.insert(memory.id, Stored::new(memory, passages));
                }
                Record::Job(job) => keep_newest(&mut self.jobs, job.id, job, |job| u64::from(job.revision)),
                Record::Trace(trace) => {
                    self.traces.entry(trace.trace_id).or_insert(trace);
                }
                Record::Verdict(trace) => {
                    self.traces.insert(trace.trace_id, trace);
                }
                Record::Signal(signal) => {
                    self.signals.entry(signal.id).or_insert(signal);
                }
                Record::Memory { memory, passages, confirm } => {
                    committed.memories.push(self.commit_memory(memory, passages, confirm));
                }
            }
        }
        Ok(committed)
    }

    fn commit_memory(&mut self, memory: Memory, passages: Vec<Passage>, confirm: Option<SignalId>) -> MemoryCommit {
        let id = memory.id;
        if self.memories.contains_key(&id) {
            return MemoryCommit::Created(id);
        }
        if let Some(confirm) = confirm
            && let Some(existing) = self.duplicate_of(&memory)
        {
            let id = memory.confirmation_id(existing, confirm);
            self.signals.entry(id).or_insert(Signal {
                id,
                memory_id: existing,
                workspace_id: memory.workspace_id,
                kind: SignalKind::Confirmed,
                at: memory.created_at,
                trace_id: memory.trace_id,
                session: None,
                comment: None,
            });
            return MemoryCommit::Reinforced(existing);
        }
        self.memories.insert(id, Stored::new(memory, passages));
        MemoryCommit::Created(id)
    }

    fn duplicate_of(&self, memory: &Memory) -> Option<MemoryId> {
        if memory.status != Status::Active {
            return None;
        }
        let key = memory.duplicate_key();
        let same = |stored: &&Stored| stored.memory.status == Status::Active && stored.memory.duplicate_key() == key;
        self.memories.values().find(same).map(|stored| stored.memory.id)
    }

    fn evidence(&self, id: MemoryId) -> Evidence {
        Evidence::of(self.signals.values().filter(|signal| signal.memory_id == id))
    }

    fn row(&self, stored: &Stored) -> MemoryRow {
        MemoryRow { memory: stored.memory.clone(), evidence: self.evidence(stored.memory.id) }
    }

    fn candidates(&self, recall: &Recall) -> Candidates {
        let searched: Vec<&Stored> = self
            .memories
            .values()
            .filter(|stored| recall.statuses().contains(&stored.memory.status))
            .filter(|stored| recall.visible.contains(&stored.memory) && recall.conditions.hold(&stored.memory))
            .collect();
        let vector = recall.vector.as_ref().map(|query| {
            let cosine = |passage: &Passage| passage.vector.as_deref().map(|vector| cosine(query, vector));
            let best = |stored: &&Stored| stored.passages.iter().filter_map(cosine).reduce(f64::max);
            list(searched.iter().filter_map(|stored| Some((stored.memory.id, best(stored)?))), recall.limit)
        });
        let text = recall.text.as_deref().filter(|text| !text.trim().is_empty());
        let (text, terms) = text.map(|text| by_words(&searched, text, recall.limit)).unzip();
        let warns = |stored: &&&Stored| {
            let own = stored.memory.error_context.as_ref().map(ErrorContext::signature);
            matches!((&recall.signature, own), (Some(asked), Some(own)) if asked.matches(&own))
        };
        let warning = searched.iter().rev().filter(warns).take(recall.limit).map(|stored| stored.memory.id);
        let listed = [&vector, &text].into_iter().flatten().flat_map(|list| list.hits.iter().map(|(id, _)| *id));
        let found: BTreeSet<MemoryId> = listed.chain(warning).collect();
        let facts = found
            .into_iter()
            .filter_map(|id| Some((Facts::from(&self.memories.get(&id)?.memory), self.evidence(id))))
            .collect();
        let carriers = recall.signature.as_ref().map(|error| {
            let readable = self.memories.values().map(|stored| &stored.memory);
            let readable = readable.filter(|memory| memory.status == Status::Active && recall.visible.contains(memory));
            readable.filter_map(|memory| memory.error_context.as_ref()).fold(Carriers::default(), |carriers, own| {
                carriers.and(Carriers { warnings: 1, of_this: u64::from(error.matches(&own.signature())) })
            })
        });
        Candidates { vector, text, facts, terms: terms.unwrap_or_default(), carriers }
    }

    fn scan(&self, filter: Filter, page: &Page) -> Scanned {
        match filter {
            Filter::Memories { workspace, status, scope } => Scanned::Memories(self.rows(page, |memory| {
                workspace.as_ref().is_none_or(|id| memory.workspace_id == *id)
                    && status.is_none_or(|status| memory.status == status)
                    && scope.is_none_or(|scope| memory.scope == scope)
            })),
            Filter::Matching { workspace, status, conditions } => {
                let wanted = |stored: &Stored| {
                    let Stored { memory, passages, .. } = stored;
                    let is_asked =
                        memory.workspace_id == workspace && status.is_none_or(|status| memory.status == status);
                    is_asked && !passages.is_empty() && conditions.hold(memory)
                };
                let found = paged(&self.memories, page, |id| id.uuid(), wanted);
                Scanned::Memories(found.map(|stored| self.row(stored)).collect())
            }
            Filter::DerivedFrom(ids) => {
                Scanned::Memories(self.rows(page, |memory| sources(memory).any(|source| ids.contains(&source))))
            }
            Filter::Lineage => {
                let linked =
                    paged(&self.memories, page, |id| id.uuid(), |stored| sources(&stored.memory).next().is_some());
                let links = linked.map(|stored| (stored.memory.id, sources(&stored.memory).collect::<BTreeSet<_>>()));
                Scanned::Lineage(links.map(|(id, sources)| (id, sources.into_iter().collect())).collect())
            }
            Filter::Traces { workspace } => Scanned::Traces(
                paged(
                    &self.traces,
                    page,
                    |id| id.uuid(),
                    |trace| workspace.as_ref().is_none_or(|id| trace.metadata.workspace_id == *id),
                )
                .cloned()
                .collect(),
            ),
            Filter::Trace(id) => Scanned::Traces(self.traces.get(&id).cloned().into_iter().collect()),
            Filter::Signals { workspace } => Scanned::Signals(
                paged(
                    &self.signals,
                    page,
                    |id| id.uuid(),
                    |signal| workspace.as_ref().is_none_or(|id| signal.workspace_id == *id),
                )
                .cloned()
                .collect(),
            ),
            Filter::SignalsOf(ids) => {
                let about = paged(&self.signals, page, |id| id.uuid(), |signal| ids.contains(&signal.memory_id));
                Scanned::Signals(about.cloned().collect())
            }
            Filter::Held(id) => Scanned::Held(Held {
                memories: self.memories.values().filter(|stored| stored.memory.workspace_id == id).count() as u64,
                traces: self.traces.values().filter(|trace| trace.metadata.workspace_id == id).count() as u64,
                signals: self.signals.values().filter(|signal| signal.workspace_id == id).count() as u64,
                jobs: self.jobs.values().filter(|job| job.workspace_id == id).count() as u64,
            }),
            Filter::Workspaces => Scanned::Workspaces(self.workspaces.values().cloned().collect()),
            Filter::Passages(ids) => {
                let stored = ids.iter().filter_map(|id| self.memories.get(id));
                let searched = stored.filter(|stored| !stored.passages.is_empty());
                Scanned::Passages(searched.map(|stored| (stored.memory.id, stored.passages.clone())).collect())
            }
            Filter::Stored(mut ids) => {
                ids.retain(|id| {
                    self.memories.contains_key(&(*id).into())
                        || self.traces.contains_key(&(*id).into())
                        || self.signals.contains_key(&(*id).into())
                });
                Scanned::Stored(ids)
            }
            Filter::WithoutVectors => {
                let is_first = |passage: &&Passage| passage.kind == PassageKind::Content && passage.n == 0;
                let lacks =
                    |stored: &&Stored| stored.passages.iter().find(is_first).is_some_and(|p| p.vector.is_none());
                let ids = self.memories.values().filter(lacks).map(|stored| stored.memory.id.uuid());
                Scanned::Stored(ids.take(page.limit).collect())
            }
            Filter::Job(id) => Scanned::Jobs(self.jobs.get(&id).cloned().into_iter().collect()),
            Filter::Jobs { workspace, state, due } => {
                let wanted = |job: &Job| {
                    workspace.as_ref().is_none_or(|id| job.workspace_id == *id)
                        && state.is_none_or(|state| job.state == state)
                        && due.is_none_or(|due| job.due.as_microsecond() <= due.as_microsecond())
                };
                Scanned::Jobs(paged(&self.jobs, page, |id| id.uuid(), wanted).cloned().collect())
            }
            Filter::NextJob { now } => {
                let is_due =
                    |job: &&Job| job.state == JobState::Queued && job.due.as_microsecond() <= now.as_microsecond();
                let order = |job: &&Job| (job.due.as_microsecond(), job.created_at.as_microsecond(), job.id);
                Scanned::Jobs(self.jobs.values().filter(is_due).min_by_key(order).cloned().into_iter().collect())
            }
            Filter::Backlog => Scanned::Backlog(self.backlog()),
            Filter::Summary => Scanned::Summary(self.summary()),
        }
    }

    fn backlog(&self) -> BTreeMap<JobState, u64> {
        counted(self.jobs.values().map(|job| job.state))
    }

    fn summary(&self) -> Summary {
        let memories = || self.memories.values().map(|stored| &stored.memory);
        let passages: usize = self.memories.values().map(|stored| stored.passages.len()).sum();
        let rows = self.memories.len() + passages + self.traces.len() + self.signals.len();
        let rows = rows + self.workspaces.len() + self.jobs.len();
        Summary {
            traces: counted(self.traces.values().map(|trace| trace.outcome)),
            memories_by_outcome: counted(memories().map(|memory| memory.outcome)),
            memories_by_scope: counted(memories().map(|memory| memory.scope)),
            memories_by_status: counted(memories().map(|memory| memory.status)),
            jobs: self.backlog(),
            rows: rows as u64,
            ..Summary::default()
        }
    }

    fn rows(&self, page: &Page, keep: impl Fn(&Memory) -> bool) -> Vec<MemoryRow> {
        paged(&self.memories, page, |id| id.uuid(), |stored| keep(&stored.memory))
            .map(|stored| self.row(stored))
            .collect()
    }

    fn erase(&mut self, scope: &EraseScope) -> Erased {
        let doomed = |memory: &Memory| match scope {
            EraseScope::Workspace(id) => memory.workspace_id == *id && memory.scope == Scope::Project,
            EraseScope::Memory(id) => memory.id == *id,
            EraseScope::Traces { .. } | EraseScope::Jobs { .. } => false,
        };
        let mut erased = Erased::default();
        self.memories.retain(|_, stored| {
            let keep = !doomed(&stored.memory);
            if !keep {
                erased.memories += 1;
                erased.passages += stored.passages.len() as u64;
            }
            keep
        });
        erased.signals = remove(&mut self.signals, |signal| match scope {
            EraseScope::Workspace(id) => signal.workspace_id == *id,
            EraseScope::Memory(id) => signal.memory_id == *id,
            EraseScope::Traces { .. } | EraseScope::Jobs { .. } => false,
        });
        erased.traces = remove(&mut self.traces, |trace| match scope {
            EraseScope::Workspace(id) => trace.metadata.workspace_id == *id,
            EraseScope::Memory(_) | EraseScope::Jobs { .. } => false,
            EraseScope::Traces { workspace, before } => {
                workspace.as_ref().is_none_or(|id| trace.metadata.workspace_id == *id)
                    && trace.created_at.as_microsecond() < before.as_microsecond()
            }
        });
        erased.jobs = remove(&mut self.jobs, |job| match scope {
            EraseScope::Workspace(id) => job.workspace_id == *id,
            EraseScope::Memory(_) | EraseScope::Traces { .. } => false,
            EraseScope::Jobs { over_before } => {
                job.is_over() && job.updated_at.as_microsecond() < over_before.as_microsecond()
            }
        });
        if let EraseScope::Workspace(id) = scope {
            self.workspaces.remove(id);
        }
        erased
    }
}

/// What a memory came from.
fn sources(memory: &Memory) -> impl Iterator<Item = MemoryId> {
    memory.parent_memory_id.into_iter().chain(memory.derived_from.iter().copied())
}

/// Whether a change follows what is stored or is it, and is the one change of its batch.
fn fits<T: PartialEq>(other: Option<&T>, stored: Option<&T>, change: &T, follows: fn(&T, &T) -> bool) -> bool {
    match other {
        Some(other) => other == change,
        None => stored.is_some_and(|stored| follows(change, stored) || stored == change),
    }
}

/// Of the records of one id the first of the highest revision.
fn keep_newest<K: Ord, V>(map: &mut BTreeMap<K, V>, id: K, record: V, revision: impl Fn(&V) -> u64) {
    if map.get(&id).is_none_or(|stored| revision(&record) > revision(stored)) {
        map.insert(id, record);
    }
}

fn counted<T: Ord>(things: impl Iterator<Item = T>) -> BTreeMap<T, u64> {
    let mut counts = BTreeMap::new();
    for thing in things {
        *counts.entry(thing).or_default() += 1;
    }
    counts
}

fn remove<K: Ord, V>(map: &mut BTreeMap<K, V>, doomed: impl Fn(&V) -> bool) -> u64 {
    let before = map.len();
    map.retain(|_, value| !doomed(value));
    (before - map.len()) as u64
}

fn paged<'a, K, V>(
    map: &'a BTreeMap<K, V>,
    page: &Page,
    uuid: impl Fn(&K) -> uuid::Uuid,
    keep: impl Fn(&V) -> bool,
) -> impl Iterator<Item = &'a V> {
    let beyond = move |id: uuid::Uuid, after| if page.newest_first { id < after } else { id > after };
    let on_page = move |(key, value): &(&K, &V)| page.after.is_none_or(|after| beyond(uuid(key), after)) && keep(value);
    let ascending = (!page.newest_first).then(|| map.iter());
    let descending = page.newest_first.then(|| map.iter().rev());
    let entries = ascending.into_iter().flatten().chain(descending.into_iter().flatten());
    entries.filter(on_page).map(|(_, value)| value).take(page.limit)
}

/// The `limit` best, best first; ties by id.
fn list(hits: impl Iterator<Item = (MemoryId, f64)>, limit: usize) -> RankedList {
    let mut hits: Vec<(MemoryId, f64)> = hits.collect();
    hits.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    let truncated = hits.len() > limit;
    hits.truncate(limit);
    RankedList { hits, truncated }
}

fn by_words(searched: &[&Stored], text: &str, limit: usize) -> (RankedList, MatchedTerms) {
    let mut index = OwnerIndex::new(0);
    for stored in searched {
        index.put(IndexedMemory::new(&stored.memory, 0));
        for terms in &stored.terms {
            // a test has not nearly as many passages as an owner index has room for
            let _ = index.add_passage(stored.memory.id, stored.memory.revision, terms, None);
        }
    }
    let query = Query::new(&terms::query(text));
    let mut collection = Collection::default();
    index.count(&query, &mut collection);
    let found = index.by_words(&query, &collection, &Conditions::default(), limit);
    (found.list, MatchedTerms { matched: found.matched, ..collection.terms() })
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    if norms > 0.0 { dot(a, b) / norms } else { 0.0 }
}
