//! The directory `snapshot/` of a data directory, in which a backup gathers what it is made of. One backup does so at a
//! time. What a process that was killed left there is removed by the next backup, and by the next erasure, because it
//! may hold what is to be gone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::layout::Layout;
use crate::files::{create_dir, open_lock, try_lock, unless_gone};

/// The right to make a backup, and an empty directory for it, which is removed with all that was put there.
#[derive(Debug)]
pub(crate) struct SnapshotPlace {
    dir: PathBuf,
    _alone: File,
}

impl SnapshotPlace {
    /// Takes the place; `None` while another backup of the data directory is being made.
    pub(crate) fn take(data_dir: &Path) -> io::Result<Option<Self>> {
        let layout = Layout::of(data_dir);
        let Some(alone) = lock(&layout)? else { return Ok(None) };
        let dir = layout.snapshot();
        remove(&dir)?;
        create_dir(&dir)?;
        Ok(Some(Self { dir, _alone: alone }))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for SnapshotPlace {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.dir) {
            tracing::warn!(dir = %self.dir.display(), %error, "what a backup gathered stays until the next one");
        }
    }
}

/// Removes what a backup left that broke off. That of one which is being made is removed when it ends.
pub(super) fn remove_left_over(layout: &Layout) -> io::Result<()> {
    let dir = layout.snapshot();
    if !dir.try_exists()? {
        return Ok(());
    }
    match lock(layout)? {
        Some(_alone) => remove(&dir),
        None => Ok(()),
    }
}

fn lock(layout: &Layout) -> io::Result<Option<File>> {
    let file = open_lock(&layout.snapshot_lock())?;
    Ok(try_lock(&file)?.then_some(file))
}

fn remove(dir: &Path) -> io::Result<()> {
    unless_gone(fs::remove_dir_all(dir)).map(|_removed| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_backup_gathers_at_a_time_and_what_was_left_is_removed() {
        let data = tempfile::tempdir().unwrap();
        let layout = Layout::of(data.path());
        let place = SnapshotPlace::take(data.path()).unwrap().unwrap();
        fs::write(place.dir().join("rows"), "gathered").unwrap();
        assert!(SnapshotPlace::take(data.path()).unwrap().is_none());
        remove_left_over(&layout).unwrap();
        assert!(place.dir().join("rows").exists(), "it is in use");
        drop(place);
        assert!(!layout.snapshot().exists());

        fs::create_dir(layout.snapshot()).unwrap();
        fs::write(layout.snapshot().join("rows"), "left by a process that was killed").unwrap();
        remove_left_over(&layout).unwrap();
        assert!(!layout.snapshot().exists());
    }
}
