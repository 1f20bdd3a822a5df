//! The tool `get_memory_genealogy` shows the memories that a memory comes from, and those that come from it.

use futures::FutureExt;
use reasoning_bank_domain::evidence::genealogy::{Genealogy, MAX_NODES};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document, quoted};
use crate::mcp::schema::{self, SchemaReader};

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "get_memory_genealogy",
    title: "Trace a lesson back",
    description: "Shows what a memory was learned from and what was learned from it. Call it to judge how far to \
                  trust it, or to find what a wrong one has led to.",
    toolsets: |_| &[Toolset::Core],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: answer_schema,
    effect: ToolEffect::Reads,
    permission: Permission::Read,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let id = arguments.memory_id.into();
    let genealogy = calling.system.memories.genealogy(id, &workspace, arguments.depth, calling.deadline).await?;
    document(&genealogy).map(quoted)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    memory_id: Uuid,
    /// Levels; default: all.
    #[schemars(range(min = 1, max = MAX_NODES))]
    depth: Option<u32>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

/// Makes the schema of the answer. Ancestors and descendants have the fields of the memory, which models are told once.
fn answer_schema(reader: SchemaReader) -> JsonObject {
    let mut answer = schema::of_quoting_answer::<Genealogy>(reader);
    if reader == SchemaReader::Model
        && let Some(Value::Object(fields)) = answer.get_mut("properties")
    {
        if let Some(Value::Object(memory)) = fields.get_mut("memory").and_then(|memory| memory.get_mut("properties")) {
            memory.retain(|field, _| ["id", "title", "confidence"].contains(&field.as_str()));
        }
        for list in ["ancestors", "descendants"] {
            fields.insert(list.into(), json!({"type": "array", "items": {"type": "object"}}));
        }
    }
    answer
}
