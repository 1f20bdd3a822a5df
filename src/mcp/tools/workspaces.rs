//! `list_workspaces`, `switch_workspace` and `delete_workspace`.

use reasoning_bank_domain::workspace::{Workspace, WorkspaceDetail, WorkspaceId};
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Nothing;
use super::admin::Removed;
use crate::mcp::schema;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchArguments {
    /// Path or id of a project.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteArguments {
    /// Path or id of a project.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) path: String,
    /// That it cannot be undone is understood.
    #[schemars(extend("enum" = [true]))]
    #[expect(dead_code, reason = "its schema allows one value alone")]
    confirm: bool,
    /// Also erase the copies of its memories that its team and its organisation have.
    #[serde(default)]
    pub(crate) with_promoted: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Deleted {
    #[serde(flatten)]
    pub(crate) removed: Removed,
    /// Copies of its memories that teams and organisations keep.
    pub(crate) promoted_kept: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Workspaces {
    /// Those that were ever written to.
    pub(crate) workspaces: Vec<Workspace>,
    /// The one that this session works in; absent until that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<WorkspaceId>,
}

pub(super) fn list_definition() -> Tool {
    let description = "Lists the projects that have memories, and which of them is current. Call it to find a project \
                       whose memories may help here.";
    Tool::new("list_workspaces", description, schema::of_arguments::<Nothing>())
        .with_title("List projects")
        .with_raw_output_schema(schema::of_answer::<Workspaces>().into())
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}

pub(super) fn switch_definition() -> Tool {
    let description = "Makes another project the one that calls without a workspace read and write, until this server \
                       ends. Call it when the work moves to another project.";
    Tool::new("switch_workspace", description, schema::of_arguments::<SwitchArguments>())
        .with_title("Switch project")
        .with_raw_output_schema(schema::of_answer::<WorkspaceDetail>().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false))
}

pub(super) fn delete_definition() -> Tool {
    let description = "Erases a project's memories, traces and evidence for good. Copies that a team has stay, unless \
                       with_promoted. Call it only when the user asks for exactly this.";
    Tool::new("delete_workspace", description, schema::of_arguments::<DeleteArguments>())
        .with_title("Delete a project's memories")
        .with_raw_output_schema(schema::of_answer::<Deleted>().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(true).idempotent(true).open_world(false))
}
