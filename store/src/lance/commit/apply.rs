//! Applying records to the tables: once when they are new, or again when journals are replayed (`replay`). The order of
//! the tables is such that a reader never meets a passage without its memory.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use arrow_array::RecordBatchIterator;
use futures::future::try_join_all;
use lance::Dataset;
use lance::dataset::transaction::Transaction;
use lance::dataset::{CommitBuilder, InsertBuilder, WriteMode, WriteParams};
use lancedb::expr::DfExpr;
use lancedb::table::merge::MergeInsertBuilder;
use reasoning_bank_actors::ports::{Passage, Record, StoreError};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;

use super::revisions::{RevisionOrder, StoredRevisions};
use crate::lance::errors::failed;
use crate::lance::tables::recent_rows::RecentRows;
use crate::lance::tables::rows::{self, TableRows};
use crate::lance::tables::{TableName, Tables, Versions, dataset, filter};

/// The number of memories whose passages are looked through at once.
const REVISED_AT_ONCE: usize = 256;

/// The tables whose rows are replaced by later revisions, in the order in which they are replaced.
const REVISED: [TableName; 8] = [
    TableName::Workspaces,
    TableName::Traces,
    TableName::Memories,
    TableName::Jobs,
    TableName::Requests,
    TableName::EpisodeState,
    TableName::EpisodeVectors,
    TableName::History,
];

/// The tables that owner indexes are filled from.
const INDEXED: [TableName; 3] = [TableName::Memories, TableName::Passages, TableName::Signals];

/// Everything that a frame does to the tables. What could be wrong with its records shows when the plan is made.
pub(in crate::lance) struct WritePlan {
    replaced: Vec<TableRows>,
    appended: Vec<TableRows>,
    revised: Vec<RevisedMemory>,
}

/// A plan whose new rows are in files that no version of a table has yet.
pub(in crate::lance) struct Written {
    replaced: Vec<TableRows>,
    appended: Vec<Appended>,
    revised: Vec<RevisedMemory>,
}

/// New rows of a table, and the transaction that makes them its next version.
struct Appended {
    table: TableName,
    dataset: Arc<Dataset>,
    transaction: Transaction,
}

/// A memory that was revised, and the ids of the passages that it has now.
struct RevisedMemory {
    memory: MemoryId,
    passages: Vec<String>,
}

impl RevisedMemory {
    fn of(memory: &Memory, passages: &[Passage]) -> Self {
        Self { memory: memory.id, passages: passages.iter().map(|passage| rows::passage_id(memory, passage)).collect() }
    }
}

impl WritePlan {
    /// Makes the plan for records of which the stored state is known: it was looked up, and the write lock has been
    /// held since then.
    pub(in crate::lance) fn new(batch: &[Record], dims: usize) -> Result<Self, StoreError> {
        let all: Vec<&Record> = batch.iter().collect();
        let (changed, new): (Vec<&Record>, Vec<&Record>) = batch.iter().partition(|record| may_be_stored(record));
        let encode = |parts: &[(TableName, &[&Record])]| -> Result<Vec<TableRows>, StoreError> {
            let rows = parts.iter().map(|(table, records)| rows::encode(*table, records, dims));
            rows.filter_map(Result::transpose).collect()
        };
        Ok(Self {
            replaced: encode(&[
                (TableName::Workspaces, &all),
                (TableName::Traces, &changed),
                (TableName::Memories, &changed),
                (TableName::Jobs, &changed),
                (TableName::Requests, &changed),
                (TableName::EpisodeState, &all),
                (TableName::EpisodeVectors, &all),
                (TableName::History, &all),
            ])?,
            appended: encode(&[
                (TableName::Traces, &new),
                (TableName::Memories, &new),
                (TableName::Passages, &all),
                (TableName::Signals, &all),
                (TableName::Jobs, &new),
                (TableName::Requests, &new),
            ])?,
            revised: revised(&changed),
        })
    }

    /// Writes the new rows of all tables at the same time. That is most of the work, and no reader sees anything of it.
    pub(in crate::lance) async fn write(self, tables: &Tables, recent: &RecentRows) -> Result<Written, StoreError> {
        let appended = self.appended.into_iter().map(|rows| Appended::write(tables, recent, rows));
        let (replaced, revised) = (self.replaced, self.revised);
        Ok(Written { replaced, appended: try_join_all(appended).await?, revised })
    }
}

impl Appended {
    async fn write(tables: &Tables, recent: &RecentRows, rows: TableRows) -> Result<Self, StoreError> {
        let dataset = dataset::newest(tables.get(rows.table)).await?;
        let append = WriteParams { mode: WriteMode::Append, ..WriteParams::default() };
        let insert = InsertBuilder::new(Arc::clone(&dataset)).with_params(&append);
        let transaction = insert.execute_uncommitted(vec![rows.batch.clone()]).await.map_err(failed)?;
        if INDEXED.contains(&rows.table) {
            recent.note(&transaction, &rows.batch);
        }
        Ok(Self { table: rows.table, dataset, transaction })
    }
}

impl Written {
    /// Returns the versions that the tables have before the plan changes them. The write lock must be held.
    pub(in crate::lance) async fn before(&self, tables: &Tables) -> Result<Versions, StoreError> {
        let known = self.appended.iter().map(|appended| (appended.table, appended.dataset.version_id()));
        let mut before: Versions = known.collect();
        let passages = (!self.revised.is_empty()).then_some(TableName::Passages);
        for table in self.replaced.iter().map(|rows| rows.table).chain(passages) {
            if let Entry::Vacant(unknown) = before.entry(table) {
                unknown.insert(dataset::newest(tables.get(table)).await?.version_id());
            }
        }
        Ok(before)
    }

    /// Makes the next versions of the tables. The write lock must be held.
    pub(in crate::lance) async fn publish(self, tables: &Tables) -> Result<(), StoreError> {
        for rows in self.replaced {
            match rows.table {
                // any of these may be new
                TableName::Workspaces | TableName::EpisodeState | TableName::EpisodeVectors | TableName::History => {
                    replace(tables, rows).await?;
                }
                _ => replace_stored(tables, rows).await?,
            }
        }
        for Appended { table, dataset, transaction } in self.appended {
            let newest = CommitBuilder::new(dataset).execute(transaction).await.map_err(failed)?;
            // the next read need not look at the disk
            if let Some(known) = tables.get(table).dataset() {
                known.update(newest);
            }
        }
        remove_stale_passages(tables, &self.revised).await
    }
}

/// Tells whether an earlier revision of the record may be in the tables.
fn may_be_stored(record: &Record) -> bool {
    match record {
        Record::Revision { .. } | Record::Verdict(_) => true,
        Record::Job(job) => job.revision > 0,
        Record::Request(request) => request.revision > 0,
        Record::Workspace(_)
        | Record::Trace(_)
        | Record::Memory { .. }
        | Record::Signal(_)
        | Record::EpisodeState(_)
        | Record::EpisodeVectors(_)
        | Record::History(_) => false,
    }
}

fn revised(records: &[&Record]) -> Vec<RevisedMemory> {
    let memories = records.iter().filter_map(|record| rows::stored_memory(record));
    memories.map(|(memory, passages)| RevisedMemory::of(memory, passages)).collect()
}

/// Applies records of which some may be in some of the tables. Where all are there, nothing changes. This takes several
/// times the work of a plan.
pub(super) async fn apply_again(tables: &Tables, batch: &[Record], dims: usize) -> Result<(), StoreError> {
    let stored = StoredRevisions::read(tables, &REVISED, batch.iter()).await?;
    let standing = |record: &&Record| stored.standing(record);
    let current: Vec<&Record> = batch.iter().filter(|record| standing(record) != RevisionOrder::Outdated).collect();
    let ahead: Vec<&Record> =
        current.iter().copied().filter(|record| standing(record) == RevisionOrder::Ahead).collect();
    for table in REVISED {
        if let Some(rows) = rows::encode(table, &ahead, dims)? {
            replace(tables, rows).await?;
        }
    }
    for table in TableName::ALL {
        if let Some(rows) = rows::encode(table, &current, dims)? {
            insert_absent(tables, rows).await?;
        }
    }
    remove_stale_passages(tables, &revised(&current)).await
}

/// Inserts the rows that are absent, and leaves the others as they are.
async fn insert_absent(tables: &Tables, rows: TableRows) -> Result<(), StoreError> {
    let mut merge = tables.get(rows.table).merge_insert(&["id"]);
    merge.when_not_matched_insert_all();
    run(merge, rows).await
}

/// Replaces rows, and inserts those that are absent.
pub(in crate::lance) async fn replace(tables: &Tables, rows: TableRows) -> Result<(), StoreError> {
    let mut merge = tables.get(rows.table).merge_insert(&["id"]);
    merge.when_matched_update_all(None).when_not_matched_insert_all();
    run(merge, rows).await
}

/// Replaces rows that are known to be there. Nothing is inserted that another writer could insert as well, so the rows
/// are found by the index on the key: in 9 ms among a million rows, where reading all keys takes 60.
async fn replace_stored(tables: &Tables, rows: TableRows) -> Result<(), StoreError> {
    let mut merge = tables.get(rows.table).merge_insert(&["id"]);
    merge.when_matched_update_all(None).use_index(true);
    execute(merge, rows).await
}

async fn run(mut merge: MergeInsertBuilder, rows: TableRows) -> Result<(), StoreError> {
    // a merge through an index on the key skips the check against a writer that inserts the same key at the same time
    merge.use_index(false);
    execute(merge, rows).await
}

async fn execute(merge: MergeInsertBuilder, rows: TableRows) -> Result<(), StoreError> {
    let schema = rows.batch.schema();
    let reader = RecordBatchIterator::new([Ok(rows.batch)], schema);
    merge.execute(Box::new(reader)).await.map(drop).map_err(failed)
}

/// Removes the passages of earlier revisions. Those of the new one are there already, so a search finds the memory all
/// the time.
async fn remove_stale_passages(tables: &Tables, revised: &[RevisedMemory]) -> Result<(), StoreError> {
    for revised in revised.chunks(REVISED_AT_ONCE) {
        let of_these = filter::one_of("memory_id", revised.iter().map(|revised| revised.memory.to_string()));
        let current: Vec<String> = revised.iter().flat_map(|revised| revised.passages.iter().cloned()).collect();
        let stale: DfExpr = if current.is_empty() { of_these } else { of_these.and(!filter::one_of("id", current)) };
        tables.passages.delete(&stale).await.map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use reasoning_bank_actors::ports::{Fingerprint, JobFilter, MemoryStore, Page, StoreReads};
    use reasoning_bank_actors::testkit::soon;
    use reasoning_bank_domain::learning::job::{Job, Work};
    use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
    use reasoning_bank_domain::memory::workspace::WorkspaceId;
    use uuid::Uuid;

    use super::super::frames::Frame;
    use super::*;
    use crate::lance::repair::pending::finish_pending;
    use crate::lance::{LanceStore, Options};

    async fn open(dir: &std::path::Path) -> LanceStore {
        let fingerprint = Fingerprint { name: "test".into(), dims: 4, hash: "0123456789abcdef0123".into() };
        LanceStore::open(dir, &fingerprint, Options::default()).await.unwrap()
    }

    /// Makes records of two tables.
    fn batch() -> Vec<Record> {
        let workspace_id = WorkspaceId::of_root("/here");
        let signal = Signal {
            id: Uuid::now_v7().into(),
            memory_id: Uuid::now_v7().into(),
            workspace_id: workspace_id.clone(),
            kind: SignalKind::Helpful,
            at: Timestamp::UNIX_EPOCH,
            trace_id: None,
            session: None,
            comment: None,
            application: None,
        };
        // the id of a job follows from its work
        let question = Uuid::now_v7().to_string();
        let work = Work::Capture { question, answer: "a".into(), session_id: None };
        let job = Job::queued(workspace_id, work, Timestamp::UNIX_EPOCH);
        vec![Record::Signal(signal), Record::Job(job)]
    }

    /// Returns how many signals and jobs a reader is shown.
    async fn shown(store: &LanceStore) -> (usize, usize) {
        let signals = store.signals(None, Page::first(10), soon()).await.unwrap();
        let jobs = store.jobs(JobFilter::default(), Page::first(10), soon()).await.unwrap();
        (signals.len(), jobs.len())
    }

    #[tokio::test]
    async fn readers_are_shown_a_commit_whole_or_not_at_all_wherever_its_writer_stops() {
        let dir = tempfile::tempdir().unwrap();
        let (writer, reader) = (open(dir.path()).await, open(dir.path()).await);
        writer.commit(batch(), soon()).await.unwrap();
        assert_eq!(shown(&reader).await, (1, 1));

        let shared = writer.access.shared();
        let guard = shared.lock.acquire(soon()).await.unwrap();
        let batch = batch();
        let plan = WritePlan::new(&batch, 4).unwrap();
        guard.begin(&shared.journal.name(&shared.layout).await.unwrap()).unwrap();
        shared.journal.append(Frame { erasures: 0, batch }.encode().unwrap()).await.unwrap();
        assert_eq!(shown(&reader).await, (1, 1));
        let mut first = plan.write(&shared.tables, &shared.resident.recent).await.unwrap();
        guard.note_versions(&first.before(&shared.tables).await.unwrap()).unwrap();
        let later = first.appended.split_off(1);
        assert_eq!((first.appended.len(), later.len()), (1, 1));
        first.publish(&shared.tables).await.unwrap();
        for store in [&reader, &writer, &open_reading(dir.path()).await] {
            assert_eq!(shown(store).await, (1, 1), "half of the commit is shown");
        }

        // killed: nobody holds the lock, and the reader never takes it
        drop(guard);
        assert_eq!(shown(&reader).await, (1, 1), "half of the commit is shown");
        let guard = shared.lock.acquire(soon()).await.unwrap();
        finish_pending(&shared, &guard).await.unwrap();
        assert_eq!(shown(&reader).await, (2, 2), "whoever writes next finishes it");
    }

    /// Opens the directory while the lock is held, for reading alone.
    async fn open_reading(dir: &std::path::Path) -> LanceStore {
        let fingerprint = Fingerprint { name: "test".into(), dims: 4, hash: "0123456789abcdef0123".into() };
        let options = Options { open_timeout: Duration::from_millis(20), ..Options::default() };
        LanceStore::open(dir, &fingerprint, options).await.unwrap()
    }
}
