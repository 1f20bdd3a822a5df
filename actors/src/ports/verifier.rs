//! The verifier port: a check of a solution by something other than a model, such as the tests of a project.

use std::fmt::Debug;

use futures::future::BoxFuture;
use reasoning_bank_domain::memory::observation::Observed;
use tokio_util::sync::CancellationToken;

use crate::runtime::Deadline;

/// The reason why a check observed nothing. That the solution does not pass is an observation, not an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    #[error("the check could not be run: {0}")]
    NotRun(String),
    #[error("the check did not end in the time it was given")]
    TimedOut,
    #[error("the check was cancelled")]
    Cancelled,
}

pub trait Verifier: Debug + Send + Sync + 'static {
    /// Checks a solution. It ends early, with what it started, when `cancel` fires or the future is dropped.
    fn verify(
        &self,
        solution: String,
        deadline: Deadline,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Observed, VerifyError>>;
}
