//! The tool `get_pattern` shows one pattern with its evidence.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::pattern::document::PatternDocument;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_pattern",
    title: "Read a pattern",
    description: "Reads one pattern with its conditions and its evidence. Call it before you rely on a pattern that matters.",
    toolsets: |_| &[Toolset::Patterns],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<PatternDocument>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let id = arguments.pattern_id.into();
    document(&calling.system.memories.pattern(id, &workspace, calling.deadline).await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
