use std::time::Duration;

use reasoning_bank_actors::ports::{EmbedError, StoreError};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::{FieldProblem, MemoryInvalid, Scope};
use serde_json::Value;

use super::*;

/// The list has one failure of each kind, as a client reads it. `llm_key_missing` alone is never met in a call: it ends
/// the start.
#[test]
fn every_failure_says_what_happened_and_what_to_do() {
    let problem = |field: &'static str| FieldProblem { field, problem: "is missing or blank".into() };
    let best = BestSoFar { solution: "half a solution".into(), score: Some(0.5) };
    let errors = [
        Error::invalid("n_results", "must be an integer from 1 to 50; it is 0"),
        Error::NotFound("memory 7".into()),
        Error::WorkspaceUnknown("0123456789abcdef".into()),
        Error::ScopeDenied(Scope::Team),
        Error::OtherWorkspace("../other".into()),
        Error::TwoWorkspaces { argument: "workspace", named: "bank".into(), bound: "shop".into() },
        Error::SharingDenied(Scope::Org),
        Error::WorkspaceRequired(String::new()),
        Error::ConsentRequired { what: "Delete x for good".into(), command: "reasoning-bank memory delete 7".into() },
        Error::Declined { what: "Delete x for good".into() },
        Error::MemoryInvalid(MemoryInvalid { problems: vec![problem("title"), problem("content")] }),
        Error::Store(StoreError::Unusable("permission denied".into())),
        Error::Store(StoreError::Failed("the disk is gone".into())),
        Error::Store(StoreError::TimedOut),
        Error::Store(StoreError::OtherEmbedder { found: "mini 768 a1".into(), expected: "mini 384 b2".into() }),
        Error::Embedding(EmbedError::Failed("no model".into())),
        Error::ModelUnavailable { message: "it keeps failing".into(), retry_after: Some(Duration::from_secs(4)) },
        Error::ModelFailed { message: "503 four times".into(), retry_after: None },
        Error::ModelFailed { message: "429 four times".into(), retry_after: Some(Duration::from_micros(6_999_001)) },
        Error::ModelRefused("no such model".into()),
        Error::ModelOutputInvalid("no score".into()),
        Error::KeyRejected("401".into()),
        Error::TokenBudgetExceeded { used: 201_000, limit: 200_000, best: Some(Box::new(best)) },
        Error::Overloaded { retry_after: Duration::from_millis(250) },
        Error::DeadlineExceeded,
        Error::Cancelled,
        Error::Store(StoreError::Conflict(MemoryId::from(uuid::Uuid::nil()))),
        Error::Conflict("the workspace".into()),
        Error::TaskInUse(uuid::Uuid::nil().into()),
        Error::ConsolidationRunning,
        Error::Internal(uuid::Uuid::nil()),
    ];
    let documents: Vec<Value> = errors
        .iter()
        .map(|error| {
            let result = tool_error(error);
            assert_eq!(result.is_error, Some(true));
            result.structured_content.unwrap()
        })
        .collect();
    insta::assert_json_snapshot!(documents);
}
