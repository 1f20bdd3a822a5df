//! The supervisor as an actor. It takes events, and carries out the decisions of `domain::system::restart`.

mod stop;

use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, Signal, SupervisionEvent};
use reasoning_bank_domain::system::restart::{ActorExit, Decision, RestartHistory, RestartLimits};
use stop::StopSequence;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::child::{Child, ChildPhase, ChildSpec, ChildStatus};
use crate::runtime::{Events, SystemEvent, Tasks};

pub(super) use stop::KILL_LIMIT;
pub use stop::{StopOutcome, Stopped};

/// A supervisor had too many restarts within the window. Its own supervisor decides what follows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{supervisor} gives up: more than {} restarts within {:?}, the last for {child}: {reason}", limits.max_restarts, limits.window)]
pub struct GaveUp {
    pub supervisor: &'static str,
    pub child: &'static str,
    pub reason: String,
    pub limits: RestartLimits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    Stopped,
    /// The process cannot go on.
    GaveUp(GaveUp),
    Killed,
}

pub struct Supervisor;

#[derive(Clone)]
pub struct SupervisorArgs {
    pub name: &'static str,
    /// The children, which are started in this order.
    pub children: Arc<[ChildSpec]>,
    pub limits: RestartLimits,
    pub events: Events,
    pub(super) ended: watch::Sender<Option<Ended>>,
}

impl SupervisorArgs {
    pub fn new(name: &'static str, children: Vec<ChildSpec>, limits: RestartLimits, events: Events) -> Self {
        Self { name, children: children.into(), limits, events, ended: watch::Sender::new(None) }
    }
}

pub enum SupervisorMsg {
    StartDue {
        child: usize,
        incarnation: u64,
    },
    Observe {
        reply: RpcReplyPort<Vec<ChildStatus>>,
    },
    /// See [`SupervisorHandle::stop_in_order`](super::SupervisorHandle::stop_in_order).
    Stop {
        order: Vec<&'static str>,
        grace: Duration,
        reply: RpcReplyPort<Vec<Stopped>>,
    },
    ChildStopped {
        ending: StopOutcome,
        elapsed: Duration,
    },
}

pub struct SupervisorState {
    args: SupervisorArgs,
    children: Vec<Child>,
    history: RestartHistory,
    started: Instant,
    /// The ending that is told when the state is dropped.
    ended: Ended,
    tasks: Tasks,
    stopping: Option<StopSequence>,
}

impl Actor for Supervisor {
    type Msg = SupervisorMsg;
    type State = SupervisorState;
    type Arguments = SupervisorArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<SupervisorMsg>,
        args: SupervisorArgs,
    ) -> Result<SupervisorState, ActorProcessingErr> {
        let mut state = SupervisorState {
            children: args.children.iter().cloned().map(Child::new).collect(),
            history: RestartHistory::new(args.limits),
            started: Instant::now(),
            ended: Ended::Killed,
            tasks: Tasks::new(args.name),
            stopping: None,
            args,
        };
        for child in 0..state.children.len() {
            state.start(&myself, child).await?;
        }
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<SupervisorMsg>,
        message: SupervisorMsg,
        state: &mut SupervisorState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            SupervisorMsg::StartDue { child, incarnation } if state.awaits_start(child, incarnation) => {
                state.start(&myself, child).await?;
            }
            SupervisorMsg::StartDue { .. } => {}
            SupervisorMsg::Observe { reply } => {
                let _ = reply.send(state.children.iter().map(Child::status).collect());
            }
            SupervisorMsg::Stop { order, grace, reply } => state.begin_stop(&myself, &order, grace, reply),
            SupervisorMsg::ChildStopped { ending, elapsed } => state.child_stopped(&myself, ending, elapsed),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<SupervisorMsg>,
        event: SupervisionEvent,
        state: &mut SupervisorState,
    ) -> Result<(), ActorProcessingErr> {
        let Some((id, exit, reason)) = exit_of(event) else { return Ok(()) };
        let Some(child) = state.children.iter().position(|child| child.is(id)) else { return Ok(()) };
        state.exited(&myself, child, exit, reason)?;
        Ok(())
    }

    async fn post_stop(
        &self,
        _: ActorRef<SupervisorMsg>,
        state: &mut SupervisorState,
    ) -> Result<(), ActorProcessingErr> {
        state.children.iter_mut().for_each(Child::end);
        state.ended = Ended::Stopped;
        Ok(())
    }
}

impl SupervisorState {
    fn awaits_start(&self, child: usize, incarnation: u64) -> bool {
        self.children.get(child).is_some_and(|child| {
            child.phase == ChildPhase::Restarting && child.incarnation == incarnation && !child.retired
        })
    }

    async fn start(&mut self, myself: &ActorRef<SupervisorMsg>, index: usize) -> Result<(), GaveUp> {
        let child = &mut self.children[index];
        let name = child.spec.name;
        child.incarnation += 1;
        let incarnation = child.incarnation;
        match child.spec.start(myself.get_cell()).await {
            Ok(actor) => {
                child.running = Some(actor);
                child.phase = ChildPhase::Running;
                self.args.events.emit(|| SystemEvent::ChildStarted { child: name, incarnation });
                Ok(())
            }
            Err(error) => {
                let reason = error.to_string();
                self.args.events.emit(|| SystemEvent::StartFailed { child: name, reason: reason.clone() });
                self.decide(myself, index, ActorExit::Failed, reason)
            }
        }
    }

    fn exited(
        &mut self,
        myself: &ActorRef<SupervisorMsg>,
        index: usize,
        exit: ActorExit,
        reason: String,
    ) -> Result<(), GaveUp> {
        let child = &mut self.children[index];
        let name = child.spec.name;
        if let Some(actor) = child.running.take() {
            child.spec.slot.clear(actor.get_id());
        }
        self.args.events.emit(|| SystemEvent::ChildExited { child: name, exit, reason: reason.clone() });
        self.decide(myself, index, exit, reason)
    }

    fn decide(
        &mut self,
        myself: &ActorRef<SupervisorMsg>,
        index: usize,
        exit: ActorExit,
        reason: String,
    ) -> Result<(), GaveUp> {
        let (supervisor, limits) = (self.args.name, self.args.limits);
        let child = &mut self.children[index];
        let name = child.spec.name;
        if exit == ActorExit::Failed {
            tracing::warn!(supervisor, actor = name, %reason, "an actor failed");
            child.last_failure = Some(reason.clone());
        }
        if child.retired {
            child.end();
            return Ok(());
        }
        match self.history.on_exit(index, child.spec.restart, exit, self.started.elapsed()) {
            Decision::Leave => child.end(),
            Decision::After(delay) => {
                child.phase = ChildPhase::Restarting;
                let delay_ms = delay.as_millis() as u64;
                tracing::warn!(supervisor, actor = name, %reason, delay_ms, "an actor is restarted");
                let (myself, incarnation) = (myself.clone(), child.incarnation);
                self.tasks.spawn(async move {
                    sleep(delay).await;
                    let _ = myself.cast(SupervisorMsg::StartDue { child: index, incarnation });
                });
                self.args.events.emit(|| SystemEvent::RestartScheduled { child: name, delay });
            }
            // The supervisor does not give up while it stops, so that children still to be stopped keep their chance to
            // finish.
            Decision::Escalate if self.stopping.is_some() => child.end(),
            Decision::Escalate => {
                let gave_up = GaveUp { supervisor, child: name, reason, limits };
                tracing::error!(error = %gave_up, "supervisor gives up");
                self.args.events.emit(|| SystemEvent::GaveUp { supervisor, child: name });
                self.ended = Ended::GaveUp(gave_up.clone());
                return Err(gave_up);
            }
        }
        Ok(())
    }
}

impl Drop for SupervisorState {
    /// Ends the children with the supervisor, however that ended, and clears their slots, so that callers wait for the
    /// next incarnation. ractor kills the children of an actor that ended, except those that are draining.
    fn drop(&mut self) {
        for child in &self.children {
            if let Some(actor) = &child.running {
                actor.kill();
                child.spec.slot.clear(actor.get_id());
            }
        }
        self.args.ended.send_replace(Some(self.ended.clone()));
    }
}

/// Finds who ended and how. None for events that are no end. A clean end hands over the actor's state. A kill does so
/// only between two messages, and its reason says that it was a kill.
fn exit_of(event: SupervisionEvent) -> Option<(ActorId, ActorExit, String)> {
    match event {
        SupervisionEvent::ActorTerminated(actor, state, reason) => {
            let killed = reason.as_ref().is_some_and(|reason| *reason == Signal::Kill.to_string());
            let exit = if state.is_some() && !killed { ActorExit::Normal } else { ActorExit::Failed };
            Some((actor.get_id(), exit, reason.unwrap_or_else(|| "stopped".to_owned())))
        }
        SupervisionEvent::ActorFailed(actor, error) => Some((actor.get_id(), ActorExit::Failed, error.to_string())),
        SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => None,
    }
}
