//! The workspaces that there are, and which one a caller means. `change` has what may be done with them, and `actor`
//! the actor that rereads them.

mod actor;
mod change;
mod known_workspaces;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
pub use reasoning_bank_domain::memory::workspace::WorkspaceRef;
use reasoning_bank_domain::memory::workspace::{SharedWorkspace, Workspace};
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::system::restart::Restart;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::error::Error;
use crate::ports::{Batch, Clock, Committed, Record};
use crate::runtime::{ChildSpec, Deadline, Gate, Slot, ask_again_if_dropped};
use crate::store::StoreHandle;
use actor::{WorkspacesActor, WorkspacesArgs, WorkspacesMsg};
use known_workspaces::KnownWorkspaces;

const GATE: usize = 256;
/// The time for which the workspaces that were read are believed. Another process may have changed them after it.
const FRESH: Duration = Duration::from_millis(500);
/// The time that a caller waits for the store if the caller can do without it.
const STORE_TIMEOUT: Duration = Duration::from_secs(10);

/// A workspace as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub workspace: Workspace,
    /// True where it has been written to.
    pub registered: bool,
}

/// The workspace at a root, as the configuration describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RootName {
    pub root: String,
    /// The name that it gets once it is registered, instead of that of its directory. It is not blank.
    pub name: Option<String>,
    /// The team of the user's own configuration. Like the organisation below it is trusted and never stored. What was
    /// trusted for the workspace itself wins.
    pub team: Option<String>,
    pub org: Option<String>,
}

#[derive(Clone)]
pub struct WorkspacesHandle {
    store: StoreHandle,
    configured: Option<Arc<RootName>>,
    clock: Clock,
    slot: Slot<WorkspacesMsg>,
    gate: Gate,
    /// The lock of a reading. One runs at a time, and those who wait for it share the next.
    reading: Arc<Mutex<()>>,
    known: Arc<ArcSwap<KnownWorkspaces>>,
}

impl WorkspacesHandle {
    pub(crate) fn new(store: StoreHandle, configured: Option<RootName>, clock: Clock) -> Self {
        Self {
            store,
            configured: configured.map(Arc::new),
            clock,
            slot: Slot::new(),
            gate: Gate::new(GATE),
            reading: Arc::default(),
            known: Arc::default(),
        }
    }

    pub(crate) fn child(&self) -> ChildSpec {
        let (store, known) = (self.store.clone(), Arc::clone(&self.known));
        let arguments = move || WorkspacesArgs { store: store.clone(), known: Arc::clone(&known) };
        ChildSpec::actor("workspaces", Restart::Permanent, &self.slot, move || (WorkspacesActor, arguments()))
            .behind(&self.gate)
    }

    /// Finds the workspace that a caller means. A root that nobody has written to is a workspace by computation, and so
    /// is a key; an id must be known to the store.
    ///
    /// # Errors
    /// `WorkspaceUnknown` for an id that the store does not know. The errors of the store, where it does not answer and
    /// nothing was known before.
    pub async fn resolve(&self, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Resolved, Error> {
        let known = self.known.load();
        let read = match (known.find(workspace), known.read_at) {
            (Some(_), Some(at)) if Instant::now() - at < FRESH => Ok(()),
            (Some(_), _) => self.reread(deadline.at_most(STORE_TIMEOUT)).await,
            (None, _) => self.reread(deadline).await,
        };
        if let Some(known) = self.known.load().find(workspace) {
            return Ok(Resolved { workspace: self.effective(known, workspace), registered: true });
        }
        read?;
        self.by_computation(workspace)
    }

    /// Resolves as [`Self::resolve`] does, for work that goes on without a store. A root and a key resolve in any case:
    /// by computation alone where the store does not answer soon.
    pub(crate) async fn resolve_anyway(&self, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Resolved, Error> {
        match workspace {
            WorkspaceRef::Id(_) => self.resolve(workspace, deadline).await,
            WorkspaceRef::Root(_) | WorkspaceRef::Shared(_) => {
                let resolved = self.resolve(workspace, deadline.at_most(STORE_TIMEOUT)).await;
                resolved.or_else(|_store| self.by_computation(workspace))
            }
        }
    }

    /// Checks that work may still write to the workspace that it began in. It may not if that was deleted meanwhile,
    /// here or by another process, even where there is a new one in its place. A workspace that nobody had written to
    /// when the work began could not be deleted.
    ///
    /// # Errors
    /// `WorkspaceUnknown`, and the errors of the store.
    pub(crate) async fn still_there(&self, begun: &Resolved, deadline: Deadline) -> Result<(), Error> {
        if !begun.registered {
            return Ok(());
        }
        self.reread(deadline).await?;
        let Workspace { id, created_at, .. } = &begun.workspace;
        let now = self.known.load().by_id(id).filter(|now| now.created_at == *created_at);
        now.map(|_| ()).ok_or_else(|| Error::WorkspaceUnknown(id.to_string()))
    }

    /// Commits records of a workspace, which is registered with its first record. Where it was deleted meanwhile, it is
    /// there again, as its caller is writing to it now. The store is the caller's, which may note the key of a request
    /// with the commit.
    pub(crate) async fn commit_to(
        &self,
        workspace: &Workspace,
        store: &StoreHandle,
        mut records: Batch,
        deadline: Deadline,
    ) -> Result<Committed, Error> {
        records.insert(0, Record::Workspace(self.registration(workspace)));
        let committed = store.commit(records, deadline).await?;
        self.registered(workspace);
        Ok(committed)
    }

    /// Commits records of work that began a while ago, as [`Self::commit_to`] does. The work does not bring back a
    /// workspace that was deleted meanwhile.
    ///
    /// # Errors
    /// `WorkspaceUnknown` where it was deleted, and the errors of the store.
    pub(crate) async fn commit_if_there(
        &self,
        begun: &Resolved,
        store: &StoreHandle,
        records: Batch,
        deadline: Deadline,
    ) -> Result<Committed, Error> {
        self.still_there(begun, deadline).await?;
        self.commit_to(&begun.workspace, store, records, deadline).await
    }

    fn by_computation(&self, named: &WorkspaceRef) -> Result<Resolved, Error> {
        let workspace = self.effective(self.unregistered(named)?, named);
        Ok(Resolved { workspace, registered: false })
    }

    /// Returns what is stored of a workspace when something is written to it.
    fn registration(&self, workspace: &Workspace) -> Workspace {
        let stored = self.known.load().by_id(&workspace.id);
        stored.unwrap_or_else(|| workspace.clone().registered())
    }

    /// Returns what is stored of workspaces that another bank had: those whose ids are unknown here. A directory or a
    /// key that a workspace has here is not taken from it. Whether they are to be trusted with a team or an
    /// organisation is the caller's matter.
    pub(crate) async fn to_restore(
        &self,
        workspaces: Vec<Workspace>,
        deadline: Deadline,
    ) -> Result<Vec<Workspace>, Error> {
        if workspaces.is_empty() {
            return Ok(Vec::new());
        }
        self.reread(deadline).await?;
        let mut known = KnownWorkspaces::clone(&self.known.load());
        let mut restored = Vec::new();
        for mut workspace in workspaces {
            if known.by_id(&workspace.id).is_some() {
                continue;
            }
            // A team or an organisation of the configuration holds as long as the configuration names it, so it is not
            // stored.
            if let Some(configured) = self.configured_for(&workspace.root) {
                workspace.team = workspace.team.filter(|team| configured.team.as_ref() != Some(team));
                workspace.org = workspace.org.filter(|org| configured.org.as_ref() != Some(org));
            }
            if known.find(&WorkspaceRef::Root(workspace.root.clone())).is_some() {
                workspace.root.clear();
            }
            let shared = workspace
                .key
                .clone()
                .map(|key| WorkspaceRef::Shared(SharedWorkspace { key, team: workspace.team.clone(), org: None }));
            if shared.is_some_and(|shared| known.find(&shared).is_some()) {
                workspace.key = None;
            }
            known = known.with(workspace.clone());
            restored.push(workspace);
        }
        Ok(restored)
    }

    /// Notes a workspace as registered. It is to be called once a batch that registers it has been committed.
    pub(crate) fn registered(&self, workspace: &Workspace) {
        let stored = self.registration(workspace);
        if self.known.load().by_id(&stored.id).is_none() {
            self.known.rcu(|known| known.with(stored.clone()));
        }
    }

    /// Reads the workspaces anew. Once it returns, all is known that was stored when it was called.
    async fn reread(&self, deadline: Deadline) -> Result<(), Error> {
        let _permit = self.gate.enter()?;
        let asked = Instant::now();
        let turn = tokio::time::timeout_at(deadline.instant(), self.reading.lock()).await;
        let _turn = turn.map_err(|_elapsed| Error::DeadlineExceeded)?;
        // Another caller may have begun to read while this one waited for its turn.
        if self.known.load().read_at.is_some_and(|at| at > asked) {
            return Ok(());
        }
        let once = || self.slot.call(|reply| WorkspacesMsg::Reread { deadline, reply }, deadline);
        ask_again_if_dropped(once).await?
    }

    /// Returns what a workspace is that nobody has written to.
    fn unregistered(&self, named: &WorkspaceRef) -> Result<Workspace, Error> {
        let mut workspace = match named {
            WorkspaceRef::Id(id) => return Err(Error::WorkspaceUnknown(id.to_string())),
            WorkspaceRef::Shared(shared) => {
                let id = self.known.load().free_shared_id(shared);
                Workspace { id, ..Workspace::of_key(shared, self.clock.now()) }
            }
            WorkspaceRef::Root(root) => {
                let id = self.known.load().free_id(root);
                let mut workspace = Workspace { id, ..Workspace::of_root(root, self.clock.now()) };
                if let Some(name) = self.configured_for(root).and_then(|configured| configured.name.clone()) {
                    workspace.name = name;
                }
                workspace
            }
        };
        workspace.name.scrub();
        Ok(workspace)
    }

    /// Returns a workspace with the team and the organisation that count for whoever named it: the caller's own where
    /// it is named by its key.
    fn effective(&self, mut workspace: Workspace, named: &WorkspaceRef) -> Workspace {
        if let WorkspaceRef::Shared(shared) = named {
            workspace.team.clone_from(&shared.team);
            workspace.org.clone_from(&shared.org);
        } else if let Some(configured) = self.configured_for(&workspace.root) {
            workspace.team = workspace.team.or_else(|| configured.team.clone());
            workspace.org = workspace.org.or_else(|| configured.org.clone());
        }
        workspace
    }

    fn configured_for(&self, root: &str) -> Option<&RootName> {
        self.configured.as_deref().filter(|configured| configured.root == root)
    }
}
