//! The episode document: a trace and its state as one document for people and programs.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::complexity;
use super::lifecycle::{EpisodePhase, EpisodeState, LifecycleRules, Visibility};
use crate::memory::ids::TraceId;
use crate::memory::trace::{
    ArtefactReference, ConsolidatedParts, EpisodeMetadata, Execution, Outcome, OutcomeParts, Reflection, ResourceUsage,
    Step, TaskParts, Trace, TraceEntry, TraceSource, VerdictSource,
};
use crate::memory::workspace::WorkspaceId;

/// The outcome of a task, as the episode document writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(description = "")]
pub enum EpisodeStatus {
    Success,
    Partial,
    Failure,
}

impl EpisodeStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::Partial => "PARTIAL",
            Self::Failure => "FAILURE",
        }
    }
}

impl From<Outcome> for EpisodeStatus {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::Partial => Self::Partial,
            Outcome::Failure => Self::Failure,
        }
    }
}

impl From<EpisodeStatus> for Outcome {
    fn from(status: EpisodeStatus) -> Self {
        match status {
            EpisodeStatus::Success => Self::Success,
            EpisodeStatus::Partial => Self::Partial,
            EpisodeStatus::Failure => Self::Failure,
        }
    }
}

/// The source of the status of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EpisodeVerdictSource {
    /// Tests or exit codes.
    Evidence,
    /// A judge that read the solution.
    Judge,
    /// The one who reported the episode.
    Reported,
    /// Nobody.
    None,
}

/// The record of one task: what was asked, what was done and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Episode {
    /// The id of its trace.
    pub episode_id: TraceId,
    pub timestamp: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub workspace_id: WorkspaceId,
    pub source: TraceSource,
    pub task: EpisodeTask,
    pub execution: Execution,
    pub outcome: EpisodeOutcome,
    pub reflection: Reflection,
    pub metadata: EpisodeMetadata,
    pub artefacts: Vec<ArtefactReference>,
    /// The common parts of the episodes that this one stands for, if it stands for several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidated: Option<ConsolidatedParts>,
    pub lifecycle: LifecycleView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct EpisodeTask {
    /// The task as it was given.
    pub original_input: String,
    #[serde(flatten)]
    pub parts: TaskParts,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct EpisodeOutcome {
    pub status: EpisodeStatus,
    pub verdict_source: EpisodeVerdictSource,
    #[serde(flatten)]
    pub parts: OutcomeParts,
}

/// The state of an episode, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct LifecycleView {
    pub phase: EpisodePhase,
    pub access_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed: Option<Timestamp>,
    /// The episodes that name this one.
    pub referenced_by: Vec<TraceId>,
    pub archival_status: Visibility,
}

impl Episode {
    /// Makes the document of a trace and its state.
    pub fn new(trace: &Trace, state: &EpisodeState, rules: LifecycleRules, now: Timestamp) -> Self {
        let told = trace.episode.as_deref().cloned().unwrap_or_default();
        let mut task = told.task;
        let mut metadata = told.metadata;
        let mut reflection = told.reflection;
        let mut execution = told.execution;
        let mut outcome = told.outcome;
        let rated = || complexity(&trace.task, task.parsed_goals.len(), execution.plan.len());
        task.complexity = Some(task.complexity.unwrap_or_else(rated));
        metadata.task_type = Some(trace.task_type());
        add_missing(&mut metadata.strategies_applied, &trace.memories_used);
        add_missing(&mut reflection.patterns_discovered, &trace.memory_items);
        reflection.failures_analyzed = trace.failures();
        for failure in &mut reflection.failures_analyzed {
            failure.signature = failure.read_signature().to_string();
        }
        if trace.source == TraceSource::Solve {
            execution.trace = trace.trajectory.iter().map(entry_of).collect();
            execution.duration_s = duration(trace);
            execution.resource_usage = ResourceUsage {
                tokens: Some(trace.metadata.total_tokens),
                llm_calls: Some(trace.trajectory.iter().filter(|step| step.asked_a_model()).count() as u64),
                ..ResourceUsage::default()
            };
            outcome = OutcomeParts {
                primary_output: trace.primary_output().map(str::to_owned),
                side_effects: Vec::new(),
                quality_metrics: trace
                    .final_score
                    .map(|score| ("final_score".to_owned(), score))
                    .into_iter()
                    .collect::<BTreeMap<_, _>>(),
            };
        }
        outcome.side_effects.extend(trace.commit.iter().map(|commit| format!("commit {commit}")));
        Self {
            episode_id: trace.trace_id,
            timestamp: trace.created_at,
            session_id: trace.session().map(str::to_owned),
            workspace_id: trace.metadata.workspace_id.clone(),
            source: trace.source,
            task: EpisodeTask { original_input: trace.task.clone(), parts: task },
            execution,
            outcome: EpisodeOutcome {
                status: trace.outcome.into(),
                verdict_source: EpisodeVerdictSource::of(trace),
                parts: outcome,
            },
            reflection,
            metadata,
            artefacts: told.artefacts,
            consolidated: told.consolidated,
            lifecycle: LifecycleView {
                phase: state.phase(rules, now),
                access_count: state.access_count,
                last_accessed: state.last_accessed,
                referenced_by: state.referenced_by.clone(),
                archival_status: state.visibility(rules, now),
            },
        }
    }
}

impl Step {
    fn asked_a_model(&self) -> bool {
        self.action != crate::memory::trace::Action::Recall
    }
}

impl EpisodeVerdictSource {
    pub fn of(trace: &Trace) -> Self {
        let is_undecided = trace.outcome == Outcome::Partial && !trace.evidence_reported;
        match trace.verdict_source {
            VerdictSource::Evidence => Self::Evidence,
            VerdictSource::Judge => Self::Judge,
            VerdictSource::None if trace.source == TraceSource::Solve => Self::None,
            // Nobody told the outcome of a transcript in which nothing was checked.
            VerdictSource::None if trace.source == TraceSource::Transcript && is_undecided => Self::None,
            VerdictSource::None => Self::Reported,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Judge => "judge",
            Self::Reported => "reported",
            Self::None => "none",
        }
    }
}

/// Adds the ids that are not named yet.
fn add_missing<T: PartialEq + Copy>(named: &mut Vec<T>, more: &[T]) {
    for id in more {
        if !named.contains(id) {
            named.push(*id);
        }
    }
}

fn entry_of(step: &Step) -> TraceEntry {
    let said = [step.content.as_deref(), step.feedback.as_deref()];
    let said: Vec<&str> = said.into_iter().flatten().filter(|text| !text.is_empty()).collect();
    TraceEntry {
        action: step.action.as_str().to_owned(),
        at: Some(step.timestamp),
        output: (!said.is_empty()).then(|| said.join("\n")),
        score: step.score,
        ..TraceEntry::default()
    }
}

/// Returns the time from the beginning of a solve to its last step, in seconds.
fn duration(trace: &Trace) -> Option<f64> {
    let last = trace.trajectory.iter().map(|step| step.timestamp).max()?;
    Some(last.duration_since(trace.created_at).as_secs_f64().max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{id, now, strategy, trace};
    use crate::memory::trace::{Action, EpisodeParts, FailureAnalysis};

    fn solve() -> Trace {
        let begun = Trace::reported(trace(1), strategy(1).workspace_id, "s", None, now());
        let step = |action, attempt, content: Option<&str>, score| Step {
            iteration: 0,
            action,
            attempt: Some(attempt),
            content: content.map(str::to_owned),
            score,
            feedback: None,
            timestamp: now() + jiff::SignedDuration::from_secs(5),
        };
        Trace {
            source: TraceSource::Solve,
            task: "Fix the pager".into(),
            trajectory: vec![
                step(Action::Recall, 0, None, None),
                step(Action::Think, 0, Some("first"), None),
                step(Action::Think, 1, Some("second"), None),
                step(Action::Evaluate, 0, None, Some(0.9)),
                step(Action::Evaluate, 1, None, Some(0.4)),
            ],
            outcome: Outcome::Success,
            final_score: Some(0.9),
            verdict_source: VerdictSource::Judge,
            memories_used: vec![id(3)],
            memory_items: vec![id(4)],
            ..begun
        }
    }

    #[test]
    fn a_solve_fills_in_what_it_knows() {
        let solve = solve();
        let episode = Episode::new(&solve, &EpisodeState::of(&solve), LifecycleRules::default(), now());
        assert_eq!(episode.episode_id, solve.trace_id);
        assert_eq!(episode.outcome.parts.primary_output.as_deref(), Some("first"), "the draft with the best score");
        assert_eq!(
            (episode.outcome.status, episode.outcome.verdict_source),
            (EpisodeStatus::Success, EpisodeVerdictSource::Judge)
        );
        assert_eq!((episode.execution.trace.len(), episode.execution.duration_s), (5, Some(5.0)));
        assert_eq!(episode.execution.resource_usage.llm_calls, Some(4));
        assert_eq!(episode.metadata.task_type.as_deref(), Some("debugging"));
        assert_eq!(
            (episode.metadata.strategies_applied, episode.reflection.patterns_discovered),
            (vec![id(3)], vec![id(4)])
        );
        assert_eq!(episode.outcome.parts.quality_metrics.get("final_score"), Some(&0.9));
    }

    #[test]
    fn nobody_told_the_outcome_of_a_transcript_without_checks() {
        let (source, outcome) = (TraceSource::Transcript, Outcome::Partial);
        let told = Trace { source, outcome, verdict_source: VerdictSource::None, ..solve() };
        assert_eq!(EpisodeVerdictSource::of(&told), EpisodeVerdictSource::None);
        let reported = Trace { outcome: Outcome::Success, ..told.clone() };
        assert_eq!(EpisodeVerdictSource::of(&reported), EpisodeVerdictSource::Reported);
        let reported = Trace { evidence_reported: true, ..told };
        assert_eq!(EpisodeVerdictSource::of(&reported), EpisodeVerdictSource::Reported);
    }

    #[test]
    fn the_names_of_the_document_are_those_of_the_contract() {
        let solve = solve();
        let parts = EpisodeParts {
            reflection: Reflection {
                failures_analyzed: vec![FailureAnalysis {
                    error: "KeyError: 'x'".into(),
                    ..FailureAnalysis::default()
                }],
                ..Reflection::default()
            },
            ..EpisodeParts::default()
        };
        let told = Trace { source: TraceSource::Transcript, episode: Some(Box::new(parts)), ..solve };
        let episode = Episode::new(&told, &EpisodeState::of(&told), LifecycleRules::default(), now());
        let document = serde_json::to_value(&episode).unwrap();
        assert_eq!(document["source"], "transcript");
        assert_eq!(document["outcome"]["status"], "SUCCESS");
        assert_eq!(document["task"]["original_input"], "Fix the pager");
        assert_eq!(document["task"]["complexity"], "low");
        assert_eq!(document["reflection"]["failures_analyzed"][0]["signature"], "keyerror|");
        assert_eq!(document["lifecycle"]["archival_status"], "active");
        for (part, fields) in [
            ("execution", &["plan", "trace", "adaptations", "resource_usage"][..]),
            ("outcome", &["verdict_source", "side_effects", "quality_metrics"]),
            ("reflection", &["insights", "patterns_discovered"]),
            ("metadata", &["task_type", "tools_used", "strategies_applied", "tags"]),
            ("lifecycle", &["phase", "access_count", "referenced_by"]),
        ] {
            for field in fields {
                assert!(document[part].get(field).is_some(), "{part}.{field}: {document}");
            }
        }
        let read: Episode = serde_json::from_value(document).unwrap();
        assert_eq!(read, episode);
    }

    #[test]
    fn a_trace_without_parts_is_serialised_as_before() {
        let text = serde_json::to_string(&solve()).unwrap();
        assert!(!text.contains("episode"), "{text}");
    }
}
