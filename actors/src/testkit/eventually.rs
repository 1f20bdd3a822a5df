//! Waiting for a condition by what the system tells, not by the clock.

use crate::runtime::{Deadline, Subscription};

/// True as soon as `condition` holds, which is asked now and after each event; false if it does not by the deadline.
/// Subscribe before causing what is waited for.
pub async fn eventually(
    events: &mut Subscription,
    deadline: Deadline,
    mut condition: impl AsyncFnMut() -> bool,
) -> bool {
    loop {
        if condition().await {
            return true;
        }
        if events.wait_for(|_| true, deadline).await.is_none() {
            return condition().await;
        }
    }
}
