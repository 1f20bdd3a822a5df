//! What becomes of the memories of a batch: new, already stored, or the same as one that is. Decided while the write
//! lock is held, over the batch and the newest version of the table, so that two writers never both add the same.

use std::collections::{HashMap, HashSet};

use futures::future::try_join_all;
use reasoning_bank_actors::ports::{Batch, Committed, MemoryCommit, Record, StoreError};
use reasoning_bank_domain::confidence::{Signal, SignalKind};
use reasoning_bank_domain::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::{Memory, Status};

use super::tables::{TableName, Tables};
use super::{failed, filter, read, rows};

/// Memories that are stored, or will be by the batches resolved so far.
#[derive(Default)]
struct Known {
    ids: HashSet<MemoryId>,
    /// Of active memories.
    by_duplicate_key: HashMap<String, MemoryId>,
}

/// For every batch what it comes to, and all records that are not stored yet, each once.
pub(super) async fn resolve(tables: &Tables, batches: Vec<Batch>) -> Result<(Vec<Committed>, Batch), StoreError> {
    let asked = || batches.iter().flatten();
    let (mut known, mut stored) = tokio::try_join!(Known::read(tables, asked()), stored_ids(tables, asked()))?;
    let mut records = Vec::new();
    let mut confirmations = Vec::new();
    let mut committed = Vec::new();
    for batch in batches {
        let mut outcome = Committed::default();
        for record in batch {
            let Record::Memory { memory, passages, confirm } = record else {
                records.push(record);
                continue;
            };
            let (what, stored_before) = known.decide(&memory, confirm.is_some());
            outcome.memories.push(what);
            match what {
                MemoryCommit::Created(_) if stored_before => {}
                MemoryCommit::Created(_) => records.push(Record::Memory { memory, passages, confirm }),
                MemoryCommit::Reinforced(existing) => {
                    let confirmation = confirm.map(|id| Record::Signal(confirmation(id, existing, &memory)));
                    confirmations.extend(confirmation);
                }
            }
        }
        committed.push(outcome);
    }
    stored.extend(stored_ids(tables, confirmations.iter()).await?);
    records.append(&mut confirmations);
    records.retain(|record| stored.insert(key(record)));
    Ok((committed, records))
}

/// Ids are unique within a table.
type Key = (TableName, String);

fn key(record: &Record) -> Key {
    match record {
        Record::Workspace(workspace) => (TableName::Workspaces, workspace.id.to_string()),
        Record::Trace(trace) => (TableName::Traces, trace.trace_id.to_string()),
        Record::Memory { memory, .. } | Record::Revision { memory, .. } => (TableName::Memories, memory.id.to_string()),
        Record::Signal(signal) => (TableName::Signals, signal.id.to_string()),
    }
}

/// The first record of each id: an insert of several rows with one id would insert them all.
pub(super) fn without_repeats(mut batch: Batch) -> Batch {
    let mut seen = HashSet::new();
    batch.retain(|record| seen.insert(key(record)));
    batch
}

/// Which of these records are stored, memories aside.
async fn stored_ids(tables: &Tables, records: impl Iterator<Item = &Record>) -> Result<HashSet<Key>, StoreError> {
    let mut asked: HashMap<TableName, Vec<String>> = HashMap::new();
    for (table, id) in records.map(key).filter(|(table, _)| *table != TableName::Memories) {
        asked.entry(table).or_default().push(id);
    }
    let find = async |(table, ids): (TableName, Vec<String>)| {
        let found = read::select(tables.get(table), Some(filter::one_of("id", ids)), &["id"]).await?;
        Ok::<_, StoreError>(rows::text_column(&found, "id").map(|id| (table, id.to_owned())).collect::<Vec<_>>())
    };
    Ok(try_join_all(asked.into_iter().map(find)).await?.into_iter().flatten().collect())
}

impl Known {
    async fn read<'a>(tables: &Tables, records: impl Iterator<Item = &'a Record>) -> Result<Self, StoreError> {
        let mut known = Self::default();
        let memories: Vec<&Memory> =
            records.filter_map(|r| if let Record::Memory { memory, .. } = r { Some(memory) } else { None }).collect();
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

    /// What comes of it, and whether it was stored before.
    fn decide(&mut self, memory: &Memory, may_confirm: bool) -> (MemoryCommit, bool) {
        if self.ids.contains(&memory.id) {
            return (MemoryCommit::Created(memory.id), true);
        }
        let active = memory.status == Status::Active;
        let key = memory.duplicate_key();
        if let Some(existing) = self.by_duplicate_key.get(&key).filter(|_| active && may_confirm) {
            return (MemoryCommit::Reinforced(*existing), false);
        }
        self.add(memory.id, key, active);
        (MemoryCommit::Created(memory.id), false)
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
        session: None,
        comment: None,
    }
}
