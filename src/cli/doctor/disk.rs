//! The checks of the disk: how much space is left where the memories are, and who may write there.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Check, Grade};

const MIB: u64 = 1 << 20;
/// Compaction writes a table anew before it removes the old one, so this much is enough.
const ENOUGH: u64 = 1024 * MIB;
const LEAST: u64 = 100 * MIB;

pub(super) fn check(dir: &Path) -> Check {
    checked(dir, &std::env::temp_dir())
}

/// Checks the space at `dir`, and that the store can write what it writes to `temporary` meanwhile.
fn checked(dir: &Path, temporary: &Path) -> Check {
    if !temporary.is_dir() || !may_write(temporary) {
        let found = format!("no temporary files can be written to {}, which the store does", temporary.display());
        return Check::new("disk", Grade::Fail, found).hint("set TMPDIR to a directory that this user may write to");
    }
    match free_bytes(existing(dir)) {
        Ok(free) => graded(free, dir),
        Err(error) => Check::new("disk", Grade::Warn, format!("the space at {} is not known: {error}", dir.display())),
    }
}

pub(super) fn graded(free: u64, dir: &Path) -> Check {
    let status = match free {
        _ if free < LEAST => Grade::Fail,
        _ if free < ENOUGH => Grade::Warn,
        _ => Grade::Ok,
    };
    let check = Check::new("disk", status, format!("{} MiB free at {}", free / MIB, dir.display()));
    if status == Grade::Ok { check } else { check.hint("free space there, or choose another --data-dir") }
}

/// Says whether this process may create files in a directory, or make the directory.
pub(super) fn may_write(dir: &Path) -> bool {
    let existing = existing(dir);
    let Ok(path) = c_path(existing) else { return false };
    // SAFETY: the path is a C string that lives through the call.
    existing.is_dir() && unsafe { libc::access(path.as_ptr(), libc::W_OK | libc::X_OK) } == 0
}

/// Returns the directory, or the nearest of its parents that exists.
fn existing(dir: &Path) -> &Path {
    dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"))
}

fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = c_path(path)?;
    // SAFETY: all zeroes is a value of this plain struct; the path is a C string that lives through the call.
    let (returned, found) = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut found), found)
    };
    if returned != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_without_a_place_for_temporary_files_is_told_of() {
        let data = tempfile::tempdir().unwrap();
        assert_ne!(checked(data.path(), data.path()).status, Grade::Fail);
        let missing = checked(data.path(), &data.path().join("none"));
        assert_eq!(missing.status, Grade::Fail);
        assert!(missing.detail.contains("none, which the store does"), "{}", missing.detail);
    }
}
