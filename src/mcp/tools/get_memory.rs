//! The tool `get_memory` shows one memory.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::retrieval::responses::MemoryDetail;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_memory",
    title: "Read a memory",
    description: "Reads one memory with its state. Call it before updating or deleting it.",
    toolsets: |_| &[Toolset::Admin],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<MemoryDetail>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let id = arguments.memory_id.into();
    document(&calling.system.memories.show(id, &workspace, calling.deadline).await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    memory_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
