//! The tool `reset_statistics` sets the counters back to zero.

use futures::FutureExt;
use serde_json::Value;

use super::get_statistics::answer_schema;
use super::{Nothing, Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "reset_statistics",
    title: "Reset statistics",
    description: "Begins this server's counters and latencies anew. Call it before measuring something. What the \
                  bank holds stays.",
    toolsets: |_| &[Toolset::Admin],
    arguments: |_| schema::of_arguments::<Nothing>(),
    judged_elsewhere: &[],
    answer: answer_schema,
    effect: ToolEffect::Sets,
    permission: Permission::AdminAll,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Nothing {} = calling.extract()?;
    calling.system.reset_statistics();
    document(&calling.system.statistics(calling.deadline).await?)
}
