//! Decides what becomes of the records of a batch: a record is new, changes what is stored, is stored already, or says
//! the same as a memory that is stored. This is decided while the write lock is held, over the batches and the newest
//! version of the tables. So two writers never both add the same, and a change never overwrites another one that its
//! author did not know.

use std::collections::{BTreeSet, HashMap, HashSet};

use reasoning_bank_actors::ports::{Batch, Committed, MemoryCommit, Record, StoreError};
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::episode::EpisodeState;
use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::ids::{JobId, KeyedRequestId, MemoryId, SignalId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::{Memory, Status};

use super::revisions::{StoredRevisions, newest};
use crate::lance::errors::failed;
use crate::lance::tables::{TableName, Tables, read, rows};

/// The result of one batch. Nothing is stored of a batch that is refused.
pub(in crate::lance) type CommitResult = Result<Committed, StoreError>;

/// The tables in which the revision alone decides what is written, and no change is refused.
const DECIDED_BY_REVISION: [TableName; 4] =
    [TableName::Workspaces, TableName::Signals, TableName::EpisodeVectors, TableName::History];

/// Returns the result of every batch, and all records that have to be written, one for each id.
pub(in crate::lance) async fn resolve(
    tables: &Tables,
    batches: Vec<Batch>,
) -> Result<(Vec<CommitResult>, Batch), StoreError> {
    let asked = || batches.iter().flatten();
    let (mut known, mut jobs, mut traces, mut requests, mut episodes, stored) = tokio::try_join!(
        KnownMemories::read(tables, asked()),
        KnownJobs::read(tables, asked()),
        KnownTraces::read(tables, asked()),
        KnownRequests::read(tables, asked()),
        KnownEpisodes::read(tables, asked()),
        StoredRevisions::read(tables, &DECIDED_BY_REVISION, asked())
    )?;
    let mut records = Vec::new();
    let mut confirmations = Vec::new();
    let mut answers = Vec::new();
    for batch in batches {
        let checked = known.check_revisions(&batch).and_then(|()| jobs.check_revisions(&batch));
        let checked = checked.and_then(|()| traces.check_revisions(&batch));
        let checked = checked.and_then(|()| episodes.check_revisions(&batch));
        if let Err(conflict) = checked.and_then(|()| requests.check_tries(&batch)) {
            answers.push(Err(conflict));
            continue;
        }
        episodes.add_new(&batch);
        let mut outcome = Committed::default();
        for record in batch {
            match record {
                Record::Memory { memory, passages, confirm } => {
                    let (what, is_new) = known.decide(&memory, confirm.is_some());
                    outcome.memories.push(what);
                    match (what, confirm) {
                        (MemoryCommit::Reinforced(existing), Some(id)) => {
                            confirmations.extend(known.confirmation(&memory, existing, id).map(Record::Signal));
                        }
                        _ if is_new => records.push(Record::Memory { memory, passages, confirm }),
                        _ => {}
                    }
                }
                Record::Revision { memory, passages } => {
                    if known.revise(&memory) {
                        records.push(Record::Revision { memory, passages });
                    }
                }
                Record::Job(job) => {
                    if jobs.take(&job) {
                        records.push(Record::Job(job));
                    }
                }
                Record::Trace(trace) => {
                    if traces.add(&trace) {
                        records.push(Record::Trace(trace));
                    }
                }
                Record::Verdict(trace) => {
                    if traces.revise(&trace) {
                        records.push(Record::Verdict(trace));
                    }
                }
                Record::Request(request) => {
                    if requests.take(&request) {
                        records.push(Record::Request(request));
                    }
                }
                Record::EpisodeState(state) => {
                    if episodes.take(&state) {
                        records.push(Record::EpisodeState(state));
                    }
                }
                Record::EpisodeVectors(vectors) => {
                    let record = Record::EpisodeVectors(vectors);
                    if episodes.has_trace_of(&record) && stored.lacks(&record) {
                        records.push(record);
                    }
                }
                Record::Workspace(_) | Record::Signal(_) | Record::History(_) => {
                    if stored.lacks(&record) {
                        records.push(record);
                    }
                }
            }
        }
        answers.push(Ok(outcome));
    }
    let confirmed = StoredRevisions::read(tables, &[TableName::Signals], confirmations.iter()).await?;
    records.extend(confirmations.into_iter().filter(|confirmation| confirmed.lacks(confirmation)));
    Ok((answers, newest(records)))
}

/// Tells whether a change follows what is stored or equals it. Where `other` is an earlier change of the same batch to
/// the same record, the change must equal that one instead.
fn fits<T: PartialEq>(other: Option<&T>, stored: Option<&T>, change: &T, follows: fn(&T, &T) -> bool) -> bool {
    match other {
        Some(other) => other == change,
        None => stored.is_some_and(|stored| follows(change, stored) || stored == change),
    }
}

/// Memories that are stored, or will be by the batches resolved so far.
#[derive(Default)]
struct KnownMemories {
    /// The ids of the memories, with the duplicate keys of those that are active.
    memories: HashMap<MemoryId, Option<String>>,
    /// The active memories by their duplicate keys.
    by_duplicate_key: HashMap<String, BTreeSet<MemoryId>>,
    /// The memories that a new one may confirm: those that were compared.
    compared: HashMap<MemoryId, Memory>,
    /// True where one of the batches may confirm what is stored. Only then does it matter what memories say.
    is_compared: bool,
    /// The ids of the memories that the batches revise, each with the whole memory where one is stored.
    revised: HashMap<MemoryId, Option<Memory>>,
}

impl KnownMemories {
    async fn read<'a>(tables: &Tables, records: impl Iterator<Item = &'a Record> + Clone) -> Result<Self, StoreError> {
        let revised = records
            .clone()
            .filter_map(|r| if let Record::Revision { memory, .. } = r { Some(memory.id) } else { None });
        let new = records.filter_map(|r| match r {
            Record::Memory { memory, confirm, .. } => Some((memory, confirm.is_some())),
            _ => None,
        });
        let (revised, new): (HashSet<MemoryId>, Vec<(&Memory, bool)>) = (revised.collect(), new.collect());
        let mut known = Self {
            is_compared: new.iter().any(|(_, may_confirm)| *may_confirm),
            revised: revised.iter().map(|id| (*id, None)).collect(),
            ..Self::default()
        };
        let revised: Vec<MemoryId> = revised.into_iter().collect();
        let (revised, similar) = tokio::try_join!(read::memories(tables, &revised), similar(tables, &new))?;
        known.compared.extend(similar.same_text.into_iter().map(|memory| (memory.id, memory)));
        for memory in revised {
            known.add(&memory, known.key(&memory));
        }
        for (id, key) in similar.keys {
            known.insert(id, key);
        }
        Ok(known)
    }

    fn insert(&mut self, id: MemoryId, duplicate_key: Option<String>) {
        if let Some(old) = self.memories.insert(id, duplicate_key.clone()).flatten()
            && let Some(same) = self.by_duplicate_key.get_mut(&old)
        {
            same.remove(&id);
        }
        if let Some(key) = duplicate_key {
            self.by_duplicate_key.entry(key).or_default().insert(id);
        }
    }

    fn key(&self, memory: &Memory) -> Option<String> {
        (self.is_compared && memory.status == Status::Active).then(|| memory.duplicate_key())
    }

    fn add(&mut self, memory: &Memory, key: Option<String>) {
        if key.is_some() {
            self.compared.insert(memory.id, memory.clone());
        }
        self.insert(memory.id, key);
        if let Some(whole) = self.revised.get_mut(&memory.id) {
            *whole = Some(memory.clone());
        }
    }

    /// Decides what comes of a new memory, and whether the memory has to be written.
    fn decide(&mut self, memory: &Memory, may_confirm: bool) -> (MemoryCommit, bool) {
        if self.memories.contains_key(&memory.id) {
            return (MemoryCommit::Created(memory.id), false);
        }
        let key = self.key(memory);
        if let Some(key) = key.as_ref().filter(|_| may_confirm)
            && let Some(existing) = self.by_duplicate_key.get(key).and_then(BTreeSet::first)
        {
            return (MemoryCommit::Reinforced(*existing), false);
        }
        self.add(memory, key);
        (MemoryCommit::Created(memory.id), true)
    }

    /// Returns the signal by which a lesson confirms a memory that says exactly the same. None where it is no evidence
    /// for that.
    fn confirmation(&self, lesson: &Memory, existing: MemoryId, fresh: SignalId) -> Option<Signal> {
        lesson.confirmation(self.compared.get(&existing)?, fresh)
    }

    /// Returns the memory as it is before this batch, if a revision of it is asked for.
    fn whole(&self, id: MemoryId) -> Option<&Memory> {
        self.revised.get(&id)?.as_ref()
    }

    /// Refuses revisions that neither follow what is stored nor equal it. A batch may hold one revision of a memory
    /// only.
    fn check_revisions(&self, batch: &[Record]) -> Result<(), StoreError> {
        let mut seen: HashMap<MemoryId, &Memory> = HashMap::new();
        for record in batch {
            let Record::Revision { memory, .. } = record else { continue };
            if !fits(seen.insert(memory.id, memory), self.whole(memory.id), memory, Memory::follows) {
                return Err(StoreError::Conflict(memory.id));
            }
        }
        Ok(())
    }

    /// Takes a revision that was checked, and tells whether there is something to write.
    fn revise(&mut self, memory: &Memory) -> bool {
        let is_new = self.whole(memory.id) != Some(memory);
        if is_new {
            self.add(memory, self.key(memory));
        }
        is_new
    }
}

/// Jobs that are stored, or will be by the batches resolved so far.
struct KnownJobs(HashMap<JobId, Job>);

impl KnownJobs {
    async fn read(tables: &Tables, records: impl Iterator<Item = &Record>) -> Result<Self, StoreError> {
        let asked = records.filter_map(|r| if let Record::Job(job) = r { Some(job.id.to_string()) } else { None });
        let asked = asked.collect::<HashSet<_>>().into_iter().collect();
        let found = read::select_these(&tables.jobs, "id", asked, &["body"]).await?;
        Ok(Self(rows::decode_bodies::<Job>(&found)?.into_iter().map(|job| (job.id, job)).collect()))
    }

    /// Refuses revisions as for memories. A new job is not checked, because it changes nothing that is stored.
    fn check_revisions(&self, batch: &[Record]) -> Result<(), StoreError> {
        let mut seen: HashMap<JobId, &Job> = HashMap::new();
        for record in batch {
            let Record::Job(job) = record else { continue };
            if job.revision == 0 {
                continue;
            }
            if !fits(seen.insert(job.id, job), self.0.get(&job.id), job, Job::follows) {
                return Err(StoreError::JobChanged(job.id));
            }
        }
        Ok(())
    }

    /// Takes a job, and tells whether there is something to write.
    fn take(&mut self, job: &Job) -> bool {
        let is_new = self.0.get(&job.id).is_none_or(|stored| job.follows(stored));
        if is_new {
            self.0.insert(job.id, job.clone());
        }
        is_new
    }
}

/// Requests with a key that are stored, or will be by the batches resolved so far.
struct KnownRequests(HashMap<KeyedRequestId, KeyedRequest>);

impl KnownRequests {
    async fn read(tables: &Tables, records: impl Iterator<Item = &Record>) -> Result<Self, StoreError> {
        let asked = records.filter_map(|r| if let Record::Request(it) = r { Some(it.id.to_string()) } else { None });
        let asked = asked.collect::<HashSet<_>>().into_iter().collect();
        let found = read::select_these(&tables.requests, "id", asked, &["body"]).await?;
        let found = rows::decode_bodies::<KeyedRequest>(&found)?;
        Ok(Self(found.into_iter().map(|request| (request.id, request)).collect()))
    }

    /// Refuses a batch where another try has carried out a request of it.
    fn check_tries(&self, batch: &[Record]) -> Result<(), StoreError> {
        for record in batch {
            let Record::Request(request) = record else { continue };
            if self.0.get(&request.id).is_some_and(|known| request.was_carried_out_by(known)) {
                return Err(StoreError::CarriedOut(request.id));
            }
        }
        Ok(())
    }

    /// Takes a request, and tells whether there is something to write. The answer to a request that was erased is not
    /// kept.
    fn take(&mut self, request: &KeyedRequest) -> bool {
        let is_news = match self.0.get(&request.id) {
            Some(known) => known.revision < request.revision,
            None => request.revision == 0,
        };
        if is_news {
            self.0.insert(request.id, request.clone());
        }
        is_news
    }
}

/// The states of episodes that are stored, or will be by the batches resolved so far, and which traces there are.
struct KnownEpisodes {
    states: HashMap<TraceId, EpisodeState>,
    traces: HashSet<TraceId>,
}

impl KnownEpisodes {
    async fn read(tables: &Tables, records: impl Iterator<Item = &Record>) -> Result<Self, StoreError> {
        let asked: HashSet<String> = records.filter_map(episode_of).map(|id| id.to_string()).collect();
        let asked: Vec<String> = asked.into_iter().collect();
        let (found, traces) = tokio::try_join!(
            read::select_these(&tables.episode_state, "id", asked.clone(), &["body"]),
            read::present(&tables.traces, asked)
        )?;
        let states = rows::decode_bodies::<EpisodeState>(&found)?;
        let traces = traces.iter().map(|id| id.parse().map_err(failed)).collect::<Result<_, _>>()?;
        Ok(Self { states: states.into_iter().map(|state| (state.episode_id, state)).collect(), traces })
    }

    /// Refuses a state that neither follows what is stored nor equals it. An episode without a state has revision 0.
    fn check_revisions(&self, batch: &[Record]) -> Result<(), StoreError> {
        let mut seen: HashMap<TraceId, &EpisodeState> = HashMap::new();
        for record in batch {
            let Record::EpisodeState(state) = record else { continue };
            let stored = self.states.get(&state.episode_id);
            let fits = match seen.insert(state.episode_id, state) {
                Some(other) => other == state,
                None => state.follows(stored) || stored == Some(state),
            };
            if !fits {
                return Err(StoreError::TraceChanged(state.episode_id));
            }
        }
        Ok(())
    }

    /// Notes the traces that a batch adds.
    fn add_new(&mut self, batch: &[Record]) {
        let new = batch.iter().filter_map(|r| if let Record::Trace(trace) = r { Some(trace.trace_id) } else { None });
        self.traces.extend(new);
    }

    fn has_trace_of(&self, record: &Record) -> bool {
        episode_of(record).is_some_and(|id| self.traces.contains(&id))
    }

    /// Takes a state that was checked, and tells whether there is something to write.
    fn take(&mut self, state: &EpisodeState) -> bool {
        let is_new = self.states.get(&state.episode_id) != Some(state) && self.traces.contains(&state.episode_id);
        if is_new {
            self.states.insert(state.episode_id, state.clone());
        }
        is_new
    }
}

/// Returns the episode that a record is about beside its trace.
fn episode_of(record: &Record) -> Option<TraceId> {
    match record {
        Record::EpisodeState(state) => Some(state.episode_id),
        Record::EpisodeVectors(vectors) => Some(vectors.episode_id),
        _ => None,
    }
}

/// Traces that are stored, or will be by the batches resolved so far.
struct KnownTraces(HashMap<TraceId, Trace>);

impl KnownTraces {
    async fn read(tables: &Tables, records: impl Iterator<Item = &Record>) -> Result<Self, StoreError> {
        let asked = records.filter_map(|record| match record {
            Record::Trace(trace) | Record::Verdict(trace) => Some(trace.trace_id.to_string()),
            _ => None,
        });
        let asked = asked.collect::<HashSet<_>>().into_iter().collect();
        let found = read::select_these(&tables.traces, "id", asked, &["body"]).await?;
        Ok(Self(rows::decode_bodies::<Trace>(&found)?.into_iter().map(|trace| (trace.trace_id, trace)).collect()))
    }

    /// Refuses revisions as for memories.
    fn check_revisions(&self, batch: &[Record]) -> Result<(), StoreError> {
        let mut seen: HashMap<TraceId, &Trace> = HashMap::new();
        for record in batch {
            let Record::Verdict(trace) = record else { continue };
            if !fits(seen.insert(trace.trace_id, trace), self.0.get(&trace.trace_id), trace, Trace::follows) {
                return Err(StoreError::TraceChanged(trace.trace_id));
            }
        }
        Ok(())
    }

    /// Takes a new trace, and tells whether there is something to write.
    fn add(&mut self, trace: &Trace) -> bool {
        let is_new = !self.0.contains_key(&trace.trace_id);
        if is_new {
            self.0.insert(trace.trace_id, trace.clone());
        }
        is_new
    }

    /// Takes a revision that was checked, and tells whether there is something to write.
    fn revise(&mut self, trace: &Trace) -> bool {
        let is_new = self.0.get(&trace.trace_id) != Some(trace);
        if is_new {
            self.0.insert(trace.trace_id, trace.clone());
        }
        is_new
    }
}

/// The stored memories that have the id of a new one, or the text of one that may confirm another.
struct SimilarMemories {
    /// The ids of all of them, each with its duplicate key where the memory is active and says the same.
    keys: Vec<(MemoryId, Option<String>)>,
    /// Those of the same text.
    same_text: Vec<Memory>,
}

async fn similar(tables: &Tables, memories: &[(&Memory, bool)]) -> Result<SimilarMemories, StoreError> {
    let ids: Vec<String> = memories.iter().map(|(memory, _)| memory.id.to_string()).collect();
    let confirming = memories.iter().filter(|(_, may_confirm)| *may_confirm);
    let keys = confirming.flat_map(|(memory, _)| [memory.duplicate_key(), memory.former_duplicate_key()]);
    let keys: BTreeSet<String> = keys.collect();
    let (same_id, same_text) = tokio::try_join!(
        read::present(&tables.memories, ids),
        read::select_these(&tables.memories, "duplicate_key", keys.into_iter().collect(), &["body"])
    )?;
    let same_text = rows::decode_bodies::<Memory>(&same_text)?;
    // A row of an older version has a key of that version, and its memory says what its key is now.
    let with_key = same_text.iter().map(|memory| {
        let key = (memory.status == Status::Active).then(|| memory.duplicate_key());
        Ok((memory.id, key))
    });
    let same_id = same_id
        .iter()
        .map(|id| -> Result<(MemoryId, Option<String>), StoreError> { Ok((id.parse().map_err(failed)?, None)) });
    // a memory that is in both counts with its key
    let keys = same_id.chain(with_key).collect::<Result<_, StoreError>>()?;
    Ok(SimilarMemories { keys, same_text })
}
