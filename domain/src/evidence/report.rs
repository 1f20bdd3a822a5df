//! A report: what follows from feedback, once the trace and the memories that it is about were read. It says what the
//! report is about, which signals it yields, which earlier votes it contradicts, and what it changes.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::evidence::confidence::{Evidence, confidence};
use crate::evidence::feedback::{FeedbackRequest, Moved};
use crate::evidence::verdict_override::OwnVote;
use crate::memory::ids::{MemoryId, SignalId};
use crate::memory::signal::{Signal, SignalKind, id_of_trace_vote, id_of_vote, id_within_trace};
use crate::memory::trace::{Account, Outcome, Trace, TraceSource};
use crate::memory::workspace::Workspace;
use crate::memory::{Facts, Memory, Scope};

/// A report on memories, with the workspace it comes from, the trace it is about, and the evidence so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Report<'a> {
    pub request: &'a FeedbackRequest,
    pub workspace: &'a Workspace,
    pub trace: Option<Trace>,
    /// True where the trace is the session's own and this report begins it.
    pub begins: bool,
    pub memories: Vec<(Memory, Evidence)>,
    /// The memories that the report says nothing about, because others read them too and the caller may not write
    /// there.
    pub not_shared_with: Vec<MemoryId>,
}

/// The reason why a report is refused once the memories it is about were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportRefusal {
    /// Memories that the report names are not there.
    Missing(Vec<MemoryId>),
    /// The report brings no lessons, tells of no work that has a trace, and is about nothing but memories that clients
    /// may not write about. The scope is that of the first of them.
    NotShared(Scope),
}

impl<'a> Report<'a> {
    /// Makes the report on `trace` and on those of its subjects (see [`FeedbackRequest::subjects`]) that the workspace
    /// can read. Memories that the request names must be there. A trace's memories count only where they are left.
    pub fn of(
        request: &'a FeedbackRequest,
        workspace: &'a Workspace,
        trace: Option<Trace>,
        begins: bool,
        memories: Vec<(Memory, Evidence)>,
    ) -> Result<Self, ReportRefusal> {
        if !request.memory_ids.is_empty() {
            let mut missing = request.subjects(trace.as_ref());
            missing.retain(|id| !memories.iter().any(|(memory, _)| memory.id == *id));
            if !missing.is_empty() {
                return Err(ReportRefusal::Missing(missing));
            }
        }
        let is_denied = |memory: &&Memory| memory.scope != Scope::Project && !request.counts_in.contains(&memory.scope);
        let denied: Vec<&Memory> = memories.iter().map(|(memory, _)| memory).filter(is_denied).collect();
        let says_more = !request.learnings.is_empty() || (trace.is_some() && request.tells_of_work());
        if let Some(first) = denied.first().filter(|_| denied.len() == memories.len() && !says_more) {
            return Err(ReportRefusal::NotShared(first.scope));
        }
        let not_shared_with = denied.iter().map(|memory| memory.id).collect();
        Ok(Self { request, workspace, trace, begins, memories, not_shared_with })
    }

    /// Returns the memories that the report says something about.
    pub fn judged(&self) -> impl Iterator<Item = &Memory> {
        self.with_evidence().map(|(memory, _)| memory)
    }

    fn with_evidence(&self) -> impl Iterator<Item = &(Memory, Evidence)> {
        self.memories.iter().filter(|(memory, _)| !self.not_shared_with.contains(&memory.id))
    }

    /// Returns the votes that the report contradicts. `after` is the trace with what the report adds. Evidence about a
    /// solve contradicts the solve's own votes about all memories that it used. A report that turns round the outcome
    /// of a session's own work contradicts the votes of that session's earlier reports about the memories that this one
    /// names.
    pub fn contradicted(&self, trace: &Trace, after: Option<&Trace>) -> Vec<OwnVote> {
        if trace.source == TraceSource::Solve {
            let Some(observed) = &self.request.verdict.evidence else { return Vec::new() };
            let used: BTreeSet<MemoryId> = trace.memories_used.iter().copied().collect();
            return used.into_iter().map(|id| OwnVote::of_solve(observed.passed, trace.trace_id, id)).collect();
        }
        let Some(after) = after.filter(|after| after.turns > trace.turns) else { return Vec::new() };
        let (passed, turns) = (after.outcome == Outcome::Success, trace.turns);
        self.judged().map(|memory| OwnVote::of_reported_trace(passed, trace.trace_id, turns, memory.id)).collect()
    }

    /// Returns the trace with what the report adds to it. None where there is no trace, or where nothing is new.
    pub fn trace_after(&self, learned: &[MemoryId]) -> Option<Trace> {
        let FeedbackRequest { task, commit, verdict, .. } = self.request;
        // Memories that did not help were not used, so what came of the work says nothing of them.
        let used = self.judged().map(|memory| memory.id).filter(|_| verdict.helpful != Some(false));
        let used: Vec<MemoryId> = used.collect();
        self.trace.as_ref()?.after(Account {
            session: self.request.source(),
            task: task.as_deref(),
            commit: commit.as_deref(),
            used: &used,
            learned,
            verdict,
        })
    }

    /// Returns the signals that the report yields. `after` is the trace with what the report adds. A session that says
    /// the same again yields the same signals. Votes by hand count each and have a `fresh` id.
    pub fn signals(&self, after: Option<&Trace>, now: Timestamp, fresh: impl Fn() -> SignalId) -> Vec<Signal> {
        let kinds = self.request.verdict.signals();
        let session = self.request.source();
        let id = |memory: MemoryId, kind| match after.or(self.trace.as_ref()) {
            Some(trace) if trace.is_of_session(session) => id_of_trace_vote(trace.trace_id, trace.turns, memory, kind),
            Some(trace) => id_within_trace(trace.trace_id, memory, kind, session),
            None => match session.filter(|_| self.request.is_work) {
                Some(session) => id_of_vote(session, memory, kind),
                None => fresh(),
            },
        };
        let trace_id = self.trace.as_ref().and_then(|trace| trace.source_of_signals().0);
        let signal = |memory: MemoryId, kind: SignalKind| Signal {
            trace_id,
            session: session.map(str::to_owned),
            ..Signal::new(id(memory, kind), memory, self.workspace.id.clone(), kind, now)
        };
        self.judged().flat_map(|memory| kinds.iter().map(|kind| signal(memory.id, *kind))).collect()
    }

    /// Adds the reporter's words to the first signal of each memory; once is enough to be read.
    pub fn with_words(&self, mut signals: Vec<Signal>) -> Vec<Signal> {
        if let Some(words) = self.request.verdict.words() {
            let mut met = BTreeSet::new();
            for signal in signals.iter_mut().filter(|signal| met.insert(signal.memory_id)) {
                signal.comment = Some(words.clone());
            }
        }
        signals
    }

    /// Returns the memories that these signals are about and that the report does not judge, each once: those that were
    /// learned from its trace, and those that the trace used beside the memories that the report names.
    pub fn concerned(&self, signals: &[Signal]) -> Vec<MemoryId> {
        let judged: BTreeSet<MemoryId> = self.judged().map(|memory| memory.id).collect();
        let about: BTreeSet<MemoryId> = signals.iter().map(|signal| signal.memory_id).collect();
        about.difference(&judged).copied().collect()
    }

    /// Returns how these signals, which were not stored before, move the confidence in each memory that the report
    /// judges, and in each that it [concerns](Self::concerned).
    pub fn moved(&self, concerned: &[(Memory, Evidence)], signals: &[Signal], now: Timestamp) -> Vec<Moved> {
        let one = |(memory, evidence): &(Memory, Evidence)| {
            let facts = Facts::from(memory);
            let confidence_before = confidence(&facts, evidence, now);
            let mut evidence = evidence.clone();
            let own = signals.iter().filter(|signal| signal.memory_id == facts.id);
            own.for_each(|signal| evidence.add(signal.kind, now));
            Moved { id: facts.id, confidence_before, confidence_after: confidence(&facts, &evidence, now) }
        };
        self.with_evidence().chain(concerned).map(one).collect()
    }
}

#[cfg(test)]
mod tests;
