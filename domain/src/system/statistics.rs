//! The statistics document: what a bank holds and what its process has done. Every client sees its serialised form. The
//! counting is done elsewhere.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::episode::Visibility;
use crate::memory::pattern::PatternStage;
use crate::memory::{MemoryOutcome, Scope, Status};
use crate::prompt::Purpose;
use crate::solve::task::add_cost;

/// The statistics of a bank and of one process that serves it. The fields before `cache`, and `store`, count what the
/// whole bank holds. The others belong to this process and count from `since`, `resident` from when the process opened
/// the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    pub traces: TraceStatistics,
    pub episodes: EpisodeStatistics,
    pub memories: MemoryStatistics,
    /// The memories that are patterns, by their stage.
    pub patterns: BTreeMap<PatternStage, u64>,
    /// The applications of patterns.
    #[serde(default)]
    pub applications: u64,
    /// The tasks that have a working memory, because nobody has closed them.
    #[serde(default)]
    pub working_memories: u64,
    /// The runs of consolidation that are recorded, which each is for 30 days.
    #[serde(default)]
    pub consolidation_runs: u64,
    /// The start of the last run of consolidation. It is absent where none ran in the last 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_consolidation: Option<Timestamp>,
    pub cache: CacheStatistics,
    pub llm: LlmStatistics,
    pub latency_ms: Latencies,
    pub actors: Vec<ActorStatistics>,
    pub store: StoreStatistics,
    pub resident: ResidentStatistics,
    pub embedder: EmbedderStatistics,
    /// The start of the process, or the last reset.
    pub since: Timestamp,
    /// Seconds since the start of the process.
    pub uptime_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TraceStatistics {
    pub total: u64,
    pub success: u64,
    pub failure: u64,
    pub partial: u64,
    /// The share of successes in all traces, in 0..1. It is 0 without traces.
    pub success_rate: f64,
}

/// The traces as episodes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeStatistics {
    /// Searches find active ones, archived ones where they are asked for, and no deleted ones.
    pub by_visibility: BTreeMap<Visibility, u64>,
    /// The episodes with vectors of the embedder in use.
    pub with_vectors: u64,
    /// The others, which are found by labels and words until they have vectors.
    pub without_vectors: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MemoryStatistics {
    /// The memories of any status.
    pub total: u64,
    pub by_outcome: BTreeMap<MemoryOutcome, u64>,
    pub by_scope: BTreeMap<Scope, u64>,
    pub by_status: BTreeMap<Status, u64>,
}

/// The cache of model answers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CacheStatistics {
    /// Answers that cost nothing: cached ones, and those shared with a call that was under way.
    pub hits: u64,
    pub misses: u64,
    /// Calls that are never cached, and all calls while the cache is off.
    pub bypassed: u64,
    /// The share of hits in hits and misses, in 0..1. It is 0 without either.
    pub hit_rate: f64,
    pub entries: u64,
    /// Input and output tokens that hits did not spend again.
    pub saved_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_cost_usd: Option<f64>,
}

/// The requests that went out to the provider.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LlmStatistics {
    #[serde(flatten)]
    pub total: LlmCounts,
    pub by_purpose: BTreeMap<Purpose, LlmCounts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LlmCounts {
    /// Calls to the provider, including retries.
    pub calls: u64,
    pub retries: u64,
    /// Calls that ended with an error or without an answer, except those that were cancelled.
    pub failures: u64,
    pub input_tokens: u64,
    /// The tokens that were written, those of reasoning included.
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    /// Absent while the provider names no cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl std::ops::AddAssign for LlmCounts {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.calls, other.calls);
        add(&mut self.retries, other.retries);
        add(&mut self.failures, other.failures);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add_cost(&mut self.cost_usd, other.cost_usd);
    }
}

impl LlmStatistics {
    pub fn of(by_purpose: BTreeMap<Purpose, LlmCounts>) -> Self {
        let mut total = LlmCounts::default();
        by_purpose.values().for_each(|counts| total += *counts);
        Self { total, by_purpose }
    }
}

/// The time that things took, in milliseconds. A solve that ended with an error is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// The time of retrievals, with the embedding of the query.
    pub retrieval: Percentiles,
    pub embedding: Percentiles,
    pub solve: Percentiles,
    /// The time of single requests to the provider.
    pub llm: Percentiles,
}

/// Percentiles that are exact to three digits, up to an hour. All are 0 without any measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Percentiles {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ActorStatistics {
    pub name: String,
    pub status: ActorStatus,
    pub restarts: u64,
    /// Callers that are served or wait.
    pub queue: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ActorStatus {
    Running,
    /// It failed and will be started again.
    Restarting,
    /// It ended for good.
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StoreStatistics {
    /// The rows of all tables.
    pub rows: u64,
    pub fragments: u64,
    pub bytes: u64,
    /// Rows that are searched one by one because no index has them yet.
    pub index_lag_rows: u64,
}

/// The parts that are kept in memory to answer searches from, within a bound of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResidentStatistics {
    /// Workspaces, teams and organisations whose memories are kept.
    pub shelves: u64,
    pub bytes: u64,
    /// Searches that were answered from there alone.
    pub searches: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedderStatistics {
    pub name: String,
    pub dims: u64,
    pub ready: bool,
    /// Texts whose embedding was cached.
    pub cache_hits: u64,
    /// Texts that were embedded.
    pub cache_misses: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_too_large_stay_at_the_largest_and_an_impossible_cost_is_as_if_not_said() {
        let huge = LlmCounts { calls: 1, input_tokens: u64::MAX, output_tokens: u64::MAX, ..LlmCounts::default() };
        let by_purpose = [f64::NAN, -1.0, f64::INFINITY].map(|cost| LlmCounts { cost_usd: Some(cost), ..huge });
        let purposes = [Purpose::Think, Purpose::Evaluate, Purpose::Judge];
        let total = LlmStatistics::of(purposes.into_iter().zip(by_purpose).collect()).total;
        assert_eq!((total.calls, total.input_tokens, total.output_tokens), (3, u64::MAX, u64::MAX));
        assert_eq!(total.cost_usd, None);
    }
}
