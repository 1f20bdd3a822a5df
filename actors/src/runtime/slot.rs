//! The slot of an actor, by which its current incarnation is found. Handles keep a slot, never an `ActorRef`: a restart
//! makes a new `ActorRef` and the supervisor binds it here.

use std::sync::Arc;

use ractor::concurrency::oneshot;
use ractor::{ActorId, ActorRef, Message, MessagingErr, RpcReplyPort};
use tokio::sync::watch;
use tokio::time::timeout_at;

use super::{CallError, Deadline};

enum SlotState<M> {
    /// The actor is not started yet, or is between two incarnations.
    Vacant,
    Bound(ActorRef<M>),
    /// The actor ended for good, so nobody waits for it.
    Closed,
}

pub struct Slot<M> {
    binding: Arc<watch::Sender<SlotState<M>>>,
}

impl<M> Clone for Slot<M> {
    fn clone(&self) -> Self {
        Self { binding: Arc::clone(&self.binding) }
    }
}

impl<M> Default for Slot<M> {
    fn default() -> Self {
        Self { binding: Arc::new(watch::Sender::new(SlotState::Vacant)) }
    }
}

impl<M: Message> Slot<M> {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn bind(&self, actor: ActorRef<M>) {
        self.binding.send_replace(SlotState::Bound(actor));
    }

    /// Forgets this incarnation, but not a newer one. Calls wait for the next.
    pub fn clear(&self, ended: ActorId) {
        self.binding.send_if_modified(|binding| {
            let ended = matches!(binding, SlotState::Bound(actor) if actor.get_id() == ended);
            if ended {
                *binding = SlotState::Vacant;
            }
            ended
        });
    }

    /// Says that there will be no next incarnation, so calls fail at once.
    pub fn close(&self) {
        self.binding.send_replace(SlotState::Closed);
    }

    /// Returns the incarnation that is bound now, which may have ended a moment ago.
    pub fn current(&self) -> Option<ActorRef<M>> {
        match &*self.binding.borrow() {
            SlotState::Bound(actor) => Some(actor.clone()),
            SlotState::Vacant | SlotState::Closed => None,
        }
    }

    /// Sends now or fails. It waits for nothing, and nothing is answered.
    pub fn cast(&self, message: M) -> Result<(), CallError> {
        let actor = self.current().ok_or(CallError::Unavailable)?;
        actor.send_message(message).map_err(|_| CallError::Unavailable)
    }

    /// Waits for an incarnation that takes the message, sends it once, waits for the answer; all before the deadline.
    /// A message that was taken is never sent again, whatever becomes of its actor.
    pub async fn call<R: Send + 'static>(
        &self,
        make: impl FnOnce(RpcReplyPort<R>) -> M,
        deadline: Deadline,
    ) -> Result<R, CallError> {
        if deadline.passed() {
            return Err(CallError::TimedOut);
        }
        let (reply, answer) = oneshot();
        self.send(make((reply, deadline.remaining()).into()), deadline).await?;
        match timeout_at(deadline.instant(), answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(CallError::Dropped),
            Err(_) => Err(CallError::TimedOut),
        }
    }

    async fn send(&self, mut message: M, deadline: Deadline) -> Result<(), CallError> {
        let mut refused = None;
        loop {
            let actor = match timeout_at(deadline.instant(), self.incarnation_other_than(refused)).await {
                Ok(Some(actor)) => actor,
                Ok(None) | Err(_) => return Err(CallError::Unavailable),
            };
            match actor.send_message(message) {
                Ok(()) => return Ok(()),
                Err(MessagingErr::SendErr(returned)) => {
                    message = returned;
                    refused = Some(actor.get_id());
                }
                Err(MessagingErr::ChannelClosed | MessagingErr::InvalidActorType) => {
                    return Err(CallError::Unavailable);
                }
            }
        }
    }

    /// Waits for an incarnation other than the one that refused. None where the slot is closed.
    async fn incarnation_other_than(&self, refused: Option<ActorId>) -> Option<ActorRef<M>> {
        let mut binding = self.binding.subscribe();
        let found = binding
            .wait_for(|binding| match binding {
                SlotState::Vacant => false,
                SlotState::Bound(actor) => Some(actor.get_id()) != refused,
                SlotState::Closed => true,
            })
            .await;
        match found.as_deref() {
            Ok(SlotState::Bound(actor)) => Some(actor.clone()),
            _ => None,
        }
    }
}
