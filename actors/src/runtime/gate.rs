//! Bounded admission: mailboxes have no bound, so every public handle lets only so many callers in and answers the
//! others at once. It limits how many are inside, not how fast they come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio::time::Instant;

use super::CallError;

const FIRST_GUESS: Duration = Duration::from_secs(1);
const SHORTEST_RETRY: Duration = Duration::from_millis(10);
const LONGEST_RETRY: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub struct Gate {
    shared: Arc<Shared>,
}

struct Shared {
    limit: usize,
    places: Arc<Semaphore>,
    /// Moving average of how long a caller stays inside, in microseconds.
    stay_us: AtomicU64,
    refused: AtomicU64,
}

/// A place inside; given back when dropped.
pub struct Permit {
    shared: Arc<Shared>,
    entered: Instant,
    _place: OwnedSemaphorePermit,
}

impl Gate {
    /// At least one place, however small the limit.
    pub fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            shared: Arc::new(Shared {
                limit,
                places: Arc::new(Semaphore::new(limit)),
                stay_us: AtomicU64::new(FIRST_GUESS.as_micros() as u64),
                refused: AtomicU64::new(0),
            }),
        }
    }

    /// In at once, or [`CallError::Overloaded`] with the time after which a place is expected to be free;
    /// [`CallError::Unavailable`] once closed.
    pub fn enter(&self) -> Result<Permit, CallError> {
        match Arc::clone(&self.shared.places).try_acquire_owned() {
            Ok(place) => Ok(Permit { shared: Arc::clone(&self.shared), entered: Instant::now(), _place: place }),
            Err(TryAcquireError::NoPermits) => {
                self.shared.refused.fetch_add(1, Ordering::Relaxed);
                Err(CallError::Overloaded { retry_after: self.shared.retry_after() })
            }
            Err(TryAcquireError::Closed) => Err(CallError::Unavailable),
        }
    }

    /// Lets nobody in any more; who is inside stays.
    pub fn close(&self) {
        self.shared.places.close();
    }

    pub fn inside(&self) -> usize {
        self.shared.limit - self.shared.places.available_permits()
    }

    pub fn limit(&self) -> usize {
        self.shared.limit
    }

    /// How many were turned away since the start.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// With all places taken, one is given back every `stay / limit` on average.
    fn retry_after(&self) -> Duration {
        let stay = Duration::from_micros(self.stay_us.load(Ordering::Relaxed));
        let places = u32::try_from(self.limit).unwrap_or(u32::MAX);
        (stay / places).clamp(SHORTEST_RETRY, LONGEST_RETRY)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let stayed = u64::try_from(self.entered.elapsed().as_micros()).unwrap_or(u64::MAX);
        let average = |old: u64| Some(old - old / 8 + stayed / 8);
        let _ = self.shared.stay_us.fetch_update(Ordering::Relaxed, Ordering::Relaxed, average);
    }
}
