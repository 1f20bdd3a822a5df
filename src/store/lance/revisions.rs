//! Which record of an id counts: the one of the highest revision, within a batch and against the tables.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use reasoning_bank_actors::ports::{Batch, Record, StoreError};
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::workspace::WorkspaceId;

use super::read;
use super::rows::stored_memory;
use super::tables::{TableName, Tables};

/// Ids are unique within a table.
pub(super) type Key = (TableName, String);

pub(super) fn key(record: &Record) -> Key {
    match record {
        Record::Workspace(workspace) => (TableName::Workspaces, workspace.id.to_string()),
        Record::Trace(trace) => (TableName::Traces, trace.trace_id.to_string()),
        Record::Memory { memory, .. } | Record::Revision { memory, .. } => (TableName::Memories, memory.id.to_string()),
        Record::Signal(signal) => (TableName::Signals, signal.id.to_string()),
    }
}

fn revision(record: &Record) -> u32 {
    match record {
        Record::Workspace(workspace) => workspace.revision,
        Record::Memory { memory, .. } | Record::Revision { memory, .. } => memory.revision,
        Record::Trace(_) | Record::Signal(_) => 0,
    }
}

/// Of each id the record of the highest revision, and the first of equal ones.
pub(super) fn newest(batch: Batch) -> Batch {
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut kept: Batch = Vec::with_capacity(batch.len());
    for record in batch {
        match places.entry(key(&record)) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(record);
            }
            Entry::Occupied(place) => {
                let known = &mut kept[*place.get()];
                if revision(&record) > revision(known) {
                    *known = record;
                }
            }
        }
    }
    kept
}

/// How a record that is replayed stands to the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// A later revision is stored.
    Outdated,
    /// This one is stored, perhaps not yet with all its passages, or nothing of it is.
    AsStored,
    /// An earlier revision is stored.
    Ahead,
}

/// Where the tables stand with the memories and workspaces of a batch.
pub(super) struct Stored {
    memories: HashMap<MemoryId, u32>,
    workspaces: HashMap<WorkspaceId, u32>,
}

impl Stored {
    pub(super) async fn read(tables: &Tables, batch: &[Record]) -> Result<Self, StoreError> {
        let ids: Vec<MemoryId> = batch.iter().filter_map(|record| Some(stored_memory(record)?.0.id)).collect();
        let (memories, workspaces) =
            tokio::try_join!(read::memories(tables, &ids), workspace_revisions(tables, batch.iter()))?;
        Ok(Self { memories: memories.into_iter().map(|memory| (memory.id, memory.revision)).collect(), workspaces })
    }

    pub(super) fn standing(&self, record: &Record) -> Standing {
        let stored = match record {
            Record::Memory { memory, .. } | Record::Revision { memory, .. } => self.memories.get(&memory.id),
            Record::Workspace(workspace) => self.workspaces.get(&workspace.id),
            Record::Trace(_) | Record::Signal(_) => None,
        };
        match stored.map(|stored| stored.cmp(&revision(record))) {
            Some(Ordering::Greater) => Standing::Outdated,
            Some(Ordering::Less) => Standing::Ahead,
            Some(Ordering::Equal) | None => Standing::AsStored,
        }
    }
}

/// What is stored of the workspaces among these records.
pub(super) async fn workspace_revisions(
    tables: &Tables,
    records: impl Iterator<Item = &Record>,
) -> Result<HashMap<WorkspaceId, u32>, StoreError> {
    let ids: HashSet<&WorkspaceId> =
        records.filter_map(|r| if let Record::Workspace(workspace) = r { Some(&workspace.id) } else { None }).collect();
    let workspaces = read::workspaces(tables, ids).await?;
    Ok(workspaces.into_iter().map(|workspace| (workspace.id, workspace.revision)).collect())
}
