//! The tool `working_close` ends the working memory of a task, and keeps an episode of it.

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
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
    let told = status.unwrap_or(EpisodeStatus::Partial);
    let end = TaskEnd { status: told, output: present(output), insights, session };
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
    same_status(status, answer.status)?;
    document(&answer)
}

/// Refuses a status that is not the one that the task was closed with: a task ends once. None is the one that it has.
fn same_status(told: Option<EpisodeStatus>, kept: EpisodeStatus) -> Result<(), Error> {
    let Some(told) = told.filter(|told| *told != kept) else { return Ok(()) };
    let problem = format!(
        "is {}, but the task was closed before as {kept} and keeps that; leave status out, or say {kept}",
        told.as_str(),
        kept = kept.as_str()
    );
    Err(Error::invalid("status", problem))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task_id: Uuid,
    /// PARTIAL where you do not know.
    status: Option<EpisodeStatus>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_keeps_the_status_that_it_was_closed_with() {
        let kept = EpisodeStatus::Success;
        assert!(same_status(None, kept).is_ok() && same_status(Some(kept), kept).is_ok());
        assert_eq!(
            same_status(Some(EpisodeStatus::Failure), kept).unwrap_err().to_string(),
            "status: is FAILURE, but the task was closed before as SUCCESS and keeps that; leave status out, or say SUCCESS"
        );
    }
}
