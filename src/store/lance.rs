//! The store port over LanceDB in a local directory. LanceDB knows neither transactions over several tables nor fsync;
//! the journal, the write lock and the recovery beside it make up for both. No LanceDB or arrow type leaves this module.
//!
//! ```text
//! DIR/format_version          number of the layout
//! DIR/lance/*.lance           tables
//! DIR/lance/fingerprint.json  whose vectors they hold
//! DIR/lance/reembed.json      that vectors of another embedder are being made, beside; see `reembed`
//! DIR/lance/unembedded/ID     an empty file for each memory that was stored without vectors
//! DIR/lance/.write.lock       held by the one process that writes; names the journal it is applying
//! DIR/lance/.upkeep.lock      held by the one process that does upkeep
//! DIR/journal/UUID.log        frames of a process since its last checkpoint, locked while it lives
//! DIR/journal/history*.log    frames from before, bounded: what damaged tables are repaired from
//! DIR/journal/erasures.json   how many erasures there were, and the one under way
//! DIR/journal/bulk.json       there while a commit of many records is under way: what to go back to if it breaks off
//! DIR/repairing               there while a repair of damaged tables is under way
//! DIR/set-aside/              manifests that did not open, tables and journals that could not be read whole
//! ```

mod apply;
mod bulk;
mod checkpoint;
mod commit;
mod erase;
mod filter;
mod format;
mod indexes;
mod journal;
mod read;
mod recovery;
mod reembed;
mod replay;
mod resident;
mod resolve;
mod revisions;
mod rows;
mod scan;
mod search;
mod set_aside;
mod summary;
mod tables;
mod threads;
mod unembedded;
mod upgrade;
mod upkeep;
mod write_lock;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{
    Batch, Committed, Embedder, EraseScope, Erased, Filter, Fingerprint, Maintained, MemoryRow, MemoryStore, Page,
    Recall, Scanned, StoreError,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::retrieval::Candidates;

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

/// When the store does its background work by itself.
#[derive(Debug, Clone)]
pub struct Options {
    /// Opening waits this long for another process that is writing.
    pub open_timeout: Duration,
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
            open_timeout: Duration::from_secs(10),
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
    shared: Arc<Shared>,
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
}

impl LanceStore {
    /// Creates what is missing, repairs what a crash or a power loss left behind. Damages nothing it refuses to open.
    ///
    /// # Errors
    /// [`StoreError::Unusable`], [`StoreError::NewerFormat`], [`StoreError::OtherEmbedder`];
    /// [`StoreError::TimedOut`] when another process wrote all the while.
    pub async fn open(dir: &Path, fingerprint: &Fingerprint, options: Options) -> Result<Self, StoreError> {
        let layout = Layout::prepare(dir).await?;
        let lock = WriteLock::open(&layout).await?;
        let mut guard = lock.acquire(Deadline::after(options.open_timeout)).await?;
        let format = format::check(&layout, fingerprint).await?;
        let (tables, damaged) = recovery::open_tables(&layout, fingerprint.dims).await?;
        bulk::take_back(&layout).await?;
        upgrade::upgrade(&layout, &tables, format, damaged).await?;
        let shared = Arc::new(Shared {
            journal: JournalSlot::default(),
            queue: Queue::default(),
            checkpoints: Checkpoints::default(),
            upkeep: Upkeep::open(&layout).await?,
            resident: Arc::new(Resident::new(&layout, tables.clone(), fingerprint.dims, options.resident_bytes)),
            fingerprint: fingerprint.clone(),
            dims: fingerprint.dims,
            layout,
            options,
            tables,
            lock,
        });
        recovery::replay(&shared, &mut guard, damaged).await?;
        erase::finish_for_earlier_versions(&shared, &mut guard).await?;
        Ok(Self { shared })
    }

    /// How much of it is searched in memory.
    pub fn resident(&self) -> ResidentUse {
        self.shared.resident.in_use()
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
        let passages = reembed::reembed(&self.shared, embedder, progress).await?;
        self.shared.journal.remove_empty().map_err(failed)?;
        Ok(passages)
    }

    /// What was read, unless the directory has come to belong to another embedder: its vectors are not those that the
    /// caller can compare with.
    async fn of_own_vectors<T>(&self, read: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let read = read.await;
        format::check_embedder(&self.shared.layout, &self.shared.fingerprint)?;
        read
    }

    /// Waits for commits under way and takes a last checkpoint, so that nothing is left to be replayed. Does nothing when
    /// nothing was written since the last one. Goes on to the end by itself when the deadline passes.
    pub async fn close(&self, deadline: Deadline) -> Result<(), StoreError> {
        if self.shared.queue.is_idle() && self.shared.journal.bytes() == 0 {
            return self.shared.journal.remove_empty().map_err(failed);
        }
        let shared = Arc::clone(&self.shared);
        let work = tokio::spawn(async move {
            let mut guard = shared.lock.acquire(deadline).await?;
            commit::settle(&shared, &mut guard).await?;
            checkpoint::checkpoint(&shared, &guard).await?;
            shared.journal.remove_empty().map_err(failed)
        });
        within(deadline, async { work.await.map_err(failed)? }).await
    }
}

impl LanceStore {
    /// Vectors may have been made again since their memory was written; they are those of the directory's embedder.
    fn name_embedder(&self, rows: &mut [MemoryRow]) {
        for embedder in rows.iter_mut().filter_map(|row| row.memory.embedder.as_mut()) {
            *embedder = self.shared.fingerprint.to_string();
        }
    }
}

impl MemoryStore for LanceStore {
    fn commit(&self, batch: Batch, deadline: Deadline) -> BoxFuture<'_, Result<Committed, StoreError>> {
        async move {
            let changes = unembedded::Changes::of(&batch);
            changes.note(&self.shared.layout).await;
            let committed = commit::commit(&self.shared, batch, deadline).await?;
            changes.forget(&self.shared.layout).await;
            Ok(committed)
        }
        .boxed()
    }

    fn candidates(&self, recall: Recall, deadline: Deadline) -> BoxFuture<'_, Result<Candidates, StoreError>> {
        within(deadline, self.of_own_vectors(search::candidates(&self.shared, recall))).boxed()
    }

    fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> BoxFuture<'_, Result<Vec<MemoryRow>, StoreError>> {
        let named = async move {
            let mut found = resident::rows(&self.shared.resident, &ids).await;
            let others = ids.iter().copied().filter(|id| !found.contains_key(id)).collect();
            found.extend(read::get(&self.shared.tables, others).await?);
            let mut rows: Vec<MemoryRow> = ids.iter().filter_map(|id| found.remove(id)).collect();
            self.name_embedder(&mut rows);
            Ok(rows)
        };
        within(deadline, named).boxed()
    }

    fn scan(&self, filter: Filter, page: Page, deadline: Deadline) -> BoxFuture<'_, Result<Scanned, StoreError>> {
        let named = async {
            let mut scanned = self.of_own_vectors(scan::scan(&self.shared, filter, page)).await?;
            if let Scanned::Memories(rows) = &mut scanned {
                self.name_embedder(rows);
            }
            Ok(scanned)
        };
        within(deadline, named).boxed()
    }

    fn erase(&self, scope: EraseScope, deadline: Deadline) -> BoxFuture<'_, Result<Erased, StoreError>> {
        erase::erase(&self.shared, scope, deadline).boxed()
    }

    fn maintain(&self, deadline: Deadline) -> BoxFuture<'_, Result<Maintained, StoreError>> {
        upkeep::maintain(&self.shared, deadline).boxed()
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
