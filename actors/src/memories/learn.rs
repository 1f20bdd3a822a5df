//! From a lesson to what is committed: its passages with vectors, and whether the bank says the same already.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use reasoning_bank_domain::agent_loop::Keep;
use reasoning_bank_domain::confidence::{Signal, SignalKind, id_within_trace};
use reasoning_bank_domain::ids::{MemoryId, SignalId, TraceId};
use reasoning_bank_domain::injection::Injection;
use reasoning_bank_domain::job::Job;
use reasoning_bank_domain::lesson::{Lesson, Likeness, Origin, RELATED_COSINE, likeness};
use reasoning_bank_domain::memory::{Memory, Scope};
use reasoning_bank_domain::secrets::Scrub;
use reasoning_bank_domain::solve::Learned;
use reasoning_bank_domain::trace::{Outcome, Trace};
use reasoning_bank_domain::workspace::WorkspaceId;
use uuid::Uuid;

use super::MemoriesHandle;
use super::join::Brought;
use super::passages::with_more;
use crate::error::Error;
use crate::ports::{Committed, Conditions, MemoryRow, Passage, PassageKind, Recall, Record, StoreError, Visible};
use crate::runtime::Deadline;
use crate::workspaces::Resolved;

const NEIGHBOURS: usize = 5;
/// Others who change the same memories at the same time.
pub(super) const TRIES: usize = 5;

/// What was kept of a solve.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Kept {
    pub(crate) learnings: Vec<Learned>,
    /// What was not, each starting with an error code.
    pub(crate) notes: Vec<String>,
}

/// A memory that is ready to be committed, or the existing one that it confirms.
pub(super) enum ToLearn {
    New {
        memory: Box<Memory>,
        passages: Vec<Passage>,
        /// What it came from, without the relatives that it was linked to.
        sources: Vec<MemoryId>,
    },
    Same {
        existing: MemoryId,
        memory: Box<Memory>,
    },
}

/// What becomes of the bank by lessons that are about to be committed together: each is compared with it.
#[derive(Default)]
pub(super) struct Becomes {
    /// Those that are compared with what comes after them; none where all were learned from one thing.
    new: Option<Vec<Earlier>>,
    confirmed: BTreeMap<MemoryId, Confirmed>,
    /// What is changed by something else in the same batch, and so cannot take another wording.
    busy: Vec<MemoryId>,
    /// Nothing may be changed: others changed the same memories again and again. A signal needs no turn.
    by_signals_alone: bool,
}

/// A memory that says the same as a lesson.
struct Confirmed {
    before: Memory,
    /// With the wordings and the tasks of the lessons.
    after: Memory,
    /// Their passages.
    more: Vec<Passage>,
}

impl Becomes {
    /// Of lessons that know nothing of each other.
    pub(super) fn of_strangers() -> Self {
        Self { new: Some(Vec::new()), ..Self::default() }
    }

    /// On the last try nothing is changed that somebody else may have changed meanwhile.
    pub(super) fn on_try(self, tries: usize) -> Self {
        Self { by_signals_alone: tries >= TRIES, ..self }
    }

    pub(super) fn busy(memories: impl IntoIterator<Item = MemoryId>) -> Self {
        Self { busy: memories.into_iter().collect(), ..Self::default() }
    }

    /// Notes that the lesson, which says the same as `near`, confirms it. False where that has no room for its wording.
    fn confirm(&mut self, near: &Memory, lesson: &Memory, passages: &[Passage]) -> bool {
        let known = self.confirmed.get(&near.id);
        let before = known.map_or(near, |confirmed| &confirmed.after);
        let is_new = self.new.iter().flatten().any(|earlier| earlier.memory.id == near.id);
        let Some(after) = before.confirmed_by(lesson) else { return false };
        if after == *before {
            return true;
        }
        // What is not stored yet, or is changed anyway, is not revised: only the very same words confirm it.
        if is_new || self.by_signals_alone || self.busy.contains(&near.id) {
            return after.wordings == before.wordings;
        }
        let added = |kind| match kind {
            PassageKind::Task => after.further_tasks != before.further_tasks,
            PassageKind::Content => after.wordings != before.wordings,
        };
        let more: Vec<Passage> = passages.iter().filter(|passage| added(passage.kind)).cloned().collect();
        let entry = self.confirmed.entry(near.id);
        let confirmed =
            entry.or_insert_with(|| Confirmed { before: near.clone(), after: near.clone(), more: Vec::new() });
        confirmed.after = after;
        confirmed.more.extend(more);
        true
    }
}

/// A memory that is about to be stored, with the vector of its content.
struct Earlier {
    memory: Memory,
    vector: Vec<f32>,
}

impl Earlier {
    /// None without a vector.
    fn of(memory: &Memory, passages: &[Passage]) -> Option<Self> {
        Some(Self { memory: memory.clone(), vector: content_vector(passages)?.to_vec() })
    }

    /// Its cosine, where that is near and both are of one kind and for the same readers.
    fn near(&self, memory: &Memory, vector: &[f32]) -> Option<(f64, Memory)> {
        let cosine = self.vector.iter().zip(vector).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let other = &self.memory;
        let same_kind = other.is_warning() == memory.is_warning();
        let same_readers = other.scope == memory.scope && other.workspace_id == memory.workspace_id;
        (cosine >= RELATED_COSINE && same_kind && same_readers).then(|| (cosine, other.clone()))
    }
}

fn content_vector(passages: &[Passage]) -> Option<&[f32]> {
    let first = passages.iter().find(|passage| passage.kind == PassageKind::Content && passage.n == 0)?;
    first.vector.as_deref()
}

impl ToLearn {
    pub(super) fn reinforces(&self) -> Option<MemoryId> {
        match self {
            Self::New { .. } => None,
            Self::Same { existing, .. } => Some(*existing),
        }
    }

    pub(super) fn memory(&self) -> &Memory {
        let (Self::New { memory, .. } | Self::Same { memory, .. }) = self;
        memory
    }

    /// What it came from before it was compared: a relative of a lesson is no source of a memory that says the same.
    pub(super) fn sources(&self) -> &[MemoryId] {
        match self {
            Self::New { sources, .. } => sources,
            Self::Same { memory, .. } => &memory.derived_from,
        }
    }

    pub(super) fn learned(&self) -> Learned {
        let memory = self.memory();
        Learned { id: self.reinforces().unwrap_or(memory.id), title: memory.title.clone() }
    }

    pub(super) fn into_record(self, now: Timestamp) -> Record {
        match self {
            Self::New { memory, passages, .. } => {
                Record::Memory { memory: *memory, passages, confirm: Some(SignalId::from(Uuid::now_v7())) }
            }
            Self::Same { existing, memory } => {
                let id = memory.confirmation_id(existing, Uuid::now_v7().into());
                signal(id, existing, memory.workspace_id, SignalKind::Confirmed, memory.trace_id, now)
            }
        }
    }
}

impl MemoriesHandle {
    /// Stores what a solve leaves: the trace, the lessons, the evidence about injected memories; all or nothing. A
    /// lesson that cannot be stored does not take the others with it; the notes say so.
    ///
    /// # Errors
    /// `WorkspaceUnknown` where the workspace was deleted since the solve began: it does not bring it back.
    pub(crate) async fn keep(&self, keep: Keep, begun: Resolved, deadline: Deadline) -> Result<Kept, Error> {
        let mut tries = 1;
        loop {
            match self.try_to_keep(keep.clone(), &begun, tries, deadline).await {
                // Somebody changed a memory that a lesson confirms. What it is then is compared again.
                Err(Error::Store(StoreError::Conflict(_))) if tries < TRIES => tries += 1,
                kept => return kept,
            }
        }
    }

    async fn try_to_keep(&self, keep: Keep, begun: &Resolved, tries: usize, deadline: Deadline) -> Result<Kept, Error> {
        let now = keep.origin.at;
        let (memories, notes) = memories_of(keep.lessons, &keep.origin, &keep.injected, |_| Uuid::now_v7().into());
        let (to_learn, grown) = self.to_learn(memories, Becomes::default().on_try(tries), deadline.halfway()).await;
        let becoming = Becoming::of(&to_learn);
        let mut trace = keep.trace;
        let trace_id = trace.trace_id;
        trace.scrub();
        trace.memory_items = ids(&becoming.learned);
        let Resolved { workspace, .. } = begun;
        let mut batch = vec![Record::Workspace(self.workspaces.registration(workspace)), Record::Trace(trace.clone())];
        let brought: Vec<Brought> = to_learn.iter().map(Brought::by).collect();
        batch.extend(to_learn.into_iter().map(|to_learn| to_learn.into_record(now)));
        batch.extend(grown);
        let used: Vec<MemoryId> = keep.signals.iter().map(|(memory_id, _)| *memory_id).collect();
        batch.extend(keep.signals.into_iter().map(|(memory_id, kind)| {
            let id = id_within_trace(trace_id, memory_id, kind, None);
            signal(id, memory_id, workspace.id.clone(), kind, Some(trace_id), now)
        }));
        self.workspaces.still_there(begun, deadline).await?;
        let committed = self.store.commit(batch, deadline).await?;
        self.workspaces.registered(workspace);
        if let Some(session) = &trace.metadata.source_session {
            self.sessions.left(&workspace.id, session, trace_id).await;
        }
        let learnings = becoming.committed(committed);
        let ids = ids(&learnings);
        if trace.memory_items != ids {
            self.correct(
                Record::Verdict(Trace {
                    revision: trace.revision.saturating_add(1),
                    memory_items: ids.clone(),
                    ..trace
                }),
                deadline,
            )
            .await;
        }
        self.join_sources(brought, ids.clone(), deadline).await;
        let concerned = used.into_iter().chain(ids);
        self.promote_proven(concerned, workspace, deadline).await;
        Ok(Kept { learnings, notes })
    }

    /// Stores the lessons of a background job together with its end, which `done` makes of what was learned and of notes
    /// on what could not be stored; all or nothing.
    pub(crate) async fn keep_of_job(
        &self,
        job: &Job,
        lessons: Vec<Lesson>,
        origin: &Origin,
        done: impl Fn(Vec<Learned>, Vec<String>) -> Job,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let (memories, notes) = memories_of(lessons, origin, &Injection::default(), |n| job.memory_id(n));
        let mut tries = 1;
        let (mut job, becoming, committed) = loop {
            let (mut to_learn, mut grown) =
                self.to_learn(memories.clone(), Becomes::default().on_try(tries), deadline.halfway()).await;
            // That something was said again in a session that failed speaks for nothing.
            if origin.outcome == Outcome::Failure {
                to_learn.retain(|to_learn| to_learn.reinforces().is_none());
                grown.clear();
            }
            let becoming = Becoming::of(&to_learn);
            let job = done(becoming.learned.clone(), notes.clone());
            let mut batch = vec![Record::Job(job.clone())];
            let speaks = origin.outcome != Outcome::Failure;
            batch.extend(to_learn.into_iter().map(|to_learn| match to_learn.into_record(origin.at) {
                Record::Memory { memory, passages, confirm } => {
                    Record::Memory { memory, passages, confirm: confirm.filter(|_| speaks) }
                }
                other => other,
            }));
            batch.extend(grown);
            match self.store.commit(batch, deadline).await {
                Err(Error::Store(StoreError::Conflict(_))) if tries < TRIES => tries += 1,
                committed => break (job, becoming, committed?),
            }
        };
        let learned = becoming.committed(committed);
        if let Some(result) = job.result.as_mut().filter(|result| result.learned != learned) {
            result.learned = learned;
            job.revision = job.revision.saturating_add(1);
            self.correct(Record::Job(job), deadline).await;
        }
        Ok(())
    }

    /// Where the store found exact duplicates, what was committed with them names memories that there are not. What
    /// was learned is stored; that this was not is said in the log.
    pub(super) async fn correct(&self, record: Record, deadline: Deadline) {
        if let Err(error) = self.store.commit(vec![record], deadline).await {
            tracing::debug!(code = error.code(), "the ids of confirmed memories were not corrected");
        }
    }

    /// Embeds lessons and compares each with the bank and with those before it; the records are the memories that they
    /// confirm, with their wordings and tasks. The comparison is best effort: without vectors only exact duplicates are found, by the store.
    pub(super) async fn to_learn(
        &self,
        memories: Vec<Memory>,
        mut becomes: Becomes,
        deadline: Deadline,
    ) -> (Vec<ToLearn>, Vec<Record>) {
        let mut learned = Vec::new();
        for (memory, passages) in self.embedded(memories, deadline).await {
            learned.push(self.compare(memory, passages, &mut becomes, deadline).await);
        }
        (learned, self.grown(becomes, deadline).await)
    }

    async fn compare(
        &self,
        memory: Memory,
        passages: Vec<Passage>,
        becomes: &mut Becomes,
        deadline: Deadline,
    ) -> ToLearn {
        let mut neighbours = Vec::new();
        if let Some(vector) = content_vector(&passages) {
            let stored = self.neighbours(&memory, vector.to_vec(), deadline).await.unwrap_or_default();
            neighbours.extend(becomes.new.iter().flatten().filter_map(|earlier| earlier.near(&memory, vector)));
            neighbours.extend(stored.into_iter().map(|(cosine, row)| (cosine, row.memory)));
            neighbours.sort_by(|(x, a), (y, b)| y.total_cmp(x).then_with(|| a.id.cmp(&b.id)));
        }
        let mut linked = memory.clone();
        for (cosine, near) in neighbours {
            match likeness(&memory, &near, cosine) {
                Likeness::Same if becomes.confirm(&near, &memory, &passages) => {
                    return ToLearn::Same { existing: near.id, memory: Box::new(memory) };
                }
                Likeness::Same | Likeness::Related if !linked.derived_from.contains(&near.id) => {
                    linked.derived_from.push(near.id);
                    linked.evolution_stage = linked.evolution_stage.max(near.next_stage());
                    linked.trust = linked.trust.min(near.trust);
                }
                Likeness::Same | Likeness::Related | Likeness::Apart => {}
            }
        }
        if let Some(new) = &mut becomes.new {
            new.extend(Earlier::of(&linked, &passages));
        }
        ToLearn::New { memory: Box::new(linked), passages, sources: memory.derived_from }
    }

    /// The confirmed memories with what confirmed them.
    async fn grown(&self, becomes: Becomes, deadline: Deadline) -> Vec<Record> {
        if becomes.confirmed.is_empty() {
            return Vec::new();
        }
        let ids = becomes.confirmed.keys().copied().collect();
        // Passages that cannot be read are made anew.
        let mut stored = self.stored_passages(ids, deadline).await.unwrap_or_default();
        let (now, mut records) = (self.clock.now(), Vec::new());
        for (id, Confirmed { before, after, more }) in becomes.confirmed {
            if after == before {
                continue;
            }
            let passages = with_more(stored.remove(&id).unwrap_or_default(), more);
            let (memory, passages) = self.with_these_or_new(after.revised(now), passages, deadline).await;
            records.push(Record::Revision { memory, passages });
        }
        records
    }

    async fn neighbours(
        &self,
        memory: &Memory,
        vector: Vec<f32>,
        deadline: Deadline,
    ) -> Result<Vec<(f64, MemoryRow)>, Error> {
        let project = (memory.scope == Scope::Project).then(|| memory.workspace_id.clone());
        let recall = Recall {
            visible: Visible { workspace: project, team: memory.team.clone(), org: memory.org.clone() },
            conditions: Conditions {
                warnings_only: memory.is_warning(),
                without_warnings: !memory.is_warning(),
                ..Conditions::default()
            },
            text: None,
            vector: Some(vector),
            signature: None,
            limit: NEIGHBOURS,
        };
        let found = self.store.candidates(recall, deadline).await?;
        let mut near: Vec<(MemoryId, f64)> = found.vector.map(|list| list.hits).unwrap_or_default();
        near.retain(|(_, cosine)| *cosine >= RELATED_COSINE);
        near.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        let rows = self.store.get(near.iter().map(|(id, _)| *id).collect(), deadline).await?;
        let row_of = |id: MemoryId| rows.iter().find(|row| row.memory.id == id).cloned();
        let same_readers =
            |row: &MemoryRow| row.memory.scope == memory.scope && row.memory.workspace_id == memory.workspace_id;
        let rows = near.into_iter().filter_map(|(id, cosine)| Some((cosine, row_of(id).filter(same_readers)?)));
        Ok(rows.collect())
    }
}

/// What lessons that are about to be committed become.
pub(super) struct Becoming {
    pub(super) learned: Vec<Learned>,
    is_new: Vec<bool>,
}

impl Becoming {
    pub(super) fn of(to_learn: &[ToLearn]) -> Self {
        let learned = to_learn.iter().map(ToLearn::learned).collect();
        Self { learned, is_new: to_learn.iter().map(|to_learn| to_learn.reinforces().is_none()).collect() }
    }

    /// The store may have found an exact duplicate that was written meanwhile.
    pub(super) fn committed(mut self, committed: Committed) -> Vec<Learned> {
        let new = self.learned.iter_mut().zip(self.is_new).filter_map(|(learned, is_new)| is_new.then_some(learned));
        for (learned, commit) in new.zip(committed.memories) {
            learned.id = commit.id();
        }
        self.learned
    }
}

pub(super) fn ids(learned: &[Learned]) -> Vec<MemoryId> {
    learned.iter().map(|learned| learned.id).collect()
}

pub(super) fn signal(
    id: SignalId,
    memory_id: MemoryId,
    workspace_id: WorkspaceId,
    kind: SignalKind,
    trace_id: Option<TraceId>,
    at: Timestamp,
) -> Record {
    Record::Signal(Signal { id, memory_id, workspace_id, kind, at, trace_id, session: None, comment: None })
}

/// The memories that are valid, each once, and notes on the others.
fn memories_of(
    lessons: Vec<Lesson>,
    origin: &Origin,
    injected: &Injection,
    id: impl Fn(usize) -> MemoryId,
) -> (Vec<Memory>, Vec<String>) {
    let (mut memories, mut notes, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for (n, lesson) in lessons.into_iter().enumerate() {
        let mut memory = lesson.into_memory(id(n), origin, injected);
        memory.scrub();
        match memory.validate() {
            Err(invalid) => notes.push(format!("memory_invalid: a lesson was not stored: {invalid}")),
            Ok(()) if seen.insert(memory.duplicate_key()) => memories.push(memory),
            Ok(()) => {}
        }
    }
    (memories, notes)
}
