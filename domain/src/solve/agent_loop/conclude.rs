//! The end of a run: a report, or a failure and perhaps the best solution so far. This file also says what the store
//! keeps of the run.

use jiff::Timestamp;

use super::{AgentLoop, CallFailure, Lesson, Phase, RunSpec, SolveReport, Trace};
use crate::access::ClientSession;
use crate::learning::lesson::{LessonOrigin, PrintedError};
use crate::memory::SourceType;
use crate::memory::ids::MemoryId;
use crate::memory::observation::Observed;
use crate::memory::signal::{Signal, SignalKind, id_within_trace};
use crate::memory::trace::{Outcome, TraceMetadata, TraceSource, VerdictSource};
use crate::note::{Code, Note};
use crate::retrieval::prompt_memories::PromptMemories;
use crate::solve::answer::Verdict;
use crate::solve::stage::Stage;
use crate::solve::task::{AttemptReport, BestSoFar, LeftOutMemory, UsedMemory};

/// The reason why a run ended without a report.
#[derive(Debug, Clone, PartialEq)]
pub enum RunFailure {
    Budget {
        used: u64,
        limit: u64,
    },
    /// Every draft failed. The failure is `llm_unavailable` only if all failed so. Otherwise it is the first other
    /// failure, and a refusal only where all other failures are refusals.
    AllDraftsFailed(CallFailure),
    DeadlinePassed,
    Cancelled,
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The report lacks only what storing adds: the trace id, the learnings and the elapsed time.
    pub end: Result<SolveReport, RunFailure>,
    pub best: Option<BestSoFar>,
    /// The record to store. None when nothing is to be stored.
    pub record: Option<RunRecord>,
}

/// The record that the store keeps of a run: the trace (its `memory_items` are filled once the lessons have ids), the
/// lessons with their origin, and the evidence about the memories that were in the prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub trace: Trace,
    pub lessons: Vec<Lesson>,
    pub origin: LessonOrigin,
    pub injected: PromptMemories,
    pub signals: Vec<Signal>,
    /// The session of the client that asked, which goes on from the trace.
    pub session: Option<ClientSession>,
}

impl RunSpec {
    /// Returns the source of the evidence that the run gives. None where nobody is named.
    fn source(&self) -> Option<String> {
        self.session.as_ref().map(|session| session.source.clone())
    }

    /// Returns the record of a run that ended before it did anything, for instance because its agent died.
    pub fn empty_record(&self, outcome: Outcome, started: Timestamp, now: Timestamp) -> RunRecord {
        let task = &self.task;
        let metadata = TraceMetadata {
            model: self.model.clone(),
            reasoning_effort: self.reasoning_effort.clone(),
            matts_enabled: task.k > 1,
            matts_k: task.k,
            matts_mode: task.mode,
            total_iterations: 0,
            total_tokens: 0,
            workspace_id: self.workspace_id.clone(),
            source_session: self.source(),
        };
        let trace = Trace {
            task: task.task.clone(),
            outcome,
            parent_trace_id: self.parent_trace_id,
            ..Trace::new(self.trace_id, TraceSource::Solve, metadata, started)
        };
        let origin = LessonOrigin {
            task: task.task.clone(),
            domain: task.domain.clone(),
            workspace_id: self.workspace_id.clone(),
            source_type: SourceType::Solve,
            source_session: self.source(),
            trace_id: Some(self.trace_id),
            outcome,
            printed: PrintedError::default(),
            said_at: None,
            at: now,
        };
        RunRecord {
            trace,
            lessons: Vec::new(),
            origin,
            injected: PromptMemories::default(),
            signals: Vec::new(),
            session: self.session.clone(),
        }
    }
}

impl AgentLoop {
    pub(super) fn conclude(&mut self, lessons: Vec<Lesson>, now: Timestamp) -> Vec<super::Effect> {
        self.phase = Phase::Concluded;
        if self.spec.task.store_result {
            self.reached(Stage::Learned { lessons: lessons.len() });
        }
        let outcome = match self.verdict() {
            Some(Verdict::Success) => Outcome::Success,
            Some(Verdict::Failure) => Outcome::Failure,
            None => Outcome::Partial,
        };
        let best = self.best_so_far();
        let report = SolveReport {
            solution: best.as_ref().map(|best| best.solution.clone()).unwrap_or_default(),
            outcome,
            score: best.as_ref().and_then(|best| best.score),
            verdict_source: self.verdict_source(),
            evidence: self.observed.clone(),
            iterations: self.iteration,
            attempts: self.attempt_reports(),
            selected: self.selected as u32 + 1,
            early_exit: self.early_exit,
            loop_detected: self.loop_detected,
            memories_used: UsedMemory::of(&self.prompt_memories),
            memories_left_out: LeftOutMemory::of(&self.prompt_memories),
            trace_id: None,
            learnings: Vec::new(),
            usage: self.usage,
            truncated: self.truncated,
            warnings: std::mem::take(&mut self.warnings),
            notes: std::mem::take(&mut self.notes),
            elapsed_ms: 0,
        };
        let record = self.spec.task.store_result.then(|| self.record(lessons, outcome, now));
        vec![super::Effect::Conclude(Box::new(Conclusion { end: Ok(report), best, record }))]
    }

    /// Ends the run at its deadline. The best solution so far is the answer; without any solution the run has failed.
    pub(super) fn cut_short(&mut self, now: Timestamp) -> Vec<super::Effect> {
        if self.best.is_none() && !self.take_best_attempt() {
            return self.fail(RunFailure::DeadlinePassed, now);
        }
        self.warnings.push(Note::new(Code::DeadlineExceeded, "the run was cut short"));
        let lessons = self.kept_of_judgement();
        self.conclude(lessons, now)
    }

    pub(super) fn fail(&mut self, failure: RunFailure, now: Timestamp) -> Vec<super::Effect> {
        self.phase = Phase::Concluded;
        if self.best.is_none() {
            self.take_best_attempt();
        }
        // A failure of the solver itself is told in the trace and teaches nothing: it says nothing about the task.
        let own = match &failure {
            RunFailure::Budget { used, limit } => {
                Some(Note::new(Code::TokenBudgetExceeded, format!("{used} tokens were used of {limit} allowed")))
            }
            RunFailure::AllDraftsFailed(call) if call.code == Code::LlmOutputInvalid => Some(call.note()),
            // An unreachable model, a deadline or a cancellation leaves nothing to tell.
            _ => None,
        };
        let record = own.filter(|_| self.spec.task.store_result).map(|ended_by| {
            let mut record = self.record(Vec::new(), Outcome::Failure, now);
            record.trace.ended_by = Some(ended_by.to_string());
            // The solver failed by itself. That says nothing about the memories, and nobody judged the outcome.
            record.signals.retain(|signal| signal.kind == SignalKind::Injected);
            record.trace.verdict_source = VerdictSource::None;
            record
        });
        let best = self.best_so_far();
        vec![super::Effect::Conclude(Box::new(Conclusion { end: Err(failure), best, record }))]
    }

    fn record(&self, lessons: Vec<Lesson>, outcome: Outcome, now: Timestamp) -> RunRecord {
        let injected = self.prompt_memories.ids();
        let task_went = match outcome {
            Outcome::Success => Some(SignalKind::TaskSucceeded),
            Outcome::Failure => Some(SignalKind::TaskFailed),
            Outcome::Partial => None,
        };
        let kinds = std::iter::once(SignalKind::Injected).chain(task_went);
        let trace = self.spec.trace_id;
        let signal = |memory: MemoryId, kind| Signal {
            trace_id: Some(trace),
            session: self.spec.source(),
            ..Signal::new(id_within_trace(trace, memory, kind, None), memory, self.spec.workspace_id.clone(), kind, now)
        };
        let signals = kinds.flat_map(|kind| injected.iter().map(move |id| signal(*id, kind))).collect();
        let mut record = self.spec.empty_record(outcome, self.started, now);
        record.trace.trajectory.clone_from(&self.trajectory);
        record.trace.final_score = self.best.as_ref().and_then(|best| best.score);
        record.trace.verdict_source = self.verdict_source();
        record.trace.evidence = self.observed.as_ref().map(Observed::words);
        record.origin.printed = self.observed.as_ref().map(PrintedError::of).unwrap_or_default();
        record.trace.memories_used = injected;
        record.trace.metadata.total_iterations = self.iteration;
        record.trace.metadata.total_tokens = self.usage.total_tokens();
        RunRecord { lessons, injected: self.prompt_memories.clone(), signals, ..record }
    }

    fn best_so_far(&self) -> Option<BestSoFar> {
        self.best.as_ref().map(|best| BestSoFar { solution: best.solution.clone(), score: best.score })
    }

    fn attempt_reports(&self) -> Vec<AttemptReport> {
        let report = |(index, attempt): (usize, &super::Attempt)| {
            let span = attempt.started.zip(attempt.ended);
            AttemptReport {
                index: index as u32 + 1,
                score: attempt.score,
                latency_ms: span.map_or(0, |(from, to)| (to.as_millisecond() - from.as_millisecond()).max(0) as u64),
                error: attempt.error.as_ref().map(CallFailure::note),
            }
        };
        self.attempts.iter().enumerate().map(report).collect()
    }
}
