//! Another try for calls that failed for a reason that passes.

use std::time::Duration;

/// One call and at most `max_retries` more, the first after about `base_delay`, each further one after twice as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetrySettings {
    /// 0 turns it off.
    pub max_retries: u32,
    pub base_delay: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { max_retries: 3, base_delay: Duration::from_secs(1) }
    }
}
