//! Compaction and pruning of a table: few fragments, none with deleted rows, and no versions and no files that nobody
//! needs. When that is done is decided by `upkeep`.

use std::sync::Arc;
use std::time::Duration;

use lance::dataset::index::DatasetIndexRemapperOptions;
use lance::dataset::optimize::{RewriteResult, commit_compaction, plan_compaction};
use lancedb::Table;
use lancedb::table::{CompactionOptions, OptimizeAction};
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_actors::runtime::Deadline;

use super::{dataset, indexes};
use crate::lance::errors::failed;

/// Small fragments are merged into ones of this many rows, and many of those into full ones, which are never rewritten:
/// a row is rewritten few times, however large the bank becomes.
const FRAGMENT_ROWS: usize = 1_024;
const FULL_FRAGMENT_ROWS: usize = 8_192;
const FRAGMENTS_WORTH_A_FULL_ONE: usize = 24;
const SLICE_BYTES: u64 = 128 << 20;

/// Counts the fragments of the table that are so small that they are worth merging once there are enough of them.
pub(in crate::lance) async fn small_fragments(table: &Table) -> Result<usize, StoreError> {
    match table.as_native() {
        Some(table) => table.num_small_files(FRAGMENT_ROWS).await.map_err(failed),
        None => Ok(0),
    }
}

/// Fragments that were merged and are in no version of the table yet.
pub(in crate::lance) struct Compacted {
    rewritten: Vec<RewriteResult>,
    options: CompactionOptions,
}

/// Merges fragments on a snapshot of the table, until there are no more to be merged or the deadline passes. Returns
/// `None` where the table is not on this machine.
pub(in crate::lance) async fn prepare(table: &Table, deadline: Deadline) -> Result<Option<Compacted>, StoreError> {
    let Some(native) = table.as_native() else { return Ok(None) };
    let medium = native.num_small_files(FULL_FRAGMENT_ROWS).await.map_err(failed)?;
    let medium = medium.saturating_sub(small_fragments(table).await?);
    let rows = if medium >= FRAGMENTS_WORTH_A_FULL_ONE { FULL_FRAGMENT_ROWS } else { FRAGMENT_ROWS };
    let options = CompactionOptions { max_source_bytes: Some(SLICE_BYTES), ..compaction(rows) };
    let dataset = dataset::snapshot(table).await?;
    let plan = plan_compaction(&dataset, &options).await.map_err(failed)?;
    let mut rewritten = Vec::new();
    for task in plan.compaction_tasks() {
        rewritten.push(task.execute(&dataset).await.map_err(failed)?);
        if deadline.passed() {
            break;
        }
    }
    Ok(Some(Compacted { rewritten, options }))
}

impl Compacted {
    /// Makes the merged fragments a version of the table. The write lock must be held, and nothing may have been erased
    /// since they were prepared. Returns how many fragments fewer there are; `None` when the rows were moved meanwhile.
    pub(in crate::lance) async fn publish(self, table: &Table) -> Result<Option<u64>, StoreError> {
        let mut newest = dataset::snapshot(table).await?;
        let remap = Arc::new(DatasetIndexRemapperOptions::default());
        match commit_compaction(&mut newest, self.rewritten, remap, &self.options).await {
            Ok(metrics) => Ok(Some(metrics.fragments_removed.saturating_sub(metrics.fragments_added) as u64)),
            Err(error) if indexes::is_conflict(&error) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Rewrites every fragment that has deleted rows, without them. The write lock must be held.
pub(in crate::lance) async fn drop_deleted_rows(table: &Table) -> Result<(), StoreError> {
    let options = CompactionOptions { materialize_deletions_threshold: 0.0, ..compaction(FRAGMENT_ROWS) };
    table.optimize(OptimizeAction::Compact { options, remap_options: None }).await.map(drop).map_err(failed)
}

fn compaction(rows: usize) -> CompactionOptions {
    CompactionOptions { target_rows_per_fragment: rows, num_threads: Some(1), ..CompactionOptions::default() }
}

/// Removes everything that the newest version does not need. Nobody else may be writing.
pub(in crate::lance) async fn prune_all(table: &Table) -> Result<(), StoreError> {
    prune(table, Duration::ZERO).await.map(drop)
}

/// Removes versions that are older than this, and files that no version has, however young: what was never published
/// holds rows as well. Returns how many versions were removed. Nobody else may be writing, or be making what is to be
/// published.
pub(in crate::lance) async fn prune(table: &Table, older_than: Duration) -> Result<u64, StoreError> {
    let older_than = lancedb::table::Duration::from_std(older_than).map_err(failed)?;
    let prune = OptimizeAction::Prune {
        older_than: Some(older_than),
        delete_unverified: Some(true),
        error_if_tagged_old_versions: None,
    };
    let stats = table.optimize(prune).await.map_err(failed)?;
    Ok(stats.prune.map_or(0, |removed| removed.old_versions))
}
