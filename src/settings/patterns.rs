//! The section of patterns.

use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PatternsSection {
    /// A task may be told a candidate, marked as unproven.
    pub trial: bool,
}
