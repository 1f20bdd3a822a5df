//! The store port over LanceDB in a local directory. LanceDB knows neither transactions over several tables nor fsync;
//! the journal, the write lock and the recovery beside it make up for both. No LanceDB or arrow type leaves this module.
//!
//! ```text
//! DIR/format_version          number of the layout
//! DIR/lance/*.lance           tables
//! DIR/lance/fingerprint.json  whose vectors they hold
//! DIR/lance/reembed.json      that vectors of another embedder are being made, beside; see `reembed`
//! DIR/lance/unembedded/ID     an empty file for each memory that was stored without vectors
//! DIR/lance/.write.lock       held by the one process that writes
//! DIR/lance/.write.owner      which journal it is applying, and the versions of the tables before
//! DIR/lance/.upkeep.lock      held by the one process that does upkeep
//! DIR/journal/UUID.log        frames of a process since its last checkpoint
//! DIR/journal/UUID.lock       held by that process while it lives
//! DIR/journal/history*.log    frames from before, bounded: what damaged tables are repaired from
//! DIR/journal/erasures.json   how many erasures there were, and the one under way
//! DIR/journal/bulk.json       there while a commit of many records is under way: what to go back to if it breaks off
//! DIR/repairing               there while a repair of damaged tables is under way
//! DIR/set-aside/              manifests that did not open, tables and journals that could not be read whole
//! ```

mod access;
mod apply;
mod applying;
mod bulk;
mod checkpoint;
mod commit;
mod erase;
mod erasures;
mod filter;
mod format;
mod frames;
mod indexes;
mod journal;
mod pages;
mod read;
mod read_only;
mod reads;
mod recovery;
mod reembed;
mod replay;
mod resident;
mod resolve;
mod revisions;
mod rows;
mod search;
mod set_aside;
mod summary;
mod tables;
mod term_statistics;
mod threads;
mod unembedded;
mod upgrade;
mod upkeep;
mod view;
mod write_lock;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{
    Batch, Committed, Embedder, EraseScope, Erased, Fingerprint, Limitation, Maintained, MemoryStore, ReadOnlyCause,
    StoreError, StoreFuture, StoreReads,
};
use reasoning_bank_actors::runtime::Deadline;

use self::access::Access;
use self::applying::Versions;
use self::checkpoint::Checkpoints;
use self::commit::Queue;
use self::format::Layout;
use self::journal::JournalSlot;
use self::resident::Resident;
pub use self::resident::ResidentUse;
use self::tables::Tables;
pub use self::threads::use_all_cores;
use self::upkeep::Upkeep;
use self::write_lock::WriteLock;

/// How long a change of the embedder waits for a directory that could not be written to before.
const OPEN_PATIENCE: Duration = Duration::from_secs(10);

/// When the store does its background work by itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// Opening waits this long for another process that holds the write lock; then it opens for reading alone.
    pub open_timeout: Duration,
    /// It waits for so long while several others take turns, and where what is there cannot be read as it is: whoever holds
    /// the lock may be making the bank, or upgrading it.
    pub open_patience: Duration,
    /// The tables are synced and the journal is emptied by the first commit after this time,
    pub checkpoint_after: Duration,
    /// or when the journal has this many bytes.
    pub checkpoint_bytes: u64,
    /// A table with this many fragments is compacted in the background.
    pub compact_at_fragments: usize,
    /// Memories that searches ask for are kept in memory, in as many bytes at most; 0: none are.
    pub resident_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            open_timeout: Duration::from_secs(5),
            open_patience: Duration::from_secs(20),
            checkpoint_after: Duration::from_secs(60),
            checkpoint_bytes: 8 << 20,
            compact_at_fragments: 32,
            resident_bytes: 768 << 20,
        }
    }
}

/// A data directory that is open. Several processes, and several instances in one process, may have the same one open.
#[derive(Clone)]
pub struct LanceStore {
    access: Arc<Access>,
}

/// What outlives a handle: a commit under way holds it too.
struct Shared {
    layout: Layout,
    options: Options,
    fingerprint: Fingerprint,
    dims: usize,
    tables: Tables,
    lock: WriteLock,
    journal: JournalSlot,
    queue: Queue,
    checkpoints: Checkpoints,
    upkeep: Upkeep,
    resident: Arc<Resident>,
    /// Tables at the versions before a commit that is under way, or broke off.
    pinned: Mutex<Option<(Versions, Tables)>>,
    /// Opened without what opening repairs; how many journals wait to be replayed.
    read_only: Option<usize>,
}

impl Shared {
    fn new(layout: Layout, options: Options, fingerprint: &Fingerprint, tables: Tables) -> Self {
        Self {
            lock: WriteLock::of(&layout),
            journal: JournalSlot::default(),
            queue: Queue::default(),
            checkpoints: Checkpoints::default(),
            upkeep: Upkeep::of(&layout),
            resident: Arc::new(Resident::new(&layout, tables.clone(), fingerprint.dims, options.resident_bytes)),
            pinned: Mutex::default(),
            read_only: None,
            fingerprint: fingerprint.clone(),
            dims: fingerprint.dims,
            layout,
            options,
            tables,
        }
    }

    fn read_only(self, waiting: usize) -> Self {
        Self { read_only: Some(waiting), ..self }
    }

    fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    fn limitation(&self, cause: ReadOnlyCause) -> Limitation {
        Limitation { cause, waiting: self.read_only.unwrap_or(0) }
    }
}

/// Creates what is missing, repairs what a crash or a power loss left behind.
async fn open_for_writing(dir: &Path, fingerprint: &Fingerprint, options: Options) -> Result<Shared, StoreError> {
    let layout = Layout::prepare(dir).await?;
    let lock = WriteLock::of(&layout);
    let guard = lock.acquire_unless_stalled(options.open_timeout, Deadline::after(options.open_patience)).await?;
    let format = format::check(&layout, fingerprint).await?;
    let (tables, damaged) = recovery::open_tables(&layout, fingerprint.dims).await?;
    bulk::take_back(&layout).await?;
    upgrade::upgrade(&layout, &tables, format, damaged).await?;
    let shared = Shared { lock, ..Shared::new(layout, options, fingerprint, tables) };
    recovery::replay(&shared, &guard, damaged).await?;
    erase::finish_for_earlier_versions(&shared, &guard).await?;
    drop(guard);
    Ok(shared)
}

impl LanceStore {
    /// Creates what is missing, repairs what a crash or a power loss left behind. Damages nothing it refuses to open. What
    /// cannot be written to for now is opened for reading; writes work again by themselves once they can.
    ///
    /// # Errors
    /// [`StoreError::Unusable`], [`StoreError::NewerFormat`], [`StoreError::OtherEmbedder`].
    pub async fn open(dir: &Path, fingerprint: &Fingerprint, options: Options) -> Result<Self, StoreError> {
        let access = Access::open(dir.to_owned(), fingerprint, options).await?;
        Ok(Self { access: Arc::new(access) })
    }

    fn shared(&self) -> Arc<Shared> {
        self.access.for_reading()
    }

    /// Whether anything can be stored; what is in the way is known afterwards, as [`MemoryStore::limitation`].
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`], or of what comes before a write.
    pub async fn try_writing(&self, deadline: Deadline) -> Result<(), StoreError> {
        self.access.look(deadline).await
    }

    /// How much of it is searched in memory.
    pub fn resident(&self) -> ResidentUse {
        self.access.shared().resident.in_use()
    }

    /// The embedder whose vectors the directory holds; None where there is no bank in it yet.
    ///
    /// # Errors
    /// [`StoreError::Unusable`].
    pub async fn embedder_of(dir: &Path) -> Result<Option<Fingerprint>, StoreError> {
        let layout = Layout::of(dir);
        Ok(blocking(move || format::Stamp::read(&layout)).await??.map(Fingerprint::from))
    }

    /// Makes the vectors of all passages again with this embedder. The old ones are searched until all are made, and what
    /// is written meanwhile is made as well; then the directory belongs to the new embedder, and every instance of the
    /// old one, this one included, is refused. What breaks off is gone on with by the next call. `progress` is told how
    /// many passages are done, and of how many. Answers with how many there are.
    ///
    /// # Errors
    /// Of the store or of the embedder; another process is at the same work.
    pub async fn reembed(&self, embedder: &dyn Embedder, progress: impl Fn(u64, u64)) -> Result<u64, Error> {
        let shared = self.access.writable(Deadline::after(OPEN_PATIENCE)).await?;
        let passages = reembed::reembed(&shared, embedder, progress).await?;
        shared.journal.remove_empty().map_err(failed)?;
        Ok(passages)
    }

    /// Waits for commits under way and takes a last checkpoint, so that nothing is left to be replayed. Does nothing when
    /// nothing was written since the last one. Goes on to the end by itself when the deadline passes.
    pub async fn close(&self, deadline: Deadline) -> Result<(), StoreError> {
        let shared = self.access.shared();
        if shared.queue.is_idle() && shared.journal.bytes() == 0 {
            return shared.journal.remove_empty().map_err(failed);
        }
        let work = tokio::spawn(async move {
            let guard = shared.lock.acquire(deadline).await?;
            commit::settle(&shared, &guard).await?;
            checkpoint::checkpoint(&shared, &guard).await?;
            shared.journal.remove_empty().map_err(failed)
        });
        within(deadline, async { work.await.map_err(failed)? }).await
    }
}

impl MemoryStore for LanceStore {
    fn reads(&self) -> &dyn StoreReads {
        self
    }

    fn commit(&self, batch: Batch, deadline: Deadline) -> StoreFuture<'_, Committed> {
        let work = move |shared: Arc<Shared>| async move {
            let changes = unembedded::Changes::of(&batch);
            changes.note(&shared.layout).await;
            let committed = commit::commit(&shared, batch, deadline).await?;
            changes.forget(&shared.layout).await;
            Ok(committed)
        };
        self.access.write(deadline, work).boxed()
    }

    fn erase(&self, scope: EraseScope, deadline: Deadline) -> StoreFuture<'_, Erased> {
        let work = move |shared: Arc<Shared>| async move { erase::erase(&shared, scope, deadline).await };
        self.access.write(deadline, work).boxed()
    }

    fn maintain(&self, deadline: Deadline) -> StoreFuture<'_, Maintained> {
        // it gives way to whoever writes, so that it went well says little of whether others can
        async move { upkeep::maintain(&self.access.writable(deadline).await?, deadline).await }.boxed()
    }

    fn limitation(&self) -> Option<Limitation> {
        self.access.limitation()
    }
}

async fn within<T>(deadline: Deadline, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    if deadline.passed() {
        return Err(StoreError::TimedOut);
    }
    tokio::time::timeout_at(deadline.instant(), work).await.unwrap_or(Err(StoreError::TimedOut))
}

/// What the layers below say; the remedy is the same for all of it.
fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(error.to_string())
}

/// File work of milliseconds, off the threads that serve requests.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(failed)
}
