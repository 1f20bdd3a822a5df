//! The model calls of a run: what each asks, and why one has no answer.

use std::time::Duration;

use crate::prompt::Prompt;
use crate::prompt::Purpose;
use crate::solve::answer::Answer;

/// A model call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCall {
    pub purpose: Purpose,
    /// The attempt that the call belongs to, in 1..=k. None where it belongs to no single attempt.
    pub attempt: Option<u32>,
    pub prompt: Prompt,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// The code that a client would see, such as `llm_unavailable` or `llm_output_invalid`.
    pub code: &'static str,
    pub message: String,
    /// The provider refused the call and would refuse the same call again.
    pub refused: bool,
    /// How long the provider is left alone, where that is the reason.
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

/// Treats an answer of the wrong kind like no answer.
pub(super) fn failure_of(result: Result<Answer, CallFailure>) -> CallFailure {
    let wrong = |_| CallFailure::new("llm_output_invalid", "an answer of another kind");
    result.map_or_else(|failure| failure, wrong)
}

pub(super) fn no_answer() -> CallFailure {
    CallFailure::new("llm_failed", "no attempt gave a solution")
}
