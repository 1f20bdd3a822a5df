//! `health_check`, `get_memory`, `update_memory` and `delete_memory`.

use reasoning_bank_actors::memories::{Erasure, UpdateRequest, WorkspaceRef};
use reasoning_bank_actors::ports::Erased;
use reasoning_bank_domain::health::Health;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::{Changes, Status};
use reasoning_bank_domain::view::{MemoryDetail, Updated};
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Nothing;
use crate::mcp::schema;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetArguments {
    pub(crate) memory_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteArguments {
    pub(crate) memory_id: Uuid,
    /// That it cannot be undone is understood.
    #[schemars(extend("enum" = [true]))]
    #[expect(dead_code, reason = "its schema allows one value alone")]
    confirm: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateArguments {
    memory_id: Uuid,
    #[schemars(length(min = 1, max = 120))]
    title: Option<String>,
    #[schemars(length(min = 1, max = 400))]
    description: Option<String>,
    #[schemars(length(min = 1, max = 100_000))]
    content: Option<String>,
    /// In place of all there are.
    #[schemars(length(max = 20), inner(length(min = 1, max = 120)))]
    pattern_tags: Option<Vec<String>>,
    /// Empty: none.
    #[schemars(length(max = 120))]
    domain_category: Option<String>,
    /// Empty: none.
    #[schemars(length(max = 120))]
    difficulty_level: Option<String>,
    /// Only active memories are recalled.
    status: Option<Status>,
    /// Pinned memories do not lose confidence with age.
    pinned: Option<bool>,
    /// Refuses the change where the memory has another revision.
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    if_revision: Option<u64>,
    /// Path or id.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

impl UpdateArguments {
    pub(crate) fn into_request(self, workspace: WorkspaceRef) -> UpdateRequest {
        let changes = Changes {
            title: self.title,
            description: self.description,
            content: self.content,
            pattern_tags: self.pattern_tags,
            domain_category: self.domain_category,
            difficulty_level: self.difficulty_level,
            status: self.status,
            pinned: self.pinned,
        };
        UpdateRequest { id: MemoryId::from(self.memory_id), workspace, changes, if_revision: self.if_revision }
    }
}

/// What was physically removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Removed {
    memories: u64,
    passages: u64,
    traces: u64,
    signals: u64,
    jobs: u64,
}

impl From<Erased> for Removed {
    fn from(erased: Erased) -> Self {
        let Erased { memories, passages, traces, signals, jobs } = erased;
        Self { memories, passages, traces, signals, jobs }
    }
}

/// What went with a memory.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RemovedMemory {
    #[serde(flatten)]
    removed: Removed,
    /// Memories that it had superseded: they are back in search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reinstated: Vec<MemoryId>,
}

impl From<Erasure> for RemovedMemory {
    fn from(erasure: Erasure) -> Self {
        Self { removed: erasure.removed.into(), reinstated: erasure.reinstated }
    }
}

pub(super) fn health_definition() -> Tool {
    let description = "Checks the store, the embedding model, the language model and the server's actors. Call it when \
                       calls fail or are slow. Calls no model.";
    Tool::new("health_check", description, schema::of_arguments::<Nothing>())
        .with_title("Check health")
        .with_raw_output_schema(schema::of_answer::<Health>().into())
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}

pub(super) fn get_definition() -> Tool {
    let description = "Reads one memory with its state. Call it before updating or deleting it.";
    Tool::new("get_memory", description, schema::of_arguments::<GetArguments>())
        .with_title("Read a memory")
        .with_raw_output_schema(schema::of_answer::<MemoryDetail>().into())
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}

pub(super) fn update_definition() -> Tool {
    let description = "Changes a memory: its text, tags, status or pin. Call it when a memory is wrong in part or out \
                       of date; what is left out stays. Answers the memory as it then is.";
    Tool::new("update_memory", description, schema::of_arguments::<UpdateArguments>())
        .with_title("Change a memory")
        .with_raw_output_schema(schema::of_answer::<Updated>().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false))
}

pub(super) fn delete_definition() -> Tool {
    let description = "Erases one memory for good, with the evidence about it. Call it only when the user asks for it; \
                       update_memory with status archived only hides it.";
    Tool::new("delete_memory", description, schema::of_arguments::<DeleteArguments>())
        .with_title("Delete a memory")
        .with_raw_output_schema(schema::of_answer::<RemovedMemory>().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false))
}
