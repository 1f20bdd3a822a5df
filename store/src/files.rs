//! Files that only their owner may read, that are replaced whole, or that may be missing.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{Mode, mkdirat};
use tempfile::NamedTempFile;

use super::ownership::{give_dir, give_file, is_of_another_user};

/// Creates the directory with its parents; nobody but the user may look into what is created. A directory is an entry
/// of its parent, so the parent of each one that is new is synced: without that a power loss takes the directory with
/// it.
pub fn create_dir(dir: &Path) -> io::Result<()> {
    make_dirs(dir)?.into_iter().try_for_each(|dir| sync_dir(parent(dir)))
}

/// Creates the directories that a file lies in, for their owner alone. Nothing is synced.
pub(crate) fn make_parent(path: &Path) -> io::Result<()> {
    make_dirs(parent(path)).map(|_made| ())
}

/// Creates the directory with its parents, and returns those that were missing, the innermost first.
fn make_dirs(dir: &Path) -> io::Result<Vec<&Path>> {
    let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<&Path> = dir.ancestors().take_while(missing).collect();
    for dir in missing.iter().rev() {
        match make_dir(dir) {
            // Another process made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => {}
            made => made?,
        }
    }
    match dir.as_os_str().is_empty() || dir.is_dir() {
        true => Ok(missing),
        false => Err(io::Error::from_raw_os_error(libc::EEXIST)),
    }
}

/// Creates a directory that was not there, in one that is, for its owner alone. Nothing is synced.
pub(crate) fn make_dir(dir: &Path) -> io::Result<()> {
    // A path without a name ends with `..`, and that directory is there.
    let Some(name) = dir.file_name() else { return Ok(()) };
    let parent = File::open(parent(dir))?;
    mkdirat(&parent, name, Mode::RWXU)?;
    give_dir(&parent, name);
    Ok(())
}

/// Creates a file that was not there, for its owner alone, with the directories that it lies in. Nothing is synced.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    make_parent(path)?;
    create_private(path, File::options().read(true).write(true))
}

/// Creates a file that was not there, for its owner alone, with the directories that it lies in. Its lock is taken
/// before others can see it. Nothing is synced.
pub(crate) fn create_locked(path: &Path) -> io::Result<File> {
    make_parent(path)?;
    let file = temporary_in(parent(path))?;
    match try_lock(file.as_file())? {
        true => Ok(file.persist_noclobber(path)?),
        false => Err(io::Error::other("the lock of a new file is taken")),
    }
}

/// Creates a file for its owner alone that gets its name later, and is gone without one.
fn temporary_in(dir: &Path) -> io::Result<NamedTempFile> {
    let file = NamedTempFile::new_in(dir)?;
    give_file(file.as_file(), dir, file.path().file_name());
    Ok(file)
}

/// Creates a file that was not there, for its owner alone, and opens it as the options say.
pub fn create_private(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let file = options.clone().mode(0o600).create_new(true).open(path)?;
    give_file(&file, parent(path), path.file_name());
    Ok(file)
}

/// Opens a file to read it. What is no regular file is refused: a pipe, for one, is opened only when something writes to
/// it.
pub fn open_regular(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::other("it is no regular file")),
    }
}

/// Opens a file as the options say, and creates it for its owner alone where it is not there. Root follows no link that
/// another user may have put in its place.
pub fn open_private(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let mut options = options.clone();
    if is_of_another_user(parent(path)) {
        options.custom_flags(libc::O_NOFOLLOW);
    }
    if let Some(file) = unless_gone(options.open(path))? {
        return Ok(file);
    }
    match create_private(path, &options) {
        // Another process made it meanwhile, or a link leads to what is not there.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.mode(0o600).create(true).open(path),
        created => created,
    }
}

/// Opens a file whose lock is taken, for its owner alone. What is in it stays.
pub fn open_lock(path: &Path) -> io::Result<File> {
    open_private(path, File::options().read(true).write(true))
}

/// Takes the lock of a file, and tells whether nobody else has it.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Replaces the file whole: after a crash the old content is there, or the new one.
pub fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = parent(path);
    let mut file = temporary_in(dir)?;
    file.write_all(content)?;
    sync(path, file.as_file())?;
    file.persist(path)?;
    sync_dir(dir)
}

/// Copies the files below a directory, for their owner alone, except those with this name. Links are left out, because
/// what they lead to belongs to somebody else. What vanishes meanwhile is gone. Nothing is synced.
pub(crate) fn copy_tree(from: &Path, to: &Path, except: Option<&str>) -> io::Result<()> {
    for entry in unless_gone(fs::read_dir(from))?.into_iter().flatten() {
        let entry = entry?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        let Some(kind) = unless_gone(entry.file_type())? else { continue };
        if kind.is_dir() {
            copy_tree(&path, &copied, except)?;
        } else if kind.is_file()
            && except.is_none_or(|name| entry.file_name() != name)
            && let Some(mut file) = unless_gone(File::open(&path))?
        {
            io::copy(&mut file, &mut create_file(&copied)?)?;
        }
    }
    Ok(())
}

/// Returns what the system answered, or `None` where it says that the file or directory is not there.
pub fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes the file, if it is there.
pub fn remove_if_there(path: &Path) -> io::Result<()> {
    unless_gone(fs::remove_file(path)).map(|_removed| ())
}

/// Syncs a directory: the names of what is in it are on the disk when this returns.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    sync(dir, &File::open(dir)?)
}

/// Syncs a file: its content is on the disk when this returns.
pub(crate) fn sync(path: &Path, file: &File) -> io::Result<()> {
    #[cfg(test)]
    faults::on_sync(path)?;
    let _ = path;
    file.sync_all()
}

/// Syncs the content of a file alone, for files of which nothing else matters.
pub(crate) fn sync_data(path: &Path, file: &File) -> io::Result<()> {
    #[cfg(test)]
    faults::on_sync(path)?;
    let _ = path;
    file.sync_data()
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Lets syncs fail, and records those that were done, for tests.
#[cfg(test)]
pub(crate) mod faults {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static FAILING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
    static SYNCED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

    fn lock(paths: &'static Mutex<Vec<PathBuf>>) -> MutexGuard<'static, Vec<PathBuf>> {
        paths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the next sync of something below this path fail, once, with the error that a bad disk gives.
    pub(crate) fn fail_next_sync_below(path: &Path) {
        lock(&FAILING).push(path.to_owned());
    }

    /// Tells whether this very path was synced.
    pub(crate) fn was_synced(path: &Path) -> bool {
        lock(&SYNCED).iter().any(|synced| synced == path)
    }

    pub(crate) fn on_sync(path: &Path) -> io::Result<()> {
        let mut failing = lock(&FAILING);
        if let Some(n) = failing.iter().position(|below| path.starts_with(below)) {
            failing.remove(n);
            return Err(io::Error::from_raw_os_error(5));
        }
        lock(&SYNCED).push(path.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_every_new_directory_is_synced() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("a/b/c");
        create_dir(&dir).unwrap();
        for parent in [top.path(), &top.path().join("a"), &top.path().join("a/b")] {
            assert!(faults::was_synced(parent), "{}", parent.display());
        }
        assert!(!faults::was_synced(&dir), "nothing is in it yet");
        create_dir(&dir).unwrap();
    }
}
