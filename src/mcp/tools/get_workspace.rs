//! The tool `get_workspace` counts what one workspace has. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::{ROOT_MAX_BYTES, WorkspaceDetail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::list_workspaces::ListedWorkspace;
use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_workspace",
    title: "Count what a project has",
    description: "Shows one project, with the numbers of its memories, traces and jobs.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<CountedWorkspace>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let (workspace, _) = calling.registered("path", &arguments.path).await?;
    let shown = calling.system.workspaces.show(&workspace, calling.deadline).await?;
    document(&CountedWorkspace::from(shown))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Path or id of a project.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    path: String,
}

/// A workspace, with the numbers of what it has of its own.
#[derive(Debug, Serialize, JsonSchema)]
struct CountedWorkspace {
    #[serde(flatten)]
    workspace: ListedWorkspace,
    /// Memories of every scope and status.
    memories: u64,
    /// Traces of solves, and episodes.
    traces: u64,
    /// Jobs that wait, run or are over.
    jobs: u64,
}

impl From<WorkspaceDetail> for CountedWorkspace {
    fn from(shown: WorkspaceDetail) -> Self {
        let WorkspaceDetail { workspace, memories, traces, jobs, .. } = shown;
        Self { workspace: workspace.into(), memories, traces, jobs }
    }
}
