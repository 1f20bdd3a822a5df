//! The section of hooks.

use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HooksSection {
    pub server_idle_s: u64,
}
