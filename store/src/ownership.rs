//! The owner of what a process makes in a directory of another user. Root may run a command on the data directory of a
//! service, whose user could not open what root owns there. So what root makes takes the owner of the directory that it
//! lies in. That user may have put a link there that leads elsewhere, so only what was just made, and what is found by
//! following no link, is given away.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{AtFlags, Dir, FileType, Gid, Mode, OFlags, Uid, chownat, openat, statat};

const ROOT: u32 = 0;

/// Returns the user of this process, who owns the pipe that it makes.
///
/// # Errors
/// The process has too many open files.
pub fn own_uid() -> io::Result<u32> {
    let (reader, _writer) = io::pipe()?;
    Ok(File::from(OwnedFd::from(reader)).metadata()?.uid())
}

/// Says whether this process is root's and the directory is not.
pub(crate) fn is_of_another_user(dir: &Path) -> bool {
    static IS_ROOT: OnceLock<bool> = OnceLock::new();
    // A directory that cannot be looked at holds nothing that could be opened.
    let is_of_another = || dir.metadata().is_ok_and(|about| about.uid() != ROOT);
    *IS_ROOT.get_or_init(|| own_uid().is_ok_and(|uid| uid == ROOT)) && is_of_another()
}

/// Gives a file of this name that was just made in a directory to the owner of the directory, where root made it. A
/// root that may not do so, as in some containers, keeps it and goes on.
pub(crate) fn give_file(made: &File, dir: &Path, name: Option<&OsStr>) {
    let given = || -> io::Result<()> {
        let about = made.metadata()?;
        let Some(name) = name.filter(|_| about.uid() == ROOT) else { return Ok(()) };
        let dir = File::options().read(true).custom_flags(libc::O_DIRECTORY).open(dir)?;
        // Whoever owns what leads to the directory may have put another one in its place meanwhile.
        let here = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (here.st_dev, here.st_ino) != (about.dev(), about.ino()) || about.nlink() != 1 {
            return Ok(());
        }
        give_to_owner(made, || dir.metadata())
    };
    tell(given());
}

/// Gives a directory of this name that was just made in another one to the owner of that one, where root made it.
pub(crate) fn give_dir(parent: &File, name: &OsStr) {
    let given = || {
        let made = File::from(openat(parent, name, directory(), Mode::empty())?);
        give_to_owner(&made, || parent.metadata())
    };
    tell(given());
}

/// Gives all that root owns below a directory to the owner of the directory, where this process is root's: the database
/// makes files by itself.
pub(crate) fn give_tree(dir: &Path) {
    let given = || {
        let opened = File::options().read(true).custom_flags(libc::O_DIRECTORY).open(dir)?;
        let owner = opened.metadata()?;
        if owner.uid() == ROOT || own_uid()? != ROOT {
            return Ok(());
        }
        give_below(&opened, &owner)
    };
    tell(given());
}

fn tell(given: io::Result<()>) {
    if let Err(error) = given {
        tracing::debug!(%error, "what root has made stays root's");
    }
}

fn directory() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn give_to_owner(made: &File, dir: impl FnOnce() -> io::Result<Metadata>) -> io::Result<()> {
    if made.metadata()?.uid() != ROOT {
        return Ok(());
    }
    match dir()? {
        owner if owner.uid() == ROOT => Ok(()),
        owner => fchown(made, Some(owner.uid()), Some(owner.gid())),
    }
}

/// Gives what root owns below a directory to this owner. What cannot be given is left out. A file with several names
/// stays as it is, because one of them may be elsewhere.
fn give_below(dir: impl AsFd, owner: &Metadata) -> io::Result<()> {
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if [b".".as_slice(), b".."].contains(&name.to_bytes()) {
            continue;
        }
        // What vanishes meanwhile belongs to nobody.
        let Ok(about) = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let is_dir = FileType::from_raw_mode(about.st_mode) == FileType::Directory;
        if about.st_uid == ROOT && (is_dir || about.st_nlink == 1) {
            let (user, group) = (Uid::from_raw(owner.uid()), Gid::from_raw(owner.gid()));
            tell(chownat(&dir, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from));
        }
        if is_dir {
            let name = OsStr::from_bytes(name.to_bytes());
            if let Ok(below) = openat(&dir, name, directory(), Mode::empty()) {
                tell(give_below(below, owner));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{chown, symlink};

    use super::*;
    use crate::files::{create_dir, create_file, open_lock, open_private, write_synced};

    const SERVICE: (u32, u32) = (12_345, 12_346);

    fn owner(path: &Path) -> (u32, u32) {
        let about = path.symlink_metadata().unwrap();
        (about.uid(), about.gid())
    }

    /// A directory of another user; `None` where this is not root, who alone can make one.
    #[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn of_service() -> Option<tempfile::TempDir> {
        let dir = tempfile::tempdir().unwrap();
        if owner(dir.path()).0 != ROOT {
            eprintln!("skipped: only root makes files in the directory of another user");
            return None;
        }
        chown(dir.path(), Some(SERVICE.0), Some(SERVICE.1)).unwrap();
        Some(dir)
    }

    #[test]
    fn what_root_makes_in_the_directory_of_a_service_belongs_to_the_service() {
        let Some(dir) = of_service() else { return };
        let [text, lock, below, deep, file] =
            ["text", ".lock", "below", "below/deep", "below/deep/made/file"].map(|name| dir.path().join(name));
        write_synced(&text, b"text").unwrap();
        open_lock(&lock).unwrap();
        create_dir(&deep).unwrap();
        create_file(&file).unwrap();
        for path in [&text, &lock, &below, &deep, &deep.join("made"), &file] {
            assert_eq!(owner(path), SERVICE, "{}", path.display());
        }
    }

    #[test]
    fn what_was_there_before_keeps_its_owner() {
        let Some(dir) = of_service() else { return };
        let elsewhere = tempfile::tempdir().unwrap();
        let target = elsewhere.path().join("target");
        fs::write(&target, "").unwrap();
        fs::hard_link(&target, dir.path().join(".lock")).unwrap();
        open_lock(&dir.path().join(".lock")).unwrap();
        symlink(elsewhere.path(), dir.path().join("link")).unwrap();
        create_dir(&dir.path().join("link/made")).unwrap();
        for path in [&target, elsewhere.path(), &elsewhere.path().join("made")] {
            assert_eq!(owner(path).0, ROOT, "{}", path.display());
        }
    }

    #[test]
    fn root_follows_a_link_to_a_file_in_its_own_directories_alone() {
        let Some(dir) = of_service() else { return };
        let own = tempfile::tempdir().unwrap();
        let [target, made] = ["target", "made"].map(|name| own.path().join(name));
        fs::write(&target, "kept").unwrap();
        let appended = File::options().append(true).clone();
        for leads_to in [&target, &made] {
            let link = dir.path().join("log");
            symlink(leads_to, &link).unwrap();
            assert_eq!(open_private(&link, &appended).unwrap_err().raw_os_error(), Some(libc::ELOOP));
            fs::remove_file(&link).unwrap();
        }
        assert!(!made.exists(), "nothing is made at the other end of a link");
        assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
        symlink(&target, own.path().join("log")).unwrap();
        open_private(&own.path().join("log"), &appended).unwrap();
    }

    #[test]
    fn what_others_made_for_root_below_a_directory_is_given_and_no_link_is_followed() {
        let Some(dir) = of_service() else { return };
        let elsewhere = tempfile::tempdir().unwrap();
        let [kept, shared] = ["kept", "shared"].map(|name| elsewhere.path().join(name));
        [&kept, &shared].iter().for_each(|path| fs::write(path, "").unwrap());
        fs::create_dir_all(dir.path().join("table/data")).unwrap();
        fs::write(dir.path().join("table/data/rows"), "").unwrap();
        symlink(elsewhere.path(), dir.path().join("link")).unwrap();
        fs::hard_link(&shared, dir.path().join("table/shared")).unwrap();
        give_tree(dir.path());
        for name in ["table", "table/data", "table/data/rows", "link"] {
            assert_eq!(owner(&dir.path().join(name)), SERVICE, "{name}");
        }
        for path in [elsewhere.path(), &kept, &shared] {
            assert_eq!(owner(path).0, ROOT, "{}", path.display());
        }
    }
}
