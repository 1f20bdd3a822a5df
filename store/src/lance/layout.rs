//! The paths of everything in the data directory; the map of it is at the head of `lance.rs`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::errors::unusable;
use super::threads::blocking;
use crate::data_dir;
use crate::files::{create_dir, unless_gone};

/// A number, a fingerprint or the state of a change takes far less.
const MAX_BYTES: u64 = 64 << 10;

/// The directory in a data directory that a backup is restored to, until all of it is there.
pub(crate) const RESTORING: &str = ".restoring";

/// The paths of a data directory.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn of(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Creates the directories.
    pub(super) async fn prepare(root: &Path) -> Result<Self, StoreError> {
        let layout = Self::of(root);
        layout.refuse_half_restored()?;
        let created = layout.clone();
        blocking(move || {
            for dir in [&created.root, &created.tables(), &created.journals()] {
                create_dir(dir).map_err(|error| unusable(dir, &error))?;
            }
            Ok(())
        })
        .await??;
        Ok(layout)
    }

    /// Refuses a directory that a backup is being restored into, or was until that broke off.
    pub(super) fn refuse_half_restored(&self) -> Result<(), StoreError> {
        if !self.root.join(RESTORING).exists() {
            return Ok(());
        }
        let what = "a backup is being restored into it, or that broke off: then empty it and restore again";
        Err(StoreError::Unusable(format!("{}: {what}", self.root.display())))
    }

    pub(super) fn tables(&self) -> PathBuf {
        self.root.join("lance")
    }

    pub(super) fn table(&self, name: &str) -> PathBuf {
        self.tables().join(format!("{name}.lance"))
    }

    pub(super) fn write_lock(&self) -> PathBuf {
        self.tables().join(".write.lock")
    }

    /// The file that says what the holder of the write lock is doing.
    pub(super) fn write_owner(&self) -> PathBuf {
        self.tables().join(".write.owner")
    }

    pub(super) fn upkeep_lock(&self) -> PathBuf {
        self.tables().join(".upkeep.lock")
    }

    pub(super) fn journals(&self) -> PathBuf {
        self.root.join("journal")
    }

    pub(super) fn erasures(&self) -> PathBuf {
        self.journals().join("erasures.json")
    }

    /// The file is there while a commit of many records is under way.
    pub(super) fn bulk(&self) -> PathBuf {
        self.journals().join("bulk.json")
    }

    /// The directories that hold what a workspace has beside the tables, and that go with it.
    pub(super) fn beside(&self, workspace: &WorkspaceId) -> [PathBuf; 3] {
        [data_dir::WORKING, data_dir::ARTEFACTS, data_dir::RECALLS]
            .map(|kind| self.root.join(kind).join(workspace.as_str()))
    }

    /// The log of the erasures that there were.
    pub(super) fn erasure_log(&self) -> PathBuf {
        self.root.join("erasures.log")
    }

    /// The directory in which a backup gathers what it is made of.
    pub(super) fn snapshot(&self) -> PathBuf {
        self.root.join("snapshot")
    }

    pub(super) fn snapshot_lock(&self) -> PathBuf {
        self.root.join(".snapshot.lock")
    }

    /// The file is written and removed to see whether there is room.
    pub(super) fn probe(&self) -> PathBuf {
        self.journals().join(".probe")
    }

    pub(super) fn set_aside(&self) -> PathBuf {
        self.root.join("set-aside")
    }

    /// The file is there while a repair of tables is under way.
    pub(super) fn repairing(&self) -> PathBuf {
        self.root.join("repairing")
    }

    pub(super) fn format_version(&self) -> PathBuf {
        self.root.join(data_dir::FORMAT_VERSION)
    }

    /// The directory holds a file for each memory that was stored without vectors.
    pub(super) fn unembedded(&self) -> PathBuf {
        self.tables().join("unembedded")
    }

    pub(super) fn reembed(&self) -> PathBuf {
        self.tables().join("reembed.json")
    }

    pub(super) fn reembed_lock(&self) -> PathBuf {
        self.tables().join(".reembed.lock")
    }

    pub(super) fn fingerprint(&self) -> PathBuf {
        self.tables().join("fingerprint.json")
    }
}

/// The text of a small file of the directory; none where there is no such file.
pub(super) fn read_if_exists(path: &Path) -> Result<Option<String>, StoreError> {
    let opened = unless_gone(fs::File::open(path)).map_err(|error| unusable(path, &error))?;
    let Some(file) = opened else { return Ok(None) };
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| unusable(path, &error))?;
    Ok(Some(text))
}
