//! The section of the lifecycle of episodes.

use reasoning_bank_domain::episode::LifecycleRules;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EpisodeSection {
    /// Zero archives none by age.
    pub archive_after_days: u32,
    pub retention_days: u32,
}

impl From<&EpisodeSection> for LifecycleRules {
    fn from(section: &EpisodeSection) -> Self {
        let EpisodeSection { archive_after_days, retention_days } = *section;
        Self { archive_after_days, retention_days }
    }
}
