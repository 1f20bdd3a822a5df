//! What a client is told after it reported how memories served it: the bounds of a report, and what became of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::promotion::Promoted;
use crate::memory::Learned;
use crate::memory::ids::{MemoryId, TraceId};

/// The most memories that one report is about.
pub const MEMORIES_MAX: usize = 50;
/// The most lessons that one report brings.
pub const LEARNINGS_MAX: usize = 10;

/// How a report moved the confidence in one memory; both values are in 0..1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    pub id: MemoryId,
    pub confidence_before: f64,
    pub confidence_after: f64,
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Reported {
    /// The trace that the report is about, or that it began or extended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub trace_id: Option<TraceId>,
    pub updated: Vec<Moved>,
    /// The lessons that the report brought. Where a memory said the same already, the id is that memory's.
    pub learned: Vec<Learned>,
    /// The memories of a team or an organisation, about which the report says nothing, as the user has not let clients
    /// write there. Not in the schema, for the same reason as the copies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub not_shared_with: Vec<MemoryId>,
    /// The copies that were made for a wider scope, where `promotion.automatic` is set. Not in the schema, which every
    /// client pays for though hardly any meets a copy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub promoted: Vec<Promoted>,
}
