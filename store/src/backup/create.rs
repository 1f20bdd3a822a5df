//! Making a backup. What the store gathered under its lock is joined by what lies beside it in the data directory. Then
//! all of it is linked, where the destination is on the same file system, or copied, with the checksum of every byte.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use reasoning_bank_actors::runtime::Deadline;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::copying::{Copied, copy};
use super::manifest::{BANK, BackupFile, BackupManifest, MANIFEST, MANIFEST_SUM};
use super::partial::PartialDir;
use super::{BackupError, blocking, registry};
use crate::banks::gather_banks;
use crate::data_dir;
use crate::files::{copy_tree, create_file, make_parent, unless_gone};
use crate::lance::{LanceStore, SnapshotFacts, SnapshotPlace};

/// The destination of a backup.
pub enum Destination {
    /// A directory, which must not be there yet.
    Directory(PathBuf),
    /// A stream, which gets a file of tar.
    Stream(Box<dyn Write + Send>),
}

/// Makes a backup of the bank as it is at one moment. `deadline` is for that moment alone; copying goes on for as long
/// as it takes, or until it is cancelled. What is not whole is removed, unless it went into a stream.
///
/// # Errors
/// [`BackupError::Busy`], [`BackupError::Place`], [`BackupError::Io`], [`BackupError::Store`],
/// [`BackupError::Cancelled`].
pub async fn create(
    store: &LanceStore,
    to: Destination,
    deadline: Deadline,
    cancel: &CancellationToken,
) -> Result<BackupManifest, BackupError> {
    let dir = store.dir().to_owned();
    let place = blocking(move || SnapshotPlace::take(&dir).map_err(BackupError::io(&dir))).await?;
    create_at(store, place.ok_or(BackupError::Busy)?, to, deadline, cancel).await
}

/// Makes a backup with the place to gather it in.
pub(super) async fn create_at(
    store: &LanceStore,
    place: SnapshotPlace,
    to: Destination,
    deadline: Deadline,
    cancel: &CancellationToken,
) -> Result<BackupManifest, BackupError> {
    let (id, dir) = (Uuid::now_v7(), store.dir().to_owned());
    let (data_dir, cancelled) = (dir.clone(), cancel.clone());
    // It is remembered first: an erasure that comes after the moment of the backup names it, whatever becomes of this
    // process.
    let to = blocking(move || {
        let to = check(to, &dir)?;
        let directory = match &to {
            Destination::Directory(path) => Some(path.clone()),
            Destination::Stream(_) => None,
        };
        registry::add(&dir, id, directory, Timestamp::now()).map_err(BackupError::io(&dir))?;
        Ok(to)
    })
    .await?;
    let made = async {
        let (place, facts) = store.snapshot(place, deadline).await?;
        let from = data_dir.clone();
        blocking(move || {
            registry::date(&from, id, facts.at).map_err(BackupError::io(&from))?;
            write(id, &from, &place, facts, to, &cancelled)
        })
        .await
    };
    let made = made.await;
    if made.is_err() {
        let forgotten = blocking(move || registry::forget(&data_dir, id).map_err(BackupError::io(&data_dir))).await;
        if let Err(error) = forgotten {
            tracing::warn!(%error, "a backup that was not made is remembered");
        }
    }
    made
}

/// Checks that a directory can be made, and makes its path absolute.
fn check(to: Destination, data_dir: &Path) -> Result<Destination, BackupError> {
    let Destination::Directory(path) = to else { return Ok(to) };
    let path = std::path::absolute(&path).map_err(BackupError::io(&path))?;
    let refused = |problem| Err(BackupError::Place { place: path.clone(), problem });
    if path.symlink_metadata().is_ok() {
        return refused("is there already; name a directory that is not");
    }
    refuse_within(&path, data_dir)?;
    Ok(Destination::Directory(path))
}

/// Refuses an absolute path in the data directory.
pub(super) fn refuse_within(path: &Path, data_dir: &Path) -> Result<(), BackupError> {
    let existing = path.ancestors().find_map(|dir| dir.canonicalize().ok());
    let data_dir = unless_gone(data_dir.canonicalize()).map_err(BackupError::io(data_dir))?;
    match existing.zip(data_dir) {
        Some((existing, data_dir)) if existing.starts_with(&data_dir) => {
            let problem = "lies in the data directory; a backup must be elsewhere";
            Err(BackupError::Place { place: path.to_owned(), problem })
        }
        _ => Ok(()),
    }
}

/// Writes what was gathered, and what lies beside it, to its destination.
fn write(
    id: Uuid,
    data_dir: &Path,
    place: &SnapshotPlace,
    facts: SnapshotFacts,
    to: Destination,
    cancel: &CancellationToken,
) -> Result<BackupManifest, BackupError> {
    gather_beside(data_dir, place.dir()).map_err(BackupError::io(data_dir))?;
    let mut paths = Vec::new();
    list(place.dir(), "", &mut paths).map_err(BackupError::io(place.dir()))?;
    paths.sort();
    let manifest = |files| BackupManifest {
        backup_format: BackupManifest::format(),
        id,
        bank: facts.bank,
        created_at: facts.at,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        store_format: facts.format,
        embedder: facts.embedder.to_string(),
        rows: facts.rows,
        workspaces: facts.workspaces,
        files,
    };
    let listed = |path, Copied { bytes, sha256 }| BackupFile { path, bytes, sha256 };
    match to {
        Destination::Directory(to) => {
            let partial = PartialDir::begin(&to)?;
            let bank = partial.dir().join(BANK);
            let placed = paths.into_iter().map(|path| {
                let copied = put(&place.dir().join(&path), &bank.join(&path), cancel)?;
                Ok(listed(path, copied))
            });
            let manifest = manifest(placed.collect::<Result<_, BackupError>>()?);
            manifest.write(partial.dir()).map_err(BackupError::io(partial.dir()))?;
            partial.publish()?;
            Ok(manifest)
        }
        Destination::Stream(stream) => {
            let files = paths.into_iter().map(|path| {
                let copied = summed(&place.dir().join(&path), cancel)?;
                Ok(listed(path, copied))
            });
            let manifest = manifest(files.collect::<Result<_, BackupError>>()?);
            stream_out(&manifest, place.dir(), stream, cancel)?;
            Ok(manifest)
        }
    }
}

/// Gathers what lies beside the store. What is replaced whole is taken as it is now; what vanishes meanwhile is gone.
fn gather_beside(data_dir: &Path, to: &Path) -> io::Result<()> {
    for name in [data_dir::TOKENS, data_dir::DEFAULT_WORKSPACE, data_dir::BACKGROUND_SPENT] {
        copy_file(&data_dir.join(name), &to.join(name), |_| true)?;
    }
    for name in [data_dir::AGREED, data_dir::LINKS, data_dir::TRACES] {
        each_file(&data_dir.join(name), "json", |path, name_of_it| {
            copy_file(path, &to.join(name).join(name_of_it), |_| true)
        })?;
    }
    // processes append to these: the line that is being written is left out
    for name in [data_dir::AUDIT, data_dir::SPENDING] {
        each_file(&data_dir.join(name), "jsonl", |path, name_of_it| {
            copy_file(path, &to.join(name).join(name_of_it), |byte| byte == b'\n')
        })?;
    }
    let working = data_dir.join(data_dir::WORKING);
    for workspace in unless_gone(fs::read_dir(&working))?.into_iter().flatten() {
        let workspace = workspace?;
        if workspace.file_type()?.is_dir() {
            let of = Path::new(data_dir::WORKING).join(workspace.file_name());
            each_file(&workspace.path(), "log", |path, name_of_it| {
                copy_file(path, &to.join(&of).join(name_of_it), |byte| byte == b'\n')
            })?;
        }
    }
    copy_tree(&data_dir.join(data_dir::ARTEFACTS), &to.join(data_dir::ARTEFACTS), None)?;
    gather_banks(data_dir, to)
}

fn each_file(dir: &Path, extension: &str, mut take: impl FnMut(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    let Some(entries) = unless_gone(fs::read_dir(dir))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_some_and(|found| found == extension) && entry.file_type()?.is_file() {
            take(&path, Path::new(&entry.file_name()))?;
        }
    }
    Ok(())
}

/// Copies a file as far as its last byte that may be the last one of a copy, if it is there.
fn copy_file(from: &Path, to: &Path, may_be_last: impl Fn(u8) -> bool) -> io::Result<()> {
    let Some(mut file) = unless_gone(File::open(from))? else { return Ok(()) };
    let mut copied = create_file(to)?;
    let mut end = io::copy(&mut file, &mut copied)?;
    let mut last = [0];
    while end > 0 {
        std::os::unix::fs::FileExt::read_exact_at(&copied, &mut last, end - 1)?;
        if may_be_last(last[0]) {
            break;
        }
        end -= 1;
    }
    copied.set_len(end)
}

/// Lists the files below a directory.
fn list(dir: &Path, prefix: &str, paths: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(|| io::Error::other("a file has a name that is not UTF-8"))?;
        let path = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
        match entry.file_type()?.is_dir() {
            true => list(&entry.path(), &path, paths)?,
            false => paths.push(path),
        }
    }
    Ok(())
}

/// Links a file that never changes, or copies it where it cannot be linked, and returns its checksum.
fn put(from: &Path, to: &Path, cancel: &CancellationToken) -> Result<Copied, BackupError> {
    make_parent(to).map_err(BackupError::io(to))?;
    if fs::hard_link(from, to).is_ok() {
        return summed(to, cancel);
    }
    let mut made = create_file(to).map_err(BackupError::io(to))?;
    let mut file = File::open(from).map_err(BackupError::io(from))?;
    copy(&mut file, &mut made, cancel).map_err(|error| error.of(from, to))
}

/// Returns the checksum of a file.
fn summed(path: &Path, cancel: &CancellationToken) -> Result<Copied, BackupError> {
    let mut file = File::open(path).map_err(BackupError::io(path))?;
    copy(&mut file, &mut io::sink(), cancel).map_err(|error| error.of(path, path))
}

/// Writes a file of tar: the manifest, its checksum, and the files in the order of the manifest.
fn stream_out(
    manifest: &BackupManifest,
    from: &Path,
    stream: Box<dyn Write + Send>,
    cancel: &CancellationToken,
) -> Result<(), BackupError> {
    let failed = |error| BackupError::Io { path: PathBuf::from("the stream"), error };
    let (text, sum) = manifest.texts().map_err(failed)?;
    let mut tar = tar::Builder::new(io::BufWriter::new(stream));
    let mut append = |path: &Path, bytes: u64, content: &mut dyn Read| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(manifest.created_at.as_second()).unwrap_or_default());
        header.set_size(bytes);
        tar.append_data(&mut header, path, content)
    };
    append(Path::new(MANIFEST), text.len() as u64, &mut &text[..]).map_err(failed)?;
    append(Path::new(MANIFEST_SUM), sum.len() as u64, &mut sum.as_bytes()).map_err(failed)?;
    for file in &manifest.files {
        if cancel.is_cancelled() {
            return Err(BackupError::Cancelled);
        }
        let path = from.join(&file.path);
        let mut content = File::open(&path).map_err(BackupError::io(&path))?;
        append(&Path::new(BANK).join(&file.path), file.bytes, &mut content).map_err(failed)?;
    }
    let mut stream = tar.into_inner().map_err(failed)?;
    stream.flush().map_err(failed)
}
