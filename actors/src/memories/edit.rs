//! Changing and deleting memories that are there. What a workspace may read it may change: its own memories, and those
//! that its team and its organisation share.

use std::collections::BTreeSet;

use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::{Changes, Memory, Status};
use reasoning_bank_domain::secrets::Scrub;
use reasoning_bank_domain::view::{MemoryView, Quarantined};
use reasoning_bank_domain::workspace::Workspace;

use super::{MemoriesHandle, WorkspaceRef};
use crate::error::Error;
use crate::ports::{Batch, EraseScope, Erased, MemoryRow, Record, StoreError};
use crate::runtime::Deadline;

/// Others who change the same memory at the same time.
const TRIES: usize = 5;
/// Memories that are changed in one commit.
const AT_ONCE: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateRequest {
    pub id: MemoryId,
    pub workspace: WorkspaceRef,
    pub changes: Changes,
    /// Changes nothing unless the memory has this revision.
    pub if_revision: Option<u32>,
}

impl MemoriesHandle {
    /// The memory as it then is. Changes that make no difference give it no new revision.
    pub async fn update(&self, request: UpdateRequest, deadline: Deadline) -> Result<MemoryView, Error> {
        let UpdateRequest { id, workspace, changes, if_revision } = request;
        if changes.is_empty() {
            return Err(Error::invalid("changes", "there are none; give at least one field"));
        }
        let workspace = self.workspaces.resolve(&workspace, deadline).await?.workspace;
        for _ in 0..TRIES {
            let row = self.readable_one(id, &workspace, deadline).await?;
            if if_revision.is_some_and(|revision| revision != row.memory.revision) {
                return Err(StoreError::Conflict(id).into());
            }
            let mut changed = changes.apply(&row.memory);
            changed.scrub();
            changed.validate()?;
            let now = self.clock.now();
            if changed == row.memory {
                return Ok(MemoryView::new(changed, &row.evidence, now));
            }
            let changed = Memory { revision: row.memory.revision + 1, updated_at: now, ..changed };
            let (memory, passages) = self.with_passages(changed, &row.memory, deadline).await?;
            match self.store.commit(vec![Record::Revision { memory: memory.clone(), passages }], deadline).await {
                Ok(_) => return Ok(MemoryView::new(memory, &row.evidence, now)),
                // Somebody was faster. On top of what they made of it the change may be made as well.
                Err(Error::Store(StoreError::Conflict(_))) if if_revision.is_none() => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Conflict(id).into())
    }

    /// Erases a memory with its passages and signals. The answer says what was physically removed.
    pub async fn delete(&self, id: MemoryId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Erased, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        self.readable_one(id, &workspace, deadline).await?;
        self.store.erase(EraseScope::Memory(id), deadline).await
    }

    /// Takes a memory out of search, with `descendants` also what was learned from it, and with `undo` back in: then
    /// those that are quarantined become active, and no others. The answer names those that were changed.
    pub async fn quarantine(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        descendants: bool,
        undo: bool,
        deadline: Deadline,
    ) -> Result<Quarantined, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let (ids, truncated) = if descendants {
            let family = self.descendants(id, &workspace, deadline).await?;
            (family.ids, family.truncated)
        } else {
            self.readable_one(id, &workspace, deadline).await?;
            (vec![id], false)
        };
        let status = if undo { Status::Active } else { Status::Quarantined };
        let mut changed = BTreeSet::new();
        for ids in ids.chunks(AT_ONCE) {
            changed.extend(self.set_status(ids, status, &workspace, deadline).await?);
        }
        // The one asked for comes first, as in the tree.
        let changed = ids.into_iter().filter(|id| changed.contains(id)).collect();
        Ok(Quarantined { changed, truncated })
    }

    async fn set_status(
        &self,
        ids: &[MemoryId],
        status: Status,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Vec<MemoryId>, Error> {
        let from = if status == Status::Active { Status::Quarantined } else { Status::Active };
        let mut last = None;
        for _ in 0..TRIES {
            let now = self.clock.now();
            let mut batch = Batch::new();
            let mut rows = self.readable(ids.to_vec(), workspace, deadline).await?;
            rows.retain(|row| row.memory.status == from);
            let changed: Vec<MemoryId> = rows.iter().map(|row| row.memory.id).collect();
            let mut passages = self.stored_passages(changed.clone(), deadline).await?;
            for MemoryRow { memory, .. } in rows {
                let stored = passages.remove(&memory.id).unwrap_or_default();
                let memory = Memory { status, revision: memory.revision + 1, updated_at: now, ..memory };
                let (memory, passages) = self.with_these_or_new(memory, stored, deadline).await?;
                batch.push(Record::Revision { memory, passages });
            }
            if batch.is_empty() {
                return Ok(changed);
            }
            match self.store.commit(batch, deadline).await {
                Ok(_) => return Ok(changed),
                Err(Error::Store(StoreError::Conflict(id))) => last = Some(id),
                Err(error) => return Err(error),
            }
        }
        Err(last.map_or_else(
            || Error::internal("a commit neither failed nor succeeded"),
            |id| StoreError::Conflict(id).into(),
        ))
    }
}
