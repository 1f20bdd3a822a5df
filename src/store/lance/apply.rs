//! Applying frames to the tables, and replaying journals.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatchIterator;
use lancedb::Table;
use reasoning_bank_actors::ports::{Batch, EraseScope, Record, StoreError};
use reasoning_bank_domain::memory::Scope;

use super::journal::{self, Erasures, Frame};
use super::rows::{self, Rows};
use super::tables::Tables;
use super::{Shared, blocking, failed};

/// Inserts what is not there yet. The order of the tables is such that a reader never meets a passage without its
/// memory.
pub(super) async fn apply(tables: &Tables, rows: Vec<Rows>) -> Result<(), StoreError> {
    for rows in rows {
        insert_absent(tables.get(rows.table), rows).await?;
    }
    Ok(())
}

async fn insert_absent(table: &Table, rows: Rows) -> Result<(), StoreError> {
    let mut merge = table.merge_insert(&["id"]);
    // through an index on the key the check against a writer that inserts the same key at the same time is skipped
    merge.when_not_matched_insert_all().use_index(false);
    let schema = rows.batch.schema();
    let reader = RecordBatchIterator::new([Ok(rows.batch)], schema);
    merge.execute(Box::new(reader)).await.map(drop).map_err(failed)
}

/// Applies all frames of these journals, except what was erased after they were written.
pub(super) async fn replay(shared: &Shared, journals: Vec<PathBuf>) -> Result<usize, StoreError> {
    let erasures = Erasures::read(&shared.layout).await?;
    let mut replayed = 0;
    for path in journals {
        let frames = blocking(move || read_if_there(&path)).await?.map_err(failed)?;
        replayed += frames.len();
        let batch = frames.into_iter().flat_map(|frame| surviving(frame, &erasures)).collect::<Batch>();
        apply(&shared.tables, rows::encode(&without_repeats(batch), shared.dims)?).await?;
    }
    Ok(replayed)
}

fn read_if_there(path: &Path) -> std::io::Result<Vec<Frame>> {
    if path.exists() { journal::read(path) } else { Ok(Vec::new()) }
}

fn surviving(frame: Frame, erasures: &Erasures) -> Batch {
    let erased = erasures.pending.as_ref().filter(|_| frame.erasures < erasures.count);
    let survives = |record: &Record| erased.is_none_or(|scope| !concerns(scope, record));
    frame.batch.into_iter().filter(survives).collect()
}

/// Whether an erasure removes this record.
fn concerns(scope: &EraseScope, record: &Record) -> bool {
    match (scope, record) {
        (EraseScope::Memory(id), Record::Memory { memory, .. }) => memory.id == *id,
        (EraseScope::Memory(id), Record::Signal(signal)) => signal.memory_id == *id,
        (EraseScope::Memory(_), Record::Workspace(_) | Record::Trace(_)) => false,
        (EraseScope::Workspace(id), Record::Memory { memory, .. }) => {
            memory.workspace_id == *id && memory.scope == Scope::Project
        }
        (EraseScope::Workspace(id), Record::Signal(signal)) => signal.workspace_id == *id,
        (EraseScope::Workspace(id), Record::Trace(trace)) => trace.metadata.workspace_id == *id,
        (EraseScope::Workspace(id), Record::Workspace(workspace)) => workspace.id == *id,
    }
}

/// The first record of each id: an insert of several rows with one id would insert them all.
pub(super) fn without_repeats(batch: Batch) -> Batch {
    let mut seen = std::collections::HashSet::new();
    let key = |record: &Record| match record {
        Record::Workspace(workspace) => (0, workspace.id.to_string()),
        Record::Trace(trace) => (1, trace.trace_id.to_string()),
        Record::Memory { memory, .. } => (2, memory.id.to_string()),
        Record::Signal(signal) => (3, signal.id.to_string()),
    };
    batch.into_iter().filter(|record| seen.insert(key(record))).collect()
}
