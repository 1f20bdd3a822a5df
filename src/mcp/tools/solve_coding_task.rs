//! The tool `solve_coding_task` works on a task by itself: recall, several attempts, judgement, lessons.

use futures::FutureExt;
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::memory::LABEL_MAX_CHARS;
use reasoning_bank_domain::memory::trace::{MattsMode, TASK_MAX_CHARS};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::solve::matts::K_RANGE;
use reasoning_bank_domain::solve::task::{SolveReport, SolveTask};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Permission, ToolDefaults, ToolEffect, ToolSpec, Toolset, present, set_default};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema::{self, SchemaReader};

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "solve_coding_task",
    title: "Solve a coding task",
    description: "Solves a coding task: recalls lessons, makes several attempts, judges the best and keeps what was \
                  learned. Use it for a self-contained task that deserves more than one try; it costs model calls.",
    toolsets: |options| if options.can_solve { &[Toolset::Core] } else { &[] },
    arguments: arguments_schema,
    judged_elsewhere: &[],
    answer: answer_schema,
    effect: ToolEffect::AsksModels,
    permission: Permission::Solve,
    is_local: false,
    ends_itself: true,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    if !calling.options.can_solve {
        return Err(Error::NoModel.into());
    }
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let task = arguments.into_task(&calling.options.defaults);
    let progress = calling.client.progress();
    let news = progress.subscribe();
    let deadline = Deadline::after(calling.options.solve_deadline);
    let call = SolveOptions {
        cancel: calling.cancel.clone(),
        progress: Some(progress.clone()),
        proposed: calling.proposed(&workspace).await.unwrap_or_default(),
        session: Some(calling.caller.session()),
        ..SolveOptions::until(deadline)
    };
    let work = calling.system.agents.solve(task, workspace, call);
    let solved = calling.client.told_of(work, news).await;
    if let Some(place) = calling.place.get() {
        let used = progress.borrow().tokens;
        place.spent(used).await;
    }
    document(&solved?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// With all code and constraints.
    #[schemars(length(min = 1, max = TASK_MAX_CHARS))]
    task: String,
    #[serde(default = "super::yes")]
    use_memory: bool,
    /// False makes one attempt.
    enable_matts: Option<bool>,
    /// Attempts.
    #[schemars(range(min = *K_RANGE.start(), max = *K_RANGE.end()))]
    matts_k: Option<u32>,
    matts_mode: Option<MattsMode>,
    /// Keep trace and lessons.
    #[serde(default = "super::yes")]
    store_result: bool,
    /// Such as rust or sql.
    #[schemars(length(max = LABEL_MAX_CHARS))]
    domain: Option<String>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

impl Arguments {
    fn into_task(self, defaults: &ToolDefaults) -> SolveTask {
        let several = self.enable_matts.unwrap_or(defaults.enable_matts);
        SolveTask {
            task: self.task,
            use_memory: self.use_memory,
            k: if several { self.matts_k.unwrap_or(defaults.matts_k) } else { 1 },
            mode: self.matts_mode.unwrap_or(defaults.matts_mode),
            store_result: self.store_result,
            domain: present(self.domain),
        }
    }
}

fn arguments_schema(defaults: &ToolDefaults) -> JsonObject {
    let mut arguments = schema::of_arguments::<Arguments>();
    set_default(&mut arguments, "enable_matts", json!(defaults.enable_matts));
    set_default(&mut arguments, "matts_k", json!(defaults.matts_k));
    set_default(&mut arguments, "matts_mode", json!(defaults.matts_mode));
    arguments
}

/// Makes the schema of the answer. What was left out has the fields of what was used, and a reason, which models are not
/// told; what was consumed is for people to look at.
fn answer_schema(reader: SchemaReader) -> JsonObject {
    let mut answer = schema::of_answer::<SolveReport>(reader);
    if reader == SchemaReader::Model
        && let Some(Value::Object(fields)) = answer.get_mut("properties")
    {
        fields.insert("memories_left_out".into(), json!({"type": "array", "items": {"type": "object"}}));
        fields.insert("usage".into(), json!({"type": "object"}));
    }
    answer
}

#[cfg(test)]
mod tests;
