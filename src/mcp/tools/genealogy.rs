//! `get_memory_genealogy`.

use reasoning_bank_domain::genealogy::Genealogy;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::mcp::schema;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    pub(crate) memory_id: Uuid,
    /// Levels; default: all.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) depth: Option<u32>,
    /// Path or id.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

pub(super) fn definition() -> Tool {
    let description = "Shows what a memory was learned from and what was learned from it. Call it to judge how far to \
                       trust it, or to find what a wrong one has led to.";
    Tool::new("get_memory_genealogy", description, schema::of_arguments::<Arguments>())
        .with_title("Trace a lesson back")
        .with_raw_output_schema(answer_schema().into())
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}

/// Ancestors and descendants have the fields of the memory; the first of them are said once.
fn answer_schema() -> JsonObject {
    let mut answer = schema::of_answer::<Genealogy>();
    if let Some(Value::Object(fields)) = answer.get_mut("properties") {
        if let Some(Value::Object(memory)) = fields.get_mut("memory").and_then(|memory| memory.get_mut("properties")) {
            memory.retain(|field, _| ["id", "title", "confidence"].contains(&field.as_str()));
        }
        for list in ["ancestors", "descendants"] {
            fields.insert(list.into(), json!({"type": "array", "items": {"type": "object"}}));
        }
    }
    answer
}
