//! Opening after a crash or a power loss. Files that were never synced may be empty, short or missing: a table goes back
//! to its newest version that is whole, and the journals bring back what was acknowledged since. A table of which no
//! version is whole keeps the fragments that are.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lance::Dataset;
use lance::dataset::builder::DatasetBuilder;
use lance::index::DatasetIndexExt;
use lancedb::{Connection, Table};
use reasoning_bank_actors::ports::StoreError;

use super::format::Layout;
use super::tables::{self, TableName, Tables};
use super::write_lock::WriteGuard;
use super::{Shared, blocking, checkpoint, commit, failed, indexes, journal, replay, set_aside, upgrade};
use crate::store::files::{sync_dir, write_synced};

/// What every file of LanceDB ends with.
const MAGIC: &[u8; 4] = b"LANC";

/// The tables, and whether one had to be repaired. The write lock must be held.
pub(super) async fn open_tables(layout: &Layout, dims: usize) -> Result<(Tables, bool), StoreError> {
    // of a repair that broke off nobody remembers what it moved aside: all is replayed again
    let resumed = layout.repairing().try_exists().map_err(failed)?;
    let (tables, damaged) = repair_tables(layout, dims).await?;
    // the caches of a session that saw the damage may hold versions that are no more
    let tables = if damaged { repair_tables(layout, dims).await?.0 } else { tables };
    Ok((tables, damaged || resumed))
}

async fn repair_tables(layout: &Layout, dims: usize) -> Result<(Tables, bool), StoreError> {
    let connection = tables::connect(layout).await?;
    let open = |name| open_table(layout, connection.clone(), name, dims);
    let (workspaces, traces, memories, passages, signals, jobs) = tokio::try_join!(
        open(TableName::Workspaces),
        open(TableName::Traces),
        open(TableName::Memories),
        open(TableName::Passages),
        open(TableName::Signals),
        open(TableName::Jobs),
    )?;
    let damaged = workspaces.1 || traces.1 || memories.1 || passages.1 || signals.1 || jobs.1;
    let tables = Tables {
        workspaces: workspaces.0,
        traces: traces.0,
        memories: memories.0,
        passages: passages.0,
        signals: signals.0,
        jobs: jobs.0,
    };
    Ok((tables, damaged))
}

/// Replays what dead processes left behind; after damage also everything else that is known.
pub(super) async fn replay(shared: &Shared, guard: &WriteGuard, damaged: bool) -> Result<(), StoreError> {
    commit::settle(shared, guard).await?;
    replay_orphans(shared, guard).await?;
    if !damaged {
        return Ok(());
    }
    let layout = shared.layout.clone();
    let all = blocking(move || io::Result::Ok([journal::history(&layout), journal::journals(&layout)?].concat()));
    let frames = replay::replay(shared, all.await?.map_err(failed)?).await?;
    tracing::info!(frames, "replayed all journals over what was repaired");
    checkpoint::checkpoint(shared, guard).await?;
    let repairing = shared.layout.repairing();
    blocking(move || match fs::remove_file(repairing) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    })
    .await?
    .map_err(failed)
}

/// Replays the journals that dead processes left behind, and moves them to the history. An erasure does so first: it empties
/// every journal, and what such a journal holds may not be in the tables.
pub(super) async fn replay_orphans(shared: &Shared, guard: &WriteGuard) -> Result<(), StoreError> {
    let layout = shared.layout.clone();
    let orphans = blocking(move || journal::orphans(&layout)).await?.map_err(failed)?;
    if orphans.is_empty() {
        return Ok(());
    }
    let frames = replay::replay(shared, orphans.iter().map(|orphan| orphan.path.clone()).collect()).await?;
    tracing::info!(frames, "replayed the journals of earlier processes");
    checkpoint::checkpoint(shared, guard).await?;
    let layout = shared.layout.clone();
    blocking(move || orphans.into_iter().try_for_each(|orphan| orphan.remove(&layout))).await?.map_err(failed)
}

async fn open_table(
    layout: &Layout,
    connection: Connection,
    name: TableName,
    dims: usize,
) -> Result<(Table, bool), StoreError> {
    let dir = layout.table(name.as_str());
    adopt_replacement(layout, name).map_err(failed)?;
    let manifests = manifests(&dir).map_err(failed)?;
    let mut best_of_the_bad = None;
    for (n, manifest) in manifests.iter().enumerate() {
        let Some(dataset) = load(&dir, manifest).await? else { continue };
        if let Some(file) = broken_file(&dir, &dataset)? {
            tracing::warn!(table = name.as_str(), file = %file.display(), "a data file is damaged");
            best_of_the_bad.get_or_insert(dataset);
            continue;
        }
        for bad in &manifests[..n] {
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

struct Manifest {
    path: PathBuf,
    version: u64,
}

/// Newest first.
fn manifests(table: &Path) -> io::Result<Vec<Manifest>> {
    let entries = match fs::read_dir(table.join("_versions")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    let manifest = |path: PathBuf| {
        let stem = path.file_stem()?.to_str()?.parse::<u64>().ok()?;
        // the names count down, so that newer versions sort first
        path.extension().is_some_and(|e| e == "manifest").then_some(Manifest { path, version: u64::MAX - stem })
    };
    let mut manifests: Vec<Manifest> = paths.into_iter().filter_map(manifest).collect();
    manifests.sort_by_key(|manifest| std::cmp::Reverse(manifest.version));
    Ok(manifests)
}

/// By the names of the manifests alone.
pub(super) fn newest_version(table: &Path) -> io::Result<u64> {
    let newest = manifests(table)?.into_iter().next();
    newest.map(|manifest| manifest.version).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// Whether the newest version of a table can be read with all that it needs.
pub(super) async fn newest_is_whole(table: &Path) -> Result<bool, StoreError> {
    let Some(newest) = manifests(table).map_err(failed)?.into_iter().next() else { return Ok(false) };
    match load(table, &newest).await? {
        Some(dataset) => Ok(broken_file(table, &dataset)?.is_none()),
        None => Ok(false),
    }
}

/// `None` when the manifest is torn or spoilt.
async fn load(table: &Path, Manifest { path, version }: &Manifest) -> Result<Option<Dataset>, StoreError> {
    if !ends_with_magic(path).map_err(failed)? {
        tracing::warn!(manifest = %path.display(), "the manifest is torn");
        return Ok(None);
    }
    let builder = DatasetBuilder::from_uri(table.to_string_lossy()).with_version(*version);
    // a task of its own, because LanceDB panics at some spoilt manifests
    match tokio::spawn(builder.load()).await {
        Ok(Ok(dataset)) => Ok(Some(dataset)),
        Ok(Err(error)) if !is_spoilt(&error) => {
            Err(StoreError::Unusable(format!("{} cannot be opened: {error}", path.display())))
        }
        Ok(Err(error)) => {
            tracing::warn!(manifest = %path.display(), %error, "the manifest is spoilt");
            Ok(None)
        }
        Err(error) => {
            tracing::warn!(manifest = %path.display(), %error, "the manifest is spoilt");
            Ok(None)
        }
    }
}

/// Whether it is about what a manifest says; not about how it is read, nor about features of newer versions.
fn is_spoilt(error: &lance::Error) -> bool {
    let mut causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    match error {
        lance::Error::CorruptFile { .. }
        | lance::Error::VersionNotFound { .. }
        | lance::Error::InvalidInput { .. }
        | lance::Error::Internal { .. } => true,
        lance::Error::IO { .. } => !causes.any(|cause| cause.is::<io::Error>()),
        _ => false,
    }
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
pub(super) fn broken_file(table: &Path, dataset: &Dataset) -> Result<Option<PathBuf>, StoreError> {
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

/// Where a file of an index is damaged, the indexes of its table are made of the rows again.
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

/// What can be read of a version that misses files.
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

/// A new table with these rows, in the place of what is there. It is made beside the old one, which moves away only when
/// the new one is on disk.
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

/// Finishes a replacement that broke off: it is whole if the old table is gone already, otherwise it is made again.
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

/// From then on a repair is under way, also for the next process.
fn move_aside(layout: &Layout, name: TableName, path: &Path) -> io::Result<()> {
    if !layout.repairing().try_exists()? {
        write_synced(&layout.repairing(), b"")?;
    }
    let (to, dir) = (set_aside::place(&layout.set_aside(), Some(name), path)?, layout.set_aside());
    fs::rename(path, to)?;
    sync_dir(&dir)
}
