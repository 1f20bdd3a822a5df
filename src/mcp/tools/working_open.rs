//! The tool `working_open` begins the working memory of a task, or goes on with one.

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::working::WorkingTask;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::working::{Operation, TOTAL_TOKENS, TaskContext, VALUE_MAX_BYTES, session_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::working::{WorkingAnswer, owner};
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "working_open",
    title: "Open working memory",
    description: "Begins the working memory of a task, which survives a compaction of your context and a restart. \
                  Call it when a task of several steps begins, and without task after your context was compacted: \
                  it goes on with the task that was touched last.",
    toolsets: |_| &[Toolset::Working],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_quoting_answer::<WorkingAnswer>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { task, system, task_id, budget_tokens, workspace: named } = calling.extract()?;
    if task.is_some() && task_id.is_some() {
        return Err(Error::invalid("task_id", "goes on with a task, and does not belong beside task").into());
    }
    let workspace = calling.workspace(named.as_deref()).await?;
    let resolved = calling.resolved(&workspace).await?;
    let id = resolved.workspace.id.clone();
    let (working, owner) = (calling.working(), owner(calling));
    let (task, operations) = match (task, task_id) {
        (Some(task), _) => {
            let load = working.checked(Operation::LoadTask(task))?;
            calling.register(&resolved).await?;
            let begun = working.begin(id, owner, system.unwrap_or_default(), calling.deadline).await?;
            (begun, vec![load])
        }
        (None, Some(task)) => (WorkingTask { workspace: id, owner, id: task.into() }, Vec::new()),
        (None, None) => {
            let mut open = working.list_all(&id, &owner, calling.deadline).await?;
            // A hook names the task of a session to that session.
            open.retain(|task| session_of(&task.memory).is_none());
            let none = || match open.first() {
                Some(elsewhere) => Error::TaskInUse(elsewhere.id),
                None => Error::NotFound("task that is not closed; begin one with task".to_owned()),
            };
            let last = open.iter().find(|task| !task.is_elsewhere).ok_or_else(none)?;
            (WorkingTask { workspace: id, owner, id: last.id }, Vec::new())
        }
    };
    let shown = task.id.uuid();
    let answer = working.apply(&task, operations, calling.deadline, move |memory, applied| {
        WorkingAnswer::of(shown, memory, &applied, Some(budget_tokens))
    });
    document(&answer.await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The task to begin.
    task: Option<TaskContext>,
    /// Constant facts about you: tools, safety bounds.
    #[schemars(length(max = VALUE_MAX_BYTES))]
    system: Option<String>,
    /// The task to go on with.
    task_id: Option<Uuid>,
    #[serde(default = "all_tokens")]
    #[schemars(range(min = 200, max = TOTAL_TOKENS))]
    budget_tokens: usize,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

pub(super) fn all_tokens() -> usize {
    TOTAL_TOKENS
}
