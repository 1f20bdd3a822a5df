//! The health of a running bank, as the checks found it. The checks are made elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum HealthStatus {
    Healthy,
    /// It works, with less than it could.
    Degraded,
    /// Memories can be neither read nor written.
    Unhealthy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum CheckStatus {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct HealthCheck {
    pub name: String,
    pub status: CheckStatus,
    /// The finding of the check.
    pub detail: String,
    /// The remedy, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl HealthCheck {
    pub fn ok(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), status: CheckStatus::Ok, detail: detail.into(), hint: None }
    }

    pub fn warn(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status: CheckStatus::Warn, hint: Some(hint.into()), ..Self::ok(name, detail) }
    }

    pub fn fail(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status: CheckStatus::Fail, ..Self::warn(name, detail, hint) }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    pub status: HealthStatus,
    /// The seconds since the start of the process.
    pub uptime_s: u64,
    /// The number of memories of all workspaces. It is absent while the store does not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_count: Option<u64>,
    /// The hit rate of the cache of model answers, in 0..1.
    pub cache_hit_rate: f64,
    pub checks: Vec<HealthCheck>,
}

impl HealthStatus {
    /// Returns the status that the worst of the checks gives. Without checks it is healthy.
    pub fn of(checks: &[HealthCheck]) -> Self {
        match checks.iter().map(|check| check.status).max() {
            None | Some(CheckStatus::Ok) => Self::Healthy,
            Some(CheckStatus::Warn) => Self::Degraded,
            Some(CheckStatus::Fail) => Self::Unhealthy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_check_decides() {
        let (ok, warn) = (HealthCheck::ok("a", "fine"), HealthCheck::warn("b", "slow", "wait"));
        let fail = HealthCheck::fail("c", "gone", "restart");
        assert_eq!(HealthStatus::of(&[]), HealthStatus::Healthy);
        assert_eq!(HealthStatus::of(std::slice::from_ref(&ok)), HealthStatus::Healthy);
        assert_eq!(HealthStatus::of(&[ok.clone(), warn.clone()]), HealthStatus::Degraded);
        assert_eq!(HealthStatus::of(&[warn, fail, ok]), HealthStatus::Unhealthy);
    }
}
