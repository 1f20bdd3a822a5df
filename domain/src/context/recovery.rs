//! The answer when something fails: what recovered it before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::{
    ContextEpisode, ContextMemory, ContextPattern, EPISODES_MAX, PATTERNS_MAX, WARNINGS_MAX, all_notes, distinct,
};
use super::entry::ContextEntry;
use super::nearness::is_about_error;
use super::rendered::{best_first, rendered};
use crate::episode::{EpisodeFound, FailureTier};
use crate::memory::ids::MemoryId;
use crate::memory::pattern::PatternCategory;
use crate::note::Note;
use crate::pattern::features::TaskFeatures;
use crate::pattern::finding::SuggestedPattern;
use crate::retrieval::recalled::Recalled;

/// The most patterns and earlier failures that are told without being asked for.
const RESOLVING_PATTERNS_MAX: usize = 1;
pub const RESOLVED_MAX: usize = 2;
/// The longest words of such a pattern, in characters.
const PATTERN_MAX_CHARS: usize = 1_000;

/// The knowledge that helps with an error, each list best first. An empty answer is normal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecoveryAdvice {
    /// Ways in which it was overcome, as patterns that name the error. At most 3.
    pub recovery_patterns: Vec<ContextPattern>,
    /// Ways in which it comes about, as patterns that name the error. At most 3.
    pub failure_patterns: Vec<ContextPattern>,
    /// Memories that warn, at most 4.
    pub warnings: Vec<ContextMemory>,
    /// Episodes that met the same error or a similar one, at most 5. Those that were resolved come first.
    pub similar_failures: Vec<ContextEpisode>,
    /// The words of all that fits into the budget, quoted. It is empty where nothing is known.
    pub rendered: String,
    /// The tokens of `rendered`.
    pub tokens: usize,
    pub took_ms: u64,
    pub notes: Vec<Note>,
}

/// The results of the searches for an error, each list best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundForError {
    /// Recovery and failure patterns.
    pub patterns: Vec<SuggestedPattern>,
    pub warnings: Vec<Recalled>,
    pub failures: Vec<EpisodeFound>,
    pub notes: Vec<Note>,
}

/// The patterns and the episodes by which the very failure that was printed is known to have ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KnownResolutions {
    patterns: Vec<SuggestedPattern>,
    failures: Vec<EpisodeFound>,
}

impl KnownResolutions {
    /// Takes recovery patterns that name the error, and episodes in which it was resolved, each list best first.
    pub fn new(patterns: Vec<SuggestedPattern>, failures: Vec<EpisodeFound>, features: &TaskFeatures) -> Self {
        let of_error = patterns.into_iter().filter(|pattern| is_about_error(&pattern.part, features));
        Self {
            patterns: of_error.take(RESOLVING_PATTERNS_MAX).collect(),
            failures: failures.into_iter().take(RESOLVED_MAX).collect(),
        }
    }

    /// Writes them as quoted notes. The text is empty where nothing is known.
    pub fn notes(&self) -> String {
        let patterns = self.patterns.iter().map(|one| ContextEntry::of_pattern(one).note(PATTERN_MAX_CHARS));
        patterns.chain(self.failures.iter().map(|one| ContextEntry::of_episode(one).brief_note())).collect()
    }
}

impl RecoveryAdvice {
    /// Makes the answer. A warning of another error than the very one needs the relevance `least`, in 0..=1. The answer
    /// leaves `took_ms` to whoever knows.
    pub fn new(found: FoundForError, features: &TaskFeatures, least: f64, budget: usize) -> Self {
        let FoundForError { mut patterns, warnings, mut failures, notes } = found;
        patterns.retain(|pattern| is_about_error(&pattern.part, features));
        let is_recovery = |pattern: &SuggestedPattern| pattern.part.category == PatternCategory::Recovery;
        let (mut recoveries, mut causes): (Vec<SuggestedPattern>, Vec<SuggestedPattern>) =
            patterns.into_iter().partition(is_recovery);
        recoveries.truncate(PATTERNS_MAX);
        causes.truncate(PATTERNS_MAX);
        let mut warnings = about_the_error(distinct(warnings), least);
        warnings.truncate(WARNINGS_MAX);
        if failures.iter().any(is_very_failure) {
            failures.retain(is_very_failure);
        }
        failures.truncate(EPISODES_MAX);
        let of_patterns = |patterns: &[SuggestedPattern]| patterns.iter().map(ContextEntry::of_pattern).collect();
        let entries = best_first([
            of_patterns(&recoveries),
            failures.iter().map(ContextEntry::of_episode).collect(),
            warnings.iter().map(ContextEntry::of_memory).collect(),
            of_patterns(&causes),
        ]);
        let text = rendered(&entries, budget);
        let nothing = "nothing is known about this error";
        Self {
            recovery_patterns: recoveries.iter().map(|one| ContextPattern::new(one, &text)).collect(),
            failure_patterns: causes.iter().map(|one| ContextPattern::new(one, &text)).collect(),
            warnings: warnings.iter().map(|one| ContextMemory::new(one, &text)).collect(),
            similar_failures: failures.iter().map(|one| ContextEpisode::new(one, &text)).collect(),
            notes: all_notes(notes, entries.len(), &text, nothing, budget),
            rendered: text.text,
            tokens: text.tokens,
            took_ms: 0,
        }
    }

    /// Returns the memories whose words the answer shows, patterns among them.
    pub fn shown_memories(&self) -> Vec<MemoryId> {
        let patterns = self.recovery_patterns.iter().chain(&self.failure_patterns);
        let patterns = patterns.filter(|one| one.shown).map(|one| one.pattern_id);
        patterns.chain(self.warnings.iter().filter(|one| one.shown).map(|one| one.id)).collect()
    }

    /// Tells whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.recovery_patterns.is_empty()
            && self.failure_patterns.is_empty()
            && self.warnings.is_empty()
            && self.similar_failures.is_empty()
    }
}

/// Tells whether an episode met the very failure that was asked for.
fn is_very_failure(found: &EpisodeFound) -> bool {
    found.why.failure == Some(FailureTier::Message)
}

/// Keeps the warnings of the very error, or those that are relevant enough where no warning is of that.
fn about_the_error(mut warnings: Vec<Recalled>, least: f64) -> Vec<Recalled> {
    let is_of_it = |warning: &Recalled| warning.score.why.very_error;
    match warnings.iter().any(is_of_it) {
        true => warnings.retain(is_of_it),
        false => warnings.retain(|warning| warning.relevance >= least),
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::samples::{about_error, failed, suggested};
    use crate::memory::samples::{id, warning};
    use crate::retrieval::prompt_memories::samples::recalled;

    fn pattern(n: u128, category: PatternCategory, error: &str) -> SuggestedPattern {
        let mut pattern = suggested(n);
        pattern.part.category = category;
        pattern.part = about_error(pattern.part, error);
        pattern
    }

    #[test]
    fn what_names_the_error_is_there_and_recovery_stands_first() {
        let features = TaskFeatures { error_signature: Some("KeyError: 'id'".into()), ..TaskFeatures::default() };
        let found = FoundForError {
            patterns: vec![
                pattern(1, PatternCategory::Failure, "keyerror"),
                pattern(2, PatternCategory::Recovery, "keyerror"),
                pattern(3, PatternCategory::Recovery, "valueerror"),
                suggested(4),
            ],
            warnings: vec![recalled(warning(5), 0.9, 0.9)],
            failures: vec![failed(6, Some("use get")), failed(7, None)],
            notes: Vec::new(),
        };
        let advice = RecoveryAdvice::new(found, &features, 0.2, 2_000);
        assert_eq!(advice.recovery_patterns.iter().map(|one| one.pattern_id).collect::<Vec<_>>(), [id(2)]);
        assert_eq!(advice.failure_patterns.iter().map(|one| one.pattern_id).collect::<Vec<_>>(), [id(1)]);
        assert_eq!(
            advice.similar_failures[0].failure.as_ref().and_then(|failure| failure.resolution.as_deref()),
            Some("use get")
        );
        assert!(advice.rendered.contains("> Resolved by: use get"), "{}", advice.rendered);
        assert_eq!(advice.shown_memories(), [id(2), id(1), id(5)]);
    }

    #[test]
    fn warnings_of_other_errors_are_told_where_none_is_of_this_one_and_they_are_relevant() {
        let warned = |n, relevance, very_error| {
            let mut recalled = recalled(warning(n), relevance, 0.9);
            recalled.memory.title = format!("Warning {n}");
            recalled.score.why.very_error = very_error;
            recalled
        };
        let told = |warnings: Vec<Recalled>| {
            let found = FoundForError { warnings, ..FoundForError::default() };
            let advice = RecoveryAdvice::new(found, &TaskFeatures::default(), 0.2, 2_000);
            advice.warnings.iter().map(|one| one.id).collect::<Vec<_>>()
        };
        assert_eq!(told(vec![warned(1, 1.0, true), warned(2, 0.8, false)]), [id(1)]);
        assert_eq!(told(vec![warned(1, 0.3, false), warned(2, 0.1, false)]), [id(1)]);
    }

    #[test]
    fn what_resolved_an_error_is_told_in_notes() {
        let features = TaskFeatures { error_signature: Some("KeyError: 'id'".into()), ..TaskFeatures::default() };
        let patterns = vec![
            pattern(1, PatternCategory::Recovery, "valueerror"),
            pattern(2, PatternCategory::Recovery, "keyerror"),
        ];
        let known = KnownResolutions::new(patterns, vec![failed(3, Some("use get"))], &features);
        let notes = known.notes();
        let heads: Vec<&str> = notes.lines().filter(|line| !line.starts_with('>')).collect();
        assert!(
            matches!(heads[..], [pattern, failure] if pattern.ends_with(&id(2).to_string()) && failure.starts_with("earlier failure")),
            "{notes}"
        );
        assert!(notes.contains("> Resolved by: use get\n"), "{notes}");
        assert_eq!(KnownResolutions::default().notes(), "");
    }

    #[test]
    fn an_error_that_nobody_met_is_told_of_in_a_note() {
        let advice = RecoveryAdvice::new(FoundForError::default(), &TaskFeatures::default(), 0.2, 2_000);
        assert!(advice.is_empty() && advice.rendered.is_empty());
        assert_eq!(advice.notes, ["nothing_relevant: nothing is known about this error"]);
    }
}
