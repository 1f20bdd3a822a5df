//! Lets out no more requests in a minute than the provider allows. A call waits for its turn, in the order of arrival.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

const MINUTE: Duration = Duration::from_secs(60);

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;

pub(crate) struct RateLimit {
    limiter: Limiter,
    /// The lock that the call whose turn is next holds.
    next: Mutex<()>,
}

impl RateLimit {
    pub(crate) fn new(requests_per_minute: NonZeroU32) -> Self {
        let limiter = RateLimiter::direct_with_clock(quota(requests_per_minute), TokioClock::starting_now());
        Self { limiter, next: Mutex::new(()) }
    }

    /// Waits until a request may go out. A caller that drops the future leaves its turn to the next one.
    pub(super) async fn permit(&self) {
        let _next = self.next.lock().await;
        while let Err(not_yet) = self.limiter.check() {
            sleep(not_yet.wait_time_from(self.limiter.clock().now())).await;
        }
    }
}

/// Makes the quota. A tenth of the requests may go out at once. The others are spread so that no minute, wherever it
/// begins, has more than allowed.
fn quota(requests_per_minute: NonZeroU32) -> Quota {
    let burst = requests_per_minute.get().div_ceil(10);
    let spread = requests_per_minute.get() - burst + 1;
    let period = (MINUTE / spread).max(Duration::from_nanos(1));
    let quota = Quota::with_period(period).unwrap_or_else(|| Quota::per_minute(requests_per_minute));
    quota.allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN))
}

/// The clock that sleeping follows.
#[derive(Debug, Clone, Copy)]
struct TokioClock {
    start: Instant,
}

impl TokioClock {
    fn starting_now() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.start.elapsed()
    }
}

#[cfg(test)]
mod tests;
