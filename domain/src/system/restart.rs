//! The restart policy of a supervisor, as pure decisions. The terms are those of Erlang/OTP supervisors (permanent,
//! transient, temporary; a maximum of restarts within a window), with exponential backoff between restarts.

use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// The actor is always started again.
    Permanent,
    /// The actor is started again after a failure, but not after a normal end.
    Transient,
    /// The actor is never started again.
    Temporary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorExit {
    Normal,
    /// The actor ended by a panic, an error or a kill, or its start failed.
    Failed,
}

/// The limits that say how often and how fast children are started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartLimits {
    /// The most restarts within the window, over all children. With more the supervisor gives up.
    pub max_restarts: usize,
    pub window: Duration,
    /// The delay before the first restart of a child. Every further one within the window waits twice as long.
    pub first_delay: Duration,
    pub max_delay: Duration,
}

impl Default for RestartLimits {
    fn default() -> Self {
        Self {
            max_restarts: 5,
            window: Duration::from_secs(30),
            first_delay: Duration::from_millis(10),
            max_delay: Duration::from_secs(2),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Leave the child ended.
    Leave,
    /// Start it again after this delay.
    After(Duration),
    /// There were too many restarts. The supervisor fails, and its own supervisor decides.
    Escalate,
}

/// The restarts of one supervisor: which child was restarted when. Times are measured from any fixed start and never
/// decrease.
#[derive(Debug, Clone)]
pub struct RestartHistory {
    limits: RestartLimits,
    restarts: VecDeque<(Duration, usize)>,
}

impl RestartHistory {
    pub fn new(limits: RestartLimits) -> Self {
        Self { limits, restarts: VecDeque::new() }
    }

    /// Decides what to do after the end of a child. `child` is any number that names the child within this supervisor.
    pub fn on_exit(&mut self, child: usize, restart: Restart, exit: ActorExit, now: Duration) -> Decision {
        let again = match restart {
            Restart::Permanent => true,
            Restart::Transient => exit == ActorExit::Failed,
            Restart::Temporary => false,
        };
        if !again {
            return Decision::Leave;
        }
        while self.restarts.front().is_some_and(|(at, _)| now.saturating_sub(*at) > self.limits.window) {
            self.restarts.pop_front();
        }
        if self.restarts.len() >= self.limits.max_restarts {
            return Decision::Escalate;
        }
        let earlier = self.restarts.iter().filter(|(_, other)| *other == child).count();
        self.restarts.push_back((now, child));
        let factor = 2_u32.checked_pow(earlier as u32).unwrap_or(u32::MAX);
        Decision::After(self.limits.first_delay.saturating_mul(factor).min(self.limits.max_delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn delays_double_for_the_same_child_and_stop_at_the_maximum() {
        let limits = RestartLimits { max_restarts: 6, max_delay: MS(50), ..RestartLimits::default() };
        let mut history = RestartHistory::new(limits);
        let delays: Vec<Decision> =
            (0..7).map(|n| history.on_exit(0, Restart::Permanent, ActorExit::Failed, MS(n * 100))).collect();
        let expected = [10, 20, 40, 50, 50, 50].map(|ms| Decision::After(MS(ms)));
        assert_eq!(delays[..6], expected);
        assert_eq!(delays[6], Decision::Escalate);
    }

    #[test]
    fn another_child_starts_with_the_first_delay_but_shares_the_limit() {
        let mut history = RestartHistory::new(RestartLimits { max_restarts: 2, ..RestartLimits::default() });
        assert_eq!(history.on_exit(0, Restart::Permanent, ActorExit::Failed, MS(0)), Decision::After(MS(10)));
        assert_eq!(history.on_exit(1, Restart::Permanent, ActorExit::Failed, MS(1)), Decision::After(MS(10)));
        assert_eq!(history.on_exit(2, Restart::Permanent, ActorExit::Failed, MS(2)), Decision::Escalate);
    }

    #[test]
    fn what_happened_before_the_window_is_forgotten() {
        let mut history = RestartHistory::new(RestartLimits { max_restarts: 1, ..RestartLimits::default() });
        assert_eq!(history.on_exit(0, Restart::Permanent, ActorExit::Failed, MS(0)), Decision::After(MS(10)));
        assert_eq!(history.on_exit(0, Restart::Permanent, ActorExit::Failed, MS(30_001)), Decision::After(MS(10)));
    }

    #[test]
    fn only_permanent_children_come_back_after_a_normal_end_and_temporary_ones_never() {
        let mut history = RestartHistory::new(RestartLimits::default());
        assert_eq!(history.on_exit(0, Restart::Transient, ActorExit::Normal, MS(0)), Decision::Leave);
        assert_eq!(history.on_exit(0, Restart::Temporary, ActorExit::Failed, MS(0)), Decision::Leave);
        assert!(matches!(history.on_exit(0, Restart::Transient, ActorExit::Failed, MS(0)), Decision::After(_)));
        assert!(matches!(history.on_exit(0, Restart::Permanent, ActorExit::Normal, MS(0)), Decision::After(_)));
    }

    proptest! {
        #[test]
        fn never_more_restarts_in_a_window_than_allowed(exits in prop::collection::vec((0usize..4, 0u64..10_000), 1..60)) {
            let limits = RestartLimits::default();
            let mut history = RestartHistory::new(limits);
            let mut now = Duration::ZERO;
            let mut restarts: Vec<Duration> = Vec::new();
            for (child, step) in exits {
                now += MS(step);
                match history.on_exit(child, Restart::Permanent, ActorExit::Failed, now) {
                    Decision::After(delay) => {
                        prop_assert!(delay >= limits.first_delay && delay <= limits.max_delay);
                        restarts.push(now);
                    }
                    Decision::Escalate => {}
                    Decision::Leave => prop_assert!(false, "a permanent child was left ended"),
                }
                let within = restarts.iter().filter(|at| now - **at <= limits.window).count();
                prop_assert!(within <= limits.max_restarts);
            }
        }
    }
}
