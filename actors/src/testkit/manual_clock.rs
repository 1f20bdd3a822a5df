//! A clock that stands still until a test turns it.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::ports::Clock;

/// The Unix time at which the clock starts: 2027-01-15T08:00:00Z.
const START_SECOND: i64 = 1_800_000_000;

/// Clones show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<Mutex<Timestamp>>);

impl Default for ManualClock {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(START_SECOND))))
    }
}

impl ManualClock {
    /// Returns the clock as a system takes it.
    pub fn clock(&self) -> Clock {
        let clock = self.clone();
        Clock::new(move || clock.now())
    }

    pub fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns the clock to this time, back as well.
    pub fn set(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    pub fn advance(&self, by: SignedDuration) {
        self.set(self.now() + by);
    }
}
