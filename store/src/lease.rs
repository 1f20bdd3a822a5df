//! The lease of the background jobs of a data directory: a lock file, which the kernel frees when the process
//! that has it ends, however it does.

use std::io;
use std::path::{Path, PathBuf};

use reasoning_bank_actors::ports::{Lease, LeaseGuard};

use super::files::{open_lock, try_lock};

pub struct BackgroundLock {
    lock: PathBuf,
}

impl BackgroundLock {
    pub fn of(dir: &Path) -> Self {
        Self { lock: dir.join(".background.lock") }
    }

    /// Makes the lease of consolidation, which goes on beside background jobs.
    pub fn of_consolidation(dir: &Path) -> Self {
        Self { lock: dir.join(".consolidation.lock") }
    }

    fn take(&self) -> io::Result<Option<LeaseGuard>> {
        let lock = open_lock(&self.lock)?;
        Ok(try_lock(&lock)?.then(|| Box::new(lock) as LeaseGuard))
    }
}

impl Lease for BackgroundLock {
    /// None, too, while there is no directory to lock.
    fn try_take(&self) -> Option<LeaseGuard> {
        let taken = self.take().inspect_err(|error| tracing::debug!(%error, "the background lock cannot be taken"));
        taken.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_lease_at_a_time_and_there_is_none_without_a_directory() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (BackgroundLock::of(temp.path()), BackgroundLock::of(temp.path()));
        let guard = one.try_take().unwrap();
        assert!(other.try_take().is_none());
        assert!(BackgroundLock::of_consolidation(temp.path()).try_take().is_some());
        drop(guard);
        assert!(other.try_take().is_some());
        assert!(BackgroundLock::of(&temp.path().join("gone")).try_take().is_none());
    }
}
