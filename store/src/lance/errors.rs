//! The errors of the port, made from what fails below: which error it is, that it comes before the caller's time is
//! over, and whether it is the reason why nothing can be written.

use std::io;
use std::path::Path;
use std::time::Duration;

use reasoning_bank_actors::ports::{ReadOnlyCause, StoreError};
use reasoning_bank_actors::runtime::Deadline;

/// The time that is left before a deadline, so that the answer to whoever waits can say why.
const TO_ANSWER: Duration = Duration::from_millis(500);

/// Makes an error from the text of an error of a layer below. The remedy is the same for all of them.
pub(super) fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(error.to_string())
}

/// Makes the error of a path that cannot be used: "no permission" and the like, with the path.
pub(super) fn unusable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unusable(format!("{}: {error}", path.display()))
}

/// Makes the error of a file of the store that does not say what it should.
pub(super) fn unreadable(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::Unusable(format!("{} cannot be read: {error}", path.display()))
}

/// Returns the reason why nothing could be written; `None` where the error has another reason. An error of the system
/// is recognised by its number, whatever layer it comes through.
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

/// Returns what the work comes to, or [`StoreError::TimedOut`] where the deadline passes first.
pub(super) async fn before_deadline<T>(
    deadline: Deadline,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    if deadline.passed() {
        return Err(StoreError::TimedOut);
    }
    tokio::time::timeout_at(deadline.instant(), work).await.unwrap_or(Err(StoreError::TimedOut))
}

/// Returns a time a little before the deadline, so that whoever waits is told what stood in the way.
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
