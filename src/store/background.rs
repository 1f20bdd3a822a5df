//! The right to work off the background jobs of a data directory: a lock file, which the kernel frees when the process
//! that has it ends, however it does.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use reasoning_bank_actors::ports::{Exclusive, Right};

pub struct BackgroundLock {
    path: PathBuf,
}

impl BackgroundLock {
    pub fn of(data_dir: &std::path::Path) -> Self {
        Self { path: data_dir.join(".background.lock") }
    }

    fn open(&self) -> std::io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(false).open(&self.path)
    }
}

impl Exclusive for BackgroundLock {
    /// None, too, while there is no directory to lock.
    fn try_take(&self) -> Option<Right> {
        let file = self.open().inspect_err(|error| tracing::debug!(%error, "the background lock cannot be opened"));
        let file = file.ok()?;
        file.try_lock().is_ok().then(|| Box::new(file) as Right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_right_at_a_time_and_gives_it_back_by_dropping_it() {
        let temp = tempfile::tempdir().unwrap();
        let (one, other) = (BackgroundLock::of(temp.path()), BackgroundLock::of(temp.path()));
        let right = one.try_take().unwrap();
        assert!(other.try_take().is_none());
        drop(right);
        assert!(other.try_take().is_some());
        assert!(BackgroundLock::of(&temp.path().join("gone")).try_take().is_none());
    }
}
