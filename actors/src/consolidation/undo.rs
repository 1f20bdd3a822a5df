//! Taking a run back, by the rules of `domain::consolidation::undo`.

use std::collections::BTreeSet;

use reasoning_bank_domain::consolidation::undo::{StoredNow, UndoPlan, UndoStep, undo_plan};
use reasoning_bank_domain::consolidation::{ConsolidationRun, HistoryEntry, Undone};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, RunId, TraceId};
use uuid::Uuid;

use super::{ConsolidationHandle, record_of};
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{EraseScope, Record};
use crate::runtime::Deadline;
use crate::workspaces::{Resolved, WorkspaceRef};

/// The number of memories that one read takes.
const PAGE: usize = 500;

impl ConsolidationHandle {
    /// Takes a run back, and says what was left as it is. A run that was undone stays so.
    ///
    /// It erases what the run made before anything else, and the rest is one commit with the record. Where a kill comes
    /// between the two, undoing again finishes it.
    ///
    /// # Errors
    /// `NotFound` for a run of another workspace, one that is older than 30 days, or one that only said what it would
    /// do. `Conflict` where another process of the bank runs.
    pub async fn undo(
        &self,
        id: RunId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<ConsolidationRun, Error> {
        let begun = self.workspaces.resolve(workspace, deadline).await?;
        let _lease = self.take_lease()?;
        retry_on_conflict(|_| self.try_to_undo(id, &begun, deadline)).await
    }

    async fn try_to_undo(&self, id: RunId, begun: &Resolved, deadline: Deadline) -> Result<ConsolidationRun, Error> {
        let workspace = &begun.workspace;
        let (mut run, entries) = self.record(id, workspace, deadline).await?;
        if run.undone.is_some() {
            return self.titled(run, workspace, deadline).await;
        }
        let stored = self.stored_now(&entries, deadline).await?;
        let UndoPlan { steps, skipped } = undo_plan(&entries, &stored);
        let taken_back = steps.len() as u64;
        let (mut memories, mut episodes, mut records) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            match step {
                UndoStep::EraseMemory(id) => memories.push(id),
                UndoStep::PurgeEpisode(id) => episodes.push(id),
                UndoStep::Unarchive(state) => records.push(Record::EpisodeState(state)),
                UndoStep::RestoreMemory { current, before } => {
                    let before = Memory { revision: current.revision, ..*before };
                    records.extend(self.memories.restored(&current, before, deadline).await?);
                }
                UndoStep::Nothing => {}
            }
        }
        run = self.titled(run, workspace, deadline).await?;
        self.workspaces.still_there(begun, deadline).await?;
        if !memories.is_empty() {
            self.store.erase(EraseScope::Memories(memories), deadline).await?;
        }
        if !episodes.is_empty() {
            self.store.erase(EraseScope::Episodes(episodes), deadline).await?;
        }
        run.undone = Some(Undone { at: self.clock.now(), taken_back, skipped });
        records.push(record_of(&run));
        self.store.commit(records, deadline).await?;
        Ok(run)
    }

    /// Reads what is stored now of the things that entries are about.
    async fn stored_now(&self, entries: &[HistoryEntry], deadline: Deadline) -> Result<StoredNow, Error> {
        let (of_memories, of_episodes): (Vec<&HistoryEntry>, Vec<&HistoryEntry>) =
            entries.iter().partition(|entry| entry.is_of_memory());
        let ids = |entries: &[&HistoryEntry]| -> BTreeSet<Uuid> { entries.iter().map(|entry| entry.object).collect() };
        let mut stored = StoredNow::default();
        let memories: Vec<MemoryId> = ids(&of_memories).into_iter().map(MemoryId::from).collect();
        for some in memories.chunks(PAGE) {
            let rows = self.store.get(some.to_vec(), deadline).await?;
            stored.memories.extend(rows.into_iter().map(|row| (row.memory.id, row.memory)));
        }
        for id in ids(&of_episodes).into_iter().map(TraceId::from) {
            if let Some(row) = self.store.episode(id, None, deadline).await? {
                stored.episodes.insert(id, (row.trace.revision, row.state));
            }
        }
        Ok(stored)
    }
}
