//! `set-aside/` holds what could not be read whole and is no longer used: manifests, tables, journals. It is kept,
//! because somebody may want to look at it, until an erasure asks for all of it to be gone or until all that it can
//! hold is old enough to go.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use uuid::Uuid;

use super::schema::TableName;
use crate::files::{create_dir, sync, sync_dir, unless_gone};

const UUID_CHARS: usize = 36;

/// Returns the path where a part of this table, or a journal, is to be put. The name begins with a UUID that holds the
/// time.
pub(in crate::lance) fn place(dir: &Path, table: Option<TableName>, part: &Path) -> io::Result<PathBuf> {
    create_dir(dir)?;
    let of_table = table.map(|table| format!("{}-", table.as_str())).unwrap_or_default();
    let name = part.file_name().unwrap_or_default().to_string_lossy();
    Ok(dir.join(format!("{}-{of_table}{name}", Uuid::now_v7())))
}

/// Keeps a copy of a file that stays where it is, and returns the path of the copy, which is on the disk by then. Where
/// a copy of as many bytes is there already, that one is kept.
pub(in crate::lance) fn copy(dir: &Path, part: &Path) -> io::Result<PathBuf> {
    create_dir(dir)?;
    let bytes = fs::metadata(part)?.len();
    let ending = format!("-{}", part.file_name().unwrap_or_default().to_string_lossy());
    for entry in fs::read_dir(dir)? {
        let kept = entry?;
        let is_of_it = kept.file_name().to_string_lossy().ends_with(&ending);
        if is_of_it && kept.metadata()?.len() == bytes {
            return Ok(kept.path());
        }
    }
    let (half, to) = (dir.join(".copying"), place(dir, None, part)?);
    let copied = fs::copy(part, &half).and_then(|_| sync(&half, &File::open(&half)?));
    if let Err(error) = copied.and_then(|()| fs::rename(&half, &to)) {
        // half a copy is of no use, and it is in the way on a full disk
        let _ = fs::remove_file(&half);
        return Err(error);
    }
    sync_dir(dir)?;
    Ok(to)
}

/// Removes all that was set aside.
pub(in crate::lance) fn remove_all(dir: &Path) -> io::Result<()> {
    unless_gone(fs::remove_dir_all(dir)).map(|_removed| ())
}

/// Removes what may hold rows of this table and was put there before this time.
pub(in crate::lance) fn remove_older(dir: &Path, table: TableName, before: Timestamp) -> io::Result<()> {
    let Some(entries) = unless_gone(fs::read_dir(dir))? else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if !path.file_name().and_then(|name| name.to_str()).is_some_and(|name| is_older(name, table, before)) {
            continue;
        }
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Tells by its name whether a file may go. Names that are not of [`place`] are somebody else's.
fn is_older(name: &str, table: TableName, before: Timestamp) -> bool {
    let Some((id, part)) = name.split_at_checked(UUID_CHARS) else { return false };
    let time = Uuid::parse_str(id).ok().and_then(|id| id.get_timestamp());
    let second = time.and_then(|time| i64::try_from(time.to_unix().0).ok());
    let is_journal = Path::new(part).extension().is_some_and(|extension| extension == "log");
    second.is_some_and(|second| second < before.as_second())
        && (is_journal || part.starts_with(&format!("-{}-", table.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_hold_rows_of_the_table_and_is_old_enough_goes() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("set-aside");
        let remove = |before: &str| remove_older(&dir, TableName::Jobs, before.parse().unwrap()).unwrap();
        remove("2026-01-01T00:00:00Z");
        let put = |table, part: &str| {
            let path = place(&dir, table, Path::new(part)).unwrap();
            fs::write(&path, "rows").unwrap();
            path
        };
        let [of_jobs, of_memories, journal] = [
            put(Some(TableName::Jobs), "jobs.lance"),
            put(Some(TableName::Memories), "1.manifest"),
            put(None, "a.log"),
        ];
        let table = place(&dir, Some(TableName::Jobs), Path::new("jobs.lance")).unwrap();
        fs::create_dir_all(table.join("data")).unwrap();
        let foreign = dir.join("my notes on 2026-jobs-and-what-came-of-it.log");
        fs::write(&foreign, "notes").unwrap();
        remove("2026-01-01T00:00:00Z");
        assert!([&of_jobs, &of_memories, &journal, &table, &foreign].iter().all(|path| path.exists()));
        remove("2500-01-01T00:00:00Z");
        assert!(!of_jobs.exists() && !journal.exists() && !table.exists());
        assert!(of_memories.exists() && foreign.exists());
        remove_all(&dir).unwrap();
        remove_all(&dir).unwrap();
        assert!(!dir.exists());
    }
}
