//! The tool `working_close` ends the working memory of a task, and keeps an episode of it.

use futures::FutureExt;
use reasoning_bank_actors::working::EndedTask;
use reasoning_bank_domain::episode::{Episode, EpisodeStatus};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Execution;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use reasoning_bank_domain::working::{MAX_INSIGHTS, TaskEnd, TaskEpisode, VALUE_MAX_BYTES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::working::{closed, task};
use super::{Permission, ToolEffect, ToolSpec, Toolset, present};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "working_close",
    title: "Close working memory",
    description: "Ends the working memory of a task and keeps it as an episode, which all who work in this project find \
                  and working_context still reads. Call it when the task is done or given up, and say how it ended.",
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
    let Arguments { task_id, status, output, insights, workspace } = calling.extract()?;
    let task = task(calling, task_id, workspace.as_deref()).await?;
    let session = Some(calling.caller.source().to_owned());
    let end = TaskEnd { status, output: present(output), insights, session };
    let answer = match calling.system.working.close(&task, end, calling.deadline).await {
        Ok(EndedTask { recorded, execution }) => {
            ClosedTask::of(task_id, recorded.episode_id, recorded.status, &execution)
        }
        // It was closed before, and the answer may have been lost.
        Err(missing) => {
            let Episode { episode_id, outcome, execution, .. } =
                closed(calling, task_id, workspace.as_deref(), missing).await?;
            ClosedTask::of(task_id, episode_id, outcome.status, &execution)
        }
    };
    document(&answer)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task_id: Uuid,
    /// PARTIAL where you do not know.
    #[serde(default = "partial")]
    status: EpisodeStatus,
    /// The task's result.
    #[schemars(length(max = VALUE_MAX_BYTES))]
    output: Option<String>,
    /// Lessons for the next time.
    #[serde(default)]
    #[schemars(length(max = MAX_INSIGHTS))]
    insights: Vec<String>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

fn partial() -> EpisodeStatus {
    EpisodeStatus::Partial
}

/// The summary of a task that was closed.
#[derive(Debug, Serialize, JsonSchema)]
struct ClosedTask {
    task_id: Uuid,
    /// The same id.
    episode_id: TraceId,
    status: EpisodeStatus,
    results: usize,
    completed: Vec<String>,
    failed: Vec<String>,
    /// The entries that the episode had no room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    /// The entries of which the episode has head and tail.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortened: Option<usize>,
}

impl ClosedTask {
    fn of(task_id: Uuid, episode_id: TraceId, status: EpisodeStatus, execution: &Execution) -> Self {
        let kept = TaskEpisode::of(execution);
        let state = kept.as_ref().map(|kept| kept.state().clone()).unwrap_or_default();
        let some = |number: usize| (number > 0).then_some(number);
        Self {
            task_id,
            episode_id,
            status,
            results: kept.as_ref().map(TaskEpisode::results).unwrap_or_default(),
            completed: state.completed,
            failed: state.failed.into_iter().map(|failed| failed.id).collect(),
            left_out: kept.as_ref().and_then(|kept| some(kept.left_out())),
            shortened: kept.as_ref().and_then(|kept| some(kept.shortened())),
        }
    }
}
