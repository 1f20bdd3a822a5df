//! Locks over all processes and instances that have the directory open: one writes at a time, and one does upkeep. The
//! kernel frees a lock when its process is killed. A lock file has no content. While a frame is being applied, a file
//! beside it names the journal (`write_owner`), so that whoever comes next finishes what was begun before it writes
//! anything of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reasoning_bank_actors::ports::{ReadOnlyCause, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::write_owner::{self, Applying};
use crate::files::{open_lock, try_lock};
use crate::lance::errors::{before_deadline, failed, unusable};
use crate::lance::layout::Layout;
use crate::lance::tables::Versions;
use crate::lance::threads::blocking;

/// The time between two tries to get the lock. It is short against the few milliseconds of a commit, and a try costs
/// one system call.
const RETRY: Duration = Duration::from_millis(1);

/// A lock file. It is opened when it is first wanted, because a directory that cannot be written to can be read all the
/// same.
pub(in crate::lance) struct FileLock {
    path: PathBuf,
    /// The tasks of this process queue here first and take the file lock one by one.
    file: Arc<Mutex<Option<File>>>,
}

/// The right that a lock gives, until it is dropped.
pub(in crate::lance) struct FileGuard(OwnedMutexGuard<Option<File>>);

impl FileLock {
    pub(in crate::lance) fn at(path: PathBuf) -> Self {
        Self { path, file: Arc::default() }
    }

    pub(in crate::lance) async fn acquire(&self, deadline: Deadline) -> Result<FileGuard, StoreError> {
        before_deadline(deadline, async {
            let mut slot = Arc::clone(&self.file).lock_owned().await;
            let file = match slot.take() {
                Some(file) => file,
                None => {
                    let path = self.path.clone();
                    blocking(move || open(&path)).await??
                }
            };
            let file = slot.insert(file);
            loop {
                if try_lock(file).map_err(failed)? {
                    // this is a sign of life to those who wait
                    let _ = file.set_modified(SystemTime::now());
                    return Ok(FileGuard(slot));
                }
                tokio::time::sleep(RETRY).await;
            }
        })
        .await
    }
}

impl Drop for FileGuard {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.as_ref().map(File::unlock) {
            tracing::error!(%error, "a lock of the store could not be freed");
        }
    }
}

pub(in crate::lance) struct WriteLock {
    file: FileLock,
    layout: Layout,
}

/// The right to write, until it is dropped.
pub(in crate::lance) struct WriteGuard {
    held: FileGuard,
    layout: Layout,
}

impl WriteLock {
    pub(in crate::lance) fn of(layout: &Layout) -> Self {
        Self { file: FileLock::at(layout.write_lock()), layout: layout.clone() }
    }

    pub(in crate::lance) async fn acquire(&self, deadline: Deadline) -> Result<WriteGuard, StoreError> {
        Ok(WriteGuard { held: self.file.acquire(deadline).await?, layout: self.layout.clone() })
    }

    /// Acquires the lock like [`Self::acquire`], but fails with [`ReadOnlyCause::LockHeld`] where the holder was the
    /// same all the while: it is not busy but has stopped.
    pub(in crate::lance) async fn acquire_in_turn(&self, deadline: Deadline) -> Result<WriteGuard, StoreError> {
        let (taken, is_late) = (self.last_taken(), deadline.passed());
        match self.acquire(deadline).await {
            Err(StoreError::TimedOut) if !is_late && self.last_taken() == taken => {
                Err(StoreError::ReadOnly(ReadOnlyCause::LockHeld))
            }
            acquired => acquired,
        }
    }

    /// Acquires the lock like [`Self::acquire`]. It waits until `deadline` while others take turns, but no longer than
    /// `stalled` for one of them.
    pub(in crate::lance) async fn acquire_unless_stalled(
        &self,
        stalled: Duration,
        deadline: Deadline,
    ) -> Result<WriteGuard, StoreError> {
        loop {
            match self.acquire_in_turn(deadline.at_most(stalled)).await {
                Err(StoreError::TimedOut) if deadline.passed() => {
                    return Err(StoreError::ReadOnly(ReadOnlyCause::LockHeld));
                }
                Err(StoreError::TimedOut) => {}
                acquired => return acquired,
            }
        }
    }

    /// Returns the time at which somebody last got the lock; `None` where the file does not tell.
    fn last_taken(&self) -> Option<SystemTime> {
        self.layout.write_lock().metadata().and_then(|metadata| metadata.modified()).ok()
    }
}

fn open(path: &Path) -> Result<File, StoreError> {
    open_lock(path).map_err(|error| unusable(path, &error))
}

impl WriteGuard {
    /// Reads what the last holder began and did not finish. An earlier version wrote the name of its journal into the
    /// lock file. Only the process that holds the file may read it, so it is read here.
    pub(in crate::lance) fn unfinished(&self) -> Result<Applying, StoreError> {
        let mut unfinished = Applying::read(&self.layout).map_err(failed)?;
        if let (None, Some(lock)) = (&unfinished.journal, &*self.held.0) {
            unfinished.journal = write_owner::named_in(lock).map_err(failed)?;
        }
        Ok(unfinished)
    }

    /// Notes that the last frame of this journal is about to be applied.
    pub(in crate::lance) fn begin(&self, journal: &str) -> Result<(), StoreError> {
        write_owner::begin(&self.layout, journal).map_err(failed)
    }

    /// Notes the versions of the tables that are about to change.
    pub(in crate::lance) fn note_versions(&self, before: &Versions) -> Result<(), StoreError> {
        write_owner::note_versions(&self.layout, before).map_err(failed)
    }

    /// Notes that the tables have all that was begun. It also empties a lock file that an earlier version wrote to.
    pub(in crate::lance) fn finish(&self) -> Result<(), StoreError> {
        write_owner::finish(&self.layout).map_err(failed)?;
        let Some(lock) = &*self.held.0 else { return Ok(()) };
        if lock.metadata().map_err(failed)?.len() > 0 {
            lock.set_len(0).map_err(failed)?;
        }
        Ok(())
    }
}
