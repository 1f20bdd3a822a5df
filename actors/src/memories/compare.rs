//! Comparing lessons with the bank: reading the memories that are near a lesson, and making records of what a
//! [`LessonBatch`] decides. `domain::learning::lesson` decides what is one memory, and which memory may change which.

use std::collections::BTreeMap;

use reasoning_bank_domain::learning::lesson::{LINKED_COSINE, LessonBatch, LessonPlacement, MemoryChange};
use reasoning_bank_domain::memory::Learned;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;

use super::MemoriesHandle;
use super::passages::{added, are_passages_of, passages_for, with_more};
use crate::error::Error;
use crate::ports::{Conditions, Passage, PassageKind, Recall, Record, Visible};
use crate::runtime::Deadline;

/// The number of memories that a lesson is compared with.
const NEIGHBOURS: usize = 10;

/// The passages of the wordings and the tasks that stored memories take in.
type MorePassages = BTreeMap<MemoryId, Vec<Passage>>;

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

/// Picks those passages of a lesson that the memory that it confirms needs for the wording and the task that came.
/// There are none where the memory has lost a text, because all of its passages are made anew then.
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
    /// for that, because it was learned by itself of the session that said the same before.
    pub(super) fn into_record(self) -> Option<Record> {
        self.into_record_of(None)
    }

    /// Returns the record as [`Self::into_record`] does, where the lesson is the evidence of this source and not of the
    /// session that it was learned of.
    pub(super) fn into_record_of(self, source: Option<&str>) -> Option<Record> {
        let (memory, existing) = (self.memory(), self.reinforces());
        let confirmation = memory.confirmation_id_of(source.or(memory.source_session.as_deref()), existing);
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
        let mut more = MorePassages::default();
        for (memory, passages) in self.embedded(memories, deadline).await {
            let is_taken_in = match lessons.repeated(&memory, content_vector(&passages)) {
                Some(of) => prepared.iter_mut().any(|earlier| earlier.takes_in(of, &memory, &passages)),
                None => false,
            };
            if !is_taken_in {
                prepared.push(self.compare(memory, passages, &mut lessons, &mut more, deadline).await);
            }
        }
        (prepared, self.revisions_for(lessons, more, deadline).await)
    }

    async fn compare(
        &self,
        memory: Memory,
        passages: Vec<Passage>,
        lessons: &mut LessonBatch,
        more: &mut MorePassages,
        deadline: Deadline,
    ) -> PreparedLesson {
        let vector = content_vector(&passages);
        let stored = match vector {
            Some(vector) => self.neighbours(&memory, vector.to_vec(), deadline).await.unwrap_or_default(),
            None => Vec::new(),
        };
        match lessons.place(&memory, vector, stored) {
            LessonPlacement::New { memory: placed, similar } => {
                PreparedLesson::New { memory: placed, passages, sources: memory.derived_from, similar }
            }
            LessonPlacement::Same { existing, growth } => {
                if let Some(growth) = growth {
                    let added = passages_added(&growth.before, &growth.after, &passages);
                    more.entry(existing.id).or_default().extend(added);
                }
                PreparedLesson::Same { existing, memory: Box::new(memory) }
            }
        }
    }

    /// Makes the revisions of the memories that the lessons confirm or update.
    async fn revisions_for(&self, lessons: LessonBatch, mut more: MorePassages, deadline: Deadline) -> Vec<Record> {
        let changes = lessons.into_changes();
        if changes.is_empty() {
            return Vec::new();
        }
        // Passages that cannot be read are made anew.
        let mut stored = self.store.passages(changes.keys().copied().collect(), deadline).await.unwrap_or_default();
        let (now, mut records) = (self.clock.now(), Vec::new());
        for (id, MemoryChange { after, .. }) in changes {
            let passages = with_more(stored.remove(&id).unwrap_or_default(), more.remove(&id).unwrap_or_default());
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
