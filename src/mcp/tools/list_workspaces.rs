//! The tool `list_workspaces` lists the workspaces of the bank.

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_actors::pages::{MAX_LISTED, page_of};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId, WorkspaceKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset, page_size};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "list_workspaces",
    title: "List projects",
    description: "Lists the projects that have memories, by name, a page at a time, and which of them is current. Call \
                  it to find a project whose memories may help here.",
    toolsets: |_| &[Toolset::Workspace],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<Workspaces>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { limit, after } = calling.extract()?;
    let (all, current) = calling.workspaces().await?;
    let (page, next) = page_of(all, "workspace", |workspace| workspace.id.clone(), after.as_ref(), limit)?;
    document(&Workspaces { workspaces: page.into_iter().map(ListedWorkspace::from).collect(), next, current })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The most projects on a page.
    #[serde(default = "page_size")]
    #[schemars(range(min = 1, max = MAX_LISTED))]
    limit: usize,
    /// The `next` of the page before.
    after: Option<WorkspaceId>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Workspaces {
    /// The workspaces that were ever written to.
    workspaces: Vec<ListedWorkspace>,
    /// The `after` of the next page. It is absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<WorkspaceId>,
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
