//! WorkspaceRegistry: which workspaces there are. Handles read a map; the actor rereads it from the store when it
//! starts and when an id is asked for that the map does not have (another process may have written it).

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use jiff::Timestamp;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use reasoning_bank_domain::restart::Restart;
use reasoning_bank_domain::workspace::{Workspace, WorkspaceId};

use crate::error::Error;
use crate::memories::WorkspaceRef;
use crate::ports::{Filter, Page, Scanned};
use crate::runtime::{ChildSpec, Deadline, Gate, Slot, Tasks};
use crate::store::StoreHandle;

const GATE: usize = 64;
const READ_LIMIT: Duration = Duration::from_secs(30);
/// More workspaces than this are not held in memory.
const MOST: usize = 10_000;

/// A workspace as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub workspace: Workspace,
    /// It has been written to.
    pub registered: bool,
}

/// What a root is called once it is registered, instead of after its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootName {
    pub root: String,
    /// Not blank.
    pub name: String,
}

#[derive(Clone)]
pub struct WorkspacesHandle {
    root_name: Option<Arc<RootName>>,
    slot: Slot<WorkspacesMsg>,
    gate: Gate,
    known: Arc<DashMap<WorkspaceId, Workspace>>,
}

impl WorkspacesHandle {
    pub(crate) fn new(root_name: Option<RootName>) -> Self {
        Self { root_name: root_name.map(Arc::new), slot: Slot::new(), gate: Gate::new(GATE), known: Arc::default() }
    }

    pub(crate) fn child(&self, store: StoreHandle) -> ChildSpec {
        let known = Arc::clone(&self.known);
        let arguments = move || WorkspacesArgs { store: store.clone(), known: Arc::clone(&known) };
        ChildSpec::actor("workspaces", Restart::Permanent, &self.slot, move || (WorkspaceRegistry, arguments()))
            .behind(&self.gate)
    }

    /// A root always resolves, by computation alone; an id must be known to the store.
    pub async fn resolve(&self, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Resolved, Error> {
        let id = match workspace {
            WorkspaceRef::Root(root) => WorkspaceId::of_root(root),
            WorkspaceRef::Id(id) => id.clone(),
        };
        let known = |id| self.known.get(id).map(|entry| entry.value().clone());
        if let Some(workspace) = known(&id) {
            return Ok(Resolved { workspace, registered: true });
        }
        if let WorkspaceRef::Root(root) = workspace {
            let mut workspace = Workspace::of_root(root, Timestamp::now());
            if let Some(named) = self.root_name.as_ref().filter(|named| named.root == *root) {
                workspace.name.clone_from(&named.name);
            }
            return Ok(Resolved { workspace, registered: false });
        }
        let _inside = self.gate.enter()?;
        self.slot.call(|reply| WorkspacesMsg::Reread { deadline, reply }, deadline).await??;
        let workspace = known(&id).ok_or_else(|| Error::WorkspaceUnknown(id.to_string()))?;
        Ok(Resolved { workspace, registered: true })
    }

    /// To be called once a batch that registers it has been committed.
    pub(crate) fn registered(&self, workspace: Workspace) {
        if self.known.len() < MOST {
            self.known.insert(workspace.id.clone(), workspace);
        }
    }

    #[cfg(feature = "testkit")]
    pub fn faults(&self) -> crate::testkit::Faults {
        crate::testkit::Faults::of(&self.slot)
    }
}

pub(crate) struct WorkspaceRegistry;

pub(crate) struct WorkspacesArgs {
    store: StoreHandle,
    known: Arc<DashMap<WorkspaceId, Workspace>>,
}

pub(crate) enum WorkspacesMsg {
    Reread {
        deadline: Deadline,
        reply: RpcReplyPort<Result<(), Error>>,
    },
    #[cfg(feature = "testkit")]
    Panic,
}

#[cfg(feature = "testkit")]
impl crate::testkit::Panics for WorkspacesMsg {
    fn panic() -> Self {
        Self::Panic
    }
}

pub(crate) struct WorkspacesState {
    args: WorkspacesArgs,
    tasks: Tasks,
}

impl Actor for WorkspaceRegistry {
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
            if let Err(error) = reread(&store, &known, Deadline::after(READ_LIMIT)).await {
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
            #[cfg(feature = "testkit")]
            WorkspacesMsg::Panic => crate::testkit::panic_on_request(),
        }
        Ok(())
    }
}

async fn reread(store: &StoreHandle, known: &DashMap<WorkspaceId, Workspace>, deadline: Deadline) -> Result<(), Error> {
    let page = Page::first(MOST);
    if let Scanned::Workspaces(workspaces) = store.scan(Filter::Workspaces, page, deadline).await? {
        for workspace in workspaces {
            known.insert(workspace.id.clone(), workspace);
        }
    }
    Ok(())
}
