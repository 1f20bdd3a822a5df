//! The tool `distill_session` queues a session for lessons to be drawn from it.

use futures::FutureExt;
use reasoning_bank_domain::learning::job::{Queued, SESSION_MAX_CHARS, TRANSCRIPT_MAX_CHARS, Work};
use reasoning_bank_domain::memory::MemoryOutcome;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::caller::Caller;
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "distill_session",
    title: "Learn from a session",
    description: "Queues the transcript of a session that is over; lessons are drawn from it in the background. \
                  Call it at the end of a session worth learning from; get_job tells what came of it.",
    toolsets: |_| &[Toolset::Learning],
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<Queued>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let source = Some(calling.caller.source().to_owned());
    let work = arguments.into_work(&calling.caller);
    document(&calling.system.distiller.queue_from(source, work, &workspace, calling.deadline).await?)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The name of the session where it ran.
    #[schemars(length(min = 1, max = SESSION_MAX_CHARS))]
    session_id: String,
    /// The transcript, as text, markdown or JSON Lines of messages.
    #[schemars(length(min = 1, max = TRANSCRIPT_MAX_CHARS))]
    transcript: String,
    outcome: MemoryOutcome,
    /// Path or id; default: the server's.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

impl Arguments {
    fn into_work(self, caller: &Caller<'_>) -> Work {
        let session_id = caller.source_of(self.session_id);
        Work::Distill { session_id, outcome: self.outcome, transcript: self.transcript }
    }
}
