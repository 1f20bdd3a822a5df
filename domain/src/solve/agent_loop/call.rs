//! The model calls of a run: what each asks, and the reason where one has no answer.

use std::time::Duration;

use crate::note::{Code, Note};
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

/// The reason why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// The code that a client would see.
    pub code: Code,
    pub message: String,
    /// True where the provider refused the call and would refuse the same call again.
    pub refused: bool,
    /// The time for which the provider is to be left alone. None where none is known.
    pub retry_after: Option<Duration>,
}

impl CallFailure {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), refused: false, retry_after: None }
    }

    /// Returns the note that tells a client of the failure.
    pub(super) fn note(&self) -> Note {
        Note::new(self.code, &*self.message)
    }
}

pub(super) fn draft_of(result: Result<Answer, CallFailure>) -> Result<String, CallFailure> {
    match result {
        Ok(Answer::Draft(solution)) => Ok(solution),
        other => Err(failure_of(other)),
    }
}

/// Returns the failure of a call. An answer of the wrong kind is treated like no answer.
pub(super) fn failure_of(result: Result<Answer, CallFailure>) -> CallFailure {
    let wrong = |_| CallFailure::new(Code::LlmOutputInvalid, "an answer of another kind");
    result.map_or_else(|failure| failure, wrong)
}

pub(super) fn no_answer() -> CallFailure {
    CallFailure::new(Code::LlmFailed, "no attempt gave a solution")
}
