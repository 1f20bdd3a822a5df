//! The counts of what an operation of the store found, wrote or removed, for the log.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::pattern::finding::PatternIndex;
use reasoning_bank_domain::retrieval::candidates::Candidates;

use crate::ports::{Committed, Erased, Held, Maintained, Passage, Summary};

pub(super) trait Rows {
    fn rows(&self) -> usize;
}

impl Rows for Committed {
    fn rows(&self) -> usize {
        self.memories.len()
    }
}

impl Rows for Candidates {
    fn rows(&self) -> usize {
        self.facts.len()
    }
}

impl<T> Rows for Vec<T> {
    fn rows(&self) -> usize {
        self.len()
    }
}

impl Rows for Arc<PatternIndex> {
    fn rows(&self) -> usize {
        self.len()
    }
}

impl<T> Rows for HashSet<T> {
    fn rows(&self) -> usize {
        self.len()
    }
}

impl<T> Rows for Option<T> {
    fn rows(&self) -> usize {
        usize::from(self.is_some())
    }
}

impl Rows for BTreeMap<MemoryId, Vec<Passage>> {
    fn rows(&self) -> usize {
        self.len()
    }
}

/// Counts are one row, however many kinds are counted.
impl<K> Rows for BTreeMap<K, u64> {
    fn rows(&self) -> usize {
        1
    }
}

impl Rows for Held {
    fn rows(&self) -> usize {
        1
    }
}

impl Rows for Summary {
    fn rows(&self) -> usize {
        1
    }
}

impl Rows for Maintained {
    fn rows(&self) -> usize {
        0
    }
}

impl Rows for Erased {
    fn rows(&self) -> usize {
        let Self { memories, passages, traces, signals, jobs } = self;
        usize::try_from(memories + passages + traces + signals + jobs).unwrap_or(usize::MAX)
    }
}
