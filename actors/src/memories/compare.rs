//! Comparing lessons with the bank. A memory that says the same as a lesson already is confirmed by it. A memory that a
//! lesson updates, or that updates the lesson, is linked with it. `domain::learning::lesson` decides what the same is,
//! and `domain::memory::update_detection` what an update is.

use std::collections::BTreeMap;

use reasoning_bank_domain::learning::lesson::{Likeness, RELATED_COSINE, likeness};
use reasoning_bank_domain::memory::Learned;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::update_detection::{links, possibly_outdated};
use uuid::Uuid;

use super::MemoriesHandle;
use super::passages::{added, are_passages_of, passages_for, with_more};
use crate::conflict::TRIES;
use crate::error::Error;
use crate::ports::{Conditions, Passage, PassageKind, Recall, Record, Visible};
use crate::runtime::Deadline;

const NEIGHBOURS: usize = 10;
/// Two memories may be linked only where the cosine of their contents is at least this.
const LINKED_COSINE: f64 = 0.5;

/// A memory that is ready to be committed, or the existing one that it confirms.
pub(super) enum PreparedLesson {
    New {
        memory: Box<Memory>,
        passages: Vec<Passage>,
        /// The sources that it had before it was compared. The related memories that it then counts as derived from are
        /// not among them.
        sources: Vec<MemoryId>,
        /// The memories that it may outdate, where no rule can tell.
        similar: Vec<Memory>,
    },
    Same {
        existing: Box<Memory>,
        memory: Box<Memory>,
    },
}

/// Lessons that are about to be committed together, and what they change in the bank. Each of them is compared with it.
#[derive(Default)]
pub(super) struct LessonBatch {
    /// The new lessons so far. The lessons that come after them are compared with them.
    new: Vec<BatchMember>,
    /// True where the lessons know nothing of each other. Then a lesson that says the same as an earlier one confirms
    /// it. Otherwise the earlier one takes in its wording.
    of_strangers: bool,
    changed: BTreeMap<MemoryId, Changed>,
    /// The memories that something else in the same batch changes. The lessons do not change them.
    revised_elsewhere: Vec<MemoryId>,
    /// The memories that the lessons take the place of. The lessons do not confirm them.
    replaced: Vec<MemoryId>,
    /// True on the last try, because others kept changing the same memories. Then stored memories get signals alone,
    /// which conflict with nobody.
    by_signals_alone: bool,
}

/// A memory that says the same as a lesson, or that a lesson updates.
struct Changed {
    before: Memory,
    /// The memory with the wordings and the tasks of the lessons, and with its links to them.
    after: Memory,
    /// The passages of those wordings and tasks.
    more: Vec<Passage>,
}

impl LessonBatch {
    /// Makes a batch of lessons that know nothing of each other.
    pub(super) fn of_strangers() -> Self {
        Self { of_strangers: true, ..Self::default() }
    }

    /// Says which try this is. The last one changes no memory that somebody else may have changed meanwhile.
    pub(super) fn on_try(self, tries: usize) -> Self {
        Self { by_signals_alone: tries >= TRIES, ..self }
    }

    /// Makes a batch beside which something else changes these memories, so that its lessons do not.
    pub(super) fn beside_revisions_of(memories: impl IntoIterator<Item = MemoryId>) -> Self {
        Self { revised_elsewhere: memories.into_iter().collect(), ..Self::default() }
    }

    /// Says that the lesson takes the place of these memories.
    pub(super) fn replacing(self, replaced: &[MemoryId]) -> Self {
        Self { replaced: replaced.to_vec(), ..self }
    }

    fn may_change(&self, id: MemoryId) -> bool {
        !self.by_signals_alone && !self.revised_elsewhere.contains(&id) && !self.replaced.contains(&id)
    }

    /// Finds the change of a memory, or begins one that leaves it as it is.
    fn change(&mut self, memory: &Memory) -> &mut Changed {
        let untouched = || Changed { before: memory.clone(), after: memory.clone(), more: Vec::new() };
        self.changed.entry(memory.id).or_insert_with(untouched)
    }

    /// Links the lesson with the stored memories that it updates or that update it. They are changed with it.
    fn linked(&mut self, lesson: Memory, stored: &[Memory]) -> Memory {
        let of = |id: MemoryId| stored.iter().find(|memory| memory.id == id);
        let links = links(&lesson, stored);
        let mut linked = lesson;
        for (older, confidence) in links.updates {
            let may_be_linked = |older: &&Memory| self.may_change(older.id) && linked.has_room_for(older.id);
            let Some(older) = of(older).filter(may_be_linked) else { continue };
            let after = self.change(older).after.linked(linked.id, confidence);
            if let Some(after) = after {
                self.change(older).after = after;
                linked = linked.replacing(older.id);
            }
        }
        if let Some((newer, confidence)) = links.updated_by
            && let Some(newer) = of(newer).filter(|newer| self.may_change(newer.id))
        {
            let changed = self.change(newer);
            changed.after = changed.after.clone().replacing(linked.id);
            linked = linked.linked(newer.id, confidence).unwrap_or(linked);
        }
        linked
    }

    /// Moves the time at which a stored memory was said to that of the lesson that says it again, where a neighbour was
    /// said in between. The memory then updates what it updates as if it had been said last.
    fn say_again(&mut self, near: &Memory, lesson: &Memory, stored: &[Memory]) {
        if !self.may_change(near.id) || !stored.iter().any(|memory| memory.id == near.id) {
            return;
        }
        let before = self.changed.get(&near.id).map_or(near, |changed| &changed.after);
        let others: Vec<Memory> = stored.iter().filter(|memory| memory.id != near.id).cloned().collect();
        let Some(after) = before.said_again(lesson, &others) else { return };
        let after = self.linked(after, &others);
        self.change(near).after = after;
    }

    /// Finds an earlier lesson of the batch that says the same. None where the lessons know nothing of each other.
    fn repeated(&self, memory: &Memory, passages: &[Passage]) -> Option<MemoryId> {
        let vector = content_vector(passages).filter(|_| !self.of_strangers)?;
        let near = self.new.iter().filter_map(|earlier| earlier.near(memory, vector));
        let same = near.filter(|(cosine, earlier)| likeness(memory, earlier, *cosine) == Likeness::Same);
        same.max_by(|(x, _), (y, _)| x.total_cmp(y)).map(|(_, earlier)| earlier.id)
    }

    /// Notes that the lesson, which says the same as `near`, confirms it. Returns false where `near` cannot take in
    /// what the lesson brings: it has no room for the wording, cannot name all that the lesson replaces, is trusted
    /// less than a lesson that replaces something, or would have to be changed and may not be.
    fn confirm(&mut self, near: &Memory, lesson: &Memory, passages: &[Passage]) -> bool {
        let before = self.changed.get(&near.id).map_or(near, |changed| &changed.after);
        let is_new = self.new.iter().any(|earlier| earlier.memory.id == near.id);
        let Some(after) = before.confirmed_by(lesson) else { return false };
        // The memory that says the same takes the place of what the lesson replaces.
        let replaces = &lesson.succession.replaces;
        let after = replaces.iter().fold(after, |after, older| after.replacing(*older));
        let names_all = replaces.iter().all(|older| after.succession.replaces.contains(older));
        if !names_all || (!replaces.is_empty() && near.trust < lesson.trust) {
            return false;
        }
        if after == *before {
            return true;
        }
        // A memory that is not stored yet, or may not be changed, is not revised. Only the very same words confirm it.
        if is_new || !self.may_change(near.id) {
            return after.wordings == before.wordings && after.succession == before.succession;
        }
        let more = passages_added(before, &after, passages);
        let changed = self.change(near);
        changed.after = after;
        changed.more.extend(more);
        true
    }
}

/// A memory that is about to be stored, with the vector of its content.
struct BatchMember {
    memory: Memory,
    vector: Vec<f32>,
}

impl BatchMember {
    /// Makes a member of a memory. None where its content has no vector.
    fn of(memory: &Memory, passages: &[Passage]) -> Option<Self> {
        Some(Self { memory: memory.clone(), vector: content_vector(passages)?.to_vec() })
    }

    /// Returns the cosine, with this memory, where the two are near, of one kind and for the same readers.
    fn near(&self, memory: &Memory, vector: &[f32]) -> Option<(f64, Memory)> {
        let cosine = self.vector.iter().zip(vector).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        let other = &self.memory;
        let same_kind = other.is_warning() == memory.is_warning();
        (cosine >= RELATED_COSINE && same_kind && other.owner() == memory.owner()).then(|| (cosine, other.clone()))
    }
}

/// Picks those passages of a lesson that the memory that it confirms needs for the wording and the task that came. There
/// are none where the memory has lost a text, because all of its passages are made anew then.
pub(super) fn passages_added(before: &Memory, after: &Memory, passages: &[Passage]) -> Vec<Passage> {
    added(&before.search_texts(), &after.search_texts()).map_or_else(Vec::new, |added| passages_for(&added, passages))
}

/// Returns the vector that stands for what a memory says.
pub(crate) fn content_vector(passages: &[Passage]) -> Option<&[f32]> {
    let first = passages.iter().find(|passage| passage.kind == PassageKind::Content && passage.n == 0)?;
    first.vector.as_deref()
}

impl PreparedLesson {
    /// Gives the wording of the lesson to this memory, if it is the new memory `of`. Returns false where it is another
    /// one, or has no room for the wording or no passages for it.
    fn takes_in(&mut self, of: MemoryId, lesson: &Memory, more: &[Passage]) -> bool {
        let Self::New { memory, passages, .. } = self else { return false };
        if memory.id != of {
            return false;
        }
        let Some(after) = memory.confirmed_by(lesson) else { return false };
        let grown = with_more(passages.clone(), passages_added(memory, &after, more));
        if !are_passages_of(&after, &grown) {
            return false;
        }
        *passages = grown;
        **memory = after;
        true
    }

    /// Returns the memory that says the same already.
    pub(super) fn existing(&self) -> Option<&Memory> {
        match self {
            Self::New { .. } => None,
            Self::Same { existing, .. } => Some(existing),
        }
    }

    pub(super) fn reinforces(&self) -> Option<MemoryId> {
        self.existing().map(|existing| existing.id)
    }

    pub(super) fn memory(&self) -> &Memory {
        let (Self::New { memory, .. } | Self::Same { memory, .. }) = self;
        memory
    }

    /// Returns the sources from before the comparison. A memory that is related to a lesson is no source of the memory
    /// that the lesson confirms.
    pub(super) fn sources(&self) -> &[MemoryId] {
        match self {
            Self::New { sources, .. } => sources,
            Self::Same { memory, .. } => &memory.derived_from,
        }
    }

    pub(super) fn similar(&self) -> &[Memory] {
        match self {
            Self::New { similar, .. } => similar,
            Self::Same { .. } => &[],
        }
    }

    pub(super) fn learned(&self) -> Learned {
        let memory = self.memory();
        Learned { id: self.reinforces().unwrap_or(memory.id), title: memory.title.clone() }
    }

    /// Returns the memory to store, or the signal that confirms the existing one. None where the lesson is no evidence
    /// for that, because its session said the same before.
    pub(super) fn into_record(self) -> Option<Record> {
        let confirmation = self.memory().session_confirmation_id(self.reinforces());
        let confirmation = confirmation.unwrap_or_else(|| Uuid::now_v7().into());
        match self {
            Self::New { memory, passages, .. } => {
                Some(Record::Memory { memory: *memory, passages, confirm: Some(confirmation) })
            }
            Self::Same { existing, memory } => memory.confirmation(&existing, confirmation).map(Record::Signal),
        }
    }
}

impl MemoriesHandle {
    /// Embeds lessons and compares each with the bank and with those before it. The records are the revisions of the
    /// memories that the lessons confirm or update. The comparison is best effort: without vectors only exact
    /// duplicates are found, by the store.
    pub(super) async fn prepare(
        &self,
        memories: Vec<Memory>,
        mut lessons: LessonBatch,
        deadline: Deadline,
    ) -> (Vec<PreparedLesson>, Vec<Record>) {
        let mut prepared: Vec<PreparedLesson> = Vec::new();
        for (memory, passages) in self.embedded(memories, deadline).await {
            let is_taken_in = match lessons.repeated(&memory, &passages) {
                Some(of) => prepared.iter_mut().any(|earlier| earlier.takes_in(of, &memory, &passages)),
                None => false,
            };
            if !is_taken_in {
                prepared.push(self.compare(memory, passages, &mut lessons, deadline).await);
            }
        }
        (prepared, self.revisions_for(lessons, deadline).await)
    }

    async fn compare(
        &self,
        memory: Memory,
        passages: Vec<Passage>,
        lessons: &mut LessonBatch,
        deadline: Deadline,
    ) -> PreparedLesson {
        let (mut neighbours, mut stored) = (Vec::new(), Vec::new());
        if let Some(vector) = content_vector(&passages) {
            stored = self.neighbours(&memory, vector.to_vec(), deadline).await.unwrap_or_default();
            if lessons.of_strangers {
                neighbours.extend(lessons.new.iter().filter_map(|earlier| earlier.near(&memory, vector)));
            }
            neighbours.extend(stored.iter().cloned());
            neighbours.sort_by(|(x, a), (y, b)| y.total_cmp(x).then_with(|| a.id.cmp(&b.id)));
        }
        let stored: Vec<Memory> = stored.into_iter().map(|(_, memory)| memory).collect();
        let mut derived = memory.clone();
        // A memory that another project shared is updated, and not confirmed.
        let is_of_here = |near: &Memory| near.workspace_id == memory.workspace_id;
        for (cosine, near) in neighbours.into_iter().filter(|(_, near)| is_of_here(near)) {
            match likeness(&memory, &near, cosine) {
                // A newer memory took back its words, so a lesson that says them again says something new.
                Likeness::Same if near.linked_to().is_some() => {}
                Likeness::Same if lessons.replaced.contains(&near.id) => {}
                Likeness::Same if lessons.confirm(&near, &memory, &passages) => {
                    lessons.say_again(&near, &memory, &stored);
                    return PreparedLesson::Same { existing: Box::new(near), memory: Box::new(memory) };
                }
                Likeness::Same | Likeness::Related if !derived.derived_from.contains(&near.id) => {
                    derived.derive_from(&near);
                }
                Likeness::Same | Likeness::Related | Likeness::Apart => {}
            }
        }
        let linked = lessons.linked(derived, &stored);
        lessons.new.extend(BatchMember::of(&linked, &passages));
        let similar = possibly_outdated(&linked, &stored);
        PreparedLesson::New { memory: Box::new(linked), passages, sources: memory.derived_from, similar }
    }

    /// Makes the revisions of the memories that the lessons confirm or update.
    async fn revisions_for(&self, lessons: LessonBatch, deadline: Deadline) -> Vec<Record> {
        if lessons.changed.is_empty() {
            return Vec::new();
        }
        let ids = lessons.changed.keys().copied().collect();
        // Passages that cannot be read are made anew.
        let mut stored = self.store.passages(ids, deadline).await.unwrap_or_default();
        let (now, mut records) = (self.clock.now(), Vec::new());
        for (id, Changed { before, after, more }) in lessons.changed {
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
    ) -> Result<Vec<(f64, Memory)>, Error> {
        let recall = Recall {
            visible: Visible::readers_of(memory),
            conditions: Conditions {
                warnings_only: memory.is_warning(),
                without_warnings: !memory.is_warning(),
                ..Conditions::default()
            },
            with_superseded: false,
            text: None,
            vector: Some(vector),
            signature: None,
            limit: NEIGHBOURS,
        };
        let found = self.store.candidates(recall, deadline).await?;
        let mut near: Vec<(MemoryId, f64)> = found.vector.map(|list| list.hits).unwrap_or_default();
        near.retain(|(_, cosine)| *cosine >= LINKED_COSINE);
        near.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        let rows = self.store.get(near.iter().map(|(id, _)| *id).collect(), deadline).await?;
        let memory_of = |id: MemoryId| rows.iter().map(|row| &row.memory).find(|memory| memory.id == id);
        let same_owner = |near: &&Memory| near.owner() == memory.owner();
        let found = near.into_iter();
        Ok(found.filter_map(|(id, cosine)| Some((cosine, memory_of(id).filter(same_owner)?.clone()))).collect())
    }
}
