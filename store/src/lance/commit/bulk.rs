//! Commits of many records. They go straight into the tables, not through the journal, which would write everything
//! three times. Such a commit is whole because it can be taken back: before a table changes, everything is synced and a
//! marker file notes the version of each table; the commit is done when the tables are synced and the marker is gone.
//! Whoever finds the marker puts the tables back to the versions noted: nobody was told that the commit is stored.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use lance::dataset::builder::DatasetBuilder;
use reasoning_bank_actors::ports::{Batch, Record, StoreError};

use super::apply::WritePlan;
use super::checkpoint::{self, Checkpoints};
use super::write_lock::WriteGuard;
use crate::files::{unless_gone, write_synced};
use crate::lance::errors::{failed, unreadable};
use crate::lance::layout::Layout;
use crate::lance::tables::recent_rows::RecentRows;
use crate::lance::tables::{TableName, Tables, dataset};
use crate::lance::threads::blocking;

/// A batch of at least this many records goes straight into the tables: two syncs of the tables take some 20 ms, which
/// is less than a frame of megabytes takes.
const RECORDS_WORTH_IT: usize = 1_024;

/// Tells whether a batch has so many records that it goes straight into the tables.
pub(in crate::lance) fn is_worth_it(batch: &[Record]) -> bool {
    batch.len() >= RECORDS_WORTH_IT
}

/// Makes the plan for a batch that goes straight into the tables. The plan is for the case that all of the batch is to
/// be written, which nobody knows before the write lock is taken. There is no plan for a smaller batch, nor where a
/// record may turn out to confirm a memory that is stored.
pub(in crate::lance) async fn planned(batch: Batch, dims: usize) -> Result<(Batch, Option<WritePlan>), StoreError> {
    let confirms = |record: &Record| matches!(record, Record::Memory { confirm: Some(_), .. });
    if !is_worth_it(&batch) || batch.iter().any(confirms) {
        return Ok((batch, None));
    }
    blocking(move || WritePlan::new(&batch, dims).map(|plan| (batch, Some(plan)))).await?
}

/// Applies the plan. All of it is durable when this returns, or none of it is there once somebody has written again.
pub(in crate::lance) async fn apply(
    layout: &Layout,
    tables: &Tables,
    recent: &RecentRows,
    checkpoints: &Checkpoints,
    guard: &WriteGuard,
    plan: WritePlan,
) -> Result<(), StoreError> {
    let ((), written) = tokio::try_join!(mark(layout, tables, checkpoints, guard), plan.write(tables, recent))?;
    written.publish(tables).await?;
    checkpoints.sync_tables().await?;
    let path = layout.bulk();
    blocking(move || remove_synced(&path)).await?.map_err(failed)?;
    // this tells readers that they may have read some tables before the commit and others after it
    guard.finish()
}

/// Writes the marker, by which the commit can be taken back from now on. What was stored before survives whatever
/// becomes of the commit.
async fn mark(
    layout: &Layout,
    tables: &Tables,
    checkpoints: &Checkpoints,
    guard: &WriteGuard,
) -> Result<(), StoreError> {
    checkpoints.take(guard).await?;
    let mut versions: BTreeMap<String, u64> = BTreeMap::new();
    for (name, table) in tables.each() {
        versions.insert(name.as_str().to_owned(), dataset::newest(table).await?.version_id());
    }
    let (path, json) = (layout.bulk(), serde_json::to_vec(&versions).map_err(failed)?);
    blocking(move || write_synced(&path, &json)).await?.map_err(failed)
}

/// Takes back a commit that broke off. The write lock must be held, and nothing may have been written since.
pub(in crate::lance) async fn take_back(layout: &Layout) -> Result<(), StoreError> {
    let path = layout.bulk();
    let Some(json) = blocking(move || unless_gone(fs::read(&path))).await?.map_err(failed)? else { return Ok(()) };
    let versions: BTreeMap<String, u64> =
        serde_json::from_slice(&json).map_err(|error| unreadable(&layout.bulk(), &error))?;
    tracing::info!("taking back a commit of many records that broke off");
    for name in TableName::ALL {
        if let Some(version) = versions.get(name.as_str()) {
            put_back(&layout.table(name.as_str()), *version).await?;
        }
    }
    let layout = layout.clone();
    blocking(move || {
        checkpoint::sync_all(&layout.tables())?;
        remove_synced(&layout.bulk())
    })
    .await?
    .map_err(failed)
}

/// Puts a table back to a version. Damage may already have put it back to that version or an earlier one: then nothing
/// is done.
async fn put_back(table: &Path, version: u64) -> Result<(), StoreError> {
    let open = || DatasetBuilder::from_uri(table.to_string_lossy());
    if open().load().await.map_err(failed)?.version_id() <= version {
        return Ok(());
    }
    let mut then = open().with_version(version).load().await.map_err(failed)?;
    then.restore().await.map_err(failed)
}

fn remove_synced(path: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}
