//! The state that all clones of a handle share. Work that goes on by itself after its caller has gone holds it, too.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reasoning_bank_actors::ports::{Fingerprint, Limitation, ReadOnlyCause};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::workspace::Workspace;
use tokio::time::Instant;

use super::commit::checkpoint::Checkpoints;
use super::commit::journal::JournalSlot;
use super::commit::queue::Queue;
use super::commit::write_lock::{FileLock, WriteLock};
use super::layout::Layout;
use super::resident::Resident;
use super::tables::{Tables, Versions};

/// After a commit of many records, upkeep waits this long for the next one.
const WAY_FOR_BULK: Duration = Duration::from_secs(1);

/// The settings of a store: how long opening waits, when background work is done, and how much is kept in memory.
#[derive(Debug, Clone)]
pub struct Options {
    /// Opening waits this long for another process that holds the write lock; then it opens for reading alone.
    pub open_timeout: Duration,
    /// Opening waits this long while several others take turns, and where what is there cannot be read as it is:
    /// whoever holds the lock may be making the bank, or upgrading it.
    pub open_turns_timeout: Duration,
    /// The first commit after this time syncs the tables and empties the journal.
    pub checkpoint_after: Duration,
    /// A commit that gives the journal this many bytes does the same at once.
    pub checkpoint_bytes: u64,
    /// A table with this many fragments is compacted in the background.
    pub compact_at_fragments: usize,
    /// The largest number of bytes in which memories that searches ask for are kept in memory. Where it is 0, none are
    /// kept.
    pub resident_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            open_timeout: Duration::from_secs(5),
            open_turns_timeout: Duration::from_secs(20),
            checkpoint_after: Duration::from_secs(60),
            checkpoint_bytes: 8 << 20,
            compact_at_fragments: 32,
            resident_bytes: 768 << 20,
        }
    }
}

/// A data directory that is open. It outlives the handles: a commit under way holds it, too.
pub(super) struct SharedStore {
    pub(super) layout: Layout,
    pub(super) options: Options,
    pub(super) fingerprint: Fingerprint,
    pub(super) dims: usize,
    pub(super) tables: Tables,
    pub(super) lock: WriteLock,
    pub(super) journal: JournalSlot,
    pub(super) queue: Queue,
    pub(super) checkpoints: Checkpoints,
    pub(super) upkeep: UpkeepState,
    pub(super) resident: Arc<Resident>,
    /// Tables at the versions before a commit that is under way, or broke off.
    pub(super) pinned: Mutex<Option<(Versions, Tables)>>,
    /// The workspaces, as they are at that version of their table.
    pub(super) workspaces: Mutex<Option<(u64, Vec<Workspace>)>>,
    /// The number of journals that wait to be replayed, where the directory was opened without what opening repairs;
    /// `None` where it was opened for writing.
    read_only: Option<usize>,
}

impl SharedStore {
    pub(super) fn new(layout: Layout, options: Options, fingerprint: &Fingerprint, tables: Tables) -> Self {
        let journal = JournalSlot::default();
        Self {
            lock: WriteLock::of(&layout),
            queue: Queue::default(),
            checkpoints: Checkpoints::of(&layout, &journal, options.checkpoint_after, options.checkpoint_bytes),
            journal,
            upkeep: UpkeepState::of(&layout),
            resident: Arc::new(Resident::new(&layout, tables.clone(), fingerprint.dims, options.resident_bytes)),
            pinned: Mutex::default(),
            workspaces: Mutex::default(),
            read_only: None,
            fingerprint: fingerprint.clone(),
            dims: fingerprint.dims,
            layout,
            options,
            tables,
        }
    }

    pub(super) fn with_lock(self, lock: WriteLock) -> Self {
        Self { lock, ..self }
    }

    pub(super) fn read_only(self, waiting: usize) -> Self {
        Self { read_only: Some(waiting), ..self }
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    pub(super) fn limitation(&self, cause: ReadOnlyCause) -> Limitation {
        Limitation { cause, waiting: self.read_only.unwrap_or(0) }
    }
}

/// The state of upkeep: whether it runs, and what it waits for.
pub(super) struct UpkeepState {
    pub(super) commits: AtomicU64,
    pub(super) running: AtomicBool,
    /// The lock of the one process that does upkeep, of all that have the directory open.
    pub(super) lock: FileLock,
    /// The time at which many records were last being written at once; `None` where that has not happened yet.
    bulk: Mutex<Option<Instant>>,
}

impl UpkeepState {
    fn of(layout: &Layout) -> Self {
        Self {
            commits: AtomicU64::default(),
            running: AtomicBool::default(),
            lock: FileLock::at(layout.upkeep_lock()),
            bulk: Mutex::default(),
        }
    }

    /// Notes that many records are being written, so that upkeep waits for the end. Indexes that are extended while
    /// rows stream in slow them down, and are extended many times.
    pub(super) fn make_way(&self) {
        *self.bulk.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    pub(super) fn quiet_from(&self) -> Option<Instant> {
        self.bulk.lock().unwrap_or_else(PoisonError::into_inner).map(|last| last + WAY_FOR_BULK)
    }

    /// Waits until no more records have come in bulk for a while, and tells whether that was so. It is false where more
    /// came, or where the deadline passed first.
    pub(super) async fn is_quiet(&self, deadline: Deadline) -> bool {
        let Some(quiet) = self.quiet_from() else { return true };
        tokio::time::sleep_until(quiet.min(deadline.instant())).await;
        self.quiet_from() == Some(quiet) && Instant::now() >= quiet
    }
}
