//! The store port over LanceDB in a local directory. LanceDB knows neither transactions over several tables nor fsync;
//! the journal, the write lock and the recovery beside it make up for both. No LanceDB or arrow type leaves this
//! module.
//!
//! The modules, in reading order: `tables` is what the tables hold and how rows are read and written. `commit` has the
//! parts of a commit, which are the queue, the write lock, the journal, the checkpoint and the replay. `vectors` knows
//! which embedder made the vectors, and which memories have none. `resident` searches in memory. `shared` is what all
//! handles of an open directory share. `repair` brings a directory into order, `erase` erases, `upkeep` compacts and
//! indexes, `writer` commits, `search` reads, and `snapshot` gathers what a backup is made of. `access` opens the
//! directory, for writing where it can, and `reader` opens it to look into it as it is. Below all of them are the paths
//! of the directory (`layout`), errors (`errors`) and threads (`threads`).
//!
//! The directory on disk:
//!
//! ```text
//! DIR/format_version          number of the layout
//! DIR/lance/*.lance           tables
//! DIR/lance/fingerprint.json  whose vectors they hold
//! DIR/lance/reembed.json      that vectors of another embedder are being made, beside; see `next_passages`
//! DIR/lance/unembedded/ID     an empty file for each memory that was stored without vectors
//! DIR/lance/.write.lock       held by the one process that writes
//! DIR/lance/.write.owner      which journal it is applying, and the versions of the tables before
//! DIR/lance/.upkeep.lock      held by the one process that does upkeep
//! DIR/lance/.reembed.lock     held by the one process that makes vectors of another embedder
//! DIR/journal/UUID.log        frames of a process since its last checkpoint
//! DIR/journal/UUID.lock       held by that process while it lives
//! DIR/journal/UUID.failed     there when the disk failed to sync that journal or its tables: nobody empties it then
//! DIR/journal/history*.log    frames from before, bounded: what damaged tables are repaired from
//! DIR/journal/erasures.json   how many erasures there were, and the one under way
//! DIR/journal/bulk.json       there while a commit of many records is under way: what to go back to if it breaks off
//! DIR/journal/.probe          written and removed to see whether there is room to write
//! DIR/erasures.log            which erasures there were: ids and times
//! DIR/snapshot/               what a backup that is being made gathers; see `snapshot`
//! DIR/.snapshot.lock          held by the one process that makes a backup
//! DIR/.restoring/             there while a backup is restored into the directory, which is not opened meanwhile
//! DIR/repairing               there while a repair of damaged tables is under way
//! DIR/set-aside/              manifests that did not open, tables and journals that could not be read whole
//! ```

mod access;
mod commit;
mod erase;
mod errors;
mod layout;
mod reader;
mod reads;
mod repair;
mod resident;
mod search;
mod shared;
mod snapshot;
mod snapshot_place;
mod tables;
mod threads;
mod upkeep;
mod vectors;
mod writer;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{
    Batch, Committed, Embedder, EraseScope, Erased, Fingerprint, Limitation, Maintained, MemoryStore, StoreError,
    StoreFuture, StoreReads,
};
use reasoning_bank_actors::runtime::Deadline;

use self::access::Access;
use self::errors::{before_deadline, failed};
use self::layout::Layout;
use self::repair::pending::finish_pending;
use self::shared::SharedStore;
use self::threads::blocking;
use self::upkeep::reembed;
use self::vectors::fingerprint::Stamp;
use self::vectors::unembedded;
use crate::ownership::give_tree;

pub(crate) use self::commit::checkpoint::sync_all;
pub(crate) use self::commit::erasure_log::{ErasureLog, LoggedErasure};
pub(crate) use self::layout::RESTORING;
pub use self::reader::LanceReader;
pub(crate) use self::repair::format::FORMAT_VERSION;
pub use self::resident::ResidentUse;
pub use self::shared::Options;
pub(crate) use self::snapshot::SnapshotFacts;
pub(crate) use self::snapshot_place::SnapshotPlace;
pub use self::threads::use_all_cores;

/// A change of the embedder waits this long at most for a directory that could not be written to before.
const WRITABLE_TIMEOUT: Duration = Duration::from_secs(10);

/// A data directory that is open. Several processes, and several instances in one process, may have the same one open.
#[derive(Clone)]
pub struct LanceStore {
    access: Arc<Access>,
}

impl LanceStore {
    /// Opens a data directory: creates what is missing, and repairs what a crash or a power loss left behind. It
    /// damages nothing that it refuses to open. What cannot be written to for now is opened for reading; writes work
    /// again by themselves once they can.
    ///
    /// # Errors
    /// [`StoreError::Unusable`], [`StoreError::NewerFormat`], [`StoreError::OtherEmbedder`].
    pub async fn open(dir: &Path, fingerprint: &Fingerprint, options: Options) -> Result<Self, StoreError> {
        let access = Access::open(dir.to_owned(), fingerprint, options).await?;
        Ok(Self { access: Arc::new(access) })
    }

    /// Returns what a read works on, and looks now and then whether the directory can be written to again.
    fn for_reading(&self) -> Arc<SharedStore> {
        self.access.for_reading()
    }

    /// Tries whether anything can be stored. Afterwards [`MemoryStore::limitation`] says what is in the way.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], or an error of what comes before a write.
    pub async fn try_writing(&self, deadline: Deadline) -> Result<(), StoreError> {
        self.access.look(deadline).await
    }

    /// Returns how much of the directory is searched in memory.
    pub fn resident(&self) -> ResidentUse {
        self.access.shared().resident.in_use()
    }

    /// Returns the embedder whose vectors the directory holds; `None` where there is no bank in it yet.
    ///
    /// # Errors
    /// [`StoreError::Unusable`].
    pub async fn embedder_of(dir: &Path) -> Result<Option<Fingerprint>, StoreError> {
        let layout = Layout::of(dir);
        Ok(blocking(move || Stamp::read(&layout)).await??.map(Fingerprint::from))
    }

    /// Makes the vectors of all passages again with this embedder. The old ones are searched until all are made, and
    /// what is written meanwhile is made as well. Then the directory belongs to the new embedder, and every instance of
    /// the old one, this one included, is refused. Where the work breaks off, the next call goes on with it. `progress`
    /// is told how many passages are done, and of how many. Returns how many passages there are.
    ///
    /// # Errors
    /// The store or the embedder fails, or another process is at the same work.
    pub async fn reembed(&self, embedder: &dyn Embedder, progress: impl Fn(u64, u64)) -> Result<u64, Error> {
        let shared = self.access.writable(Deadline::after(WRITABLE_TIMEOUT)).await?;
        let passages = reembed::reembed(&shared, embedder, progress).await?;
        shared.journal.remove_empty().map_err(failed)?;
        Ok(passages)
    }

    /// Returns the data directory.
    pub fn dir(&self) -> &Path {
        self.access.dir()
    }

    /// Gathers in a place what the bank is made of at one moment, while nobody can write.
    pub(crate) async fn snapshot(
        &self,
        place: SnapshotPlace,
        deadline: Deadline,
    ) -> Result<(SnapshotPlace, SnapshotFacts), StoreError> {
        let shared = self.access.writable(deadline).await?;
        snapshot::take(&shared, place, deadline).await
    }

    /// Counts the rows of each table.
    pub(crate) async fn rows(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        snapshot::rows(&self.access.shared().tables).await
    }

    /// Tells whether an erasure would remove anything.
    pub(crate) async fn has(&self, scope: &EraseScope) -> Result<bool, StoreError> {
        Ok(!repair::erasure::nothing_of(self.access.shared().tables.each(), scope).await?)
    }

    /// Waits for commits under way and takes a last checkpoint, so that nothing is left to be replayed. Does nothing
    /// when nothing was written since the last one. The work goes on to its end by itself when the deadline passes.
    /// What root made in the directory of another user becomes that user's.
    pub async fn close(&self, deadline: Deadline) -> Result<(), StoreError> {
        let finished = self.finish(deadline).await;
        let dir = self.dir().to_owned();
        blocking(move || give_tree(&dir)).await?;
        finished
    }

    async fn finish(&self, deadline: Deadline) -> Result<(), StoreError> {
        let shared = self.access.shared();
        if shared.queue.is_idle() && shared.journal.bytes() == 0 {
            return shared.journal.remove_empty().map_err(failed);
        }
        let work = tokio::spawn(async move {
            let guard = shared.lock.acquire(deadline).await?;
            finish_pending(&shared, &guard).await?;
            shared.checkpoints.take(&guard).await?;
            shared.journal.remove_empty().map_err(failed)
        });
        before_deadline(deadline, async { work.await.map_err(failed)? }).await
    }
}

impl MemoryStore for LanceStore {
    fn reads(&self) -> &dyn StoreReads {
        self
    }

    fn commit(&self, batch: Batch, deadline: Deadline) -> StoreFuture<'_, Committed> {
        let work = move |shared: Arc<SharedStore>| async move {
            let changes = unembedded::VectorChanges::of(&batch);
            changes.note(&shared.layout).await;
            let committed = writer::commit(&shared, batch, deadline).await?;
            changes.forget(&shared.layout).await;
            Ok(committed)
        };
        self.access.write(deadline, work).boxed()
    }

    fn erase(&self, scope: EraseScope, deadline: Deadline) -> StoreFuture<'_, Erased> {
        let work = move |shared: Arc<SharedStore>| async move { erase::erase(&shared, scope, deadline).await };
        self.access.write(deadline, work).boxed()
    }

    fn maintain(&self, deadline: Deadline) -> StoreFuture<'_, Maintained> {
        // upkeep gives way to whoever writes, so its success says little of whether others can write
        async move { upkeep::maintain(&self.access.writable(deadline).await?, deadline).await }.boxed()
    }

    fn limitation(&self) -> Option<Limitation> {
        self.access.limitation()
    }
}
