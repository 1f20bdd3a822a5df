//! Reports about traces. A client that works by itself leaves reported traces, one for each task of its session. The
//! first report about a task begins the trace, and later reports extend it.

use jiff::Timestamp;

use super::{MattsMode, Outcome, Trace, TraceMetadata, TraceSource, VerdictSource};
use crate::memory::ids::{MemoryId, TraceId, derived};
use crate::memory::normalised;
use crate::memory::observation::Feedback;
use crate::memory::workspace::WorkspaceId;

/// The most memories that a reported trace names as used, and as learned. The ones named last stay.
const USED_MAX: usize = 500;

/// The account that one report gives of a task.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    /// The session that reports.
    pub session: Option<&'a str>,
    pub task: Option<&'a str>,
    pub commit: Option<&'a str>,
    /// The memories that the report is about.
    pub used: &'a [MemoryId],
    /// The memories that were learned with the report.
    pub learned: &'a [MemoryId],
    pub verdict: &'a Feedback,
}

/// Returns the id of the trace that a source begins on a day with its first report on a task. It is the same in
/// whichever process the source reports, so that what it reports counts once. `day` counts days, in UTC.
pub fn id_of_reported(workspace: &WorkspaceId, source: &str, task: &str, day: i64) -> TraceId {
    let (task, day) = (normalised(task), day.to_be_bytes());
    derived(&[b"reported", workspace.as_str().as_bytes(), source.as_bytes(), task.as_bytes(), &day]).into()
}

impl Trace {
    /// Makes the trace that a session's first report about a task begins. It tells nothing yet: [`Trace::after`] adds
    /// what the report says. `parent` is the trace that the session left before.
    pub fn reported(
        trace_id: TraceId,
        workspace_id: WorkspaceId,
        session: &str,
        parent: Option<TraceId>,
        now: Timestamp,
    ) -> Self {
        let metadata = TraceMetadata {
            model: String::new(),
            reasoning_effort: String::new(),
            matts_enabled: false,
            matts_k: 1,
            matts_mode: MattsMode::default(),
            total_iterations: 0,
            total_tokens: 0,
            workspace_id,
            source_session: Some(session.to_owned()),
        };
        Self { parent_trace_id: parent, ..Self::new(trace_id, TraceSource::Reported, metadata, now) }
    }

    /// Tells whether the trace tells of this session's own work.
    pub fn is_of_session(&self, session: Option<&str>) -> bool {
        self.source == TraceSource::Reported && self.metadata.source_session.as_deref() == session
    }

    /// Returns the next revision of the trace, with what a report adds. None where the report adds nothing. Evidence
    /// decides the outcome of every trace, and every session may name the commit of a solve. The rest is taken only
    /// from the session whose work the trace tells of: the task, the memories, the commit, and claims where there is no
    /// evidence.
    pub fn after(&self, account: Account) -> Option<Self> {
        let observed = account.verdict.evidence.as_ref().and_then(|observed| self.observed(observed));
        let mut next = Self { revision: self.revision, ..observed.unwrap_or_else(|| self.clone()) };
        let is_own = self.is_of_session(account.session);
        if let Some(commit) = account.commit.filter(|_| is_own || self.source == TraceSource::Solve) {
            next.commit = Some(commit.to_ascii_lowercase());
        }
        if is_own {
            next.take(account);
        }
        if self.source == TraceSource::Reported && self.outcome != Outcome::Partial && self.outcome != next.outcome {
            next.turns = self.turns.saturating_add(1);
        }
        (next != *self).then(|| Self { revision: self.revision.saturating_add(1), ..next })
    }

    fn take(&mut self, account: Account) {
        if self.task.is_empty() {
            self.task = account.task.unwrap_or_default().to_owned();
        }
        let verdict = account.verdict;
        if verdict.reverted == Some(true) {
            // The work is gone, whatever was observed before.
            (self.outcome, self.verdict_source, self.evidence) = (Outcome::Failure, VerdictSource::None, None);
        } else if let Some(succeeded) = verdict.task_succeeded.filter(|_| self.verdict_source == VerdictSource::None) {
            self.outcome = if succeeded { Outcome::Success } else { Outcome::Failure };
        }
        for (named, known) in [(account.used, &mut self.memories_used), (account.learned, &mut self.memory_items)] {
            let new: Vec<MemoryId> = named.iter().copied().filter(|id| !known.contains(id)).collect();
            known.extend(new);
            known.drain(..known.len().saturating_sub(USED_MAX));
        }
    }

    /// Returns what the signals of this trace name as their source: a solve itself, and the session of the client that
    /// asked for it or that reports. A client that reports about several tasks is one source of evidence, not several.
    pub fn source_of_signals(&self) -> (Option<TraceId>, Option<String>) {
        match self.source {
            TraceSource::Solve => (Some(self.trace_id), self.metadata.source_session.clone()),
            TraceSource::Reported | TraceSource::Transcript | TraceSource::Distilled | TraceSource::Consolidated => {
                (None, self.metadata.source_session.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::observation::{EvidenceKind, Observed};
    use crate::memory::samples::{self, id, strategy};

    fn begun() -> Trace {
        Trace::reported(samples::trace(1), strategy(1).workspace_id, "s", None, samples::now())
    }

    fn told<'a>(task: Option<&'a str>, used: &'a [MemoryId], verdict: &'a Feedback) -> Account<'a> {
        Account { session: Some("s"), task, commit: None, used, learned: &[], verdict }
    }

    fn claims(succeeded: bool) -> Feedback {
        Feedback { task_succeeded: Some(succeeded), ..Feedback::default() }
    }

    fn observes(passed: bool) -> Feedback {
        let evidence = Some(Observed { kind: EvidenceKind::Tests, passed, detail: None });
        Feedback { evidence, ..Feedback::default() }
    }

    #[test]
    fn reports_extend_the_trace_of_their_task() {
        let first = begun().after(told(Some("Fix the pager"), &[id(1)], &claims(true))).unwrap();
        assert_eq!((first.outcome, first.verdict_source), (Outcome::Success, VerdictSource::None));
        let second = first.after(told(None, &[id(1), id(2)], &observes(false))).unwrap();
        assert_eq!(second.memories_used, [id(1), id(2)]);
        assert_eq!((second.outcome, second.verdict_source), (Outcome::Failure, VerdictSource::Evidence));
        assert!(second.follows(&first) && second.is_refuted() && second.turns == 1);
        assert_eq!(
            second.after(told(None, &[id(2)], &claims(true))),
            None,
            "a claim changes no outcome that was observed"
        );
    }

    #[test]
    fn work_that_was_taken_back_has_failed() {
        let reverted = Feedback { reverted: Some(true), task_succeeded: Some(true), ..Feedback::default() };
        assert_eq!(begun().after(told(None, &[], &reverted)).unwrap().outcome, Outcome::Failure);
        let proved = begun().after(told(None, &[], &observes(true))).unwrap();
        let gone = proved.after(told(None, &[], &reverted)).unwrap();
        assert_eq!((gone.outcome, gone.evidence, gone.turns), (Outcome::Failure, None, 1));
    }

    #[test]
    fn another_session_adds_evidence_alone() {
        let claimed = begun().after(told(Some("task"), &[id(1)], &claims(true))).unwrap();
        let (said, used) = (claims(false), [id(2)]);
        let foreign = Account { session: Some("t"), commit: Some("abcdef1"), ..told(Some("x"), &used, &said) };
        assert_eq!(claimed.after(foreign), None);
        let said = observes(false);
        let proved = claimed.after(Account { verdict: &said, ..foreign }).unwrap();
        assert_eq!((proved.outcome, proved.memories_used.len(), proved.commit), (Outcome::Failure, 1, None));
    }

    #[test]
    fn of_a_solve_a_report_changes_the_outcome_by_evidence_alone_and_names_the_commit() {
        let solve = Trace { source: TraceSource::Solve, task: "task".into(), ..begun() };
        assert_eq!(solve.after(told(Some("another"), &[id(1)], &claims(false))), None);
        let named = solve.after(Account { commit: Some("ABCDEF1"), ..told(None, &[], &observes(true)) }).unwrap();
        assert_eq!((named.outcome, named.commit.as_deref()), (Outcome::Success, Some("abcdef1")));
        assert_eq!((named.revision, named.memories_used.len()), (1, 0));
    }

    #[test]
    fn the_memories_of_a_trace_are_bounded() {
        let named: Vec<MemoryId> = (0..700).map(id).collect();
        let said = claims(true);
        let trace = begun().after(told(None, &named, &said)).unwrap();
        assert_eq!(trace.memories_used, named[200..]);
    }
}
