//! Feedback: what a client reports about memories and its own work, the bounds of that, and what the client is told
//! afterwards. What follows from a report is decided in `report`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::ClientSession;
use crate::evidence::promotion::Promoted;
use crate::evidence::stability::names_commit;
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::observation::{COMMENT_MAX_CHARS, DETAIL_MAX_CHARS, Feedback};
use crate::memory::trace::{TASK_MAX_CHARS, Trace};
use crate::memory::workspace::WorkspaceRef;
use crate::memory::{ErrorContext, FieldProblem, Learned, Scope, check_count};
use crate::safety::secrets::Scrub;

/// The most memories that one report is about.
pub const MEMORIES_MAX: usize = 50;
/// The most lessons that one report brings.
pub const LEARNINGS_MAX: usize = 10;

/// A lesson that comes with a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Learning {
    pub title: String,
    pub description: String,
    pub content: String,
    pub error_context: Option<ErrorContext>,
}

/// A report about some memories, or about those that a trace used. It has to say something: a vote, a lesson, or the
/// commit that came of a trace or a task.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedbackRequest {
    pub workspace: WorkspaceRef,
    /// The memories that the report names, at most [`MEMORIES_MAX`]. A report that names a trace and no memories is
    /// about the memories that were injected into that trace.
    pub memory_ids: Vec<MemoryId>,
    /// The trace that the report is about. Without one, the report is about the session's own work.
    pub trace_id: Option<TraceId>,
    /// The task that the session worked on. A task that differs from the one before begins another reported trace.
    pub task: Option<String>,
    /// The commit that came of the work.
    pub commit: Option<String>,
    pub verdict: Feedback,
    /// The lessons that the report brings, at most [`LEARNINGS_MAX`]. The memories reported on become their sources,
    /// and the first of these their parent.
    pub learnings: Vec<Learning>,
    /// The session of a client that reports. Everything that its source says counts as one source.
    pub session: Option<ClientSession>,
    /// The scopes beyond the project for whose memories the report counts as well.
    pub counts_in: Vec<Scope>,
    /// True where a session reports about its own work, which has a reported trace. A vote by hand is no such report.
    pub is_work: bool,
}

impl FeedbackRequest {
    /// Checks that the report says something, that it says what it is about, and that it keeps to the bounds.
    ///
    /// # Errors
    ///
    /// Returns the argument that is wrong, and what is wrong with it.
    pub fn check(&self) -> Result<(), FieldProblem> {
        let refused = |field, problem| Err(FieldProblem::new(field, problem));
        let kinds = self.verdict.signals();
        let tells_commit = self.commit.is_some() && (self.trace_id.is_some() || self.task.is_some());
        if kinds.is_empty() && self.learnings.is_empty() && !tells_commit {
            let problem = "nothing is reported; give helpful, task_succeeded, reverted, evidence or learnings";
            return refused("helpful", problem);
        }
        if !kinds.is_empty() && self.memory_ids.is_empty() && self.trace_id.is_none() && self.task.is_none() {
            return refused("memory_ids", "name the memories that were used, their trace_id, or the task");
        }
        if self.task.is_some() && self.trace_id.is_some() {
            return refused("task", "belongs to a report without trace_id; the trace has its task already");
        }
        if self.task.as_deref().is_some_and(|task| task.trim().is_empty()) {
            return refused("task", "is blank; say what you worked on, or leave it out");
        }
        if self.commit.as_deref().is_some_and(|commit| !names_commit(commit)) {
            return refused("commit", "is no id of a commit, which has 7 to 64 hexadecimal digits");
        }
        if self.commit.is_some() && self.trace_id.is_none() && !self.tells_of_own_work() {
            return refused("commit", "says of nothing that it came of it; give task, trace_id or an outcome");
        }
        let detail = self.verdict.evidence.as_ref().and_then(|evidence| evidence.detail.as_deref());
        let chars = |text: Option<&str>| text.map_or(0, |text| text.chars().count());
        for (field, count, most, unit) in [
            ("memory_ids", self.memory_ids.len(), MEMORIES_MAX, "items"),
            ("learnings", self.learnings.len(), LEARNINGS_MAX, "items"),
            ("task", chars(self.task.as_deref()), TASK_MAX_CHARS, "characters"),
            ("comment", chars(self.verdict.comment.as_deref()), COMMENT_MAX_CHARS, "characters"),
            ("evidence.detail", chars(detail), DETAIL_MAX_CHARS, "characters"),
        ] {
            check_count(field, count, unit, most)?;
        }
        Ok(())
    }

    /// Returns the request without the secrets of what is said. The other texts of its lessons are scrubbed as
    /// memories.
    pub fn scrubbed(mut self) -> Self {
        self.verdict.comment.scrub();
        self.task.scrub();
        if let Some(evidence) = &mut self.verdict.evidence {
            evidence.detail.scrub();
        }
        for learning in &mut self.learnings {
            learning.error_context.scrub();
        }
        self
    }

    /// Tells whether the report is about the session's own work, which has a reported trace. A report that only says
    /// that memories were helpful is a vote about them and tells of no work.
    pub fn tells_of_own_work(&self) -> bool {
        self.is_work && self.trace_id.is_none() && (self.task.is_some() || self.tells_outcome())
    }

    /// Tells whether the report says something about work, beside what it says about memories.
    pub fn tells_of_work(&self) -> bool {
        self.task.is_some() || self.commit.is_some() || self.tells_outcome()
    }

    fn tells_outcome(&self) -> bool {
        let Feedback { task_succeeded, reverted, evidence, .. } = &self.verdict;
        task_succeeded.is_some() || *reverted == Some(true) || evidence.is_some()
    }

    /// Returns the source of the evidence that the report gives. None where nobody is named.
    pub fn source(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.source.as_str())
    }

    /// Returns the memories that the report is about, each once: those that it names, or else those that its trace
    /// used.
    pub fn subjects(&self, trace: Option<&Trace>) -> Vec<MemoryId> {
        let mut ids = self.memory_ids.clone();
        if let Some(trace) = trace.filter(|_| ids.is_empty()) {
            ids.clone_from(&trace.memories_used);
        }
        let mut met = BTreeSet::new();
        ids.retain(|id| met.insert(*id));
        ids
    }
}

/// The confidence in one memory before and after a report, each in 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    pub id: MemoryId,
    pub confidence_before: f64,
    pub confidence_after: f64,
}

/// The answer to a report that was stored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reported {
    /// The trace that the report is about, or that it began or extended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-program" = true))]
    pub trace_id: Option<TraceId>,
    pub updated: Vec<Moved>,
    /// The lessons that the report brought. Where a memory said the same already, the id is that memory's.
    pub learned: Vec<Learned>,
    /// The older memories that are out of search from now on, because the report confirms a newer one that updates
    /// them. The schema for models leaves them out for the same reason as the copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub superseded: Vec<MemoryId>,
    /// The memories of a team or an organisation, about which the report says nothing, as the user has not let clients
    /// write there. The schema for models leaves it out for the same reason as the copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub not_shared_with: Vec<MemoryId>,
    /// The copies that were made for a wider scope, where `promotion.automatic` is set. The schema for models
    /// leaves them out, because every client pays for it and hardly any meets a copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub promoted: Vec<Promoted>,
}

#[cfg(test)]
mod tests;
