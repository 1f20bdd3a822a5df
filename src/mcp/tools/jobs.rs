//! `distill_session` and `get_job`.

use reasoning_bank_domain::job::{JobView, Queued, SESSION_MAX_CHARS, TRANSCRIPT_MAX_CHARS, Work};
use reasoning_bank_domain::memory::MemoryOutcome;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::mcp::schema;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DistillArguments {
    /// How the session is called where it ran.
    #[schemars(length(min = 1, max = SESSION_MAX_CHARS))]
    pub(crate) session_id: String,
    /// What was said and done, as text, markdown or JSON Lines of messages.
    #[schemars(length(min = 1, max = TRANSCRIPT_MAX_CHARS))]
    pub(crate) transcript: String,
    pub(crate) outcome: MemoryOutcome,
    /// Path or id; default: the server's.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

impl DistillArguments {
    pub(crate) fn into_work(self) -> Work {
        Work::Distill { session_id: self.session_id, outcome: self.outcome, transcript: self.transcript }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobArguments {
    pub(crate) job_id: Uuid,
    /// Path or id; default: the server's.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

pub(super) fn distill_definition() -> Tool {
    let description = "Queues the transcript of a session that is over; lessons are drawn from it in the background. \
                       Call it at the end of a session worth learning from; get_job tells what came of it.";
    Tool::new("distill_session", description, schema::of_arguments::<DistillArguments>())
        .with_title("Learn from a session")
        .with_raw_output_schema(schema::of_answer::<Queued>().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false))
}

pub(super) fn job_definition() -> Tool {
    let description = "Shows what became of a session that was queued: waiting, running, done or given up, and its \
                       lessons. Call it some time after distill_session.";
    Tool::new("get_job", description, schema::of_arguments::<JobArguments>())
        .with_title("Look at a background job")
        .with_raw_output_schema(schema::of_answer::<JobView>().into())
        .with_annotations(ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false))
}
