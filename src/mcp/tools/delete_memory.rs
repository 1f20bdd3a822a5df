//! The tool `delete_memory` erases one memory, after the user's consent.

use futures::FutureExt;
use reasoning_bank_actors::memories::Erasure;
use reasoning_bank_actors::ports::Erased;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, ERASE_DEADLINE, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "delete_memory",
    title: "Delete a memory",
    description: "Erases one memory for good, with the evidence about it. Call it only when the user asks for it; \
                  update_memory with status archived only hides it.",
    toolsets: |_| &[Toolset::Admin],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<RemovedMemory>,
    effect: ToolEffect::Erases,
    permission: Permission::Admin,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let id = MemoryId::from(arguments.memory_id);
    let memory = calling.may_change(id, &workspace).await?;
    let what = format!("Delete the memory {:?} for good", memory.title);
    let owner = calling.resolved(&workspace).await?.workspace;
    let command = calling.command(&["--workspace", owner.path_or_id(), "memory", "delete", &id.to_string()]);
    calling.consent(what, command).await?;
    let erased = calling.system.memories.delete(id, &workspace, Deadline::after(ERASE_DEADLINE)).await?;
    document(&RemovedMemory::from(erased))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    memory_id: Uuid,
    /// That it cannot be undone is understood.
    #[schemars(extend("enum" = [true]))]
    #[expect(dead_code, reason = "its schema allows one value alone")]
    confirm: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

/// The counts of what was physically removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RemovedCounts {
    memories: u64,
    passages: u64,
    traces: u64,
    signals: u64,
    jobs: u64,
}

impl From<Erased> for RemovedCounts {
    fn from(erased: Erased) -> Self {
        let Erased { memories, passages, traces, signals, jobs } = erased;
        Self { memories, passages, traces, signals, jobs }
    }
}

/// The answer counts what went with a memory.
#[derive(Debug, Serialize, JsonSchema)]
struct RemovedMemory {
    #[serde(flatten)]
    removed: RemovedCounts,
    /// The memories that it had superseded are back in search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reinstated: Vec<MemoryId>,
}

impl From<Erasure> for RemovedMemory {
    fn from(erasure: Erasure) -> Self {
        Self { removed: erasure.removed.into(), reinstated: erasure.reinstated }
    }
}
