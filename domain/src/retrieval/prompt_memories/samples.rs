//! Memories that were found, for the tests of this crate.

use crate::evidence::confidence::Evidence;
use crate::memory::Memory;
use crate::retrieval::recalled::Recalled;
use crate::retrieval::score::{Profile, Score, Why};

/// Makes a memory that was found, with nothing but what the floor and the order look at.
pub(crate) fn recalled(memory: Memory, relevance: f64, composite: f64) -> Recalled {
    let profile = Profile::default().name();
    let (components, factors, lists) = (Vec::new(), Vec::new(), Vec::new());
    let why =
        Why { profile, components, factors, lists, cosine: None, text_score: None, relevance: None, very_error: false };
    let score = Score {
        similarity: composite,
        recency: 1.0,
        error_context: 0.0,
        base: composite,
        composite,
        confidence: 0.8,
        why,
    };
    let evidence = Evidence::default();
    Recalled { memory, evidence, score, relevance, spared: None, outdated_by: None, contested_by: None }
}
