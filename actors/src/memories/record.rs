//! Keeping a lesson that a caller gives.

use reasoning_bank_domain::evidence::confidence::{Evidence, confidence};
use reasoning_bank_domain::learning::lesson::LessonBatch;
use reasoning_bank_domain::learning::recording::{RecordRequest, named_sources, with_sources};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Facts, Memory, Trust};
use reasoning_bank_domain::retrieval::responses::{RecordStatus, Recorded, SimilarMemory};
use reasoning_bank_domain::safety::secrets::Removed;
use uuid::Uuid;

use super::MemoriesHandle;
use super::merge_sources::LessonSources;
use super::supersede::SaidBy;
use crate::conflict::{is_last, retry_on_conflict};
use crate::error::Error;
use crate::ports::{MemoryCommit, Record};
use crate::runtime::Deadline;

impl MemoriesHandle {
    /// Keeps a lesson that a caller gives, which is durable when this returns. The same lesson again confirms the
    /// existing one.
    pub async fn record(&self, request: RecordRequest, deadline: Deadline) -> Result<Recorded, Error> {
        request.check_counts()?;
        let (request, removed) = request.scrubbed();
        let workspace = self.workspaces.resolve(&request.workspace, deadline).await?.workspace;
        // Somebody may change the memory that this confirms. What it is then is compared again.
        retry_on_conflict(|tries| self.try_to_record(request.clone(), removed, &workspace, tries, deadline)).await
    }

    async fn try_to_record(
        &self,
        request: RecordRequest,
        removed: Removed,
        workspace: &Workspace,
        tries: usize,
        deadline: Deadline,
    ) -> Result<Recorded, Error> {
        let now = self.clock.now();
        let (supersedes, said_by) = (request.supersedes.clone(), said_by(&request));
        let memory = request.into_memory(Uuid::now_v7().into(), workspace, now)?;
        memory.validate()?;
        let mut memory = self.with_ancestry(memory, workspace, deadline).await?;
        let older = self.replaceable(&supersedes, &memory, workspace, &said_by, "supersedes", deadline).await?;
        let linked = self.linked_to(&older, &memory, deadline).await?;
        let replaced: Vec<MemoryId> = supersedes.iter().copied().chain(linked.iter().map(|memory| memory.id)).collect();
        memory = replaced.iter().fold(memory, |memory, older| memory.replacing(*older));
        let mut batch = Vec::new();
        let facts = Facts::from(&memory);
        let (mut near, mut sources, mut updates, mut similar) = (None, Vec::new(), Vec::new(), Vec::new());
        let lessons = LessonBatch::default().on_last_try(is_last(tries)).replacing(&replaced);
        let (prepared, revisions) = self.prepare(vec![memory], lessons, deadline).await;
        batch.extend(revisions);
        for learned in prepared {
            near = learned.reinforces();
            sources.push(LessonSources::of(&learned));
            let replaces = &learned.memory().succession.replaces;
            similar = learned.similar().iter().map(SimilarMemory::from).collect();
            updates = replaces.iter().copied().filter(|id| !supersedes.contains(id)).collect();
            batch.extend(learned.into_record().map(|record| match record {
                // A memory that takes the place of another one is a memory of its own.
                Record::Memory { memory, passages, .. } if !supersedes.is_empty() => {
                    Record::Memory { memory, passages, confirm: None }
                }
                record => record,
            }));
        }
        let newer = near.unwrap_or(facts.id);
        batch.extend(self.superseding(&older, &linked, newer, &said_by, deadline).await?);
        let committed = self.workspaces.commit_to(workspace, &self.store, batch, deadline).await?;
        let superseded = self.replaced(&older, workspace, deadline).await?;
        let existing = near.or(match committed.memories.first() {
            Some(MemoryCommit::Reinforced(id)) => Some(*id),
            _ => None,
        });
        let created = Recorded {
            id: facts.id,
            status: RecordStatus::Created,
            duplicate_of: None,
            redactions: removed.redactions,
            dropped_characters: removed.dropped_characters,
            confidence: confidence(&facts, &Evidence::default(), now),
            superseded,
            updates,
            similar,
        };
        let Some(id) = existing else { return Ok(created) };
        self.merge_sources(sources, vec![id], deadline).await;
        // It is stored, whatever becomes of this question.
        let row = self.store.get(vec![id], deadline).await.ok().and_then(|mut rows| rows.pop());
        let confidence = row.map_or(facts.prior, |row| confidence(&Facts::from(&row.memory), &row.evidence, now));
        Ok(Recorded {
            id,
            status: RecordStatus::Reinforced,
            duplicate_of: Some(id),
            confidence,
            updates: Vec::new(),
            similar: Vec::new(),
            ..created
        })
    }

    /// Parents and sources must be memories that the workspace can read.
    async fn with_ancestry(&self, memory: Memory, workspace: &Workspace, deadline: Deadline) -> Result<Memory, Error> {
        let sources = named_sources(&memory);
        if sources.is_empty() {
            return Ok(memory);
        }
        let rows = self.readable(sources, workspace, deadline).await?;
        let found: Vec<Memory> = rows.into_iter().map(|row| row.memory).collect();
        Ok(with_sources(memory, &found)?)
    }
}

/// A person records by the command line, where nobody else does.
fn said_by(request: &RecordRequest) -> SaidBy {
    match request.trust {
        Trust::User => SaidBy::Person,
        Trust::Agent | Trust::Tool | Trust::Model => SaidBy::Session(request.session.clone()),
    }
}
