//! Memories that were stored without vectors. Each is remembered by an empty file of its name, so that finding them
//! takes a look at one directory and none at the tables. A file is made before its memory is committed and removed when
//! the memory has vectors. A file that is left over does no harm: it only makes somebody look.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use reasoning_bank_actors::ports::{Batch, PassageKind, StoreError};
use reasoning_bank_domain::memory::ids::MemoryId;

use crate::files::{create_dir, open_private, remove_if_there, unless_gone};
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::tables::{Tables, read, rows};
use crate::lance::threads::blocking;

/// The longest time that a commit takes. A younger file without its memory belongs to a commit that is under way, and
/// an older one to a commit that never was.
const COMMIT_TAKES_AT_MOST: Duration = Duration::from_secs(3600);
/// The largest number of files that are looked at in one go.
const LOOKED_AT: usize = 10_000;

/// The memories that a batch stores without vectors, and those that it stores with them.
#[derive(Default)]
pub(in crate::lance) struct VectorChanges {
    without: Vec<String>,
    with: Vec<String>,
}

impl VectorChanges {
    pub(in crate::lance) fn of(batch: &Batch) -> Self {
        let mut changes = Self::default();
        for (memory, passages) in batch.iter().filter_map(rows::stored_memory) {
            let first = passages.iter().find(|passage| passage.kind == PassageKind::Content && passage.n == 0);
            match first.map(|passage| passage.vector.is_some()) {
                Some(true) => changes.with.push(memory.id.to_string()),
                Some(false) => changes.without.push(memory.id.to_string()),
                None => {}
            }
        }
        changes
    }

    /// Notes the memories without vectors, before the batch is committed.
    pub(in crate::lance) async fn note(&self, layout: &Layout) {
        if self.without.is_empty() {
            return;
        }
        let (dir, ids) = (layout.unembedded(), self.without.clone());
        let noted = blocking(move || {
            create_dir(&dir)?;
            ids.iter()
                .try_for_each(|id| open_private(&dir.join(id), File::options().write(true).truncate(true)).map(drop))
        });
        if let Err(error) = noted.await.and_then(|noted| noted.map_err(failed)) {
            tracing::warn!(%error, "that memories have no vectors was not noted; `reembed` makes them");
        }
    }

    /// Forgets the memories that have vectors, once the batch is committed.
    pub(in crate::lance) async fn forget(self, layout: &Layout) {
        let dir = layout.unembedded();
        if self.with.is_empty() || !dir.exists() {
            return;
        }
        let _ = blocking(move || self.with.iter().for_each(|id| remove(&dir.join(id)))).await;
    }
}

/// Finds at most `limit` memories that may have no vectors.
pub(in crate::lance) async fn some(
    layout: &Layout,
    tables: &Tables,
    limit: usize,
) -> Result<Vec<MemoryId>, StoreError> {
    let dir = layout.unembedded();
    let noted = blocking(move || noted(&dir)).await?.map_err(failed)?;
    if noted.is_empty() {
        return Ok(Vec::new());
    }
    let stored = read::present(&tables.memories, noted.iter().map(|(id, _)| id.to_string()).collect()).await?;
    let (mut found, gone): (Vec<_>, Vec<_>) = noted.into_iter().partition(|(id, _)| stored.contains(&id.to_string()));
    let is_old = |path: &Path| {
        let made = fs::metadata(path).and_then(|file| file.modified());
        made.is_ok_and(|made| SystemTime::now().duration_since(made).is_ok_and(|age| age > COMMIT_TAKES_AT_MOST))
    };
    gone.iter().filter(|(_, path)| is_old(path)).for_each(|(_, path)| remove(path));
    found.truncate(limit);
    Ok(found.into_iter().map(|(id, _)| id).collect())
}

fn noted(dir: &Path) -> io::Result<Vec<(MemoryId, PathBuf)>> {
    let Some(entries) = unless_gone(fs::read_dir(dir))? else { return Ok(Vec::new()) };
    let mut noted = Vec::new();
    for entry in entries.take(LOOKED_AT) {
        let entry = entry?;
        if let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<MemoryId>().ok()) {
            noted.push((id, entry.path()));
        }
    }
    noted.sort();
    Ok(noted)
}

fn remove(path: &Path) {
    if let Err(error) = remove_if_there(path) {
        tracing::debug!(%error, "a note of a memory without vectors stays");
    }
}
