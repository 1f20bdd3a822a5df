//! Tells the service manager how the daemon is, where one started it: systemd names a socket in `NOTIFY_SOCKET`.
//! Without one nothing is told to anybody.

use std::time::Duration;

use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use sd_notify::NotifyState;
use tokio_util::sync::CancellationToken;

/// The store is asked anew after this time while it cannot be opened.
const ASK_AGAIN: Duration = Duration::from_secs(1);
const OPEN_LIMIT: Duration = Duration::from_secs(30);

/// Says that the daemon is ready once the store answers, and that it stops once `end` is cancelled. The daemon listens
/// already.
pub(super) async fn follow(system: SystemHandle, end: CancellationToken) {
    let opened = async {
        while system.workspaces.list(Deadline::after(OPEN_LIMIT)).await.is_err() {
            tokio::time::sleep(ASK_AGAIN).await;
        }
    };
    tokio::select! {
        () = opened => {
            tell(&[NotifyState::Ready]);
            end.cancelled().await;
        }
        () = end.cancelled() => {}
    }
    tell(&[NotifyState::Stopping]);
}

/// Does what takes over a new configuration, and says so before and after it.
pub(super) fn reloading(reload: impl FnOnce()) {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "the service manager is not told of the reload"),
    }
    reload();
    tell(&[NotifyState::Ready]);
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!(%error, "the service manager could not be told");
    }
}
