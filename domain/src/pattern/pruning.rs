//! Patterns that are worth little: which are proposed to be deprecated, and which are so obsolete that consolidation
//! does it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::{APPLICATIONS_MIN, WINDOW_DAYS};
use crate::memory::pattern::{PatternPart, PatternStage};

/// A pattern that was tested enough and has less confidence than this is proposed.
const CONFIDENCE_MIN: f64 = 0.5;

/// The reason why a pattern is proposed to be deprecated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum PruneReason {
    #[error("a validated pattern with more confidence contradicts it")]
    Contradicted,
    #[error("it is under review and was not applied for 90 days")]
    StuckInReview,
    #[error("at least 5 applications left it with a confidence below 0.5")]
    LowConfidence,
    #[error("it was not applied for 90 days")]
    Unused,
}

/// Returns why a pattern is proposed, or None. `made_at` is when its memory was made, `contradicting` are the patterns
/// that contradict it.
pub fn prune_reason(
    part: &PatternPart,
    made_at: Timestamp,
    contradicting: &[&PatternPart],
    now: Timestamp,
) -> Option<PruneReason> {
    if part.stage == PatternStage::Deprecated {
        return None;
    }
    let statistics = &part.statistics;
    let is_better = |other: &&PatternPart| other.is_validated() && other.statistics.confidence > statistics.confidence;
    if contradicting.iter().any(is_better) {
        return Some(PruneReason::Contradicted);
    }
    let moments = [
        Some(made_at),
        statistics.last_used,
        part.lifecycle.version_since,
        part.lifecycle.under_review_since,
        part.lifecycle.validation.as_ref().map(|validation| validation.at),
    ];
    let latest = moments.into_iter().flatten().max().unwrap_or(made_at);
    let is_idle = now.duration_since(latest).as_hours() >= 24 * WINDOW_DAYS;
    if part.stage == PatternStage::UnderReview {
        return is_idle.then_some(PruneReason::StuckInReview);
    }
    if statistics.num_applications >= APPLICATIONS_MIN && statistics.confidence < CONFIDENCE_MIN {
        return Some(PruneReason::LowConfidence);
    }
    is_idle.then_some(PruneReason::Unused)
}

/// Returns why a pattern is obsolete, so that consolidation deprecates it: a better one contradicts it, or it is a
/// candidate that came to nothing. A pattern that was validated once is only proposed.
pub fn obsolete_because(
    part: &PatternPart,
    made_at: Timestamp,
    contradicting: &[&PatternPart],
    now: Timestamp,
) -> Option<PruneReason> {
    let reason = prune_reason(part, made_at, contradicting, now)?;
    (reason == PruneReason::Contradicted || part.stage == PatternStage::Candidate).then_some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{days_ago, now};
    use crate::pattern::samples::tool_pattern;

    fn part(stage: PatternStage, applications: u64, confidence: f64, last_used: Option<f64>) -> PatternPart {
        let mut part = PatternPart { stage, ..tool_pattern(&["rg"]) };
        part.statistics.num_applications = applications;
        part.statistics.confidence = confidence;
        part.statistics.last_used = last_used.map(days_ago);
        part
    }

    #[test]
    fn what_is_unused_weak_contradicted_or_stuck_is_proposed() {
        let reason = |part: &PatternPart| prune_reason(part, days_ago(200.0), &[], now());
        assert_eq!(reason(&part(PatternStage::Candidate, 0, 0.0, None)), Some(PruneReason::Unused));
        assert_eq!(reason(&part(PatternStage::Validated, 9, 0.8, Some(3.0))), None);
        assert_eq!(reason(&part(PatternStage::Candidate, 9, 0.4, Some(3.0))), Some(PruneReason::LowConfidence));
        assert_eq!(reason(&part(PatternStage::Candidate, 4, 0.4, Some(3.0))), None);
        assert_eq!(reason(&part(PatternStage::UnderReview, 9, 0.4, Some(89.0))), None);
        assert_eq!(reason(&part(PatternStage::UnderReview, 9, 0.4, Some(91.0))), Some(PruneReason::StuckInReview));
        assert_eq!(reason(&part(PatternStage::Deprecated, 0, 0.0, None)), None);
        let better = part(PatternStage::Validated, 9, 0.9, Some(3.0));
        let worse = part(PatternStage::Validated, 9, 0.8, Some(3.0));
        assert_eq!(prune_reason(&worse, now(), &[&better], now()), Some(PruneReason::Contradicted));
        assert_eq!(prune_reason(&better, now(), &[&worse], now()), None);
        let obsolete =
            |part: &PatternPart, others: &[&PatternPart]| obsolete_because(part, days_ago(200.0), others, now());
        assert_eq!(obsolete(&worse, &[&better]), Some(PruneReason::Contradicted));
        assert_eq!(obsolete(&part(PatternStage::Candidate, 9, 0.4, Some(3.0)), &[]), Some(PruneReason::LowConfidence));
        assert_eq!(obsolete(&part(PatternStage::UnderReview, 9, 0.4, Some(91.0)), &[]), None);
    }
}
