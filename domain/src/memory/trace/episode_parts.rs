//! The parts of an episode that the trace document does not have: goals, plan, entries, reflection, labels. A trace
//! that was reported as an episode, or made of a transcript, carries them; a solve carries none. The episode document
//! ([`crate::episode::Episode`]) shows them beside what the trace says itself.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::kinds::Complexity;
use crate::memory::pattern::FeatureValue;
use crate::safety::secrets::{Removed, Scrub, all};

/// Everything that only the episode document says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeParts {
    /// The session that the work belongs to, where it is another one than the source of the evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default)]
    pub task: TaskParts,
    #[serde(default)]
    pub execution: Execution,
    #[serde(default)]
    pub outcome: OutcomeParts,
    #[serde(default)]
    pub reflection: Reflection,
    #[serde(default)]
    pub metadata: EpisodeMetadata,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artefacts: Vec<ArtefactReference>,
    /// The common parts of the episodes that this one stands for, if it stands for several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidated: Option<ConsolidatedParts>,
}

/// The common parts of several episodes that were merged into one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ConsolidatedParts {
    pub num_instances: u64,
    /// The tools that all of them called.
    pub common_structure: Vec<String>,
    /// The instances, each with what it did beside that.
    pub variations: Vec<Variation>,
    /// Seconds, on average over those that know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_duration_s: Option<f64>,
    /// The memories and patterns that all of them used.
    #[schemars(inner(length(max = 36)))]
    pub common_patterns: Vec<MemoryId>,
    /// The share of successes among all episodes of the domain and the type, in 0..1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<f64>,
}

/// One of several episodes that became one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Variation {
    pub episode_id: TraceId,
    /// The session that it belonged to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The tools that it called and not all others did.
    pub further_tools: Vec<String>,
}

/// The facts about the task beside its words.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TaskParts {
    #[serde(default)]
    pub parsed_goals: Vec<String>,
    #[serde(default)]
    pub constraints: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Complexity>,
}

/// The plan and the actions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Execution {
    #[serde(default)]
    pub plan: Vec<PlanStep>,
    #[serde(default)]
    pub trace: Vec<TraceEntry>,
    #[serde(default)]
    pub adaptations: Vec<Adaptation>,
    /// Seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    #[serde(default)]
    pub resource_usage: ResourceUsage,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    pub id: String,
    pub title: String,
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// One thing that was done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TraceEntry {
    /// Such as call, think, evaluate.
    pub action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The file or thing it was done to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeded: Option<bool>,
    /// The evaluation of a draft, in 0..1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// A change of the plan on the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Adaptation {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    pub why: String,
    pub change: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceUsage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u64>,
}

/// The task's outcome beside its status.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeParts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_output: Option<String>,
    #[serde(default)]
    pub side_effects: Vec<String>,
    #[serde(default)]
    pub quality_metrics: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reflection {
    #[serde(default)]
    pub insights: Vec<String>,
    #[serde(default)]
    #[schemars(inner(length(max = 36)))]
    pub patterns_discovered: Vec<MemoryId>,
    #[serde(default)]
    pub failures_analyzed: Vec<FailureAnalysis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance_analysis: Option<String>,
}

/// One failure on the way, and what ended it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FailureAnalysis {
    /// The text of the error.
    pub error: String,
    /// The signature of the error. It is made of the error where it is left out.
    #[serde(default)]
    pub signature: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
    /// The episode in which it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<TraceId>,
}

/// The labels by which an episode is found.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeMetadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Left out: told from the task by rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    #[serde(default)]
    pub tools_used: Vec<String>,
    #[serde(default)]
    pub strategies_applied: Vec<MemoryId>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Further features of the task by name, such as language and framework. Conditions of patterns may ask for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, FeatureValue>,
}

/// A file or a long text that is kept beside the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtefactReference {
    pub name: String,
    pub sha256: String,
    pub bytes: u64,
    pub media_type: String,
}

impl Scrub for PlanStep {
    fn scrub(&mut self) -> Removed {
        all([&mut self.id, &mut self.title, &mut self.depends_on])
    }
}

impl Scrub for TraceEntry {
    fn scrub(&mut self) -> Removed {
        all([&mut self.action, &mut self.tool, &mut self.target, &mut self.input, &mut self.output])
    }
}

impl Scrub for Adaptation {
    fn scrub(&mut self) -> Removed {
        all([&mut self.why, &mut self.change])
    }
}

impl Scrub for FailureAnalysis {
    fn scrub(&mut self) -> Removed {
        all([&mut self.error, &mut self.signature, &mut self.cause, &mut self.resolution])
    }
}

impl Scrub for ArtefactReference {
    fn scrub(&mut self) -> Removed {
        all([&mut self.name, &mut self.media_type])
    }
}

impl Scrub for EpisodeParts {
    fn scrub(&mut self) -> Removed {
        // names of metrics are texts of the caller, too
        let metrics = std::mem::take(&mut self.outcome.quality_metrics);
        let (mut names, values): (Vec<String>, Vec<f64>) = metrics.into_iter().unzip();
        let removed = names.scrub();
        self.outcome.quality_metrics = names.into_iter().zip(values).collect();
        let features = std::mem::take(&mut self.metadata.features);
        let (mut names, mut values): (Vec<String>, Vec<FeatureValue>) = features.into_iter().unzip();
        let removed = removed + names.scrub() + values.scrub();
        self.metadata.features = names.into_iter().zip(values).collect();
        let (task, execution, metadata) = (&mut self.task, &mut self.execution, &mut self.metadata);
        removed
            + all([
                &mut self.session_id,
                &mut task.parsed_goals,
                &mut task.constraints,
                &mut task.context,
                &mut execution.plan,
                &mut execution.trace,
                &mut execution.adaptations,
                &mut self.outcome.primary_output,
                &mut self.outcome.side_effects,
                &mut self.reflection.insights,
                &mut self.reflection.failures_analyzed,
                &mut self.reflection.performance_analysis,
                &mut metadata.domain,
                &mut metadata.task_type,
                &mut metadata.tools_used,
                &mut metadata.tags,
                &mut self.artefacts,
            ])
    }
}
