//! The score of a pattern that applies.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::applies::Match;
use crate::evidence::fading::{days_between, recency, usage_part};
use crate::memory::pattern::PatternPart;

const CONFIDENCE_WEIGHT: f64 = 0.4;
const SUCCESS_WEIGHT: f64 = 0.3;
const USAGE_WEIGHT: f64 = 0.15;
const RECENCY_WEIGHT: f64 = 0.1;
const MATCH_WEIGHT: f64 = 0.05;
/// The days after which the recency of a validation has fallen to 1/e.
const RECENCY_DAYS: f64 = 90.0;

/// The score of a pattern with its components, each in 0..=1 before it is weighed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternScore {
    /// 0.4 of the total.
    pub confidence: f64,
    /// 0.3 of the total.
    pub success_rate: f64,
    /// 0.15 of the total: ln(1 + uses) / 10.
    pub usage: f64,
    /// 0.1 of the total: e^(-days since the validation / 90).
    pub recency: f64,
    /// 0.05 of the total: the share of its demands that the task meets.
    #[serde(rename = "match")]
    pub match_quality: f64,
    pub total: f64,
}

/// Returns the score of a pattern. One that was never validated has no recency.
pub fn pattern_score(part: &PatternPart, found: Match, now: Timestamp) -> PatternScore {
    let statistics = &part.statistics;
    let validated = part.lifecycle.validation.as_ref().map(|validation| validation.at);
    let mut score = PatternScore {
        confidence: statistics.confidence,
        success_rate: statistics.success_rate.unwrap_or(0.0),
        usage: usage_part(statistics.usage_count),
        recency: validated.map_or(0.0, |at| recency(days_between(at, now), RECENCY_DAYS)),
        match_quality: found.quality(),
        total: 0.0,
    };
    score.total = CONFIDENCE_WEIGHT * score.confidence
        + SUCCESS_WEIGHT * score.success_rate
        + USAGE_WEIGHT * score.usage
        + RECENCY_WEIGHT * score.recency
        + MATCH_WEIGHT * score.match_quality;
    score
}
