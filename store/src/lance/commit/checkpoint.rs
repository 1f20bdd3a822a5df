//! Checkpoints. A checkpoint syncs everything under `lance/` to disk and then empties the journal. LanceDB itself never
//! syncs.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use reasoning_bank_actors::ports::StoreError;
use tokio::time::Instant;

use super::journal::JournalSlot;
use super::write_lock::WriteGuard;
use crate::files::{self, sync, unless_gone};
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::threads::blocking;

/// Takes checkpoints, and knows when the next one is due.
pub(in crate::lance) struct Checkpoints {
    layout: Layout,
    journal: JournalSlot,
    /// The first commit after this time takes a checkpoint,
    after: Duration,
    /// or the commit that makes the journal so large.
    journal_bytes: u64,
    /// The files that have been synced, by path. Files of tables never change; a file of another size or time is
    /// another file.
    synced: Arc<Mutex<Synced>>,
    last: Mutex<Instant>,
}

type Synced = HashMap<PathBuf, (Option<SystemTime>, u64)>;

impl Checkpoints {
    pub(in crate::lance) fn of(layout: &Layout, journal: &JournalSlot, after: Duration, journal_bytes: u64) -> Self {
        Self {
            layout: layout.clone(),
            journal: journal.clone(),
            after,
            journal_bytes,
            synced: Arc::default(),
            last: Mutex::new(Instant::now()),
        }
    }

    fn last(&self) -> MutexGuard<'_, Instant> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::lance) fn are_due(&self) -> bool {
        let bytes = self.journal.bytes();
        bytes >= self.journal_bytes || (bytes > 0 && self.last().elapsed() >= self.after)
    }

    /// Syncs the tables without emptying the journal. Done ahead and without the lock, it leaves little for the
    /// checkpoint.
    pub(in crate::lance) async fn sync_tables(&self) -> Result<(), StoreError> {
        let (dir, synced) = (self.layout.tables(), Arc::clone(&self.synced));
        let done =
            blocking(move || sync_tree(&dir, &mut synced.lock().unwrap_or_else(PoisonError::into_inner))).await?;
        if done.is_err() {
            self.journal.give_up();
        }
        done.map_err(failed)
    }

    /// Takes a checkpoint. The guard keeps everybody from writing between the sync and the emptying.
    pub(in crate::lance) async fn take(&self, _guard: &WriteGuard) -> Result<(), StoreError> {
        self.sync_tables().await?;
        let (journal, layout) = (self.journal.clone(), self.layout.clone());
        blocking(move || journal.empty(&layout)).await?.map_err(failed)?;
        *self.last() = Instant::now();
        Ok(())
    }
}

/// Syncs all files of a directory, whether they were synced before or not.
pub(crate) fn sync_all(dir: &Path) -> io::Result<()> {
    sync_tree(dir, &mut Synced::new())
}

fn sync_tree(dir: &Path, synced: &mut Synced) -> io::Result<()> {
    let mut present = Synced::new();
    sync_dir(dir, synced, &mut present)?;
    *synced = present;
    Ok(())
}

/// Syncs what is new in a directory, and says whether anything was. Files that vanish meanwhile were compacted away by
/// somebody else.
fn sync_dir(dir: &Path, synced: &Synced, present: &mut Synced) -> io::Result<bool> {
    let mut changed = false;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let Some(metadata) = unless_gone(fs::metadata(&path))? else { continue };
        if metadata.is_dir() {
            changed |= unless_gone(sync_dir(&path, synced, present))?.unwrap_or(false);
            continue;
        }
        let state = (metadata.modified().ok(), metadata.len());
        if synced.get(&path) != Some(&state) {
            let Some(file) = unless_gone(File::open(&path))? else { continue };
            sync(&path, &file)?;
            changed = true;
        }
        present.insert(path, state);
    }
    if changed {
        files::sync_dir(dir)?;
    }
    Ok(changed)
}
