//! `capture_exchange`.

use reasoning_bank_domain::capture::Captured;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::transcript::Exchange;
use rmcp::model::{Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::schema;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[schemars(length(min = 1, max = 20_000))]
    question: String,
    #[schemars(length(min = 1, max = 200_000))]
    answer: String,
    /// Path or id.
    #[schemars(length(min = 1, max = 4096))]
    pub(crate) workspace: Option<String>,
}

impl Arguments {
    pub(crate) fn into_exchange(self, session: &str) -> Exchange {
        Exchange { question: self.question, answer: self.answer, session: Some(session.to_owned()) }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    captured: bool,
    reason: String,
    ids: Vec<MemoryId>,
}

impl From<Captured> for Answer {
    fn from(captured: Captured) -> Self {
        Self {
            captured: captured.fate.is_captured(),
            reason: captured.fate.to_string(),
            ids: captured.id.into_iter().collect(),
        }
    }
}

pub(super) fn definition() -> Tool {
    let description = "Keeps what is reusable in a question and its answer, or says why not. Call it when an exchange \
                       explained or solved something.";
    Tool::new("capture_exchange", description, schema::of_arguments::<Arguments>())
        .with_title("Capture an exchange")
        .with_raw_output_schema(schema::of_answer::<Answer>().into())
        .with_annotations(ToolAnnotations::new().read_only(false).destructive(false).idempotent(true).open_world(false))
}
