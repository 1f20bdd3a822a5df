//! Restoring a backup into an empty directory. Everything is put into `.restoring/` there first, checked, opened, and
//! rid of what was erased after the backup was made. Then it moves up. While `.restoring/` is there no bank is opened
//! in the directory, so nobody meets half of one.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::ports::{MemoryStore, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use tokio_util::sync::CancellationToken;

use super::manifest::{BackupFile, BackupManifest};
use super::source::{self, BackupSource, Receiver};
use super::{BackupError, Flaw, FlawedFile, blocking, partial, registry};
use crate::artefact_files::ArtefactFiles;
use crate::data_dir;
use crate::files::{create_dir, create_file, sync_dir};
use crate::lance::{ErasureLog, FORMAT_VERSION, LanceStore, LoggedErasure, Options, RESTORING, sync_all};
use crate::trace_files::{TraceFileOptions, TraceFiles};

/// One erasure may take this long: it rewrites tables and builds their indexes again.
const ERASE_LIMIT: Duration = Duration::from_secs(600);
const CLOSE_LIMIT: Duration = Duration::from_secs(60);
/// File systems have this directory in their root; it is nobody's.
const LOST_AND_FOUND: &str = "lost+found";

#[derive(Debug, Clone, Default)]
pub struct RestoreOptions {
    /// The tokens are restored as well.
    pub with_tokens: bool,
    /// A data directory, or a backup, of the same bank: what was erased there after the backup was made is erased
    /// again.
    pub erasures_of: Option<PathBuf>,
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    pub manifest: BackupManifest,
    /// The erasures that were carried out again, as they concerned something in the backup.
    pub erased_again: usize,
    /// The places whose erasures are known, besides those of the backup itself.
    pub erasures_from: Vec<PathBuf>,
    /// The number of memories after that.
    pub memories: u64,
    pub with_tokens: bool,
    /// The files that lie in the backup and were left there, because they are not part of it.
    pub unexpected: Vec<FlawedFile>,
}

/// Restores a backup into a directory that is empty or not there. Erasures that newer backups beside it know of are
/// carried out again, and those of [`RestoreOptions::erasures_of`]. After an error nothing is left of what was begun.
///
/// # Errors
/// [`BackupError::Place`], [`BackupError::NoBackup`], [`BackupError::Damaged`], [`BackupError::OtherBank`],
/// [`BackupError::Io`], [`BackupError::Store`], [`BackupError::Cancelled`].
pub async fn restore(
    source: BackupSource,
    into: &Path,
    options: RestoreOptions,
    cancel: &CancellationToken,
) -> Result<Restored, BackupError> {
    let (into, cancelled) = (into.to_owned(), cancel.clone());
    let unpacked = blocking(move || Unpacked::of(source, &into, &options, &cancelled)).await?;
    let Unpacked { restoring, manifest, unexpected, logs, with_tokens } = unpacked;
    let (erased_again, memories) = finish_bank(&restoring.dir, &manifest, &logs, cancel).await?;
    blocking(move || restoring.publish()).await?;
    let erasures_from = logs.into_iter().map(|(place, _)| place).collect();
    Ok(Restored { manifest, erased_again, erasures_from, memories, with_tokens, unexpected })
}

/// A backup that lies in `.restoring/`, with what has to be erased there.
struct Unpacked {
    restoring: RestoringDir,
    manifest: BackupManifest,
    unexpected: Vec<FlawedFile>,
    logs: Vec<(PathBuf, ErasureLog)>,
    with_tokens: bool,
}

impl Unpacked {
    fn of(
        source: BackupSource,
        into: &Path,
        options: &RestoreOptions,
        cancel: &CancellationToken,
    ) -> Result<Self, BackupError> {
        let from = match &source {
            BackupSource::Directory(dir) => Some(std::path::absolute(dir).map_err(BackupError::io(dir))?),
            BackupSource::Stream(_) => None,
        };
        let restoring = RestoringDir::begin(into)?;
        let mut unpacking = Unpacking { dir: &restoring.dir, with_tokens: options.with_tokens, had_tokens: false };
        let (manifest, findings) = source::read(source, &mut unpacking, cancel)?;
        let with_tokens = unpacking.had_tokens;
        let (unexpected, damaged): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.flaw == Flaw::Unexpected);
        if !damaged.is_empty() {
            return Err(BackupError::Damaged(damaged));
        }
        let mut logs = from.map(|from| newer_beside(&from, &manifest)).unwrap_or_default();
        if let Some(dir) = &options.erasures_of {
            logs.push((dir.clone(), registry::erasures_of(dir, manifest.bank)?));
        }
        Ok(Self { restoring, manifest, unexpected, logs, with_tokens })
    }
}

/// Finds what newer backups of the same bank, which lie beside this one, know of erasures.
fn newer_beside(from: &Path, manifest: &BackupManifest) -> Vec<(PathBuf, ErasureLog)> {
    let beside = from.parent().map(registry::in_directory).unwrap_or_default();
    let mut newer: Vec<_> = beside
        .into_iter()
        .filter(|(_, other)| other.bank == manifest.bank && other.created_at > manifest.created_at)
        .collect();
    newer.sort_by_key(|(_, other)| other.created_at);
    let log = |(dir, _): (PathBuf, BackupManifest)| match registry::erasures_of(&dir, manifest.bank) {
        Ok(log) => Some((dir, log)),
        Err(error) => {
            tracing::warn!(%error, "what a newer backup knows of erasures cannot be read");
            None
        }
    };
    newer.into_iter().filter_map(log).collect()
}

/// Takes the files of a backup into a directory.
struct Unpacking<'a> {
    dir: &'a Path,
    with_tokens: bool,
    had_tokens: bool,
}

impl Receiver for Unpacking<'_> {
    fn begin(&mut self, manifest: &BackupManifest) -> Result<(), BackupError> {
        if manifest.store_format > FORMAT_VERSION {
            let error = StoreError::NewerFormat { found: manifest.store_format, known: FORMAT_VERSION };
            return Err(error.into());
        }
        Ok(())
    }

    fn file(&mut self, file: &BackupFile) -> Result<Option<(PathBuf, File)>, BackupError> {
        if file.path == data_dir::TOKENS {
            if !self.with_tokens {
                return Ok(None);
            }
            self.had_tokens = true;
        }
        let path = self.dir.join(&file.path);
        let made = create_file(&path).map_err(BackupError::io(&path))?;
        Ok(Some((path, made)))
    }
}

/// Opens the bank once, as any process will, and erases again what was erased after the backup was made. Returns how
/// many erasures that were, and how many memories there are.
async fn finish_bank(
    dir: &Path,
    manifest: &BackupManifest,
    logs: &[(PathBuf, ErasureLog)],
    cancel: &CancellationToken,
) -> Result<(usize, u64), BackupError> {
    let no_backup = |problem: String| BackupError::no_backup("what was restored", problem);
    let embedder = LanceStore::embedder_of(dir).await?;
    let embedder = embedder.ok_or_else(|| no_backup("it does not say whose vectors it has".into()))?;
    let options = Options { resident_bytes: 0, ..Options::default() };
    let store = Arc::new(LanceStore::open(dir, &embedder, options).await?);
    if let Some(limitation) = store.limitation() {
        return Err(StoreError::ReadOnly(limitation.cause).into());
    }
    let rows = store.rows().await?;
    for (table, wanted) in &manifest.rows {
        let found = rows.get(table).copied().unwrap_or_default();
        if found < *wanted {
            return Err(no_backup(format!("the table {table} has {found} rows and had {wanted}")));
        }
    }
    let own = ErasureLog::read(dir).map_err(BackupError::io(dir))?;
    let mut log = own.ok_or_else(|| no_backup("it has no log of erasures".into()))?;
    let traces = TraceFileOptions { dir: dir.join(data_dir::TRACES), write: false, retention_days: 0 };
    let with_files = TraceFiles::new(Arc::clone(&store) as Arc<dyn MemoryStore>, traces, ArtefactFiles::of(dir));
    let mut erased = 0;
    for (_, later) in logs {
        let later: Vec<LoggedErasure> = later.without(&log).cloned().collect();
        for erasure in later {
            if cancel.is_cancelled() {
                return Err(BackupError::Cancelled);
            }
            if store.has(&erasure.scope).await? {
                with_files.erase(erasure.scope.clone(), Deadline::after(ERASE_LIMIT)).await?;
                erased += 1;
            }
            log.erasures.push(erasure);
        }
    }
    let memories = store.rows().await?.get("memories").copied().unwrap_or_default();
    store.close(Deadline::after(CLOSE_LIMIT)).await?;
    // They keep their ids: the same log may be read again when a backup of this bank is restored.
    log.write(dir).map_err(BackupError::io(dir))?;
    Ok((erased, memories))
}

/// The directory `.restoring/`, which is removed unless all of it moves up.
struct RestoringDir {
    dir: PathBuf,
    into: PathBuf,
    /// The directory was made for this.
    made: bool,
    _alone: File,
    /// Something moved up: from then on nothing is removed.
    moved: bool,
}

impl RestoringDir {
    fn begin(into: &Path) -> Result<Self, BackupError> {
        let into = std::path::absolute(into).map_err(BackupError::io(into))?;
        let refused = |problem| Err(BackupError::Place { place: into.clone(), problem });
        let made = into.symlink_metadata().is_err();
        if !made && !into.is_dir() {
            return refused("is no directory");
        }
        create_dir(&into).map_err(BackupError::io(&into))?;
        let dir = into.join(RESTORING);
        for entry in fs::read_dir(&into).map_err(BackupError::io(&into))? {
            let name = entry.map_err(BackupError::io(&into))?.file_name();
            if ![OsStr::new(RESTORING), OsStr::new(LOST_AND_FOUND)].contains(&&*name) {
                return refused("is not empty; a backup is restored into a directory that is empty or not there");
            }
        }
        let Some(alone) = partial::take(&dir).map_err(BackupError::io(&dir))? else {
            return refused("is being restored into by another process");
        };
        Ok(Self { dir, into, made, _alone: alone, moved: false })
    }

    /// Moves everything up, once all of it is on the disk.
    fn publish(mut self) -> Result<(), BackupError> {
        sync_all(&self.dir).map_err(BackupError::io(&self.dir))?;
        self.moved = true;
        let move_up = || {
            for entry in fs::read_dir(&self.dir)? {
                let entry = entry?;
                fs::rename(entry.path(), self.into.join(entry.file_name()))?;
            }
            sync_dir(&self.into)?;
            fs::remove_dir(&self.dir)?;
            sync_dir(&self.into)
        };
        move_up().map_err(BackupError::io(&self.into))
    }
}

impl Drop for RestoringDir {
    fn drop(&mut self) {
        if self.moved {
            return;
        }
        let removed = fs::remove_dir_all(&self.dir).and_then(|()| match self.made {
            true => fs::remove_dir(&self.into),
            false => Ok(()),
        });
        if let Err(error) = removed {
            tracing::warn!(dir = %self.dir.display(), %error, "what was begun to be restored stays; it may be removed");
        }
    }
}
