//! Failures as models and scripts see them: the document of a failed call says what went wrong, what to do about it,
//! and whether to try again. The codes are the error's own.

use reasoning_bank_actors::error::Error;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::solve::task::BestSoFar;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ErrorCode};
use serde::Serialize;
use serde_json::Value;

use crate::remedies;

/// The code of an error that a server has, and that is none of the protocol.
const SERVER_ERROR: ErrorCode = ErrorCode(-32_000);

#[derive(Serialize)]
struct ToolFailure<'a> {
    code: Code,
    message: String,
    hint: &'a str,
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(flatten)]
    budget: Option<SpentBudget<'a>>,
}

/// The tokens that were spent before the budget ran out, and the best solution that they bought.
#[derive(Serialize)]
struct SpentBudget<'a> {
    used: u64,
    limit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<&'a BestSoFar>,
}

pub(super) fn tool_error(error: &Error) -> CallToolResult {
    CallToolResult::structured_error(failure_document(error))
}

/// Returns a failure as an error of the protocol, for a request that is no call of a tool.
pub(super) fn protocol_error(error: &Error) -> ErrorData {
    ErrorData::new(SERVER_ERROR, error.to_string(), Some(failure_document(error)))
}

pub(crate) fn failure_document(error: &Error) -> Value {
    let failure = ToolFailure {
        code: error.code(),
        message: error.to_string(),
        hint: &remedies::of(error),
        retryable: error.retryable(),
        retry_after_ms: error.retry_after().and_then(|wait| u64::try_from(wait.as_millis()).ok()),
        budget: match error {
            Error::TokenBudgetExceeded { used, limit, best } => {
                Some(SpentBudget { used: *used, limit: *limit, best: best.as_deref() })
            }
            _ => None,
        },
    };
    let mut document = serde_json::json!(failure);
    document.scrub();
    document
}

#[cfg(test)]
mod tests;
