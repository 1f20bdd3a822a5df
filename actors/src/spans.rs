//! The spans and events by which the log tells of the work, in one place: spans for a task, an attempt, a model call
//! and an operation of the store, and the events of their ends. They hold ids, names, counts and times only, and never
//! what a task, a prompt, an answer or a memory says. The edge decides where lines go and how they look.
//!
//! Spans are carried by hand: a message takes the span of its sender along, and [`Tasks`](crate::runtime::Tasks) run
//! in the span they were started in.

use std::time::Duration;

use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::prompt::{Prompt, Truncation};
use reasoning_bank_domain::solve::task::SolveReport;
use reasoning_bank_domain::system::breaker::Change;
use tokio::time::Instant;
use tracing::{Span, debug, info, info_span, warn};

use crate::error::Error;
use crate::ports::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError, StoreError};

/// Makes the span of one of a task's attempts. The attempt's drafts and evaluations lie within it.
pub(crate) fn attempt(number: u32) -> Span {
    info_span!("attempt", attempt = number)
}

pub(crate) fn model_call(model: &dyn LanguageModel, request: &Completion) -> Span {
    let Completion { purpose, task_id, attempt, .. } = request;
    let model = model.model_for(*purpose);
    info_span!("model_call", purpose = purpose.as_str(), model, attempt, %task_id)
}

/// Warns of a prompt that was cut to its budget, before the call is made.
pub(crate) fn prompt_cut(purpose: Purpose, prompt: &Prompt) {
    if let Some(Truncation { from_tokens, to_tokens }) = prompt.cut {
        warn!(purpose = purpose.as_str(), from_tokens, to_tokens, "a prompt was cut to its budget");
    }
}

/// Logs the end of a call, within the span of [`model_call`].
pub(crate) fn model_call_ended(begun: Instant, reply: &Result<CompletionReply, FailedCall>) {
    let elapsed_ms = begun.elapsed().as_millis() as u64;
    match reply {
        Ok(CompletionReply { usage, cached, ended, .. }) => debug!(
            outcome = "ok",
            cached,
            ended = ended.as_str(),
            input_tokens = usage.input_tokens,
            output_tokens = usage.output_tokens,
            reasoning_tokens = usage.reasoning_tokens,
            elapsed_ms,
            "a model call ended"
        ),
        Err(FailedCall { error, usage }) => debug!(
            outcome = Error::from(error.clone()).code().as_str(),
            input_tokens = usage.input_tokens,
            output_tokens = usage.output_tokens,
            elapsed_ms,
            "a model call ended"
        ),
    }
}

/// Logs that a call failed and is tried again, within the span of [`model_call`].
pub(crate) fn model_call_failed(error: &ModelError, tries: u32, pause: Duration) {
    let (outcome, pause_ms) = (Error::from(error.clone()).code().as_str(), pause.as_millis() as u64);
    debug!(outcome, tries, pause_ms, "a model call failed and is tried again");
}

pub(crate) fn circuit_changed(change: Change) {
    match change {
        Change::Opened { pause } => {
            warn!(pause_ms = pause.as_millis() as u64, "the provider keeps failing and is left alone");
        }
        Change::Closed => info!("the provider answers again"),
        Change::ProbeWanted => {}
    }
}

pub(crate) fn store(op: &'static str) -> Span {
    info_span!("store", op)
}

/// Logs the end of an operation, within the span of [`store`]. Rows are those found, written or removed. The time runs
/// from the question on, waiting included.
pub(crate) fn store_ended(begun: Instant, rows: Result<usize, &StoreError>) {
    let elapsed_ms = begun.elapsed().as_millis() as u64;
    match rows {
        Ok(rows) => debug!(outcome = "ok", rows, elapsed_ms, "a store operation ended"),
        Err(error) => {
            debug!(outcome = Error::from(error.clone()).code().as_str(), elapsed_ms, "a store operation ended")
        }
    }
}

/// The span of a task and the two lines it leaves. A task whose caller went away ends as `abandoned`.
pub(crate) struct TaskLog {
    span: Span,
    begun: Instant,
    told: bool,
}

impl TaskLog {
    pub(crate) fn begin(task_id: TaskId, workspace: &WorkspaceId, k: u32) -> Self {
        let span = info_span!("task", %task_id, %workspace, k);
        span.in_scope(|| info!("a task began"));
        Self { span, begun: Instant::now(), told: false }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    pub(crate) fn end(mut self, result: &Result<SolveReport, Error>) {
        self.told = true;
        let elapsed_ms = self.begun.elapsed().as_millis() as u64;
        self.span.in_scope(|| match result {
            Ok(report) => info!(
                outcome = report.outcome.as_str(),
                score = report.score,
                iterations = report.iterations,
                llm_calls = report.usage.llm_calls,
                cache_hits = report.usage.cache_hits,
                elapsed_ms,
                "a task ended"
            ),
            Err(error) => info!(outcome = error.code().as_str(), elapsed_ms, "a task ended"),
        });
    }
}

impl Drop for TaskLog {
    fn drop(&mut self) {
        if !self.told {
            let elapsed_ms = self.begun.elapsed().as_millis() as u64;
            self.span.in_scope(|| info!(outcome = "abandoned", elapsed_ms, "a task ended"));
        }
    }
}
