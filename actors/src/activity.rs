//! Activity: whether this process serves somebody, or did so a moment ago. What can wait begins when it does not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The requests that a process serves; clones share them.
#[derive(Clone)]
pub struct ClientActivity {
    served: Arc<Mutex<ServedRequests>>,
}

struct ServedRequests {
    running: usize,
    /// The end of the last request, or the start of the process.
    last_end: Instant,
}

/// A request that is served until this is dropped.
pub struct ServedRequest {
    activity: ClientActivity,
}

impl ClientActivity {
    pub(crate) fn new() -> Self {
        Self { served: Arc::new(Mutex::new(ServedRequests { running: 0, last_end: Instant::now() })) }
    }

    /// Notes that a request is served, until what this returns is dropped.
    pub fn begin(&self) -> ServedRequest {
        self.served().running += 1;
        ServedRequest { activity: self.clone() }
    }

    /// Returns the time for which nobody was served. It is zero while somebody is.
    pub(crate) fn idle_for(&self) -> Duration {
        let served = self.served();
        if served.running > 0 { Duration::ZERO } else { served.last_end.elapsed() }
    }

    fn served(&self) -> MutexGuard<'_, ServedRequests> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ServedRequest {
    fn drop(&mut self) {
        let mut served = self.activity.served();
        served.running -= 1;
        served.last_end = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_process_is_idle_from_the_end_of_its_last_request_on() {
        let activity = ClientActivity::new();
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(activity.idle_for(), Duration::from_secs(5));
        let (one, other) = (activity.begin(), activity.begin());
        drop(one);
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(activity.idle_for(), Duration::ZERO, "the other one is served");
        drop(other);
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(activity.idle_for(), Duration::from_secs(2));
    }
}
