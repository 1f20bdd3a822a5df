//! A memory that a retrieval found.

use super::ranking::Cut;
use super::score::Score;
use crate::evidence::confidence::Evidence;
use crate::memory::Memory;
use crate::memory::ids::MemoryId;

/// A memory that was found, with the reasons for which it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    pub memory: Memory,
    pub evidence: Evidence,
    pub score: Score,
    /// The likelihood that the memory is about what was asked, in 0..=1.
    pub relevance: f64,
    /// The rule that cuts it where the caller asks for no relevance of its own. None where this answer keeps to that.
    pub spared: Option<Cut>,
    /// The newest memory of the same answer that says something else of the same thing.
    pub outdated_by: Option<MemoryId>,
    /// The newest memory of the same answer that contradicts it, but is of lower trust or of another owner.
    pub contested_by: Option<MemoryId>,
}
