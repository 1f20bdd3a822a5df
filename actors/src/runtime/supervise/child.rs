//! A child as its supervisor sees it: how to start it, and how it is doing.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use ractor::factory::{FactoryMessage, JobKey};
use ractor::{Actor, ActorCell, ActorId, ActorRef, Message, SpawnErr};
use reasoning_bank_domain::system::restart::Restart;
use tokio::time::timeout;

use crate::runtime::{Gate, Slot};

/// The time limit of a start. It is a trivial `pre_start`; what takes longer is opened elsewhere and handed in.
const START_LIMIT: Duration = Duration::from_secs(5);

type StartFn = Arc<dyn Fn(ActorCell) -> BoxFuture<'static, Result<ActorCell, SpawnErr>> + Send + Sync>;
type DrainFn = Arc<dyn Fn(&ActorCell) + Send + Sync>;

/// The description of a child, which can be started any number of times. Its slot follows it.
#[derive(Clone)]
pub struct ChildSpec {
    pub(super) name: &'static str,
    pub(super) restart: Restart,
    pub(super) slot: Arc<dyn AnySlot>,
    gate: Option<Gate>,
    start: StartFn,
    drain: DrainFn,
}

impl ChildSpec {
    /// Describes a single actor. `make` gives the actor and its arguments for each incarnation. The actor is started
    /// without a ractor name, because names are global to the process and are freed late.
    pub fn actor<A: Actor>(
        name: &'static str,
        restart: Restart,
        slot: &Slot<A::Msg>,
        make: impl Fn() -> (A, A::Arguments) + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, restart, slot, move |supervisor| {
            let (actor, arguments) = make();
            async move { Ok(A::spawn_linked(None, actor, arguments, supervisor).await?.0) }.boxed()
        })
    }

    /// Describes a pool of workers. ractor's usual drain would throw away the queue of the pool. The factory's own
    /// drain, which is used here, finishes queued jobs first. `start` links the factory to the given supervisor. The
    /// `pre_start` of its workers must not fail, because that takes the factory down.
    pub fn factory<K: JobKey, M: Message>(
        name: &'static str,
        restart: Restart,
        slot: &Slot<FactoryMessage<K, M>>,
        start: impl Fn(ActorCell) -> BoxFuture<'static, Result<ActorRef<FactoryMessage<K, M>>, SpawnErr>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let drain: DrainFn = Arc::new(|factory| {
            let _ = factory.send_message(FactoryMessage::<K, M>::DrainRequests);
        });
        Self { drain, ..Self::new(name, restart, slot, start) }
    }

    /// Describes an actor that is started in any other way. `start` links what it starts to the given supervisor.
    pub fn new<M: Message>(
        name: &'static str,
        restart: Restart,
        slot: &Slot<M>,
        start: impl Fn(ActorCell) -> BoxFuture<'static, Result<ActorRef<M>, SpawnErr>> + Send + Sync + 'static,
    ) -> Self {
        let bound = slot.clone();
        let start: StartFn = Arc::new(move |supervisor| {
            let (starting, bound) = (start(supervisor), bound.clone());
            async move {
                let actor = starting.await?;
                bound.bind(actor.clone());
                Ok(actor.get_cell())
            }
            .boxed()
        });
        let drain: DrainFn = Arc::new(|actor| {
            let _ = actor.drain();
        });
        Self { name, restart, slot: Arc::new(slot.clone()), gate: None, start, drain }
    }

    /// Says that callers come through this gate. The status of the child then says how many are inside.
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }

    pub(super) async fn start(&self, supervisor: ActorCell) -> Result<ActorCell, SpawnErr> {
        match timeout(START_LIMIT, (self.start)(supervisor)).await {
            Ok(started) => started,
            Err(_) => Err(SpawnErr::StartupFailed(format!("not started within {START_LIMIT:?}").into())),
        }
    }

    /// Begins the end of this incarnation: it takes nothing new and finishes what it has.
    pub(super) fn drain(&self, actor: &ActorCell) {
        (self.drain)(actor);
    }
}

/// A slot whose message type does not matter.
pub(super) trait AnySlot: Send + Sync {
    fn clear(&self, ended: ActorId);
    fn close(&self);
    #[cfg(feature = "testkit")]
    fn current(&self) -> Option<ActorCell>;
}

impl<M: Message> AnySlot for Slot<M> {
    fn clear(&self, ended: ActorId) {
        Slot::clear(self, ended);
    }

    fn close(&self) {
        Slot::close(self);
    }

    #[cfg(feature = "testkit")]
    fn current(&self) -> Option<ActorCell> {
        Slot::current(self).map(|actor| actor.get_cell())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildPhase {
    Running,
    /// It ended or could not be started, and will be started again.
    Restarting,
    /// It ended for good.
    Ended,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildStatus {
    pub name: &'static str,
    pub phase: ChildPhase,
    /// The number of starts after the first one, failed ones included.
    pub restarts: u64,
    /// The number of callers inside its gate. It is 0 where it has none.
    pub inside: usize,
    /// The number of callers that its gate turned away since the start.
    pub refused: u64,
    /// The reason why it last ended, or could not be started, other than normally.
    pub last_failure: Option<String>,
}

/// A child of a running supervisor.
pub(super) struct Child {
    pub(super) spec: ChildSpec,
    pub(super) phase: ChildPhase,
    pub(super) running: Option<ActorCell>,
    /// The number of times that it was started, or that a start was tried. A timer for an earlier incarnation is void.
    pub(super) incarnation: u64,
    pub(super) last_failure: Option<String>,
    /// True where it is being stopped and is not started again, whatever happens.
    pub(super) retired: bool,
}

impl Child {
    pub(super) fn new(spec: ChildSpec) -> Self {
        Self { spec, phase: ChildPhase::Restarting, running: None, incarnation: 0, last_failure: None, retired: false }
    }

    pub(super) fn status(&self) -> ChildStatus {
        ChildStatus {
            name: self.spec.name,
            phase: self.phase,
            restarts: self.incarnation.saturating_sub(1),
            inside: self.spec.gate.as_ref().map_or(0, Gate::inside),
            refused: self.spec.gate.as_ref().map_or(0, Gate::refused),
            last_failure: self.last_failure.clone(),
        }
    }

    pub(super) fn is(&self, id: ActorId) -> bool {
        self.running.as_ref().is_some_and(|actor| actor.get_id() == id)
    }

    pub(super) fn end(&mut self) {
        self.phase = ChildPhase::Ended;
        self.spec.slot.close();
    }
}
