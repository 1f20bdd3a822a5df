//! This file decides what is near enough to a task to be shown. Memories have a relevance that their search judges.
//! Here are the bars of episodes and patterns, whose scores also count what has nothing to do with the task, such as
//! age and success.

use crate::episode::EpisodeFound;
use crate::memory::pattern::{ConditionOp, PatternCondition, PatternPart};
use crate::pattern::features::{PreparedCondition, TaskFeatures, Truth};
use crate::pattern::finding::SuggestedPattern;

/// An episode is shown from this similarity on, in 0..=1. docs/MEMORY-SYSTEM.md says how it was measured.
pub const EPISODE_SIMILARITY: f64 = 0.3;

/// Returns the least score of a failure that is shown: what only means something alike has to be as similar as an
/// episode.
pub fn failure_score() -> f64 {
    EpisodeFound::score_of_meaning(EPISODE_SIMILARITY)
}

/// Tells whether an episode is near enough to the task.
pub fn is_similar(found: &EpisodeFound) -> bool {
    found.why.score.is_some_and(|score| score.similarity() >= EPISODE_SIMILARITY)
}

/// Tells whether a pattern that applies is about the task. Where nothing is known of what the pattern demands, it
/// applies and says nothing; then it has to be found by its meaning. So does a pattern that demands nothing, and one
/// that is about an error the task does not name.
pub(super) fn is_about_task(pattern: &SuggestedPattern, features: &TaskFeatures, is_found_by_meaning: bool) -> bool {
    let names_error = errors_of(&pattern.part).next().is_some();
    let meets_demand = pattern.score.match_quality > 0.0 && !pattern.part.applicability.demands_nothing();
    let is_known = meets_demand && (!names_error || is_about_error(&pattern.part, features));
    is_known || is_found_by_meaning
}

/// Tells whether a pattern names the error that was met.
pub fn is_about_error(part: &PatternPart, features: &TaskFeatures) -> bool {
    errors_of(part).any(|condition| features.meets(&PreparedCondition::from(condition)) == Truth::Holds)
}

/// Tells whether the words of a task name what a pattern is not for, where nobody says what the task is. A search for
/// patterns keeps out those that exclude what is known.
pub(super) fn is_excluded_by_words(part: &PatternPart, features: &TaskFeatures, task: &str) -> bool {
    const NAMED: [&str; 3] = ["domain", "language", "framework"];
    let conditions = part.applicability.anti_conditions.iter();
    let open = conditions.filter(|condition| {
        NAMED.contains(&condition.feature.as_str())
            && features.meets(&PreparedCondition::from(*condition)) == Truth::Open
    });
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && !"+#".contains(c));
        words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let of_task = words(task);
    open.flat_map(PatternCondition::wanted_texts).any(|text| {
        let named = words(text);
        !named.is_empty() && of_task.windows(named.len()).any(|some| some == named)
    })
}

/// Returns the conditions of a pattern that name an error.
fn errors_of(part: &PatternPart) -> impl Iterator<Item = &PatternCondition> {
    let conditions = part.applicability.context_conditions.iter();
    conditions.filter(|condition| condition.feature == "error_signature" && condition.op != ConditionOp::Exists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::samples::{about_error, suggested};

    fn features(kind: Option<&str>, error: Option<&str>) -> TaskFeatures {
        TaskFeatures {
            task_type: kind.map(str::to_owned),
            error_signature: error.map(str::to_owned),
            ..TaskFeatures::default()
        }
    }

    #[test]
    fn a_pattern_is_about_a_task_that_meets_what_it_demands_or_that_means_the_same() {
        let mut pattern = suggested(1);
        pattern.score.match_quality = 1.0;
        assert!(is_about_task(&pattern, &features(Some("debugging"), None), false));
        pattern.score.match_quality = 0.0;
        assert!(!is_about_task(&pattern, &features(None, None), false));
        assert!(is_about_task(&pattern, &features(None, None), true));
        (pattern.part.applicability, pattern.score.match_quality) = (Default::default(), 0.5);
        assert!(!is_about_task(&pattern, &features(Some("debugging"), None), false), "it demands nothing");
        assert!(is_about_task(&pattern, &features(None, None), true));
    }

    #[test]
    fn a_pattern_about_an_error_is_shown_for_that_error() {
        let mut pattern = suggested(1);
        pattern.score.match_quality = 0.5;
        pattern.part = about_error(pattern.part, "KeyError");
        assert!(!is_about_task(&pattern, &features(Some("debugging"), None), false));
        assert!(!is_about_task(&pattern, &features(Some("debugging"), Some("valueerror|")), false));
        assert!(is_about_task(&pattern, &features(None, Some("KeyError: 'user'")), false));
        assert!(is_about_error(&pattern.part, &features(None, Some("keyerror|sessions"))));
        assert!(!is_about_error(&suggested(2).part, &features(None, Some("keyerror|"))), "it names no error");
    }

    #[test]
    fn a_pattern_is_not_for_a_task_whose_words_name_what_it_excludes() {
        let mut part = suggested(1).part;
        part.applicability.anti_conditions = vec![PatternCondition::is("domain", "Web")];
        let unknown = TaskFeatures::default();
        assert!(is_excluded_by_words(&part, &unknown, "Fix the crash of the web page"));
        assert!(!is_excluded_by_words(&part, &unknown, "Fix the crash of the webhook"));
        let known = TaskFeatures { domain: Some("cli".into()), ..TaskFeatures::default() };
        assert!(!is_excluded_by_words(&part, &known, "Fix the web command"), "the domain is known");
        part.applicability.anti_conditions = vec![PatternCondition::is("language", "c++")];
        assert!(is_excluded_by_words(&part, &unknown, "Speed up the C++ parser"));
    }
}
