//! The best memories of a list of scored passages, and what the lists of an owner index have in common.

use std::collections::HashSet;

/// The number of passages that are looked at first for each memory that is wanted. A memory usually has two or three.
const PASSAGES_A_MEMORY: usize = 4;

/// A memory that was found, by its number in the owner index, with the passage that it is found by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) memory: u32,
    pub(crate) passage: u32,
    pub(crate) score: f32,
}

/// The best memories of a search, each once.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct TopHits {
    /// The memories, best first.
    pub(crate) hits: Vec<Hit>,
    /// True where more memories matched than are here.
    pub(crate) truncated: bool,
}

impl TopHits {
    /// Makes memories of scored passages. Each memory counts by its best passage, at most `limit` memories are taken,
    /// and ties go by the number of the passage. `memory` gives the memory of a passage, or none where it may not be
    /// found. It is asked about few passages, unless most may not be found.
    pub(crate) fn best(mut scored: Vec<(u32, f32)>, limit: usize, memory: impl Fn(u32) -> Option<u32>) -> Self {
        let better = |(a, x): &(u32, f32), (b, y): &(u32, f32)| y.total_cmp(x).then_with(|| a.cmp(b));
        let mut looked_at = limit.saturating_mul(PASSAGES_A_MEMORY).saturating_add(1);
        let mut again = false;
        loop {
            let all = looked_at >= scored.len();
            let first = if all { &mut scored[..] } else { scored.select_nth_unstable_by(looked_at, better).0 };
            first.sort_unstable_by(better);
            let mut seen = HashSet::with_capacity(first.len());
            let hit = |&(passage, score): &(u32, f32)| Some(Hit { memory: memory(passage)?, passage, score });
            let each_once = first.iter().filter_map(hit).filter(|hit| seen.insert(hit.memory));
            let mut hits: Vec<Hit> = each_once.take(limit.saturating_add(1)).collect();
            if all || hits.len() > limit {
                let truncated = hits.len() > limit;
                hits.truncate(limit);
                return Self { hits, truncated };
            }
            if !again {
                scored.retain(|(passage, _)| memory(*passage).is_some());
                again = true;
            }
            looked_at = looked_at.saturating_mul(PASSAGES_A_MEMORY);
        }
    }
}

/// The error of an owner index that cannot number more passages: it has 16 million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the owner index is full")]
pub struct Full;

/// Appends to a vector. It grows by an eighth, as doubling would leave half of a large owner index unused.
pub(crate) fn push<T>(all: &mut Vec<T>, one: T) {
    if all.len() == all.capacity() {
        all.reserve_exact(all.len() / 8 + 1);
    }
    all.push(one);
}
