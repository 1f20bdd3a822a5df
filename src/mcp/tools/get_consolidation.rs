//! The tool `get_consolidation` shows one run of consolidation. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::consolidation::ConsolidationRun;
use reasoning_bank_domain::memory::ids::RunId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_consolidation",
    title: "Read a run of consolidation",
    description: "Shows what one run looked at, changed and left.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<OneRun>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<ConsolidationRun>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let (id, workspace) = OneRun::of(calling).await?;
    document(&calling.system.consolidation.show(id, &workspace, calling.deadline).await?).map(quoted)
}

/// The arguments of every tool that is about one run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "")]
pub(super) struct OneRun {
    run_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

impl OneRun {
    /// Reads which run a call is about, and of which workspace.
    pub(super) async fn of(calling: &Calling<'_>) -> Result<(RunId, WorkspaceRef), Interrupted> {
        let Self { run_id, workspace } = calling.extract()?;
        Ok((run_id.into(), calling.workspace(workspace.as_deref()).await?))
    }
}
