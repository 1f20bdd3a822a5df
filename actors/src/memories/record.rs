//! Keeping a lesson that a caller gives.

use jiff::Timestamp;
use reasoning_bank_domain::evidence::confidence::{Evidence, confidence, prior};
use reasoning_bank_domain::learning::imported::bad_time;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{
    Facts, FieldProblem, Memory, MemoryInvalid, MemoryOutcome, NewMemory, REPLACED_MAX, Scope, TAGS_MAX, Trust,
    normalised_stack,
};
use reasoning_bank_domain::retrieval::conditions::moment;
use reasoning_bank_domain::retrieval::responses::{RecordStatus, Recorded};
use reasoning_bank_domain::safety::secrets::{Removed, Scrub};
use uuid::Uuid;

use super::compare::LessonBatch;
use super::merge_sources::LessonSources;
use super::supersede::SaidBy;
use super::{MemoriesHandle, RecordRequest, TRIES};
use crate::error::Error;
use crate::ports::{MemoryCommit, Record, StoreError};
use crate::runtime::Deadline;

impl MemoriesHandle {
    /// Durable when it returns. The same lesson again confirms the existing one.
    pub async fn record(&self, request: RecordRequest, deadline: Deadline) -> Result<Recorded, Error> {
        let mut tries = 1;
        loop {
            match self.try_to_record(request.clone(), tries, deadline).await {
                // Somebody changed the memory that this confirms. What it is then is compared again.
                Err(Error::Store(StoreError::Conflict(_))) if tries < TRIES => tries += 1,
                recorded => return recorded,
            }
        }
    }

    async fn try_to_record(&self, request: RecordRequest, tries: usize, deadline: Deadline) -> Result<Recorded, Error> {
        let now = self.clock.now();
        check_counts(&request)?;
        let (request, removed) = scrubbed(request);
        let workspace = self.workspaces.resolve(&request.workspace, deadline).await?.workspace;
        let (supersedes, said_by) = (request.supersedes.clone(), said_by(&request));
        let mut memory = memory_of(request, &workspace, now)?;
        memory.validate()?;
        self.trace_ancestry(&mut memory, &workspace, deadline).await?;
        let older = self.replaceable(&supersedes, &memory, &workspace, &said_by, "supersedes", deadline).await?;
        let linked = self.linked_to(&older, &memory, deadline).await?;
        let replaced: Vec<MemoryId> = supersedes.iter().copied().chain(linked.iter().map(|memory| memory.id)).collect();
        memory = replaced.iter().fold(memory, |memory, older| memory.replacing(*older));
        let mut batch = vec![Record::Workspace(self.workspaces.registration(&workspace))];
        let facts = Facts::from(&memory);
        let (mut near, mut sources, mut updates) = (None, Vec::new(), Vec::new());
        let lessons = LessonBatch::default().on_try(tries).replacing(&replaced);
        let (prepared, revisions) = self.prepare(vec![memory], lessons, deadline).await;
        batch.extend(revisions);
        for learned in prepared {
            near = learned.reinforces();
            sources.push(LessonSources::of(&learned));
            let replaces = &learned.memory().succession.replaces;
            updates = replaces.iter().copied().filter(|id| !supersedes.contains(id)).collect();
            batch.push(match learned.into_record(now) {
                // What takes the place of another memory is one of its own.
                Record::Memory { memory, passages, .. } if !supersedes.is_empty() => {
                    Record::Memory { memory, passages, confirm: None }
                }
                record => record,
            });
        }
        let newer = near.unwrap_or(facts.id);
        batch.extend(self.superseding(&older, &linked, newer, &said_by, deadline).await?);
        let committed = self.store.commit(batch, deadline).await?;
        self.workspaces.registered(&workspace);
        let superseded = self.replaced(&older, &workspace, deadline).await?;
        let existing = near.or(match committed.memories.first() {
            Some(MemoryCommit::Reinforced(id)) => Some(*id),
            _ => None,
        });
        let Some(id) = existing else {
            let confidence = confidence(&facts, &Evidence::default(), now);
            return Ok(Recorded {
                id: facts.id,
                status: RecordStatus::Created,
                duplicate_of: None,
                redactions: removed.redactions,
                dropped_characters: removed.dropped_characters,
                confidence,
                superseded,
                updates,
            });
        };
        self.merge_sources(sources, vec![id], deadline).await;
        // It is stored, whatever becomes of this question.
        let row = self.store.get(vec![id], deadline).await.ok().and_then(|mut rows| rows.pop());
        let confidence = row.map_or(facts.prior, |row| confidence(&Facts::from(&row.memory), &row.evidence, now));
        Ok(Recorded {
            id,
            status: RecordStatus::Reinforced,
            duplicate_of: Some(id),
            redactions: removed.redactions,
            dropped_characters: removed.dropped_characters,
            confidence,
            superseded,
            updates: Vec::new(),
        })
    }

    /// Parents and sources must be memories that the workspace can read; the stage is one more than the latest of them.
    async fn trace_ancestry(
        &self,
        memory: &mut Memory,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let mut sources: Vec<MemoryId> =
            memory.parent_memory_id.into_iter().chain(memory.derived_from.clone()).collect();
        sources.sort();
        sources.dedup();
        if sources.is_empty() {
            return Ok(());
        }
        let rows = self.readable(sources.clone(), workspace, deadline).await?;
        if let Some(missing) = sources.iter().find(|id| !rows.iter().any(|row| row.memory.id == **id)) {
            let parent = memory.parent_memory_id == Some(*missing);
            let argument = if parent { "parent_memory_id" } else { "derived_from" };
            return Err(Error::invalid(argument, format!("there is no memory {missing} here")));
        }
        memory.derived_from = sources;
        rows.iter().for_each(|row| memory.derive_from(&row.memory));
        Ok(())
    }
}

/// Memories that one may be derived from, as recorded.
const SOURCES_MAX: usize = 50;

/// To look through a million labels takes seconds.
fn check_counts(request: &RecordRequest) -> Result<(), Error> {
    check_tags(&request.pattern_tags)?;
    let sources = request.derived_from.len();
    if sources > SOURCES_MAX {
        let problem = format!("has {sources} memories; at most {SOURCES_MAX} are allowed");
        return Err(Error::invalid("derived_from", problem));
    }
    let supersedes = request.supersedes.len();
    if supersedes > REPLACED_MAX {
        let problem = format!("has {supersedes} memories; at most {REPLACED_MAX} are allowed");
        return Err(Error::invalid("supersedes", problem));
    }
    Ok(())
}

/// A person records by the command line, where nobody else does.
fn said_by(request: &RecordRequest) -> SaidBy {
    match request.trust {
        Trust::User => SaidBy::Person,
        Trust::Agent | Trust::Tool | Trust::Model => SaidBy::Session(request.session.clone()),
    }
}

/// When the words were said.
fn valid_from(text: &str, now: Timestamp) -> Result<Timestamp, Error> {
    let field = "valid_from";
    let at = moment(text, now).map_err(|problem| Error::invalid(field, problem))?;
    match bad_time(field, at, now) {
        Some(problem) => Err(Error::invalid(field, problem.problem)),
        None => Ok(at),
    }
}

/// Far more tags than allowed are told by themselves, before anybody looks at what they say.
pub(super) fn check_tags(tags: &[String]) -> Result<(), Error> {
    if tags.len() <= 10 * TAGS_MAX {
        return Ok(());
    }
    let problem = format!("has {} tags; at most {TAGS_MAX} are allowed", tags.len());
    Err(MemoryInvalid { problems: vec![FieldProblem { field: "pattern_tags", problem }] }.into())
}

/// The request's texts are without secrets.
pub(super) fn memory_of(request: RecordRequest, workspace: &Workspace, now: Timestamp) -> Result<Memory, Error> {
    let denied = |scope: Scope| Error::ScopeDenied(scope);
    let (team, org) = match request.scope {
        Scope::Project => (None, None),
        Scope::Team => (Some(workspace.team.clone().ok_or_else(|| denied(Scope::Team))?), None),
        Scope::Org => (None, Some(workspace.org.clone().ok_or_else(|| denied(Scope::Org))?)),
    };
    let default_outcome = if request.error_context.is_some() { MemoryOutcome::Failure } else { MemoryOutcome::Success };
    let mut error_context = request.error_context;
    if let Some(error) = &mut error_context {
        error.task_domain = error.task_domain.take().or_else(|| request.domain_category.clone());
        error.stack_trace = error.stack_trace.as_deref().map(normalised_stack);
    }
    Ok(Memory {
        error_context,
        task: request.task.unwrap_or_default(),
        scope: request.scope,
        team,
        org,
        source_session: request.session,
        parent_memory_id: request.parent_memory_id,
        derived_from: request.derived_from,
        pattern_tags: request.pattern_tags,
        difficulty_level: request.difficulty_level,
        domain_category: request.domain_category,
        valid_from: request.valid_from.map(|text| valid_from(&text, now)).transpose()?,
        ..Memory::new(NewMemory {
            id: MemoryId::from(Uuid::now_v7()),
            title: request.title,
            description: request.description,
            content: request.content,
            outcome: request.outcome.unwrap_or(default_outcome),
            workspace_id: workspace.id.clone(),
            source_type: request.source_type,
            trust: request.trust,
            prior: prior(request.source_type, None),
            at: now,
        })
    })
}

/// Every text without its secrets and invisible characters, and how many there were.
fn scrubbed(mut request: RecordRequest) -> (RecordRequest, Removed) {
    let removed = request.title.scrub()
        + request.description.scrub()
        + request.content.scrub()
        + request.task.scrub()
        + request.domain_category.scrub()
        + request.difficulty_level.scrub()
        + request.pattern_tags.scrub()
        + request.error_context.scrub();
    (request, removed)
}
