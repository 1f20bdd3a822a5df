//! The tools: how clients see each, and the way from its arguments to a request of the system. A new tool is a file
//! below this one, and an entry in [`ALL`].

mod activate;
mod archive_episode;
mod banks;
mod capture_exchange;
mod consolidate;
mod delete_episode;
mod delete_memory;
mod delete_workspace;
mod distill_session;
mod find_patterns;
mod get_artefact;
mod get_consolidation;
mod get_context_for_task;
mod get_episode;
mod get_job;
mod get_memory;
mod get_memory_genealogy;
mod get_pattern;
mod get_recovery;
mod get_statistics;
mod get_trace;
mod get_workspace;
mod health_check;
mod learn_from_episode;
mod list_bank_versions;
mod list_consolidations;
mod list_episodes;
mod list_memories;
mod list_traces;
mod list_workspaces;
mod purge_episodes;
mod record_application;
mod record_episode;
mod record_memory;
mod record_pattern;
mod report_outcome;
mod reset_statistics;
mod restore_bank;
mod restore_episode;
mod retrieve_memories;
mod search_episodes;
pub(super) mod solve_coding_task;
mod switch_workspace;
mod undo_consolidation;
mod update;
mod update_memory;
mod working;
mod working_close;
mod working_context;
mod working_open;
mod working_update;

use futures::future::BoxFuture;
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::access::Permission;
use reasoning_bank_domain::memory::workspace::KEY_MAX_CHARS;
use reasoning_bank_domain::safety::secrets::Scrub;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::caller::{Caller, ServerEnd};
use super::calls::{Calling, Interrupted};
use super::options::{McpOptions, ToolDefaults};
use super::schema::SchemaReader;
use crate::settings::Toolset;

/// The effects that a call may have, as the annotations of the protocol tell clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    Reads,
    /// Each call adds something.
    Adds,
    /// The same call again changes nothing more.
    Sets,
    /// Something that was there is lost.
    Erases,
    /// A call adds something, and sends what it was given to models.
    AsksModels,
}

impl ToolEffect {
    fn annotations(self) -> ToolAnnotations {
        ToolAnnotations::new()
            .read_only(self == Self::Reads)
            .destructive(self == Self::Erases)
            .idempotent(matches!(self, Self::Reads | Self::Sets | Self::Erases))
            .open_world(self == Self::AsksModels)
    }
}

/// One tool: what clients see of it, which groups list it, and what a call of it does.
pub(super) struct ToolSpec {
    pub(super) name: &'static str,
    title: &'static str,
    /// The description says what the tool does, and when to call it.
    description: &'static str,
    /// The groups that have the tool on a server with these options.
    toolsets: fn(&McpOptions) -> &'static [Toolset],
    /// The schema of its arguments, which is where their bounds are written.
    arguments: fn(&ToolDefaults) -> JsonObject,
    /// The system judges the presence and length of these arguments, and tells all that is wrong with them at once.
    pub(super) judged_elsewhere: &'static [&'static str],
    /// The schema of its answer.
    answer: fn(SchemaReader) -> JsonObject,
    effect: ToolEffect,
    /// A token that may call the tool has this permission.
    pub(super) permission: Permission,
    /// The tool is about where the server or its client is, and so is there for clients of this machine alone.
    is_local: bool,
    /// A call that is cancelled comes to an end by itself. Any other is dropped; what the store has begun by then it
    /// finishes.
    ends_itself: bool,
    call: for<'a> fn(&'a Calling<'a>) -> BoxFuture<'a, Result<Value, Interrupted>>,
}

/// Every tool, in the order in which they are listed.
pub(super) const ALL: [&ToolSpec; 49] = [
    &solve_coding_task::TOOL,
    &retrieve_memories::TOOL,
    &record_memory::TOOL,
    &report_outcome::TOOL,
    &get_memory_genealogy::TOOL,
    &get_statistics::TOOL,
    &capture_exchange::TOOL,
    &distill_session::TOOL,
    &get_job::TOOL,
    &list_workspaces::TOOL,
    &switch_workspace::TOOL,
    &delete_workspace::TOOL,
    &health_check::TOOL,
    &reset_statistics::TOOL,
    &get_memory::TOOL,
    &update_memory::TOOL,
    &delete_memory::TOOL,
    &get_context_for_task::TOOL,
    &get_recovery::TOOL,
    &learn_from_episode::TOOL,
    &find_patterns::TOOL,
    &get_pattern::TOOL,
    &record_pattern::TOOL,
    &record_application::TOOL,
    &list_memories::TOOL,
    &record_episode::TOOL,
    &search_episodes::TOOL,
    &get_episode::TOOL,
    &get_artefact::TOOL,
    &list_traces::TOOL,
    &get_trace::TOOL,
    &get_workspace::TOOL,
    &list_episodes::TOOL,
    &archive_episode::TOOL,
    &delete_episode::TOOL,
    &restore_episode::TOOL,
    &purge_episodes::TOOL,
    &consolidate::TOOL,
    &list_consolidations::TOOL,
    &get_consolidation::TOOL,
    &undo_consolidation::TOOL,
    &activate::TOOL,
    &update::TOOL,
    &list_bank_versions::TOOL,
    &restore_bank::TOOL,
    &working_open::TOOL,
    &working_update::TOOL,
    &working_context::TOOL,
    &working_close::TOOL,
];

impl ToolSpec {
    /// Says whether agents see the tool. One that is in no group is for scripts alone.
    pub(super) fn is_listed(&self, options: &McpOptions) -> bool {
        let own = (self.toolsets)(options);
        own.iter().any(|toolset| options.toolsets.contains(toolset) || options.toolsets.contains(&Toolset::All))
    }

    /// Says whether the tool shows memory banks, whose texts are remembered without secrets.
    pub(super) fn shows_banks(&self) -> bool {
        self.name == activate::TOOL.name
    }

    /// Says whether a caller may call the tool. Whoever writes to memory banks may begin with them as well.
    pub(super) fn may_be_called_by(&self, caller: &Caller<'_>) -> bool {
        caller.may(self.permission) || (self.shows_banks() && caller.may(Permission::Write))
    }

    /// Removes the secrets of an answer that was made just now.
    pub(super) fn scrub(&self, document: &mut Value) {
        let is_clean = |name: &str| self.shows_banks() && matches!(name, "content" | "outline");
        match document {
            Value::Object(fields) => {
                for (_, value) in fields.iter_mut().filter(|(name, _)| !is_clean(name)) {
                    value.scrub();
                }
            }
            other => {
                other.scrub();
            }
        }
    }

    pub(super) fn changes_something(&self) -> bool {
        self.effect != ToolEffect::Reads
    }

    /// Says whether something that was there may be lost by a call. Such a call is in the audit log for good before it is
    /// answered.
    pub(super) fn erases(&self) -> bool {
        self.effect == ToolEffect::Erases
    }

    /// Says whether a call may wait for a model or for the user. How many do so at once has bounds of its own.
    pub(super) fn may_wait_long(&self) -> bool {
        self.effect == ToolEffect::AsksModels || self.erases()
    }

    pub(super) fn is_for(&self, end: &ServerEnd) -> bool {
        !self.is_local || matches!(end, ServerEnd::Stdio { .. })
    }

    pub(super) fn definition(&self, defaults: &ToolDefaults, end: &ServerEnd) -> Tool {
        let mut arguments = (self.arguments)(defaults);
        if matches!(end, ServerEnd::Http { .. }) {
            name_by_key(&mut arguments);
        }
        Tool::new(self.name, self.description, arguments)
            .with_title(self.title)
            .with_raw_output_schema((self.answer)(SchemaReader::Model).into())
            .with_annotations(self.effect.annotations())
    }

    /// Returns the schema of its answer for scripts.
    pub(super) fn answer_for_scripts(&self) -> JsonObject {
        (self.answer)(SchemaReader::Program)
    }

    pub(super) async fn answer(&self, calling: &Calling<'_>) -> Result<Value, Interrupted> {
        let answer = (self.call)(calling);
        if self.ends_itself {
            return answer.await;
        }
        tokio::select! {
            biased;
            () = calling.cancel.cancelled() => Err(Error::Cancelled.into()),
            answer = answer => answer,
        }
    }
}

/// The arguments of a tool that takes none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// The number of things on a page of a list when nobody says how many.
pub(crate) fn page_size() -> usize {
    50
}

/// The default of arguments that are true when they are left out.
fn yes() -> bool {
    true
}

/// Drops a blank text: models fill optional texts that they do not need with nothing.
fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Says in the schema that projects are named by their keys, not by paths.
fn name_by_key(schema: &mut JsonObject) {
    for argument in ["workspace", "path"] {
        let argument = schema.get_mut("properties").and_then(|properties| properties.get_mut(argument));
        if let Some(Value::Object(argument)) = argument {
            argument.insert("description".into(), Value::from("Key of a project."));
            argument.insert("maxLength".into(), Value::from(KEY_MAX_CHARS));
        }
    }
}

/// Says in the schema what an argument is when it is left out.
fn set_default(schema: &mut JsonObject, argument: &str, default: Value) {
    let argument = schema.get_mut("properties").and_then(|properties| properties.get_mut(argument));
    if let Some(Value::Object(argument)) = argument {
        argument.insert("default".into(), default);
    }
}

#[cfg(test)]
mod tests;
