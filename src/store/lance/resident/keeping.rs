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

pub(in super::super) struct Resident {
    pub(super) tables: Tables,
    pub(super) dims: usize,
    /// Bytes of all shelves; none are kept when it is 0.
    budget: usize,
    pub(super) newest: NewestVersions,
    state: Mutex<State>,
    pub(super) answered: AtomicU64,
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
    /// Nothing yet. A shelf is made for who asks again: a command asks once and ends.
    Asked,
    /// A shelf is being made, or much is being added to one.
    UnderWay,
    TooLarge,
    Shelf(Arc<Kept>),
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
        let Standings { memories, passages, signals } = &self.placed().standings;
        memories.version >= newest.memories && passages.version >= newest.passages && signals.version >= newest.signals
    }
}

/// How much is answered from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResidentUse {
    pub shelves: usize,
    pub bytes: usize,
    /// Searches that were answered from shelves alone.
    pub answered: u64,
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
            tables,
            dims,
            budget,
            newest: NewestVersions::of(layout),
            state: Mutex::default(),
            answered: AtomicU64::default(),
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
        ResidentUse { shelves: state.shelves().count(), bytes, answered: self.answered.load(Ordering::Relaxed) }
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
            Some(Place::UnderWay | Place::TooLarge) => Look::NotNow,
            None => {
                state.places.insert(owner.clone(), Place::Asked);
                Look::Nothing { asked_before: false }
            }
        }
    }

    /// Whether a shelf of so many bytes can be kept; others make room for it, first those that were not used for longest.
    pub(super) fn fits(&self, owner: &Owner, bytes: usize) -> bool {
        if bytes > self.budget {
            return false;
        }
        let mut state = self.state();
        loop {
            let others = || state.shelves().filter(|kept| kept.owner != *owner);
            let taken: usize = others().map(|kept| kept.bytes.load(Ordering::Relaxed)).sum();
            let longest_unused = others().min_by_key(|kept| kept.used.load(Ordering::Relaxed));
            match longest_unused.map(|kept| kept.owner.clone()) {
                Some(other) if taken + bytes > self.budget => state.places.remove(&other),
                _ => return true,
            };
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

    /// The shelf is up to date; whether it is kept.
    pub(super) fn end_with(mut self, kept: &Arc<Kept>) -> bool {
        let (bytes, worn) = {
            let shelf = &kept.placed().shelf;
            (shelf.bytes(), shelf.is_worn())
        };
        kept.bytes.store(bytes, Ordering::Relaxed);
        let resident = &self.resident;
        self.end = match resident.fits(&self.owner, bytes) {
            false => Some(Place::TooLarge),
            true if worn => Some(Place::Asked),
            true => Some(Place::Shelf(Arc::clone(kept))),
        };
        matches!(self.end, Some(Place::Shelf(_))) && resident.state().erasures == self.erasures
    }

    pub(super) fn end_as_too_large(mut self) {
        self.end = Some(Place::TooLarge);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            self.set(end);
        }
    }
}
