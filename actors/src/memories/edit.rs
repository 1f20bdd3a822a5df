//! Changing and deleting stored memories. A workspace may change what it may read: its own memories, and those that its
//! team and its organisation share.

use std::collections::BTreeSet;
use std::time::Duration;

use reasoning_bank_domain::evidence::genealogy::MAX_NODES;
use reasoning_bank_domain::learning::recording::check_tags;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Changes, Memory, Quarantine, Status};
use reasoning_bank_domain::retrieval::responses::{MemoryView, Quarantined, Updated};
use reasoning_bank_domain::safety::secrets::Scrub;

use super::supersede::SaidBy;
use super::{MemoriesHandle, ScopeFilter, WorkspaceRef, visible};
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{EraseScope, Erased, Record, StoreError};
use crate::runtime::Deadline;

/// The most memories of a lineage that one commit changes.
const AT_ONCE: usize = 500;
/// The part of the caller's time that is kept back, to answer with what was changed until then.
const RESERVE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateRequest {
    pub id: MemoryId,
    pub workspace: WorkspaceRef,
    pub changes: Changes,
    /// The revisions of which the memory must have one; otherwise nothing is changed. None allows any.
    pub if_revisions: Option<Vec<u64>>,
}

/// The answer to an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The records that were physically removed, counted by kind.
    pub removed: Erased,
    /// The memories that it superseded, which are back in search.
    pub reinstated: Vec<MemoryId>,
}

impl MemoriesHandle {
    /// Changes a memory. Returns the memory as it is then, and those that came back into search with the change.
    /// Changes that make no difference give it no new revision.
    pub async fn update(&self, request: UpdateRequest, deadline: Deadline) -> Result<Updated, Error> {
        let UpdateRequest { id, workspace, changes, if_revisions } = request;
        if changes.is_empty() {
            let problem = format!("there are none; give at least one of {}", Changes::FIELDS.join(", "));
            return Err(Error::invalid("changes", problem));
        }
        check_tags(changes.pattern_tags.as_deref().unwrap_or_default())?;
        let workspace = self.workspaces.resolve(&workspace, deadline).await?.workspace;
        let try_to_change = async |_| {
            let row = self.readable_one(id, &workspace, deadline).await?;
            if if_revisions.as_ref().is_some_and(|wanted| !wanted.contains(&row.memory.revision)) {
                // Another try would not find one of them either.
                return Ok(Err(StoreError::Conflict(id).into()));
            }
            let mut changed = changes.apply(&row.memory, self.clock.now());
            changed.scrub();
            changed.validate()?;
            let now = self.clock.now();
            if changed == row.memory {
                return Ok(Ok(Updated {
                    memory: MemoryView::new(changed, &row.evidence, now),
                    reinstated: Vec::new(),
                }));
            }
            let left = self.left_behind(&[(&row.memory, Some(&changed))], deadline).await?;
            let reinstated = left.reinstated(&workspace);
            let changed = changed.without_links_to(&row.memory, &left.changed).revised(now);
            let (memory, passages) = self.with_passages(changed, &row.memory, deadline).await?;
            let mut batch = vec![Record::Revision { memory: memory.clone(), passages }];
            batch.extend(self.leaving(left, deadline).await?);
            if row.memory.status == Status::Superseded && memory.status == Status::Active {
                let words = "back in search: its status was set".into();
                batch.push(self.said(&row.memory, SignalKind::Reinstated, &SaidBy::Session(None), words));
            }
            self.store.commit(batch, deadline).await?;
            Ok(Ok(Updated { memory: MemoryView::new(memory, &row.evidence, now), reinstated }))
        };
        retry_on_conflict(try_to_change).await.flatten()
    }

    /// Erases a memory with its passages and signals. The memories that it superseded are back in search before that.
    pub async fn delete(&self, id: MemoryId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Erasure, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        self.delete_in(&workspace, id, deadline).await
    }

    /// Erases a memory as [`Self::delete`] does.
    pub(super) async fn delete_in(
        &self,
        workspace: &Workspace,
        id: MemoryId,
        deadline: Deadline,
    ) -> Result<Erasure, Error> {
        let try_to_leave = async |_| {
            let memory = self.readable_one(id, workspace, deadline).await?.memory;
            let left = self.left_behind(&[(&memory, None)], deadline).await?;
            let reinstated = left.reinstated(workspace);
            let mut batch = self.leaving(left, deadline).await?;
            // The memory is archived first. So it does not stand beside what is back in its place, even where the
            // erasure fails.
            if !batch.is_empty() && memory.status == Status::Active {
                batch.extend(self.revisions(vec![Memory { status: Status::Archived, ..memory }], deadline).await?);
            }
            self.commit_changes(batch, deadline).await?;
            Ok(reinstated)
        };
        let reinstated = retry_on_conflict(try_to_leave).await?;
        let removed = self.store.erase(EraseScope::Memory(id), deadline).await?;
        Ok(Erasure { removed, reinstated })
    }

    /// Takes a memory out of search, or brings it back with `undo`. With `descendants` the same is done to what was
    /// learned from it, even where the way there leads over memories that the workspace may not read. `undo` brings
    /// back only those descendants that are quarantined for nothing else. A memory that the workspace may not read
    /// stays as it is, and the answer says that there is such a one. It names the memories whose status was changed.
    pub async fn quarantine(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        descendants: bool,
        undo: bool,
        deadline: Deadline,
    ) -> Result<Quarantined, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let root = self.readable_one(id, &workspace, deadline).await?.memory;
        let change = if undo { Quarantine::undone(&root) } else { Quarantine::For(id) };
        // The one asked for comes first, as in the tree.
        let mut ids = vec![id];
        if descendants {
            ids.extend(self.lineage(deadline).await?.descendants(id));
        }
        let all: BTreeSet<MemoryId> = ids.iter().copied().collect();
        let enough = deadline.leaving(RESERVE);
        let mut quarantined = Quarantined::default();
        for ids in ids.chunks(AT_ONCE) {
            if quarantined.changed.len() >= MAX_NODES || (enough.passed() && !quarantined.changed.is_empty()) {
                quarantined.truncated = true;
                break;
            }
            let part = retry_on_conflict(|_| self.quarantine_these(ids, &all, &change, &workspace, deadline)).await?;
            quarantined.changed.extend(part.changed);
            quarantined.reinstated.extend(part.reinstated);
            quarantined.out_of_reach |= part.out_of_reach;
        }
        Ok(quarantined)
    }

    async fn quarantine_these(
        &self,
        ids: &[MemoryId],
        all: &BTreeSet<MemoryId>,
        change: &Quarantine,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Quarantined, Error> {
        let visible = visible(workspace, ScopeFilter::Cascade);
        let rows = self.store.get(ids.to_vec(), deadline).await?;
        let changes = rows.into_iter().filter_map(|row| Some((change.apply(&row.memory)?, row.memory)));
        let (changes, hidden): (Vec<_>, Vec<_>) = changes.partition(|(_, before)| visible.contains(before));
        let moved = changes.iter().filter(|(after, before)| after.status != before.status);
        let moved: Vec<(&Memory, Option<&Memory>)> = moved.map(|(after, before)| (before, Some(after))).collect();
        let changed = moved.iter().map(|(before, _)| before.id).collect();
        let mut left = self.left_behind(&moved, deadline).await?;
        // A memory of the same lineage stays behind the one that superseded it, and comes back with that one.
        left.changed.retain(|memory| !all.contains(&memory.id));
        for moved in [&mut left.reinstated, &mut left.superseded] {
            moved.retain(|(memory, _)| !all.contains(&memory.id));
        }
        let part = Quarantined {
            changed,
            truncated: false,
            out_of_reach: !hidden.is_empty(),
            reinstated: left.reinstated(workspace),
        };
        if changes.is_empty() {
            return Ok(part);
        }
        let mut batch = self.revisions(changes.into_iter().map(|(after, _)| after).collect(), deadline).await?;
        batch.extend(self.leaving(left, deadline).await?);
        self.store.commit(batch, deadline).await?;
        Ok(part)
    }
}
