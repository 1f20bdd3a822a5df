//! Crashes on demand: they kill an actor, or make it panic. The actor needs no code for that.

use std::fmt;

use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, Message};

use crate::runtime::Slot;
use crate::system::SystemHandle;

/// The faults that an actor can be given.
pub struct Faults {
    current: Box<dyn Fn() -> Option<ActorCell> + Send + Sync>,
}

impl SystemHandle {
    /// Returns the faults of the actor that has this name in the tree.
    pub fn faults(&self, actor: &'static str) -> Faults {
        let supervisor = self.supervisor.clone();
        Faults::at(move || supervisor.incarnation(actor))
    }
}

impl Faults {
    pub fn of<M: Message>(slot: &Slot<M>) -> Self {
        let slot = slot.clone();
        Self::at(move || slot.current().map(|actor| actor.get_cell()))
    }

    fn at(current: impl Fn() -> Option<ActorCell> + Send + Sync + 'static) -> Self {
        Self { current: Box::new(current) }
    }

    /// Returns the faults of one of the actors that this one started, such as the agent of a task.
    pub fn of_a_child(self) -> Self {
        Self::at(move || (self.current)()?.get_children().pop())
    }

    /// Kills the current incarnation and waits until it has ended. False if there is none.
    pub async fn kill(&self) -> bool {
        let Some(actor) = (self.current)() else { return false };
        actor.kill_and_wait(None).await.is_ok()
    }

    /// Makes the current incarnation panic between two messages, and waits until it has ended. False if there is none.
    pub async fn panic(&self) -> bool {
        let Some(actor) = (self.current)() else { return false };
        Failing::spawn_linked(None, Failing, (), actor.clone()).await.is_ok() && actor.wait(None).await.is_ok()
    }
}

/// An actor that fails at once. Its failure goes to the actor above it, which panics when it drops the reason.
struct Failing;

impl Actor for Failing {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn post_start(&self, _: ActorRef<()>, (): &mut ()) -> Result<(), ActorProcessingErr> {
        Err(PanicsWhenDropped.into())
    }
}

#[derive(Debug)]
struct PanicsWhenDropped;

impl fmt::Display for PanicsWhenDropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("made to panic")
    }
}

impl std::error::Error for PanicsWhenDropped {}

impl Drop for PanicsWhenDropped {
    #[expect(clippy::panic, reason = "what it is for")]
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("panicked on request of a test");
        }
    }
}
