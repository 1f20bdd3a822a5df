//! The versions of a table on disk: which manifests there are, and whether all files are whole that a version needs.
//! Files that were never synced may be empty, short or missing after a loss of power.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use lance::Dataset;
use lance::dataset::builder::DatasetBuilder;
use lance::index::DatasetIndexExt;
use lance::table::format::{DataFile, Fragment};
use reasoning_bank_actors::ports::StoreError;

use crate::files::unless_gone;
use crate::lance::errors::failed;

/// Every file of LanceDB ends with these bytes.
const MAGIC: &[u8; 4] = b"LANC";

/// A manifest of a table, which makes a version of it.
pub(in crate::lance) struct Manifest {
    pub(in crate::lance) path: PathBuf,
    version: u64,
}

/// Lists all manifests of a table, the newest first.
pub(in crate::lance) fn all(table: &Path) -> io::Result<Vec<Manifest>> {
    let Some(entries) = unless_gone(fs::read_dir(table.join("_versions")))? else { return Ok(Vec::new()) };
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

/// Returns the newest version of a table, by the names of its manifests alone.
pub(in crate::lance) fn newest_version(table: &Path) -> io::Result<u64> {
    let newest = all(table)?.into_iter().next();
    newest.map(|manifest| manifest.version).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
}

/// Tells whether the newest version of a table can be read with all that it needs.
pub(in crate::lance) async fn newest_is_whole(table: &Path) -> Result<bool, StoreError> {
    let Some(newest) = all(table).map_err(failed)?.into_iter().next() else { return Ok(false) };
    match load(table, &newest).await? {
        Some(dataset) => Ok(broken_file(table, &dataset)?.is_none()),
        None => Ok(false),
    }
}

/// Opens the version that a manifest makes; returns `None` when the manifest is torn or spoilt.
pub(in crate::lance) async fn load(
    table: &Path,
    Manifest { path, version }: &Manifest,
) -> Result<Option<Dataset>, StoreError> {
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

/// Tells whether the error is about what a manifest says, and neither about how it is read nor about features of newer
/// versions.
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

/// Returns the first file that a version needs and that is not whole; `None` where all are whole.
pub(in crate::lance) fn broken_file(table: &Path, dataset: &Dataset) -> Result<Option<PathBuf>, StoreError> {
    for fragment in dataset.fragments().iter() {
        if let Some(file) = broken_file_of(table, fragment).map_err(failed)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Returns the first file of a fragment that is not whole; `None` where all are whole.
pub(in crate::lance) fn broken_file_of(table: &Path, fragment: &Fragment) -> io::Result<Option<PathBuf>> {
    for (path, bytes) in data_files(table, fragment) {
        if !is_whole(&path, bytes)? || !ends_with_magic(&path)? {
            return Ok(Some(path));
        }
    }
    match deletions(table, fragment) {
        Some(path) if !is_whole(&path, 1)? => Ok(Some(path)),
        _ => Ok(None),
    }
}

/// Lists the files with the columns of a fragment, and how many bytes each has; 0 where that is not noted.
fn data_files(table: &Path, fragment: &Fragment) -> impl Iterator<Item = (PathBuf, u64)> {
    let size = |file: &DataFile| file.file_size_bytes.get().map_or(0, |size| size.get());
    fragment.files.iter().map(move |file| (table.join("data").join(&file.path), size(file)))
}

/// Returns the file that says which rows of a fragment are deleted; `None` where none are.
fn deletions(table: &Path, fragment: &Fragment) -> Option<PathBuf> {
    let deletions = fragment.deletion_file.as_ref()?;
    let name = format!("{}-{}-{}.{}", fragment.id, deletions.read_version, deletions.id, deletions.file_type.suffix());
    Some(table.join("_deletions").join(name))
}

/// The files that a version needs. None of them ever changes.
#[derive(Default)]
pub(in crate::lance) struct NeededFiles {
    pub(in crate::lance) files: Vec<PathBuf>,
    /// The directories of its indexes, all files of which are needed. An index without files has no directory.
    pub(in crate::lance) indexes: Vec<PathBuf>,
}

/// Lists what a version needs: its manifest, its transaction, the files of its fragments, and its indexes.
pub(in crate::lance) async fn needed(table: &Path, dataset: &Dataset) -> Result<NeededFiles, StoreError> {
    let is_its = |manifest: &Manifest| manifest.version == dataset.version_id();
    let manifest = all(table).map_err(failed)?.into_iter().find(is_its);
    let missing = || StoreError::Failed(format!("a version of {} is gone", table.display()));
    let mut files = vec![manifest.ok_or_else(missing)?.path];
    files.extend(dataset.manifest().transaction_file.iter().map(|name| table.join("_transactions").join(name)));
    for fragment in dataset.fragments().iter() {
        files.extend(data_files(table, fragment).map(|(path, _)| path));
        files.extend(deletions(table, fragment));
    }
    let indexes = dataset.load_indices().await.map_err(failed)?;
    let indexes = indexes.iter().map(|index| table.join("_indices").join(index.uuid.to_string())).collect();
    Ok(NeededFiles { files, indexes })
}

/// Tells whether the file is there with at least this many bytes.
pub(in crate::lance) fn is_whole(path: &Path, bytes: u64) -> io::Result<bool> {
    Ok(unless_gone(fs::metadata(path))?.is_some_and(|metadata| metadata.len() >= bytes))
}
