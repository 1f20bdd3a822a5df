//! The stages of a pattern: candidate, validated, under review, deprecated, and what leads from one to the next.
//!
//! Applications are tested when there are 5, 10, 20, 40 and so on, because a test after each of them would sooner or
//! later validate one in six patterns that do nothing.

use jiff::Timestamp;

use super::evidence::{APPLICATIONS_MIN, Applied, PatternEvidence, SIGNIFICANCE, window_start};
use super::facts::EpisodeFacts;
use super::significance::binomial_at_most;
use crate::memory::ids::MemoryId;
use crate::memory::pattern::{PatternApplication, PatternLifecycle, PatternPart, PatternStage, PatternValidation};

/// The applications under review after which a pattern is validated again or deprecated.
const REVIEW_APPLICATIONS: u64 = 10;
/// A validated pattern that succeeds less often than this is reviewed.
const RATE_MIN: f64 = 0.5;

/// A pattern after its applications were looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternReview {
    pub part: PatternPart,
    pub change: Option<StageChange>,
}

/// A pattern went from one stage to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageChange {
    pub from: PatternStage,
    pub to: PatternStage,
    pub reason: String,
}

/// Returns the number of applications at which they are tested, the largest one up to `count`: 5, 10, 20, 40 and so on.
/// It is 0 before the first one.
pub fn look(count: u64) -> u64 {
    if count < APPLICATIONS_MIN { 0 } else { APPLICATIONS_MIN << (count / APPLICATIONS_MIN).ilog2() }
}

/// Tells whether the applications of a pattern are tested now, as far as their number tells. The test counts only those
/// that are decided, and may find that it is not due yet.
pub fn may_be_due<'a>(part: &PatternPart, applications: impl IntoIterator<Item = &'a PatternApplication>) -> bool {
    let lifecycle = &part.lifecycle;
    let since = match part.stage {
        PatternStage::Candidate => None,
        PatternStage::Validated => lifecycle.validation.as_ref().map(|validation| validation.at),
        PatternStage::UnderReview => lifecycle.under_review_since,
        PatternStage::Deprecated => return false,
    };
    let counts = |one: &&PatternApplication| counts_for(part, one) && since.is_none_or(|since| one.at > since);
    let count = applications.into_iter().filter(counts).count() as u64;
    look(count) > lifecycle.tested_at
}

/// Tells whether an application is one of the current version: it names it, and was made since it is there. A version
/// that was taken back may have had the same number.
pub(super) fn counts_for(part: &PatternPart, application: &PatternApplication) -> bool {
    let is_since = part.lifecycle.version_since.is_none_or(|since| application.at >= since);
    application.version == part.version && is_since
}

/// Returns the applications of the last 90 days that a pattern is shown with: those of its version, or while it has
/// none and was validated by those of earlier ones, those.
pub fn shown<'a>(part: &PatternPart, applied: &[Applied<'a>], now: Timestamp) -> Vec<Applied<'a>> {
    let mut those = of_version(part, applied);
    if those.is_empty() && part.lifecycle.validation.is_some() {
        those = met(part, applied);
    }
    let since = window_start(now);
    those.retain(|one| one.application.at >= since);
    those
}

fn of_version<'a>(part: &PatternPart, applied: &[Applied<'a>]) -> Vec<Applied<'a>> {
    applied.iter().copied().filter(|one| counts_for(part, one.application)).collect()
}

/// Returns the applications whose episodes a pattern applies to.
fn met<'a>(part: &PatternPart, applied: &[Applied<'a>]) -> Vec<Applied<'a>> {
    let prepared = super::finding::PreparedPattern::new(MemoryId::from(uuid::Uuid::nil()), part);
    let meets = |one: &Applied<'_>| one.episode.is_some_and(|episode| prepared.applies(&episode.features()).is_ok());
    applied.iter().copied().filter(meets).collect()
}

/// Looks at the applications of a pattern and moves it on where they say so.
pub fn review(
    part: &PatternPart,
    applied: &[Applied<'_>],
    comparable: &[&EpisodeFacts],
    now: Timestamp,
) -> PatternReview {
    let of_version = of_version(part, applied);
    let evidence = PatternEvidence::of(&of_version, comparable, now);
    let mut next = part.clone();
    // A version that was validated by the applications of the one before keeps those numbers until it has its own.
    if !of_version.is_empty() || part.lifecycle.validation.is_none() {
        next.statistics = evidence.statistics(applied);
    }
    let lifecycle = &part.lifecycle;
    let reason = match part.stage {
        PatternStage::Candidate => {
            let is_due = is_tested(&mut next, &of_version);
            (is_due && evidence.verdict().is_ok()).then(|| {
                validate(&mut next, &evidence, now);
                format!("{} of {} applications succeeded", evidence.successes, evidence.applications)
            })
        }
        PatternStage::Validated => {
            let since = lifecycle.validation.as_ref().map(|validation| validation.at);
            let later = after(&of_version, since);
            let is_due = is_tested(&mut next, &later);
            let later = PatternEvidence::of(&later, comparable, now);
            lifecycle
                .validation
                .as_ref()
                .filter(|_| is_due)
                .and_then(|validation| contradiction(&later, validation))
                .inspect(|_| {
                    next.stage = PatternStage::UnderReview;
                    next.lifecycle.tested_at = 0;
                    next.lifecycle.under_review_since = Some(now);
                })
        }
        PatternStage::UnderReview => {
            let later = after(&of_version, lifecycle.under_review_since);
            let is_due = is_tested(&mut next, &later) && decided(&later) >= REVIEW_APPLICATIONS;
            let later = PatternEvidence::of(&later, comparable, now);
            is_due.then(|| match later.verdict() {
                Ok(()) => {
                    begin_version(&mut next, now);
                    validate(&mut next, &later, now);
                    format!("{} of {} further applications succeeded", later.successes, later.applications)
                }
                Err(why) => {
                    let reason =
                        format!("{} further applications did not validate it again: {why}", later.applications);
                    next.stage = PatternStage::Deprecated;
                    next.lifecycle.deprecation_reason = Some(reason.clone());
                    reason
                }
            })
        }
        PatternStage::Deprecated => None,
    };
    let change = reason.map(|reason| StageChange { from: part.stage, to: next.stage, reason });
    PatternReview { part: next, change }
}

/// Returns the next version of a pattern whose content or applicability was changed to those of `part`. It is validated
/// only if the applications whose episodes it applies to pass the tests.
pub fn next_version(
    part: PatternPart,
    applied: &[Applied<'_>],
    comparable: &[&EpisodeFacts],
    now: Timestamp,
) -> PatternPart {
    let evidence = PatternEvidence::of(&met(&part, applied), comparable, now);
    let mut next = part;
    begin_version(&mut next, now);
    next.statistics = evidence.statistics(applied);
    if evidence.verdict().is_ok() {
        validate(&mut next, &evidence, now);
    }
    next
}

/// Returns a pattern that a person accepts without a test. The caller marks the memory as trusted by its user.
pub fn accepted(part: &PatternPart, because: &str, now: Timestamp) -> PatternPart {
    let mut next = part.clone();
    let statistics = &part.statistics;
    next.stage = PatternStage::Validated;
    next.lifecycle = PatternLifecycle {
        version_since: part.lifecycle.version_since,
        validation: Some(PatternValidation {
            at: now,
            successes: statistics.successes,
            applications: statistics.num_applications,
            accepted_because: Some(because.to_owned()),
        }),
        ..PatternLifecycle::default()
    };
    next
}

/// Returns a pattern that is not to be used any more.
pub fn deprecated(part: &PatternPart, reason: &str, superseded_by: Option<MemoryId>) -> PatternPart {
    let mut next = part.clone();
    next.stage = PatternStage::Deprecated;
    next.lifecycle.deprecation_reason = Some(reason.to_owned());
    next.lifecycle.superseded_by = superseded_by;
    next
}

fn begin_version(part: &mut PatternPart, now: Timestamp) {
    part.version = part.version.saturating_add(1);
    part.stage = PatternStage::Candidate;
    part.lifecycle = PatternLifecycle { version_since: Some(now), ..PatternLifecycle::default() };
}

fn validate(part: &mut PatternPart, evidence: &PatternEvidence, now: Timestamp) {
    part.stage = PatternStage::Validated;
    part.lifecycle.tested_at = 0;
    part.lifecycle.under_review_since = None;
    part.lifecycle.validation = Some(PatternValidation {
        at: now,
        successes: evidence.successes,
        applications: evidence.applications,
        accepted_because: None,
    });
}

/// Notes the test that is due, if one is. Applications of any age count here, so that no test is made twice.
fn is_tested(part: &mut PatternPart, applied: &[Applied<'_>]) -> bool {
    let due = look(decided(applied));
    let is_due = due > part.lifecycle.tested_at;
    part.lifecycle.tested_at = part.lifecycle.tested_at.max(due);
    is_due
}

fn decided(applied: &[Applied<'_>]) -> u64 {
    applied.iter().filter(|one| one.succeeded().is_some()).count() as u64
}

fn after<'a>(applied: &[Applied<'a>], since: Option<Timestamp>) -> Vec<Applied<'a>> {
    applied.iter().copied().filter(|one| since.is_none_or(|since| one.application.at > since)).collect()
}

/// Returns what speaks against a validated pattern: it succeeds less often than when it was validated, or than half of
/// the time.
fn contradiction(evidence: &PatternEvidence, validation: &PatternValidation) -> Option<String> {
    let rate = evidence.rate().filter(|_| evidence.applications >= APPLICATIONS_MIN)?;
    let expected = (validation.successes + 1) as f64 / (validation.applications + 2) as f64;
    let p = binomial_at_most(evidence.successes, evidence.applications, expected);
    (rate < RATE_MIN || p < SIGNIFICANCE).then(|| {
        format!(
            "only {} of {} applications since it was validated succeeded",
            evidence.successes, evidence.applications
        )
    })
}

#[cfg(test)]
mod tests;
