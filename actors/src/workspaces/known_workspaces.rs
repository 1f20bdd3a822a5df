//! The workspaces as they were last read.

use std::collections::{BTreeMap, HashMap};

use reasoning_bank_domain::memory::workspace::{SharedWorkspace, Workspace, WorkspaceId};
use tokio::time::Instant;

use super::WorkspaceRef;

#[derive(Debug, Clone, Default)]
pub(super) struct KnownWorkspaces {
    by_id: BTreeMap<WorkspaceId, Workspace>,
    by_root: HashMap<String, WorkspaceId>,
    /// The moment at which they were read. None: never.
    pub(super) read_at: Option<Instant>,
}

impl KnownWorkspaces {
    pub(super) fn read(workspaces: Vec<Workspace>, at: Instant) -> Self {
        let mut known = Self { read_at: Some(at), ..Self::default() };
        workspaces.into_iter().for_each(|workspace| known.add(workspace));
        known
    }

    pub(super) fn with(&self, workspace: Workspace) -> Self {
        let mut known = self.clone();
        known.add(workspace);
        known
    }

    /// Adds a workspace. If two have one root, the root means the one that was moved there, which has the higher
    /// revision. If both have the same revision, it means the one with the lower id.
    fn add(&mut self, workspace: Workspace) {
        if workspace.root.is_empty() {
            self.by_id.insert(workspace.id.clone(), workspace);
            return;
        }
        let holder = self.by_root.get(&workspace.root).and_then(|id| self.by_id.get(id));
        let loses = |holder: &Workspace| (holder.revision, &workspace.id) >= (workspace.revision, &holder.id);
        if !holder.is_some_and(loses) {
            self.by_root.insert(workspace.root.clone(), workspace.id.clone());
        }
        self.by_id.insert(workspace.id.clone(), workspace);
    }

    pub(super) fn find(&self, named: &WorkspaceRef) -> Option<Workspace> {
        match named {
            WorkspaceRef::Root(root) => self.by_root.get(root).and_then(|id| self.by_id(id)),
            WorkspaceRef::Id(id) => self.by_id(id),
            WorkspaceRef::Shared(shared) => {
                shared.ids().map_while(|id| self.by_id(&id)).find(|workspace| shared.is(workspace))
            }
        }
    }

    pub(super) fn by_id(&self, id: &WorkspaceId) -> Option<Workspace> {
        self.by_id.get(id).cloned()
    }

    /// Returns the id for a root where nothing is registered. It is the root's own, unless a workspace that was moved
    /// away keeps it.
    pub(super) fn free_id(&self, root: &str) -> WorkspaceId {
        let again = (1..).map(|n| WorkspaceId::of_root_again(root, n));
        let mut ids = std::iter::once(WorkspaceId::of_root(root)).chain(again);
        let taken = |id: &WorkspaceId| self.by_id.get(id).is_some_and(|workspace| workspace.root != root);
        ids.find(|id| !taken(id)).unwrap_or_else(|| WorkspaceId::of_root(root))
    }

    /// Returns the id for a key under which nothing is registered.
    pub(super) fn free_shared_id(&self, shared: &SharedWorkspace) -> WorkspaceId {
        shared.ids().find(|id| !self.by_id.contains_key(id)).unwrap_or_else(|| shared.id())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Workspace> {
        self.by_id.values()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn workspace(root: &str, revision: u64) -> Workspace {
        Workspace { revision, ..Workspace::of_root(root, Timestamp::UNIX_EPOCH) }
    }

    fn moved(from: &str, to: &str) -> Workspace {
        Workspace { root: to.into(), ..workspace(from, 1) }
    }

    #[tokio::test]
    async fn the_one_that_was_moved_there_holds_a_root() {
        for order in [[moved("/a", "/b"), workspace("/b", 0)], [workspace("/b", 0), moved("/a", "/b")]] {
            let known = KnownWorkspaces::read(order.to_vec(), Instant::now());
            assert_eq!(known.find(&WorkspaceRef::Root("/b".into())), Some(moved("/a", "/b")));
            assert_eq!(known.find(&WorkspaceRef::Root("/a".into())), None);
            assert_eq!(known.find(&WorkspaceRef::Id(WorkspaceId::of_root("/b"))), Some(workspace("/b", 0)));
        }
    }

    #[tokio::test]
    async fn a_workspace_that_came_with_the_id_of_a_key_is_not_the_one_under_the_key() {
        let shared = SharedWorkspace { key: "shop".parse().unwrap(), team: Some("web".into()), org: None };
        let named = WorkspaceRef::Shared(shared.clone());
        let foreign = Workspace { id: shared.id(), root: String::new(), ..workspace("/notes", 0) };
        let known = KnownWorkspaces::read(vec![foreign], Instant::now());
        assert_eq!(known.find(&named), None);
        let id = known.free_shared_id(&shared);
        assert_ne!(id, shared.id());
        let own = Workspace { id, ..Workspace::of_key(&shared, Timestamp::UNIX_EPOCH) };
        assert_eq!(known.with(own.clone()).find(&named), Some(own));
    }

    #[tokio::test]
    async fn a_root_that_was_left_gets_an_id_of_its_own() {
        let known = KnownWorkspaces::read(vec![moved("/a", "/b")], Instant::now());
        let id = known.free_id("/a");
        assert_ne!(id, WorkspaceId::of_root("/a"));
        let again = known.with(Workspace { id: id.clone(), ..workspace("/a", 0) });
        assert_eq!(again.find(&WorkspaceRef::Root("/a".into())).unwrap().id, id);
        assert_eq!(known.free_id("/c"), WorkspaceId::of_root("/c"));
    }
}
