//! The candidates that a store finds for a search, before they are ranked.

use std::collections::{BTreeMap, HashSet};

use crate::evidence::confidence::Evidence;
use crate::memory::Facts;
use crate::memory::ids::MemoryId;
use crate::memory::signature::SignatureFrequency;
use crate::retrieval::fusion::RankedList;

/// Returns how many candidates each list fetches for an answer of `n`. It is at least as many as in the measurements,
/// because the place where a list is cut off moves the worth of its scores.
pub fn over_fetch(n: usize) -> usize {
    (4 * n).max(80)
}

/// The most times that a search is repeated, each time wider, where conditions that the store does not know leave fewer
/// memories than were asked for.
pub const WIDER_SEARCHES: u32 = 3;

/// Returns how many candidates each list of a wider search fetches, from how many it fetched before.
pub fn wider(limit: usize) -> usize {
    limit.saturating_mul(4)
}

/// The result of a search in the store: two lists and, for every memory in either, what scoring needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidates {
    /// The list by vector. None when there was no vector to search with.
    pub vector: Option<RankedList>,
    /// The list by text. None when there was no text to search with.
    pub text: Option<RankedList>,
    pub facts: Vec<(Facts, Evidence)>,
    pub terms: MatchedTerms,
    /// The number of warnings that carry the error. None when no error was asked for.
    pub signature_frequency: Option<SignatureFrequency>,
}

/// A set of terms of a query, by their places in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TermSet(u128);

impl TermSet {
    /// Makes a set of terms. `is_in` tells for each term of the query, in its order, whether the term is in the set. A
    /// query has no more than 128 terms.
    pub fn of(is_in: impl IntoIterator<Item = bool>) -> Self {
        let bits = is_in.into_iter().take(u128::BITS as usize).enumerate();
        Self(bits.fold(0, |set, (place, is_in)| set | u128::from(is_in) << place))
    }

    pub fn contains(self, place: usize) -> bool {
        place < u128::BITS as usize && self.0 >> place & 1 == 1
    }
}

/// The terms of the query: how rare they are in what was searched, and which of them the memories of the text list
/// have.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MatchedTerms {
    /// The rarity of each term of the query, above 0, as BM25 takes it.
    pub rarities: Vec<f64>,
    /// The BM25 score that no passage can exceed for this query.
    pub saturation: f64,
    /// The terms that the best passage of each memory of the text list has.
    pub matched: BTreeMap<MemoryId, TermSet>,
}

impl MatchedTerms {
    /// The share of the best possible score that a memory has which explains enough of the query, and the number of
    /// terms up to which that share holds. A long query says more than any memory has, so of more terms a smaller share
    /// is enough. Both were measured, see docs/RETRIEVAL.md.
    const ENOUGH: f64 = 0.4;
    const FEW_TERMS: usize = 4;

    /// Returns the BM25 score of a memory that explains enough of the query.
    pub fn enough(&self) -> f64 {
        let (few, terms) = (Self::FEW_TERMS as f64, self.rarities.len().max(Self::FEW_TERMS) as f64);
        Self::ENOUGH * self.saturation * few / terms
    }
}

impl Candidates {
    /// Tells whether memories that match may be in neither list.
    pub fn are_cut_off(&self) -> bool {
        [&self.vector, &self.text].into_iter().flatten().any(|list| list.truncated)
    }

    /// Returns the candidates as if these memories had not been found.
    pub fn without(mut self, ids: &HashSet<MemoryId>) -> Self {
        for list in [&mut self.vector, &mut self.text].into_iter().flatten() {
            list.hits.retain(|(id, _)| !ids.contains(id));
        }
        self.facts.retain(|(facts, _)| !ids.contains(&facts.id));
        self
    }
}
