//! An owner index: the memories of one owner, searchable by words and by vectors.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::memory::Facts;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::signature::{Signature, SignatureFrequency};
use reasoning_bank_domain::retrieval::candidates::TermSet;
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::retrieval::fusion::RankedList;

use crate::columns::{IndexedMemory, MemoryColumns, RowLocation, map_bytes};
use crate::hits::{Full, TopHits};
use crate::inverted_index::{Collection, InvertedIndex, TermQuery};
use crate::quantized_vectors::QuantizedVectors;

/// An owner index is worn, and worth building anew, when more than one in this many of its entries is removed.
const REMOVED_SHARE: usize = 4;
const WORTH_MAKING_ANEW: usize = 1_000;

/// The active memories of one workspace, one team or one organisation, searchable.
///
/// A memory has a number, which the words and vectors of its passages carry. Whenever its passages change, the memory
/// gets another number, and what has the old one is never found again.
#[derive(Debug)]
pub struct OwnerIndex {
    columns: MemoryColumns,
    inverted: InvertedIndex,
    vectors: QuantizedVectors,
    evidence: HashMap<MemoryId, Evidence>,
}

impl OwnerIndex {
    /// Makes an empty owner index for vectors of this many numbers.
    pub fn new(dims: usize) -> Self {
        Self {
            columns: MemoryColumns::default(),
            inverted: InvertedIndex::default(),
            vectors: QuantizedVectors::new(dims),
            evidence: HashMap::new(),
        }
    }

    /// Puts a memory here, or updates what is known of it. Its passages stay.
    pub fn put(&mut self, indexed: IndexedMemory) {
        self.columns.put(indexed);
    }

    /// Removes a memory with its passages and its evidence.
    pub fn remove(&mut self, id: MemoryId) {
        self.columns.remove(id);
        self.evidence.remove(&id);
    }

    /// Removes the passages of a memory, if it is here.
    pub fn clear_passages(&mut self, id: MemoryId) {
        self.columns.renumber(id);
    }

    /// Adds a passage to a memory of this owner index, and nothing to any other. `terms` are as
    /// [`reasoning_bank_domain::text::terms::indexed`] makes them. Where passages of several revisions are added, those
    /// of the highest stay.
    ///
    /// # Errors
    ///
    /// [`Full`] where it cannot number more passages.
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

    /// Adds a signal about a memory of this owner index. A signal about any other is ignored.
    pub fn note(&mut self, id: MemoryId, kind: SignalKind, at: Timestamp) {
        if self.columns.contains(id) {
            self.evidence.entry(id).or_default().add(kind, at);
        }
    }

    /// Replaces the evidence about a memory of this owner index.
    pub fn set_evidence(&mut self, id: MemoryId, evidence: Evidence) {
        if self.columns.contains(id) {
            self.evidence.insert(id, evidence);
        }
    }

    pub fn contains(&self, id: MemoryId) -> bool {
        self.columns.contains(id)
    }

    /// Returns the ids of the memories that are here, in any order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = MemoryId> {
        self.columns.ids()
    }

    /// Returns the revision whose passages are here. None where the memory has none here.
    pub fn passages_of(&self, id: MemoryId) -> Option<u64> {
        self.columns.passages_of(id)
    }

    /// Returns the number of passages, including those of removed memories.
    pub fn passages(&self) -> usize {
        self.inverted.passages()
    }

    /// Makes a filled owner index small, and its search by vector fast.
    pub fn optimize(&mut self) {
        self.columns.shrink();
        self.inverted.shrink();
        self.vectors.build_prefilter();
    }

    /// Tells whether so much of it was removed that building it anew pays.
    pub fn is_worn(&self) -> bool {
        let (all, removed) = self.columns.numbered();
        removed > WORTH_MAKING_ANEW && removed * REMOVED_SHARE > all
    }

    /// Estimates the memory that it takes, in bytes.
    pub fn bytes(&self) -> usize {
        let evidence = map_bytes::<MemoryId, Evidence>(self.evidence.capacity());
        self.columns.bytes() + self.inverted.bytes() + self.vectors.bytes() + evidence
    }

    /// Adds what this owner index contributes to the statistics of a query's collection.
    pub fn count(&self, query: &TermQuery, collection: &mut Collection) {
        self.inverted.count(query, collection);
    }

    /// Finds the best memories by the words of a query. The score is BM25 over `collection`, to which every owner index
    /// that the query reads was [added](Self::count).
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

    /// Finds the best memories by cosine.
    pub fn by_vector(&self, vector: &[f32], conditions: &Conditions, limit: usize) -> RankedList {
        let Some(wanted) = self.columns.wanted(conditions) else { return RankedList::default() };
        self.list(self.vectors.search(vector, limit, |number| self.columns.meets(number, &wanted)))
    }

    /// Counts the memories that warn of any error, and those of them that warn of this one.
    pub fn signature_frequency(&self, error: &Signature) -> SignatureFrequency {
        self.columns.signature_frequency(error)
    }

    /// Finds the newest memories that warn of this error, at most `limit`.
    pub fn by_signature(&self, error: &Signature, conditions: &Conditions, limit: usize) -> Vec<MemoryId> {
        let Some(wanted) = self.columns.wanted(conditions) else { return Vec::new() };
        let mut found: Vec<MemoryId> = self.columns.warning_of(error, &wanted).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(limit);
        found
    }

    /// Returns what scoring needs to know of a memory of this owner index. None where the memory is not here.
    pub fn facts(&self, id: MemoryId) -> Option<(Facts, Evidence)> {
        Some((self.columns.facts(id)?, self.evidence.get(&id).cloned().unwrap_or_default()))
    }

    /// Returns where the store has a memory of this owner index, and the evidence about it. None where the memory is
    /// not here.
    pub fn location(&self, id: MemoryId) -> Option<(RowLocation, Evidence)> {
        Some((self.columns.location(id)?, self.evidence.get(&id).cloned().unwrap_or_default()))
    }

    /// Notes that the store has moved a memory. A memory that is not here is ignored.
    pub fn moved(&mut self, id: MemoryId, row_id: u64) {
        self.columns.moved(id, row_id);
    }

    fn list(&self, found: TopHits) -> RankedList {
        let hits = found.hits.into_iter().map(|hit| (self.columns.id(hit.memory), f64::from(hit.score)));
        RankedList { hits: hits.collect(), truncated: found.truncated }
    }
}

/// The best memories by the words of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FoundByWords {
    pub list: RankedList,
    /// The terms of the query that the best passage of each listed memory has.
    pub matched: BTreeMap<MemoryId, TermSet>,
}

/// Merges the lists of several owner indexes: at most `limit` memories, best first, ties in the order of ids.
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
