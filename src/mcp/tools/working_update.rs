//! The tool `working_update` writes into the working memory of a task.

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::working::{
    ExecutionState, Operation, SetValue, TaskContext, VALUE_MAX_BYTES, WorkingMemory,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::working::{WorkingAnswer, task};
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "working_update",
    title: "Update working memory",
    description: "Writes values, results of subtasks and how far the task is into working memory. Call it after each \
                  subtask. Every part is optional.",
    toolsets: |_| &[Toolset::Working],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<WorkingAnswer>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let (id, named) = (arguments.task_id, arguments.workspace.clone());
    let task = task(calling, id, named.as_deref()).await?;
    let read = move |memory: &WorkingMemory, applied| WorkingAnswer::of(id, memory, &applied, None);
    document(&calling.working().apply(&task, arguments.operations(), calling.deadline, read).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task_id: Uuid,
    /// Goes back to a snapshot before all else.
    restore: Option<u32>,
    /// Replaces the task and its plan.
    task: Option<TaskContext>,
    #[serde(default)]
    #[schemars(length(max = 100))]
    set: Vec<SetValue>,
    #[serde(default)]
    #[schemars(length(max = 100))]
    results: Vec<SubtaskResult>,
    /// Replaces how far the task is.
    state: Option<ExecutionState>,
    /// A note on this state.
    #[schemars(length(max = VALUE_MAX_BYTES))]
    note: Option<String>,
    /// Keeps the state as it is after this call.
    #[serde(default)]
    snapshot: bool,
    /// Makes room by what can be spared.
    #[serde(default)]
    prune: bool,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubtaskResult {
    /// The id of a step of the plan, or a name.
    subtask: String,
    /// Any JSON.
    output: Value,
}

impl Arguments {
    fn operations(self) -> Vec<Operation> {
        let (state, note) = (self.state, self.note);
        let state = (state.is_some() || note.is_some()).then_some(Operation::PushState { state, note });
        let results = self
            .results
            .into_iter()
            .map(|SubtaskResult { subtask, output }| Operation::AddIntermediate { subtask, output });
        let restore = self.restore.map(Operation::Restore).into_iter();
        restore
            .chain(self.task.map(Operation::LoadTask))
            .chain(self.set.into_iter().map(Operation::Set))
            .chain(results)
            .chain(state)
            .chain(self.prune.then_some(Operation::Prune))
            .chain(self.snapshot.then_some(Operation::Snapshot))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::mcp::test_client::taken;

    #[rstest]
    #[case::no_value(json!({"set": [{"key": "a", "value": 1}, {"key": "b"}]}), "set[1].value: is required: any JSON but null")]
    #[case::null(json!({"set": [{"key": "a", "value": null}]}), "set[0].value: is required: any JSON but null")]
    #[case::no_output(json!({"results": [{"subtask": "a"}]}), "results[0].output: is required: any JSON but null")]
    #[case::no_list(json!({"set": {"key": "a"}}), "set: must be an array of 0 to 100 items, each an object of key, scope, kind, value; it is an object")]
    fn a_part_that_is_wrong_is_named_with_what_it_has_to_be(#[case] parts: Value, #[case] message: &str) {
        let Value::Object(mut arguments) = parts else { unreachable!() };
        arguments.insert("task_id".into(), json!("01890a5d-ac96-774b-bcce-b302099a8057"));
        assert_eq!(taken::<Arguments>(&TOOL, arguments.into()), Err(message.into()));
    }
}
