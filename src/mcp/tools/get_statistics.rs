//! The tool `get_statistics` answers with the statistics document.

use futures::FutureExt;
use reasoning_bank_domain::system::statistics::Statistics;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{Nothing, Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema::{self, SchemaReader};

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_statistics",
    title: "Statistics",
    description: "Counts of traces, memories, model calls, cache hits, costs and times. Call it when asked how the \
                  bank is doing.",
    toolsets: |_| &[Toolset::Core],
    arguments: |_| schema::of_arguments::<Nothing>(),
    judged_elsewhere: &[],
    answer: answer_schema,
    effect: ToolEffect::Reads,
    permission: Permission::AdminAll,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Nothing {} = calling.extract()?;
    document(&calling.system.statistics(calling.deadline).await?)
}

/// Makes the schema of the answer, which names the parts to models. What is in each they read in the answer itself.
pub(super) fn answer_schema(reader: SchemaReader) -> JsonObject {
    let mut answer = schema::of_answer::<Statistics>(reader);
    if reader == SchemaReader::Model
        && let Some(Value::Object(parts)) = answer.get_mut("properties")
    {
        parts.values_mut().for_each(|part| *part = json!({}));
    }
    answer
}
