//! A lesson that confirms a memory brings its sources along, and the task that it was learned from. Which sources can
//! be merged is `domain::evidence::genealogy`'s rule.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use reasoning_bank_domain::evidence::genealogy::{Lineage, cyclic_sources, merge_sources};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;

use super::MemoriesHandle;
use super::compare::PreparedLesson;
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{Batch, Record};
use crate::runtime::Deadline;

/// Nobody waits longer than this for the merging, nor for taking it back, because the confirmation itself is stored.
const LIMIT: Duration = Duration::from_secs(2);

/// The id that a lesson would be stored under, and what it came from.
pub(super) struct LessonSources {
    own: MemoryId,
    origin: Origin,
}

#[derive(Default)]
struct Origin {
    sources: Vec<MemoryId>,
    tasks: Vec<String>,
}

impl LessonSources {
    pub(super) fn of(prepared: &PreparedLesson) -> Self {
        let memory = prepared.memory();
        Self {
            own: memory.id,
            origin: Origin { sources: prepared.sources().to_vec(), tasks: memory.search_texts().tasks },
        }
    }
}

/// The memories that were confirmed, each with what its lessons bring.
type Confirmed = BTreeMap<MemoryId, Origin>;

struct Merged {
    before: Memory,
    after: Memory,
}

impl MemoriesHandle {
    /// Adds the sources and the tasks of lessons to the memories that they confirmed. `kept` names, for each lesson,
    /// the memory that it became or confirmed. This is best effort: what cannot be done now is left undone and logged.
    pub(super) async fn merge_sources(&self, lessons: Vec<LessonSources>, kept: Vec<MemoryId>, deadline: Deadline) {
        let mut confirmed = Confirmed::new();
        for (lesson, kept) in lessons.into_iter().zip(kept).filter(|(lesson, kept)| lesson.own != *kept) {
            let origin = confirmed.entry(kept).or_default();
            origin.sources.extend(lesson.origin.sources.into_iter().filter(|source| *source != kept));
            origin.tasks.extend(lesson.origin.tasks);
        }
        if let Err(error) = self.merge_all(&confirmed, deadline).await {
            tracing::debug!(code = error.code().as_str(), "the sources of a confirmed memory were not merged");
        }
    }

    async fn merge_all(&self, confirmed: &Confirmed, deadline: Deadline) -> Result<(), Error> {
        let (merging, breaking) = (deadline.at_most(LIMIT), deadline.at_most(LIMIT + LIMIT));
        let made = retry_on_conflict(|_| self.merge(confirmed, merging)).await?;
        retry_on_conflict(|_| self.break_cycles(&made, breaking)).await
    }

    async fn merge(&self, confirmed: &Confirmed, deadline: Deadline) -> Result<Vec<Merged>, Error> {
        let sources = confirmed.iter().filter(|(_, origin)| !origin.sources.is_empty() || !origin.tasks.is_empty());
        let concerned: BTreeSet<MemoryId> =
            sources.flat_map(|(id, origin)| origin.sources.iter().chain([id])).copied().collect();
        let rows = if concerned.is_empty() {
            Vec::new()
        } else {
            self.store.get(concerned.into_iter().collect(), deadline).await?
        };
        let mut memories: BTreeMap<MemoryId, Memory> =
            rows.into_iter().map(|row| (row.memory.id, row.memory)).collect();
        // Mostly there is nothing new. Finding that out needs no look at the relations of the whole bank.
        let nothing = Lineage::default();
        if !confirmed.iter().any(|(id, origin)| with_origin(*id, origin, &memories, &nothing).is_some()) {
            return Ok(Vec::new());
        }
        let mut lineage = self.lineage(deadline).await?;
        let (mut batch, mut made) = (Batch::new(), Vec::new());
        for (id, origin) in confirmed {
            let Some(after) = with_origin(*id, origin, &memories, &lineage) else { continue };
            let Some(before) = memories.remove(id) else { continue };
            let (after, passages) = self.with_passages(self.next(after), &before, deadline).await?;
            lineage.add(*id, after.sources().collect());
            memories.insert(*id, after.clone());
            batch.push(Record::Revision { memory: after.clone(), passages });
            made.push(Merged { before, after });
        }
        if !batch.is_empty() {
            self.store.commit(batch, deadline).await?;
        }
        Ok(made)
    }

    /// Takes back merged sources that close a cycle. Another process may have merged others since the relations were
    /// read, so that a memory comes from itself now. The process that stored last sees that, and takes its own part
    /// back. The stage of the memory stays.
    async fn break_cycles(&self, made: &[Merged], deadline: Deadline) -> Result<(), Error> {
        if made.is_empty() {
            return Ok(());
        }
        let lineage = self.lineage(deadline).await?;
        let found = made.iter().map(|Merged { before, after }| (after.id, cyclic_sources(before, after, &lineage)));
        let cycles: BTreeMap<MemoryId, Vec<MemoryId>> = found.filter(|(_, sources)| !sources.is_empty()).collect();
        if cycles.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new();
        for row in self.store.get(cycles.keys().copied().collect(), deadline).await? {
            let before = row.memory;
            let mut after = before.clone();
            after.derived_from.retain(|source| !cycles.get(&before.id).is_some_and(|of| of.contains(source)));
            if after != before {
                let (memory, passages) = self.with_passages(self.next(after), &before, deadline).await?;
                batch.push(Record::Revision { memory, passages });
            }
        }
        if !batch.is_empty() {
            self.store.commit(batch, deadline).await?;
        }
        Ok(())
    }

    fn next(&self, memory: Memory) -> Memory {
        memory.revised(self.clock.now())
    }
}

/// Returns the memory with what the lessons bring, or None where it has all of that.
fn with_origin(
    id: MemoryId,
    origin: &Origin,
    memories: &BTreeMap<MemoryId, Memory>,
    lineage: &Lineage,
) -> Option<Memory> {
    let sources: Vec<&Memory> = origin.sources.iter().filter_map(|source| memories.get(source)).collect();
    let before = memories.get(&id)?;
    let mut after = merge_sources(before, &sources, lineage).unwrap_or_else(|| before.clone());
    origin.tasks.iter().for_each(|task| after.add_task(task.clone()));
    (after != *before).then_some(after)
}
