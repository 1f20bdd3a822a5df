//! The backups of the settings, made of the store that this process has open.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reasoning_bank_actors::ports::{BackupLook, Backups};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_store::backup::{MOMENT_LIMIT, Schedule, make_if_due};
use tokio_util::sync::CancellationToken;

use super::Opened;

const LOOK_EVERY: Duration = Duration::from_secs(60);

pub(super) struct ScheduledBackups {
    store: Opened,
    schedule: Schedule,
}

impl ScheduledBackups {
    pub(super) fn new(store: Opened, schedule: Schedule) -> Self {
        Self { store, schedule }
    }
}

impl Backups for ScheduledBackups {
    fn look_every(&self) -> Duration {
        LOOK_EVERY.min(self.schedule.every.unsigned_abs())
    }

    /// While the store is not open, none is due.
    fn make_if_due(&self, now: Timestamp, cancel: CancellationToken) -> BoxFuture<'_, Result<BackupLook, String>> {
        async move {
            let Some(store) = self.store.lock().await.clone() else { return Ok(BackupLook::default()) };
            let looked = make_if_due(&store, &self.schedule, now, Deadline::after(MOMENT_LIMIT), &cancel).await;
            looked.map_err(|error| error.to_string())
        }
        .boxed()
    }
}
