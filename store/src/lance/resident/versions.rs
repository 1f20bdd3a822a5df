//! The newest versions of the tables, found so cheaply that every search can ask for them: by the names and the time of
//! the directory of manifests, to which LanceDB adds a file for every commit. No manifest is opened. While the tables
//! of a commit change, the versions from before it count.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::lance::commit::write_owner::Applying;
use crate::lance::layout::Layout;
use crate::lance::tables::{TableName, manifests};

/// The versions of the tables that owner indexes are filled from.
pub(super) struct CommittedVersions {
    pub(super) memories: u64,
    pub(super) passages: u64,
    pub(super) signals: u64,
}

/// Reads the newest versions, and remembers what was found last.
pub(super) struct NewestVersions {
    layout: Layout,
    memories: Newest,
    passages: Newest,
    signals: Newest,
}

impl NewestVersions {
    pub(super) fn of(layout: &Layout) -> Self {
        let newest = |table: TableName| Newest::of(layout.table(table.as_str()));
        Self {
            layout: layout.clone(),
            memories: newest(TableName::Memories),
            passages: newest(TableName::Passages),
            signals: newest(TableName::Signals),
        }
    }

    /// Reads the versions that the last commits left, whichever process made them. Each commit is seen whole or not at
    /// all.
    pub(super) fn read(&self) -> io::Result<CommittedVersions> {
        let before = Applying::read(&self.layout)?.before;
        let version = |table, newest: &Newest| match before.get(&table) {
            Some(version) => Ok(*version),
            None => newest.version(),
        };
        Ok(CommittedVersions {
            memories: version(TableName::Memories, &self.memories)?,
            passages: version(TableName::Passages, &self.passages)?,
            signals: version(TableName::Signals, &self.signals)?,
        })
    }
}

/// The newest version of one table.
struct Newest {
    table: PathBuf,
    manifests: PathBuf,
    seen: Mutex<Option<SeenVersion>>,
}

/// The version that was found when the directory was last read, and the time at which it had last changed by then.
#[derive(Clone, Copy)]
struct SeenVersion {
    version: u64,
    changed: SystemTime,
}

impl Newest {
    fn of(table: PathBuf) -> Self {
        let manifests = table.join("_versions");
        Self { table, manifests, seen: Mutex::default() }
    }

    /// Returns the version of the last commit that any process has made.
    fn version(&self) -> io::Result<u64> {
        let changed = fs::metadata(&self.manifests)?.modified()?;
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // two commits within one tick of the clock leave the same time, so the next manifest is looked for as well
        match seen {
            Some(seen) if seen.changed == changed && !manifest(&self.manifests, seen.version + 1).try_exists()? => {
                return Ok(seen.version);
            }
            _ => {}
        }
        let version = manifests::newest_version(&self.table)?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(SeenVersion { version, changed });
        Ok(version)
    }
}

/// Returns the path of a manifest. The names count down, so that newer versions sort first.
fn manifest(manifests: &Path, version: u64) -> PathBuf {
    manifests.join(format!("{:020}.manifest", u64::MAX - version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_commit_is_seen_and_so_is_a_version_that_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let newest = Newest::of(dir.path().to_owned());
        assert!(newest.version().is_err());
        let manifests = dir.path().join("_versions");
        fs::create_dir(&manifests).unwrap();
        assert!(newest.version().is_err());
        for version in [1, 2, 3, 4, 9, 10] {
            fs::write(manifest(&manifests, version), "").unwrap();
            assert_eq!((newest.version().unwrap(), newest.version().unwrap()), (version, version));
        }
        fs::write(manifests.join("latest_version_hint.json"), "").unwrap();
        fs::remove_file(manifest(&manifests, 2)).unwrap();
        assert_eq!(newest.version().unwrap(), 10);
        fs::remove_file(manifest(&manifests, 10)).unwrap();
        assert_eq!(newest.version().unwrap(), 9);
    }
}
