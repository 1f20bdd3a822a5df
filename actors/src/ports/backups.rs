//! The making of backups, from time to time.

use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

/// The outcome of a look whether a backup is due.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackupLook {
    /// The place of the backup that was made now. None where none was due, or where somebody else makes one.
    pub made: Option<String>,
    /// The time of the newest backup of the schedule. None where there is none yet.
    pub newest: Option<Timestamp>,
}

pub trait Backups: Send + Sync + 'static {
    /// Returns the time between two looks whether a backup is due.
    fn look_every(&self) -> Duration;

    /// Makes a backup where one is due. An error says why there is none. It ends soon after it is cancelled.
    fn make_if_due(&self, now: Timestamp, cancel: CancellationToken) -> BoxFuture<'_, Result<BackupLook, String>>;
}
