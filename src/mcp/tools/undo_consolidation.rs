//! The tool `undo_consolidation` takes a run of consolidation back. It is for scripts alone.

use futures::FutureExt;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::consolidation::ConsolidationRun;
use serde_json::Value;

use super::consolidate::RUN_DEADLINE;
use super::get_consolidation::OneRun;
use super::{Permission, ToolEffect, ToolSpec};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "undo_consolidation",
    title: "Undo a run of consolidation",
    description: "Takes a run back, as far as nobody has changed what it changed, and says what stays as it is.",
    toolsets: |_| &[],
    arguments: |_| schema::of_arguments::<OneRun>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<ConsolidationRun>,
    effect: ToolEffect::Sets,
    permission: Permission::Admin,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let (id, workspace) = OneRun::of(calling).await?;
    let undone = calling.system.consolidation.undo(id, &workspace, Deadline::after(RUN_DEADLINE)).await?;
    document(&undone).map(quoted)
}
