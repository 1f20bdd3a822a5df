//! Gathering what a bank is made of at one moment, for a backup. While the write lock is held, the files that the
//! newest versions of the tables need are linked, which takes no time for their size, as these files never change. What
//! is appended to or replaced is copied. Everything is synced before, so that the tables hold all that was
//! acknowledged.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use reasoning_bank_actors::ports::{Fingerprint, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use uuid::Uuid;

use super::commit::{erasure_log, journal};
use super::errors::{before_deadline, failed, to_answer};
use super::repair::format::FORMAT_VERSION;
use super::repair::pending::finish_pending;
use super::shared::SharedStore;
use super::snapshot_place::SnapshotPlace;
use super::tables::manifests::NeededFiles;
use super::tables::{Tables, dataset, manifests, read, rows as table_rows};
use super::threads::blocking;
use crate::files::{create_file, make_parent, unless_gone};

/// The facts about what a snapshot holds.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotFacts {
    /// The moment at which nobody could write.
    pub(crate) at: Timestamp,
    pub(crate) bank: Uuid,
    pub(crate) format: u32,
    pub(crate) embedder: Fingerprint,
    /// The rows of each table.
    pub(crate) rows: BTreeMap<String, u64>,
    pub(crate) workspaces: Vec<WorkspaceId>,
}

/// Gathers everything in the place. The work goes on to its end by itself when the deadline passes, and what was
/// gathered is removed.
pub(super) async fn take(
    shared: &Arc<SharedStore>,
    place: SnapshotPlace,
    deadline: Deadline,
) -> Result<(SnapshotPlace, SnapshotFacts), StoreError> {
    let shared = Arc::clone(shared);
    let work = tokio::spawn(async move {
        let facts = gather(&shared, place.dir(), deadline).await?;
        Ok((place, facts))
    });
    before_deadline(deadline, async { work.await.map_err(failed)? }).await
}

async fn gather(shared: &SharedStore, to: &Path, deadline: Deadline) -> Result<SnapshotFacts, StoreError> {
    // what is synced now keeps nobody waiting while the lock is held
    shared.checkpoints.sync_tables().await?;
    let guard = shared.lock.acquire_in_turn(to_answer(deadline)).await?;
    finish_pending(shared, &guard).await?;
    shared.checkpoints.take(&guard).await?;
    let mut needed = Vec::new();
    for (name, table) in shared.tables.each() {
        let dataset = dataset::newest(table).await?;
        needed.push(manifests::needed(&shared.layout.table(name.as_str()), &dataset).await?);
    }
    let ids = read::select(&shared.tables.workspaces, None, &["id"]).await?;
    let workspaces = table_rows::text_column(&ids, "id").map(str::parse).collect::<Result<_, _>>().map_err(failed)?;
    let (layout, to, at) = (shared.layout.clone(), to.to_owned(), Timestamp::now());
    let gathered = move || {
        let gathering = Gathering { from: layout.root(), to: &to };
        for NeededFiles { files, indexes } in &needed {
            files.iter().try_for_each(|file| gathering.link(file))?;
            indexes.iter().try_for_each(|dir| gathering.link_all_of(dir))?;
        }
        journal::history(&layout)
            .iter()
            .chain(&journal::journals(&layout)?)
            .try_for_each(|path| gathering.copy(path))?;
        for path in [layout.erasures(), layout.erasure_log(), layout.format_version(), layout.fingerprint()] {
            gathering.copy(&path)?;
        }
        gathering.copy_all_of(&layout.unembedded())?;
        erasure_log::bank(&layout)
    };
    Ok(SnapshotFacts {
        at,
        bank: blocking(gathered).await?.map_err(failed)?,
        format: FORMAT_VERSION,
        embedder: shared.fingerprint.clone(),
        rows: rows(&shared.tables).await?,
        workspaces,
    })
}

/// Counts the rows of each table.
pub(super) async fn rows(tables: &Tables) -> Result<BTreeMap<String, u64>, StoreError> {
    let mut rows = BTreeMap::new();
    for (name, table) in tables.each() {
        rows.insert(name.as_str().to_owned(), table.count_rows(None).await.map_err(failed)? as u64);
    }
    Ok(rows)
}

/// Puts files of a data directory at the same places below another directory.
struct Gathering<'a> {
    from: &'a Path,
    to: &'a Path,
}

impl Gathering<'_> {
    fn place(&self, path: &Path) -> io::Result<PathBuf> {
        let relative = path.strip_prefix(self.from).map_err(io::Error::other)?;
        Ok(self.to.join(relative))
    }

    /// Links a file that never changes.
    fn link(&self, path: &Path) -> io::Result<()> {
        let place = self.place(path)?;
        make_parent(&place)?;
        let linked = fs::hard_link(path, place);
        linked.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Links all files of a directory, if it is there.
    fn link_all_of(&self, dir: &Path) -> io::Result<()> {
        let Some(mut entries) = unless_gone(fs::read_dir(dir))? else { return Ok(()) };
        entries.try_for_each(|entry| {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => self.link_all_of(&entry.path()),
                false => self.link(&entry.path()),
            }
        })
    }

    /// Copies a file, if it is there.
    fn copy(&self, path: &Path) -> io::Result<()> {
        let Some(mut file) = unless_gone(File::open(path))? else { return Ok(()) };
        let mut copy = create_file(&self.place(path)?)?;
        io::copy(&mut file, &mut copy).map(|_bytes| ())
    }

    fn copy_all_of(&self, dir: &Path) -> io::Result<()> {
        let Some(mut entries) = unless_gone(fs::read_dir(dir))? else { return Ok(()) };
        entries.try_for_each(|entry| self.copy(&entry?.path()))
    }
}
