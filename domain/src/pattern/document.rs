//! Patterns as clients read them: the document of one, the list of all, and what was found for a task.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::evidence::{Applied, PatternEvidence};
use super::finding::{PatternScore, SuggestedPattern};
use super::pruning::PruneReason;
use super::stages::shown;
use crate::memory::ids::{MemoryId, RunId, SignalId, TraceId};
use crate::memory::pattern::{
    Applicability, PatternCategory, PatternContent, PatternGuidance, PatternPart, PatternRelationships, PatternStage,
    PatternValidation,
};
use crate::memory::workspace::WorkspaceId;
use crate::memory::{Memory, Trust};

/// Everything that is known of a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternDocument {
    /// The id of its memory.
    pub pattern_id: MemoryId,
    pub workspace_id: WorkspaceId,
    pub name: String,
    pub category: PatternCategory,
    pub version: u32,
    pub created_at: Timestamp,
    pub last_updated: Timestamp,
    /// Its use cases.
    pub description: String,
    pub detailed_explanation: String,
    pub trust: Trust,
    pub applicability: Applicability,
    pub content: PatternContent,
    pub evidence: PatternEvidenceView,
    pub application: PatternGuidance,
    pub lifecycle: PatternLifecycleView,
    pub relationships: PatternRelationships,
}

/// The evidence of the applications of the last 90 days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternEvidenceView {
    /// The episodes in which it was applied with success, at most 100.
    pub supporting_episodes: Vec<TraceId>,
    /// The episodes in which it was applied in vain, at most 100.
    pub counter_episodes: Vec<TraceId>,
    pub num_applications: u64,
    /// In 0..1.
    pub success_rate: Option<f64>,
    /// The success rate of comparable episodes without it, in 0..1.
    pub base_rate: Option<f64>,
    /// Seconds, on average.
    pub avg_time_saving: Option<f64>,
    /// Tokens, on average.
    pub avg_cost_saving: Option<f64>,
    pub success_rate_improvement: Option<f64>,
    /// In 0..1.
    pub confidence_score: f64,
    /// The probability of such successes by chance, in 0..1.
    pub statistical_significance: Option<f64>,
    pub last_validated: Option<Timestamp>,
}

/// The stage of a pattern and what led to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternLifecycleView {
    pub status: PatternStage,
    pub validation: Option<PatternValidation>,
    pub under_review_since: Option<Timestamp>,
    pub usage_count: u64,
    pub last_used: Option<Timestamp>,
    pub superseded_by: Option<MemoryId>,
    pub deprecation_reason: Option<String>,
}

/// The most episodes that a document names of each kind.
const EPISODES_SHOWN: usize = 100;

impl PatternDocument {
    /// Makes the document of a memory that is a pattern. The applications are counted as they are listed; what a test
    /// found is that of the last one.
    pub fn new(memory: &Memory, part: &PatternPart, applied: &[Applied<'_>], now: Timestamp) -> Self {
        let (statistics, lifecycle) = (&part.statistics, &part.lifecycle);
        let listed = shown(part, applied, now);
        let counted = PatternEvidence::of(&listed, &[], now);
        let success_rate = counted.rate();
        let of = |succeeded: bool| {
            let those = listed.iter().filter(|one| one.succeeded() == Some(succeeded));
            // An episode that is gone counts and is not named.
            those.filter_map(|one| Some(one.episode?.id)).take(EPISODES_SHOWN).collect()
        };
        Self {
            pattern_id: memory.id,
            workspace_id: memory.workspace_id.clone(),
            name: memory.title.clone(),
            category: part.category,
            version: part.version,
            created_at: memory.created_at,
            last_updated: memory.updated_at,
            description: memory.description.clone(),
            detailed_explanation: memory.content.clone(),
            trust: memory.trust,
            applicability: part.applicability.clone(),
            content: part.content.clone(),
            evidence: PatternEvidenceView {
                supporting_episodes: of(true),
                counter_episodes: of(false),
                num_applications: counted.applications,
                success_rate,
                base_rate: statistics.base_rate,
                avg_time_saving: statistics.avg_time_saving,
                avg_cost_saving: statistics.avg_cost_saving,
                success_rate_improvement: success_rate.zip(statistics.base_rate).map(|(rate, base)| rate - base),
                confidence_score: statistics.confidence,
                statistical_significance: statistics.p_value,
                last_validated: lifecycle.validation.as_ref().map(|validation| validation.at),
            },
            application: part.guidance.clone(),
            lifecycle: PatternLifecycleView {
                status: part.stage,
                validation: lifecycle.validation.clone(),
                under_review_since: lifecycle.under_review_since,
                usage_count: applied.len() as u64,
                last_used: applied.iter().map(|one| one.application.at).max(),
                superseded_by: lifecycle.superseded_by,
                deprecation_reason: lifecycle.deprecation_reason.clone(),
            },
            relationships: part.relationships.clone(),
        }
    }
}

/// A pattern in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternSummary {
    pub pattern_id: MemoryId,
    pub name: String,
    pub description: String,
    pub category: PatternCategory,
    pub stage: PatternStage,
    pub version: u32,
    /// In 0..1.
    pub confidence: f64,
    pub num_applications: u64,
}

impl PatternSummary {
    pub fn new(memory: &Memory, part: &PatternPart) -> Self {
        Self {
            pattern_id: memory.id,
            name: memory.title.clone(),
            description: memory.description.clone(),
            category: part.category,
            stage: part.stage,
            version: part.version,
            confidence: part.statistics.confidence,
            num_applications: part.statistics.num_applications,
        }
    }
}

/// A pattern in the list of all, with its applications as its document counts them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedPattern {
    #[serde(flatten)]
    pub summary: PatternSummary,
    /// In 0..1.
    pub success_rate: Option<f64>,
}

impl ListedPattern {
    pub fn new(memory: &Memory, part: &PatternPart, applied: &[Applied<'_>], now: Timestamp) -> Self {
        let counted = PatternEvidence::of(&shown(part, applied, now), &[], now);
        let summary = PatternSummary { num_applications: counted.applications, ..PatternSummary::new(memory, part) };
        Self { summary, success_rate: counted.rate() }
    }
}

/// The patterns of a workspace, of all stages or of one, those with most confidence first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternList {
    pub patterns: Vec<ListedPattern>,
}

/// The patterns that apply to a task, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternsFound {
    pub patterns: Vec<FoundPattern>,
    /// The other patterns with what keeps each out. It is there where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_out: Option<Vec<ExcludedPattern>>,
}

/// A pattern that applies to a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPattern {
    #[serde(flatten)]
    pub summary: PatternSummary,
    pub score: PatternScore,
    /// The patterns that it contradicts and that are left out for it.
    pub preferred_over: Vec<MemoryId>,
    pub detailed_explanation: String,
    pub content: PatternContent,
    pub application: PatternGuidance,
}

impl From<SuggestedPattern> for FoundPattern {
    fn from(suggested: SuggestedPattern) -> Self {
        let SuggestedPattern { memory, part, score, preferred_over } = suggested;
        Self {
            summary: PatternSummary::new(&memory, &part),
            score,
            preferred_over,
            detailed_explanation: memory.content,
            content: part.content,
            application: part.guidance,
        }
    }
}

/// A pattern that is not suggested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedPattern {
    pub pattern_id: MemoryId,
    pub name: String,
    pub why: String,
}

/// The patterns that say much the same as one, the most alike first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimilarPatterns {
    pub patterns: Vec<SimilarPattern>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimilarPattern {
    #[serde(flatten)]
    pub summary: PatternSummary,
    /// By the words of what they say and by when they apply, in 0..1.
    pub likeness: f64,
}

/// The patterns that are worth little, which somebody may deprecate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PruneProposals {
    pub patterns: Vec<PruneProposal>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PruneProposal {
    #[serde(flatten)]
    pub summary: PatternSummary,
    pub reason: PruneReason,
}

/// The earlier versions of a pattern, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternVersions {
    pub versions: Vec<PatternVersion>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternVersion {
    pub version: u32,
    pub stage: PatternStage,
    /// The time when the next one replaced it.
    pub until: Timestamp,
    /// The run of consolidation that changed it. None: a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    pub name: String,
    pub description: String,
    pub detailed_explanation: String,
    pub content: PatternContent,
    pub applicability: Applicability,
}

/// The answer to a pattern that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PatternAdded {
    /// The id of the pattern that says it, new or there before.
    pub pattern_id: MemoryId,
    /// False where a pattern says exactly the same.
    pub is_new: bool,
    /// The number of secrets that were removed from its texts.
    pub redactions: u32,
}

/// The answer to whatever may move a pattern to another stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatternChanged {
    pub pattern: PatternDocument,
    /// The application that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application_id: Option<SignalId>,
    pub stage_before: PatternStage,
    /// The reason why it moved, or why it stays where it is.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::pattern::PatternApplication;
    use crate::memory::samples::{days_ago, id, now, strategy};
    use crate::pattern::facts::EpisodeFacts;
    use crate::pattern::observation::reported;
    use crate::pattern::samples::{episode, tool_pattern};

    #[test]
    fn applications_are_counted_as_they_are_listed() {
        let mut part = tool_pattern(&["rg"]);
        let at = |n: u128, days: f64, succeeded| EpisodeFacts { at: days_ago(days), ..episode(n, Some(succeeded)) };
        let episodes = [at(1, 1.0, true), at(2, 2.0, true), at(3, 3.0, false), at(4, 91.0, true)];
        let reports: Vec<PatternApplication> = episodes.iter().map(|one| reported(id(1), &part, one)).collect();
        let with = |(application, episode)| Applied { application, episode: Some(episode) };
        let applied: Vec<Applied<'_>> = reports.iter().zip(&episodes).map(with).collect();
        let numbers = |part: &PatternPart| {
            let PatternDocument { evidence, lifecycle, .. } = PatternDocument::new(&strategy(1), part, &applied, now());
            let listed = (evidence.supporting_episodes.len(), evidence.counter_episodes.len());
            let in_list = ListedPattern::new(&strategy(1), part, &applied, now());
            assert_eq!(
                (in_list.summary.num_applications, in_list.success_rate),
                (evidence.num_applications, evidence.success_rate)
            );
            (listed, evidence.num_applications, evidence.success_rate, lifecycle.usage_count)
        };
        assert_eq!(numbers(&part), ((2, 1), 3, Some(2.0 / 3.0), 4), "no test was made yet");
        (part.version, part.lifecycle.version_since) = (2, Some(now()));
        assert_eq!(numbers(&part), ((0, 0), 0, None, 4), "none is of this version");
        part.lifecycle.validation =
            Some(PatternValidation { at: now(), successes: 2, applications: 3, accepted_because: None });
        assert_eq!(numbers(&part), ((2, 1), 3, Some(2.0 / 3.0), 4), "they validated this version");
    }

    #[test]
    fn an_episode_that_is_gone_counts_as_it_ended_and_is_not_named() {
        let part = tool_pattern(&["rg"]);
        let episodes = [episode(1, Some(true)), episode(2, Some(true)), episode(3, Some(false)), episode(4, None)];
        let reports: Vec<PatternApplication> = episodes.iter().map(|one| reported(id(1), &part, one)).collect();
        let applied: Vec<Applied<'_>> =
            reports.iter().map(|application| Applied { application, episode: None }).collect();
        let document = PatternDocument::new(&strategy(1), &part, &applied, now());
        assert_eq!((document.evidence.num_applications, document.evidence.success_rate), (3, Some(2.0 / 3.0)));
        assert_eq!((document.evidence.supporting_episodes, document.evidence.counter_episodes), (vec![], vec![]));
        let corrected = episode(1, Some(false));
        let of = Applied { application: &reports[0], episode: Some(&corrected) };
        assert_eq!(of.succeeded(), Some(false), "an episode that is there says itself how it ended");
    }
}
