//! Progress notifications beside a running request. They are strictly increasing, and there are at most ten a second.
//! The numbers are the solver's own, and the message says which stage it is at.

use std::time::Duration;

use reasoning_bank_domain::solve::stage::Stage;
use reasoning_bank_domain::solve::task::Progress;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

const INTERVAL: Duration = Duration::from_millis(100);

/// A client that does not take a notification within this time gets no more of them.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs `work`, and notifies the client of `progress` meanwhile. Nothing is sent once the work is done.
pub(super) async fn reported<T>(
    work: impl Future<Output = T>,
    mut progress: watch::Receiver<Progress>,
    token: Option<ProgressToken>,
    peer: &Peer<RoleServer>,
) -> T {
    let mut work = std::pin::pin!(work);
    let Some(token) = token else { return work.await };
    let mut sent = 0;
    let mut next = Instant::now();
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            changed = async { sleep_until(next).await; progress.changed().await } => {
                if changed.is_err() {
                    return work.await;
                }
            }
        }
        let Progress { completed, total, stages, .. } = progress.borrow_and_update().clone();
        if completed <= sent {
            continue;
        }
        sent = completed;
        next = Instant::now() + INTERVAL;
        let mut notification = ProgressNotificationParam::new(token.clone(), completed.into()).with_total(total.into());
        notification.message = stages.last().map(Stage::to_string);
        if !matches!(timeout(NOTIFY_TIMEOUT, peer.notify_progress(notification)).await, Ok(Ok(()))) {
            return work.await;
        }
    }
}
