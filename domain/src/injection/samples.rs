//! Memories that were found, for the tests of this crate.

use crate::confidence::Evidence;
use crate::memory::Memory;
use crate::retrieval::Recalled;
use crate::score::{Profile, Score, Why};

/// As found, with nothing but what the floor and the order look at.
pub(crate) fn recalled(memory: Memory, cosine: Option<f64>, text_score: Option<f64>, composite: f64) -> Recalled {
    let profile = Profile::default().name();
    let (components, factors, lists) = (Vec::new(), Vec::new(), Vec::new());
    let why = Why { profile, components, factors, lists, cosine, text_score };
    let score = Score {
        similarity: composite,
        recency: 1.0,
        error_context: 0.0,
        base: composite,
        composite,
        confidence: 0.8,
        why,
    };
    Recalled { memory, evidence: Evidence::default(), score, outdated_by: None, contested_by: None }
}
