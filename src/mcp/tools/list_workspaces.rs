//! The tool `list_workspaces` lists the workspaces of the bank.

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId, WorkspaceKey};
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
    document(&Workspaces { workspaces: workspaces.into_iter().map(ListedWorkspace::from).collect(), current })
}

#[derive(Debug, Serialize, JsonSchema)]
struct Workspaces {
    /// The workspaces that were ever written to.
    workspaces: Vec<ListedWorkspace>,
    /// The workspace that this session works in. It is absent until that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<WorkspaceId>,
}

/// A workspace as a client sees it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListedWorkspace {
    id: WorkspaceId,
    revision: u64,
    name: String,
    /// The directory. It is null where the workspace has none, as under a key.
    root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<WorkspaceKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    org: Option<String>,
    created_at: Timestamp,
}

impl From<Workspace> for ListedWorkspace {
    fn from(workspace: Workspace) -> Self {
        let Workspace { id, revision, name, root, key, team, org, created_at } = workspace;
        Self { id, revision, name, root: Some(root).filter(|root| !root.is_empty()), key, team, org, created_at }
    }
}
