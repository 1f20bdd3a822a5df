//! A directory that becomes a backup when all of it is there. Until then it has another name, `.NAME.partial`, beside
//! the place that it is for. What a process that was killed left under such a name is removed by the next one that
//! makes a backup there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::BackupError;
use crate::files::{create_dir, make_dir, sync_dir};
use crate::lance::sync_all;

const ENDING: &str = ".partial";

pub(super) struct PartialDir {
    dir: PathBuf,
    to: PathBuf,
    _alone: File,
    published: bool,
}

impl PartialDir {
    /// Begins a directory for a place where nothing is yet.
    pub(super) fn begin(to: &Path) -> Result<Self, BackupError> {
        let unnamed = || BackupError::Place { place: to.to_owned(), problem: "is no name for a directory" };
        let (dir, parent) = of(to).zip(to.parent()).ok_or_else(unnamed)?;
        create_dir(parent).map_err(BackupError::io(parent))?;
        let being_made = || BackupError::Place { place: to.to_owned(), problem: "is being made by another process" };
        let alone = take(&dir).map_err(BackupError::io(&dir))?.ok_or_else(being_made)?;
        Ok(Self { dir, to: to.to_owned(), _alone: alone, published: false })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Gives the directory its name, once all of it is on the disk.
    pub(super) fn publish(mut self) -> Result<(), BackupError> {
        let publish = || {
            sync_all(&self.dir)?;
            fs::rename(&self.dir, &self.to)?;
            self.dir.parent().map_or(Ok(()), sync_dir)
        };
        publish().map_err(BackupError::io(&self.to))?;
        self.published = true;
        Ok(())
    }
}

impl Drop for PartialDir {
    fn drop(&mut self) {
        if !self.published
            && let Err(error) = fs::remove_dir_all(&self.dir)
        {
            tracing::warn!(dir = %self.dir.display(), %error, "a half-made backup stays; it may be removed");
        }
    }
}

/// Returns the name that a directory has until all of it is there; `None` for a path that ends with no name.
pub(super) fn of(to: &Path) -> Option<PathBuf> {
    let name = to.file_name()?.to_str()?;
    Some(to.with_file_name(format!(".{name}{ENDING}")))
}

/// Returns the place that a directory with a name of this kind is for; `None` for any other name.
pub(super) fn is_for(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.strip_suffix(ENDING)
}

/// Makes an empty directory and takes its lock, after removing what a killed process left there. `None` where a process
/// is at work there.
pub(super) fn take(dir: &Path) -> io::Result<Option<File>> {
    if !remove_left_over(dir)? {
        return Ok(None);
    }
    make_dir(dir)?;
    let alone = File::open(dir)?;
    alone.lock()?;
    Ok(Some(alone))
}

/// Removes a directory that a process left which was killed. False where a process is at work there.
pub(super) fn remove_left_over(dir: &Path) -> io::Result<bool> {
    let Ok(left) = File::open(dir) else { return Ok(true) };
    if left.try_lock().is_err() {
        return Ok(false);
    }
    fs::remove_dir_all(dir)?;
    Ok(true)
}
