//! The language model port: a completion in, text and usage out.

use std::time::Duration;

use futures::future::BoxFuture;
use reasoning_bank_domain::memory::ids::TaskId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::solve::answer::FinishReason;
use reasoning_bank_domain::solve::task::add_cost;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::runtime::Deadline;

/// One call of a model. Its purpose decides the form of the answer: [`Purpose::schema`].
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    pub purpose: Purpose,
    /// The workspace that the call is made for. An answer is given again to nobody else.
    pub workspace_id: WorkspaceId,
    pub task_id: TaskId,
    /// The number of the attempt, in 1..=k, for calls that belong to one attempt.
    pub attempt: Option<u32>,
    pub instructions: String,
    pub input: String,
    /// The most tokens of the answer, reasoning included.
    pub max_output_tokens: u32,
}

/// The cost of a call. Reasoning tokens are part of the output tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        add_cost(&mut self.cost_usd, other.cost_usd);
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CompletionReply {
    pub text: String,
    pub usage: Usage,
    /// True where the answer came out of the cache. Then an earlier call spent its usage.
    pub cached: bool,
    pub ended: FinishReason,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The call is worth another try: there was a server error, no connection or no answer in time. The provider is in
    /// trouble.
    #[error("the model is not available: {message}")]
    Transient { message: String, retry_after: Option<Duration> },
    /// The call is worth another try after a while (429). The provider is well, and answers that too much is asked.
    #[error("the provider limits the rate: {message}")]
    RateLimited { message: String, retry_after: Option<Duration> },
    /// The last try failed for this reason, and the next, after `wait`, would come after the caller's deadline.
    #[error("{reason}")]
    TooLate { reason: Box<ModelError>, wait: Duration },
    /// The provider has failed so often that it is not asked for a while.
    #[error("the provider keeps failing and is left alone for {} ms", .retry_after.as_millis())]
    CircuitOpen { retry_after: Duration },
    #[error("the model refused the request: {0}")]
    Refused(String),
    #[error("the provider rejected the key: {0}")]
    KeyRejected(String),
    /// The answer does not have the form that was asked for.
    #[error("the model's answer has not the form asked for: {0}")]
    InvalidOutput(String),
    #[error("the model did not answer before the deadline")]
    TimedOut,
    #[error("the call was cancelled")]
    Cancelled,
    /// No model is configured.
    #[error("no language model is configured")]
    NoModel,
}

impl ModelError {
    /// Tells whether a failed call may have cost tokens although nobody said so. Otherwise no request was sent, or none
    /// was accepted, or the provider said what it cost.
    pub fn may_have_cost(&self) -> bool {
        match self {
            Self::Transient { .. } | Self::TimedOut | Self::Cancelled => true,
            Self::TooLate { reason, .. } => reason.may_have_cost(),
            Self::RateLimited { .. }
            | Self::CircuitOpen { .. }
            | Self::Refused(_)
            | Self::KeyRejected(_)
            | Self::InvalidOutput(_)
            | Self::NoModel => false,
        }
    }

    /// Returns the error with what the provider said changed by `change`.
    pub fn map_text(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Transient { message, retry_after } => Self::Transient { message: change(message), retry_after },
            Self::RateLimited { message, retry_after } => Self::RateLimited { message: change(message), retry_after },
            Self::TooLate { reason, wait } => Self::TooLate { reason: Box::new(reason.map_text(change)), wait },
            Self::Refused(message) => Self::Refused(change(message)),
            Self::KeyRejected(message) => Self::KeyRejected(change(message)),
            Self::InvalidOutput(message) => Self::InvalidOutput(change(message)),
            Self::CircuitOpen { .. } | Self::TimedOut | Self::Cancelled | Self::NoModel => self,
        }
    }
}

/// A call that gave no answer, and what it cost all the same. A refusal is written, and paid for, like an answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct FailedCall {
    pub error: ModelError,
    /// The cost of the call. It is zero where the provider says nothing.
    pub usage: Usage,
}

impl FailedCall {
    pub fn map_error(self, change: impl FnOnce(ModelError) -> ModelError) -> Self {
        Self { error: change(self.error), ..self }
    }
}

impl From<ModelError> for FailedCall {
    fn from(error: ModelError) -> Self {
        Self { error, usage: Usage::default() }
    }
}

pub trait LanguageModel: Send + Sync + 'static {
    /// Returns the name that traces and answers show, for example `google/gemini-2.5-pro` or `simulated`.
    fn name(&self) -> &str;

    /// Returns the model that answers calls of this purpose.
    fn model_for(&self, _purpose: Purpose) -> &str {
        self.name()
    }

    /// Makes a call. It ends early, with its connection closed, when `cancel` fires.
    fn complete(
        &self,
        request: Completion,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<CompletionReply, FailedCall>>;
}
