//! The schedule of consolidation: the rules for when a run is due by itself.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The interval at which consolidation runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConsolidationSchedule {
    /// Only by hand.
    Off,
    Daily,
    #[default]
    Weekly,
}

/// A run that is due begins when the process has served nobody for this long.
const IDLE_BEFORE_RUN: Duration = Duration::from_secs(60);
/// The time that a run that is due waits for that, at most.
const WAITS_MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// Tells whether a run that is due may begin: nobody was served for a minute, or it has waited for a day. The run takes
/// time of processor and disk from those who are served beside it.
pub fn may_begin(idle_for: Duration, waited: Duration) -> bool {
    idle_for >= IDLE_BEFORE_RUN || waited >= WAITS_MOST
}

impl ConsolidationSchedule {
    /// Tells whether a run is due, after one that began at `last`. The first run of a workspace is due at once.
    pub fn is_due(self, last: Option<Timestamp>, now: Timestamp) -> bool {
        let days = match self {
            Self::Off => return false,
            Self::Daily => 1,
            Self::Weekly => 7,
        };
        last.is_none_or(|last| now.duration_since(last) >= SignedDuration::from_hours(24 * days))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{days_ago, now};

    #[test]
    fn a_run_waits_a_day_at_most_for_a_minute_in_which_nobody_is_served() {
        let (minute, day) = (Duration::from_secs(60), Duration::from_secs(86_400));
        assert!(may_begin(minute, Duration::ZERO));
        assert!(!may_begin(minute / 2, day / 2));
        assert!(may_begin(Duration::ZERO, day));
    }

    #[test]
    fn a_run_is_due_when_its_period_is_over() {
        assert!(!ConsolidationSchedule::Off.is_due(None, now()));
        assert!(ConsolidationSchedule::Weekly.is_due(None, now()));
        assert!(ConsolidationSchedule::Daily.is_due(Some(days_ago(1.0)), now()));
        assert!(!ConsolidationSchedule::Daily.is_due(Some(days_ago(0.9)), now()));
        assert!(!ConsolidationSchedule::Weekly.is_due(Some(days_ago(6.9)), now()));
        assert!(ConsolidationSchedule::Weekly.is_due(Some(days_ago(7.0)), now()));
    }
}
