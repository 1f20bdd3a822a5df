//! Patterns: memories that say when they apply. They are added as candidates, applied, judged by their applications,
//! and found for a task.

mod applications;
mod curation;
mod find;
mod observe;

use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::pattern::PatternPart;
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use reasoning_bank_domain::pattern::document::{PatternAdded, PatternChanged, PatternDocument};
use reasoning_bank_domain::pattern::facts::EpisodeFacts;
use reasoning_bank_domain::pattern::input::PatternInput;
use reasoning_bank_domain::pattern::{observation, stages};
use reasoning_bank_domain::safety::secrets::Scrub;
use uuid::Uuid;

pub(crate) use self::curation::contradicting;
pub use self::find::PatternQuery;
use super::{MemoriesHandle, WorkspaceRef};
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{MemoryCommit, Record};
use crate::runtime::Deadline;

/// A pattern to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPattern {
    /// The caller's words. A workspace that they name counts for nothing.
    pub input: PatternInput,
    pub workspace: WorkspaceRef,
    pub trust: Trust,
    pub session: Option<String>,
}

impl MemoriesHandle {
    /// Adds a pattern as a candidate, which no search finds. One that is there and says exactly the same is confirmed.
    pub async fn add_pattern(&self, new: NewPattern, deadline: Deadline) -> Result<PatternAdded, Error> {
        let workspace = self.workspaces.resolve(&new.workspace, deadline).await?.workspace;
        let memory = Memory::new(NewMemory {
            id: Uuid::now_v7().into(),
            title: new.input.title.clone(),
            description: new.input.description.clone(),
            content: new.input.explanation.clone(),
            outcome: MemoryOutcome::Success,
            workspace_id: workspace.id.clone(),
            source_type: SourceType::Explicit,
            trust: new.trust,
            prior: prior(SourceType::Explicit, None),
            at: self.clock.now(),
        });
        let mut memory = Memory { source_session: new.session, pattern: Some(Box::new(new.input.part())), ..memory };
        let removed = memory.scrub();
        memory.validate()?;
        let id = memory.id;
        let confirm = Some(Uuid::now_v7().into());
        let batch = vec![Record::Memory { memory, passages: Vec::new(), confirm }];
        let committed = self.workspaces.commit_to(&workspace, &self.store, batch, deadline).await?;
        let stored = committed.memories.first().copied().map_or(id, MemoryCommit::id);
        Ok(PatternAdded { pattern_id: stored, is_new: stored == id, redactions: removed.redactions })
    }

    /// Reads a pattern with its applications.
    pub async fn pattern(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<PatternDocument, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let (memory, part) = self.readable_pattern(id, &workspace, deadline).await?;
        let judged = self.judged(id, deadline).await?;
        Ok(PatternDocument::new(&memory, &part, &judged.of(id), self.clock.now()))
    }

    /// Records that a pattern was applied in the work of a trace, and looks at its applications.
    pub async fn apply_pattern(
        &self,
        id: MemoryId,
        trace: TraceId,
        workspace: &WorkspaceRef,
        session: Option<&str>,
        deadline: Deadline,
    ) -> Result<PatternChanged, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let trace = self.own_trace(trace, &workspace, deadline).await?;
        let mut facts = EpisodeFacts::of_trace(&trace);
        if let Some(session) = session {
            facts.session = session.to_owned();
        }
        retry_on_conflict(async |_| {
            let (memory, part) = self.readable_pattern(id, &workspace, deadline).await?;
            let application = observation::reported(id, &part, &facts);
            let application_id = application.id;
            let mut judged = self.judged(id, deadline).await?;
            let is_known = !judged.add(application.clone(), facts.clone());
            let mut batch = Vec::new();
            if !is_known {
                batch.push(Record::Signal(application.into()));
            }
            let changed = self.review(&memory, &part, &judged, &workspace, batch, deadline).await?;
            Ok(PatternChanged { application_id: Some(application_id), ..changed })
        })
        .await
    }

    /// Looks at the applications of a pattern, and moves it to the stage that they speak for.
    pub async fn review_pattern(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<PatternChanged, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        retry_on_conflict(async |_| {
            let (memory, part) = self.readable_pattern(id, &workspace, deadline).await?;
            let judged = self.judged(id, deadline).await?;
            self.review(&memory, &part, &judged, &workspace, Vec::new(), deadline).await
        })
        .await
    }

    /// Validates a pattern because a person says so. Its memory then has the trust of a user.
    pub async fn accept_pattern(
        &self,
        id: MemoryId,
        because: &str,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<PatternChanged, Error> {
        reason_is_given("accept", because)?;
        self.set_stage(id, workspace, deadline, |memory, part| {
            memory.trust = Trust::User;
            (stages::accepted(part, because, self.clock.now()), because.to_owned())
        })
        .await
    }

    /// Takes a pattern out of use. It is kept for the record.
    pub async fn deprecate_pattern(
        &self,
        id: MemoryId,
        reason: &str,
        superseded_by: Option<MemoryId>,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<PatternChanged, Error> {
        reason_is_given("reason", reason)?;
        if superseded_by == Some(id) {
            return Err(Error::invalid("superseded_by", "names the pattern itself"));
        }
        if let Some(newer) = superseded_by {
            let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
            self.readable_pattern(newer, &workspace, deadline).await?;
        }
        self.set_stage(id, workspace, deadline, |_, part| {
            (stages::deprecated(part, reason, superseded_by), reason.to_owned())
        })
        .await
    }

    async fn set_stage(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
        change: impl Fn(&mut Memory, &PatternPart) -> (PatternPart, String),
    ) -> Result<PatternChanged, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        retry_on_conflict(async |_| {
            let (mut memory, part) = self.readable_pattern(id, &workspace, deadline).await?;
            let before = memory.clone();
            let (next, why) = change(&mut memory, &part);
            let judged = self.judged(id, deadline).await?;
            let stage_before = part.stage;
            let (memory, part) = self.store_part(&before, memory, next, Vec::new(), deadline).await?;
            let pattern = PatternDocument::new(&memory, &part, &judged.of(id), self.clock.now());
            Ok(PatternChanged { pattern, application_id: None, stage_before, why })
        })
        .await
    }

    /// Stores a memory with its part, together with a batch.
    async fn store_part(
        &self,
        before: &Memory,
        memory: Memory,
        part: PatternPart,
        mut batch: Vec<Record>,
        deadline: Deadline,
    ) -> Result<(Memory, PatternPart), Error> {
        let revised = self.with_part(before, memory, part.clone(), deadline).await?;
        let memory = revised.as_ref().map_or_else(|| before.clone(), |(memory, _)| memory.clone());
        batch.extend(revised.map(|(_, record)| record));
        if !batch.is_empty() {
            self.store.commit(batch, deadline).await?;
        }
        Ok((memory, part))
    }

    /// Makes the next revision of a memory, with this part, and the record that stores it. None where nothing changes.
    /// A pattern that search may find gets its passages, and one that it may not find any more loses them.
    pub(crate) async fn with_part(
        &self,
        before: &Memory,
        memory: Memory,
        part: PatternPart,
        deadline: Deadline,
    ) -> Result<Option<(Memory, Record)>, Error> {
        let memory = checked(Memory { pattern: Some(Box::new(part)), ..memory })?;
        if memory == *before {
            return Ok(None);
        }
        let memory = memory.revised(self.clock.now());
        let (memory, passages) = if memory.is_unproven() {
            (Memory { embedder: None, ..memory }, Vec::new())
        } else if before.is_unproven() {
            self.with_these_or_new(memory, Vec::new(), deadline).await
        } else {
            self.with_passages(memory, before, deadline).await?
        };
        let record = Record::Revision { memory: memory.clone(), passages };
        Ok(Some((memory, record)))
    }

    /// Makes the record that turns a memory, as it is now, back into what it was. None where it is that already.
    pub(crate) async fn restored(
        &self,
        current: &Memory,
        before: Memory,
        deadline: Deadline,
    ) -> Result<Option<Record>, Error> {
        let Some(part) = before.pattern.as_deref().cloned() else {
            let before = Memory { embedder: current.embedder.clone(), ..before };
            let (memory, passages) = self.with_passages(before.revised(self.clock.now()), current, deadline).await?;
            return Ok(Some(Record::Revision { memory, passages }));
        };
        Ok(self.with_part(current, before, part, deadline).await?.map(|(_, record)| record))
    }
}

/// Removes secrets from a memory, and checks it.
pub(crate) fn checked(mut memory: Memory) -> Result<Memory, Error> {
    memory.scrub();
    memory.validate()?;
    Ok(memory)
}

fn reason_is_given(argument: &'static str, reason: &str) -> Result<(), Error> {
    if reason.trim().is_empty() { Err(Error::invalid(argument, "is missing or blank; say why")) } else { Ok(()) }
}
