//! The rule that says which record of an id counts: the record of the highest revision, within a batch and against the
//! tables.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use futures::future::try_join_all;
use reasoning_bank_actors::ports::{Batch, Record, StoreError};
use serde::Deserialize;

use crate::lance::errors::failed;
use crate::lance::tables::{TableName, Tables, read, rows};

/// The key of a record: its table and its id, which is unique within the table.
type RecordKey = (TableName, String);

fn key(record: &Record) -> RecordKey {
    match record {
        Record::Workspace(workspace) => (TableName::Workspaces, workspace.id.to_string()),
        Record::Trace(trace) | Record::Verdict(trace) => (TableName::Traces, trace.trace_id.to_string()),
        Record::Memory { memory, .. } | Record::Revision { memory, .. } => (TableName::Memories, memory.id.to_string()),
        Record::Signal(signal) => (TableName::Signals, signal.id.to_string()),
        Record::Job(job) => (TableName::Jobs, job.id.to_string()),
        Record::Request(request) => (TableName::Requests, request.id.to_string()),
        Record::EpisodeState(state) => (TableName::EpisodeState, state.episode_id.to_string()),
        Record::EpisodeVectors(vectors) => (TableName::EpisodeVectors, vectors.episode_id.to_string()),
        Record::History(entry) => (TableName::History, entry.id.to_string()),
    }
}

fn revision(record: &Record) -> u64 {
    match record {
        Record::Workspace(workspace) => workspace.revision,
        Record::Trace(trace) | Record::Verdict(trace) => trace.revision,
        Record::Memory { memory, .. } | Record::Revision { memory, .. } => memory.revision,
        Record::Job(job) => u64::from(job.revision),
        Record::Request(request) => request.revision,
        Record::EpisodeState(state) => state.revision,
        Record::EpisodeVectors(vectors) => vectors.revision,
        Record::History(entry) => entry.revision,
        Record::Signal(_) => 0,
    }
}

/// Keeps the record of the highest revision for each id, and the first of equal ones.
pub(super) fn newest(batch: Batch) -> Batch {
    let mut places: HashMap<RecordKey, usize> = HashMap::new();
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

/// The order between a record that is replayed and what the tables have of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RevisionOrder {
    /// A later revision is stored.
    Outdated,
    /// This revision is stored, perhaps not yet with all its passages, or nothing of the record is.
    AsStored,
    /// An earlier revision is stored.
    Ahead,
}

/// The revisions of some records that are stored.
pub(super) struct StoredRevisions(HashMap<RecordKey, u64>);

/// The part of a body that says which revision it is. A body without a revision is never revised.
#[derive(Deserialize)]
struct StoredBody {
    #[serde(default)]
    revision: u64,
}

impl StoredRevisions {
    /// Reads the stored revisions of those records that belong to one of these tables.
    pub(super) async fn read(
        tables: &Tables,
        of: &[TableName],
        records: impl Iterator<Item = &Record>,
    ) -> Result<Self, StoreError> {
        let mut asked: HashMap<TableName, Vec<String>> = HashMap::new();
        for (table, id) in records.map(key).filter(|(table, _)| of.contains(table)) {
            asked.entry(table).or_default().push(id);
        }
        let find = async |(table, ids): (TableName, Vec<String>)| {
            if table == TableName::Signals {
                // signals are never revised
                let present = read::present(tables.get(table), ids).await?;
                return Ok(present.into_iter().map(|id| ((table, id), 0)).collect());
            }
            let found = read::select_these(tables.get(table), "id", ids, &["id", "body"]).await?;
            let bodies = rows::text_column(&found, "id").zip(rows::text_column(&found, "body"));
            let entry = |(id, body): (&str, &str)| {
                let StoredBody { revision } = serde_json::from_str(body).map_err(failed)?;
                Ok(((table, id.to_owned()), revision))
            };
            bodies.map(entry).collect::<Result<Vec<(RecordKey, u64)>, StoreError>>()
        };
        Ok(Self(try_join_all(asked.into_iter().map(find)).await?.into_iter().flatten().collect()))
    }

    /// Tells whether nothing of the record is stored, or only an earlier revision.
    pub(super) fn lacks(&self, record: &Record) -> bool {
        self.0.get(&key(record)).is_none_or(|stored| *stored < revision(record))
    }

    pub(super) fn standing(&self, record: &Record) -> RevisionOrder {
        match self.0.get(&key(record)).map(|stored| stored.cmp(&revision(record))) {
            Some(Ordering::Greater) => RevisionOrder::Outdated,
            Some(Ordering::Less) => RevisionOrder::Ahead,
            Some(Ordering::Equal) | None => RevisionOrder::AsStored,
        }
    }
}
