//! The backups that were made of a data directory, in its file `backups.json`. An erasure names those that still hold
//! what it erased. Whoever changes the file has the right to make a backup.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::BackupError;
use super::manifest::BackupManifest;
use super::partial;
use crate::files::{unless_gone, write_synced};
use crate::lance::ErasureLog;

const FILE: &str = "backups.json";
/// The number of backups that are remembered, the newest ones.
const MAX_KNOWN: usize = 1_000;
/// The number of directories that are looked at in one that has backups.
const MAX_BESIDE: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct MadeBackup {
    id: Uuid,
    at: Timestamp,
    /// The directory of the backup; none of a stream, of which nobody knows where it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    directory: Option<PathBuf>,
}

/// A backup that holds something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnownBackup {
    pub created_at: Timestamp,
    /// Its directory; none of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
}

fn read(data_dir: &Path) -> io::Result<Vec<MadeBackup>> {
    match unless_gone(fs::read(data_dir.join(FILE)))? {
        Some(text) => Ok(serde_json::from_slice(&text)?),
        None => Ok(Vec::new()),
    }
}

fn write(data_dir: &Path, made: &[MadeBackup]) -> io::Result<()> {
    write_synced(&data_dir.join(FILE), &serde_json::to_vec_pretty(made)?)
}

/// Remembers a backup that is about to be made.
pub(super) fn add(data_dir: &Path, id: Uuid, directory: Option<PathBuf>, at: Timestamp) -> io::Result<()> {
    let mut made = read(data_dir)?;
    // Another one may be there by now in the place of one that is gone.
    made.retain(|backup| directory.is_none() || backup.directory != directory);
    made.push(MadeBackup { id, at, directory });
    let surplus = made.len().saturating_sub(MAX_KNOWN);
    write(data_dir, &made[surplus..])
}

/// Notes the moment of a backup, which is known once nobody writes.
pub(super) fn date(data_dir: &Path, id: Uuid, at: Timestamp) -> io::Result<()> {
    let mut made = read(data_dir)?;
    made.iter_mut().filter(|backup| backup.id == id).for_each(|backup| backup.at = at);
    write(data_dir, &made)
}

/// Forgets a backup.
pub(super) fn forget(data_dir: &Path, id: Uuid) -> io::Result<()> {
    let mut made = read(data_dir)?;
    made.retain(|backup| backup.id != id);
    write(data_dir, &made)
}

/// Finds the backups that hold something of a workspace, the oldest first: those that were made of this data directory
/// and are where they were made, and those of the same bank in `beside`, the directory of scheduled backups. A stream
/// is judged by its time.
///
/// # Errors
/// The list of backups or the log of erasures cannot be read, so it is not known which backups hold something.
pub fn holding(data_dir: &Path, beside: Option<&Path>, workspace: &Workspace) -> io::Result<Vec<KnownBackup>> {
    let bank = ErasureLog::read(data_dir)?.map(|log| log.bank);
    let mut found = BTreeMap::new();
    for MadeBackup { at, directory, id } in read(data_dir)? {
        let holds = match &directory {
            Some(directory) => holds(directory, &workspace.id),
            None => workspace.created_at <= at,
        };
        if holds {
            found.insert((at, id), KnownBackup { created_at: at, directory });
        }
    }
    for (directory, manifest) in beside.map(in_directory).unwrap_or_default() {
        let is_known = found.values().any(|known| known.directory.as_ref() == Some(&directory));
        if Some(manifest.bank) == bank && !is_known && manifest.workspaces.contains(&workspace.id) {
            let at = manifest.created_at;
            found.insert((at, manifest.id), KnownBackup { created_at: at, directory: Some(directory) });
        }
    }
    Ok(found.into_values().collect())
}

/// Tells whether a backup has something of a workspace. One that is still being made may have.
fn holds(directory: &Path, workspace: &WorkspaceId) -> bool {
    match BackupManifest::read(directory) {
        Ok(manifest) => manifest.workspaces.contains(workspace),
        Err(_) => partial::of(directory).is_some_and(|partial| partial.exists()),
    }
}

/// Lists the whole backups in a directory.
pub(super) fn in_directory(dir: &Path) -> Vec<(PathBuf, BackupManifest)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().take(MAX_BESIDE);
    let backups = entries.filter_map(|entry| Some((entry.path(), BackupManifest::read(&entry.path()).ok()?)));
    backups.collect()
}

/// Finds the log of erasures of a bank in a directory, which is a data directory or a backup.
///
/// # Errors
/// There is none there, or it is of another bank.
pub(super) fn erasures_of(dir: &Path, bank: Uuid) -> Result<ErasureLog, BackupError> {
    let of_backup = dir.join(super::manifest::BANK);
    let read = |dir: &Path| ErasureLog::read(dir).map_err(BackupError::io(dir));
    let log = match read(dir)? {
        Some(log) => Some(log),
        None => read(&of_backup)?,
    };
    match log {
        Some(log) if log.bank == bank => Ok(log),
        Some(_) => Err(BackupError::OtherBank(dir.to_owned())),
        None => Err(BackupError::NoBank(dir.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_backups_are_remembered_and_one_for_each_directory() {
        let dir = tempfile::tempdir().unwrap();
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let workspace = |created| Workspace::of_root("/here", at(created));
        let id = Uuid::now_v7();
        add(dir.path(), id, Some("/nowhere/a".into()), at(1)).unwrap();
        add(dir.path(), Uuid::now_v7(), Some("/nowhere/a".into()), at(2)).unwrap();
        add(dir.path(), Uuid::now_v7(), None, at(3)).unwrap();
        assert_eq!(read(dir.path()).unwrap().iter().map(|made| made.at).collect::<Vec<_>>(), [at(2), at(3)]);
        let stream = KnownBackup { created_at: at(3), directory: None };
        let held = |created| holding(dir.path(), None, &workspace(created)).unwrap();
        assert_eq!(held(3), [stream], "the directory is not there");
        assert_eq!(held(4), [], "the workspace came later");
        (0..MAX_KNOWN).for_each(|n| add(dir.path(), Uuid::now_v7(), None, at(10 + n as i64)).unwrap());
        assert_eq!(read(dir.path()).unwrap()[0].at, at(10));
        forget(dir.path(), read(dir.path()).unwrap()[0].id).unwrap();
        assert_eq!(read(dir.path()).unwrap().len(), MAX_KNOWN - 1);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_no_empty_list() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::of_root("/here", Timestamp::UNIX_EPOCH);
        assert_eq!(holding(dir.path(), None, &workspace).unwrap(), []);
        fs::write(dir.path().join(FILE), "[{").unwrap();
        assert!(holding(dir.path(), None, &workspace).is_err());
    }
}
