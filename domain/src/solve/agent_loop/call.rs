//! The model calls of a run: what is asked, and why there is no answer.

use std::time::Duration;

use crate::prompt::Prompt;
use crate::prompt::Purpose;
use crate::solve::answer::Answer;

/// A model call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub purpose: Purpose,
    /// 1..=k for calls that belong to an attempt.
    pub attempt: Option<u32>,
    pub prompt: Prompt,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// The code a client would see: `llm_unavailable`, `llm_output_invalid`, …
    pub code: &'static str,
    pub message: String,
    /// The same call is refused again.
    pub refused: bool,
    /// How long the provider is left alone, where that is why.
    pub retry_after: Option<Duration>,
}

impl CallFailure {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), refused: false, retry_after: None }
    }
}

pub(super) fn draft_of(result: Result<Answer, CallFailure>) -> Result<String, CallFailure> {
    match result {
        Ok(Answer::Draft(solution)) => Ok(solution),
        other => Err(failure_of(other)),
    }
}

/// An answer of the wrong kind is as bad as none.
pub(super) fn failure_of(result: Result<Answer, CallFailure>) -> CallFailure {
    let wrong = |_| CallFailure::new("llm_output_invalid", "an answer of another kind");
    result.map_or_else(|failure| failure, wrong)
}

pub(super) fn no_answer() -> CallFailure {
    CallFailure::new("llm_failed", "no attempt gave a solution")
}
