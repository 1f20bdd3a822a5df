//! An actor with every habit of a real one and none of its work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use reasoning_bank_actors::runtime::{ChildSpec, Deadline, Slot, Tasks};
use reasoning_bank_actors::testkit::{Panics, panic_on_request};
use reasoning_bank_domain::restart::Restart;
use tokio::sync::{Notify, oneshot};

#[derive(Clone, Default)]
pub(crate) struct Echo {
    /// Messages taken, over all incarnations.
    pub(crate) taken: Arc<AtomicUsize>,
    /// Work that came to its end.
    pub(crate) finished: Arc<AtomicUsize>,
    /// Clean ends.
    pub(crate) stops: Arc<AtomicUsize>,
}

pub(crate) enum EchoMsg {
    Echo {
        text: String,
        reply: RpcReplyPort<String>,
    },
    /// Holds the handler until notified.
    Hold {
        until: Arc<Notify>,
    },
    /// Starts work that ends when notified; the answer comes from the work.
    Work {
        until: Arc<Notify>,
        started: oneshot::Sender<()>,
        reply: RpcReplyPort<String>,
    },
    Fail,
    Panic,
}

impl Panics for EchoMsg {
    fn panic() -> Self {
        Self::Panic
    }
}

impl Echo {
    pub(crate) fn child(&self, name: &'static str, restart: Restart, slot: &Slot<EchoMsg>) -> ChildSpec {
        let echo = self.clone();
        ChildSpec::actor(name, restart, slot, move || (echo.clone(), ()))
    }
}

impl Actor for Echo {
    type Msg = EchoMsg;
    type State = Tasks;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<EchoMsg>, (): ()) -> Result<Tasks, ActorProcessingErr> {
        Ok(Tasks::new("echo"))
    }

    async fn handle(
        &self,
        _: ActorRef<EchoMsg>,
        message: EchoMsg,
        tasks: &mut Tasks,
    ) -> Result<(), ActorProcessingErr> {
        self.taken.fetch_add(1, Ordering::SeqCst);
        match message {
            EchoMsg::Echo { text, reply } => {
                let _ = reply.send(text);
            }
            EchoMsg::Hold { until } => until.notified().await,
            EchoMsg::Work { until, started, reply } => {
                let finished = Arc::clone(&self.finished);
                tasks.spawn(async move {
                    let _ = started.send(());
                    until.notified().await;
                    finished.fetch_add(1, Ordering::SeqCst);
                    let _ = reply.send("worked".to_owned());
                });
            }
            EchoMsg::Fail => return Err("failed as asked".into()),
            EchoMsg::Panic => panic_on_request(),
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<EchoMsg>, tasks: &mut Tasks) -> Result<(), ActorProcessingErr> {
        tasks.finish(Deadline::after(std::time::Duration::from_secs(3600))).await;
        self.stops.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
