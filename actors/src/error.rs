//! The one error that handles answer with. It has a variant for each remedy. Each variant has a code that clients can
//! rely on, and says whether another try may help. The edges map the error, once, to MCP and to the command line, and
//! say what can be done about it in the words of commands and settings.

use std::borrow::Cow;
use std::time::Duration;

use reasoning_bank_domain::access::Permission;
use reasoning_bank_domain::evidence::report::ReportRefusal;
use reasoning_bank_domain::learning::recording::RecordRefusal;
use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::memory::{FieldProblem, MemoryInvalid, Scope};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::solve::task::BestSoFar;

use crate::ports::{EmbedError, ModelError, StoreError};
use crate::runtime::CallError;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    #[error("{argument}: {problem}")]
    InvalidArgument { argument: Cow<'static, str>, problem: String },
    #[error("there is no {0}")]
    NotFound(String),
    #[error("there is no workspace {0}")]
    WorkspaceUnknown(String),
    /// The workspace belongs to no team or organisation.
    #[error("this workspace has no {} to share memories with", .0.as_str())]
    ScopeDenied(Scope),
    /// The session works in one workspace and has named another.
    #[error("{0} is not the workspace of this session")]
    OtherWorkspace(String),
    /// A request over the network names two workspaces.
    #[error("{argument}: names {named}, and the request is for the workspace {bound}")]
    TwoWorkspaces { argument: &'static str, named: String, bound: String },
    /// Clients may not write to what others read as well.
    #[error("clients may not write to the memories of the {}", .0.as_str())]
    SharingDenied(Scope),
    /// The server was started outside of any project, and nothing has said which one it is for.
    #[error("no project is chosen{0}")]
    WorkspaceRequired(String),
    /// The caller may use several workspaces, and has not said which one is meant.
    #[error("no workspace is named")]
    KeyRequired,
    /// The caller may not use a workspace under this key, or there is none. The error does not tell which.
    #[error("there is no workspace {0}")]
    KeyUnknown(String),
    /// The caller may see this, and not do it.
    #[error("this needs the permission {}, which the token does not have", .0.as_str())]
    PermissionDenied(Permission),
    /// The user has to agree, and the client cannot ask.
    #[error("{what}? The user has to agree, and this client cannot ask")]
    ConsentRequired {
        what: String,
        /// The user can run this instead.
        command: String,
    },
    #[error("{what}? The user did not agree")]
    Declined { what: String },
    #[error(transparent)]
    MemoryInvalid(#[from] MemoryInvalid),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Embedding(#[from] EmbedError),
    #[error("no language model is configured")]
    NoModel,
    /// The provider is down and is left alone for a while.
    #[error("the model is not available: {message}")]
    ModelUnavailable { message: String, retry_after: Option<Duration> },
    /// Every try failed. `message` is the underlying reason, and `retry_after` is how long the provider asks to be left
    /// alone, where it says so.
    #[error("no attempt succeeded: {message}")]
    ModelFailed { message: String, retry_after: Option<Duration> },
    /// The provider or the model refuses the request, and would again.
    #[error("the request was refused: {0}")]
    ModelRefused(String),
    #[error("the model's answer has not the form asked for: {0}")]
    ModelOutputInvalid(String),
    #[error("the provider rejected the key: {0}")]
    KeyRejected(String),
    #[error("the task used {used} tokens; its limit is {limit}")]
    TokenBudgetExceeded { used: u64, limit: u64, best: Option<Box<BestSoFar>> },
    /// The holder of a token has used the whole allowance of a day.
    #[error("the token has used {used} of {limit} model tokens today")]
    DailyLimit { used: u64, limit: u64, retry_after: Duration },
    #[error("too much is being asked at once")]
    Overloaded { retry_after: Duration },
    #[error("not done before the deadline")]
    DeadlineExceeded,
    #[error("cancelled")]
    Cancelled,
    /// The client has sent the same request under this key, and it is not done yet.
    #[error("a request with this key is still in work")]
    RequestInWork,
    /// Others changed the same thing at the same time, again and again.
    #[error("{0} was changed at the same time by somebody else")]
    Conflict(String),
    /// Only the process that has a task open can change it.
    #[error("another process has the task {0} open")]
    TaskInUse(WorkingId),
    #[error("another consolidation of this bank is running")]
    ConsolidationRunning,
    /// A file of a memory bank cannot be written. The message names it and its problem.
    #[error("the memory bank is not in its files: {0}")]
    BankUnwritten(String),
    /// A bug. The details are in the log under this event id.
    #[error("something went wrong inside; the log has it under {0}")]
    Internal(uuid::Uuid),
}

impl Error {
    pub fn invalid(argument: impl Into<Cow<'static, str>>, problem: impl Into<String>) -> Self {
        Self::InvalidArgument { argument: argument.into(), problem: problem.into() }
    }

    /// Logs the details of a bug under a new event id, and returns an error that names this id.
    pub fn internal(details: impl std::fmt::Display) -> Self {
        let event = uuid::Uuid::now_v7();
        tracing::error!(%event, %details, "internal error");
        Self::Internal(event)
    }

    /// Returns the code of the error, which clients can rely on.
    pub fn code(&self) -> Code {
        match self {
            Self::InvalidArgument { .. } => Code::InvalidArgument,
            Self::NotFound(_) => Code::NotFound,
            Self::WorkspaceUnknown(_) | Self::KeyUnknown(_) => Code::WorkspaceUnknown,
            Self::ScopeDenied(_) | Self::OtherWorkspace(_) | Self::TwoWorkspaces { .. } | Self::SharingDenied(_) => {
                Code::ScopeDenied
            }
            Self::WorkspaceRequired(_) | Self::KeyRequired => Code::WorkspaceRequired,
            Self::PermissionDenied(_) => Code::PermissionDenied,
            Self::ConsentRequired { .. } => Code::ConsentRequired,
            Self::Declined { .. } => Code::Declined,
            Self::MemoryInvalid(_) => Code::MemoryInvalid,
            Self::Store(StoreError::OtherEmbedder { .. }) => Code::EmbedderMismatch,
            Self::Store(StoreError::TimedOut) => Code::DeadlineExceeded,
            Self::Store(
                StoreError::Conflict(_)
                | StoreError::JobChanged(_)
                | StoreError::TraceChanged(_)
                | StoreError::CarriedOut(_),
            )
            | Self::RequestInWork
            | Self::Conflict(_)
            | Self::TaskInUse(_)
            | Self::ConsolidationRunning => Code::Conflict,
            Self::Store(_) | Self::BankUnwritten(_) => Code::StoreUnavailable,
            Self::Embedding(_) => Code::EmbeddingUnavailable,
            Self::NoModel | Self::ModelUnavailable { .. } => Code::LlmUnavailable,
            Self::ModelFailed { .. } | Self::ModelRefused(_) => Code::LlmFailed,
            Self::ModelOutputInvalid(_) => Code::LlmOutputInvalid,
            Self::KeyRejected(_) => Code::LlmRejectedKey,
            Self::TokenBudgetExceeded { .. } | Self::DailyLimit { .. } => Code::TokenBudgetExceeded,
            Self::Overloaded { .. } => Code::Overloaded,
            Self::DeadlineExceeded => Code::DeadlineExceeded,
            Self::Cancelled => Code::Cancelled,
            Self::Internal(_) => Code::Internal,
        }
    }

    /// Returns how long to wait before the same call is worth making again, rounded up to whole milliseconds. None
    /// where that is not known, or where a provider that has just failed says that no wait is needed.
    pub fn retry_after(&self) -> Option<Duration> {
        let known = match self {
            Self::Overloaded { retry_after } | Self::DailyLimit { retry_after, .. } => Some(*retry_after),
            Self::ModelUnavailable { retry_after, .. } | Self::ModelFailed { retry_after, .. } => *retry_after,
            Self::RequestInWork => Some(Duration::from_secs(1)),
            _ => None,
        };
        known.filter(|wait| !wait.is_zero()).map(whole_milliseconds)
    }

    /// Tells whether the same call may succeed later.
    pub fn retryable(&self) -> bool {
        matches!(
            self,
            Self::Store(
                StoreError::TimedOut
                    | StoreError::Conflict(_)
                    | StoreError::JobChanged(_)
                    | StoreError::TraceChanged(_)
                    | StoreError::ReadOnly(_)
                    | StoreError::Failed(_)
            ) | Self::Embedding(_)
                | Self::ModelUnavailable { .. }
                | Self::ModelFailed { .. }
                | Self::Overloaded { .. }
                | Self::DailyLimit { .. }
                | Self::DeadlineExceeded
                | Self::RequestInWork
                | Self::Conflict(_)
                | Self::TaskInUse(_)
                | Self::ConsolidationRunning
        )
    }
}

/// Rounds a wait up to whole milliseconds, because a caller that comes a moment too early is refused again.
fn whole_milliseconds(wait: Duration) -> Duration {
    let milliseconds = wait.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}

impl From<FieldProblem> for Error {
    /// Makes the error of a bad argument. The problems of a memory's fields are told together instead, as
    /// [`MemoryInvalid`].
    fn from(bad: FieldProblem) -> Self {
        Self::invalid(bad.field, bad.problem)
    }
}

impl From<RecordRefusal> for Error {
    fn from(refused: RecordRefusal) -> Self {
        match refused {
            RecordRefusal::Argument(bad) => bad.into(),
            RecordRefusal::Memory(invalid) => invalid.into(),
            RecordRefusal::NoReaders(scope) => Self::ScopeDenied(scope),
        }
    }
}

impl From<ReportRefusal> for Error {
    fn from(refused: ReportRefusal) -> Self {
        match refused {
            ReportRefusal::Missing(ids) => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                Self::NotFound(format!("memory {} here", ids.join(", ")))
            }
            ReportRefusal::NotShared(scope) => Self::SharingDenied(scope),
        }
    }
}

impl From<CallError> for Error {
    /// Only `Dropped` is a bug of ours (something crashed); the others pass with time, so their codes invite a retry.
    fn from(error: CallError) -> Self {
        match error {
            CallError::Unavailable | CallError::TimedOut => Self::DeadlineExceeded,
            CallError::Overloaded { retry_after } => Self::Overloaded { retry_after },
            CallError::Dropped => Self::internal(error),
        }
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        match error {
            // Whoever made the call has tried as often as it should be tried.
            ModelError::Transient { message, retry_after } | ModelError::RateLimited { message, retry_after } => {
                Self::ModelFailed { message, retry_after }
            }
            ModelError::CircuitOpen { retry_after } => {
                Self::ModelUnavailable { message: error.to_string(), retry_after: Some(retry_after) }
            }
            ModelError::TooLate { reason, .. } => (*reason).into(),
            ModelError::Refused(message) => Self::ModelRefused(message),
            ModelError::KeyRejected(message) => Self::KeyRejected(message),
            ModelError::InvalidOutput(message) => Self::ModelOutputInvalid(message),
            ModelError::TimedOut => Self::DeadlineExceeded,
            ModelError::Cancelled => Self::Cancelled,
            ModelError::NoModel => Self::NoModel,
        }
    }
}
