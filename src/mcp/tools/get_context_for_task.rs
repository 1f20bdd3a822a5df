//! The tool `get_context_for_task` shows what helps with a task: patterns, memories and earlier tasks.

use std::collections::BTreeMap;

use futures::FutureExt;
use reasoning_bank_actors::context::ContextRequest;
use reasoning_bank_domain::context::{BUDGET_DEFAULT, BUDGET_MAX, BUDGET_MIN, ContextForTask};
use reasoning_bank_domain::memory::LABEL_MAX_CHARS;
use reasoning_bank_domain::memory::pattern::FeatureValue;
use reasoning_bank_domain::memory::trace::TASK_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::banks::work_tree;
use super::{Permission, ToolEffect, ToolSpec, Toolset, present};
use crate::mcp::calls::{Calling, Interrupted, about, document, saying};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_context_for_task",
    title: "Get what helps with a task",
    description: "Shows what helps with a task within a budget of tokens: proven patterns, lessons, warnings and earlier \
                  tasks like it. Call it once before a task, and give its context_id to learn_from_episode at the end.",
    toolsets: |_| &[Toolset::Context],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<ContextForTask>,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let request = ContextRequest {
        domain: present(arguments.domain),
        task_type: present(arguments.task_type),
        context: arguments.context,
        budget_tokens: arguments.budget_tokens,
        proposed: calling.proposed(&workspace).await?,
        embedding_timeout: calling.caller.embedding_timeout(),
        work_tree: work_tree(calling, arguments.workspace.as_deref(), &workspace),
        ..ContextRequest::new(arguments.task.clone(), workspace.clone())
    };
    let answer = calling.system.context.for_task(request, calling.deadline).await?;
    calling.system.usage.shown(answer.shown_memories(), &workspace, calling.caller.source());
    calling
        .note_recall(&workspace, |recalls, workspace| {
            recalls.of_shown(workspace, &arguments.task, answer.shown_memories())
        })
        .await;
    let about = about(!answer.is_empty(), &answer.notes);
    Ok(saying(about, document(&answer)?))
}

fn default_budget() -> usize {
    BUDGET_DEFAULT
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The task to do.
    #[schemars(length(min = 1, max = TASK_MAX_CHARS))]
    task: String,
    #[schemars(length(max = LABEL_MAX_CHARS))]
    domain: Option<String>,
    /// Such as debugging or testing. Default: read in the task.
    #[schemars(length(max = LABEL_MAX_CHARS))]
    task_type: Option<String>,
    /// Further features, such as language, framework, complexity, tools, error, or any name that patterns ask for.
    #[serde(default)]
    context: BTreeMap<String, FeatureValue>,
    /// The most tokens of rendered.
    #[serde(default = "default_budget")]
    #[schemars(range(min = BUDGET_MIN, max = BUDGET_MAX))]
    budget_tokens: usize,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
