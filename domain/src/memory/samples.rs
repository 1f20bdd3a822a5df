//! Memories for the tests of this crate.

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::{ErrorContext, Memory, MemoryOutcome, NewMemory, SourceType, Trust};
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::workspace::WorkspaceId;

pub(crate) fn now() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

pub(crate) fn days_ago(days: f64) -> Timestamp {
    now() - SignedDuration::from_secs_f64(days * 86_400.0)
}

pub(crate) fn id(n: u128) -> MemoryId {
    Uuid::from_u128(n).into()
}

pub(crate) fn trace(n: u128) -> TraceId {
    Uuid::from_u128(n).into()
}

/// Makes a strategy of just now, with texts of its own.
pub(crate) fn strategy(n: u128) -> Memory {
    Memory::new(NewMemory {
        id: id(n),
        title: format!("Strategy {n}"),
        description: "Use it when a range is searched.".into(),
        content: format!("Prefer an exclusive upper bound, variant {n}."),
        outcome: MemoryOutcome::Success,
        workspace_id: WorkspaceId::of_root("/home/ann/project"),
        source_type: SourceType::Explicit,
        trust: Trust::Agent,
        prior: 0.8,
        at: now(),
    })
}

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
