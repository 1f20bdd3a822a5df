//! Memories for the tests of this package.

use jiff::Timestamp;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{ErrorContext, Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use uuid::Uuid;

/// A strategy with texts of its own, made at a fixed time.
pub(crate) fn strategy(n: u128) -> Memory {
    Memory::new(NewMemory {
        id: Uuid::from_u128(n).into(),
        title: format!("Strategy {n}"),
        description: "Use it when a range is searched.".into(),
        content: format!("Prefer an exclusive upper bound, variant {n}."),
        outcome: MemoryOutcome::Success,
        workspace_id: WorkspaceId::of_root("/home/ann/project"),
        source_type: SourceType::Explicit,
        trust: Trust::Agent,
        prior: 0.8,
        at: Timestamp::UNIX_EPOCH,
    })
}

/// A warning about an index that is out of range.
pub(crate) fn warning(n: u128) -> Memory {
    Memory {
        title: format!("Warning {n}"),
        outcome: MemoryOutcome::Failure,
        error_context: Some(ErrorContext {
            error_type: "IndexError".into(),
            failure_pattern: "the loop ran one past the end".into(),
            corrective_guidance: "compare with <, not <=".into(),
            error_message: None,
            stack_trace: None,
            task_domain: Some("algorithms".into()),
        }),
        ..strategy(n)
    }
}
