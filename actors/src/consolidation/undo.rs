//! Taking a run back. What it made is erased and what it changed becomes what it was, as far as nobody has changed it since.

use std::collections::BTreeMap;

use reasoning_bank_domain::consolidation::{ConsolidationRun, HistoryEntry, Skipped, SkippedBecause, Undo, Undone};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, RunId, TraceId};
use reasoning_bank_domain::memory::workspace::Workspace;
use uuid::Uuid;

use super::{ConsolidationHandle, record_of};
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{EraseScope, Record};
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// What is done to take a run back.
#[derive(Default)]
struct Plan {
    erased_memories: Vec<MemoryId>,
    purged_episodes: Vec<TraceId>,
    records: Vec<Record>,
    skipped: Vec<Skipped>,
    taken_back: u64,
}

impl ConsolidationHandle {
    /// Takes a run back, and says what was left as it is. A run that was undone stays so.
    ///
    /// What the run made is erased before anything else, and the rest is one commit with the record. Where a kill comes
    /// between the two, undoing again finishes it.
    ///
    /// # Errors
    /// `NotFound` for a run of another workspace, one that is older than 30 days, or one that only said what it would do.
    /// `Conflict` where another process of the bank runs.
    pub async fn undo(
        &self,
        id: RunId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<ConsolidationRun, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let _lease = self.take_lease()?;
        retry_on_conflict(|_| self.try_to_undo(id, &workspace, deadline)).await
    }

    async fn try_to_undo(
        &self,
        id: RunId,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<ConsolidationRun, Error> {
        let (mut run, entries) = self.record(id, workspace, deadline).await?;
        if run.undone.is_some() {
            return self.titled(run, workspace, deadline).await;
        }
        let mut by_object: BTreeMap<Uuid, Vec<HistoryEntry>> = BTreeMap::new();
        for entry in entries {
            by_object.entry(entry.object).or_default().push(entry);
        }
        let mut plan = Plan::default();
        for (object, entries) in &by_object {
            self.take_back(&mut plan, *object, entries, workspace, deadline).await?;
        }
        run = self.titled(run, workspace, deadline).await?;
        for memory in std::mem::take(&mut plan.erased_memories) {
            self.store.erase(EraseScope::Memory(memory), deadline).await?;
        }
        if !plan.purged_episodes.is_empty() {
            self.store.erase(EraseScope::Episodes(plan.purged_episodes), deadline).await?;
        }
        run.undone = Some(Undone { at: self.clock.now(), taken_back: plan.taken_back, skipped: plan.skipped });
        plan.records.push(record_of(&run));
        self.store.commit(plan.records, deadline).await?;
        Ok(run)
    }

    /// Plans what is done about one memory or episode, of which a run may have several entries.
    async fn take_back(
        &self,
        plan: &mut Plan,
        object: Uuid,
        entries: &[HistoryEntry],
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let revision = entries.iter().filter_map(revision_of).max();
        let first = entries.iter().min_by_key(|entry| revision_of(entry));
        match (first.map(|entry| &entry.undo), revision) {
            (Some(Undo::EraseMemory { .. } | Undo::RestoreMemory { .. }), Some(revision)) => {
                let id = MemoryId::from(object);
                let before = first.and_then(HistoryEntry::before);
                let current = self.store.get(vec![id], deadline).await?.pop().map(|row| row.memory);
                match (current, before) {
                    // A try that was cut off may have erased it.
                    (None, None) => plan.taken_back += 1,
                    (None, Some(_)) => plan.skipped.push(Skipped { id: object, because: SkippedBecause::Erased }),
                    (Some(current), Some(before)) if current.is_same_but_for_revision(before) => plan.taken_back += 1,
                    (Some(current), _) if current.revision != revision => {
                        plan.skipped.push(Skipped { id: object, because: SkippedBecause::Changed });
                    }
                    (Some(_), None) => {
                        plan.erased_memories.push(id);
                        plan.taken_back += 1;
                    }
                    (Some(current), Some(before)) => {
                        let restored = Memory { revision: current.revision, ..before.clone() };
                        plan.records.extend(self.memories.restored(&current, restored, deadline).await?);
                        plan.taken_back += 1;
                    }
                }
            }
            (Some(Undo::PurgeEpisode), _) => {
                plan.purged_episodes.push(object.into());
                plan.taken_back += 1;
            }
            (Some(Undo::UnarchiveEpisode { for_episode }), _) => {
                let row = self.store.episode(object.into(), Some(workspace.id.clone()), deadline).await?;
                let skipped = |because| Skipped { id: object, because };
                match row.map(|row| row.state.unarchived_from(*for_episode)) {
                    None => plan.skipped.push(skipped(SkippedBecause::Erased)),
                    Some(None) => plan.skipped.push(skipped(SkippedBecause::Changed)),
                    Some(Some(state)) => {
                        plan.records.push(Record::EpisodeState(state));
                        plan.taken_back += 1;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the revision that a run gave to a memory.
fn revision_of(entry: &HistoryEntry) -> Option<u64> {
    match &entry.undo {
        Undo::EraseMemory { revision } | Undo::RestoreMemory { revision, .. } => Some(*revision),
        Undo::Run(_) | Undo::PurgeEpisode | Undo::UnarchiveEpisode { .. } => None,
    }
}
