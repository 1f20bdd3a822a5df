//! Opening after a crash or a power loss. Files that were never synced may be empty, short or missing: a table goes back
//! to its newest version that is whole, and the journals bring back what was acknowledged since. A table of which no
//! version is whole keeps the fragments that are.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lance::Dataset;
use lance::index::DatasetIndexExt;
use lancedb::{Connection, Table};
use reasoning_bank_actors::ports::StoreError;

use super::format::{Layout, create_dir};
use super::tables::{self, TableName, Tables};
use super::write_lock::WriteGuard;
use super::{Shared, apply, blocking, checkpoint, commit, failed, journal};

/// What every file of LanceDB ends with.
const MAGIC: &[u8; 4] = b"LANC";

/// The tables, and whether one had to be repaired. The write lock must be held.
pub(super) async fn open_tables(layout: &Layout, dims: usize) -> Result<(Tables, bool), StoreError> {
    let (tables, damaged) = repair_tables(layout, dims).await?;
    // the caches of a session that saw the damage may hold versions that are no more
    let tables = if damaged { repair_tables(layout, dims).await?.0 } else { tables };
    Ok((tables, damaged))
}

async fn repair_tables(layout: &Layout, dims: usize) -> Result<(Tables, bool), StoreError> {
    let connection = tables::connect(layout).await?;
    let open = |name| open_table(layout, connection.clone(), name, dims);
    let (workspaces, traces, memories, passages, signals) = tokio::try_join!(
        open(TableName::Workspaces),
        open(TableName::Traces),
        open(TableName::Memories),
        open(TableName::Passages),
        open(TableName::Signals),
    )?;
    let damaged = workspaces.1 || traces.1 || memories.1 || passages.1 || signals.1;
    let tables = Tables {
        workspaces: workspaces.0,
        traces: traces.0,
        memories: memories.0,
        passages: passages.0,
        signals: signals.0,
    };
    Ok((tables, damaged))
}

/// Replays what dead processes left behind; after damage also everything else that is known.
pub(super) async fn replay(shared: &Shared, mut guard: WriteGuard, damaged: bool) -> Result<(), StoreError> {
    commit::settle(shared, &mut guard).await?;
    let layout = shared.layout.clone();
    let (orphans, all) = blocking(move || {
        let all = if damaged { [journal::history(&layout), journal::journals(&layout)?].concat() } else { Vec::new() };
        io::Result::Ok((journal::orphans(&layout)?, all))
    })
    .await?
    .map_err(failed)?;
    let journals = if damaged { all } else { orphans.iter().map(|orphan| orphan.path.clone()).collect() };
    if journals.is_empty() && !damaged {
        return Ok(());
    }
    let frames = apply::replay(shared, journals).await?;
    tracing::info!(frames, damaged, "replayed the journals of earlier processes");
    checkpoint::checkpoint(shared, &guard).await?;
    let layout = shared.layout.clone();
    blocking(move || orphans.into_iter().try_for_each(|orphan| orphan.remove(&layout))).await?.map_err(failed)
}

async fn open_table(
    layout: &Layout,
    mut connection: Connection,
    name: TableName,
    dims: usize,
) -> Result<(Table, bool), StoreError> {
    let mut damaged = false;
    let mut best_of_the_bad = None;
    loop {
        let dir = layout.table(name.as_str());
        let Some(manifest) = newest_manifest(&dir).map_err(failed)? else {
            let rows = match best_of_the_bad {
                Some(dataset) => intact_rows(&dir, &dataset).await?,
                None => Vec::new(),
            };
            return Ok((replace(layout, &connection, name, dims, rows).await?, damaged));
        };
        if ends_with_magic(&manifest).map_err(failed)? {
            let table =
                connection.open_table(name.as_str()).execute().await.map_err(|error| {
                    StoreError::Unusable(format!("{} cannot be opened: {error}", manifest.display()))
                })?;
            let dataset = dataset(&table).await?;
            match broken_file(&dir, &dataset)? {
                None => {
                    damaged |= repair_indexes(&dir, name, &table, &dataset).await?;
                    return Ok((table, damaged));
                }
                Some(file) => tracing::warn!(table = name.as_str(), file = %file.display(), "a data file is damaged"),
            }
            best_of_the_bad.get_or_insert(dataset);
        } else {
            tracing::warn!(manifest = %manifest.display(), "the manifest is torn");
        }
        set_aside(layout, name, &manifest).map_err(failed)?;
        damaged = true;
        connection = tables::connect(layout).await?;
    }
}

async fn dataset(table: &Table) -> Result<Dataset, StoreError> {
    let wrapper = table.dataset().ok_or_else(|| StoreError::Failed("not a table on disk".into()))?;
    wrapper.get().await.map(|dataset| (*dataset).clone()).map_err(failed)
}

/// Newer versions have names that sort first.
fn newest_manifest(table: &Path) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(table.join("_versions")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "manifest")).min())
}

fn ends_with_magic(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() < MAGIC.len() as u64 {
        return Ok(false);
    }
    let mut end = [0; MAGIC.len()];
    file.seek(SeekFrom::End(-(MAGIC.len() as i64)))?;
    file.read_exact(&mut end)?;
    Ok(end == *MAGIC)
}

/// The first file that a version needs and that is not whole.
fn broken_file(table: &Path, dataset: &Dataset) -> Result<Option<PathBuf>, StoreError> {
    for fragment in dataset.fragments().iter() {
        if let Some(file) = broken_file_of(table, fragment).map_err(failed)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn broken_file_of(table: &Path, fragment: &lance::table::format::Fragment) -> io::Result<Option<PathBuf>> {
    for file in &fragment.files {
        let path = table.join("data").join(&file.path);
        let size = file.file_size_bytes.get().map_or(0, |size| size.get());
        if !is_whole(&path, size)? || !ends_with_magic(&path)? {
            return Ok(Some(path));
        }
    }
    if let Some(deletions) = &fragment.deletion_file {
        let name =
            format!("{}-{}-{}.{}", fragment.id, deletions.read_version, deletions.id, deletions.file_type.suffix());
        let path = table.join("_deletions").join(name);
        if !is_whole(&path, 1)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn is_whole(path: &Path, bytes: u64) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len() >= bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Indexes are made of the rows again where one of their files is damaged.
async fn repair_indexes(dir: &Path, name: TableName, table: &Table, dataset: &Dataset) -> Result<bool, StoreError> {
    if name != TableName::Passages {
        return Ok(false);
    }
    let indexes = dataset.load_indices().await.map_err(failed)?;
    let mut whole = indexes.iter().any(|index| index.name == tables::TEXT_INDEX);
    for index in indexes.iter() {
        for file in index.files.iter().flatten() {
            let path = dir.join("_indices").join(index.uuid.to_string()).join(&file.path);
            whole &= is_whole(&path, file.size_bytes).map_err(failed)?;
        }
    }
    if !whole {
        tracing::warn!("an index of the passages is damaged or missing and is built again");
        tables::rebuild_indexes(table).await?;
    }
    Ok(!whole)
}

/// What can be read of a version that misses files.
async fn intact_rows(dir: &Path, dataset: &Dataset) -> Result<Vec<RecordBatch>, StoreError> {
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
    Ok(rows)
}

/// A new table with these rows, in the place of what is there.
async fn replace(
    layout: &Layout,
    connection: &Connection,
    name: TableName,
    dims: usize,
    rows: Vec<RecordBatch>,
) -> Result<Table, StoreError> {
    let dir = layout.table(name.as_str());
    if dir.exists() {
        set_aside(layout, name, &dir).map_err(failed)?;
    }
    let table = tables::create(connection, name, dims).await?;
    if !rows.is_empty() {
        table.add(rows).execute().await.map_err(failed)?;
    }
    Ok(table)
}

/// Nothing is deleted that somebody may want to look at.
fn set_aside(layout: &Layout, name: TableName, path: &Path) -> io::Result<()> {
    let dir = layout.set_aside();
    create_dir(&dir)?;
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    fs::rename(path, dir.join(format!("{}-{}-{file_name}", uuid::Uuid::now_v7(), name.as_str())))
}
