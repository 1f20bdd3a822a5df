//! The section of consolidation.

use reasoning_bank_domain::consolidation::ConsolidationSchedule;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsolidationSection {
    /// The schedule by which a process that serves runs it by itself.
    pub schedule: ConsolidationSchedule,
}
