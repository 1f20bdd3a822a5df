//! The tool `list_memories` lists the memories of a workspace, the newest first. It is for scripts alone: agents do not
//! browse, they ask for what their task needs.

use futures::FutureExt;
use reasoning_bank_actors::memories::ListRequest;
use reasoning_bank_actors::pages::MAX_LISTED;
use reasoning_bank_domain::memory::Status;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::retrieval::responses::MemoryPage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, page_size};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_memories",
    title: "List memories",
    description: "Lists the memories that were learned or recorded in a project, the newest first, a page at a time.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<MemoryPage>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let request = ListRequest {
        status: arguments.status,
        after: arguments.after.map(MemoryId::from),
        ..ListRequest::new(workspace, arguments.limit)
    };
    document(&calling.system.memories.list(request, calling.deadline).await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    status: Option<Status>,
    /// The most memories on a page.
    #[serde(default = "page_size")]
    #[schemars(range(min = 1, max = MAX_LISTED))]
    limit: usize,
    /// The `next` of the page before.
    after: Option<Uuid>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
