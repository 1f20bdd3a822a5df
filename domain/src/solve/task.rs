//! The task that is asked of the solver, and the report that it answers with. Every client sees the serialised form of
//! the report.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::Learned;
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::observation::Observed;
use crate::memory::trace::MattsMode;
use crate::memory::trace::{Outcome, VerdictSource};
use crate::note::Note;
use crate::retrieval::prompt_memories::{LeftOut, PromptMemories};
use crate::retrieval::recalled::Recalled;
use crate::solve::stage::Stage;

/// A task and how to work on it.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveTask {
    pub task: String,
    pub use_memory: bool,
    /// The number of attempts at the task, in 1..=8. `mode` says whether they are made at once or one after another.
    pub k: u32,
    pub mode: MattsMode,
    /// True where the trace and the lessons are stored. If not, no model is asked for lessons.
    pub store_result: bool,
    pub domain: Option<String>,
}

/// One of the k attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptReport {
    /// The number of the attempt, in 1..=k.
    pub index: u32,
    /// The score of the attempt, in 0..1. Absent when the attempt failed or could not be evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The time from the start of its draft to its evaluation.
    pub latency_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Note>,
}

/// A memory that was put into the prompts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsedMemory {
    pub id: MemoryId,
    pub title: String,
    /// True where it warns of a past failure.
    pub warning: bool,
    pub composite_score: f64,
}

impl UsedMemory {
    pub fn of(memories: &PromptMemories) -> Vec<Self> {
        let view = |entry: &Recalled| Self {
            id: entry.memory.id,
            title: entry.memory.title.clone(),
            warning: entry.memory.is_warning(),
            composite_score: entry.score.composite,
        };
        memories.iter().map(view).collect()
    }
}

/// A memory that was found and not put into the prompts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutMemory {
    pub id: MemoryId,
    pub title: String,
    pub warning: bool,
    pub composite_score: f64,
    #[schemars(with = "String")]
    pub reason: LeftOut,
}

impl LeftOutMemory {
    pub fn of(memories: &PromptMemories) -> Vec<Self> {
        let view = |(entry, reason): &(Recalled, LeftOut)| Self {
            id: entry.memory.id,
            title: entry.memory.title.clone(),
            warning: entry.memory.is_warning(),
            composite_score: entry.score.composite,
            reason: *reason,
        };
        memories.left_out.iter().map(view).collect()
    }
}

/// Adds what a provider says that a call cost. A cost that no call can have (negative, infinite, not a number) is
/// ignored.
pub fn add_cost(sum: &mut Option<f64>, cost: Option<f64>) {
    if let Some(cost) = cost.filter(|cost| cost.is_finite() && *cost >= 0.0) {
        *sum = Some((sum.unwrap_or(0.0) + cost).min(f64::MAX));
    }
}

/// The cost of a solve. Sums that are too large stay at the largest number. Tokens of cached answers are not counted,
/// as an earlier call paid for them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SolveUsage {
    pub input_tokens: u64,
    /// The tokens that were written, those of reasoning included.
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    pub llm_calls: u64,
    pub cache_hits: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl std::ops::AddAssign for SolveUsage {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add(&mut self.llm_calls, other.llm_calls);
        add(&mut self.cache_hits, other.cache_hits);
        add_cost(&mut self.cost_usd, other.cost_usd);
    }
}

impl SolveUsage {
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SolveReport {
    pub solution: String,
    pub outcome: Outcome,
    /// The evaluation of the solution, in 0..1; null when it could not be evaluated.
    pub score: Option<f64>,
    pub verdict_source: VerdictSource,
    /// The observation that the caller's check made of the solution, where the caller has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub evidence: Option<Observed>,
    pub iterations: u32,
    pub attempts: Vec<AttemptReport>,
    /// The index of the chosen attempt.
    pub selected: u32,
    pub early_exit: bool,
    pub loop_detected: bool,
    /// The memories that were put into the prompts, not merely found.
    pub memories_used: Vec<UsedMemory>,
    /// The memories that were found and not put into the prompts, best first.
    #[serde(default)]
    pub memories_left_out: Vec<LeftOutMemory>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    pub learnings: Vec<Learned>,
    pub usage: SolveUsage,
    /// True where a prompt lost its middle because it was longer than its budget, or a draft was cut off.
    pub truncated: bool,
    pub warnings: Vec<Note>,
    /// Remarks that are no fault, such as that no memory was relevant.
    #[serde(default)]
    pub notes: Vec<Note>,
    pub elapsed_ms: u64,
}

/// The progress of a solve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// The number of model calls that are complete.
    pub completed: u32,
    /// The most model calls that there can be.
    pub total: u32,
    /// The tokens of models that were used, in and out.
    pub tokens: u64,
    /// All stages so far. There are at most two for each attempt, one for each iteration, and three more.
    pub stages: Vec<Stage>,
}

/// The best solution that a solve had when it ended early.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BestSoFar {
    pub solution: String,
    pub score: Option<f64>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn huge() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), Just(u64::MAX), 0u64..10]
    }

    fn usage() -> impl Strategy<Value = SolveUsage> {
        let cost = prop::option::of(prop_oneof![any::<f64>(), Just(f64::MAX), Just(f64::NAN), Just(f64::INFINITY)]);
        (huge(), huge(), huge(), huge(), cost).prop_map(
            |(input_tokens, output_tokens, llm_calls, cache_hits, cost_usd)| SolveUsage {
                input_tokens,
                output_tokens,
                reasoning_tokens: output_tokens,
                llm_calls,
                cache_hits,
                cost_usd,
            },
        )
    }

    proptest! {
        /// The sums hold whatever providers claim.
        #[test]
        fn sums_of_usage_only_grow_and_a_cost_is_always_a_number(parts in prop::collection::vec(usage(), 0..20)) {
            let mut sum = SolveUsage::default();
            for part in parts {
                let before = sum;
                sum += part;
                prop_assert!(sum.input_tokens >= before.input_tokens.max(part.input_tokens));
                prop_assert!(sum.total_tokens() >= before.total_tokens().max(part.total_tokens()));
                prop_assert!(sum.cost_usd.unwrap_or(0.0) >= before.cost_usd.unwrap_or(0.0));
                prop_assert!(sum.cost_usd.is_none_or(f64::is_finite));
            }
        }
    }
}
