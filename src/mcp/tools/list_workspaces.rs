//! The tool `list_workspaces` lists the workspaces of the bank.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Nothing, Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_workspaces",
    title: "List projects",
    description: "Lists the projects that have memories, and which of them is current. Call it to find a project \
                  whose memories may help here.",
    toolsets: |_| &[Toolset::Workspace],
    arguments: |_| schema::of_arguments::<Nothing>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<Workspaces>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Nothing {} = calling.extract()?;
    let (workspaces, current) = calling.workspaces().await?;
    document(&Workspaces { workspaces, current })
}

#[derive(Debug, Serialize, JsonSchema)]
struct Workspaces {
    /// The workspaces that were ever written to.
    workspaces: Vec<Workspace>,
    /// The workspace that this session works in. It is absent until that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<WorkspaceId>,
}
