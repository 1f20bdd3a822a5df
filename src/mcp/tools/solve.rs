//! `solve_coding_task`.

use reasoning_bank_domain::matts::MattsMode;
use reasoning_bank_domain::solve::{SolveReport, SolveTask};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ToolDefaults, present, set_default};
use crate::mcp::schema;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// With all code and constraints.
    #[schemars(length(min = 1, max = 200_000))]
    task: String,
    #[serde(default = "super::yes")]
    use_memory: bool,
    /// False makes one attempt.
    enable_matts: Option<bool>,
    /// Attempts.
    #[schemars(range(min = 1, max = 8))]
    matts_k: Option<u32>,
    matts_mode: Option<MattsMode>,
    /// Keep trace and lessons.
    #[serde(default = "super::yes")]
    store_result: bool,
    /// Such as rust or sql.
    #[schemars(length(max = 120))]
    domain: Option<String>,
    /// Path or id.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

impl Arguments {
    pub(crate) fn into_task(self, defaults: &ToolDefaults) -> SolveTask {
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

pub(super) fn definition(defaults: &ToolDefaults) -> Tool {
    let mut arguments = schema::of_arguments::<Arguments>();
    set_default(&mut arguments, "enable_matts", json!(defaults.enable_matts));
    set_default(&mut arguments, "matts_k", json!(defaults.matts_k));
    set_default(&mut arguments, "matts_mode", json!(defaults.matts_mode));
    let description = "Solves a coding task: recalls lessons, makes several attempts, judges the best and keeps what was \
                       learned. Use it for a self-contained task that deserves more than one try; it costs model calls.";
    Tool::new("solve_coding_task", description, arguments)
        .with_title("Solve a coding task")
        .with_raw_output_schema(answer_schema().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(false).open_world(true))
}

/// What was left out has the fields of what was used, and a reason; what was consumed is for people to look at.
fn answer_schema() -> JsonObject {
    let mut answer = schema::of_answer::<SolveReport>();
    if let Some(Value::Object(fields)) = answer.get_mut("properties") {
        fields.insert("memories_left_out".into(), json!({"type": "array", "items": {"type": "object"}}));
        fields.insert("usage".into(), json!({"type": "object"}));
    }
    answer
}
