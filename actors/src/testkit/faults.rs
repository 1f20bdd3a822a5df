//! Crashes on demand: kill the actor behind a slot, or make it panic.

use futures::future::BoxFuture;
use ractor::{ActorCell, Message};

use crate::runtime::Slot;

/// For message types with a variant that makes their actor panic:
///
/// ```text
/// #[cfg(feature = "testkit")]
/// impl crate::testkit::Panics for StoreMsg {
///     fn panic() -> Self {
///         Self::Panic
///     }
/// }
/// // in `handle`
/// #[cfg(feature = "testkit")]
/// StoreMsg::Panic => crate::testkit::panic_on_request(),
/// ```
pub trait Panics {
    fn panic() -> Self;
}

#[expect(clippy::panic, reason = "what it is for")]
pub fn panic_on_request() -> ! {
    panic!("panicked on request of a test")
}

/// What a handle gives to tests, so that they need neither its slot nor its messages:
/// `pub fn faults(&self) -> Faults { Faults::of(&self.slot) }` under the feature `testkit`.
pub struct Faults {
    current: Box<dyn Fn() -> Option<ActorCell> + Send + Sync>,
    panic: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Faults {
    pub fn of<M: Message + Panics>(slot: &Slot<M>) -> Self {
        let (current, panic) = (slot.clone(), slot.clone());
        Self {
            current: Box::new(move || current.current().map(|actor| actor.get_cell())),
            panic: Box::new(move || panic.cast(M::panic()).is_ok()),
        }
    }

    /// For an actor that takes no message of ours: it can be killed and not made to panic.
    pub fn killing<M: Message>(slot: &Slot<M>) -> Self {
        let current = slot.clone();
        Self { current: Box::new(move || current.current().map(|actor| actor.get_cell())), panic: Box::new(|| false) }
    }

    /// Kills the current incarnation and waits until it has ended. False if there is none.
    pub async fn kill(&self) -> bool {
        let Some(actor) = (self.current)() else { return false };
        actor.kill_and_wait(None).await.is_ok()
    }

    /// Queues a message that makes the current incarnation panic, and waits until it has ended. False if there is none.
    pub fn panic(&self) -> BoxFuture<'static, bool> {
        let actor = (self.current)();
        let sent = actor.is_some() && (self.panic)();
        Box::pin(async move {
            match actor {
                Some(actor) if sent => actor.wait(None).await.is_ok(),
                _ => false,
            }
        })
    }
}
