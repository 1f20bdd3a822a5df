//! The tool `get_recovery` shows what helps with an error: patterns, warnings, and what resolved it before.

use futures::FutureExt;
use reasoning_bank_actors::context::RecoveryRequest;
use reasoning_bank_domain::context::RecoveryAdvice;
use reasoning_bank_domain::memory::trace::TASK_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset, present};
use crate::mcp::calls::{Calling, Interrupted, about, document, saying};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_recovery",
    title: "Get what helps with an error",
    description: "Shows what helps with an error: patterns and warnings that name it, and what resolved it in earlier \
                  tasks. Call it as soon as something fails.",
    toolsets: |_| &[Toolset::Context],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<RecoveryAdvice>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let request = RecoveryRequest {
        task: present(arguments.task),
        proposed: calling.proposed(&workspace).await?,
        embedding_timeout: calling.caller.embedding_timeout(),
        ..RecoveryRequest::new(arguments.error.clone(), workspace.clone())
    };
    let advice = calling.system.context.recovery(request, calling.deadline).await?;
    calling.system.usage.shown(advice.shown_memories(), &workspace, calling.caller.source());
    calling
        .note_recall(&workspace, |recalls, workspace| {
            recalls.of_shown(workspace, &arguments.error, advice.shown_memories())
        })
        .await;
    let about = about(!advice.is_empty(), &advice.notes);
    Ok(saying(about, document(&advice)?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// As it was printed, or its type.
    #[schemars(length(min = 1, max = TASK_MAX_CHARS))]
    error: String,
    /// Your task. It leaves out patterns for other types of tasks.
    #[schemars(length(max = TASK_MAX_CHARS))]
    task: Option<String>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
