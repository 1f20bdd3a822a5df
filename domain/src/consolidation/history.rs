//! The history of things: how they were before they were changed, by a run of consolidation or by a person, and the
//! runs themselves.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::duplicates::MemoryMerge;
use super::run::ConsolidationRun;
use crate::memory::Memory;
use crate::memory::ids::{HistoryId, MemoryId, RunId, TraceId, derived};
use crate::memory::workspace::WorkspaceId;

/// One thing that a run did, with what takes it back, or the record of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// It follows from the run and the object, so that storing the entry again changes nothing.
    pub id: HistoryId,
    pub workspace_id: WorkspaceId,
    /// The run that made the change. None: a person did, and the entry is kept as long as the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The memory or the episode that was made or changed. The run itself, where the entry is its record.
    pub object: Uuid,
    pub at: Timestamp,
    /// The number of times that the entry was changed. Only the record of a run changes.
    #[serde(default)]
    pub revision: u64,
    pub undo: Undo,
}

/// The way in which a change is taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Undo {
    /// The entry is the record of a run. There is nothing to take back.
    Run(Box<ConsolidationRun>),
    /// The memory is erased, where it is still what was made.
    EraseMemory { made: Box<Memory> },
    /// The memory becomes what it was before, where it is still what it became.
    RestoreMemory { before: Box<Memory>, after: Box<Memory> },
    /// The memory gives up the texts that it took in of others that say the same. The keys of the texts say nothing of
    /// them.
    SplitMemory { others: Vec<MemoryId>, added: Vec<String> },
    /// The episode is purged.
    PurgeEpisode,
    /// The episode is no longer archived for the one that stands for it.
    UnarchiveEpisode { for_episode: TraceId },
}

impl HistoryEntry {
    /// A run can be undone for this long.
    pub const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

    /// `number` tells several entries of a run about the same object apart.
    fn new(run: &ConsolidationRun, object: Uuid, number: u64, at: Timestamp, undo: Undo) -> Self {
        let (run_id, number) = (run.run_id.uuid(), number.to_be_bytes());
        let id = derived(&[b"history", run_id.as_bytes(), object.as_bytes(), &number]).into();
        Self { id, workspace_id: run.workspace_id.clone(), run_id: Some(run.run_id), object, at, revision: 0, undo }
    }

    /// Makes the record of a run, as it stands now. A later one takes the place of an earlier one.
    pub fn of_run(run: &ConsolidationRun, revision: u64) -> Self {
        let undo = Undo::Run(Box::new(run.without_titles()));
        // Its id holds the time, so that the newest runs are found first.
        let id = run.run_id.uuid().into();
        Self { id, revision, ..Self::new(run, run.run_id.uuid(), 0, run.started_at, undo) }
    }

    /// Makes the entry for a memory that a run made.
    pub fn made_memory(run: &ConsolidationRun, made: &Memory, at: Timestamp) -> Self {
        Self::new(run, made.id.uuid(), 0, at, Undo::EraseMemory { made: Box::new(made.clone()) })
    }

    /// Makes the entry for a memory that a run changed. A run that changes a memory twice has two entries.
    pub fn changed_memory(run: &ConsolidationRun, before: &Memory, after: &Memory, at: Timestamp) -> Self {
        let undo = Undo::RestoreMemory { before: Box::new(before.clone()), after: Box::new(after.clone()) };
        Self::new(run, before.id.uuid(), after.revision, at, undo)
    }

    /// Makes the entry for a memory that took in others that say the same.
    pub fn merged_memory(run: &ConsolidationRun, merge: &MemoryMerge, at: Timestamp) -> Self {
        let others = merge.others.iter().map(|(before, _)| before.id).collect();
        let undo = Undo::SplitMemory { others, added: merge.added() };
        Self::new(run, merge.before.id.uuid(), 0, at, undo)
    }

    /// Makes the entry for a memory that a person changed.
    pub fn earlier_version(before: &Memory, after: &Memory, at: Timestamp) -> Self {
        let object = before.id.uuid();
        let id = derived(&[b"earlier version", object.as_bytes(), &after.revision.to_be_bytes()]).into();
        let undo = Undo::RestoreMemory { before: Box::new(before.clone()), after: Box::new(after.clone()) };
        Self { id, workspace_id: before.workspace_id.clone(), run_id: None, object, at, revision: 0, undo }
    }

    /// Returns what the memory was before the change. None for any other entry.
    pub fn before(&self) -> Option<&Memory> {
        if let Undo::RestoreMemory { before, .. } = &self.undo { Some(before) } else { None }
    }

    /// Returns what the memory was when the run had made or changed it. None for any other entry.
    pub fn after(&self) -> Option<&Memory> {
        match &self.undo {
            Undo::EraseMemory { made: after } | Undo::RestoreMemory { after, .. } => Some(after),
            Undo::Run(_) | Undo::SplitMemory { .. } | Undo::PurgeEpisode | Undo::UnarchiveEpisode { .. } => None,
        }
    }

    /// Tells whether the entry is about a memory, of which the run made or changed something.
    pub fn is_of_memory(&self) -> bool {
        match self.undo {
            Undo::EraseMemory { .. } | Undo::RestoreMemory { .. } | Undo::SplitMemory { .. } => true,
            Undo::Run(_) | Undo::PurgeEpisode | Undo::UnarchiveEpisode { .. } => false,
        }
    }

    /// Makes the entry for an episode that a run made.
    pub fn made_episode(run: &ConsolidationRun, episode: TraceId, at: Timestamp) -> Self {
        Self::new(run, episode.uuid(), 0, at, Undo::PurgeEpisode)
    }

    /// Makes the entry for an episode that a run archived, because another one stands for it.
    pub fn archived_episode(run: &ConsolidationRun, episode: TraceId, for_episode: TraceId, at: Timestamp) -> Self {
        Self::new(run, episode.uuid(), 0, at, Undo::UnarchiveEpisode { for_episode })
    }

    /// Returns the run that the entry is the record of.
    pub fn as_run(&self) -> Option<&ConsolidationRun> {
        if let Undo::Run(run) = &self.undo { Some(run) } else { None }
    }

    /// Tells whether the entry is about this memory.
    pub fn is_about(&self, memory: MemoryId) -> bool {
        self.object == memory.uuid()
    }
}
