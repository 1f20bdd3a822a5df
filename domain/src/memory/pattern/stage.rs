//! The standing of a pattern: its stage, what led to it, and the numbers behind it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::MemoryId;

/// The stage of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PatternStage {
    /// It waits for evidence. No search finds it unless the stage is named.
    #[default]
    Candidate,
    /// Its applications passed the tests, or a person accepted it.
    Validated,
    /// It was validated, and what came since speaks against it.
    UnderReview,
    /// It is kept for the record and is not used any more.
    Deprecated,
}

impl PatternStage {
    pub const ALL: [Self; 4] = [Self::Candidate, Self::Validated, Self::UnderReview, Self::Deprecated];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Validated => "validated",
            Self::UnderReview => "under_review",
            Self::Deprecated => "deprecated",
        }
    }
}

/// The events that led to the stage.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PatternLifecycle {
    /// The time when the current version was made. Left out: when the memory was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_since: Option<Timestamp>,
    /// The number of applications at the latest test of the current stage, 0 before the first one.
    #[serde(default)]
    pub tested_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<PatternValidation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_review_since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecation_reason: Option<String>,
}

/// The moment at which a pattern was validated, and what its applications said then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatternValidation {
    pub at: Timestamp,
    pub successes: u64,
    pub applications: u64,
    /// The reason of the person who accepted it without a test. None where it passed the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_because: Option<String>,
}

/// The evidence of the applications of the last 90 days, as it was last added up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PatternStatistics {
    /// The applications that succeeded or failed.
    #[serde(default)]
    pub num_applications: u64,
    #[serde(default)]
    pub successes: u64,
    /// The applications that partly succeeded, or whose end is unknown. They count for nothing else.
    #[serde(default)]
    pub undecided: u64,
    /// In 0..1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<f64>,
    /// The success rate of comparable episodes without the pattern, in 0..1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rate: Option<f64>,
    /// The success rate minus that of comparable episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_rate_improvement: Option<f64>,
    /// Seconds that a success needed less than comparable ones, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avg_time_saving: Option<f64>,
    /// Tokens that a success needed less than comparable ones, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub avg_cost_saving: Option<f64>,
    /// In 0..1, 0 without an application.
    #[serde(default)]
    pub confidence: f64,
    /// The probability of such successes by chance, in 0..1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// All applications, however old.
    #[serde(default)]
    pub usage_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
}
