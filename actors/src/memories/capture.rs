//! Keeping what was captured from conversations: each thing once, however often it is seen.

use std::collections::HashSet;

use reasoning_bank_domain::learning::capture::{Draft, Novelty, novelties};
use reasoning_bank_domain::learning::lesson::LessonBatch;
use reasoning_bank_domain::memory::ids::MemoryId;
use uuid::Uuid;

use super::MemoriesHandle;
use super::compare::PreparedLesson;
use crate::conflict::{is_last, retry_on_conflict};
use crate::error::Error;
use crate::ports::{Batch, MemoryCommit, Record};
use crate::runtime::Deadline;
use crate::workspaces::Resolved;

impl MemoriesHandle {
    /// Stores the drafts, all of them or none, and answers in their order. They are of this workspace. What is stored
    /// is durable when this returns. A draft that is stored already adds nothing. One that says the same as another
    /// memory confirms that memory, once, unless that one comes from the same session.
    ///
    /// # Errors
    /// `WorkspaceUnknown` where the workspace was deleted since it was resolved: this does not bring it back.
    pub(crate) async fn capture(
        &self,
        drafts: Vec<Draft>,
        begun: &Resolved,
        deadline: Deadline,
    ) -> Result<Vec<(Novelty, Option<MemoryId>)>, Error> {
        retry_on_conflict(|tries| self.try_to_capture(&drafts, begun, tries, deadline)).await
    }

    async fn try_to_capture(
        &self,
        drafts: &[Draft],
        begun: &Resolved,
        tries: usize,
        deadline: Deadline,
    ) -> Result<Vec<(Novelty, Option<MemoryId>)>, Error> {
        let stored = self.stored(drafts, deadline).await?;
        let ids = drafts.iter().map(|draft| Some(draft.ids.memory));
        let mut found: Vec<(Novelty, Option<MemoryId>)> = novelties(drafts, &stored).into_iter().zip(ids).collect();
        let is_open = |(position, _): &(usize, &Draft)| found[*position].0 == Novelty::New;
        let open: Vec<(usize, &Draft)> = drafts.iter().enumerate().filter(is_open).collect();
        let mut batch = Batch::new();
        let mut added = Vec::new();
        let memories = open.iter().map(|(_, draft)| draft.memory.clone()).collect();
        let (prepared, revisions) =
            self.prepare(memories, LessonBatch::of_strangers().on_last_try(is_last(tries)), deadline).await;
        for ((position, draft), prepared) in open.into_iter().zip(prepared) {
            found[position] = draft.compared(prepared.existing(), &stored);
            match (found[position].0, prepared) {
                (Novelty::Confirms, PreparedLesson::Same { existing, memory }) => {
                    batch.extend(memory.confirmation(&existing, draft.ids.confirmation).map(Record::Signal));
                }
                (Novelty::New, PreparedLesson::New { memory, passages, .. }) => {
                    added.push(position);
                    batch.push(Record::Memory { memory: *memory, passages, confirm: Some(draft.ids.confirmation) });
                }
                _ => {}
            }
        }
        batch.extend(revisions);
        if batch.is_empty() {
            return Ok(found);
        }
        let committed = self.workspaces.commit_if_there(begun, &self.store, batch, deadline).await?;
        let commits = added.into_iter().zip(committed.memories);
        let reinforced: Vec<(usize, MemoryId)> = commits
            .filter_map(|(position, commit)| match commit {
                MemoryCommit::Reinforced(existing) => Some((position, existing)),
                MemoryCommit::Created(_) => None,
            })
            .collect();
        let ids: Vec<MemoryId> = reinforced.iter().map(|(_, id)| *id).collect();
        // The drafts are stored, whatever becomes of this question.
        let existing = self.memories_of(&ids, deadline).await.unwrap_or_default();
        for (position, id) in reinforced {
            let same = existing.iter().find(|memory| memory.id == id);
            let compared = same.map(|same| drafts[position].compared(Some(same), &stored));
            found[position] = compared.unwrap_or((Novelty::Confirms, Some(id)));
        }
        Ok(found)
    }

    /// Finds the ids of the drafts that are stored already: those of their memories and of their confirmations.
    async fn stored(&self, drafts: &[Draft], deadline: Deadline) -> Result<HashSet<Uuid>, Error> {
        let ids = drafts.iter().flat_map(|draft| [draft.ids.memory.uuid(), draft.ids.confirmation.uuid()]).collect();
        self.store.existing_ids(ids, deadline).await
    }
}
