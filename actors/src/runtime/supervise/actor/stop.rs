//! Stopping children one after the other, each with a bound: drained first, killed if that takes too long. Those whose
//! turn has not come yet stay supervised.

use std::collections::VecDeque;
use std::time::Duration;

use ractor::{ActorCell, ActorRef, RactorErr, RpcReplyPort};
use tokio::time::Instant;

use super::{SupervisorMsg, SupervisorState};

/// Only a handler that never awaits outlives a kill by this long.
pub(in crate::runtime::supervise) const KILL_LIMIT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    /// It handled every message that was in its mailbox, and its `post_stop` ran.
    Drained,
    /// It did not end within its grace.
    Killed,
    /// It did not even end when killed: a handler blocks its thread.
    Stuck,
    /// It was not running when its turn came.
    NotRunning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub name: &'static str,
    pub ending: StopOutcome,
    pub elapsed: Duration,
}

pub(super) struct StopSequence {
    waiting: VecDeque<usize>,
    grace: Duration,
    current: &'static str,
    report: Vec<Stopped>,
    reply: RpcReplyPort<Vec<Stopped>>,
}

impl SupervisorState {
    /// A second stop is not begun: its caller is told that there is no answer.
    pub(super) fn begin_stop(
        &mut self,
        myself: &ActorRef<SupervisorMsg>,
        order: &[&'static str],
        grace: Duration,
        reply: RpcReplyPort<Vec<Stopped>>,
    ) {
        if self.stopping.is_some() {
            return;
        }
        let named = order.iter().filter_map(|name| self.children.iter().position(|child| child.spec.name == *name));
        let mut waiting: VecDeque<usize> = named.collect();
        let others: Vec<usize> = (0..self.children.len()).rev().filter(|child| !waiting.contains(child)).collect();
        waiting.extend(others);
        self.stopping = Some(StopSequence { waiting, grace, current: "", report: Vec::new(), reply });
        self.stop_next(myself);
    }

    pub(super) fn child_stopped(&mut self, myself: &ActorRef<SupervisorMsg>, ending: StopOutcome, elapsed: Duration) {
        if let Some(sequence) = &mut self.stopping {
            sequence.report.push(Stopped { name: sequence.current, ending, elapsed });
        }
        self.stop_next(myself);
    }

    fn stop_next(&mut self, myself: &ActorRef<SupervisorMsg>) {
        let Some(mut sequence) = self.stopping.take() else { return };
        while let Some(index) = sequence.waiting.pop_front() {
            let child = &mut self.children[index];
            child.retired = true;
            child.spec.slot.close();
            sequence.current = child.spec.name;
            if let Some(actor) = child.running.clone() {
                child.spec.drain(&actor);
                self.tasks.pipe(myself, ended(actor, sequence.grace), |ended| {
                    let (ending, elapsed) = ended.unwrap_or((StopOutcome::Stuck, Duration::ZERO));
                    SupervisorMsg::ChildStopped { ending, elapsed }
                });
                self.stopping = Some(sequence);
                return;
            }
            child.end();
            let name = child.spec.name;
            sequence.report.push(Stopped { name, ending: StopOutcome::NotRunning, elapsed: Duration::ZERO });
        }
        let _ = sequence.reply.send(sequence.report);
        myself.stop(None);
    }
}

async fn ended(actor: ActorCell, grace: Duration) -> (StopOutcome, Duration) {
    let begun = Instant::now();
    let ending = match actor.wait(Some(grace)).await {
        Err(_late) => match actor.kill_and_wait(Some(KILL_LIMIT)).await {
            Err(RactorErr::Timeout) => StopOutcome::Stuck,
            _ => StopOutcome::Killed,
        },
        Ok(()) => StopOutcome::Drained,
    };
    (ending, begun.elapsed())
}
