//! The tool `working_close` ends the working memory of a task.

use std::collections::BTreeMap;

use futures::FutureExt;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::working::{EntryKind, WorkingMemory, WorkingValueKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::working::task;
use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "working_close",
    title: "Close working memory",
    description: "Ends the working memory of a task. Call it when the task is done or given up. Its values, results and \
                  references are gone afterwards.",
    toolsets: |_| &[Toolset::Working],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<ClosedTask>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let Arguments { task_id, workspace } = calling.extract()?;
    let task = task(calling, task_id, workspace.as_deref()).await?;
    let keep = async |memory: &WorkingMemory| Ok(ClosedTask::of(task_id, memory));
    document(&calling.system.working.close(&task, keep, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task_id: Uuid,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

/// What is left of a task that was closed.
#[derive(Debug, Serialize, JsonSchema)]
struct ClosedTask {
    task_id: Uuid,
    results: usize,
    completed: Vec<String>,
    failed: Vec<String>,
    /// The values that say what the task used.
    metadata: BTreeMap<String, String>,
}

impl ClosedTask {
    fn of(task_id: Uuid, memory: &WorkingMemory) -> Self {
        let execution = memory.execution();
        let metadata = memory.entries().iter().filter_map(|entry| match &entry.kind {
            EntryKind::Value { key, kind: WorkingValueKind::Metadata, .. } => {
                Some((key.clone(), entry.text.to_string()))
            }
            _ => None,
        });
        Self {
            task_id,
            results: memory.entries().iter().filter(|entry| matches!(entry.kind, EntryKind::Result { .. })).count(),
            completed: execution.completed.clone(),
            failed: execution.failed.iter().map(|failed| failed.id.clone()).collect(),
            metadata: metadata.collect(),
        }
    }
}
