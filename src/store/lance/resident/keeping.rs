//! Which shelves are kept: for whom, how many bytes of them, and which go when there is no room for all.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use reasoning_bank_domain::resident::Shelf;

use super::super::format::Layout;
use super::super::tables::Tables;
use super::fill::Standings;
use super::owner::Owner;
use super::versions::{NewestVersions, Versions};

/// A large shelf, which takes long to be made, takes the place of another one only when that was not used for so long:
/// who asks for both in turn would wait for one of them for ever.
const HELD_FOR: Duration = Duration::from_secs(60);
/// For one that is so many times smaller, a large shelf does not go sooner either.
const MUCH_SMALLER: usize = 16;
/// It is tried again after this time.
const ROOM_AGAIN_AFTER: Duration = Duration::from_secs(300);
/// Owners that are remembered for having asked; beyond that all but those with a shelf are forgotten.
const MOST_PLACES: usize = 10_000;

pub(in super::super) struct Resident {
    pub(super) layout: Layout,
    pub(super) tables: Tables,
    pub(super) dims: usize,
    /// Bytes of all shelves; none are kept when it is 0.
    budget: usize,
    pub(super) newest: NewestVersions,
    /// Held by whoever reads a shelf, so that no more than one at a time is beyond the budget; and one that takes little.
    pub(super) reading: tokio::sync::Mutex<()>,
    pub(super) reading_little: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    pub(super) answered: AtomicU64,
    pub(super) read: AtomicU64,
    /// Somebody brings the shelves up to date now and then.
    pub(super) watched: AtomicBool,
    opened: Instant,
}

#[derive(Default)]
struct State {
    places: HashMap<Owner, Place>,
    /// How often all shelves were thrown away because something was erased: what was read before must not come back.
    erasures: u64,
}

/// What there is for an owner who was asked for.
enum Place {
    /// Nothing yet. A large shelf is made for who asks again: a command asks once and ends.
    Asked,
    /// A shelf is being made, or much is being added to one.
    UnderWay,
    TooLarge,
    /// Others that are in use left no room when it was tried, at this time by [`Resident::now`].
    NoRoom {
        since: u64,
    },
    Shelf(Arc<Kept>),
}

/// Why there is no shelf.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unkept {
    TooLarge,
    /// Others are in use.
    NoRoom,
    /// What was read for it may have been erased.
    Outdated,
    /// Others are being read.
    Busy,
}

/// A shelf, and the versions of the tables that it stands for.
pub(super) struct Placed {
    pub(super) shelf: Shelf,
    pub(super) standings: Standings,
}

pub(super) struct Kept {
    pub(super) owner: Owner,
    placed: RwLock<Placed>,
    /// Held by whoever brings it up to date.
    pub(super) updating: Arc<tokio::sync::Mutex<()>>,
    /// When it was searched last, by [`Resident::now`].
    used: AtomicU64,
    bytes: AtomicUsize,
}

impl Kept {
    pub(super) fn new(owner: Owner, shelf: Shelf, standings: Standings, now: u64) -> Self {
        Self {
            owner,
            bytes: AtomicUsize::new(shelf.bytes()),
            placed: RwLock::new(Placed { shelf, standings }),
            updating: Arc::default(),
            used: AtomicU64::new(now),
        }
    }

    pub(super) fn placed(&self) -> RwLockReadGuard<'_, Placed> {
        self.placed.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn placed_mut(&self) -> RwLockWriteGuard<'_, Placed> {
        self.placed.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_at(&self, newest: &Versions) -> bool {
        self.placed().standings.are_at(newest)
    }
}

/// How much is answered from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResidentUse {
    pub shelves: usize,
    pub bytes: usize,
    /// Searches that were answered from shelves alone.
    pub answered: u64,
    /// Memories that were read where a shelf said that they are.
    pub read: u64,
}

pub(super) enum Look {
    Shelf(Arc<Kept>),
    Nothing {
        asked_before: bool,
    },
    /// Somebody is at work on it, or it cannot be kept.
    NotNow,
}

impl Resident {
    pub(in super::super) fn new(layout: &Layout, tables: Tables, dims: usize, budget: usize) -> Self {
        Self {
            layout: layout.clone(),
            tables,
            dims,
            budget,
            newest: NewestVersions::of(layout),
            reading: tokio::sync::Mutex::default(),
            reading_little: tokio::sync::Mutex::default(),
            state: Mutex::default(),
            answered: AtomicU64::default(),
            read: AtomicU64::default(),
            watched: AtomicBool::default(),
            opened: Instant::now(),
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.budget > 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in super::super) fn in_use(&self) -> ResidentUse {
        let state = self.state();
        let bytes = state.shelves().map(|kept| kept.bytes.load(Ordering::Relaxed)).sum();
        let [answered, read] = [&self.answered, &self.read].map(|count| count.load(Ordering::Relaxed));
        ResidentUse { shelves: state.shelves().count(), bytes, answered, read }
    }

    /// Throws away all shelves, and what is being read for new ones. To be called when rows were erased, before anybody
    /// hears that they are.
    pub(in super::super) fn forget(&self) {
        let mut state = self.state();
        state.erasures += 1;
        state.places.clear();
    }

    /// Microseconds since it was made.
    pub(super) fn now(&self) -> u64 {
        self.opened.elapsed().as_micros() as u64
    }

    pub(super) fn shelves(&self) -> Vec<Arc<Kept>> {
        self.state().shelves().cloned().collect()
    }

    /// The shelves that were searched within this time.
    pub(super) fn in_use_since(&self, time: Duration) -> Vec<Arc<Kept>> {
        let since = self.now().saturating_sub(time.as_micros() as u64);
        let in_use = |kept: &&Arc<Kept>| kept.used.load(Ordering::Relaxed) >= since;
        self.state().shelves().filter(in_use).cloned().collect()
    }

    pub(super) fn look_up(&self, owner: &Owner) -> Look {
        let mut state = self.state();
        match state.places.get(owner) {
            Some(Place::Shelf(kept)) => {
                kept.used.store(self.now(), Ordering::Relaxed);
                Look::Shelf(Arc::clone(kept))
            }
            Some(Place::Asked) => Look::Nothing { asked_before: true },
            Some(Place::NoRoom { since }) if self.now() - since >= ROOM_AGAIN_AFTER.as_micros() as u64 => {
                Look::Nothing { asked_before: true }
            }
            Some(Place::UnderWay | Place::TooLarge | Place::NoRoom { .. }) => Look::NotNow,
            None => {
                if state.places.len() >= MOST_PLACES {
                    state.places.retain(|_, place| matches!(place, Place::Shelf(_) | Place::UnderWay));
                }
                state.places.insert(owner.clone(), Place::Asked);
                Look::Nothing { asked_before: false }
            }
        }
    }

    /// Makes room for a shelf of so many bytes: others go that were not used for this long, first those that were not for
    /// longest.
    fn make_room(&self, owner: &Owner, bytes: usize, unused_for: Duration) -> Result<(), Unkept> {
        if bytes > self.budget {
            return Err(Unkept::TooLarge);
        }
        let now = self.now();
        let may_go = |kept: &Arc<Kept>| {
            let much_larger = kept.bytes.load(Ordering::Relaxed) / MUCH_SMALLER > bytes;
            let unused_for = if much_larger { HELD_FOR } else { unused_for };
            kept.used.load(Ordering::Relaxed) <= now.saturating_sub(unused_for.as_micros() as u64)
        };
        let mut state = self.state();
        loop {
            let others = || state.shelves().filter(|kept| kept.owner != *owner);
            let taken: usize = others().map(|kept| kept.bytes.load(Ordering::Relaxed)).sum();
            if taken + bytes <= self.budget {
                return Ok(());
            }
            let longest_unused =
                others().filter(|kept| may_go(kept)).min_by_key(|kept| kept.used.load(Ordering::Relaxed));
            let Some(other) = longest_unused.map(|kept| kept.owner.clone()) else { return Err(Unkept::NoRoom) };
            state.places.remove(&other);
        }
    }
}

impl State {
    fn shelves(&self) -> impl Iterator<Item = &Arc<Kept>> {
        self.places.values().filter_map(|place| if let Place::Shelf(kept) = place { Some(kept) } else { None })
    }
}

/// Work on a shelf. Where it does not end well there is none, and the next search begins anew.
pub(super) struct Pending {
    resident: Arc<Resident>,
    owner: Owner,
    /// How many there were when it began, which is before anything was read.
    erasures: u64,
    end: Option<Place>,
}

impl Pending {
    /// On a shelf that is searched meanwhile, once it is up to date.
    pub(super) fn of(resident: &Arc<Resident>, owner: &Owner) -> Self {
        let erasures = resident.state().erasures;
        Self { resident: Arc::clone(resident), owner: owner.clone(), erasures, end: Some(Place::Asked) }
    }

    /// On a new shelf; `None` when somebody else is at work.
    pub(super) fn begin(resident: &Arc<Resident>, owner: &Owner) -> Option<Self> {
        let mut state = resident.state();
        if matches!(state.places.get(owner), Some(Place::UnderWay | Place::Shelf(_))) {
            return None;
        }
        state.places.insert(owner.clone(), Place::UnderWay);
        drop(state);
        Some(Self::of(resident, owner))
    }

    /// Searches do not wait for it.
    pub(super) fn mark(&self) {
        self.set(Place::UnderWay);
    }

    fn set(&self, place: Place) {
        let mut state = self.resident.state();
        if state.erasures == self.erasures {
            state.places.insert(self.owner.clone(), place);
        }
    }

    /// Whether a shelf that has so many bytes by now will be kept. `at_once`: it takes little to make it again.
    pub(super) fn make_room(&self, bytes: usize, at_once: bool) -> Result<(), Unkept> {
        if self.resident.state().erasures != self.erasures {
            return Err(Unkept::Outdated);
        }
        let unused_for = if at_once { Duration::ZERO } else { HELD_FOR };
        self.resident.make_room(&self.owner, bytes, unused_for)
    }

    /// The shelf is up to date; whether it is kept.
    pub(super) fn end_with(mut self, kept: &Arc<Kept>) -> bool {
        let (bytes, worn) = {
            let shelf = &kept.placed().shelf;
            (shelf.bytes(), shelf.is_worn())
        };
        kept.bytes.store(bytes, Ordering::Relaxed);
        match self.make_room(bytes, true) {
            Ok(()) if worn => return false,
            Ok(()) => self.end = Some(Place::Shelf(Arc::clone(kept))),
            Err(why) => {
                self.end_without(why);
                return false;
            }
        }
        self.resident.state().erasures == self.erasures
    }

    pub(super) fn end_without(mut self, why: Unkept) {
        self.end = Some(match why {
            Unkept::TooLarge => {
                let megabytes = self.resident.budget >> 20;
                tracing::warn!(
                    "retrieval.resident_mb: the memories of one reader take more than {megabytes} MB and are searched on disk"
                );
                Place::TooLarge
            }
            Unkept::NoRoom => Place::NoRoom { since: self.resident.now() },
            Unkept::Outdated | Unkept::Busy => Place::Asked,
        });
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            self.set(end);
        }
    }
}
