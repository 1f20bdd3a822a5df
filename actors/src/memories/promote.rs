//! Sharing memories with a wider scope.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::evidence::promotion::{self, PositiveSources, Promoted, Proposal, Proposals};
use reasoning_bank_domain::memory::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Memory, Scope, Status};
use reasoning_bank_domain::note::{Code, Note};
use uuid::Uuid;

use super::list::PAGE;
use super::{MemoriesHandle, ScopeFilter, WorkspaceRef, visible};
use crate::error::Error;
use crate::ports::{MemoryCommit, MemoryFilter, MemoryRow, Page, Record};
use crate::runtime::Deadline;
use crate::workspaces::Resolved;

/// The most memories that one read asks about.
const AT_ONCE: usize = 500;
/// The time that a report or a solve waits for the promotions that follow from it.
const BY_ITSELF_LIMIT: Duration = Duration::from_secs(5);

impl MemoriesHandle {
    /// Finds the memories of the workspace that have proved themselves enough to be shared with the next wider scope,
    /// and are not shared yet. It changes nothing.
    pub async fn promotions(&self, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Proposals, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let now = self.clock.now();
        let candidates = self.candidates_for_promotion(&workspace, now, deadline).await?;
        if candidates.is_empty() {
            return Ok(Proposals::default());
        }
        let ids: Vec<MemoryId> = candidates.iter().map(|row| row.memory.id).collect();
        let sources = self.sources_of_evidence(&ids, deadline).await?;
        let copies = self.copies_of(&ids, &workspace, deadline).await?;
        let known = self.known_to_the_wider(&candidates, deadline).await?;
        let mut found = Proposals::default();
        for row in candidates {
            let Some(proposal) = Proposal::of(&row.memory, &row.evidence, &sources, now) else { continue };
            if known.contains(&proposal.id) {
                continue;
            }
            if workspace.readers(proposal.to).is_none() {
                let none = format!("this workspace has no {}", proposal.to.as_str());
                let note = Note::new(Code::ScopeDenied, none);
                if !found.notes.contains(&note) {
                    found.notes.push(note);
                }
            } else if copy_of(&row.memory, proposal.to, &copies).is_none() {
                found.proposals.push(proposal);
            }
        }
        found.proposals.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }

    /// Shares a copy of a memory with the next wider scope. The memory stays, as the parent of the copy. It need not be
    /// one that is proposed, because whoever promotes by hand has decided. A second call returns the copy that there
    /// is.
    pub async fn promote(&self, id: MemoryId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<Promoted, Error> {
        let begun = self.workspaces.resolve(workspace, deadline).await?;
        let workspace = &begun.workspace;
        let MemoryRow { memory, evidence } = self.readable_one(id, workspace, deadline).await?;
        let Some(scope) = promotion::wider(memory.scope) else {
            return Err(Error::invalid("memory_id", "it is shared with the organisation already"));
        };
        if memory.status != Status::Active {
            let problem = format!("it is {}; only active memories are shared", memory.status.as_str());
            return Err(Error::invalid("memory_id", problem));
        }
        let copies = self.copies_of(&[memory.id], workspace, deadline).await?;
        match copy_of(&memory, scope, &copies) {
            Some(id) => Ok(Promoted { id, promoted_from: memory.id, scope, created: false }),
            None => self.share(&MemoryRow { memory, evidence }, scope, &begun, deadline).await,
        }
    }

    /// Promotes those of these memories for which the rule now holds, where the user has agreed to that beforehand.
    /// Only the workspace's own memories are promoted, as with proposals, and each only once: whatever became of its
    /// copy, no second one is made without being asked for. A promotion that fails is logged, and the next evidence
    /// tries it again.
    pub(super) async fn promote_proven(
        &self,
        ids: impl IntoIterator<Item = MemoryId>,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Vec<Promoted> {
        if !self.promotes_by_itself {
            return Vec::new();
        }
        let ids: BTreeSet<MemoryId> = ids.into_iter().collect();
        let mut promoted = Vec::new();
        let deadline = deadline.at_most(BY_ITSELF_LIMIT);
        if let Err(error) = self.promote_those_of(ids.into_iter().collect(), workspace, &mut promoted, deadline).await {
            tracing::warn!(%error, "what deserves to be shared was not");
        }
        promoted
    }

    async fn promote_those_of(
        &self,
        ids: Vec<MemoryId>,
        workspace: &Workspace,
        promoted: &mut Vec<Promoted>,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let now = self.clock.now();
        // The workspace is resolved before its memories are read. Those of a workspace that was deleted are gone with
        // it.
        let begun = match self.workspaces.resolve(&WorkspaceRef::Id(workspace.id.clone()), deadline).await {
            Err(Error::WorkspaceUnknown(_)) => return Ok(()),
            begun => begun?,
        };
        // An id does not say which team and organisation count for whoever began this.
        let Workspace { team, org, .. } = workspace.clone();
        let begun = Resolved { workspace: Workspace { team, org, ..begun.workspace }, ..begun };
        let mut rows = Vec::new();
        for ids in ids.chunks(AT_ONCE) {
            rows.extend(self.readable(ids.to_vec(), workspace, deadline).await?);
        }
        rows.retain(|row| {
            row.memory.workspace_id == workspace.id && promotion::is_candidate(&row.memory, &row.evidence, now)
        });
        if rows.is_empty() {
            return Ok(());
        }
        let ids: Vec<MemoryId> = rows.iter().map(|row| row.memory.id).collect();
        let sources = self.sources_of_evidence(&ids, deadline).await?;
        let copies = self.copies_of(&ids, workspace, deadline).await?;
        let mark_of = |memory: &Memory| promotion::mark_id(memory.id, promotion::wider(memory.scope)?, workspace);
        let marks = self.stored_signals(rows.iter().filter_map(|row| mark_of(&row.memory)), deadline).await?;
        for row in &rows {
            let Some(Proposal { id, to, .. }) = Proposal::of(&row.memory, &row.evidence, &sources, now) else {
                continue;
            };
            let Some(mark) = mark_of(&row.memory) else {
                // The others of these memories may have somewhere to go.
                tracing::debug!(memory = %id, scope = to.as_str(), "nobody reads what deserves to be shared there");
                continue;
            };
            let is_copy = |copy: &Memory| copy.parent_memory_id == Some(id) && copy.scope == to;
            if !marks.contains(&mark) && !copies.iter().any(is_copy) {
                promoted.extend(Some(self.share(row, to, &begun, deadline).await?).filter(|made| made.created));
            }
        }
        Ok(())
    }

    /// Stores the copy for the wider scope. Where a memory there says exactly the same, that one is confirmed instead,
    /// once.
    ///
    /// # Errors
    /// `WorkspaceUnknown` where the workspace was deleted since this began: a promotion does not bring it back.
    async fn share(
        &self,
        row: &MemoryRow,
        scope: Scope,
        begun: &Resolved,
        deadline: Deadline,
    ) -> Result<Promoted, Error> {
        let (MemoryRow { memory, evidence }, workspace) = (row, &begun.workspace);
        let (now, new) = (self.clock.now(), MemoryId::from(Uuid::now_v7()));
        let copy = promotion::promoted(memory, evidence, new, workspace, now).ok_or(Error::ScopeDenied(scope))?;
        let promoted = |id: MemoryId, created: bool| Promoted { id, promoted_from: memory.id, scope, created };
        let (copy, passages) = self.with_passages(copy, memory, deadline).await?;
        let confirm = Some(promotion::confirmation_id(memory, scope));
        let mut batch = vec![Record::Memory { memory: copy, passages, confirm }];
        let marks = [promotion::mark_id(memory.id, scope, workspace), Some(promotion::copy_mark_id(new))];
        let mark = |id| Signal::new(id, memory.id, workspace.id.clone(), SignalKind::Promoted, now);
        batch.extend(marks.into_iter().flatten().map(mark).map(Record::Signal));
        let committed = self.workspaces.commit_if_there(begun, &self.store, batch, deadline).await?;
        Ok(match committed.memories.first() {
            Some(MemoryCommit::Reinforced(existing)) => promoted(*existing, false),
            _ => promoted(new, true),
        })
    }

    async fn candidates_for_promotion(
        &self,
        workspace: &Workspace,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Vec<MemoryRow>, Error> {
        let filter = MemoryFilter {
            workspace: Some(workspace.id.clone()),
            status: Some(Status::Active),
            ..MemoryFilter::default()
        };
        let visible = visible(workspace, ScopeFilter::Cascade);
        let mut candidates = Vec::new();
        let take = |rows: Vec<MemoryRow>| {
            candidates.extend(rows.into_iter().filter(|row| {
                visible.contains(&row.memory) && promotion::is_candidate(&row.memory, &row.evidence, now)
            }));
            ControlFlow::Continue(())
        };
        self.each_page(&filter, deadline, take).await?;
        Ok(candidates)
    }

    /// Reads the signals about these memories from all workspaces. A team's memory gets its evidence from all that read
    /// it.
    async fn sources_of_evidence(&self, ids: &[MemoryId], deadline: Deadline) -> Result<PositiveSources, Error> {
        let workspaces = self.workspaces.list(deadline).await?;
        let shared = workspaces.into_iter().filter(|workspace| workspace.key.is_some()).map(|workspace| workspace.id);
        let mut sources = PositiveSources::with_shared(shared);
        for ids in ids.chunks(AT_ONCE) {
            let mut page = Some(Page::first(PAGE));
            while let Some(asked) = page {
                let signals = self.store.signals_about(ids.to_vec(), asked.clone(), deadline).await?;
                page = asked.following(&signals, |signal| signal.id.uuid());
                signals.into_iter().for_each(|signal| sources.add(signal));
            }
        }
        Ok(sources)
    }

    /// Finds the memories whose promotion confirmed a memory of the wider scope, because that said the same. There is
    /// no copy of them.
    async fn known_to_the_wider(&self, rows: &[MemoryRow], deadline: Deadline) -> Result<BTreeSet<MemoryId>, Error> {
        let confirmation = |MemoryRow { memory, .. }: &MemoryRow| {
            Some((promotion::confirmation_id(memory, promotion::wider(memory.scope)?), memory.id))
        };
        let confirmations: BTreeMap<SignalId, MemoryId> = rows.iter().filter_map(confirmation).collect();
        let stored = self.stored_signals(confirmations.keys().copied(), deadline).await?;
        Ok(confirmations.into_iter().filter_map(|(signal, id)| stored.contains(&signal).then_some(id)).collect())
    }

    /// Reads what was made of these memories in a wider scope, as far as the workspace may read it.
    pub(super) async fn copies_of(
        &self,
        ids: &[MemoryId],
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Vec<Memory>, Error> {
        let visible = visible(workspace, ScopeFilter::Cascade);
        let mut copies = Vec::new();
        let mut page = Some(Page::first(PAGE));
        while let Some(asked) = page {
            let rows = self.store.derived_from(ids.to_vec(), asked.clone(), deadline).await?;
            page = asked.following(&rows, |row| row.memory.id.uuid());
            let shared = rows.into_iter().map(|row| row.memory).filter(|derived| derived.scope != Scope::Project);
            copies.extend(shared.filter(|derived| visible.contains(derived)));
        }
        Ok(copies)
    }
}

fn copy_of(memory: &Memory, scope: Scope, copies: &[Memory]) -> Option<MemoryId> {
    let is_copy = |copy: &&Memory| {
        copy.parent_memory_id == Some(memory.id) && copy.scope == scope && copy.text_key() == memory.text_key()
    };
    copies.iter().find(is_copy).map(|copy| copy.id)
}
