//! The making of backups, from time to time.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

pub trait Backups: Send + Sync + 'static {
    /// Returns the time between two looks whether a backup is due.
    fn look_every(&self) -> Duration;

    /// Makes a backup where one is due, and says where it is. None where none is due, or where somebody else makes one.
    /// An error says why there is none. It ends soon after it is cancelled.
    fn make_if_due(&self, now: Timestamp, cancel: CancellationToken) -> BoxFuture<'_, Result<Option<String>, String>>;
}
