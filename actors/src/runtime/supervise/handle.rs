//! The handle of a supervisor that has none above it: how the system is started, watched and stopped.

use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, SpawnErr};
use tokio::sync::watch;
use tokio::time::timeout;

use super::actor::{Ended, KILL_LIMIT, Stopped, Supervisor, SupervisorArgs, SupervisorMsg};
use super::child::{AnySlot, ChildStatus};
use crate::runtime::{CallError, Deadline, Slot};

#[derive(Clone)]
pub struct SupervisorHandle {
    slot: Slot<SupervisorMsg>,
    children: Arc<[(&'static str, Arc<dyn AnySlot>)]>,
    ended: watch::Receiver<Option<Ended>>,
}

impl SupervisorHandle {
    /// Returns when every child has been started once, or is about to be tried again.
    pub async fn start(args: SupervisorArgs) -> Result<Self, SpawnErr> {
        let children = args.children.iter().map(|child| (child.name, Arc::clone(&child.slot))).collect();
        let ended = args.ended.subscribe();
        let slot = Slot::new();
        let (supervisor, _) = Supervisor::spawn(None, Supervisor, args).await?;
        slot.bind(supervisor);
        Ok(Self { slot, children, ended })
    }

    pub async fn observe(&self, deadline: Deadline) -> Result<Vec<ChildStatus>, CallError> {
        self.slot.call(|reply| SupervisorMsg::Observe { reply }, deadline).await
    }

    /// Drains the children in this order, those not named after them from the last started to the first, each for at
    /// most `grace` before it is killed; then ends the supervisor. The report is in the order of stopping.
    pub async fn stop_in_order(&self, order: &[&'static str], grace: Duration) -> Result<Vec<Stopped>, CallError> {
        let children = u32::try_from(self.children.len()).unwrap_or(u32::MAX);
        let longest = grace.saturating_add(KILL_LIMIT).saturating_mul(children).saturating_add(KILL_LIMIT);
        let stop = |reply| SupervisorMsg::Stop { order: order.to_vec(), grace, reply };
        let report = self.slot.call(stop, Deadline::after(longest)).await?;
        let _ = timeout(KILL_LIMIT, self.ended()).await;
        Ok(report)
    }

    /// Waits until the supervisor has ended; its children have then ended or been killed.
    pub async fn ended(&self) -> Ended {
        match self.ended.clone().wait_for(Option::is_some).await {
            Ok(ended) => ended.clone().unwrap_or(Ended::Killed),
            Err(_) => Ended::Killed,
        }
    }

    /// Returns the current incarnation of a child.
    #[cfg(feature = "testkit")]
    pub(crate) fn incarnation(&self, child: &str) -> Option<ractor::ActorCell> {
        self.children.iter().find(|(name, _)| *name == child)?.1.current()
    }
}
