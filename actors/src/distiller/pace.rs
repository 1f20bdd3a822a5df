//! The pace says how fast background jobs are done, and so how long somebody waits whose job has no room in the queue.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::learning::job::next_day;

/// A job is reckoned to take this long before one was done here.
const FIRST_GUESS: Duration = Duration::from_secs(60);
const SHORTEST: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(crate) struct Pace {
    /// Moving average of how long a job takes, in microseconds; 0 before the first.
    job_us: AtomicU64,
    /// The next job waits for tokens until then, in seconds since 1970.
    waits_until: AtomicI64,
}

impl Pace {
    /// Notes that a job was done.
    pub(super) fn took(&self, time: Duration) {
        let took = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).max(1);
        let average = |old: u64| Some(if old == 0 { took } else { old - old / 8 + took / 8 });
        let _ = self.job_us.fetch_update(Ordering::Relaxed, Ordering::Relaxed, average);
        self.waits_until.store(0, Ordering::Relaxed);
    }

    /// Notes that the next job needs more tokens than are left of the day.
    pub(super) fn waits_for_the_next_day(&self, now: Timestamp) {
        self.waits_until.store(next_day(now).as_second(), Ordering::Relaxed);
    }

    /// Returns how long it takes until a place in a full queue is expected to be free.
    pub(super) fn next_place(&self, now: Timestamp) -> Duration {
        let job = match self.job_us.load(Ordering::Relaxed) {
            0 => FIRST_GUESS,
            average => Duration::from_micros(average),
        };
        let waits = self.waits_until.load(Ordering::Relaxed).saturating_sub(now.as_second());
        job.max(SHORTEST) + Duration::from_secs(u64::try_from(waits).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_after_a_job_or_after_the_day_when_jobs_wait_for_the_next() {
        let pace = Pace::default();
        let now: Timestamp = "2026-11-20T23:00:00Z".parse().unwrap();
        assert_eq!(pace.next_place(now), FIRST_GUESS);
        pace.took(Duration::from_secs(20));
        assert_eq!(pace.next_place(now), Duration::from_secs(20));
        (0..100).for_each(|_| pace.took(Duration::from_millis(1)));
        assert_eq!(pace.next_place(now), SHORTEST);
        pace.waits_for_the_next_day(now);
        assert_eq!(pace.next_place(now), Duration::from_secs(3_601));
        pace.took(Duration::from_millis(1));
        assert_eq!(pace.next_place(now), SHORTEST);
    }
}
