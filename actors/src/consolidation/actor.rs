//! ConsolidationActor looks from time to time whether a run is due in a workspace, and begins it when nobody is served.
//! Several processes of a bank may do so; one of them runs.

use std::time::Duration;

use futures::FutureExt;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::consolidation::{ConsolidationSchedule, RunTrigger, may_begin};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceRef};
use reasoning_bank_domain::system::restart::Restart;
use tokio::time::Instant;

use super::{ConsolidationHandle, RunRequest};
use crate::activity::ClientActivity;
use crate::error::Error;
use crate::runtime::{ChildSpec, Deadline, MessageTimer, Panicked, Slot, Tasks};

/// The time from the start to the first look. It keeps a process that serves one request from being busy with a run.
const FIRST_LOOK: Duration = Duration::from_secs(120);
const LOOK_EVERY: Duration = Duration::from_secs(600);
/// The time between two looks for a moment in which nobody is served, while a run is due.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// The time limit of a run in one workspace. The next run does what this one did not come to.
const RUN_LIMIT: Duration = Duration::from_secs(600);
/// The time limit of each question whether a run is due.
const STORE_LIMIT: Duration = Duration::from_secs(30);
/// A run that is asked to stop has ended within this time.
const FINISH_LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub(super) struct ConsolidationArgs {
    pub(super) handle: ConsolidationHandle,
    pub(super) schedule: ConsolidationSchedule,
    pub(super) activity: ClientActivity,
}

pub(super) fn child(args: ConsolidationArgs) -> ChildSpec {
    ChildSpec::actor("consolidation", Restart::Transient, &Slot::new(), move || (ConsolidationActor, args.clone()))
}

pub(super) enum ConsolidationMsg {
    Look,
    Looked(Result<Result<LookOutcome, Error>, Panicked>),
}

/// The outcome of a look at what is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookOutcome {
    /// Every run that was due has been done, as far as it could be.
    Done,
    /// A run is due, and somebody is served.
    Waits,
}

pub(super) struct ConsolidationState {
    args: ConsolidationArgs,
    tasks: Tasks,
    /// The timer ends with the state.
    next_look: Option<MessageTimer<ConsolidationMsg>>,
    /// The time since which a run that is due waits.
    waits_since: Option<Instant>,
}

pub(super) struct ConsolidationActor;

impl Actor for ConsolidationActor {
    type Msg = ConsolidationMsg;
    type State = ConsolidationState;
    type Arguments = ConsolidationArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<ConsolidationMsg>,
        args: ConsolidationArgs,
    ) -> Result<ConsolidationState, ActorProcessingErr> {
        let next_look = Some(MessageTimer::after(FIRST_LOOK, &myself, || ConsolidationMsg::Look));
        Ok(ConsolidationState { args, tasks: Tasks::new("consolidation"), next_look, waits_since: None })
    }

    async fn handle(
        &self,
        myself: ActorRef<ConsolidationMsg>,
        message: ConsolidationMsg,
        state: &mut ConsolidationState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ConsolidationMsg::Look => {
                state.next_look = None;
                let args = state.args.clone();
                let waited = state.waits_since.map_or(Duration::ZERO, |since| since.elapsed());
                let look = async move { args.look(waited).await };
                state.tasks.pipe(&myself, look, ConsolidationMsg::Looked);
            }
            ConsolidationMsg::Looked(looked) => {
                let waits = matches!(looked, Ok(Ok(LookOutcome::Waits)));
                state.waits_since = waits.then(|| state.waits_since.unwrap_or_else(Instant::now));
                match looked {
                    Ok(Ok(LookOutcome::Done | LookOutcome::Waits)) => {}
                    Ok(Err(error)) => tracing::warn!(%error, "a run of consolidation that is due waits"),
                    Err(panicked) => tracing::error!(%panicked, "a run of consolidation failed"),
                }
                let pause = if waits { LOOK_AGAIN } else { LOOK_EVERY };
                state.next_look = Some(MessageTimer::after(pause, &myself, || ConsolidationMsg::Look));
            }
        }
        Ok(())
    }

    async fn post_stop(
        &self,
        _: ActorRef<ConsolidationMsg>,
        state: &mut ConsolidationState,
    ) -> Result<(), ActorProcessingErr> {
        state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        Ok(())
    }
}

impl ConsolidationArgs {
    /// Runs in every workspace where a run is due, as long as nobody is served. Workspaces without an episode need
    /// none, and one where it fails does not keep the others from theirs. `waited` is the time since which a run waits.
    async fn look(&self, waited: Duration) -> Result<LookOutcome, Error> {
        for workspace in self.handle.store.workspaces(Deadline::after(STORE_LIMIT)).await? {
            match self.run_if_due(&workspace, waited).boxed().await {
                Ok(LookOutcome::Waits) => return Ok(LookOutcome::Waits),
                // Another process runs, or the workspace was deleted meanwhile.
                Ok(LookOutcome::Done)
                | Err(Error::ConsolidationRunning | Error::Conflict(_) | Error::WorkspaceUnknown(_)) => {}
                Err(error) => {
                    tracing::warn!(%error, workspace = %workspace.id, "a run of consolidation that is due waits");
                }
            }
        }
        Ok(LookOutcome::Done)
    }

    async fn run_if_due(&self, workspace: &Workspace, waited: Duration) -> Result<LookOutcome, Error> {
        let store_deadline = || Deadline::after(STORE_LIMIT);
        let handle = &self.handle;
        let named = WorkspaceRef::Id(workspace.id.clone());
        let runs = handle.runs(&named, store_deadline()).await?;
        let last = runs.iter().find(|run| run.is_complete()).map(|run| run.started_at);
        if !self.schedule.is_due(last, handle.clock.now()) || !handle.has_episodes(workspace, store_deadline()).await? {
            return Ok(LookOutcome::Done);
        }
        if !may_begin(self.activity.idle_for(), waited) {
            return Ok(LookOutcome::Waits);
        }
        let request = RunRequest { workspace: named, trigger: RunTrigger::Schedule, apply: true };
        let run = handle.run(request, Deadline::after(RUN_LIMIT)).await?;
        let changes = run.changes().count();
        tracing::info!(run = %run.run_id, workspace = %workspace.id, changes, "a run of consolidation ended");
        Ok(LookOutcome::Done)
    }
}
