//! The tool `switch_workspace` binds the session to another workspace.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::{ROOT_MAX_BYTES, WorkspaceDetail};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::caller::Caller;
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "switch_workspace",
    title: "Switch project",
    description: "Makes another project the one that calls without a workspace read and write, until this server \
                  ends. Call it when the work moves to another project.",
    toolsets: |_| &[Toolset::Workspace],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<WorkspaceDetail>,
    effect: ToolEffect::Sets,
    permission: Permission::Read,
    is_local: true,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.named("path", &arguments.path)?;
    let shown = calling.system.workspaces.show(&workspace, calling.deadline).await?;
    if let Caller::User { binding, .. } = calling.caller {
        binding.rebind(workspace);
    }
    document(&shown)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Path or id of a project.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    path: String,
}
