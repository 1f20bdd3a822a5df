//! A lesson that confirms a memory brings its sources along. The rule is `domain::genealogy`'s.

use std::time::Duration;

use reasoning_bank_domain::genealogy::joined;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::Memory;

use super::MemoriesHandle;
use super::learn::ToLearn;
use crate::error::Error;
use crate::ports::{Record, StoreError};
use crate::runtime::Deadline;

/// Others who change the same memory at the same time.
const TRIES: usize = 3;
/// Nobody waits longer for it: the confirmation itself is stored.
const LIMIT: Duration = Duration::from_secs(2);

/// What a lesson would be stored as, and what it came from.
pub(super) struct Brought {
    own: MemoryId,
    sources: Vec<MemoryId>,
}

impl Brought {
    pub(super) fn by(to_learn: &ToLearn) -> Self {
        let memory = to_learn.memory();
        Self { own: memory.id, sources: memory.derived_from.clone() }
    }
}

impl MemoriesHandle {
    /// For each lesson that became the memory `kept` instead of its own. Best effort: what cannot be done now is left
    /// undone, and said in the log.
    pub(super) async fn join_sources(&self, lessons: Vec<Brought>, kept: Vec<MemoryId>, deadline: Deadline) {
        let deadline = deadline.at_most(LIMIT);
        for (lesson, kept) in lessons.into_iter().zip(kept) {
            if kept == lesson.own || lesson.sources.iter().all(|source| *source == kept) {
                continue;
            }
            if let Err(error) = self.join(kept, &lesson.sources, deadline).await {
                tracing::debug!(code = error.code(), "the sources of a confirmed memory were not joined");
            }
        }
    }

    async fn join(&self, id: MemoryId, sources: &[MemoryId], deadline: Deadline) -> Result<(), Error> {
        let lineage = self.lineage(deadline).await?;
        for _ in 0..TRIES {
            let ids = std::iter::once(id).chain(sources.iter().copied().filter(|source| *source != id)).collect();
            let rows = self.store.get(ids, deadline).await?;
            let Some(existing) = rows.iter().map(|row| &row.memory).find(|memory| memory.id == id) else {
                return Ok(());
            };
            let others: Vec<&Memory> = rows.iter().map(|row| &row.memory).filter(|memory| memory.id != id).collect();
            let Some(changed) = joined(existing, &others, &lineage) else { return Ok(()) };
            let changed = Memory { revision: existing.revision + 1, updated_at: self.clock.now(), ..changed };
            let (memory, passages) = self.with_passages(changed, existing, deadline).await?;
            match self.store.commit(vec![Record::Revision { memory, passages }], deadline).await {
                Err(Error::Store(StoreError::Conflict(_))) => {}
                other => return other.map(drop),
            }
        }
        Err(StoreError::Conflict(id).into())
    }
}
