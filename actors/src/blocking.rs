//! Work that blocks its thread.

use crate::error::Error;
use crate::runtime::Deadline;

/// Runs what reads and writes files before the deadline. After it the work goes on to its end by itself.
pub(crate) async fn blocking<T: Send + 'static>(
    deadline: Deadline,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let working = tokio::task::spawn_blocking(work);
    match tokio::time::timeout_at(deadline.instant(), working).await {
        Ok(done) => done.map_err(Error::internal)?,
        Err(_) => Err(Error::DeadlineExceeded),
    }
}
