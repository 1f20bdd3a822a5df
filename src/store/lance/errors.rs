//! How what fails below becomes an error of the port: which error it is, in time, and whether it is the reason why
//! nothing can be written.

use std::io;
use std::path::Path;
use std::time::Duration;

use reasoning_bank_actors::ports::{ReadOnlyCause, StoreError};
use reasoning_bank_actors::runtime::Deadline;

/// This much time is left to whoever waits, so that the answer says why.
const TO_ANSWER: Duration = Duration::from_millis(500);

/// The error of a layer below, by its text. The remedy is the same for all of them.
pub(super) fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(error.to_string())
}

/// "no permission" and the like, with the path that it is about.
pub(super) fn unusable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unusable(format!("{}: {error}", path.display()))
}

/// The error for a file of the store that does not say what it should.
pub(super) fn unreadable(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::Unusable(format!("{} cannot be read: {error}", path.display()))
}

/// Why nothing could be written, where that is the reason for the error. Whatever layer it comes through, an error of
/// the system is told with its number.
pub(super) fn read_only_cause(error: &StoreError) -> Option<ReadOnlyCause> {
    let text = match error {
        StoreError::ReadOnly(cause) => return Some(*cause),
        StoreError::Unusable(text) | StoreError::Failed(text) => text,
        _ => return None,
    };
    let (_, after) = text.rsplit_once("(os error ")?;
    let number = after.split_once(')')?.0.parse().ok()?;
    ReadOnlyCause::of(io::Error::from_raw_os_error(number).kind())
}

/// What the work comes to, or that it timed out.
pub(super) async fn within<T>(
    deadline: Deadline,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    if deadline.passed() {
        return Err(StoreError::TimedOut);
    }
    tokio::time::timeout_at(deadline.instant(), work).await.unwrap_or(Err(StoreError::TimedOut))
}

/// A little before the deadline, so that whoever waits is told what stood in the way.
pub(super) fn to_answer(deadline: Deadline) -> Deadline {
    deadline.leaving(TO_ANSWER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_told_by_the_number_of_the_system_whatever_layer_it_comes_through() {
        let of = |text: &str| read_only_cause(&StoreError::Failed(text.into()));
        assert_eq!(
            of("LanceError(IO): Unable to write: No space left on device (os error 28)"),
            Some(ReadOnlyCause::DiskFull)
        );
        assert_eq!(of("a: b: Read-only file system (os error 30) at path \"/x\""), Some(ReadOnlyCause::FileSystem));
        assert_eq!(of("Permission denied (os error 13)"), Some(ReadOnlyCause::Permission));
        for other in ["Input/output error (os error 5)", "os error 28", "(os error x)", "(os error 28", ""] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
