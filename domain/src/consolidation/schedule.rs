//! When a run is due by itself.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often consolidation runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConsolidationSchedule {
    /// Only by hand.
    Off,
    Daily,
    #[default]
    Weekly,
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
    fn a_run_is_due_when_its_period_is_over() {
        assert!(!ConsolidationSchedule::Off.is_due(None, now()));
        assert!(ConsolidationSchedule::Weekly.is_due(None, now()));
        assert!(ConsolidationSchedule::Daily.is_due(Some(days_ago(1.0)), now()));
        assert!(!ConsolidationSchedule::Daily.is_due(Some(days_ago(0.9)), now()));
        assert!(!ConsolidationSchedule::Weekly.is_due(Some(days_ago(6.9)), now()));
        assert!(ConsolidationSchedule::Weekly.is_due(Some(days_ago(7.0)), now()));
    }
}
