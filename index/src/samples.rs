//! Memories for the tests of this package.

use reasoning_bank_domain::memory::{Memory, MemoryOutcome};
use serde_json::json;
use uuid::Uuid;

/// A strategy with texts of its own, made at a fixed time.
pub(crate) fn strategy(n: u128) -> Memory {
    let made = "2026-11-20T12:00:00Z";
    let memory = json!({
        "id": Uuid::from_u128(n),
        "revision": 1,
        "title": format!("Strategy {n}"),
        "description": "Use it when a range is searched.",
        "content": format!("Prefer an exclusive upper bound, variant {n}."),
        "outcome": "success",
        "workspace_id": "0123456789abcdef",
        "source_type": "explicit",
        "trust": "agent",
        "prior": 0.8,
        "created_at": made,
        "updated_at": made,
    });
    serde_json::from_value(memory).unwrap()
}

/// A warning about an index that is out of range.
pub(crate) fn warning(n: u128) -> Memory {
    let error = json!({
        "error_type": "IndexError",
        "failure_pattern": "the loop ran one past the end",
        "corrective_guidance": "compare with <, not <=",
        "task_domain": "algorithms",
    });
    Memory {
        title: format!("Warning {n}"),
        outcome: MemoryOutcome::Failure,
        error_context: Some(serde_json::from_value(error).unwrap()),
        ..strategy(n)
    }
}
