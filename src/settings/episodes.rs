//! The sections of traces and of the lifecycle of episodes, which are the same records.

use std::path::PathBuf;

use reasoning_bank_domain::episode::LifecycleRules;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSection {
    pub files: bool,
    /// An empty path stands for the data directory.
    pub dir: PathBuf,
    pub retention_days: u32,
}

impl TraceSection {
    /// Says what the retention erases. None where traces are kept for good.
    pub fn erases(&self) -> Option<String> {
        let days = self.retention_days;
        (days > 0).then(|| format!("traces.retention_days = {days} erases older traces and the episodes that they are"))
    }
}

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
