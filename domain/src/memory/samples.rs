//! Memories for the tests of this crate.

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::{ErrorContext, Memory, MemoryOutcome, Scope, SourceType, Status, Trust};
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

/// A strategy made just now, with texts of its own.
pub(crate) fn strategy(n: u128) -> Memory {
    Memory {
        id: id(n),
        revision: 1,
        title: format!("Strategy {n}"),
        description: "Use it when a range is searched.".into(),
        content: format!("Prefer an exclusive upper bound, variant {n}."),
        outcome: MemoryOutcome::Success,
        error_context: None,
        task: String::new(),
        further_tasks: Vec::new(),
        wordings: Vec::new(),
        workspace_id: WorkspaceId::of_root("/home/ann/project"),
        scope: Scope::Project,
        team: None,
        org: None,
        source_type: SourceType::Explicit,
        source_session: None,
        trust: Trust::Agent,
        parent_memory_id: None,
        derived_from: Vec::new(),
        evolution_stage: 0,
        pattern_tags: Vec::new(),
        difficulty_level: None,
        domain_category: None,
        prior: 0.8,
        created_at: now(),
        updated_at: now(),
        pinned: false,
        status: Status::Active,
        quarantined_for: Vec::new(),
        valid_from: None,
        succession: Default::default(),
        trace_id: None,
        trace_outcome: None,
        embedder: None,
    }
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
