//! The tool `working_context` shows the working memory of a task, or entries of it as a whole.

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::working::{NoReference, Operation, Reference, TOTAL_TOKENS};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::working::{ReadEntry, WorkingAnswer, task};
use super::working_open::all_tokens;
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema;

/// A call reads at most so many entries.
const MAX_READ: usize = 20;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "working_context",
    title: "Read working memory",
    description: "Shows what is at hand for a task within a budget of tokens or, with get, whole entries by their \
                  references, such as result:7. Call it when a line with a reference is not enough.",
    toolsets: |_| &[Toolset::Working],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<WorkingAnswer>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { task_id, get, budget_tokens, workspace } = calling.extract()?;
    let wrong = |error: NoReference| Error::invalid("get", error.to_string());
    let references: Vec<Reference> = get.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(wrong)?;
    let task = task(calling, task_id, workspace.as_deref()).await?;
    let operations = references.iter().copied().map(Operation::Read).collect();
    let answer = calling.system.working.apply(&task, operations, calling.deadline, move |memory, applied| {
        let budget = references.is_empty().then_some(budget_tokens);
        let read = references.iter().filter_map(|reference| memory.resolve(*reference));
        let entries =
            read.map(|entry| ReadEntry { reference: entry.reference().to_string(), text: entry.text.to_string() });
        WorkingAnswer::of(task_id, memory, &applied, budget).with_entries(entries.collect())
    });
    document(&answer.await?).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task_id: Uuid,
    /// References of the entries to read whole.
    #[serde(default)]
    #[schemars(length(max = MAX_READ), inner(length(min = 1, max = 40)))]
    get: Vec<String>,
    #[serde(default = "all_tokens")]
    #[schemars(range(min = 200, max = TOTAL_TOKENS))]
    budget_tokens: usize,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}
