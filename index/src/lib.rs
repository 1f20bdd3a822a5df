//! The resident read model: what a search of one reader's active memories needs, in memory. An owner index holds the
//! memories that one workspace, one team or one organisation reads; a search reads up to three of them. Pure data and
//! computation: which owner indexes there are, how they are filled and kept current is the store's work.

mod columns;
mod inverted_index;
mod kernels;
mod quantized_vectors;
#[cfg(test)]
mod samples;

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;

pub use columns::{IndexedMemory, RowLocation};
pub use inverted_index::{Collection, TermQuery};

use self::columns::MemoryColumns;
use self::inverted_index::InvertedIndex;
use self::quantized_vectors::QuantizedVectors;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::memory::Facts;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::signature::{Carriers, Signature};
use reasoning_bank_domain::retrieval::candidates::TermSet;
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::retrieval::fusion::RankedList;

/// An owner index with more than one in this many of its entries removed is worth making anew.
const REMOVED_SHARE: usize = 4;
const WORTH_MAKING_ANEW: usize = 1_000;
/// How many passages are looked at first for one memory among the best; a memory usually has two or three.
const PASSAGES_A_MEMORY: usize = 4;

/// A memory that was found, by its number in the owner index, with the passage that it is found by.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hit {
    memory: u32,
    passage: u32,
    score: f32,
}

/// The best memories of a search, each once.
#[derive(Debug, Clone, PartialEq, Default)]
struct Found {
    /// Best first.
    hits: Vec<Hit>,
    /// More matched than are here.
    truncated: bool,
}

impl Found {
    /// Of scored passages the best of each memory, at most `limit` memories, ties by the number of the passage.
    /// `memory`: whose passage it is, none where it may not be found; asked about few, unless most may not.
    fn best(mut scored: Vec<(u32, f32)>, limit: usize, memory: impl Fn(u32) -> Option<u32>) -> Self {
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

/// The owner index cannot number more of them: 16 million passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the owner index is full")]
pub struct Full;

/// The active memories of one reader, searchable.
///
/// A memory has a number, and so have its passages' words and vectors. Whenever its passages change it gets another
/// one, and what has the old one is never found again.
#[derive(Debug)]
pub struct OwnerIndex {
    columns: MemoryColumns,
    inverted: InvertedIndex,
    vectors: QuantizedVectors,
    evidence: HashMap<MemoryId, Evidence>,
}

impl OwnerIndex {
    /// For vectors of this many numbers.
    pub fn new(dims: usize) -> Self {
        Self {
            columns: MemoryColumns::default(),
            inverted: InvertedIndex::default(),
            vectors: QuantizedVectors::new(dims),
            evidence: HashMap::new(),
        }
    }

    /// Puts a memory here, or says anew what is known of it; its passages stay.
    pub fn put(&mut self, indexed: IndexedMemory) {
        self.columns.put(indexed);
    }

    /// The memory with its passages and its evidence is never found again.
    pub fn remove(&mut self, id: MemoryId) {
        self.columns.remove(id);
        self.evidence.remove(&id);
    }

    /// The passages of the memory, if it is here, are never found again.
    pub fn clear_passages(&mut self, id: MemoryId) {
        self.columns.renumber(id);
    }

    /// Adds a passage to a memory of this owner index; to any other, nothing. `terms` as [`reasoning_bank_domain::text::terms::indexed`]
    /// makes them. Where the passages of several revisions are added, those of the highest stay.
    ///
    /// # Errors
    /// [`Full`]
    pub fn add_passage(
        &mut self,
        id: MemoryId,
        revision: u64,
        terms: &str,
        vector: Option<&[f32]>,
    ) -> Result<(), Full> {
        let Some(number) = self.columns.number_for_passages(id, revision) else { return Ok(()) };
        self.inverted.push(number, terms)?;
        if let Some(vector) = vector {
            self.vectors.push(number, vector);
        }
        Ok(())
    }

    /// A signal about a memory of this owner index; about any other it is forgotten.
    pub fn note(&mut self, id: MemoryId, kind: SignalKind, at: Timestamp) {
        if self.columns.contains(id) {
            self.evidence.entry(id).or_default().add(kind, at);
        }
    }

    /// All that is known of a memory of this owner index, instead of what was noted.
    pub fn set_evidence(&mut self, id: MemoryId, evidence: Evidence) {
        if self.columns.contains(id) {
            self.evidence.insert(id, evidence);
        }
    }

    pub fn contains(&self, id: MemoryId) -> bool {
        self.columns.contains(id)
    }

    /// The memories that are here, in any order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = MemoryId> {
        self.columns.ids()
    }

    /// The revision of the memory whose passages are here.
    pub fn passages_of(&self, id: MemoryId) -> Option<u64> {
        self.columns.passages_of(id)
    }

    /// How many passages there are, those of removed memories included.
    pub fn passages(&self) -> usize {
        self.inverted.passages()
    }

    /// To be called when it was filled: makes it small, and its search by vector fast.
    pub fn optimize(&mut self) {
        self.columns.shrink();
        self.inverted.shrink();
        self.vectors.build_prefilter();
    }

    /// So much of it was removed that it is worth making anew.
    pub fn is_worn(&self) -> bool {
        let (all, removed) = self.columns.numbered();
        removed > WORTH_MAKING_ANEW && removed * REMOVED_SHARE > all
    }

    /// About what it takes of memory, in bytes.
    pub fn bytes(&self) -> usize {
        let evidence = columns::map_bytes::<MemoryId, Evidence>(self.evidence.capacity());
        self.columns.bytes() + self.inverted.bytes() + self.vectors.bytes() + evidence
    }

    /// Adds what this owner index contributes to the statistics of a query's collection.
    pub fn count(&self, query: &TermQuery, collection: &mut Collection) {
        self.inverted.count(query, collection);
    }

    /// The best by the words of a query: BM25 over `collection`, to which every owner index that the query reads was
    /// [counted](Self::count).
    pub fn by_words(
        &self,
        query: &TermQuery,
        collection: &Collection,
        conditions: &Conditions,
        limit: usize,
    ) -> FoundByWords {
        let Some(wanted) = self.columns.wanted(conditions) else { return FoundByWords::default() };
        let found = self.inverted.search(query, collection, limit, |number| self.columns.meets(number, &wanted));
        let matched =
            found.hits.iter().map(|hit| (self.columns.id(hit.memory), self.inverted.matched(query, hit.passage)));
        FoundByWords { matched: matched.collect(), list: self.list(found) }
    }

    /// The best by cosine.
    pub fn by_vector(&self, vector: &[f32], conditions: &Conditions, limit: usize) -> RankedList {
        let Some(wanted) = self.columns.wanted(conditions) else { return RankedList::default() };
        self.list(self.vectors.search(vector, limit, |number| self.columns.meets(number, &wanted)))
    }

    /// How many memories warn of an error, and how many of them of this one.
    pub fn carriers(&self, error: &Signature) -> Carriers {
        self.columns.carriers(error)
    }

    /// The newest memories that warn of such an error, at most `limit`.
    pub fn by_signature(&self, error: &Signature, conditions: &Conditions, limit: usize) -> Vec<MemoryId> {
        let Some(wanted) = self.columns.wanted(conditions) else { return Vec::new() };
        let mut found: Vec<MemoryId> = self.columns.warning_of(error, &wanted).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(limit);
        found
    }

    /// What scoring needs of a memory of this owner index.
    pub fn facts(&self, id: MemoryId) -> Option<(Facts, Evidence)> {
        Some((self.columns.facts(id)?, self.evidence.get(&id).cloned().unwrap_or_default()))
    }

    /// Which body a memory of this owner index has, and what is known of the memory beside.
    pub fn location(&self, id: MemoryId) -> Option<(RowLocation, Evidence)> {
        Some((self.columns.location(id)?, self.evidence.get(&id).cloned().unwrap_or_default()))
    }

    /// The store has the body of a memory elsewhere now; of one that is not here nothing is noted.
    pub fn moved(&mut self, id: MemoryId, row_id: u64) {
        self.columns.moved(id, row_id);
    }

    fn list(&self, found: Found) -> RankedList {
        let hits = found.hits.into_iter().map(|hit| (self.columns.id(hit.memory), f64::from(hit.score)));
        RankedList { hits: hits.collect(), truncated: found.truncated }
    }
}

/// The best memories by the words of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundByWords {
    pub list: RankedList,
    /// The terms of the query that the best passage of each memory of the list has.
    pub matched: BTreeMap<MemoryId, TermSet>,
}

/// Grows by an eighth where doubling would leave half of a large owner index unused.
fn push<T>(all: &mut Vec<T>, one: T) {
    if all.len() == all.capacity() {
        all.reserve_exact(all.len() / 8 + 1);
    }
    all.push(one);
}

/// The lists of several owner indexes as one: at most `limit`, best first, ties by id.
pub fn merge(lists: impl IntoIterator<Item = RankedList>, limit: usize) -> RankedList {
    let mut best: BTreeMap<MemoryId, f64> = BTreeMap::new();
    let mut truncated = false;
    for list in lists {
        truncated |= list.truncated;
        for (id, score) in list.hits {
            let entry = best.entry(id).or_insert(score);
            *entry = entry.max(score);
        }
    }
    let mut hits: Vec<(MemoryId, f64)> = best.into_iter().collect();
    hits.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    truncated |= hits.len() > limit;
    hits.truncate(limit);
    RankedList { hits, truncated }
}

#[cfg(test)]
mod tests;
