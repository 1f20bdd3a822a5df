//! Upkeep in bounded slices: few fragments, an index that covers nearly all rows, no old versions. Every step takes the
//! write lock by itself and gives up when somebody else is writing. Versions are pruned only after a checkpoint: until
//! then an old one may be all that a power loss leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lancedb::Table;
use lancedb::table::{CompactionOptions, OptimizeAction, OptimizeOptions};
use reasoning_bank_actors::ports::{Maintained, StoreError};
use reasoning_bank_actors::runtime::Deadline;

use super::tables::{self, TEXT_INDEX, TableName};
use super::write_lock::WriteGuard;
use super::{Shared, checkpoint, commit, failed, within};

/// Small fragments are merged into ones of this many rows, many of those into full ones, which are never rewritten: a row
/// is rewritten few times, however large the bank becomes.
const FRAGMENT_ROWS: usize = 1_024;
const FULL_FRAGMENT_ROWS: usize = 16_384;
const FRAGMENTS_WORTH_A_FULL_ONE: usize = 24;
const SLICE_BYTES: u64 = 128 << 20;
/// Fewer are not worth a rewrite.
const FRAGMENTS_WORTH_COMPACTING: usize = 8;
const ROWS_WORTH_INDEXING: u64 = 256;
const INDEX_SEGMENTS: usize = 8;
/// Below, comparing with every vector takes a few milliseconds.
const ROWS_WORTH_A_VECTOR_INDEX: usize = 5_000;
/// Readers that began on a version have long finished when it is this old; those that have not try again.
const KEEP_VERSIONS: Duration = Duration::from_secs(5);
/// Others write for milliseconds; who writes for longer is doing upkeep.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const BACKGROUND_SLICE: Duration = Duration::from_secs(60);
/// Fragments are counted once in this many commits.
const COMMITS_BETWEEN_LOOKS: u64 = 8;

#[derive(Default)]
pub(super) struct Upkeep {
    commits: AtomicU64,
    running: AtomicBool,
}

/// Starts a slice in the background when a table has too many fragments.
pub(super) fn after_commit(shared: &Arc<Shared>) {
    let commits = shared.upkeep.commits.fetch_add(1, Ordering::Relaxed) + 1;
    if !commits.is_multiple_of(COMMITS_BETWEEN_LOOKS) || shared.upkeep.running.swap(true, Ordering::AcqRel) {
        return;
    }
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
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
    let mut needed = index_lags(&shared.tables.passages).await?;
    for (_, table) in shared.tables.each() {
        needed |= small_fragments(table).await? >= shared.options.compact_at_fragments;
    }
    if needed {
        let done = slice(shared, Deadline::after(BACKGROUND_SLICE)).await?;
        tracing::debug!(?done, "upkeep");
    }
    Ok(())
}

/// Goes on to the end of its slice by itself when the deadline passes.
pub(super) async fn maintain(shared: &Arc<Shared>, deadline: Deadline) -> Result<Maintained, StoreError> {
    let shared = Arc::clone(shared);
    let work = tokio::spawn(async move { slice(&shared, deadline).await });
    within(deadline, async { work.await.map_err(failed)? }).await
}

async fn slice(shared: &Shared, deadline: Deadline) -> Result<Maintained, StoreError> {
    let mut done = Maintained::default();
    for (name, table) in shared.tables.each() {
        if small_fragments(table).await? >= FRAGMENTS_WORTH_COMPACTING {
            let Some(_guard) = lock(shared, deadline).await? else { return Ok(busy(done)) };
            done.fragments_removed += compact(table).await?;
            done.more |= small_fragments(table).await? >= shared.options.compact_at_fragments;
        }
        if name == TableName::Passages && index_lags(table).await? {
            let Some(_guard) = lock(shared, deadline).await? else { return Ok(busy(done)) };
            update_indexes(table).await?;
        }
    }
    checkpoint::sync_tables(shared).await?;
    let Some(guard) = lock(shared, deadline).await? else { return Ok(busy(done)) };
    checkpoint::checkpoint(shared, &guard).await?;
    for (_, table) in shared.tables.each() {
        done.versions_removed += prune(table, KEEP_VERSIONS, false).await?;
    }
    Ok(done)
}

fn busy(done: Maintained) -> Maintained {
    Maintained { busy: true, more: true, ..done }
}

async fn lock(shared: &Shared, deadline: Deadline) -> Result<Option<WriteGuard>, StoreError> {
    match shared.lock.acquire(deadline.at_most(LOCK_PATIENCE)).await {
        Ok(mut guard) => {
            commit::settle(shared, &mut guard).await?;
            Ok(Some(guard))
        }
        Err(StoreError::TimedOut) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn small_fragments(table: &Table) -> Result<usize, StoreError> {
    match table.as_native() {
        Some(table) => table.num_small_files(FRAGMENT_ROWS).await.map_err(failed),
        None => Ok(0),
    }
}

/// How many fragments fewer there are.
async fn compact(table: &Table) -> Result<u64, StoreError> {
    let Some(native) = table.as_native() else { return Ok(0) };
    let medium = native.num_small_files(FULL_FRAGMENT_ROWS).await.map_err(failed)?;
    let medium = medium.saturating_sub(small_fragments(table).await?);
    let rows = if medium >= FRAGMENTS_WORTH_A_FULL_ONE { FULL_FRAGMENT_ROWS } else { FRAGMENT_ROWS };
    run_compaction(table, CompactionOptions { max_source_bytes: Some(SLICE_BYTES), ..compaction(rows) }).await
}

/// Rewrites every fragment that has deleted rows, without them.
pub(super) async fn drop_deleted_rows(table: &Table) -> Result<(), StoreError> {
    run_compaction(table, CompactionOptions { materialize_deletions_threshold: 0.0, ..compaction(FRAGMENT_ROWS) })
        .await
        .map(drop)
}

fn compaction(rows: usize) -> CompactionOptions {
    CompactionOptions { target_rows_per_fragment: rows, num_threads: Some(1), ..CompactionOptions::default() }
}

async fn run_compaction(table: &Table, options: CompactionOptions) -> Result<u64, StoreError> {
    let stats = table.optimize(OptimizeAction::Compact { options, remap_options: None }).await.map_err(failed)?;
    Ok(stats.compaction.map_or(0, |c| c.fragments_removed.saturating_sub(c.fragments_added) as u64))
}

async fn index_lags(passages: &Table) -> Result<bool, StoreError> {
    Ok(tables::unindexed_rows(passages).await? >= ROWS_WORTH_INDEXING)
}

async fn update_indexes(passages: &Table) -> Result<(), StoreError> {
    let rows = passages.count_rows(None).await.map_err(failed)?;
    if rows >= ROWS_WORTH_A_VECTOR_INDEX && !tables::has_vector_index(passages).await? {
        tables::build_vector_index(passages).await?;
    }
    let segments = passages.index_stats(TEXT_INDEX).await.map_err(failed)?.and_then(|stats| stats.num_indices);
    let options = match segments.map_or(0, |segments| segments as usize) {
        segments if segments >= INDEX_SEGMENTS => OptimizeOptions::merge(segments),
        _ => OptimizeOptions::append(),
    };
    passages.optimize(OptimizeAction::Index(options)).await.map(drop).map_err(failed)
}

/// Removes everything that the newest version does not need. Nobody else may be writing.
pub(super) async fn prune_all(table: &Table) -> Result<(), StoreError> {
    prune(table, Duration::ZERO, true).await.map(drop)
}

async fn prune(table: &Table, older_than: Duration, leftovers: bool) -> Result<u64, StoreError> {
    let older_than = lancedb::table::Duration::from_std(older_than).map_err(failed)?;
    let prune = OptimizeAction::Prune {
        older_than: Some(older_than),
        delete_unverified: Some(leftovers),
        error_if_tagged_old_versions: None,
    };
    let stats = table.optimize(prune).await.map_err(failed)?;
    Ok(stats.prune.map_or(0, |removed| removed.old_versions))
}
