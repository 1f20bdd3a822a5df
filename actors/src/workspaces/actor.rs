//! WorkspacesActor: rereads the workspaces from the store when it starts and when a handle asks. Handles read what was
//! read without asking it.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::time::Instant;

use super::known_workspaces::KnownWorkspaces;
use crate::error::Error;
use crate::runtime::{Deadline, Tasks};
use crate::store::StoreHandle;

const FIRST_READ_LIMIT: Duration = Duration::from_secs(30);

pub(crate) enum WorkspacesMsg {
    Reread { deadline: Deadline, reply: RpcReplyPort<Result<(), Error>> },
}

pub(crate) struct WorkspacesArgs {
    pub(super) store: StoreHandle,
    pub(super) known: Arc<ArcSwap<KnownWorkspaces>>,
}

pub(crate) struct WorkspacesState {
    args: WorkspacesArgs,
    tasks: Tasks,
}

pub(crate) struct WorkspacesActor;

impl Actor for WorkspacesActor {
    type Msg = WorkspacesMsg;
    type State = WorkspacesState;
    type Arguments = WorkspacesArgs;

    async fn pre_start(
        &self,
        _: ActorRef<WorkspacesMsg>,
        args: WorkspacesArgs,
    ) -> Result<WorkspacesState, ActorProcessingErr> {
        let mut tasks = Tasks::new("workspaces");
        let (store, known) = (args.store.clone(), Arc::clone(&args.known));
        tasks.spawn(async move {
            if let Err(error) = reread(&store, &known, Deadline::after(FIRST_READ_LIMIT)).await {
                tracing::debug!(%error, "the workspaces were not read; each is looked up when it is asked for");
            }
        });
        Ok(WorkspacesState { args, tasks })
    }

    async fn handle(
        &self,
        _: ActorRef<WorkspacesMsg>,
        message: WorkspacesMsg,
        state: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WorkspacesMsg::Reread { deadline, reply } => {
                let (store, known) = (state.args.store.clone(), Arc::clone(&state.args.known));
                state.tasks.spawn(async move {
                    let _ = reply.send(reread(&store, &known, deadline).await);
                });
            }
        }
        Ok(())
    }
}

async fn reread(store: &StoreHandle, known: &ArcSwap<KnownWorkspaces>, deadline: Deadline) -> Result<(), Error> {
    let begun = Instant::now();
    let read = Arc::new(KnownWorkspaces::read(store.workspaces(deadline).await?, begun));
    // A reading that began later may have ended earlier.
    known.rcu(|newest| if newest.read_at > read.read_at { Arc::clone(newest) } else { Arc::clone(&read) });
    Ok(())
}
