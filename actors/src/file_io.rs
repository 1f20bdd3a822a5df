//! Work with files that lie beside the store: on a thread of its own, before a deadline. `openings` opens files for an
//! actor.

mod openings;

use std::io;

use crate::error::Error;
use crate::ports::StoreError;
use crate::runtime::Deadline;

pub(crate) use openings::Openings;

/// Runs what reads and writes files. It goes on by itself after the deadline.
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

/// Waits for files, until the deadline. Their work goes on by itself after it.
pub(crate) async fn in_time<T>(deadline: Deadline, work: impl Future<Output = io::Result<T>>) -> Result<T, Error> {
    match tokio::time::timeout_at(deadline.instant(), work).await {
        Ok(done) => done.map_err(unusable),
        Err(_) => Err(Error::DeadlineExceeded),
    }
}

pub(crate) fn unusable(error: io::Error) -> Error {
    StoreError::Unusable(error.to_string()).into()
}
