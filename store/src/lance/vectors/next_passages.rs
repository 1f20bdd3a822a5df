//! The table of passages with the vectors of another embedder, which is made beside the one that is searched, and the
//! switch that puts it in the place of that one.
//!
//! ```text
//! DIR/lance/passages-next.lance  passages with vectors of the new embedder, as far as they are made
//! DIR/lance/reembed.json         which embedder that is, and whether the switch has begun
//! ```
//!
//! A switch that breaks off is finished by whoever writes next.

use std::fs;
use std::io;
use std::path::Path;

use lance::dataset::builder::DatasetBuilder;
use lancedb::Table;
use lancedb::expr::DfExpr;
use reasoning_bank_actors::ports::{Fingerprint, StoreError};
use serde::{Deserialize, Serialize};

use super::fingerprint::Stamp;
use crate::files::{unless_gone, write_synced};
use crate::lance::errors::{failed, unreadable, unusable};
use crate::lance::layout::{Layout, read_if_exists};
use crate::lance::tables::{self, TableName, compaction, indexes, manifests};
use crate::lance::threads::blocking;

const NEXT: &str = "passages-next";
const FORMER: &str = "passages-former";

/// The embedder that vectors are made for, and whether the switch has begun.
#[derive(PartialEq, Serialize, Deserialize)]
struct ReembedState {
    to: Stamp,
    switching: bool,
}

/// Opens the table that was begun for this embedder, if it is whole, and else a new one.
pub(in crate::lance) async fn open(layout: &Layout, to: &Fingerprint) -> Result<Table, StoreError> {
    let wanted = ReembedState { to: to.into(), switching: false };
    if ReembedState::read(layout)?.as_ref() == Some(&wanted)
        && let Some(next) = open_whole(layout).await?
        && next.schema().await.map_err(failed)?.fields().iter().map(|field| field.name()).eq(columns(to.dims).iter())
    {
        return Ok(next);
    }
    let of_files = layout.clone();
    blocking(move || {
        remove(&of_files.table(NEXT)).map_err(failed)?;
        wanted.write(&of_files)
    })
    .await??;
    tables::create(&tables::connect(layout).await?, TableName::Passages, NEXT, to.dims).await
}

/// Opens the table. Returns `None` where there is none, or where a loss of power has damaged it, as it is not synced
/// before the switch.
async fn open_whole(layout: &Layout) -> Result<Option<Table>, StoreError> {
    let dir = layout.table(NEXT);
    let Ok(dataset) = DatasetBuilder::from_uri(dir.to_string_lossy()).load().await else { return Ok(None) };
    if manifests::broken_file(&dir, &dataset)?.is_some() {
        return Ok(None);
    }
    Ok(tables::connect(layout).await?.open_table(NEXT).execute().await.ok())
}

/// Tells whether a switch was begun and not finished.
pub(in crate::lance) fn is_switching(layout: &Layout) -> Result<bool, StoreError> {
    Ok(ReembedState::read(layout)?.is_some_and(|state| state.switching))
}

/// Puts the new table in the place of the old one, as the table of this embedder. The write lock must be held.
pub(in crate::lance) fn switch(layout: &Layout, to: &Fingerprint) -> Result<(), StoreError> {
    ReembedState { to: to.into(), switching: true }.write(layout)?;
    finish_switch(layout)
}

/// Finishes a switch that was begun. The write lock must be held.
pub(in crate::lance) fn finish_switch(layout: &Layout) -> Result<(), StoreError> {
    let Some(ReembedState { to, switching: true }) = ReembedState::read(layout)? else { return Ok(()) };
    let (passages, next, former) =
        (layout.table(TableName::Passages.as_str()), layout.table(NEXT), layout.table(FORMER));
    // This comes first: who reads after the tables were exchanged sees whose they are.
    to.write(layout)?;
    let exchange = || {
        if next.try_exists()? {
            if passages.try_exists()? {
                remove(&former)?;
                fs::rename(&passages, &former)?;
            }
            fs::rename(&next, &passages)?;
            fs::File::open(layout.tables())?.sync_all()?;
        }
        remove(&former)?;
        fs::remove_file(layout.reembed())
    };
    exchange().map_err(|error| unusable(&passages, &error))?;
    tracing::info!("the vectors are those of another embedder now");
    Ok(())
}

/// Erases from the table that is being made what is erased from the one that is searched.
pub(in crate::lance) async fn erase(layout: &Layout, condition: &DfExpr) -> Result<(), StoreError> {
    if !layout.table(NEXT).try_exists().map_err(failed)? {
        return Ok(());
    }
    let Some(next) = open_whole(layout).await? else {
        let dir = layout.table(NEXT);
        return blocking(move || remove(&dir)).await?.map_err(failed);
    };
    next.delete(condition).await.map_err(failed)?;
    compaction::drop_deleted_rows(&next).await?;
    indexes::forget_removed_rows(TableName::Passages, &next).await?;
    compaction::prune_all(&next).await
}

/// Returns the names of the columns of the table.
pub(in crate::lance) fn columns(dims: usize) -> Vec<String> {
    TableName::Passages.schema(dims).fields().iter().map(|field| field.name().clone()).collect()
}

impl ReembedState {
    fn read(layout: &Layout) -> Result<Option<Self>, StoreError> {
        let path = layout.reembed();
        let Some(text) = read_if_exists(&path)? else { return Ok(None) };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| unreadable(&path, &error))
    }

    fn write(&self, layout: &Layout) -> Result<(), StoreError> {
        let json = serde_json::to_vec(self).map_err(failed)?;
        write_synced(&layout.reembed(), &json).map_err(|error| unusable(&layout.reembed(), &error))
    }
}

fn remove(dir: &Path) -> io::Result<()> {
    unless_gone(fs::remove_dir_all(dir)).map(|_removed| ())
}
