//! The end of a task, and the episode that is kept of it: the task and its plan, what is held as the entries of its
//! trace, how far it came, and what it used. An entry keeps its reference as the action of its trace entry, so that a
//! reference leads to the same text before and after the end.
//!
//! An episode has a bound, and so the longest texts keep their heads and tails: all of them are cut to one length, half
//! of the former until the episode fits. What was retrieved is stored elsewhere, and only named.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::entry::{Entry, EntryKind, Reference, WorkingValueKind};
use super::task::{ExecutionState, PlannedSubtask};
use super::{VALUE_MAX_BYTES, WorkingMemory};
use crate::episode::{BODY_MAX_BYTES, EntryBounds, EpisodeStatus, NewEpisode};
use crate::memory::LABEL_MAX_CHARS;
use crate::memory::trace::{Execution, FailureAnalysis, PlanStep, ResourceUsage, TaskParts, TraceEntry};
use crate::safety::secrets::{Removed, Scrub, all};
use crate::text;

/// A task ends with at most this many insights.
pub const MAX_INSIGHTS: usize = 20;
/// The room for the texts of an episode, in bytes. The other parts of a trace document take less than the rest of its
/// bound.
const ROOM: usize = BODY_MAX_BYTES - (64 << 10);
/// A goal, a title or a name is cut to this many bytes.
const SHORT_BYTES: usize = 4_000;
/// The task's own texts stay whole until entries are cut to this many bytes.
const SHORTEST_ENTRY_BYTES: usize = 256;
/// The action of the last trace entry, which says how far the task came.
const CLOSE: &str = "close";
/// The name of a task of which nobody said what it is.
const UNNAMED: &str = "A task without a description";

/// The end of a task, as the agent tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskEnd {
    pub status: EpisodeStatus,
    /// The result of the task as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub insights: Vec<String>,
    /// The session that ended it. None where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl TaskEnd {
    /// The end of a task of which nobody said how it ended.
    pub fn unknown() -> Self {
        Self { status: EpisodeStatus::Partial, output: None, insights: Vec::new(), session: None }
    }
}

impl Scrub for TaskEnd {
    fn scrub(&mut self) -> Removed {
        all([&mut self.output, &mut self.insights])
    }
}

/// The state of a task that ends: how far it came, and what its episode does not have whole. It is the output of the
/// last trace entry, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
struct ClosingState {
    state: ExecutionState,
    left_out: usize,
    shortened: usize,
}

impl WorkingMemory {
    /// Makes the episode of a task that ended. It fits the bounds of an episode, whatever is held.
    pub fn episode(&self, end: &TaskEnd, now: Timestamp) -> NewEpisode {
        let mut most = VALUE_MAX_BYTES;
        loop {
            let episode = self.episode_with(end, now, most);
            let bytes = serde_json::to_vec(&episode).map_or(0, |body| body.len());
            if bytes <= ROOM || most == 0 {
                return episode;
            }
            most /= 2;
        }
    }

    /// Makes the episode with texts of at most `most` bytes.
    fn episode_with(&self, end: &TaskEnd, now: Timestamp, most: usize) -> NewEpisode {
        let (task, state) = (self.task(), self.execution());
        let own = if most < SHORTEST_ENTRY_BYTES { most } else { VALUE_MAX_BYTES };
        let short = |text: &String| head_and_tail(text, own.min(SHORT_BYTES)).into_owned();
        let list = |texts: &mut dyn Iterator<Item = &String>, max: usize| -> Vec<String> {
            texts.filter(|text| !text.trim().is_empty()).take(max).map(short).collect()
        };
        let goals = list(&mut task.goals.iter(), EntryBounds::GOALS);
        let told = [task.description.clone(), goals.join("\n")].into_iter().find(|text| !text.trim().is_empty());
        let told = told.unwrap_or_else(|| UNNAMED.to_owned());
        let done_when = list(&mut task.success_criteria.iter(), EntryBounds::GOALS);
        let failed = state.failed.iter().filter(|failed| !failed.error.trim().is_empty()).take(EntryBounds::FAILURES);
        let failure =
            |error: &str| FailureAnalysis { error: head_and_tail(error, own).into_owned(), ..Default::default() };

        let mut episode = NewEpisode::new(head_and_tail(&told, own), end.status);
        episode.task.parts = TaskParts {
            parsed_goals: goals,
            constraints: list(&mut task.constraints.iter().map(|of| &of.text), EntryBounds::GOALS),
            context: (!done_when.is_empty()).then(|| format!("Done when:\n{}", done_when.join("\n"))),
            complexity: None,
        };
        episode.execution = Execution {
            plan: self.planned(&short),
            trace: self.trace(most, own),
            adaptations: Vec::new(),
            duration_s: Some(self.touched_at.duration_since(self.begun_at).as_secs_f64().max(0.0)),
            resource_usage: self.usage(),
        };
        episode.outcome.parts.primary_output = end.output.as_deref().map(|text| head_and_tail(text, own).into_owned());
        let insights = end.insights.iter().filter(|text| !text.trim().is_empty());
        episode.reflection.insights = insights.map(|text| head_and_tail(text, own).into_owned()).collect();
        episode.reflection.failures_analyzed = failed.map(|failed| failure(&failed.error)).collect();
        episode.timestamp = Some(self.touched_at.min(now));
        episode
    }

    /// Returns the steps of the plan. Of two whose shortened ids are equal the first is kept, and a step needs no step of
    /// its own id.
    fn planned(&self, short: &dyn Fn(&String) -> String) -> Vec<PlanStep> {
        let plan = &self.task().plan;
        let id = |id: &String| id.chars().take(LABEL_MAX_CHARS).collect::<String>();
        let is_planned = |needed: &&String| plan.iter().any(|step| step.id == **needed);
        let step = |step: &PlannedSubtask| {
            let own = id(&step.id);
            let needed = step.depends_on.iter().filter(is_planned).map(id);
            PlanStep {
                title: if step.title.trim().is_empty() { own.clone() } else { short(&step.title) },
                depends_on: needed.filter(|needed| *needed != own).collect(),
                id: own,
            }
        };
        let mut ids = HashSet::new();
        plan.iter().take(EntryBounds::PLAN).map(step).filter(|step| ids.insert(step.id.clone())).collect()
    }

    /// Makes the trace entries: of results first, then of values, states and what was retrieved, the newest first; in
    /// the order in which they came. The last one says how far the task came.
    fn trace(&self, most: usize, own: usize) -> Vec<TraceEntry> {
        let mut kept: Vec<&Entry> = self.entries().iter().collect();
        kept.sort_by_key(|entry| (entry.kind.rank(), Reverse(entry.id)));
        let left_out = kept.len().saturating_sub(EntryBounds::TRACE - 1);
        kept.truncate(EntryBounds::TRACE - 1);
        kept.sort_by_key(|entry| entry.id);
        let shortened = kept.iter().filter(|entry| entry.own_text().is_some_and(|text| text.len() > most)).count();
        let closing = ClosingState { state: self.execution().clone(), left_out, shortened };
        let output = serde_json::to_string(&closing).unwrap_or_default();
        let close = TraceEntry {
            action: CLOSE.to_owned(),
            at: Some(self.touched_at),
            output: (own == VALUE_MAX_BYTES || output.len() <= own).then_some(output),
            ..TraceEntry::default()
        };
        let state = self.execution();
        kept.into_iter().map(|entry| entry.traced(state, most)).chain([close]).collect()
    }

    /// Reads what the task used from the values that say so.
    fn usage(&self) -> ResourceUsage {
        let mut usage = ResourceUsage::default();
        for entry in self.entries() {
            let EntryKind::Value { key, kind: WorkingValueKind::Metadata, .. } = &entry.kind else { continue };
            match key.as_str() {
                "tokens" => usage.tokens = entry.text.parse().ok(),
                "llm_calls" => usage.llm_calls = entry.text.parse().ok(),
                "tool_calls" => usage.tool_calls = entry.text.parse().ok(),
                "cost_usd" => {
                    usage.cost_usd = entry.text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
                }
                _ => {}
            }
        }
        usage
    }
}

impl EntryKind {
    /// Says which entries are kept where there are too many: those with the least rank.
    fn rank(&self) -> u8 {
        match self {
            Self::Result { .. } => 0,
            Self::Value { .. } => 1,
            Self::State { .. } => 2,
            Self::Retrieved { .. } => 3,
        }
    }
}

impl Entry {
    /// Returns the text, unless it is a copy of something stored.
    fn own_text(&self) -> Option<&str> {
        (!matches!(self.kind, EntryKind::Retrieved { .. })).then_some(&*self.text)
    }

    fn traced(&self, state: &ExecutionState, most: usize) -> TraceEntry {
        let (target, succeeded) = match &self.kind {
            EntryKind::Value { scope, key, .. } => (format!("{}.{key}", scope.as_str()), None),
            EntryKind::Result { subtask } => (subtask.clone(), state.success_of(subtask)),
            EntryKind::State { phase } => (phase.clone(), None),
            EntryKind::Retrieved { source } => (source.clone(), None),
        };
        TraceEntry {
            action: self.reference().to_string(),
            at: Some(self.at),
            target: Some(head_and_tail(&target, SHORT_BYTES.min(most.max(LABEL_MAX_CHARS))).into_owned()),
            output: self.own_text().map(|text| head_and_tail(text, most).into_owned()),
            succeeded,
            ..TraceEntry::default()
        }
    }
}

impl ExecutionState {
    /// Says whether a subtask succeeded; none where it is not over.
    fn success_of(&self, subtask: &str) -> Option<bool> {
        let has_failed = self.failed.iter().any(|failed| failed.id == subtask);
        let is_done = self.completed.iter().any(|done| done == subtask);
        (has_failed || is_done).then_some(!has_failed)
    }
}

/// The episode of a task that was closed, read as its working memory was.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskEpisode<'a> {
    entries: &'a [TraceEntry],
    closing: ClosingState,
}

impl<'a> TaskEpisode<'a> {
    /// Reads what an episode says was done. None where it is not that of a task in working memory.
    pub fn of(execution: &'a Execution) -> Option<Self> {
        let (close, entries) = execution.trace.split_last()?;
        let closing = close.output.as_deref().map(serde_json::from_str).transpose().ok()?.unwrap_or_default();
        (close.action == CLOSE).then_some(Self { entries, closing })
    }

    /// Returns the text that a reference leads to. It says of a retrieved text where that is stored.
    pub fn resolve(&self, reference: Reference) -> Option<Cow<'a, str>> {
        let named = reference.to_string();
        let entry = self.entries.iter().find(|entry| entry.action == named)?;
        let stored = || format!("(a copy of {})", entry.target.as_deref().unwrap_or_default());
        Some(entry.output.as_deref().map_or_else(|| Cow::Owned(stored()), Cow::Borrowed))
    }

    /// Returns how far the task came.
    pub fn state(&self) -> &ExecutionState {
        &self.closing.state
    }

    /// Counts the results.
    pub fn results(&self) -> usize {
        let references = self.entries.iter().filter_map(|entry| entry.action.parse::<Reference>().ok());
        references.filter(|reference| reference.is_of_result()).count()
    }

    /// Counts the entries that are not in the episode, because it had no room for them.
    pub fn left_out(&self) -> usize {
        self.closing.left_out
    }

    /// Counts the entries of which only head and tail are in the episode.
    pub fn shortened(&self) -> usize {
        self.closing.shortened
    }
}

/// Cuts a text to its head and its tail where it has more than `most` bytes.
fn head_and_tail(text: &str, most: usize) -> Cow<'_, str> {
    text::head_and_tail(text, most, " … [shortened] … ")
}

#[cfg(test)]
mod tests;
