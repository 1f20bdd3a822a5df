//! A batch of lessons: which memories they confirm, which they update, and which of them are one memory. It changes
//! nothing that is stored. The callers read the memories that a lesson is compared with, and store the changes.

use std::collections::BTreeMap;

use super::likeness::{cosine, is_repeat};
use crate::memory::Memory;
use crate::memory::ids::MemoryId;
use crate::memory::update_detection::{links, possibly_outdated};

/// Two memories may be linked only where the cosine of their contents is at least this.
pub const LINKED_COSINE: f64 = 0.5;

/// Lessons that are about to be stored together, and what they change in the bank. Each of them is compared with it.
#[derive(Debug, Default)]
pub struct LessonBatch {
    /// The new lessons so far. The lessons that come after them are compared with them.
    new: Vec<BatchMember>,
    /// True where the lessons know nothing of each other. Then a lesson that says the same as an earlier one confirms
    /// it. Otherwise the earlier one takes in its wording.
    of_strangers: bool,
    changed: BTreeMap<MemoryId, MemoryChange>,
    /// The memories that something else in the same batch changes. The lessons do not change them.
    revised_elsewhere: Vec<MemoryId>,
    /// The memories that the lessons take the place of. The lessons do not confirm them.
    replaced: Vec<MemoryId>,
    /// Stored memories get signals alone, which conflict with nobody.
    by_signals_alone: bool,
}

/// A memory that says the same as a lesson, or that is linked with a lesson.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryChange {
    pub before: Memory,
    /// The memory with the wordings and the tasks of the lessons, and with its links to them.
    pub after: Memory,
}

/// The place of a lesson in the bank.
#[derive(Debug, Clone, PartialEq)]
pub enum LessonPlacement {
    /// It is a memory of its own.
    New {
        memory: Box<Memory>,
        /// The memories that it may outdate, where no rule can tell.
        similar: Vec<Memory>,
    },
    /// It confirms a memory.
    Same {
        existing: Box<Memory>,
        /// The change by which the memory took in what the lesson brings. None where that changes nothing.
        growth: Option<Box<MemoryChange>>,
    },
}

impl LessonBatch {
    /// Makes a batch of lessons that know nothing of each other.
    pub fn of_strangers() -> Self {
        Self { of_strangers: true, ..Self::default() }
    }

    /// Makes a batch beside which something else changes these memories, so that its lessons do not.
    pub fn beside_revisions_of(memories: impl IntoIterator<Item = MemoryId>) -> Self {
        Self { revised_elsewhere: memories.into_iter().collect(), ..Self::default() }
    }

    /// Says that the lesson takes the place of these memories.
    pub fn replacing(self, replaced: &[MemoryId]) -> Self {
        Self { replaced: replaced.to_vec(), ..self }
    }

    /// Says whether others kept changing the same memories, so that this is the last try. Then the batch changes no
    /// memory that somebody else may have changed meanwhile.
    pub fn on_last_try(self, is_last: bool) -> Self {
        Self { by_signals_alone: is_last, ..self }
    }

    /// Finds an earlier lesson of the batch that says the same, and takes in the wording of this one. None where the
    /// lessons know nothing of each other. `vector` is that of the lesson's content.
    pub fn repeated(&self, lesson: &Memory, vector: Option<&[f32]>) -> Option<MemoryId> {
        let vector = vector.filter(|_| !self.of_strangers)?;
        let near = self.new.iter().filter_map(|earlier| earlier.near(lesson, vector));
        let same = near.filter(|(cosine, earlier)| is_repeat(lesson, earlier, *cosine));
        same.max_by(|(x, _), (y, _)| x.total_cmp(y)).map(|(_, earlier)| earlier.id)
    }

    /// Decides what becomes of a lesson. `stored` are the nearest memories of the same readers with their cosines, the
    /// nearest first. A lesson without a vector is a memory of its own.
    pub fn place(&mut self, lesson: &Memory, vector: Option<&[f32]>, stored: Vec<(f64, Memory)>) -> LessonPlacement {
        let mut neighbours = stored.clone();
        if let Some(vector) = vector.filter(|_| self.of_strangers) {
            neighbours.extend(self.new.iter().filter_map(|earlier| earlier.near(lesson, vector)));
        }
        neighbours.sort_by(|(x, a), (y, b)| y.total_cmp(x).then_with(|| a.id.cmp(&b.id)));
        let stored: Vec<Memory> = stored.into_iter().map(|(_, memory)| memory).collect();
        // A memory that another project shared is updated, and not confirmed.
        let is_of_here = |near: &Memory| near.workspace_id == lesson.workspace_id;
        let repeated = |(cosine, near): &(f64, Memory)| is_of_here(near) && is_repeat(lesson, near, *cosine);
        for (_, near) in neighbours.into_iter().filter(repeated) {
            // A newer memory took back its words, so a lesson that says them again says something new.
            if near.linked_to().is_some() || self.replaced.contains(&near.id) {
                continue;
            }
            if let Some(growth) = self.confirm(&near, lesson) {
                self.say_again(&near, lesson, &stored);
                return LessonPlacement::Same { existing: Box::new(near), growth: growth.map(Box::new) };
            }
        }
        let memory = self.linked(lesson.clone(), &stored);
        self.new.extend(vector.map(|vector| BatchMember { memory: memory.clone(), vector: vector.to_vec() }));
        let similar = possibly_outdated(&memory, &stored);
        LessonPlacement::New { memory: Box::new(memory), similar }
    }

    /// Returns the stored memories that the lessons change.
    pub fn into_changes(self) -> BTreeMap<MemoryId, MemoryChange> {
        self.changed.into_iter().filter(|(_, change)| change.after != change.before).collect()
    }

    fn may_change(&self, id: MemoryId) -> bool {
        !self.by_signals_alone && !self.revised_elsewhere.contains(&id) && !self.replaced.contains(&id)
    }

    /// Finds the change of a memory, or begins one that leaves it as it is.
    fn change(&mut self, memory: &Memory) -> &mut MemoryChange {
        let untouched = || MemoryChange { before: memory.clone(), after: memory.clone() };
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

    /// Notes that the lesson, which says the same as `near`, confirms it, and returns how `near` grows by that. None
    /// where `near` cannot take in what the lesson brings: it has no room for the wording, cannot name all that the
    /// lesson replaces, is trusted less than a lesson that replaces something, or would have to be changed and may not
    /// be.
    fn confirm(&mut self, near: &Memory, lesson: &Memory) -> Option<Option<MemoryChange>> {
        let before = self.changed.get(&near.id).map_or(near, |changed| &changed.after).clone();
        let is_new = self.new.iter().any(|earlier| earlier.memory.id == near.id);
        // The memory that says the same takes the place of what the lesson replaces.
        let replaces = &lesson.succession.replaces;
        let after = replaces.iter().fold(before.confirmed_by(lesson)?, |after, older| after.replacing(*older));
        let names_all = replaces.iter().all(|older| after.succession.replaces.contains(older));
        if !names_all || (!replaces.is_empty() && near.trust < lesson.trust) {
            return None;
        }
        if after == before {
            return Some(None);
        }
        // A memory that is not stored yet, or may not be changed, is not revised. Only the very same words confirm it.
        if is_new || !self.may_change(near.id) {
            let has_same_words = after.wordings == before.wordings && after.succession == before.succession;
            return has_same_words.then_some(None);
        }
        self.change(near).after = after.clone();
        Some(Some(MemoryChange { before, after }))
    }
}

/// A memory that is about to be stored, with the vector of its content.
#[derive(Debug)]
struct BatchMember {
    memory: Memory,
    vector: Vec<f32>,
}

impl BatchMember {
    /// Returns the cosine, with this memory, where the two are of one kind and for the same readers.
    fn near(&self, memory: &Memory, vector: &[f32]) -> Option<(f64, Memory)> {
        let other = &self.memory;
        let same_kind = other.is_warning() == memory.is_warning();
        (same_kind && other.owner() == memory.owner()).then(|| (cosine(&self.vector, vector), other.clone()))
    }
}

#[cfg(test)]
mod tests;
