//! The tool `consolidate` runs consolidation. It is for scripts alone.

use std::time::Duration;

use futures::FutureExt;
use reasoning_bank_actors::consolidation::RunRequest;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::consolidation::{ConsolidationRun, RunTrigger};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

/// The time limit of a run. Taking one back has the same limit.
pub(super) const RUN_DEADLINE: Duration = Duration::from_secs(600);

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "consolidate",
    title: "Consolidate",
    description: "Merges episodes and memories that tell the same, and finds, judges and refines patterns. The run can \
                  be undone for 30 days.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<ConsolidationRun>,
    effect: ToolEffect::Adds,
    permission: Permission::Admin,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let request = RunRequest { workspace, trigger: RunTrigger::Person, apply: arguments.apply };
    let run = calling.consolidation().run(request, Deadline::after(RUN_DEADLINE)).await?;
    document(&run).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// False: only say what would be done.
    #[serde(default)]
    apply: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
