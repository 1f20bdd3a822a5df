//! What becomes of the memories of a batch: new, already stored, or the same as one that is. Decided while the write
//! lock is held, over the batch and the newest version of the table, so that two writers never both add the same.

use std::collections::HashMap;

use reasoning_bank_actors::ports::{Batch, Committed, MemoryCommit, Record, StoreError};
use reasoning_bank_domain::confidence::{Signal, SignalKind};
use reasoning_bank_domain::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::{Memory, Status};

use super::tables::Tables;
use super::{failed, filter, read, rows};

/// Memories that are stored, or will be by the batches resolved so far.
#[derive(Default)]
struct Known {
    ids: std::collections::HashSet<MemoryId>,
    /// Of active memories.
    by_duplicate_key: HashMap<String, MemoryId>,
}

/// For every batch what it comes to, and all records that are to be inserted.
pub(super) async fn resolve(
    tables: &Tables,
    batches: impl IntoIterator<Item = Batch>,
) -> Result<(Vec<Committed>, Batch), StoreError> {
    let batches: Vec<Batch> = batches.into_iter().collect();
    let mut known = Known::read(tables, batches.iter().flatten()).await?;
    let mut records = Vec::new();
    let mut committed = Vec::new();
    for batch in batches {
        let mut outcome = Committed::default();
        for record in batch {
            let Record::Memory { memory, passages, confirm } = record else {
                records.push(record);
                continue;
            };
            let commit = known.decide(&memory);
            outcome.memories.push(commit.what);
            match commit.what {
                MemoryCommit::Created(_) if commit.stored_before => {}
                MemoryCommit::Created(_) => records.push(Record::Memory { memory, passages, confirm }),
                MemoryCommit::Reinforced(existing) => {
                    records.push(Record::Signal(confirmation(confirm, existing, &memory)));
                }
            }
        }
        committed.push(outcome);
    }
    Ok((committed, records))
}

struct Decision {
    what: MemoryCommit,
    stored_before: bool,
}

impl Known {
    async fn read<'a>(tables: &Tables, records: impl Iterator<Item = &'a Record>) -> Result<Self, StoreError> {
        let mut known = Self::default();
        let memories: Vec<&Memory> =
            records.filter_map(|r| if let Record::Memory { memory, .. } = r { Some(&*memory) } else { None }).collect();
        if memories.is_empty() {
            return Ok(known);
        }
        let same_id = filter::one_of("id", memories.iter().map(|memory| memory.id.to_string()));
        let same_text = filter::one_of("duplicate_key", memories.iter().map(|memory| memory.duplicate_key()));
        let columns = ["id", "duplicate_key", "status"];
        let found = read::select(&tables.memories, Some(same_id.or(same_text)), &columns).await?;
        let keys = rows::text_column(&found, "duplicate_key").zip(rows::text_column(&found, "status"));
        for (id, (key, status)) in rows::text_column(&found, "id").zip(keys) {
            known.add(id.parse().map_err(failed)?, key.to_owned(), status == Status::Active.as_str());
        }
        Ok(known)
    }

    fn add(&mut self, id: MemoryId, duplicate_key: String, active: bool) {
        self.ids.insert(id);
        if active {
            self.by_duplicate_key.entry(duplicate_key).or_insert(id);
        }
    }

    fn decide(&mut self, memory: &Memory) -> Decision {
        if self.ids.contains(&memory.id) {
            return Decision { what: MemoryCommit::Created(memory.id), stored_before: true };
        }
        let active = memory.status == Status::Active;
        let key = memory.duplicate_key();
        if let Some(existing) = self.by_duplicate_key.get(&key).filter(|_| active) {
            return Decision { what: MemoryCommit::Reinforced(*existing), stored_before: true };
        }
        self.add(memory.id, key, active);
        Decision { what: MemoryCommit::Created(memory.id), stored_before: false }
    }
}

fn confirmation(id: SignalId, existing: MemoryId, memory: &Memory) -> Signal {
    Signal {
        id,
        memory_id: existing,
        workspace_id: memory.workspace_id.clone(),
        kind: SignalKind::Confirmed,
        at: memory.created_at,
        trace_id: memory.trace_id,
        comment: None,
    }
}
