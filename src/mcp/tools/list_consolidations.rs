//! The tool `list_consolidations` lists the runs of consolidation. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_actors::pages::MAX_LISTED;
use reasoning_bank_domain::consolidation::RunPage;
use reasoning_bank_domain::memory::ids::RunId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, page_size};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_consolidations",
    title: "List runs of consolidation",
    description: "Lists the runs of the last 30 days, the newest first, a page at a time.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<RunPage>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let after = arguments.after.map(RunId::from);
    let consolidation = &calling.system.consolidation;
    document(&consolidation.page_of_runs(&workspace, arguments.limit, after, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The most runs on a page.
    #[serde(default = "page_size")]
    #[schemars(range(min = 1, max = MAX_LISTED))]
    limit: usize,
    /// The `next` of the page before.
    after: Option<Uuid>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
