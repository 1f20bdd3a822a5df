//! The answers about episodes: what a search found and why, lists, and what became of a change.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{EpisodeStatus, EpisodeVerdictSource};
use super::failures::{FailureMatch, FailureTier};
use super::lifecycle::{EpisodePhase, EpisodeState, LifecycleRules};
use super::score::EpisodeScore;
use crate::memory::ids::TraceId;
use crate::memory::trace::{FailureAnalysis, Trace, TraceSource};
use crate::note::Note;
use crate::text::shortened;

/// The way in which episodes are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(description = "")]
pub enum Strategy {
    /// By meaning; labels raise the score and leave nothing out but what is asked for by name.
    Semantic,
    /// The search goes by labels and time alone, the newest first.
    Structured,
    /// The search goes by meaning, among the episodes with the labels.
    #[default]
    Hybrid,
    /// The newest first, of a range of time or of a session.
    Temporal,
    /// By a failure that was met.
    Failure,
}

impl Strategy {
    /// Tells whether the strategy needs something to compare with.
    pub fn needs_query(self) -> bool {
        matches!(self, Self::Semantic | Self::Hybrid | Self::Failure)
    }
}

/// An episode in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeSummary {
    pub episode_id: TraceId,
    pub timestamp: Timestamp,
    pub source: TraceSource,
    /// The first 200 characters of the task.
    pub task: String,
    pub status: EpisodeStatus,
    pub verdict_source: EpisodeVerdictSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    pub task_type: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_used: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The first insights, at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub insights: Vec<String>,
    /// The first 200 characters of what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    pub phase: EpisodePhase,
    /// The time at which it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
}

impl EpisodeSummary {
    pub fn new(trace: &Trace, state: &EpisodeState, rules: LifecycleRules, now: Timestamp) -> Self {
        const INSIGHT_CHARS: usize = 300;
        const INSIGHTS: usize = 3;
        const LABELS: usize = 20;
        const OUTPUT_CHARS: usize = 200;
        let parts = trace.episode.as_deref().cloned().unwrap_or_default();
        let short = |text: String| text.chars().take(INSIGHT_CHARS).collect();
        Self {
            episode_id: trace.trace_id,
            timestamp: trace.created_at,
            source: trace.source,
            task: trace.short_task(),
            status: trace.outcome.into(),
            verdict_source: EpisodeVerdictSource::of(trace),
            domain: parts.metadata.domain,
            task_type: trace.task_type(),
            tools_used: parts.metadata.tools_used.into_iter().take(LABELS).collect(),
            tags: parts.metadata.tags,
            insights: parts.reflection.insights.into_iter().take(INSIGHTS).map(short).collect(),
            output: trace.primary_output().map(|output| shortened(output, OUTPUT_CHARS)),
            phase: state.phase(rules, now),
            deleted_at: state.deleted_at,
        }
    }
}

/// The reasons why an episode was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct FoundBecause {
    /// The parts of the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<EpisodeScore>,
    /// The way in which the failure is like the one that was met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureTier>,
    /// It says in words why the episode was found.
    pub reason: String,
}

/// An episode that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeFound {
    #[serde(flatten)]
    pub episode: EpisodeSummary,
    /// In 0..=1; absent where the order is that of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The failure that is like the one that was met, or one of the episode, and how it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureAnalysis>,
    pub why: FoundBecause,
}

impl EpisodeFound {
    /// Makes an answer that is in the order of time.
    pub fn by_time(episode: EpisodeSummary, reason: impl Into<String>) -> Self {
        Self {
            episode,
            score: None,
            failure: None,
            why: FoundBecause { reason: reason.into(), ..FoundBecause::default() },
        }
    }

    /// Makes an answer that is in the order of its score.
    pub fn by_score(episode: EpisodeSummary, score: EpisodeScore) -> Self {
        let EpisodeScore { semantic, recency, success, access, domain } = score;
        let reason = format!(
            "{semantic:.2} of similarity, {recency:.2} of recency, {success:.2} of success, {access:.2} of access, \
             {domain:.2} of domain"
        );
        Self {
            episode,
            score: Some(score.total()),
            failure: None,
            why: FoundBecause { score: Some(score), reason, ..FoundBecause::default() },
        }
    }

    /// Returns the score of a failure that only means something alike, in 0..=0.7.
    pub fn score_of_meaning(similarity: f64) -> f64 {
        0.7 * similarity.clamp(0.0, 1.0)
    }

    /// Makes an answer to a failure that was met.
    pub fn by_failure(episode: EpisodeSummary, found: FailureMatch, similarity: f64) -> Self {
        let FailureMatch { tier, failure } = found;
        let reason = match tier {
            FailureTier::Message => "the same error".to_owned(),
            FailureTier::Signature => "the same kind of error, with another message".to_owned(),
            FailureTier::Type => "the same kind of error in another domain".to_owned(),
            FailureTier::Meaning => format!("a failure with similarity {:.2}", similarity.max(0.0)),
        };
        let score = match tier {
            FailureTier::Message => 1.0,
            FailureTier::Signature => 0.8 + 0.1 * similarity.clamp(0.0, 1.0),
            FailureTier::Type => 0.8,
            FailureTier::Meaning => Self::score_of_meaning(similarity),
        };
        Self { episode, score: Some(score), failure, why: FoundBecause { score: None, failure: Some(tier), reason } }
    }
}

/// The episodes that a search found, the best first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeHits {
    pub hits: Vec<EpisodeFound>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// One page of episodes, newest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeList {
    pub episodes: Vec<EpisodeSummary>,
    /// The `after` of the next page. It is absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<TraceId>,
}

/// An episode that was reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedEpisode {
    pub episode_id: TraceId,
    /// False where the same was reported in this session a few minutes ago: then this is that episode.
    pub created: bool,
    pub status: EpisodeStatus,
    pub task_type: String,
    /// Secrets that were removed.
    pub redactions: u32,
    /// Characters that nobody sees and that were removed.
    pub dropped_characters: u32,
}

/// The answer to the report of an episode, with what its caller has to know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedEpisode {
    #[serde(flatten)]
    pub episode: RecordedEpisode,
    /// The parts of a report that were not taken, and what to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// The answer to a request to archive an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArchivedEpisode {
    pub episode_id: TraceId,
    /// False where it was archived already.
    pub archived: bool,
}

/// The answer to a request to delete an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeletedEpisode {
    pub episode_id: TraceId,
    /// It can be restored until this time; absent where it is gone for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restorable_until: Option<Timestamp>,
}

/// The answer to a request to restore an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RestoredEpisode {
    pub episode_id: TraceId,
    pub phase: EpisodePhase,
}

/// The episodes that are gone for good.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PurgedEpisodes {
    pub purged: u64,
    /// The deleted episodes that can still be restored.
    pub left: u64,
}
