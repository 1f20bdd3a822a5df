//! Refinement of a pattern under review: the one condition that tells its successes from its failures.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::evidence::{Applied, SIGNIFICANCE, window_start};
use super::facts::EpisodeFacts;
use super::significance::{ContingencyTable, fisher_greater, holm};
use super::stages::{counts_for, next_version};
use crate::memory::label::label_key;
use crate::memory::pattern::{CONDITIONS_MAX, ConditionOp, FeatureValue, PatternCondition, PatternPart};

/// The fewest applications with a condition, and without it.
const EACH_MIN: u64 = 5;

/// The features that an episode has beside those that its caller names.
const FEATURES: [&str; 7] = ["domain", "task_type", "complexity", "tools", "language", "framework", "error_signature"];

/// A condition that separates the successes of a pattern from its failures.
#[derive(Debug, Clone, PartialEq)]
pub struct Refinement {
    pub condition: PatternCondition,
    /// True where the pattern fails when the condition holds.
    pub is_anti: bool,
    /// Corrected for all conditions that were tried.
    pub p_value: f64,
}

impl Refinement {
    /// Says what the pattern is for, or is not for.
    pub fn described(&self) -> String {
        format!("{} {}", if self.is_anti { "not if" } else { "only if" }, self.condition)
    }
}

/// Finds the condition that best separates the successes of the last 90 days from the failures.
pub fn refinement(part: &PatternPart, applied: &[Applied<'_>], now: Timestamp) -> Option<Refinement> {
    let since = window_start(now);
    let of_version = |one: &&Applied<'_>| counts_for(part, one.application) && one.application.at >= since;
    let judged: Vec<(&EpisodeFacts, bool)> =
        applied.iter().filter(of_version).filter_map(|one| one.episode.zip(one.succeeded())).collect();
    let successes = judged.iter().filter(|(_, succeeded)| *succeeded).count() as u64;
    let total = judged.len() as u64;
    // The number of applications with each value of a feature, and of those among them that succeeded.
    let mut with: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    for (episode, succeeded) in &judged {
        for found in values(episode) {
            let (count, well) = with.entry(found).or_default();
            *count += 1;
            *well += u64::from(*succeeded);
        }
    }
    let tried: Vec<(PatternCondition, bool, f64)> = with
        .into_iter()
        .filter(|(_, (count, _))| *count >= EACH_MIN && total - count >= EACH_MIN)
        .flat_map(|((feature, value), (count, well))| {
            let table = ContingencyTable {
                successes: well,
                failures: count - well,
                other_successes: successes - well,
                other_failures: (total - count) - (successes - well),
            };
            let op = if feature == "tools" { ConditionOp::Contains } else { ConditionOp::Is };
            let condition = PatternCondition { feature, op, value: Some(value.as_str().into()) };
            [(condition.clone(), false, fisher_greater(table)), (condition, true, fisher_greater(table.exchanged()))]
        })
        .collect();
    let adjusted = holm(&tried.iter().map(|(_, _, p)| *p).collect::<Vec<_>>());
    let best = tried.into_iter().zip(adjusted).min_by(|(a, _), (b, _)| a.2.total_cmp(&b.2))?;
    let ((condition, is_anti, _), p_value) = best;
    (p_value < SIGNIFICANCE).then_some(Refinement { condition, is_anti, p_value })
}

/// Returns the next version of a pattern, with the condition. None where it has as many conditions as it may have.
pub fn refined(
    part: &PatternPart,
    refinement: &Refinement,
    applied: &[Applied<'_>],
    comparable: &[&EpisodeFacts],
    now: Timestamp,
) -> Option<PatternPart> {
    let mut next = part.clone();
    let applicability = &mut next.applicability;
    let conditions =
        if refinement.is_anti { &mut applicability.anti_conditions } else { &mut applicability.context_conditions };
    if conditions.len() >= CONDITIONS_MAX || conditions.contains(&refinement.condition) {
        return None;
    }
    conditions.push(refinement.condition.clone());
    Some(next_version(next, applied, comparable, now))
}

/// Returns the features of an episode with their texts, each of which a condition may ask for.
fn values(episode: &EpisodeFacts) -> Vec<(String, String)> {
    let features = episode.features();
    let texts = [
        ("domain", features.domain),
        ("task_type", features.task_type),
        ("complexity", features.complexity.map(|one| one.as_str().to_owned())),
        ("language", features.language),
        ("framework", features.framework),
    ];
    let known = texts.into_iter().filter_map(|(feature, value)| Some((feature.to_owned(), label_key(&value?))));
    let mut tools: Vec<String> = features.tools.iter().map(|tool| label_key(tool)).collect();
    tools.dedup();
    let tools = tools.into_iter().map(|tool| ("tools".to_owned(), tool));
    let named = features.context.into_iter().filter(|(feature, _)| !FEATURES.contains(&feature.as_str()));
    let named = named.filter_map(|(feature, value)| match value {
        FeatureValue::Text(text) if !text.trim().is_empty() => Some((feature, label_key(&text))),
        _ => None,
    });
    known.chain(tools).chain(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::pattern::{PatternApplication, PatternStage};
    use crate::memory::samples::{id, now};
    use crate::pattern::observation::reported;
    use crate::pattern::samples::{episode, tool_pattern};

    fn episodes(groups: &[(&str, &str, usize, usize)]) -> Vec<EpisodeFacts> {
        let mut all = Vec::new();
        for (language, domain, successes, failures) in groups {
            for place in 0..successes + failures {
                all.push(EpisodeFacts {
                    language: Some((*language).to_owned()),
                    domain: Some((*domain).to_owned()),
                    steps: vec!["rg".into()],
                    ..episode(all.len() as u128, Some(place < *successes))
                });
            }
        }
        all
    }

    fn with_applications(
        part: &PatternPart,
        groups: &[(&str, &str, usize, usize)],
        check: impl FnOnce(&[Applied<'_>]),
    ) {
        let episodes = episodes(groups);
        let applications: Vec<PatternApplication> =
            episodes.iter().map(|episode| reported(id(1), part, episode)).collect();
        let applied: Vec<Applied<'_>> = applications
            .iter()
            .zip(&episodes)
            .map(|(application, episode)| Applied { application, episode: Some(episode) })
            .collect();
        check(&applied);
    }

    #[test]
    fn the_language_that_separates_becomes_a_condition_of_a_validated_version() {
        let part = PatternPart { stage: PatternStage::UnderReview, ..tool_pattern(&["rg"]) };
        with_applications(&part, &[("rust", "web", 5, 0), ("rust", "cli", 5, 0), ("go", "web", 0, 8)], |applied| {
            let found = refinement(&part, applied, now()).unwrap();
            assert_eq!((found.condition.to_string().as_str(), found.is_anti), ("language is go", true));
            assert!(found.p_value < 0.001, "{found:?}");
            let next = refined(&part, &found, applied, &[], now()).unwrap();
            assert_eq!((next.version, next.stage), (2, PatternStage::Validated));
            assert!(next.applicability.anti_conditions.iter().eq([&found.condition]));
            assert_eq!(next.statistics.successes, 10);
            assert_eq!(refined(&next, &found, applied, &[], now()), None, "it has the condition");
        });
    }

    #[test]
    fn a_version_whose_applications_do_not_pass_is_a_candidate() {
        let part = PatternPart { stage: PatternStage::UnderReview, ..tool_pattern(&["rg"]) };
        with_applications(&part, &[("rust", "web", 6, 5), ("go", "web", 0, 12)], |applied| {
            let found = refinement(&part, applied, now()).unwrap();
            assert_eq!(refined(&part, &found, applied, &[], now()).unwrap().stage, PatternStage::Candidate);
        });
    }

    #[test]
    fn no_condition_comes_of_few_applications_or_of_chance() {
        let part = tool_pattern(&["rg"]);
        with_applications(&part, &[("rust", "web", 20, 0), ("go", "web", 0, 4)], |applied| {
            assert_eq!(refinement(&part, applied, now()), None, "4 with the language");
        });
        with_applications(&part, &[("rust", "web", 6, 4), ("go", "cli", 4, 6)], |applied| {
            assert_eq!(refinement(&part, applied, now()), None);
        });
    }
}
