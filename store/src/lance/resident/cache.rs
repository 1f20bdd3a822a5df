//! The owner indexes that are kept: for whom they are, how many bytes they take, and which go when there is no room for
//! all.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use reasoning_bank_index::OwnerIndex;
use tokio::sync::Notify;

use super::episodes::EpisodeCache;
use super::owner::Owner;
use super::patterns::PatternCache;
use super::table_deltas::TableVersions;
use super::versions::{CommittedVersions, NewestVersions};
use crate::lance::layout::Layout;
use crate::lance::tables::Tables;
use crate::lance::tables::recent_rows::RecentRows;

/// A large owner index, which takes long to be made, takes the place of another one only when that was not used for
/// this long. Otherwise a client who asks for both in turn would wait for one of them for ever.
const HELD_FOR: Duration = Duration::from_secs(60);
/// A large owner index has the same protection from one that is this many times smaller.
const MUCH_SMALLER: usize = 16;
/// An owner index that had no room is tried again after this time.
const ROOM_AGAIN_AFTER: Duration = Duration::from_secs(300);
/// The largest number of owners that are remembered for having asked. Beyond it, all are forgotten but those whose
/// owner index is there or under way.
const MOST_ENTRIES: usize = 10_000;

pub(in crate::lance) struct Resident {
    pub(super) layout: Layout,
    pub(super) tables: Tables,
    pub(super) dims: usize,
    /// The bytes that all owner indexes may take; none are kept when it is 0.
    budget: usize,
    pub(super) newest: NewestVersions,
    pub(in crate::lance) recent: RecentRows,
    /// The table of episodes may take half of the budget, and patterns an eighth. Owner indexes have what they leave.
    pub(in crate::lance) episodes: EpisodeCache,
    pub(in crate::lance) patterns: PatternCache,
    /// Whoever reads a large owner index holds the first lock, so that no more than one at a time is beyond the budget.
    /// Whoever reads an owner index that takes little holds the second.
    pub(super) reading: tokio::sync::Mutex<()>,
    pub(super) reading_little: tokio::sync::Mutex<()>,
    /// Whoever adds what came to the owner indexes in use holds this lock: the others find it added.
    pub(super) adding: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<CacheEntries>,
    pub(super) answered: AtomicU64,
    pub(super) read: AtomicU64,
    /// True once somebody brings the owner indexes up to date now and then.
    pub(super) watched: AtomicBool,
    /// Wakes whoever brings the owner indexes up to date.
    pub(in crate::lance) committed: Arc<Notify>,
    opened: Instant,
}

#[derive(Default)]
struct CacheEntries {
    entries: HashMap<Owner, EntryState>,
    /// The number of times that all owner indexes were thrown away because something was erased: what was read before
    /// must not come back.
    erasures: u64,
}

/// The state of the owner index of an owner who was asked for.
enum EntryState {
    /// There is nothing yet. A large owner index is made for an owner who asks again: a command asks once and ends.
    Requested,
    /// An owner index is being made, or much is being added to one.
    UnderWay,
    TooLarge,
    /// Others that are in use left no room when it was last tried, at this time by [`Resident::now`].
    NoRoom {
        since: u64,
    },
    Cached(Arc<CachedIndex>),
}

/// The reason why there is no owner index.
#[derive(Debug, Clone, Copy)]
pub(super) enum NotCached {
    TooLarge,
    /// Others are in use and leave no room.
    NoRoom,
    /// The rows that were read for it may have been erased since.
    Outdated,
    /// Others are being read.
    Busy,
}

/// An owner index, and the versions of the tables that it stands for.
pub(super) struct VersionedIndex {
    pub(super) index: OwnerIndex,
    pub(super) versions: TableVersions,
}

pub(super) struct CachedIndex {
    pub(super) owner: Owner,
    versioned: RwLock<VersionedIndex>,
    /// Whoever brings the owner index up to date holds this lock.
    pub(super) updating: Arc<tokio::sync::Mutex<()>>,
    /// The time at which it was last searched, by [`Resident::now`].
    used: AtomicU64,
    bytes: AtomicUsize,
}

impl CachedIndex {
    pub(super) fn new(owner: Owner, index: OwnerIndex, versions: TableVersions, now: u64) -> Self {
        Self {
            owner,
            bytes: AtomicUsize::new(index.bytes()),
            versioned: RwLock::new(VersionedIndex { index, versions }),
            updating: Arc::default(),
            used: AtomicU64::new(now),
        }
    }

    pub(super) fn versioned(&self) -> RwLockReadGuard<'_, VersionedIndex> {
        self.versioned.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn versioned_mut(&self) -> RwLockWriteGuard<'_, VersionedIndex> {
        self.versioned.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_at(&self, newest: &CommittedVersions) -> bool {
        self.versioned().versions.are_at(newest)
    }
}

/// The use of the owner indexes: how many are kept, the bytes that they take, and what was answered from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResidentUse {
    pub indexes: usize,
    pub bytes: usize,
    /// The number of searches that were answered from owner indexes alone.
    pub answered: u64,
    /// The number of memories that were read where an owner index said that they are.
    pub read: u64,
}

pub(super) enum Look {
    Cached(Arc<CachedIndex>),
    Nothing {
        asked_before: bool,
    },
    /// Somebody is at work on the owner index, or it cannot be kept.
    NotNow,
}

impl Resident {
    pub(in crate::lance) fn new(layout: &Layout, tables: Tables, dims: usize, budget: usize) -> Self {
        Self {
            layout: layout.clone(),
            tables,
            dims,
            budget,
            newest: NewestVersions::of(layout),
            recent: RecentRows::default(),
            episodes: EpisodeCache::new(budget / 2),
            patterns: PatternCache::new(budget / 8),
            reading: tokio::sync::Mutex::default(),
            reading_little: tokio::sync::Mutex::default(),
            adding: Arc::default(),
            state: Mutex::default(),
            answered: AtomicU64::default(),
            read: AtomicU64::default(),
            watched: AtomicBool::default(),
            committed: Arc::default(),
            opened: Instant::now(),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.budget > 0
    }

    fn state(&self) -> MutexGuard<'_, CacheEntries> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::lance) fn in_use(&self) -> ResidentUse {
        let state = self.state();
        let of_indexes: usize = state.indexes().map(|cached| cached.bytes.load(Ordering::Relaxed)).sum();
        let bytes = of_indexes + self.episodes.bytes() + self.patterns.bytes();
        let [answered, read] = [&self.answered, &self.read].map(|count| count.load(Ordering::Relaxed));
        ResidentUse { indexes: state.indexes().count(), bytes, answered, read }
    }

    /// Throws away all owner indexes, and what is being read for new ones. It is called when rows were erased, before
    /// anybody hears that they are.
    pub(in crate::lance) fn forget(&self) {
        let mut state = self.state();
        state.erasures += 1;
        state.entries.clear();
        self.recent.forget();
    }

    /// Returns the microseconds since the store was opened.
    pub(super) fn now(&self) -> u64 {
        self.opened.elapsed().as_micros() as u64
    }

    pub(super) fn indexes(&self) -> Vec<Arc<CachedIndex>> {
        self.state().indexes().cloned().collect()
    }

    /// Returns the owner indexes that were searched within this time.
    pub(super) fn in_use_since(&self, time: Duration) -> Vec<Arc<CachedIndex>> {
        let since = self.now().saturating_sub(time.as_micros() as u64);
        let in_use = |cached: &&Arc<CachedIndex>| cached.used.load(Ordering::Relaxed) >= since;
        self.state().indexes().filter(in_use).cloned().collect()
    }

    pub(super) fn look_up(&self, owner: &Owner) -> Look {
        let mut state = self.state();
        match state.entries.get(owner) {
            Some(EntryState::Cached(cached)) => {
                cached.used.store(self.now(), Ordering::Relaxed);
                Look::Cached(Arc::clone(cached))
            }
            Some(EntryState::Requested) => Look::Nothing { asked_before: true },
            Some(EntryState::NoRoom { since }) if self.now() - since >= ROOM_AGAIN_AFTER.as_micros() as u64 => {
                Look::Nothing { asked_before: true }
            }
            Some(EntryState::UnderWay | EntryState::TooLarge | EntryState::NoRoom { .. }) => Look::NotNow,
            None => {
                if state.entries.len() >= MOST_ENTRIES {
                    state.entries.retain(|_, entry| matches!(entry, EntryState::Cached(_) | EntryState::UnderWay));
                }
                state.entries.insert(owner.clone(), EntryState::Requested);
                Look::Nothing { asked_before: false }
            }
        }
    }

    /// Makes room for an owner index of this many bytes. Others that were not used for `unused_for` go, and the one
    /// that was unused longest goes first.
    fn make_room(&self, owner: &Owner, bytes: usize, unused_for: Duration) -> Result<(), NotCached> {
        let budget = self.budget - self.episodes.bytes() - self.patterns.bytes();
        if bytes > budget {
            return Err(NotCached::TooLarge);
        }
        let now = self.now();
        let may_go = |cached: &Arc<CachedIndex>| {
            let much_larger = cached.bytes.load(Ordering::Relaxed) / MUCH_SMALLER > bytes;
            let unused_for = if much_larger { HELD_FOR } else { unused_for };
            cached.used.load(Ordering::Relaxed) <= now.saturating_sub(unused_for.as_micros() as u64)
        };
        let mut state = self.state();
        loop {
            let others = || state.indexes().filter(|cached| cached.owner != *owner);
            let taken: usize = others().map(|cached| cached.bytes.load(Ordering::Relaxed)).sum();
            if taken + bytes <= budget {
                return Ok(());
            }
            let longest_unused =
                others().filter(|cached| may_go(cached)).min_by_key(|cached| cached.used.load(Ordering::Relaxed));
            let Some(other) = longest_unused.map(|cached| cached.owner.clone()) else { return Err(NotCached::NoRoom) };
            state.entries.remove(&other);
        }
    }
}

impl CacheEntries {
    fn indexes(&self) -> impl Iterator<Item = &Arc<CachedIndex>> {
        self.entries
            .values()
            .filter_map(|entry| if let EntryState::Cached(cached) = entry { Some(cached) } else { None })
    }
}

/// The work on an owner index. Where it does not end well, there is no owner index, and the next search begins anew.
pub(super) struct BuildGuard {
    pub(super) resident: Arc<Resident>,
    owner: Owner,
    /// The number of erasures when the work began, which is before anything was read.
    erasures: u64,
    end: Option<EntryState>,
}

impl BuildGuard {
    /// Begins work on an owner index that searches go on to use, once it is up to date.
    pub(super) fn of(resident: &Arc<Resident>, owner: &Owner) -> Self {
        let erasures = resident.state().erasures;
        Self { resident: Arc::clone(resident), owner: owner.clone(), erasures, end: Some(EntryState::Requested) }
    }

    /// Begins work on a new owner index; returns `None` when there is one, or somebody else is at work on it.
    pub(super) fn begin(resident: &Arc<Resident>, owner: &Owner) -> Option<Self> {
        let mut state = resident.state();
        if matches!(state.entries.get(owner), Some(EntryState::UnderWay | EntryState::Cached(_))) {
            return None;
        }
        state.entries.insert(owner.clone(), EntryState::UnderWay);
        drop(state);
        Some(Self::of(resident, owner))
    }

    /// Marks the work as one that searches do not wait for.
    pub(super) fn mark(&self) {
        self.set(EntryState::UnderWay);
    }

    fn set(&self, entry: EntryState) {
        let mut state = self.resident.state();
        if state.erasures == self.erasures {
            state.entries.insert(self.owner.clone(), entry);
        }
    }

    /// Makes room for an owner index that has this many bytes by now, or returns why there is none. `at_once` says that
    /// it takes little to make it again.
    pub(super) fn make_room(&self, bytes: usize, at_once: bool) -> Result<(), NotCached> {
        if self.resident.state().erasures != self.erasures {
            return Err(NotCached::Outdated);
        }
        let unused_for = if at_once { Duration::ZERO } else { HELD_FOR };
        self.resident.make_room(&self.owner, bytes, unused_for)
    }

    /// Ends the work with an owner index that is up to date, and tells whether it is kept.
    pub(super) fn end_with(mut self, cached: &Arc<CachedIndex>) -> bool {
        let (bytes, worn) = {
            let index = &cached.versioned().index;
            (index.bytes(), index.is_worn())
        };
        cached.bytes.store(bytes, Ordering::Relaxed);
        match self.make_room(bytes, true) {
            Ok(()) if worn => return false,
            Ok(()) => self.end = Some(EntryState::Cached(Arc::clone(cached))),
            Err(why) => {
                self.end_without(why);
                return false;
            }
        }
        self.resident.state().erasures == self.erasures
    }

    pub(super) fn end_without(mut self, why: NotCached) {
        self.end = Some(match why {
            NotCached::TooLarge => {
                let megabytes = self.resident.budget >> 20;
                tracing::warn!(
                    "retrieval.resident_mb: the memories of one reader take more than {megabytes} MB and are searched on disk"
                );
                EntryState::TooLarge
            }
            NotCached::NoRoom => EntryState::NoRoom { since: self.resident.now() },
            NotCached::Outdated | NotCached::Busy => EntryState::Requested,
        });
    }
}

impl Drop for BuildGuard {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            self.set(end);
        }
    }
}
