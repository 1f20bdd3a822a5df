//! The tool `record_memory` stores a lesson that the agent words itself.

use futures::FutureExt;
use reasoning_bank_actors::memories::RecordRequest;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::trace::TASK_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::memory::{
    CONTENT_MAX_CHARS, DESCRIPTION_MAX_CHARS, ErrorContext, LABEL_MAX_CHARS, MemoryOutcome, REPLACED_MAX, SOURCES_MAX,
    Scope, SourceType, TAGS_MAX, TITLE_MAX_CHARS, Trust,
};
use reasoning_bank_domain::retrieval::responses::Recorded;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset, present};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "record_memory",
    title: "Record a lesson",
    description: "Keeps a lesson for later tasks. Call it when something was learned that will matter again: a \
                  strategy that worked or, with error_context, a mistake and how to avoid it. The same again \
                  confirms it. If a `similar` one is outdated, repeat with supersedes.",
    toolsets: |_| &[Toolset::Core],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &JUDGED_BY_THE_MEMORY,
    answer: schema::of_answer::<Recorded>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

/// The fields that a memory checks itself. It says all at once what is missing in them or too long.
pub(super) const JUDGED_BY_THE_MEMORY: [&str; 7] =
    ["title", "description", "content", "error_context", "pattern_tags", "domain_category", "difficulty_level"];

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let request = arguments.into_request(workspace, calling.caller.source().to_owned());
    calling.may_write_to(request.scope)?;
    let mut recorded = calling.memories().record(request, calling.deadline).await?;
    if !calling.caller.may(Permission::Read) {
        recorded.similar.clear();
    }
    document(&recorded)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[schemars(required, length(min = 1, max = TITLE_MAX_CHARS))]
    title: Option<String>,
    /// When to use it, when not.
    #[schemars(required, length(min = 1, max = DESCRIPTION_MAX_CHARS))]
    description: Option<String>,
    /// The advice, free of names that only fit this task.
    #[schemars(required, length(min = 1, max = CONTENT_MAX_CHARS))]
    content: Option<String>,
    /// Default: success, or failure with error_context.
    outcome: Option<MemoryOutcome>,
    /// Makes it a warning.
    error_context: Option<ErrorArguments>,
    #[serde(default)]
    #[schemars(length(max = TAGS_MAX), inner(length(min = 1, max = LABEL_MAX_CHARS)))]
    pattern_tags: Vec<String>,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    domain_category: Option<String>,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    difficulty_level: Option<String>,
    /// It refines this.
    parent_memory_id: Option<Uuid>,
    #[serde(default)]
    #[schemars(length(max = SOURCES_MAX))]
    derived_from: Vec<Uuid>,
    /// Its readers.
    #[serde(default)]
    scope: Scope,
    /// Learned from.
    #[schemars(length(max = TASK_MAX_CHARS))]
    task: Option<String>,
    /// Outdated ones it replaces.
    #[serde(default)]
    #[schemars(length(max = REPLACED_MAX))]
    supersedes: Vec<Uuid>,
    /// When it was said, if not now.
    #[schemars(length(max = 40))]
    valid_from: Option<String>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorArguments {
    #[schemars(required)]
    error_type: Option<String>,
    #[schemars(required)]
    failure_pattern: Option<String>,
    #[schemars(required)]
    corrective_guidance: Option<String>,
    error_message: Option<String>,
    stack_trace: Option<String>,
    task_domain: Option<String>,
}

impl From<ErrorArguments> for ErrorContext {
    fn from(error: ErrorArguments) -> Self {
        Self {
            error_type: error.error_type.unwrap_or_default(),
            failure_pattern: error.failure_pattern.unwrap_or_default(),
            corrective_guidance: error.corrective_guidance.unwrap_or_default(),
            error_message: error.error_message,
            stack_trace: error.stack_trace,
            task_domain: error.task_domain,
        }
    }
}

impl Arguments {
    fn into_request(self, workspace: WorkspaceRef, session: String) -> RecordRequest {
        RecordRequest {
            title: self.title.unwrap_or_default(),
            description: self.description.unwrap_or_default(),
            content: self.content.unwrap_or_default(),
            outcome: self.outcome,
            error_context: self.error_context.map(Into::into),
            pattern_tags: self.pattern_tags,
            domain_category: present(self.domain_category),
            difficulty_level: present(self.difficulty_level),
            parent_memory_id: self.parent_memory_id.map(MemoryId::from),
            derived_from: self.derived_from.into_iter().map(MemoryId::from).collect(),
            scope: self.scope,
            task: present(self.task),
            workspace,
            source_type: SourceType::Explicit,
            trust: Trust::Agent,
            session: Some(session),
            supersedes: self.supersedes.into_iter().map(MemoryId::from).collect(),
            valid_from: present(self.valid_from),
        }
    }
}

#[cfg(test)]
mod tests;
