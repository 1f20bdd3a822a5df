//! Upkeep in bounded slices: few fragments, indexes that cover nearly all rows, no old versions. One process does it at a
//! time. What takes long is done on a snapshot beside the writers; the write lock is held to publish what came of it, and
//! a slice gives up when somebody else writes all the while, or erased meanwhile what it was made of. Versions are pruned
//! only after a checkpoint: until then an old one may be all that a power loss leaves. With them go the files that no
//! version has: while both locks are held nobody is about to publish them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lance::dataset::index::DatasetIndexRemapperOptions;
use lance::dataset::optimize::{RewriteResult, commit_compaction, plan_compaction};
use lancedb::Table;
use lancedb::table::{CompactionOptions, OptimizeAction};
use reasoning_bank_actors::ports::{Maintained, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use tokio::time::Instant;

use super::erasures::Erasures;
use super::format::Layout;
use super::tables::TableName;
use super::write_lock::{FileLock, WriteGuard};
use super::{Shared, checkpoint, commit, failed, indexes, threads, within};

/// Small fragments are merged into ones of this many rows, many of those into full ones, which are never rewritten: a row
/// is rewritten few times, however large the bank becomes.
const FRAGMENT_ROWS: usize = 1_024;
const FULL_FRAGMENT_ROWS: usize = 8_192;
const FRAGMENTS_WORTH_A_FULL_ONE: usize = 24;
const SLICE_BYTES: u64 = 128 << 20;
/// Fewer are not worth a rewrite.
const FRAGMENTS_WORTH_COMPACTING: usize = 8;
/// Readers that began on a version have finished when it is this old, those too that read all of a large bank into memory
/// and then look at what came since.
const KEEP_VERSIONS: Duration = Duration::from_secs(120);
/// Others write for milliseconds; who writes for longer writes in bulk.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// What took long to prepare is worth waiting for longer.
const PUBLISH_PATIENCE: Duration = Duration::from_secs(30);
const BACKGROUND_SLICE: Duration = Duration::from_secs(60);
/// How long after a commit of many records upkeep waits for the next one.
const WAY_FOR_BULK: Duration = Duration::from_secs(1);
/// Fragments are counted once in this many commits.
const COMMITS_BETWEEN_LOOKS: u64 = 8;

pub(super) struct Upkeep {
    commits: AtomicU64,
    running: AtomicBool,
    lane: FileLock,
    /// When many records were last being written at once.
    bulk: Mutex<Option<Instant>>,
}

impl Upkeep {
    pub(super) fn of(layout: &Layout) -> Self {
        let lane = FileLock::at(layout.upkeep_lock());
        Self { commits: AtomicU64::new(0), running: AtomicBool::new(false), lane, bulk: Mutex::default() }
    }

    /// Indexes that are extended while rows stream in slow them down and are extended many times: it waits for the end.
    pub(super) fn make_way(&self) {
        *self.bulk.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn quiet_from(&self) -> Option<Instant> {
        self.bulk.lock().unwrap_or_else(PoisonError::into_inner).map(|last| last + WAY_FOR_BULK)
    }

    /// Whether no more records came in bulk for a while.
    async fn is_quiet(&self, deadline: Deadline) -> bool {
        let Some(quiet) = self.quiet_from() else { return true };
        tokio::time::sleep_until(quiet.min(deadline.instant())).await;
        self.quiet_from() == Some(quiet) && Instant::now() >= quiet
    }
}

/// Starts a slice in the background when a table has too many fragments or rows that no index has.
pub(super) fn after_commit(shared: &Arc<Shared>) {
    let commits = shared.upkeep.commits.fetch_add(1, Ordering::Relaxed) + 1;
    let in_bulk = shared.upkeep.quiet_from().is_some_and(|quiet| Instant::now() < quiet);
    if in_bulk || !commits.is_multiple_of(COMMITS_BETWEEN_LOOKS) || shared.upkeep.running.swap(true, Ordering::AcqRel) {
        return;
    }
    let shared = Arc::clone(shared);
    threads::spawn_aside(async move {
        let running = Running(&shared.upkeep.running);
        if let Err(error) = slice_if_needed(&shared).await {
            tracing::warn!(%error, "upkeep of the store failed");
        }
        drop(running);
    });
}

struct Running<'a>(&'a AtomicBool);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

async fn slice_if_needed(shared: &Shared) -> Result<(), StoreError> {
    for (name, table) in shared.tables.each() {
        let scattered = small_fragments(table).await? >= shared.options.compact_at_fragments;
        if scattered || indexes::are_due(name, table).await? {
            let done = slice(shared, Deadline::after(BACKGROUND_SLICE)).await?;
            tracing::debug!(?done, "upkeep");
            break;
        }
    }
    Ok(())
}

/// Goes on to the end of its slice by itself when the deadline passes.
pub(super) async fn maintain(shared: &Arc<Shared>, deadline: Deadline) -> Result<Maintained, StoreError> {
    let shared = Arc::clone(shared);
    let work = threads::spawn_aside(async move { slice(&shared, deadline).await });
    within(deadline, async { work.await.map_err(failed)? }).await
}

/// To the deadline, or until nothing is left to do.
async fn slice(shared: &Shared, deadline: Deadline) -> Result<Maintained, StoreError> {
    let mut done = Maintained::default();
    if !shared.upkeep.is_quiet(deadline).await {
        return Ok(busy(done));
    }
    let _lane = match shared.upkeep.lane.acquire(deadline).await {
        Ok(lane) => lane,
        Err(StoreError::TimedOut) => return Ok(busy(done)),
        Err(error) => return Err(error),
    };
    for (name, table) in shared.tables.each() {
        if small_fragments(table).await? >= FRAGMENTS_WORTH_COMPACTING {
            let Some(fewer) = compact(shared, table, deadline).await? else { return Ok(busy(done)) };
            done.fragments_removed += fewer;
            done.more |= small_fragments(table).await? >= shared.options.compact_at_fragments;
        }
        if !refresh_indexes(shared, name, table, deadline, &mut done).await? {
            return Ok(busy(done));
        }
    }
    checkpoint::sync_tables(shared).await?;
    let Some((guard, _)) = lock(shared, deadline.at_most(LOCK_PATIENCE)).await? else { return Ok(busy(done)) };
    checkpoint::checkpoint(shared, &guard).await?;
    for (_, table) in shared.tables.each() {
        done.versions_removed += prune(table, KEEP_VERSIONS).await?;
    }
    Ok(done)
}

fn busy(done: Maintained) -> Maintained {
    Maintained { busy: true, more: true, ..done }
}

async fn lock(shared: &Shared, deadline: Deadline) -> Result<Option<(WriteGuard, Erasures)>, StoreError> {
    match shared.lock.acquire(deadline).await {
        Ok(guard) => {
            let erasures = commit::settle(shared, &guard).await?;
            Ok(Some((guard, erasures)))
        }
        Err(StoreError::TimedOut) => Ok(None),
        Err(error) => Err(error),
    }
}

/// To publish what was made of this table since `then`. None where something was erased since, or was still to be: what
/// was made may hold what is to be gone, and its files go. What failed comes here before it is told: it may have failed
/// because rows were erased beneath it, and leaves files all the same.
pub(super) async fn lock_to_publish(
    shared: &Shared,
    table: &Table,
    then: &Erasures,
) -> Result<Option<WriteGuard>, StoreError> {
    let Some((guard, now)) = lock(shared, Deadline::after(PUBLISH_PATIENCE)).await? else { return Ok(None) };
    if then.pending.is_none() && then.count == now.count {
        return Ok(Some(guard));
    }
    checkpoint::sync_tables(shared).await?;
    prune_all(table).await?;
    Ok(None)
}

/// Piece by piece. False when it could not be published.
async fn refresh_indexes(
    shared: &Shared,
    name: TableName,
    table: &Table,
    deadline: Deadline,
    done: &mut Maintained,
) -> Result<bool, StoreError> {
    while !deadline.passed() {
        let erasures = Erasures::read(&shared.layout).await?;
        let Some(prepared) = indexes::prepare(name, table).await.transpose() else { return Ok(true) };
        let Some(_guard) = lock_to_publish(shared, table, &erasures).await? else { return Ok(false) };
        if !prepared?.publish().await? {
            return Ok(false);
        }
    }
    done.more |= indexes::are_due(name, table).await?;
    Ok(true)
}

async fn small_fragments(table: &Table) -> Result<usize, StoreError> {
    match table.as_native() {
        Some(table) => table.num_small_files(FRAGMENT_ROWS).await.map_err(failed),
        None => Ok(0),
    }
}

/// How many fragments fewer there are; none when it could not be published.
async fn compact(shared: &Shared, table: &Table, deadline: Deadline) -> Result<Option<u64>, StoreError> {
    let Some(native) = table.as_native() else { return Ok(Some(0)) };
    let medium = native.num_small_files(FULL_FRAGMENT_ROWS).await.map_err(failed)?;
    let medium = medium.saturating_sub(small_fragments(table).await?);
    let rows = if medium >= FRAGMENTS_WORTH_A_FULL_ONE { FULL_FRAGMENT_ROWS } else { FRAGMENT_ROWS };
    let options = CompactionOptions { max_source_bytes: Some(SLICE_BYTES), ..compaction(rows) };
    let erasures = Erasures::read(&shared.layout).await?;
    let rewritten = rewrite(table, &options, deadline).await;
    let Some(_guard) = lock_to_publish(shared, table, &erasures).await? else { return Ok(None) };
    let mut newest = indexes::snapshot(table).await?;
    let remap = Arc::new(DatasetIndexRemapperOptions::default());
    match commit_compaction(&mut newest, rewritten?, remap, &options).await {
        Ok(metrics) => Ok(Some(metrics.fragments_removed.saturating_sub(metrics.fragments_added) as u64)),
        Err(error) if indexes::is_conflict(&error) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Makes fragments that are in no version of the table yet, until there are no more to be made or the deadline passes.
async fn rewrite(
    table: &Table,
    options: &CompactionOptions,
    deadline: Deadline,
) -> Result<Vec<RewriteResult>, StoreError> {
    let dataset = indexes::snapshot(table).await?;
    let plan = plan_compaction(&dataset, options).await.map_err(failed)?;
    let mut rewritten = Vec::new();
    for task in plan.compaction_tasks() {
        rewritten.push(task.execute(&dataset).await.map_err(failed)?);
        if deadline.passed() {
            break;
        }
    }
    Ok(rewritten)
}

/// Rewrites every fragment that has deleted rows, without them. The write lock must be held.
pub(super) async fn drop_deleted_rows(table: &Table) -> Result<(), StoreError> {
    let options = CompactionOptions { materialize_deletions_threshold: 0.0, ..compaction(FRAGMENT_ROWS) };
    table.optimize(OptimizeAction::Compact { options, remap_options: None }).await.map(drop).map_err(failed)
}

fn compaction(rows: usize) -> CompactionOptions {
    CompactionOptions { target_rows_per_fragment: rows, num_threads: Some(1), ..CompactionOptions::default() }
}

/// Removes everything that the newest version does not need. Nobody else may be writing.
pub(super) async fn prune_all(table: &Table) -> Result<(), StoreError> {
    prune(table, Duration::ZERO).await.map(drop)
}

/// Removes versions that are older, and files that no version has, however young: what was never published holds rows
/// as well. Nobody else may be writing, or be making what is to be published.
async fn prune(table: &Table, older_than: Duration) -> Result<u64, StoreError> {
    let older_than = lancedb::table::Duration::from_std(older_than).map_err(failed)?;
    let prune = OptimizeAction::Prune {
        older_than: Some(older_than),
        delete_unverified: Some(true),
        error_if_tagged_old_versions: None,
    };
    let stats = table.optimize(prune).await.map_err(failed)?;
    Ok(stats.prune.map_or(0, |removed| removed.old_versions))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use reasoning_bank_actors::ports::{EraseScope, Fingerprint, MemoryStore};
    use uuid::Uuid;

    use super::super::{LanceStore, Options};
    use super::*;

    /// A file of memories that is in no version of the table.
    fn unpublished(shared: &Shared) -> PathBuf {
        let data = shared.layout.table(TableName::Memories.as_str()).join("data");
        fs::create_dir_all(&data).unwrap();
        let file = data.join(format!("{}.lance", Uuid::now_v7()));
        fs::write(&file, "rows").unwrap();
        file
    }

    #[tokio::test]
    async fn what_was_made_before_an_erasure_ended_is_not_published_and_its_files_go() {
        let dir = tempfile::tempdir().unwrap();
        let fingerprint = Fingerprint { name: "test".into(), dims: 4, hash: "0123456789abcdef0123".into() };
        let store = LanceStore::open(dir.path(), &fingerprint, Options::default()).await.unwrap();
        let (shared, table) = (&store.shared(), &store.shared().tables.memories.clone());
        let scope = || EraseScope::Memory(Uuid::now_v7().into());

        let before = Erasures::read(&shared.layout).await.unwrap();
        let piece = unpublished(shared);
        assert!(lock_to_publish(shared, table, &before).await.unwrap().is_some());
        assert!(piece.exists());

        store.erase(scope(), Deadline::after(Duration::from_secs(60))).await.unwrap();
        let piece = unpublished(shared);
        assert!(lock_to_publish(shared, table, &before).await.unwrap().is_none());
        assert!(!piece.exists());

        // One that broke off, and that upkeep itself finishes, is counted already.
        let mut pending = Erasures::read(&shared.layout).await.unwrap();
        pending.pending = Some(scope());
        pending.write(&shared.layout).await.unwrap();
        assert!(lock_to_publish(shared, table, &pending).await.unwrap().is_none());
        let finished = Erasures::read(&shared.layout).await.unwrap();
        assert_eq!((finished.count, finished.pending), (pending.count, None));
    }
}
