//! Waiting that ends with its caller.

use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use crate::ports::ModelError;
use crate::runtime::Deadline;

/// Returns what `waiting` gives. Where the call is cancelled or its deadline passes before, it drops `waiting`.
pub(super) async fn with_deadline<T>(
    deadline: Deadline,
    cancel: &CancellationToken,
    waiting: impl Future<Output = T>,
) -> Result<T, ModelError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ModelError::Cancelled),
        done = timeout_at(deadline.instant(), waiting) => done.map_err(|_| ModelError::TimedOut),
    }
}
