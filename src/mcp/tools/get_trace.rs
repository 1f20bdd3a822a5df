//! The tool `get_trace` shows one trace: the attempts at a task, and how they were judged. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_trace",
    title: "Read a trace",
    description: "Reads one trace: the attempts at a task, and how they were judged.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<Trace>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    document(&calling.system.memories.trace(arguments.trace_id.into(), &workspace, calling.deadline).await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    trace_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
