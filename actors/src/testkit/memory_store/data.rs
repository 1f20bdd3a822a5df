//! The contents of the store, and what commits and erasures make of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeState, EpisodeVectors, ScoreInputs};
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::ids::{HistoryId, JobId, KeyedRequestId, MemoryId, SignalId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{Memory, Status};
use reasoning_bank_domain::text::terms;

use crate::ports::{
    Batch, Committed, EpisodeRow, EpisodeSearch, EraseScope, Erased, MemoryCommit, MemoryRow, Passage, Record,
    StoreError,
};

#[derive(Debug)]
pub(super) struct Stored {
    pub(super) memory: Memory,
    pub(super) passages: Vec<Passage>,
    /// The search terms of each passage, in the order of `passages`.
    pub(super) terms: Vec<String>,
}

impl Stored {
    fn new(memory: Memory, passages: Vec<Passage>) -> Self {
        let terms = passages.iter().map(|passage| terms::indexed(&memory.title, &passage.text)).collect();
        Self { memory, passages, terms }
    }
}

#[derive(Debug, Default)]
pub(super) struct Data {
    pub(super) memories: BTreeMap<MemoryId, Stored>,
    pub(super) traces: BTreeMap<TraceId, Trace>,
    pub(super) signals: BTreeMap<SignalId, Signal>,
    pub(super) workspaces: BTreeMap<WorkspaceId, Workspace>,
    pub(super) jobs: BTreeMap<JobId, Job>,
    pub(super) requests: BTreeMap<KeyedRequestId, KeyedRequest>,
    pub(super) episode_states: BTreeMap<TraceId, EpisodeState>,
    pub(super) episode_vectors: BTreeMap<TraceId, EpisodeVectors>,
    pub(super) history: BTreeMap<HistoryId, HistoryEntry>,
}

impl Data {
    pub(super) fn commit(&mut self, batch: Batch) -> Result<Committed, StoreError> {
        let mut revised: HashMap<MemoryId, &Memory> = HashMap::new();
        let mut worked_on: HashMap<JobId, &Job> = HashMap::new();
        let mut judged: HashMap<TraceId, &Trace> = HashMap::new();
        let mut changed: HashMap<TraceId, &EpisodeState> = HashMap::new();
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
                Record::EpisodeState(state) => {
                    let other = changed.insert(state.episode_id, state);
                    let stored = self.episode_states.get(&state.episode_id);
                    let fits = match other {
                        Some(other) => other == state,
                        None => state.follows(stored) || stored == Some(state),
                    };
                    if !fits {
                        return Err(StoreError::TraceChanged(state.episode_id));
                    }
                }
                Record::Request(request) => {
                    let stored = self.requests.get(&request.id);
                    if stored.is_some_and(|stored| request.was_carried_out_by(stored)) {
                        return Err(StoreError::CarriedOut(request.id));
                    }
                }
                _ => {}
            }
        }
        let mut committed = Committed::default();
        // A record about a trace comes after it.
        let (of_episodes, others): (Batch, Batch) =
            batch.into_iter().partition(|record| matches!(record, Record::EpisodeState(_) | Record::EpisodeVectors(_)));
        for record in others.into_iter().chain(of_episodes) {
            match record {
                Record::EpisodeState(state) => {
                    if self.traces.contains_key(&state.episode_id) {
                        self.episode_states.insert(state.episode_id, state);
                    }
                }
                Record::EpisodeVectors(vectors) => {
                    if self.traces.contains_key(&vectors.episode_id) {
                        let id = vectors.episode_id;
                        keep_newest(&mut self.episode_vectors, id, vectors, |vectors| vectors.revision);
                    }
                }
                Record::History(entry) => {
                    let id = entry.id;
                    keep_newest(&mut self.history, id, entry, |entry| entry.revision);
                }
                Record::Workspace(workspace) => {
                    let id = workspace.id.clone();
                    keep_newest(&mut self.workspaces, id, workspace, |workspace| workspace.revision);
                }
                Record::Revision { memory, passages } => {
                    self.memories.insert(memory.id, Stored::new(memory, passages));
                }
                Record::Job(job) => keep_newest(&mut self.jobs, job.id, job, |job| u64::from(job.revision)),
                Record::Request(request) if request.revision > 0 && !self.requests.contains_key(&request.id) => {}
                Record::Request(request) => {
                    keep_newest(&mut self.requests, request.id, request, |request| request.revision);
                }
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
            && let Some(existing) = self.duplicate_of(&memory).cloned()
        {
            if let Some(confirmation) = memory.confirmation(&existing, confirm) {
                self.signals.entry(confirmation.id).or_insert(confirmation);
            }
            return MemoryCommit::Reinforced(existing.id);
        }
        self.memories.insert(id, Stored::new(memory, passages));
        MemoryCommit::Created(id)
    }

    fn duplicate_of(&self, memory: &Memory) -> Option<&Memory> {
        if memory.status != Status::Active {
            return None;
        }
        let key = memory.duplicate_key();
        let same = |stored: &&Stored| stored.memory.status == Status::Active && stored.memory.duplicate_key() == key;
        self.memories.values().find(same).map(|stored| &stored.memory)
    }

    pub(super) fn evidence(&self, id: MemoryId) -> Evidence {
        Evidence::of(self.signals.values().filter(|signal| signal.memory_id == id))
    }

    pub(super) fn row(&self, stored: &Stored) -> MemoryRow {
        MemoryRow { memory: stored.memory.clone(), evidence: self.evidence(stored.memory.id) }
    }

    pub(super) fn episode(&self, trace: &Trace) -> EpisodeRow {
        let state = self.episode_states.get(&trace.trace_id).cloned();
        EpisodeRow { state: state.unwrap_or_else(|| EpisodeState::of(trace)), trace: trace.clone() }
    }

    /// Lists the episodes that the filter lets through, the newest first.
    pub(super) fn episodes(&self, filter: &EpisodeFilter) -> Vec<EpisodeRow> {
        let rows = self.traces.values().map(|trace| self.episode(trace));
        let mut rows: Vec<EpisodeRow> = rows.filter(|row| filter.holds(&row.trace, &row.state)).collect();
        rows.sort_by_key(|row| Reverse((row.trace.created_at.as_microsecond(), row.trace.trace_id)));
        rows
    }

    /// Reads these episodes, in this order.
    pub(super) fn episodes_of_ids(&self, ids: &[TraceId]) -> Vec<EpisodeRow> {
        ids.iter().filter_map(|id| self.traces.get(id)).map(|trace| self.episode(trace)).collect()
    }

    pub(super) fn nearest_episodes(&self, search: &EpisodeSearch) -> Vec<(ScoreInputs, f64)> {
        let mut found: Vec<(ScoreInputs, f64)> = self
            .episodes(&search.filter)
            .into_iter()
            .filter_map(|row| {
                let vectors = self.episode_vectors.get(&row.trace.trace_id)?;
                let cosine = vectors.similarity(&search.vector, search.of_outcome);
                let inputs = ScoreInputs::of(&row.trace, &row.state);
                (vectors.embedder == search.embedder).then_some((inputs, cosine))
            })
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.truncate(search.limit);
        found
    }

    pub(super) fn erase(&mut self, scope: &EraseScope) -> Erased {
        let mut erased = Erased::default();
        self.memories.retain(|_, stored| {
            let keep = !scope.covers_memory(&stored.memory);
            if !keep {
                erased.memories += 1;
                erased.passages += stored.passages.len() as u64;
            }
            keep
        });
        erased.signals = remove(&mut self.signals, |signal| scope.covers_signal(signal));
        erased.traces = remove(&mut self.traces, |trace| {
            scope.covers_trace(trace.trace_id, &trace.metadata.workspace_id, trace.created_at)
        });
        self.episode_states.retain(|id, of| !scope.covers_trace(*id, &of.workspace_id, of.created_at));
        self.episode_vectors.retain(|id, of| !scope.covers_trace(*id, &of.workspace_id, of.created_at));
        erased.jobs = remove(&mut self.jobs, |job| scope.covers_job(job));
        self.workspaces.retain(|id, _| !scope.covers_workspace(id));
        self.requests.retain(|_, request| !scope.covers_request(request));
        self.history.retain(|_, entry| !scope.covers_history(entry));
        erased
    }
}

/// Tells whether a change may be made: it follows what is stored or is the same, and its batch has no different change
/// of the same thing.
fn fits<T: PartialEq>(other: Option<&T>, stored: Option<&T>, change: &T, follows: fn(&T, &T) -> bool) -> bool {
    match other {
        Some(other) => other == change,
        None => stored.is_some_and(|stored| follows(change, stored) || stored == change),
    }
}

/// Keeps the first record of the highest revision of each id.
fn keep_newest<K: Ord, V>(map: &mut BTreeMap<K, V>, id: K, record: V, revision: impl Fn(&V) -> u64) {
    if map.get(&id).is_none_or(|stored| revision(&record) > revision(stored)) {
        map.insert(id, record);
    }
}

fn remove<K: Ord, V>(map: &mut BTreeMap<K, V>, doomed: impl Fn(&V) -> bool) -> u64 {
    let before = map.len();
    map.retain(|_, value| !doomed(value));
    (before - map.len()) as u64
}
