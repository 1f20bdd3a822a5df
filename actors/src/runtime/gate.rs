//! Bounded admission. Mailboxes have no bound, so every public handle lets a bounded number of callers in and answers
//! the others at once. The bound is on how many are inside, not on how fast they come.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::Instant;

use super::CallError;

const FIRST_GUESS: Duration = Duration::from_secs(1);
const SHORTEST_RETRY: Duration = Duration::from_millis(10);
/// No caller is told to wait longer than this. A solve may take longer, but then the caller should rather ask again.
const LONGEST_RETRY: Duration = Duration::from_secs(300);

#[derive(Clone)]
pub struct Gate {
    shared: Arc<GateState>,
}

struct GateState {
    limit: usize,
    places: Arc<Semaphore>,
    /// The time that a caller is taken to stay while none has left yet.
    first_guess: Duration,
    refused: AtomicU64,
    /// The number of callers that were told to come back since the last one was let in.
    waiting: AtomicU64,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    /// The moment at which each caller entered, and a number that tells those of one moment apart.
    entered: BTreeSet<(Instant, u64)>,
    last: u64,
    /// The moving average of how long a caller stayed. None while no caller has left.
    usual_stay: Option<Duration>,
}

/// A place inside. It is given back when dropped.
pub struct Permit {
    shared: Arc<GateState>,
    entered: (Instant, u64),
    _place: OwnedSemaphorePermit,
}

impl Gate {
    /// Makes a gate with at least one place, however small the limit.
    pub fn new(limit: usize) -> Self {
        Self::expecting(limit, FIRST_GUESS)
    }

    /// Makes a gate whose callers are taken to stay for `first_guess` until the first of them has left.
    pub fn expecting(limit: usize, first_guess: Duration) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            shared: Arc::new(GateState {
                limit,
                places: Arc::new(Semaphore::new(limit)),
                first_guess,
                refused: AtomicU64::new(0),
                waiting: AtomicU64::new(0),
                inside: Mutex::default(),
            }),
        }
    }

    /// Lets a caller in at once, or answers [`CallError::Overloaded`] with the time after which a place is expected to
    /// be free. It answers [`CallError::Unavailable`] once the gate is closed.
    pub fn enter(&self) -> Result<Permit, CallError> {
        match Arc::clone(&self.shared.places).try_acquire_owned() {
            Ok(place) => {
                self.shared.waiting.store(0, Ordering::Relaxed);
                let entered = self.shared.inside().enter();
                Ok(Permit { shared: Arc::clone(&self.shared), entered, _place: place })
            }
            Err(TryAcquireError::NoPermits) => {
                self.shared.refused.fetch_add(1, Ordering::Relaxed);
                let before = self.shared.waiting.fetch_add(1, Ordering::Relaxed);
                Err(CallError::Overloaded { retry_after: self.shared.retry_after(before) })
            }
            Err(TryAcquireError::Closed) => Err(CallError::Unavailable),
        }
    }

    /// Lets nobody in any more. Those inside stay.
    pub fn close(&self) {
        self.shared.places.close();
    }

    pub fn inside(&self) -> usize {
        self.shared.limit - self.shared.places.available_permits()
    }

    pub fn limit(&self) -> usize {
        self.shared.limit
    }

    /// Returns how many callers were turned away since the start.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

impl GateState {
    /// Estimates how long a refused caller waits for a place, between `SHORTEST_RETRY` and `LONGEST_RETRY`. While all
    /// places are taken, one becomes free after each `limit`-th part of a usual stay, on average. Those who were
    /// refused `before` come for the next ones. No place is free before the first of those inside has stayed as long as
    /// usual. A caller that has been inside for longer than usual shows that the average is out of date.
    fn retry_after(&self, before: u64) -> Duration {
        let (usual, longest) = {
            let inside = self.inside();
            (inside.usual_stay.unwrap_or(self.first_guess), inside.longest())
        };
        let places = u32::try_from(self.limit).unwrap_or(u32::MAX);
        let turn = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
        let by_rate = (usual.max(longest) / places).saturating_mul(turn);
        by_rate.max(usual.saturating_sub(longest)).clamp(SHORTEST_RETRY, LONGEST_RETRY)
    }

    /// Locks what is inside. Every change under the lock is a single one, so a poisoned lock still guards whole data.
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    fn enter(&mut self) -> (Instant, u64) {
        self.last = self.last.wrapping_add(1);
        let entered = (Instant::now(), self.last);
        self.entered.insert(entered);
        entered
    }

    fn leave(&mut self, entered: (Instant, u64)) {
        self.entered.remove(&entered);
        let stayed = entered.0.elapsed();
        self.usual_stay = Some(self.usual_stay.map_or(stayed, |usual| usual - usual / 8 + stayed / 8));
    }

    /// Returns how long the first of those inside has been there. It is zero where nobody is inside.
    fn longest(&self) -> Duration {
        self.entered.first().map(|(entered, _)| entered.elapsed()).unwrap_or_default()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.shared.inside().leave(self.entered);
    }
}
