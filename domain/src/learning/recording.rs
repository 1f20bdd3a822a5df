//! Recording: a caller asks to keep a lesson. This file decides which requests are refused, and what memory each of the
//! others becomes. The lessons that come with a report are in `reported`.

mod reported;

use jiff::Timestamp;

use crate::evidence::confidence::prior;
use crate::learning::imported::bad_time;
use crate::memory::ids::MemoryId;
use crate::memory::workspace::{Workspace, WorkspaceRef};
use crate::memory::{
    ErrorContext, FieldProblem, Memory, MemoryInvalid, MemoryOutcome, NewMemory, REPLACED_MAX, SOURCES_MAX, Scope,
    SourceType, TAGS_MAX, Trust, check_count, normalised_stack,
};
use crate::retrieval::conditions::moment;
use crate::safety::secrets::{Removed, Scrub};

pub use reported::reported_lessons;

/// A lesson to keep. `outcome` defaults to failure with an error context, else success.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordRequest {
    pub title: String,
    pub description: String,
    pub content: String,
    pub outcome: Option<MemoryOutcome>,
    pub error_context: Option<ErrorContext>,
    pub pattern_tags: Vec<String>,
    pub domain_category: Option<String>,
    pub difficulty_level: Option<String>,
    pub parent_memory_id: Option<MemoryId>,
    pub derived_from: Vec<MemoryId>,
    pub scope: Scope,
    pub task: Option<String>,
    pub workspace: WorkspaceRef,
    pub source_type: SourceType,
    pub trust: Trust,
    /// The session of the client that gives it.
    pub session: Option<String>,
    /// The memories that it takes the place of, at most [`REPLACED_MAX`]. They leave search.
    pub supersedes: Vec<MemoryId>,
    /// The time at which its words were said, where that was before now: RFC 3339, a date or an age.
    pub valid_from: Option<String>,
}

/// The reason why a lesson that a caller gives is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordRefusal {
    /// An argument is out of its bounds.
    Argument(FieldProblem),
    Memory(MemoryInvalid),
    /// The workspace belongs to no team or organisation to share it with.
    NoReaders(Scope),
}

impl From<FieldProblem> for RecordRefusal {
    fn from(problem: FieldProblem) -> Self {
        Self::Argument(problem)
    }
}

impl From<MemoryInvalid> for RecordRefusal {
    fn from(invalid: MemoryInvalid) -> Self {
        Self::Memory(invalid)
    }
}

impl RecordRequest {
    /// Checks how many tags, sources and replaced memories there are, because it would take seconds to look through a
    /// million labels.
    pub fn check_counts(&self) -> Result<(), RecordRefusal> {
        check_tags(&self.pattern_tags)?;
        for (field, count, most) in [
            ("derived_from", self.derived_from.len(), SOURCES_MAX),
            ("supersedes", self.supersedes.len(), REPLACED_MAX),
        ] {
            check_count(field, count, "memories", most)?;
        }
        Ok(())
    }

    /// Removes secrets and invisible characters from the texts of the request. Returns the request, and how many there
    /// were.
    pub fn scrubbed(mut self) -> (Self, Removed) {
        let removed = self.title.scrub()
            + self.description.scrub()
            + self.content.scrub()
            + self.task.scrub()
            + self.domain_category.scrub()
            + self.difficulty_level.scrub()
            + self.pattern_tags.scrub()
            + self.error_context.scrub();
        (self, removed)
    }

    /// Makes the memory of the request in its workspace. The request has been [`Self::scrubbed`]. [`Memory::validate`]
    /// checks whether its texts make a valid memory.
    ///
    /// # Errors
    ///
    /// [`RecordRefusal::NoReaders`] where the workspace has nobody to share it with, and [`RecordRefusal::Argument`]
    /// where `valid_from` is no time at which the words can have been said.
    pub fn into_memory(self, id: MemoryId, workspace: &Workspace, now: Timestamp) -> Result<Memory, RecordRefusal> {
        let (team, org) = workspace.team_and_org(self.scope).ok_or(RecordRefusal::NoReaders(self.scope))?;
        let default_outcome =
            if self.error_context.is_some() { MemoryOutcome::Failure } else { MemoryOutcome::Success };
        let mut error_context = self.error_context;
        if let Some(error) = &mut error_context {
            error.task_domain = error.task_domain.take().or_else(|| self.domain_category.clone());
            error.stack_trace = error.stack_trace.as_deref().map(normalised_stack);
        }
        Ok(Memory {
            error_context,
            task: self.task.unwrap_or_default(),
            scope: self.scope,
            team,
            org,
            source_session: self.session,
            parent_memory_id: self.parent_memory_id,
            derived_from: self.derived_from,
            pattern_tags: self.pattern_tags,
            difficulty_level: self.difficulty_level,
            domain_category: self.domain_category,
            valid_from: self.valid_from.map(|text| valid_from(&text, now)).transpose()?,
            ..Memory::new(NewMemory {
                id,
                title: self.title,
                description: self.description,
                content: self.content,
                outcome: self.outcome.unwrap_or(default_outcome),
                workspace_id: workspace.id.clone(),
                source_type: self.source_type,
                trust: self.trust,
                prior: prior(self.source_type, None),
                at: now,
            })
        })
    }
}

/// Refuses more than ten times as many tags as are allowed, before anybody looks at what they say. [`Memory::validate`]
/// refuses the other lists that are too long.
pub fn check_tags(tags: &[String]) -> Result<(), MemoryInvalid> {
    if tags.len() <= 10 * TAGS_MAX {
        return Ok(());
    }
    check_count("pattern_tags", tags.len(), "tags", TAGS_MAX).map_err(|bad| MemoryInvalid { problems: vec![bad] })
}

/// Reads the time at which the words were said.
fn valid_from(text: &str, now: Timestamp) -> Result<Timestamp, FieldProblem> {
    let field = "valid_from";
    let at = moment(text, now).map_err(|problem| FieldProblem::new(field, problem))?;
    bad_time(field, at, now).map_or(Ok(at), Err)
}

/// Returns the memories that a memory is said to come from, its parent among them, each once.
pub fn named_sources(memory: &Memory) -> Vec<MemoryId> {
    let mut sources: Vec<MemoryId> = memory.sources().collect();
    sources.sort();
    sources.dedup();
    sources
}

/// Returns the memory with all its sources. Its stage comes after theirs, and it is trusted no more than they are.
/// `found` is what there is of its [`named_sources`].
///
/// # Errors
///
/// The first of its sources that was not found.
pub fn with_sources(memory: Memory, found: &[Memory]) -> Result<Memory, FieldProblem> {
    let sources = named_sources(&memory);
    if let Some(missing) = sources.iter().find(|id| !found.iter().any(|source| source.id == **id)) {
        let is_parent = memory.parent_memory_id == Some(*missing);
        let field = if is_parent { "parent_memory_id" } else { "derived_from" };
        return Err(FieldProblem::new(field, format!("there is no memory {missing} here")));
    }
    let mut derived = Memory { derived_from: sources, ..memory };
    found.iter().for_each(|source| derived.derive_from(source));
    Ok(derived)
}

#[cfg(test)]
mod tests;
