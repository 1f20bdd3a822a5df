//! The tool `capture_exchange` gives one exchange to the learner.

use futures::FutureExt;
use reasoning_bank_domain::learning::capture::Captured;
use reasoning_bank_domain::learning::transcript::{Exchange, MAX_ANSWER_CHARS, MAX_QUESTION_CHARS};
use reasoning_bank_domain::memory::Trust;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::ROOT_MAX_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Permission, ToolEffect, ToolSpec, Toolset};
use crate::mcp::calls::{Calling, Interrupted, document};
use crate::mcp::schema;

pub(in crate::mcp) const TOOL: ToolSpec = ToolSpec {
    name: "capture_exchange",
    title: "Capture an exchange",
    description: "Keeps what is reusable in a question and its answer, or says why not. Call it when an exchange \
                  explained or solved something.",
    toolsets: |options| if options.captures { &[Toolset::Core, Toolset::Learning] } else { &[Toolset::Learning] },
    arguments: |_| schema::of_arguments::<Arguments>(),
    judged_elsewhere: &[],
    answer: schema::of_answer::<CaptureAnswer>,
    effect: ToolEffect::Sets,
    permission: Permission::Write,
    is_local: false,
    ends_itself: false,
    call: |calling| call(calling).boxed(),
};

async fn call(calling: &Calling<'_>) -> Result<Value, Interrupted> {
    let arguments: Arguments = calling.extract()?;
    let workspace = calling.workspace(arguments.workspace.as_deref()).await?;
    let exchange = arguments.into_exchange(calling.caller.source());
    let captured = calling.system.learner.capture(exchange, &workspace, Trust::Model, calling.deadline).await?;
    document(&CaptureAnswer::from(captured))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    #[schemars(length(min = 1, max = MAX_QUESTION_CHARS))]
    question: String,
    #[schemars(length(min = 1, max = MAX_ANSWER_CHARS))]
    answer: String,
    /// Path or id.
    #[schemars(length(min = 1, max = ROOT_MAX_BYTES))]
    workspace: Option<String>,
}

impl Arguments {
    fn into_exchange(self, session: &str) -> Exchange {
        Exchange {
            question: self.question,
            answer: self.answer,
            session: Some(session.to_owned()),
            asked_first: None,
            said_next: None,
            at: None,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct CaptureAnswer {
    captured: bool,
    reason: String,
    ids: Vec<MemoryId>,
}

impl From<Captured> for CaptureAnswer {
    fn from(captured: Captured) -> Self {
        Self {
            captured: captured.outcome.is_captured(),
            reason: captured.outcome.to_string(),
            ids: captured.id.into_iter().collect(),
        }
    }
}
