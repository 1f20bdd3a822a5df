//! The errors that can come between a handle and its actor, whatever was asked.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Nothing was sent: the actor did not come back before the deadline, or is ended for good. The call is safe to
    /// repeat.
    #[error("the actor is not running")]
    Unavailable,
    /// Nothing was sent: too many are inside already. The call is safe to repeat.
    #[error("too many callers; try again in {retry_after:?}")]
    Overloaded { retry_after: Duration },
    /// The request was sent, and is possibly still being worked on.
    #[error("no answer before the deadline")]
    TimedOut,
    /// The request was sent, and the actor or the work ended without an answer. What it had done by then is unknown.
    #[error("the actor ended before it answered")]
    Dropped,
}

/// Makes a call, and makes it once more where the actor ended before it answered. This is for requests that do no harm
/// when they are carried out twice.
pub(crate) async fn ask_again_if_dropped<T, F>(ask: impl Fn() -> F) -> Result<T, CallError>
where
    F: Future<Output = Result<T, CallError>>,
{
    match ask().await {
        Err(CallError::Dropped) => ask().await,
        answer => answer,
    }
}
