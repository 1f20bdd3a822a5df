//! Traces: what was tried for a task and how it went. The serialised form is the trace document that users keep.

mod episode_parts;
mod reported;

pub use episode_parts::*;
pub use reported::{Account, id_of_reported};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::observation::Observed;
use crate::memory::workspace::WorkspaceId;

/// The longest task that is solved, reported or imported, in characters.
pub const TASK_MAX_CHARS: usize = 200_000;

/// The outcome of a task. `Partial` means that a solution exists but could not be judged, or that the run was cut
/// short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Success,
    Failure,
    Partial,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Partial => "partial",
        }
    }
}

/// The one whose work a trace tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceSource {
    /// The solver's work.
    #[default]
    Solve,
    /// A client's own work, as its reports tell it. It has no steps.
    Reported,
    /// The work that a transcript tells of, one request of a user.
    Transcript,
    /// The work that a distilled session tells of, one request of a user.
    Distilled,
    /// Several episodes of the same work, as one.
    Consolidated,
}

impl TraceSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Solve => "solve",
            Self::Reported => "reported",
            Self::Transcript => "transcript",
            Self::Distilled => "distilled",
            Self::Consolidated => "consolidated",
        }
    }
}

/// The source that decided the outcome. Evidence from the caller beats the judge's opinion. `None` in a reported trace
/// means that the outcome is what the client claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerdictSource {
    Judge,
    Evidence,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Recall,
    Think,
    Evaluate,
    Refine,
    Judge,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recall => "recall",
            Self::Think => "think",
            Self::Evaluate => "evaluate",
            Self::Refine => "refine",
            Self::Judge => "judge",
        }
    }
}

/// One thing that the solver did. `content` is the solution of a think or a refine, the ids that a recall found, or the
/// reasoning of a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub iteration: u32,
    pub action: Action,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    pub timestamp: Timestamp,
}

/// The mode in which the attempts at one task are run (MaTTS).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(description = "")] // said to models at every argument of this type
pub enum MattsMode {
    /// All k drafts are made at once, which takes about the time of one.
    #[default]
    Parallel,
    /// One draft is made after another, which is gentler on rate limits.
    Sequential,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceMetadata {
    pub model: String,
    pub reasoning_effort: String,
    pub matts_enabled: bool,
    pub matts_k: u32,
    pub matts_mode: MattsMode,
    pub total_iterations: u32,
    pub total_tokens: u64,
    pub workspace_id: WorkspaceId,
    /// The session of a client that asked for the solve, or that reported; over the network, the owner of its token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_session: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    pub trace_id: TraceId,
    /// The number of changes of the verdict, from 0 as the run left it.
    #[serde(default, skip_serializing_if = "is_first")]
    pub revision: u64,
    #[serde(default, skip_serializing_if = "is_solve")]
    pub source: TraceSource,
    pub task: String,
    pub trajectory: Vec<Step>,
    pub outcome: Outcome,
    /// The evaluation of the chosen solution, in 0..1. None when nothing could be evaluated.
    pub final_score: Option<f64>,
    pub verdict_source: VerdictSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// The number of times that reports changed the outcome of a reported trace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub turns: u32,
    /// True where evidence was reported later. What the trace's own check found is not reported.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub evidence_reported: bool,
    /// The limit of the solver that ended it without a verdict: an error code and what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
    /// The memories that were learned from it.
    pub memory_items: Vec<MemoryId>,
    /// The memories that were put into its prompts.
    pub memories_used: Vec<MemoryId>,
    pub metadata: TraceMetadata,
    /// The commit that came of it, as a client named it: 7 to 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The trace that the same session left before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_trace_id: Option<TraceId>,
    pub created_at: Timestamp,
    /// The parts that only the episode document shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Box<EpisodeParts>>,
}

impl Trace {
    /// Makes a trace that tells nothing yet: no task, no steps, no memories and no verdict. Whoever makes it sets what
    /// is known: `Trace { task, ..Trace::new(…) }`.
    pub fn new(trace_id: TraceId, source: TraceSource, metadata: TraceMetadata, created_at: Timestamp) -> Self {
        Self {
            trace_id,
            revision: 0,
            source,
            task: String::new(),
            trajectory: Vec::new(),
            outcome: Outcome::Partial,
            final_score: None,
            verdict_source: VerdictSource::None,
            evidence: None,
            turns: 0,
            evidence_reported: false,
            ended_by: None,
            memory_items: Vec::new(),
            memories_used: Vec::new(),
            metadata,
            commit: None,
            parent_trace_id: None,
            created_at,
            episode: None,
        }
    }

    /// Returns the trace after something was observed of its result, which wins over the judge and over earlier
    /// observations. None where the trace says exactly that already.
    pub fn observed(&self, observed: &Observed) -> Option<Self> {
        let outcome = if observed.passed { Outcome::Success } else { Outcome::Failure };
        let evidence = Some(observed.words());
        let known = self.verdict_source == VerdictSource::Evidence && self.outcome == outcome;
        if known && self.evidence == evidence {
            return None;
        }
        let revision = self.revision.saturating_add(1);
        let verdict_source = VerdictSource::Evidence;
        Some(Self { revision, outcome, verdict_source, evidence, evidence_reported: true, ..self.clone() })
    }

    /// Returns the next revision of the trace, where the lessons that were `named` in it turned out to be the memories
    /// that were `learned`. None where they are the same.
    pub fn corrected(&self, named: &[MemoryId], learned: &[MemoryId]) -> Option<Self> {
        if named == learned {
            return None;
        }
        let earlier = self.memory_items.iter().filter(|id| !named.contains(id));
        let memory_items = earlier.chain(learned).copied().collect();
        Some(Self { revision: self.revision.saturating_add(1), memory_items, ..self.clone() })
    }

    /// Returns the first 200 characters of the task, as lists show it.
    pub fn short_task(&self) -> String {
        const CHARS: usize = 200;
        self.task.chars().take(CHARS).collect()
    }

    /// Tells whether evidence was reported for the trace and its outcome is a failure.
    pub fn is_refuted(&self) -> bool {
        self.evidence_reported && self.outcome == Outcome::Failure
    }

    /// Tells whether this is the next revision of what is stored.
    pub fn follows(&self, stored: &Self) -> bool {
        self.trace_id == stored.trace_id && stored.revision.checked_add(1) == Some(self.revision)
    }
}

fn is_solve(source: &TraceSource) -> bool {
    *source == TraceSource::Solve
}

fn is_zero(turns: &u32) -> bool {
    *turns == 0
}

fn is_first(revision: &u64) -> bool {
    *revision == 0
}

/// A trace in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceSummary {
    pub trace_id: TraceId,
    #[serde(default, skip_serializing_if = "is_solve")]
    pub source: TraceSource,
    /// The first 200 characters of the task.
    pub task: String,
    pub outcome: Outcome,
    pub final_score: Option<f64>,
    pub verdict_source: VerdictSource,
    pub total_iterations: u32,
    pub total_tokens: u64,
    /// The number of memories that were put into its prompts.
    pub memories_used: usize,
    pub memories_learned: usize,
    pub created_at: Timestamp,
}

impl TraceSummary {
    pub fn of(trace: &Trace) -> Self {
        Self {
            trace_id: trace.trace_id,
            source: trace.source,
            task: trace.short_task(),
            outcome: trace.outcome,
            final_score: trace.final_score,
            verdict_source: trace.verdict_source,
            total_iterations: trace.metadata.total_iterations,
            total_tokens: trace.metadata.total_tokens,
            memories_used: trace.memories_used.len(),
            memories_learned: trace.memory_items.len(),
            created_at: trace.created_at,
        }
    }
}

/// One page of traces, newest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Traces {
    pub traces: Vec<TraceSummary>,
    /// The `after` of the next page. It is absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<TraceId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{id, now, strategy, trace};

    #[test]
    fn lessons_that_turn_out_to_be_other_memories_are_named_by_those() {
        let workspace = strategy(1).workspace_id;
        let told = Trace {
            memory_items: vec![id(1), id(2), id(3)],
            ..Trace::reported(trace(1), workspace, "session", None, now())
        };
        assert_eq!(told.corrected(&[id(2), id(3)], &[id(2), id(3)]), None);
        let corrected = told.corrected(&[id(2), id(3)], &[id(2), id(9)]).unwrap();
        assert_eq!(corrected.memory_items, [id(1), id(2), id(9)], "what was learned earlier stays");
        assert!(corrected.follows(&told));
    }
}
