//! Deadlines: the moment after which nobody waits for an answer any more. Every call carries one.

use std::time::Duration;

use tokio::time::Instant;

const FARTHEST: Duration = Duration::from_secs(365 * 24 * 3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// Returns the deadline after this time, but at most a year from now.
    pub fn after(duration: Duration) -> Self {
        Self(Instant::now() + duration.min(FARTHEST))
    }

    /// Returns the deadline in the middle of what remains.
    pub fn halfway(self) -> Self {
        Self::after(self.remaining() / 2)
    }

    pub fn instant(self) -> Instant {
        self.0
    }

    /// Returns the time that remains. It is zero once the deadline has passed.
    pub fn remaining(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    pub fn passed(self) -> bool {
        self.remaining().is_zero()
    }

    /// Returns this deadline, or one after `duration` where that is earlier.
    pub fn at_most(self, duration: Duration) -> Self {
        self.min(Self::after(duration))
    }

    /// Returns a deadline that is earlier by `reserve`, but at most by a tenth of what remains.
    pub fn leaving(self, reserve: Duration) -> Self {
        Self(self.0 - reserve.min(self.remaining() / 10))
    }
}
