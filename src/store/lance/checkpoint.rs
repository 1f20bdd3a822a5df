//! Checkpoints: everything under `lance/` is synced to disk, then the journal is emptied. LanceDB itself never syncs.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use reasoning_bank_actors::ports::StoreError;
use tokio::time::Instant;

use super::write_lock::WriteGuard;
use super::{Shared, blocking, failed};
use crate::store::files::{self, sync};

pub(super) struct Checkpoints {
    /// What has been synced, by path. Files of tables never change; a file of another size or time is another file.
    synced: Arc<Mutex<Synced>>,
    last: Mutex<Instant>,
}

type Synced = HashMap<PathBuf, (Option<SystemTime>, u64)>;

impl Default for Checkpoints {
    fn default() -> Self {
        Self { synced: Arc::default(), last: Mutex::new(Instant::now()) }
    }
}

impl Checkpoints {
    fn last(&self) -> std::sync::MutexGuard<'_, Instant> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn due(shared: &Shared) -> bool {
    let bytes = shared.journal.bytes();
    bytes >= shared.options.checkpoint_bytes
        || (bytes > 0 && shared.checkpoints.last().elapsed() >= shared.options.checkpoint_after)
}

/// Syncs the tables without emptying the journal: done ahead and without the lock, it leaves little for the checkpoint.
pub(super) async fn sync_tables(shared: &Shared) -> Result<(), StoreError> {
    let (dir, synced) = (shared.layout.tables(), Arc::clone(&shared.checkpoints.synced));
    let done = blocking(move || sync_tree(&dir, &mut synced.lock().unwrap_or_else(PoisonError::into_inner))).await?;
    if done.is_err() {
        shared.journal.give_up();
    }
    done.map_err(failed)
}

/// The guard keeps everybody from writing between the sync and the emptying.
pub(super) async fn checkpoint(shared: &Shared, _guard: &WriteGuard) -> Result<(), StoreError> {
    sync_tables(shared).await?;
    let (journal, layout) = (shared.journal.clone(), shared.layout.clone());
    blocking(move || journal.empty(&layout)).await?.map_err(failed)?;
    *shared.checkpoints.last() = Instant::now();
    Ok(())
}

pub(super) fn sync_all(dir: &Path) -> io::Result<()> {
    sync_tree(dir, &mut Synced::new())
}

fn sync_tree(dir: &Path, synced: &mut Synced) -> io::Result<()> {
    let mut present = Synced::new();
    sync_dir(dir, synced, &mut present)?;
    *synced = present;
    Ok(())
}

/// Whether anything in it was new. Files that vanish meanwhile were compacted away by somebody else.
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

fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
