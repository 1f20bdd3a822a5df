//! Locks over all processes and instances that have the directory open, which the kernel frees when a process is killed:
//! one writer at a time, and one that does upkeep. While a frame is being applied the lock file names its journal, so that whoever comes next
//! finishes what was begun before it writes anything of its own.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_actors::runtime::Deadline;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::failed;
use super::format::{Layout, unusable};

/// Short against the few milliseconds of a commit; a try costs one system call.
const RETRY: Duration = Duration::from_millis(1);

/// A lock file.
pub(super) struct FileLock {
    /// Those of this process queue here first and take the file lock one by one.
    file: Arc<Mutex<File>>,
}

/// A lock that is held, until it is dropped.
pub(super) struct FileGuard(OwnedMutexGuard<File>);

impl FileLock {
    pub(super) async fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = super::blocking(move || open(&path)).await??;
        Ok(Self { file: Arc::new(Mutex::new(file)) })
    }

    pub(super) async fn acquire(&self, deadline: Deadline) -> Result<FileGuard, StoreError> {
        super::within(deadline, async {
            let file = Arc::clone(&self.file).lock_owned().await;
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(FileGuard(file)),
                    Err(TryLockError::WouldBlock) => tokio::time::sleep(RETRY).await,
                    Err(TryLockError::Error(error)) => return Err(failed(error)),
                }
            }
        })
        .await
    }
}

impl Drop for FileGuard {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::error!(%error, "a lock of the store could not be freed");
        }
    }
}

pub(super) struct WriteLock(FileLock);

/// The right to write, until it is dropped.
pub(super) struct WriteGuard(FileGuard);

impl WriteLock {
    pub(super) async fn open(layout: &Layout) -> Result<Self, StoreError> {
        FileLock::open(layout.write_lock()).await.map(Self)
    }

    pub(super) async fn acquire(&self, deadline: Deadline) -> Result<WriteGuard, StoreError> {
        self.0.acquire(deadline).await.map(WriteGuard)
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(|error| unusable(path, &error))
}

impl WriteGuard {
    /// The journal whose last frame may be applied in part.
    pub(super) fn unapplied(&mut self) -> Result<Option<String>, StoreError> {
        let mut name = String::new();
        self.0.0.rewind().map_err(failed)?;
        self.0.0.read_to_string(&mut name).map_err(failed)?;
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    pub(super) fn begin(&mut self, journal: &str) -> Result<(), StoreError> {
        self.finish()?;
        self.0.0.write_all(journal.as_bytes()).map_err(failed)
    }

    pub(super) fn finish(&mut self) -> Result<(), StoreError> {
        self.0.0.set_len(0).map_err(failed)?;
        self.0.0.rewind().map_err(failed)
    }
}
