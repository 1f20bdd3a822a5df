//! Reporting an episode: a caller tells what happened in a task. Its texts are scrubbed, its parts are checked, and it
//! becomes a trace. Only the task and the status are required.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::artefact::{Artefact, NewArtefact, handed_in, refer, take_long_texts};
use super::document::{EpisodeStatus, EpisodeTask};
use super::tool_name;
use crate::memory::ids::TraceId;
use crate::memory::pattern::check_features;
use crate::memory::trace::{
    EpisodeMetadata, EpisodeParts, Execution, OutcomeParts, Reflection, TASK_MAX_CHARS, Trace, TraceSource,
};
use crate::memory::workspace::WorkspaceId;
use crate::memory::{FieldProblem, LABEL_MAX_CHARS, TAGS_MAX, check_count, check_length, check_range, check_text};
use crate::safety::secrets::{Removed, Scrub};

/// The largest body of an episode, as JSON, in bytes.
pub const BODY_MAX_BYTES: usize = 1 << 20;
/// The longest short text: a goal, a title, a side effect, a target, in characters.
const SHORT_MAX_CHARS: usize = 4_000;
/// The longest long text: an output, an insight, a cause, in characters.
const LONG_MAX_CHARS: usize = 200_000;

/// The most parts of an episode of each kind.
pub struct EntryBounds;

impl EntryBounds {
    pub const GOALS: usize = 100;
    pub const PLAN: usize = 200;
    pub const TRACE: usize = 1_000;
    pub const METRICS: usize = 100;
    pub const INSIGHTS: usize = 50;
    pub const FAILURES: usize = 100;
    pub const TOOLS: usize = 200;
}

/// The report of a caller about a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewEpisode {
    pub task: EpisodeTask,
    pub outcome: NewOutcome,
    #[serde(default)]
    pub execution: Execution,
    #[serde(default)]
    pub reflection: Reflection,
    #[serde(default)]
    pub metadata: EpisodeMetadata,
    /// The session that the work belongs to. None: that of the caller.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The time of the work, where that was before now.
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
    /// Files and long texts to keep beside it, 100 at most.
    #[serde(default)]
    pub artefacts: Vec<NewArtefact>,
}

/// An episode that was told, made ready to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeEpisode {
    pub trace: Trace,
    /// The files and long texts that are kept beside the trace, each once.
    pub artefacts: Vec<Artefact>,
    /// The counts of secrets that were taken out of the texts.
    pub removed: Removed,
}

/// The outcome of a task, as its caller reports it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "")]
pub struct NewOutcome {
    pub status: EpisodeStatus,
    #[serde(flatten)]
    pub parts: OutcomeParts,
}

impl NewEpisode {
    /// Makes the least that is told of a task.
    pub fn new(task: impl Into<String>, status: EpisodeStatus) -> Self {
        Self {
            task: EpisodeTask { original_input: task.into(), parts: Default::default() },
            outcome: NewOutcome { status, parts: OutcomeParts::default() },
            execution: Execution::default(),
            reflection: Reflection::default(),
            metadata: EpisodeMetadata::default(),
            session_id: None,
            timestamp: None,
            artefacts: Vec::new(),
        }
    }

    /// Checks how many parts there are, because it would take seconds to look through a million.
    ///
    /// # Errors
    ///
    /// The first list that has too many.
    pub fn check_counts(&self) -> Result<(), FieldProblem> {
        let task = &self.task.parts;
        check_count("task.parsed_goals", task.parsed_goals.len(), "goals", EntryBounds::GOALS)?;
        check_count("task.constraints", task.constraints.len(), "constraints", EntryBounds::GOALS)?;
        check_count("execution.plan", self.execution.plan.len(), "steps", EntryBounds::PLAN)?;
        check_count("execution.trace", self.execution.trace.len(), "entries", EntryBounds::TRACE)?;
        check_count("execution.adaptations", self.execution.adaptations.len(), "adaptations", EntryBounds::PLAN)?;
        check_count("outcome.side_effects", self.outcome.parts.side_effects.len(), "side effects", EntryBounds::GOALS)?;
        check_count(
            "outcome.quality_metrics",
            self.outcome.parts.quality_metrics.len(),
            "metrics",
            EntryBounds::METRICS,
        )?;
        check_count("reflection.insights", self.reflection.insights.len(), "insights", EntryBounds::INSIGHTS)?;
        let patterns = self.reflection.patterns_discovered.len();
        check_count("reflection.patterns_discovered", patterns, "ids", EntryBounds::METRICS)?;
        let failures = self.reflection.failures_analyzed.len();
        check_count("reflection.failures_analyzed", failures, "failures", EntryBounds::FAILURES)?;
        check_count("metadata.tools_used", self.metadata.tools_used.len(), "tools", EntryBounds::TOOLS)?;
        check_count(
            "metadata.strategies_applied",
            self.metadata.strategies_applied.len(),
            "ids",
            EntryBounds::METRICS,
        )?;
        check_features("metadata.features", &self.metadata.features)?;
        check_count("metadata.tags", self.metadata.tags.len(), "tags", TAGS_MAX)
    }

    /// Checks texts and numbers.
    fn check(&self, now: Timestamp) -> Result<(), FieldProblem> {
        let Self { task, outcome, execution, reflection, metadata, session_id, timestamp, artefacts: _ } = self;
        check_text("task.original_input", &task.original_input, TASK_MAX_CHARS)?;
        each("task.parsed_goals", &task.parts.parsed_goals, SHORT_MAX_CHARS)?;
        each("task.constraints", &task.parts.constraints, SHORT_MAX_CHARS)?;
        optional("task.context", task.parts.context.as_deref(), LONG_MAX_CHARS)?;
        for (at, step) in execution.plan.iter().enumerate() {
            if execution.plan[..at].iter().any(|other| other.id == step.id) {
                return Err(FieldProblem::new("execution.plan.id", "is the id of two steps"));
            }
            if step.depends_on.contains(&step.id) {
                return Err(FieldProblem::new("execution.plan.depends_on", "names its own step"));
            }
            check_text("execution.plan.id", &step.id, LABEL_MAX_CHARS)?;
            check_text("execution.plan.title", &step.title, SHORT_MAX_CHARS)?;
            check_count("execution.plan.depends_on", step.depends_on.len(), "steps", EntryBounds::PLAN)?;
            let unknown = step.depends_on.iter().find(|id| execution.plan.iter().all(|other| other.id != **id));
            if unknown.is_some() {
                return Err(FieldProblem::new("execution.plan.depends_on", "names a step that is not in the plan"));
            }
        }
        for entry in &execution.trace {
            check_text("execution.trace.action", &entry.action, LABEL_MAX_CHARS)?;
            optional("execution.trace.tool", entry.tool.as_deref(), LABEL_MAX_CHARS)?;
            optional("execution.trace.target", entry.target.as_deref(), SHORT_MAX_CHARS)?;
            entry.score.map_or(Ok(()), |score| check_range("execution.trace.score", score, 0.0..=1.0))?;
        }
        for adaptation in &execution.adaptations {
            check_text("execution.adaptations.why", &adaptation.why, SHORT_MAX_CHARS)?;
            check_text("execution.adaptations.change", &adaptation.change, SHORT_MAX_CHARS)?;
        }
        not_negative("execution.duration_s", execution.duration_s)?;
        not_negative("execution.resource_usage.cost_usd", execution.resource_usage.cost_usd)?;
        each("outcome.side_effects", &outcome.parts.side_effects, SHORT_MAX_CHARS)?;
        for (name, value) in &outcome.parts.quality_metrics {
            check_text("outcome.quality_metrics", name, LABEL_MAX_CHARS)?;
            if !value.is_finite() {
                return Err(FieldProblem::new("outcome.quality_metrics", "has a value that is no finite number"));
            }
        }
        each("reflection.insights", &reflection.insights, LONG_MAX_CHARS)?;
        for failure in &reflection.failures_analyzed {
            check_text("reflection.failures_analyzed.error", &failure.error, LONG_MAX_CHARS)?;
            check_length("reflection.failures_analyzed.signature", &failure.signature, SHORT_MAX_CHARS)?;
        }
        optional("metadata.domain", metadata.domain.as_deref(), LABEL_MAX_CHARS)?;
        optional("metadata.task_type", metadata.task_type.as_deref(), LABEL_MAX_CHARS)?;
        each("metadata.tools_used", &metadata.tools_used, SHORT_MAX_CHARS)?;
        each("metadata.tags", &metadata.tags, LABEL_MAX_CHARS)?;
        optional("session_id", session_id.as_deref(), LABEL_MAX_CHARS)?;
        if timestamp.is_some_and(|timestamp| timestamp > now) {
            return Err(FieldProblem::new("timestamp", "lies in the future"));
        }
        Ok(())
    }

    /// Makes the trace of the episode. `session` is the source of the evidence.
    ///
    /// # Errors
    ///
    /// A part is missing, too long or out of its range. The problem names it.
    pub fn into_trace(
        mut self,
        trace_id: TraceId,
        source: TraceSource,
        workspace_id: WorkspaceId,
        session: Option<&str>,
        now: Timestamp,
    ) -> Result<MadeEpisode, FieldProblem> {
        self.check_counts()?;
        drop_blank(&mut self.metadata.domain);
        drop_blank(&mut self.metadata.task_type);
        drop_blank(&mut self.session_id);
        drop_blank(&mut self.task.parts.context);
        self.check(now)?;
        let (mut artefacts, removed_there) = handed_in(std::mem::take(&mut self.artefacts))?;
        let made = self.timestamp.unwrap_or(now);
        let mut tools: Vec<String> = self.metadata.tools_used.iter().map(|tool| tool_name(tool, None)).collect();
        for entry in &mut self.execution.trace {
            let Some(tool) = &mut entry.tool else { continue };
            *tool = tool_name(tool, entry.input.as_deref());
            tools.push(tool.clone());
        }
        let mut distinct: Vec<String> = Vec::new();
        for tool in tools.into_iter().filter(|tool| !tool.is_empty()) {
            if !distinct.contains(&tool) && distinct.len() < EntryBounds::TOOLS {
                distinct.push(tool);
            }
        }
        self.metadata.tools_used = distinct;
        let parts = EpisodeParts {
            session_id: self.session_id,
            task: self.task.parts,
            execution: self.execution,
            outcome: self.outcome.parts,
            reflection: self.reflection,
            metadata: self.metadata,
            artefacts: Vec::new(),
            consolidated: None,
        };
        let mut trace = Trace {
            source,
            task: self.task.original_input,
            outcome: self.outcome.status.into(),
            episode: Some(Box::new(parts)),
            ..Trace::reported(trace_id, workspace_id, session.unwrap_or_default(), None, made)
        };
        trace.metadata.source_session = session.map(str::to_owned);
        let removed = removed_there + trace.scrub();
        if let Some(parts) = &mut trace.episode {
            for failure in &mut parts.reflection.failures_analyzed {
                failure.signature = failure.read_signature().to_string();
            }
            artefacts.extend(take_long_texts(parts));
            refer(parts, &mut artefacts)?;
        }
        let bytes = serde_json::to_vec(&trace).map_or(0, |body| body.len());
        check_count("episode", bytes, "bytes as JSON", BODY_MAX_BYTES)?;
        Ok(MadeEpisode { trace, artefacts, removed })
    }
}

fn drop_blank(text: &mut Option<String>) {
    if text.as_deref().is_some_and(|text| text.trim().is_empty()) {
        *text = None;
    }
}

fn optional(field: &'static str, text: Option<&str>, max: usize) -> Result<(), FieldProblem> {
    text.map_or(Ok(()), |text| check_length(field, text, max))
}

fn each(field: &'static str, texts: &[String], max: usize) -> Result<(), FieldProblem> {
    texts.iter().try_for_each(|text| check_text(field, text, max))
}

fn not_negative(field: &'static str, number: Option<f64>) -> Result<(), FieldProblem> {
    if number.is_none_or(|number| number.is_finite() && number >= 0.0) {
        return Ok(());
    }
    Err(FieldProblem::new(field, "must be a finite number of at least 0"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::memory::samples::{now, strategy, trace};
    use crate::memory::trace::{FailureAnalysis, PlanStep, TraceEntry};

    fn made(episode: NewEpisode) -> Result<MadeEpisode, FieldProblem> {
        episode.into_trace(trace(1), TraceSource::Reported, strategy(1).workspace_id, Some("s"), now())
    }

    fn least() -> NewEpisode {
        NewEpisode::new("Fix the pager", EpisodeStatus::Success)
    }

    #[test]
    fn a_task_and_a_status_are_enough() {
        let read: NewEpisode =
            serde_json::from_str(r#"{"task": {"original_input": "Fix the pager"}, "outcome": {"status": "SUCCESS"}}"#)
                .unwrap();
        assert_eq!(read, least());
        let MadeEpisode { trace, removed, .. } = made(read).unwrap();
        assert_eq!((trace.task.as_str(), removed.is_nothing()), ("Fix the pager", true));
        assert_eq!(trace.session(), Some("s"));
    }

    #[rstest]
    #[case("task.original_input", |e: &mut NewEpisode| e.task.original_input = " ".into())]
    #[case("task.original_input", |e: &mut NewEpisode| e.task.original_input = "x".repeat(TASK_MAX_CHARS + 1))]
    #[case("task.parsed_goals", |e: &mut NewEpisode| e.task.parts.parsed_goals = vec!["g".into(); 101])]
    #[case("execution.trace", |e: &mut NewEpisode| e.execution.trace = vec![TraceEntry::default(); 1_001])]
    #[case("execution.trace.action", |e: &mut NewEpisode| e.execution.trace = vec![TraceEntry::default()])]
    #[case("execution.plan.depends_on", |e: &mut NewEpisode| e.execution.plan = vec![PlanStep { id: "1".into(), title: "t".into(), depends_on: vec!["2".into()] }])]
    #[case("execution.plan.depends_on", |e: &mut NewEpisode| e.execution.plan = vec![PlanStep { id: "1".into(), title: "t".into(), depends_on: vec!["1".into()] }])]
    #[case("execution.plan.id", |e: &mut NewEpisode| e.execution.plan = vec![PlanStep { id: "1".into(), title: "t".into(), depends_on: Vec::new() }; 2])]
    #[case("execution.trace.score", |e: &mut NewEpisode| e.execution.trace = vec![TraceEntry { action: "draft".into(), score: Some(7.0), ..TraceEntry::default() }])]
    #[case("execution.trace.score", |e: &mut NewEpisode| e.execution.trace = vec![TraceEntry { action: "draft".into(), score: Some(f64::NAN), ..TraceEntry::default() }])]
    #[case("artefacts.name", |e: &mut NewEpisode| e.artefacts = ["a", "b"].map(|text| NewArtefact { name: "build.log".into(), text: text.into(), media_type: None, binary: None }).into())]
    #[case("execution.duration_s", |e: &mut NewEpisode| e.execution.duration_s = Some(-1.0))]
    #[case("execution.resource_usage.cost_usd", |e: &mut NewEpisode| e.execution.resource_usage.cost_usd = Some(f64::NAN))]
    #[case("outcome.quality_metrics", |e: &mut NewEpisode| { e.outcome.parts.quality_metrics.insert("x".into(), f64::INFINITY); })]
    #[case("reflection.failures_analyzed.error", |e: &mut NewEpisode| e.reflection.failures_analyzed = vec![FailureAnalysis::default()])]
    #[case("metadata.tags", |e: &mut NewEpisode| e.metadata.tags = vec!["t".into(); 21])]
    #[case("metadata.features", |e: &mut NewEpisode| e.metadata.features = [("a".repeat(121), "b".into())].into())]
    #[case("metadata.domain", |e: &mut NewEpisode| e.metadata.domain = Some("d".repeat(121)))]
    #[case("timestamp", |e: &mut NewEpisode| e.timestamp = Some(now() + jiff::SignedDuration::from_secs(1)))]
    #[case("episode", |e: &mut NewEpisode| e.execution.plan = (0..200).map(|n| PlanStep { id: n.to_string(), title: "é".repeat(3_900), depends_on: Vec::new() }).collect())]
    #[case("artefacts", |e: &mut NewEpisode| e.execution.trace = (0..101).map(|n| TraceEntry { action: "call".into(), output: Some(format!("{n}{}", "x".repeat(17_000))), ..TraceEntry::default() }).collect())]
    fn what_is_out_of_bounds_is_named(#[case] field: &str, #[case] change: fn(&mut NewEpisode)) {
        let mut episode = least();
        change(&mut episode);
        assert_eq!(made(episode).unwrap_err().field, field);
    }

    #[test]
    fn secrets_are_taken_out_of_every_text() {
        let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz12";
        let mut episode = least();
        episode.task.parts.context = Some(format!("token {secret}"));
        episode.reflection.insights = vec![format!("use {secret}")];
        episode.execution.trace =
            vec![TraceEntry { action: "call".into(), output: Some(secret.into()), ..TraceEntry::default() }];
        episode.outcome.parts.quality_metrics.insert(secret.into(), 1.0);
        let MadeEpisode { trace, removed, .. } = made(episode).unwrap();
        assert_eq!(removed.redactions, 4);
        assert!(!serde_json::to_string(&trace).unwrap().contains(secret));
    }

    #[test]
    fn tools_are_named_alike_and_failures_get_their_signature() {
        let mut episode = least();
        episode.metadata.tools_used = vec!["mcp__github__create_issue".into(), "Edit".into()];
        let call = |tool: &str, input: &str| TraceEntry {
            action: "call".into(),
            tool: Some(tool.into()),
            input: Some(input.into()),
            ..TraceEntry::default()
        };
        episode.execution.trace = vec![call("Bash", "cargo test -p x"), call("Edit", "src/lib.rs")];
        episode.reflection.failures_analyzed =
            vec![FailureAnalysis { error: "KeyError: 'x'".into(), ..FailureAnalysis::default() }];
        let parts = made(episode).unwrap().trace.episode.unwrap();
        assert_eq!(parts.metadata.tools_used, ["github.create_issue", "Edit", "cargo test"]);
        assert_eq!(parts.reflection.failures_analyzed[0].signature, "keyerror|");
    }
}
