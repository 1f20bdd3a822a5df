//! Opening the tables after a crash or a power loss. Files that were never synced may be empty, short or missing: a
//! table goes back to its newest version that is whole, and the journals bring back what was acknowledged since. A
//! table of which no version is whole keeps the fragments that are.

use std::fs;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lance::Dataset;
use lance::index::DatasetIndexExt;
use lancedb::{Connection, Table};
use reasoning_bank_actors::ports::StoreError;

use super::orphans::replay_orphans;
use super::pending::finish_pending;
use super::upgrade;
use crate::files::{remove_if_there, sync_dir, write_synced};
use crate::lance::commit::write_lock::WriteGuard;
use crate::lance::commit::{checkpoint, journal, replay};
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::shared::SharedStore;
use crate::lance::tables::manifests::{self, broken_file, broken_file_of, is_whole};
use crate::lance::tables::{self, TableName, Tables, indexes, set_aside};
use crate::lance::threads::blocking;

/// Opens the tables, and says whether one had to be repaired. The write lock must be held.
pub(in crate::lance) async fn open_tables(layout: &Layout, dims: usize) -> Result<(Tables, bool), StoreError> {
    // nobody remembers what a repair that broke off moved aside, so all is replayed again
    let resumed = layout.repairing().try_exists().map_err(failed)?;
    let (tables, damaged) = repair_tables(layout, dims).await?;
    // the caches of a session that saw the damage may hold versions that are no more
    let tables = if damaged { repair_tables(layout, dims).await?.0 } else { tables };
    Ok((tables, damaged || resumed))
}

async fn repair_tables(layout: &Layout, dims: usize) -> Result<(Tables, bool), StoreError> {
    let connection = tables::connect(layout).await?;
    let open = |name| open_table(layout, connection.clone(), name, dims);
    let (workspaces, traces, memories, passages, signals, jobs, requests, states, vectors, history) = tokio::try_join!(
        open(TableName::Workspaces),
        open(TableName::Traces),
        open(TableName::Memories),
        open(TableName::Passages),
        open(TableName::Signals),
        open(TableName::Jobs),
        open(TableName::Requests),
        open(TableName::EpisodeState),
        open(TableName::EpisodeVectors),
        open(TableName::History),
    )?;
    let damaged = workspaces.1 || traces.1 || memories.1 || passages.1 || signals.1 || jobs.1 || requests.1;
    let damaged = damaged || states.1 || vectors.1 || history.1;
    let tables = Tables {
        workspaces: workspaces.0,
        traces: traces.0,
        memories: memories.0,
        passages: passages.0,
        signals: signals.0,
        jobs: jobs.0,
        requests: requests.0,
        episode_state: states.0,
        episode_vectors: vectors.0,
        history: history.0,
    };
    Ok((tables, damaged))
}

/// Replays what dead processes left behind, and after damage also everything else that is known.
pub(in crate::lance) async fn replay(
    shared: &SharedStore,
    guard: &WriteGuard,
    damaged: bool,
) -> Result<(), StoreError> {
    finish_pending(shared, guard).await?;
    replay_orphans(shared, guard).await?;
    if !damaged {
        return Ok(());
    }
    let layout = shared.layout.clone();
    let all = blocking(move || io::Result::Ok([journal::history(&layout), journal::journals(&layout)?].concat()));
    let journals = all.await?.map_err(failed)?;
    let frames = replay::replay(&shared.layout, &shared.tables, shared.dims, journals).await?;
    tracing::info!(frames, "replayed all journals over what was repaired");
    shared.checkpoints.take(guard).await?;
    let repairing = shared.layout.repairing();
    blocking(move || remove_if_there(&repairing)).await?.map_err(failed)
}

async fn open_table(
    layout: &Layout,
    connection: Connection,
    name: TableName,
    dims: usize,
) -> Result<(Table, bool), StoreError> {
    let dir = layout.table(name.as_str());
    adopt_replacement(layout, name).map_err(failed)?;
    let versions = manifests::all(&dir).map_err(failed)?;
    let mut best_of_the_bad = None;
    for (n, manifest) in versions.iter().enumerate() {
        let Some(dataset) = manifests::load(&dir, manifest).await? else { continue };
        if let Some(file) = broken_file(&dir, &dataset)? {
            tracing::warn!(table = name.as_str(), file = %file.display(), "a data file is damaged");
            best_of_the_bad.get_or_insert(dataset);
            continue;
        }
        for bad in &versions[..n] {
            move_aside(layout, name, &bad.path).map_err(failed)?;
        }
        let table = connection.open_table(name.as_str()).execute().await.map_err(failed)?;
        let repaired = repair_indexes(&dir, name, &table, &dataset).await?;
        return Ok((table, n > 0 || repaired));
    }
    let rows = match best_of_the_bad {
        Some(dataset) => intact_rows(&dir, name, &dataset).await?,
        None => Vec::new(),
    };
    let damaged = dir.exists();
    Ok((replace(layout, &connection, name, dims, rows).await?, damaged))
}

/// Makes the indexes of a table again of its rows, where a file of an index is damaged. Answers whether one was.
async fn repair_indexes(dir: &Path, name: TableName, table: &Table, dataset: &Dataset) -> Result<bool, StoreError> {
    if name == TableName::Passages && dataset.schema().field("terms").is_none() {
        // before the upgrade there is nothing to build the text index of
        return Ok(false);
    }
    let there = dataset.load_indices().await.map_err(failed)?;
    let mut whole = name != TableName::Passages || there.iter().any(|index| index.name == indexes::TEXT_INDEX);
    for index in there.iter() {
        for file in index.files.iter().flatten() {
            let path = dir.join("_indices").join(index.uuid.to_string()).join(&file.path);
            whole &= is_whole(&path, file.size_bytes).map_err(failed)?;
        }
    }
    if !whole {
        tracing::warn!(table = name.as_str(), "an index is damaged or missing and is built again");
        indexes::rebuild(name, table).await?;
    }
    Ok(!whole)
}

/// The rows that can be read of a version that misses files.
async fn intact_rows(dir: &Path, name: TableName, dataset: &Dataset) -> Result<Vec<RecordBatch>, StoreError> {
    let mut rows = Vec::new();
    for fragment in dataset.fragments().iter() {
        if broken_file_of(dir, fragment).map_err(failed)?.is_some() {
            tracing::error!(table = %dir.display(), fragment = fragment.id, "a fragment is lost; the journals may know its rows");
            continue;
        }
        let mut scanner = dataset.scan();
        scanner.with_fragments(vec![fragment.clone()]);
        let stream = scanner.try_into_stream().await.map_err(failed)?;
        rows.extend(stream.try_collect::<Vec<_>>().await.map_err(failed)?);
    }
    rows.into_iter().map(|batch| upgrade::complete(name, batch)).collect()
}

/// Puts a new table with these rows in the place of what is there. It is made beside the old one, which moves away only
/// when the new one is on disk.
async fn replace(
    layout: &Layout,
    connection: &Connection,
    name: TableName,
    dims: usize,
    rows: Vec<RecordBatch>,
) -> Result<Table, StoreError> {
    let dir = layout.table(name.as_str());
    if !dir.exists() {
        return tables::create(connection, name, name.as_str(), dims).await;
    }
    let table = tables::create(connection, name, &replacement(name), dims).await?;
    if !rows.is_empty() {
        table.add(rows).execute().await.map_err(failed)?;
    }
    drop(table);
    checkpoint::sync_all(&layout.tables()).map_err(failed)?;
    move_aside(layout, name, &dir).map_err(failed)?;
    adopt_replacement(layout, name).map_err(failed)?;
    connection.open_table(name.as_str()).execute().await.map_err(failed)
}

fn replacement(name: TableName) -> String {
    format!("{}-replacement", name.as_str())
}

/// Finishes a replacement that broke off: it is whole if the old table is gone already, otherwise it is removed and
/// made again.
fn adopt_replacement(layout: &Layout, name: TableName) -> io::Result<()> {
    let (table, replacement) = (layout.table(name.as_str()), layout.table(&replacement(name)));
    if !replacement.try_exists()? {
        Ok(())
    } else if table.try_exists()? {
        fs::remove_dir_all(replacement)
    } else {
        fs::rename(replacement, table)
    }
}

/// Moves a part of a table to `set-aside/`. From then on a repair is under way, also for the next process.
fn move_aside(layout: &Layout, name: TableName, path: &Path) -> io::Result<()> {
    if !layout.repairing().try_exists()? {
        write_synced(&layout.repairing(), b"")?;
    }
    let (to, dir) = (set_aside::place(&layout.set_aside(), Some(name), path)?, layout.set_aside());
    fs::rename(path, to)?;
    sync_dir(&dir)
}
