//! The section of memory banks.

use std::time::Duration;

use reasoning_bank_actors::banks::BankSettings;
use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BanksSection {
    pub llm: bool,
    pub llm_timeout_s: u64,
    pub sync_interval_s: u64,
    pub optimize_above_tokens: usize,
    /// Zero stands for never.
    pub optimize_every_days: u32,
    pub optimize_in_repo: bool,
    pub debug_memory_dump: bool,
}

impl From<&BanksSection> for BankSettings {
    fn from(section: &BanksSection) -> Self {
        Self {
            llm: section.llm,
            llm_timeout: Duration::from_secs(section.llm_timeout_s),
            sync_interval: Duration::from_secs(section.sync_interval_s),
            optimize_above_tokens: section.optimize_above_tokens,
            optimize_every_days: section.optimize_every_days,
            optimize_in_repo: section.optimize_in_repo,
            dumps: section.debug_memory_dump,
        }
    }
}
