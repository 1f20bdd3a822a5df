//! The tool `record_application` says that a pattern was applied in the work of a trace.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::pattern::document::PatternChanged;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "record_application",
    title: "Record an application",
    description: "Says that a pattern was applied in a task. Call it once the task has a trace; the outcome of the \
                  trace counts for or against the pattern.",
    toolsets: |_| &[Toolset::Patterns],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<PatternChanged>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let (id, trace) = (arguments.pattern_id.into(), arguments.trace_id.into());
    let source = Some(calling.caller.source());
    document(&calling.memories().apply_pattern(id, trace, &workspace, source, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern_id: Uuid,
    /// The solve or the reported work in which it was applied.
    trace_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
