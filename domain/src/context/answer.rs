//! The answer before a task. Its lists say what was found and why; the words are in `rendered`.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::bank_section::{ContextSection, FoundSection};
use super::entry::ContextEntry;
use super::nearness::{is_about_task, is_excluded_by_words, is_similar};
use super::rendered::{ContextText, best_first, rendered};
use crate::episode::{EpisodeFound, EpisodeStatus};
use crate::memory::ids::{ContextId, MemoryId, TraceId};
use crate::memory::pattern::{PatternCategory, PatternStage};
use crate::memory::trace::FailureAnalysis;
use crate::memory::{Scope, normalised};
use crate::note::{Code, Note};
use crate::pattern::features::TaskFeatures;
use crate::pattern::finding::SuggestedPattern;
use crate::retrieval::recalled::Recalled;
use crate::text::shortened;

/// The most patterns of an answer.
pub const PATTERNS_MAX: usize = 3;
/// The most episodes.
pub const EPISODES_MAX: usize = 5;
/// The most memories that do not warn.
pub const KNOWLEDGE_MAX: usize = 6;
/// The most memories that warn.
pub const WARNINGS_MAX: usize = 4;

/// The longest text in a list, in characters.
const LISTED_CHARS: usize = 200;

/// The knowledge that helps with a task, each list best first. An empty answer is normal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextForTask {
    /// It names what was shown, when the episode is told at the end.
    pub context_id: ContextId,
    /// At most 3.
    pub applicable_patterns: Vec<ContextPattern>,
    /// At most 5.
    pub similar_episodes: Vec<ContextEpisode>,
    /// At most 6.
    pub domain_knowledge: Vec<ContextMemory>,
    /// Sections of the memory bank of the workspace, at most 3.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bank_sections: Vec<ContextSection>,
    /// Memories that warn, at most 4.
    pub warnings: Vec<ContextMemory>,
    /// The words of all that fits into the budget, quoted, the best of each kind first. It is empty where nothing is
    /// relevant.
    pub rendered: String,
    /// The tokens of `rendered`.
    pub tokens: usize,
    pub took_ms: u64,
    pub notes: Vec<Note>,
}

/// A pattern that applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPattern {
    pub pattern_id: MemoryId,
    pub name: String,
    pub category: PatternCategory,
    /// In 0..1.
    pub confidence: f64,
    /// In 0..1.
    pub score: f64,
    /// True where it is a candidate, which nothing has proven yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unproven: bool,
    /// True where its words are in `rendered`.
    pub shown: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A memory that is about the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextMemory {
    pub id: MemoryId,
    pub title: String,
    pub scope: Scope,
    /// In 0..1.
    pub confidence: f64,
    /// The likelihood that it is about the task, in 0..1.
    pub relevance: f64,
    /// True where its words are in `rendered`.
    pub shown: bool,
}

/// An episode that is like the task, or that met the error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextEpisode {
    pub episode_id: TraceId,
    pub timestamp: Timestamp,
    /// The first 200 characters of the task.
    pub task: String,
    pub status: EpisodeStatus,
    pub task_type: String,
    /// In 0..1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The failure that is like the error, and what resolved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ContextFailure>,
    /// The reason why it was found.
    pub why: String,
    /// True where its words are in `rendered`.
    pub shown: bool,
}

/// A failure of an episode, each text with its first 200 characters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFailure {
    pub error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// The episode in which it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<TraceId>,
}

/// The results of the searches for a task, each list best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundForTask {
    pub task: String,
    pub patterns: Vec<SuggestedPattern>,
    /// Patterns that nothing has proven yet. One of them may take a place that no other needs.
    pub candidates: Vec<SuggestedPattern>,
    /// Those that are relevant enough, patterns among them.
    pub memories: Vec<Recalled>,
    pub episodes: Vec<EpisodeFound>,
    pub sections: Vec<FoundSection>,
    pub notes: Vec<Note>,
}

impl ContextForTask {
    /// Makes the answer. It leaves `took_ms` to whoever knows.
    pub fn new(context_id: ContextId, found: FoundForTask, features: &TaskFeatures, budget: usize) -> Self {
        let FoundForTask { task, mut patterns, candidates, memories, mut episodes, sections, notes } = found;
        let by_meaning: BTreeSet<MemoryId> = memories.iter().map(|recalled| recalled.memory.id).collect();
        let is_about = |pattern: &SuggestedPattern| {
            is_about_task(pattern, features, by_meaning.contains(&pattern.memory.id))
                && !is_excluded_by_words(&pattern.part, features, &task)
        };
        patterns.retain(is_about);
        patterns.extend(candidates.into_iter().find(is_about));
        patterns.truncate(PATTERNS_MAX);
        let (mut warnings, mut knowledge): (Vec<Recalled>, Vec<Recalled>) =
            distinct(memories).into_iter().partition(|recalled| recalled.memory.is_of_failure());
        warnings.truncate(WARNINGS_MAX);
        knowledge.truncate(KNOWLEDGE_MAX);
        episodes.retain(is_similar);
        episodes.truncate(EPISODES_MAX);
        let of_memories = |memories: &[Recalled]| memories.iter().map(ContextEntry::of_memory).collect::<Vec<_>>();
        let entries = best_first([
            patterns.iter().map(ContextEntry::of_pattern).collect(),
            of_memories(&warnings),
            of_memories(&knowledge),
            sections.iter().map(ContextEntry::of_section).collect(),
            episodes.iter().map(ContextEntry::of_episode).collect(),
        ]);
        let text = rendered(&entries, budget);
        let nothing = "nothing here is about this task";
        Self {
            context_id,
            applicable_patterns: patterns.iter().map(|one| ContextPattern::new(one, &text)).collect(),
            similar_episodes: episodes.iter().map(|one| ContextEpisode::new(one, &text)).collect(),
            domain_knowledge: knowledge.iter().map(|one| ContextMemory::new(one, &text)).collect(),
            bank_sections: sections.iter().map(|one| one.shown_in(&text.shown)).collect(),
            warnings: warnings.iter().map(|one| ContextMemory::new(one, &text)).collect(),
            notes: all_notes(notes, entries.len(), &text, nothing, budget),
            rendered: text.text,
            tokens: text.tokens,
            took_ms: 0,
        }
    }

    /// Returns the memories whose words the answer shows, patterns among them.
    pub fn shown_memories(&self) -> Vec<MemoryId> {
        let patterns = self.applicable_patterns.iter().filter(|one| one.shown).map(|one| one.pattern_id);
        let memories = self.warnings.iter().chain(&self.domain_knowledge).filter(|one| one.shown).map(|one| one.id);
        patterns.chain(memories).collect()
    }

    /// Tells whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.applicable_patterns.is_empty()
            && self.similar_episodes.is_empty()
            && self.domain_knowledge.is_empty()
            && self.warnings.is_empty()
            && self.bank_sections.is_empty()
    }
}

/// Leaves out memories that are patterns, which have a list of their own, those that a newer one outdates, and those
/// that say the same as one before them.
pub(super) fn distinct(mut memories: Vec<Recalled>) -> Vec<Recalled> {
    let mut said = HashSet::new();
    memories.retain(|recalled| {
        let memory = &recalled.memory;
        memory.pattern.is_none()
            && recalled.outdated_by.is_none()
            && said.insert((normalised(&memory.title), normalised(&memory.content)))
    });
    memories
}

/// Returns the notes of an answer, one for each code. `nothing` says that nothing was found.
pub(super) fn all_notes(
    found: Vec<Note>,
    entries: usize,
    text: &ContextText,
    nothing: &str,
    budget: usize,
) -> Vec<Note> {
    let mut codes = HashSet::new();
    let is_kept =
        |note: &Note| note.code != Some(Code::NothingRelevant) && note.code.is_none_or(|code| codes.insert(code));
    let mut notes: Vec<Note> = found.into_iter().filter(is_kept).collect();
    if entries == 0 {
        notes.push(Note::new(Code::NothingRelevant, nothing));
    } else if text.left_out > 0 {
        let left_out = text.left_out;
        notes.push(Note::new(Code::MaxTokens, format!("{left_out} of {entries} did not fit into {budget} tokens")));
    }
    notes
}

impl ContextPattern {
    pub(super) fn new(pattern: &SuggestedPattern, text: &ContextText) -> Self {
        let SuggestedPattern { memory, part, score, .. } = pattern;
        Self {
            pattern_id: memory.id,
            name: memory.title.clone(),
            category: part.category,
            confidence: part.statistics.confidence,
            score: rounded(score.total),
            unproven: part.stage == PatternStage::Candidate,
            shown: text.shown.contains(&memory.id.uuid()),
        }
    }
}

impl ContextMemory {
    pub(super) fn new(recalled: &Recalled, text: &ContextText) -> Self {
        let memory = &recalled.memory;
        Self {
            id: memory.id,
            title: memory.title.clone(),
            scope: memory.scope,
            confidence: rounded(recalled.score.confidence),
            relevance: rounded(recalled.relevance),
            shown: text.shown.contains(&memory.id.uuid()),
        }
    }
}

impl ContextEpisode {
    pub(super) fn new(found: &EpisodeFound, text: &ContextText) -> Self {
        let episode = &found.episode;
        let id: Uuid = episode.episode_id.uuid();
        Self {
            episode_id: episode.episode_id,
            timestamp: episode.timestamp,
            task: episode.task.clone(),
            status: episode.status,
            task_type: episode.task_type.clone(),
            score: found.score.map(rounded),
            failure: found.failure.as_ref().map(ContextFailure::new),
            why: found.why.reason.clone(),
            shown: text.shown.contains(&id),
        }
    }
}

impl ContextFailure {
    fn new(failure: &FailureAnalysis) -> Self {
        let short = |text: &String| shortened(text, LISTED_CHARS);
        Self {
            error: short(&failure.error),
            cause: failure.cause.as_ref().map(short),
            resolution: failure.resolution.as_ref().map(short),
            resolved_by: failure.resolved_by,
        }
    }
}

/// Rounds a score: its last digits are many tokens and say nothing.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::samples::{similar, suggested};
    use crate::memory::Memory;
    use crate::memory::samples::{id, strategy, warning};
    use crate::retrieval::prompt_memories::samples::recalled;

    fn context_id() -> ContextId {
        Uuid::from_u128(99).into()
    }

    fn answer(found: FoundForTask, budget: usize) -> ContextForTask {
        ContextForTask::new(context_id(), found, &TaskFeatures::default(), budget)
    }

    #[test]
    fn each_kind_has_its_list_and_the_text_begins_with_the_best_of_each() {
        let found = FoundForTask {
            patterns: (1..=5).map(suggested).collect(),
            memories: vec![recalled(strategy(11), 0.9, 0.9), recalled(warning(12), 0.8, 0.8)],
            episodes: vec![similar(21, 0.8), similar(22, 0.1)],
            notes: vec![Note::new(Code::NothingRelevant, "of the search"), Note::plain("a"), Note::plain("a")],
            ..FoundForTask::default()
        };
        let answer = answer(found, 2_000);
        assert_eq!(answer.applicable_patterns.len(), PATTERNS_MAX);
        assert_eq!(answer.similar_episodes.len(), 1, "the other one is not similar enough");
        assert_eq!((answer.domain_knowledge[0].id, answer.warnings[0].id), (id(11), id(12)));
        let heads: Vec<&str> = answer.rendered.lines().filter(|line| line.starts_with('[')).collect();
        let kinds: Vec<&str> = heads.iter().map(|head| head.split([' ', ',']).nth(1).unwrap()).collect();
        assert_eq!(kinds, ["pattern", "warning", "memory", "earlier", "pattern", "pattern"]);
        assert_eq!(answer.shown_memories().len(), 5);
        assert_eq!(answer.notes, [Note::plain("a"), Note::plain("a")]);
    }

    #[test]
    fn a_candidate_takes_a_free_place_and_is_marked() {
        let candidate = |n| {
            let mut pattern = suggested(n);
            pattern.part.stage = PatternStage::Candidate;
            pattern
        };
        let found = |patterns, candidates| FoundForTask { patterns, candidates, ..FoundForTask::default() };
        let free = answer(found(vec![suggested(1)], vec![candidate(2), candidate(3)]), 2_000);
        let unproven: Vec<bool> = free.applicable_patterns.iter().map(|pattern| pattern.unproven).collect();
        assert_eq!(unproven, [false, true], "one at most");
        assert!(free.rendered.contains("candidate, trust: agent, unproven"), "{}", free.rendered);
        let full = answer(found((1..=PATTERNS_MAX as u128).map(suggested).collect(), vec![candidate(9)]), 2_000);
        assert!(full.applicable_patterns.iter().all(|pattern| !pattern.unproven));
    }

    #[test]
    fn what_says_the_same_is_a_pattern_or_is_outdated_is_no_further_knowledge() {
        let copy = Memory { id: id(2), title: " STRATEGY 1".into(), ..strategy(1) };
        let pattern = suggested(3);
        let outdated = Recalled { outdated_by: Some(id(1)), ..recalled(strategy(4), 0.9, 0.5) };
        let memories = vec![
            recalled(strategy(1), 0.9, 0.9),
            recalled(copy, 0.9, 0.8),
            recalled(pattern.memory.clone(), 0.9, 0.7),
            outdated,
        ];
        let answer = answer(FoundForTask { patterns: vec![pattern], memories, ..FoundForTask::default() }, 2_000);
        assert_eq!(answer.domain_knowledge.iter().map(|one| one.id).collect::<Vec<_>>(), [id(1)]);
        assert_eq!(answer.applicable_patterns.len(), 1);
    }

    #[test]
    fn nothing_is_said_in_a_note_and_so_is_what_did_not_fit() {
        let nothing = answer(FoundForTask::default(), 2_000);
        assert!(nothing.is_empty() && nothing.rendered.is_empty());
        assert_eq!(nothing.notes, ["nothing_relevant: nothing here is about this task"]);
        let memories = (1..=6).map(|n| recalled(strategy(n), 0.9, 0.9)).collect();
        let few = answer(FoundForTask { memories, ..FoundForTask::default() }, 100);
        assert!(few.tokens <= 100 && !few.domain_knowledge.last().unwrap().shown);
        let shown = few.shown_memories().len();
        assert_eq!(few.notes, [format!("max_tokens: {} of 6 did not fit into 100 tokens", 6 - shown).as_str()]);
    }
}
