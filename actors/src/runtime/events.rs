//! Events of what happens inside, told to whoever listens. Tests wait on them instead of sleeping; statistics and
//! progress read them. They are no log, and nothing depends on an event being received.

use std::time::Duration;

use reasoning_bank_domain::learning::job::JobState;
use reasoning_bank_domain::memory::ids::{JobId, TaskId};
use reasoning_bank_domain::system::restart::ActorExit;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout_at;

use super::Deadline;

/// The number of events that a listener may be behind before it misses some.
const CAPACITY: usize = 1024;

#[derive(Debug, Clone, PartialEq)]
pub enum SystemEvent {
    /// Incarnation 1 is the first; a higher one is a restart.
    ChildStarted {
        child: &'static str,
        incarnation: u64,
    },
    ChildExited {
        child: &'static str,
        exit: ActorExit,
        reason: String,
    },
    StartFailed {
        child: &'static str,
        reason: String,
    },
    RestartScheduled {
        child: &'static str,
        delay: Duration,
    },
    /// A supervisor had too many restarts and fails.
    GaveUp {
        supervisor: &'static str,
        child: &'static str,
    },
    TaskStarted {
        task: TaskId,
    },
    TaskFinished {
        task: TaskId,
    },
    /// A new state of a background job was stored.
    JobStored {
        job: JobId,
        state: JobState,
    },
    /// This listener was too slow, and lost the given number of events.
    Missed {
        count: u64,
    },
}

#[derive(Clone)]
pub struct Events {
    sender: broadcast::Sender<SystemEvent>,
}

impl Default for Events {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(CAPACITY) }
    }
}

impl Events {
    /// Tells listeners of an event. It is built only if someone listens.
    pub fn emit(&self, event: impl FnOnce() -> SystemEvent) {
        if self.sender.receiver_count() > 0 {
            let _ = self.sender.send(event());
        }
    }

    /// Subscribes to everything from now on.
    pub fn subscribe(&self) -> Subscription {
        Subscription { receiver: self.sender.subscribe() }
    }
}

pub struct Subscription {
    receiver: broadcast::Receiver<SystemEvent>,
}

impl Subscription {
    /// Waits for the next event. None when nothing can emit any more.
    pub async fn next(&mut self) -> Option<SystemEvent> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(count)) => Some(SystemEvent::Missed { count }),
            Err(RecvError::Closed) => None,
        }
    }

    /// Waits for the next event that satisfies `wanted`, skipping others. None at the deadline.
    pub async fn wait_for(
        &mut self,
        mut wanted: impl FnMut(&SystemEvent) -> bool,
        deadline: Deadline,
    ) -> Option<SystemEvent> {
        let found = async {
            loop {
                match self.next().await {
                    Some(event) if wanted(&event) => return Some(event),
                    Some(_) => {}
                    None => return None,
                }
            }
        };
        timeout_at(deadline.instant(), found).await.ok().flatten()
    }

    /// Takes the events that have been emitted and not been read yet.
    pub fn drain(&mut self) -> Vec<SystemEvent> {
        let mut events = Vec::new();
        loop {
            match self.receiver.try_recv() {
                Ok(event) => events.push(event),
                Err(broadcast::error::TryRecvError::Lagged(count)) => events.push(SystemEvent::Missed { count }),
                Err(_) => return events,
            }
        }
    }
}
