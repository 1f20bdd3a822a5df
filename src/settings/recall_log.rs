//! The section of the recall log.

use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecallLogSection {
    pub enabled: bool,
}
