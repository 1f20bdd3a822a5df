//! The tool `list_traces` lists what was tried for tasks, the newest first. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_actors::pages::MAX_LISTED;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Traces;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, page_size};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_traces",
    title: "List traces",
    description: "Lists the traces of a project, which say what was tried for tasks, the newest first, a page at a time.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<Traces>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let after = arguments.after.map(TraceId::from);
    let traces = calling.system.memories.traces(&workspace, arguments.limit, after, calling.deadline).await?;
    document(&traces).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The most traces on a page.
    #[serde(default = "page_size")]
    #[schemars(range(min = 1, max = MAX_LISTED))]
    limit: usize,
    /// The `next` of the page before.
    after: Option<Uuid>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
