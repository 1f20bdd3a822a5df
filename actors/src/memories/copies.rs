//! The copies that a team or an organisation has of a workspace's memories: finding them, and erasing them together
//! with the workspace.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

use reasoning_bank_domain::evidence::promotion::{PromotedCopy, copy_mark_id, origin};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Memory, Scope};

use super::{Erasure, MemoriesHandle, ScopeFilter, WorkspaceRef, visible};
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{Erased, MemoryFilter, MemoryRow};
use crate::runtime::Deadline;

/// The most memories that one read asks for.
const AT_ONCE: usize = 500;

/// Copies of a workspace's own memories in wider scopes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromotedCopies {
    /// The copies that the workspace may read, and so delete.
    pub within_reach: Vec<PromotedCopy>,
    /// The copies that belong to a team or an organisation that the workspace does not read.
    pub out_of_reach: Vec<PromotedCopy>,
}

impl PromotedCopies {
    /// Takes all copies as within reach, for a user whose bank it is: the user works in every workspace of the bank,
    /// and so reads what their teams and organisations have.
    #[must_use]
    pub fn in_own_bank(mut self) -> Self {
        self.within_reach.append(&mut self.out_of_reach);
        self
    }

    pub fn count(&self) -> usize {
        self.within_reach.len() + self.out_of_reach.len()
    }
}

impl MemoriesHandle {
    /// Finds the copies of the workspace's own memories, whoever promoted them.
    pub async fn promoted_copies(&self, workspace: &WorkspaceRef, deadline: Deadline) -> Result<PromotedCopies, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let mut copies: Vec<Memory> = Vec::new();
        for scope in [Scope::Team, Scope::Org] {
            let filter = MemoryFilter { scope: Some(scope), ..MemoryFilter::default() };
            let take = |rows: Vec<MemoryRow>| {
                copies.extend(rows.into_iter().map(|row| row.memory).filter(Memory::is_copy));
                ControlFlow::Continue(())
            };
            self.each_page(&filter, deadline, take).await?;
        }
        let others = self.other_parents(&copies, deadline).await?;
        let parents: BTreeMap<MemoryId, &Memory> =
            copies.iter().chain(&others).map(|memory| (memory.id, memory)).collect();
        let mut marks = HashSet::new();
        for copies in copies.chunks(AT_ONCE) {
            marks.extend(self.stored_signals(copies.iter().map(|copy| copy_mark_id(copy.id)), deadline).await?);
        }
        let own = copies.iter().filter(|copy| origin(copy, &parents, &marks) == Some(&workspace.id));
        let visible = visible(&workspace, ScopeFilter::Cascade);
        let (within, out): (Vec<&Memory>, Vec<&Memory>) = own.partition(|copy| visible.contains(copy));
        let [within_reach, out_of_reach] =
            [within, out].map(|copies| copies.into_iter().map(PromotedCopy::of).collect());
        Ok(PromotedCopies { within_reach, out_of_reach })
    }

    /// Erases the copies that are within reach, and then the workspace. In this order an erasure that breaks off can be
    /// done again. The memories of others that it superseded are back in search before that.
    pub async fn delete_workspace_with(
        &self,
        copies: &PromotedCopies,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<Erasure, Error> {
        let owner = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let mut erasure = Erasure { removed: Erased::default(), reinstated: Vec::new() };
        for copy in &copies.within_reach {
            // Its readers may be others than those of the workspace.
            let Some(Memory { id, team, org, .. }) = self.memories_of(&[copy.id], deadline).await?.pop() else {
                continue;
            };
            let reader = Workspace { team, org, ..owner.clone() };
            match self.delete_in(&reader, id, deadline).await {
                Ok(gone) => {
                    erasure.removed += gone.removed;
                    erasure.reinstated.extend(gone.reinstated);
                }
                // Somebody else erased it meanwhile.
                Err(Error::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let reinstated = retry_on_conflict(|_| self.leave_others(&owner, deadline)).await?;
        erasure.removed += self.workspaces.delete(workspace, deadline).await?;
        erasure.reinstated.extend(reinstated);
        Ok(erasure)
    }

    /// Brings back the memories of others that the workspace's own memories superseded, and ends their links, because
    /// all of the workspace goes. Returns those that are back in search.
    async fn leave_others(&self, workspace: &Workspace, deadline: Deadline) -> Result<Vec<MemoryId>, Error> {
        let filter = MemoryFilter {
            workspace: Some(workspace.id.clone()),
            scope: Some(Scope::Project),
            ..MemoryFilter::default()
        };
        let (mut own, mut paired) = (BTreeSet::new(), Vec::new());
        let take = |rows: Vec<MemoryRow>| {
            own.extend(rows.iter().map(|row| row.memory.id));
            let memories = rows.into_iter().map(|row| row.memory);
            paired.extend(memories.filter(|memory| !memory.succession.is_empty()));
            ControlFlow::Continue(())
        };
        self.each_page(&filter, deadline, take).await?;
        for memory in &mut paired {
            // A link to a memory that is erased too is dropped.
            memory.succession.replaces.retain(|id| !own.contains(id));
            memory.succession.outdated_by = memory.succession.outdated_by.filter(|newer| !own.contains(&newer.id));
        }
        let mut reinstated = Vec::new();
        for going in paired.chunks(AT_ONCE) {
            let going: Vec<(&Memory, Option<&Memory>)> = going.iter().map(|memory| (memory, None)).collect();
            let left = self.left_behind(&going, deadline).await?;
            let back = left.reinstated(workspace);
            let batch = self.leaving(left, deadline).await?;
            self.commit_changes(batch, deadline).await?;
            reinstated.extend(back);
        }
        Ok(reinstated)
    }

    /// Reads the parents of copies that are no copies themselves, as far as they are stored.
    async fn other_parents(&self, copies: &[Memory], deadline: Deadline) -> Result<Vec<Memory>, Error> {
        let known: BTreeSet<MemoryId> = copies.iter().map(|copy| copy.id).collect();
        let parents: BTreeSet<MemoryId> = copies.iter().filter_map(|copy| copy.parent_memory_id).collect();
        let others: Vec<MemoryId> = parents.difference(&known).copied().collect();
        self.memories_of(&others, deadline).await
    }

    /// Reads those of these memories that are stored, whoever may read them.
    pub(super) async fn memories_of(&self, ids: &[MemoryId], deadline: Deadline) -> Result<Vec<Memory>, Error> {
        let mut found = Vec::new();
        for ids in ids.chunks(AT_ONCE) {
            found.extend(self.store.get(ids.to_vec(), deadline).await?.into_iter().map(|row| row.memory));
        }
        Ok(found)
    }
}
