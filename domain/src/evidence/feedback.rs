//! What a client is told after it reported how memories served it: the bounds of a report, and what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::promotion::Promoted;
use crate::memory::Learned;
use crate::memory::ids::{MemoryId, TraceId};

/// Memories that one report is about, at most.
pub const MEMORIES_MAX: usize = 50;
/// Lessons that one report brings, at most.
pub const LEARNINGS_MAX: usize = 10;

/// How a report moved one memory; both in 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    pub id: MemoryId,
    pub confidence_before: f64,
    pub confidence_after: f64,
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reported {
    /// The trace that the report is of, or that it made or extended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub trace_id: Option<TraceId>,
    pub updated: Vec<Moved>,
    /// The lessons it brought; the id of the existing memory where one said the same.
    pub learned: Vec<Learned>,
    /// Memories of a team or an organisation: the report says nothing about them, as the user has not let clients write
    /// there. Not in the schema, for the same reason as the copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub not_shared_with: Vec<MemoryId>,
    /// Copies that were made for a wider scope, where `promotion.automatic` is set. Not in the schema, which every client
    /// pays for: hardly any meets it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub promoted: Vec<Promoted>,
}
