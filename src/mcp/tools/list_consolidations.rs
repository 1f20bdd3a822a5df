//! The tool `list_consolidations` lists the runs of consolidation. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::consolidation::ConsolidationRun;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_consolidations",
    title: "List runs of consolidation",
    description: "Lists the runs of the last 30 days, the newest first.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<RunsDocument>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    document(&RunsDocument { runs: calling.system.consolidation.runs(&workspace, calling.deadline).await? })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RunsDocument {
    runs: Vec<ConsolidationRun>,
}
