//! `get_statistics` and `reset_statistics`.

use reasoning_bank_domain::statistics::Statistics;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::Nothing;
use crate::mcp::schema;

pub(super) fn definition() -> Tool {
    let description = "Counts of traces, memories, model calls, cache hits, costs and times. Call it when asked how the \
                       bank is doing.";
    Tool::new("get_statistics", description, schema::of_arguments::<Nothing>())
        .with_title("Statistics")
        .with_raw_output_schema(answer_schema().into())
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}

pub(super) fn reset_definition() -> Tool {
    let description = "Begins this server's counters and latencies anew. Call it before measuring something. What the \
                       bank holds stays.";
    Tool::new("reset_statistics", description, schema::of_arguments::<Nothing>())
        .with_title("Reset statistics")
        .with_raw_output_schema(answer_schema().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false))
}

/// The parts by name; what is in each is read in the answer itself.
fn answer_schema() -> JsonObject {
    let mut answer = schema::of_answer::<Statistics>();
    if let Some(Value::Object(parts)) = answer.get_mut("properties") {
        for part in parts.values_mut() {
            let kind = part.get("type").cloned().unwrap_or_else(|| json!("object"));
            *part = json!({"type": kind});
        }
    }
    answer
}
