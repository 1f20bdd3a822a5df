//! Configuration files on disk. A file is replaced whole, by a new one beside it, and a link stays a link.

use std::fmt::Display;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use reasoning_bank_store::files::open_regular;

use super::super::failure::CommandFailure;

/// The modes of new files, before the user's mask.
const OF_USER: u32 = 0o600;
const OF_PROJECT: u32 = 0o666;
/// The bound is above what a client keeps in such a file.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a file; none where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, CommandFailure> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, error)),
    };
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|error| unreadable(path, error))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(unreadable(path, "it is larger than 64 MB"));
    }
    Ok(Some(text))
}

/// Writes a file, with the permissions that it has, and returns the directories that were made for it, the outermost
/// first. A new one is this user's alone.
pub(super) fn write(path: &Path, text: &str) -> Result<Vec<PathBuf>, CommandFailure> {
    write_with(path, text, OF_USER)
}

/// Does the same for a file of a project, which others may read as far as the user's mask lets them.
pub(super) fn write_shared(path: &Path, text: &str) -> Result<Vec<PathBuf>, CommandFailure> {
    write_with(path, text, OF_PROJECT)
}

fn write_with(path: &Path, text: &str, mode: u32) -> Result<Vec<PathBuf>, CommandFailure> {
    let target = target(path)?;
    let directory = target.parent().unwrap_or(Path::new("/"));
    let mut made: Vec<PathBuf> =
        directory.ancestors().take_while(|directory| !directory.exists()).map(Path::to_owned).collect();
    made.reverse();
    let replaced = || -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let permissions = match fs::metadata(&target) {
            Ok(metadata) => Some(metadata.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        let new = fs::Permissions::from_mode(mode);
        let mut file = tempfile::Builder::new().permissions(new).tempfile_in(directory)?;
        file.write_all(text.as_bytes())?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        file.as_file().sync_all()?;
        file.persist(&target).map_err(|error| error.error)?;
        Ok(())
    };
    replaced().map_err(|error| unwritable(path, error))?;
    Ok(made)
}

/// Says before anything is written that a file cannot be.
pub(super) fn check_writable(path: &Path) -> Result<(), CommandFailure> {
    match fs::metadata(target(path)?) {
        Ok(metadata) if !metadata.is_file() => Err(unwritable(path, "it is no regular file")),
        Ok(metadata) if metadata.permissions().readonly() => Err(unwritable(path, "it is read-only")),
        _ => Ok(()),
    }
}

/// Deletes a file, and the directories that were made for it where they are empty.
pub(super) fn delete(path: &Path, made: &[PathBuf]) -> Result<(), CommandFailure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(unwritable(path, error)),
        _ => {}
    }
    for directory in made.iter().rev() {
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}

pub(super) fn unreadable(path: &Path, why: impl Display) -> CommandFailure {
    CommandFailure::usage(format!("{} cannot be read: {why}", path.display()))
        .hint("correct the file, or leave its client out by naming the others; nothing was changed")
}

pub(super) fn unwritable(path: &Path, why: impl Display) -> CommandFailure {
    CommandFailure::usage(format!("{} cannot be written: {why}", path.display()))
        .hint("make the file writable, or write what `setup --dry-run` shows by hand; a second run goes on from here")
}

/// Follows links to the file that is meant.
fn target(path: &Path) -> Result<PathBuf, CommandFailure> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path).map_err(|error| {
            unwritable(path, format!("it is a link to nothing ({error})"))
                .hint("make the file that the link leads to, or remove the link; nothing was changed")
        }),
        _ => Ok(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_and_a_device_are_neither_read_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.json");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for path in [&pipe, &link] {
            let failures = [read(path).unwrap_err(), check_writable(path).unwrap_err()];
            assert!(failures.iter().all(|failure| failure.message.contains("no regular file")), "{}", path.display());
        }
    }
}
