//! An actor with every habit of a real one and none of its work, and a supervisor over it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use futures::FutureExt;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, SpawnErr};
use reasoning_bank_actors::runtime::{
    CallError, ChildSpec, Deadline, Events, Slot, SupervisorArgs, SupervisorHandle, Tasks,
};
use reasoning_bank_domain::system::restart::{Restart, RestartLimits};
use tokio::sync::{Notify, oneshot};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;

pub(crate) fn within(ms: u64) -> Deadline {
    Deadline::after(MS(ms))
}

pub(crate) async fn supervise(children: Vec<ChildSpec>, limits: RestartLimits, events: &Events) -> SupervisorHandle {
    SupervisorHandle::start(SupervisorArgs::new("root", children, limits, events.clone())).await.unwrap()
}

pub(crate) async fn echo(slot: &Slot<EchoMsg>, text: &str, deadline: Deadline) -> Result<String, CallError> {
    slot.call(|reply| EchoMsg::Echo { text: text.to_owned(), reply }, deadline).await
}

/// Keeps the actor's handler busy until notified; returns when it is.
pub(crate) async fn hold(slot: &Slot<EchoMsg>) -> Arc<Notify> {
    let until = Arc::new(Notify::new());
    let (held, holding) = oneshot::channel();
    slot.cast(EchoMsg::Hold { until: Arc::clone(&until), held }).unwrap();
    holding.await.unwrap();
    until
}

/// Counts over all incarnations of all clones.
#[derive(Clone, Default)]
pub(crate) struct Echo {
    taken: Arc<AtomicUsize>,
    texts: Arc<Mutex<HashMap<String, usize>>>,
    /// The number of pieces of work that came to their end.
    pub(crate) finished: Arc<AtomicUsize>,
    /// The number of messages whose caller had given up.
    pub(crate) abandoned: Arc<AtomicUsize>,
    /// The number of clean ends of the actor.
    pub(crate) stops: Arc<AtomicUsize>,
}

pub(crate) enum EchoMsg {
    Echo {
        text: String,
        reply: RpcReplyPort<String>,
    },
    /// Waits in the handler, which no actor shall do.
    Hold {
        until: Arc<Notify>,
        held: oneshot::Sender<()>,
    },
    /// Starts work that answers when notified.
    Work {
        until: Arc<Notify>,
        started: oneshot::Sender<()>,
        reply: RpcReplyPort<String>,
    },
    /// Blocks its thread.
    Block {
        until: mpsc::Receiver<()>,
        held: oneshot::Sender<()>,
    },
    Fail,
    Panic,
}

impl Echo {
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    /// Returns how often a text came that a caller sent once.
    pub(crate) fn most_takes_of_one_text(&self) -> usize {
        let texts = self.texts.lock().unwrap();
        texts.iter().filter(|(text, _)| text.contains('/')).map(|(_, takes)| *takes).max().unwrap_or(0)
    }

    pub(crate) fn child(&self, name: &'static str, restart: Restart, slot: &Slot<EchoMsg>) -> ChildSpec {
        let echo = self.clone();
        ChildSpec::actor(name, restart, slot, move || (echo.clone(), ()))
    }

    /// A child that fails the first starts.
    pub(crate) fn flaky(&self, name: &'static str, failures: usize, slot: &Slot<EchoMsg>) -> ChildSpec {
        let (echo, starts) = (self.clone(), Arc::new(AtomicUsize::new(0)));
        ChildSpec::new(name, Restart::Permanent, slot, move |supervisor| {
            let (echo, start) = (echo.clone(), starts.fetch_add(1, Ordering::SeqCst));
            async move {
                if start < failures {
                    return Err(SpawnErr::StartupFailed("no disk".into()));
                }
                Ok(Echo::spawn_linked(None, echo, (), supervisor).await?.0)
            }
            .boxed()
        })
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
            EchoMsg::Echo { reply, .. } if reply.is_closed() => {
                self.abandoned.fetch_add(1, Ordering::SeqCst);
            }
            EchoMsg::Echo { text, reply } => {
                *self.texts.lock().unwrap().entry(text.clone()).or_default() += 1;
                let _ = reply.send(text);
            }
            EchoMsg::Hold { until, held } => {
                let _ = held.send(());
                until.notified().await;
            }
            EchoMsg::Work { until, started, reply } => {
                let finished = Arc::clone(&self.finished);
                tasks.spawn(async move {
                    let _ = started.send(());
                    until.notified().await;
                    finished.fetch_add(1, Ordering::SeqCst);
                    let _ = reply.send("worked".to_owned());
                });
            }
            EchoMsg::Block { until, held } => {
                let _ = held.send(());
                let _ = until.recv();
            }
            EchoMsg::Fail => return Err("failed as asked".into()),
            EchoMsg::Panic => panic!("panicked in its handler"),
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<EchoMsg>, tasks: &mut Tasks) -> Result<(), ActorProcessingErr> {
        tasks.finish(within(60_000)).await;
        self.stops.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}
