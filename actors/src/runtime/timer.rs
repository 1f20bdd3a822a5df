//! The timers of actors.

use std::time::Duration;

use ractor::{ActorRef, Message, MessagingErr};
use tokio_util::task::AbortOnDropHandle;

/// A message that comes to an actor later, unless the timer is dropped first. An actor keeps its timer in its state, so
/// that the timer ends with it.
pub struct MessageTimer<M: Message>(#[expect(dead_code, reason = "it is kept to be dropped")] Sending<M>);

type Sending<M> = AbortOnDropHandle<Result<(), MessagingErr<M>>>;

impl<M: Message> MessageTimer<M> {
    /// Sends the message that `make` makes after this time.
    pub fn after(wait: Duration, to: &ActorRef<M>, make: impl FnOnce() -> M + Send + 'static) -> Self {
        Self(AbortOnDropHandle::new(to.send_after(wait, make)))
    }
}
