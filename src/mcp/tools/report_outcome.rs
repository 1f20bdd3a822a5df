//! The tool `report_outcome` tells what came of memories or of a solve, and stores the lessons of it.

use futures::FutureExt;
use reasoning_bank_actors::memories::{FeedbackRequest, Learning};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::evidence::feedback::{LEARNINGS_MAX, MEMORIES_MAX, Reported};
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::observation::{
    COMMENT_MAX_CHARS, DETAIL_MAX_CHARS, EvidenceKind, Feedback, Observed,
};
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::record_memory::ErrorArguments;
use super::{Permission, ToolEffect, ToolSpec, Toolset, present};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "report_outcome",
    title: "Report an outcome",
    description: "Says what came of recalled memories: whether they helped, the task succeeded, the work was \
                  reverted. Call it once the outcome is known, best with the task and evidence such as a test run; \
                  it moves their confidence.",
    toolsets: |_| &[Toolset::Core],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &JUDGED_BY_THE_MEMORY,
    answer: schema::of_answer::<Reported>,
    effect: ToolEffect::Adds,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

/// The fields that lessons check themselves. They say all at once what is missing in them or too long.
const JUDGED_BY_THE_MEMORY: [&str; 1] = ["learnings"];

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let counts_in = Scope::SHARED.into_iter().filter(|scope| calling.may_write_to(*scope).is_ok()).collect();
    let request = arguments.into_request(workspace, calling.caller.session(), counts_in);
    document(&calling.memories().feedback(request, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[serde(default)]
    #[schemars(length(max = MEMORIES_MAX))]
    memory_ids: Vec<Uuid>,
    /// Alone: the memories that solve used.
    trace_id: Option<Uuid>,
    /// The task you did.
    task: Option<String>,
    commit: Option<String>,
    helpful: Option<bool>,
    task_succeeded: Option<bool>,
    /// The work was taken back.
    reverted: Option<bool>,
    /// Observed; beats task_succeeded.
    evidence: Option<EvidenceArguments>,
    #[schemars(length(max = COMMENT_MAX_CHARS))]
    comment: Option<String>,
    /// New lessons.
    #[serde(default)]
    #[schemars(length(max = LEARNINGS_MAX))]
    learnings: Vec<LearningArguments>,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EvidenceArguments {
    kind: EvidenceKind,
    passed: bool,
    #[schemars(length(max = DETAIL_MAX_CHARS))]
    detail: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LearningArguments {
    #[schemars(required)]
    title: Option<String>,
    #[schemars(required)]
    description: Option<String>,
    #[schemars(required)]
    content: Option<String>,
    error_context: Option<ErrorArguments>,
}

impl Arguments {
    fn into_request(self, workspace: WorkspaceRef, session: ClientSession, counts_in: Vec<Scope>) -> FeedbackRequest {
        let learning = |learning: LearningArguments| Learning {
            title: learning.title.unwrap_or_default(),
            description: learning.description.unwrap_or_default(),
            content: learning.content.unwrap_or_default(),
            error_context: learning.error_context.map(Into::into),
        };
        FeedbackRequest {
            workspace,
            memory_ids: self.memory_ids.into_iter().map(MemoryId::from).collect(),
            trace_id: self.trace_id.map(TraceId::from),
            task: self.task,
            commit: present(self.commit),
            verdict: Feedback {
                helpful: self.helpful,
                task_succeeded: self.task_succeeded,
                reverted: self.reverted,
                evidence: self.evidence.map(|evidence| Observed {
                    kind: evidence.kind,
                    passed: evidence.passed,
                    detail: present(evidence.detail),
                }),
                comment: present(self.comment),
            },
            learnings: self.learnings.into_iter().map(learning).collect(),
            session: Some(session),
            counts_in,
            is_work: true,
        }
    }
}

#[cfg(test)]
mod tests;
