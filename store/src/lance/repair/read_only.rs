//! Opening a directory that can be read and not be written to: its disk is full, its file system is mounted read-only,
//! it belongs to somebody else, or the holder of the write lock has stopped. It is opened as it is, without the repairs
//! that opening does otherwise; those are made up for when it can be written to again (`access`).

use lancedb::{Connection, Table};
use reasoning_bank_actors::ports::{Fingerprint, ReadOnlyCause, StoreError};

use super::format;
use crate::lance::commit::journal;
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::shared::{Options, SharedStore};
use crate::lance::tables::{self, TableName, Tables, manifests};
use crate::lance::threads::blocking;

/// The number of times that a table is tried: others that compact and prune meanwhile may take a file away between two
/// looks.
const TRIES: usize = 3;

/// Opens what is there, and creates and changes nothing. What is missing is being made where somebody holds the lock,
/// and has nothing in it where nobody can make it.
pub(in crate::lance) async fn open(
    layout: Layout,
    fingerprint: &Fingerprint,
    options: Options,
    cause: ReadOnlyCause,
) -> Result<SharedStore, StoreError> {
    layout.refuse_half_restored()?;
    format::check_for_reading(&layout, fingerprint).await?;
    let missing = TableName::ALL.into_iter().find(|name| !layout.table(name.as_str()).exists());
    if let (ReadOnlyCause::LockHeld, Some(table)) = (cause, missing) {
        let what = format!("the table {} of {} is not made yet", table.as_str(), layout.tables().display());
        return Err(StoreError::Unusable(what));
    }
    // connecting would make the directory
    let is_there = layout.tables().try_exists().map_err(failed)?;
    let connection = if is_there { Some(tables::connect(&layout).await?) } else { None };
    let open = |name| open_table(&layout, connection.as_ref(), name, fingerprint.dims);
    let tables = Tables {
        workspaces: open(TableName::Workspaces).await?,
        traces: open(TableName::Traces).await?,
        memories: open(TableName::Memories).await?,
        passages: open(TableName::Passages).await?,
        signals: open(TableName::Signals).await?,
        jobs: open(TableName::Jobs).await?,
        requests: open(TableName::Requests).await?,
        episode_state: open(TableName::EpisodeState).await?,
        episode_vectors: open(TableName::EpisodeVectors).await?,
        history: open(TableName::History).await?,
    };
    let of = layout.clone();
    let waiting = blocking(move || journal::waiting(&of)).await?;
    Ok(SharedStore::new(layout, options, fingerprint, tables).read_only(waiting))
}

/// Opens a table. One that was never made has no rows, and a table in memory stands for it.
async fn open_table(
    layout: &Layout,
    connection: Option<&Connection>,
    name: TableName,
    dims: usize,
) -> Result<Table, StoreError> {
    let dir = layout.table(name.as_str());
    let Some(connection) = connection.filter(|_| dir.exists()) else {
        return tables::create(&tables::connect_in_memory().await?, name, name.as_str(), dims).await;
    };
    for _ in 0..TRIES {
        if manifests::newest_is_whole(&dir).await? {
            return connection.open_table(name.as_str()).execute().await.map_err(failed);
        }
    }
    Err(StoreError::Unusable(format!("{} is damaged and cannot be repaired without being written to", dir.display())))
}
