//! WorkspaceRegistry: rereads the workspaces from the store when it starts and when a handle asks. Handles read what was
//! read without asking it.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::time::Instant;

use super::known::Known;
use crate::error::Error;
use crate::runtime::{Deadline, Tasks};
use crate::store::StoreHandle;

const FIRST_READ_LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct WorkspaceRegistry;

pub(crate) struct Args {
    pub(super) store: StoreHandle,
    pub(super) known: Arc<ArcSwap<Known>>,
}

pub(crate) enum Msg {
    Reread { deadline: Deadline, reply: RpcReplyPort<Result<(), Error>> },
}

pub(crate) struct State {
    args: Args,
    tasks: Tasks,
}

impl Actor for WorkspaceRegistry {
    type Msg = Msg;
    type State = State;
    type Arguments = Args;

    async fn pre_start(&self, _: ActorRef<Msg>, args: Args) -> Result<State, ActorProcessingErr> {
        let mut tasks = Tasks::new("workspaces");
        let (store, known) = (args.store.clone(), Arc::clone(&args.known));
        tasks.spawn(async move {
            if let Err(error) = reread(&store, &known, Deadline::after(FIRST_READ_LIMIT)).await {
                tracing::debug!(%error, "the workspaces were not read; each is looked up when it is asked for");
            }
        });
        Ok(State { args, tasks })
    }

    async fn handle(&self, _: ActorRef<Msg>, message: Msg, state: &mut State) -> Result<(), ActorProcessingErr> {
        match message {
            Msg::Reread { deadline, reply } => {
                let (store, known) = (state.args.store.clone(), Arc::clone(&state.args.known));
                state.tasks.spawn(async move {
                    let _ = reply.send(reread(&store, &known, deadline).await);
                });
            }
        }
        Ok(())
    }
}

async fn reread(store: &StoreHandle, known: &ArcSwap<Known>, deadline: Deadline) -> Result<(), Error> {
    let begun = Instant::now();
    let read = Arc::new(Known::read(store.workspaces(deadline).await?, begun));
    // A reading that began later may have ended earlier.
    known.rcu(|newest| if newest.read_at > read.read_at { Arc::clone(newest) } else { Arc::clone(&read) });
    Ok(())
}
