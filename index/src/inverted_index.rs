//! An inverted index over passages, and BM25 over it.
//!
//! Terms are kept as 64-bit hashes, and a posting as 24 bits of passage and 8 bits of frequency. A search goes through
//! the terms from the one that can add most to the one that can add least (MaxScore). As soon as passages without any
//! of the terms so far cannot get among the best any more, the remaining longer lists, those of stop words, are only
//! asked about the passages that are still in the running. Where few passages may be found, only those are looked at.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hasher};

use super::columns::{allocated, map_bytes};
use super::hits::{Full, TopHits, push};
use reasoning_bank_domain::retrieval::candidates::{MatchedTerms, TermSet};
use reasoning_bank_domain::text::terms::{QUERY_TERMS, QueryTerm};

/// The parameters of BM25 (Robertson and Zaragoza, 2009), with Lucene's form of the rarity: `ln(1 + (N - df + 0.5) /
/// (df + 0.5))`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bm25 {
    /// The parameter that says how slowly a repeated term saturates.
    pub k1: f32,
    /// The weight of the length of a passage, in 0..1.
    pub b: f32,
}

/// The parameter that says how slowly repeats of a term in the query saturate: k3 of Okapi BM25 (Robertson et al.,
/// Okapi at TREC-3, 1994).
const K3: f32 = 8.0;
/// The most terms of a query that are searched: those that count most, by their rarity and by how often the query says
/// them.
const SEARCHED_TERMS: usize = 64;

/// The parameters that were measured to be best, see docs/RETRIEVAL.md.
pub(super) const BM25: Bm25 = Bm25 { k1: 0.9, b: 0.6 };

const FREQUENCY_BITS: u32 = 8;
const FREQUENCY_MAX: u32 = (1 << FREQUENCY_BITS) - 1;
const PASSAGES_MAX: usize = 1 << (32 - FREQUENCY_BITS);
/// A search looks only at the passages that may be found where they are fewer than one in this many.
const FEW: usize = 50;
/// A sample of at most this many passages tells how many may be found.
const JUDGED_BY: usize = 4_096;
/// A query goes through its lists all the same where they have together no more than one posting for this many
/// passages.
const SHORT_LISTS: usize = 4;
/// A margin for rounding. Rounding must not cut off what ties with the last of the best.
const ROUNDING: f32 = 1e-4;

fn hash(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(term.as_bytes());
    hasher.finish()
}

/// The distinct terms of a query, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TermQuery {
    terms: Vec<u64>,
    /// The weight of each term: from 1 for a term that is said once to 9 for one that is said without end.
    weights: Vec<f32>,
}

impl TermQuery {
    pub fn new<'a>(terms: impl IntoIterator<Item = &'a QueryTerm>) -> Self {
        let weight = |count: f32| (K3 + 1.0) * count / (K3 + count);
        let (terms, weights) =
            terms.into_iter().take(QUERY_TERMS).map(|of| (hash(&of.term), weight(of.count as f32))).unzip();
        Self { terms, weights }
    }
}

/// The statistics of all passages that a query searches, as far as the query needs them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Collection {
    passages: u64,
    length: u64,
    /// The number of passages that have each term of the query.
    having: Vec<u64>,
    /// The weight of each term of the query.
    weights: Vec<f32>,
}

impl Collection {
    /// Returns what the terms of the query are worth in this collection. `matched` is still empty.
    pub fn terms(&self) -> MatchedTerms {
        let each = || 0..self.having.len();
        let worth: f64 = each().map(|term| f64::from(self.worth(term))).sum();
        MatchedTerms {
            rarities: each().map(|term| f64::from(self.rarity(term))).collect(),
            saturation: worth * f64::from(BM25.k1 + 1.0),
            matched: BTreeMap::new(),
        }
    }

    /// Returns the terms that are searched, by their places in the query. A term that no passage has does not count
    /// towards the limit.
    fn searched(&self) -> Vec<usize> {
        let mut terms: Vec<usize> = (0..self.having.len()).filter(|term| self.having[*term] > 0).collect();
        if terms.len() > SEARCHED_TERMS {
            terms.sort_by(|a, b| self.worth(*b).total_cmp(&self.worth(*a)));
            terms.truncate(SEARCHED_TERMS);
        }
        terms
    }

    fn worth(&self, term: usize) -> f32 {
        self.rarity(term) * self.weights.get(term).copied().unwrap_or_default()
    }

    fn rarity(&self, term: usize) -> f32 {
        let (all, having) = (self.passages as f64, self.having.get(term).copied().unwrap_or_default() as f64);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln() as f32
    }

    fn average_length(&self) -> f32 {
        (self.length as f64 / self.passages.max(1) as f64).max(1.0) as f32
    }
}

/// The passages that have a term, in their order.
#[derive(Debug, Default)]
struct Postings {
    packed: Vec<u32>,
    /// The highest frequency and the shortest length, which bound the score from above.
    most: u8,
    shortest: u16,
}

impl Postings {
    /// Adds a posting, and returns how many bytes more the list takes.
    fn push(&mut self, passage: u32, frequency: u32, length: u16) -> usize {
        let before = self.bytes();
        let frequency = frequency.min(FREQUENCY_MAX);
        self.shortest = if self.packed.is_empty() { length } else { self.shortest.min(length) };
        self.most = self.most.max(frequency as u8);
        push(&mut self.packed, passage << FREQUENCY_BITS | frequency);
        self.bytes() - before
    }

    fn bytes(&self) -> usize {
        allocated(self.packed.capacity() * size_of::<u32>())
    }
}

fn unpacked(posting: u32) -> (usize, f32) {
    ((posting >> FREQUENCY_BITS) as usize, (posting & FREQUENCY_MAX) as f32)
}

#[derive(Debug, Default)]
pub(super) struct InvertedIndex {
    terms: HashMap<u64, u32>,
    postings: Vec<Postings>,
    /// The number of terms of each passage, at most `u16::MAX`.
    lengths: Vec<u16>,
    memories: Vec<u32>,
    length: u64,
    /// The bytes that the postings take beside their entries in `postings`.
    postings_bytes: usize,
}

impl InvertedIndex {
    /// Adds a passage. `terms` are separated by spaces. A term that is repeated counts as often as it is there.
    pub(super) fn push(&mut self, memory: u32, terms: &str) -> Result<(), Full> {
        if self.lengths.len() >= PASSAGES_MAX {
            return Err(Full);
        }
        let passage = self.lengths.len() as u32;
        let mut numbers: Vec<u32> = terms.split_ascii_whitespace().map(|term| self.number(term)).collect();
        let length = u16::try_from(numbers.len()).unwrap_or(u16::MAX);
        self.length += u64::from(length);
        push(&mut self.lengths, length);
        push(&mut self.memories, memory);
        numbers.sort_unstable();
        for same in numbers.chunk_by(|a, b| a == b) {
            self.postings_bytes += self.postings[same[0] as usize].push(passage, same.len() as u32, length);
        }
        Ok(())
    }

    fn number(&mut self, term: &str) -> u32 {
        *self.terms.entry(hash(term)).or_insert_with(|| {
            self.postings.push(Postings::default());
            self.postings.len() as u32 - 1
        })
    }

    pub(super) fn passages(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn shrink(&mut self) {
        self.postings.iter_mut().for_each(|postings| postings.packed.shrink_to_fit());
        self.postings_bytes = self.postings.iter().map(Postings::bytes).sum();
        self.postings.shrink_to_fit();
        self.terms.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.memories.shrink_to_fit();
    }

    pub(super) fn bytes(&self) -> usize {
        self.postings_bytes
            + map_bytes::<u64, u32>(self.terms.capacity())
            + self.postings.capacity() * size_of::<Postings>()
            + self.lengths.capacity() * size_of::<u16>()
            + self.memories.capacity() * size_of::<u32>()
    }

    pub(super) fn count(&self, query: &TermQuery, collection: &mut Collection) {
        collection.passages += self.lengths.len() as u64;
        collection.length += self.length;
        collection.having.resize(query.terms.len(), 0);
        collection.weights.clone_from(&query.weights);
        for (having, term) in collection.having.iter_mut().zip(&query.terms) {
            *having += self.postings_of(*term).map_or(0, |postings| postings.packed.len() as u64);
        }
    }

    fn postings_of(&self, term: u64) -> Option<&Postings> {
        self.terms.get(&term).and_then(|number| self.postings.get(*number as usize))
    }

    /// Returns the terms of the query that the passage has.
    pub(super) fn matched(&self, query: &TermQuery, passage: u32) -> TermSet {
        let has = |term: &u64| {
            let postings = self.postings_of(*term)?;
            let at = postings.packed.partition_point(|posting| posting >> FREQUENCY_BITS < passage);
            postings.packed.get(at).filter(|posting| *posting >> FREQUENCY_BITS == passage)
        };
        TermSet::of(query.terms.iter().map(|term| has(term).is_some()))
    }

    /// Finds the memories that have any of the terms, the one with the best passage first.
    pub(super) fn search(
        &self,
        query: &TermQuery,
        collection: &Collection,
        limit: usize,
        allowed: impl Fn(u32) -> bool,
    ) -> TopHits {
        let average = collection.average_length();
        let list = |term: usize| {
            let postings = self.postings_of(*query.terms.get(term)?)?;
            Some(List::new(postings, collection.worth(term), average))
        };
        let mut lists: Vec<List<'_>> = collection.searched().into_iter().filter_map(list).collect();
        lists.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        // The most that the lists from here on can add to a passage.
        let rest = |from: usize| lists[from..].iter().map(|list| list.bound).sum::<f32>();

        let mut scores = Scores::new(self.lengths.len());
        let postings: usize = lists.iter().map(|list| list.postings.packed.len()).sum();
        if postings * SHORT_LISTS > self.memories.len()
            && let Some(few) = self.few(&allowed)
        {
            scores.touched = few;
            lists.iter().for_each(|list| self.add_to_touched(list, average, &mut scores));
            return self.best(&scores, f32::MIN_POSITIVE, limit, allowed);
        }
        let mut enough = 0.0;
        let (mut next, mut looked_at) = (0, 0);
        while next < lists.len() && (enough == 0.0 || rest(next) >= enough) {
            self.add(&lists[next], average, &mut scores);
            next += 1;
            let longer = lists.get(next).map_or(0, |list| list.postings.packed.len());
            // Many scores are needed until there are enough, where few passages may be found. So the scores are looked
            // at only when there are twice as many as the last time.
            if longer > scores.touched.len() && (enough > 0.0 || scores.touched.len() >= 2 * looked_at) {
                enough = self.enough(&scores, enough, limit, &allowed);
                looked_at = scores.touched.len();
            }
        }
        let mut truncated = next < lists.len();
        let before = scores.touched.len();
        for (list, at_most) in (next..lists.len()).map(|at| (&lists[at], rest(at))) {
            enough = self.enough(&scores, enough, limit, &allowed);
            scores.keep_above(enough - at_most);
            self.add_to_touched(list, average, &mut scores);
        }
        truncated |= scores.touched.len() < before;
        let found = self.best(&scores, 0.0, limit, allowed);
        TopHits { truncated: truncated || found.truncated, ..found }
    }

    /// Returns the passages that may be found, if they are few.
    fn few(&self, allowed: impl Fn(u32) -> bool) -> Option<Vec<u32>> {
        let every = self.memories.len().div_ceil(JUDGED_BY).max(1);
        let may_be_found = self.memories.iter().step_by(every).filter(|memory| allowed(**memory)).count();
        let passages = (0..).zip(&self.memories);
        let few = || passages.filter(|(_, memory)| allowed(**memory)).map(|(passage, _)| passage).collect();
        (may_be_found * FEW * every < self.memories.len()).then(few)
    }

    /// Returns the best memories of the passages whose score is at least `least`.
    fn best(&self, scores: &Scores, least: f32, limit: usize, allowed: impl Fn(u32) -> bool) -> TopHits {
        let scored = scores.touched.iter().map(|passage| (*passage, scores.of[*passage as usize]));
        let memory = |passage: u32| Some(self.memories[passage as usize]).filter(|memory| allowed(*memory));
        TopHits::best(scored.filter(|(_, score)| *score >= least).collect(), limit, memory)
    }

    /// Returns a score that `limit` memories have reached already. A passage below it is not among the best. `known` is
    /// what it was when the scores were lower, at first 0. It is returned where fewer memories have reached it.
    fn enough(&self, scores: &Scores, known: f32, limit: usize, allowed: impl Fn(u32) -> bool) -> f32 {
        let best = self.best(scores, known, limit, allowed);
        let last = best.hits.last().filter(|_| best.hits.len() == limit);
        last.map_or(known, |hit| hit.score * (1.0 - ROUNDING))
    }

    fn add(&self, list: &List<'_>, average: f32, scores: &mut Scores) {
        for posting in &list.postings.packed {
            let (passage, frequency) = unpacked(*posting);
            let score = &mut scores.of[passage];
            if *score == 0.0 {
                scores.touched.push(passage as u32);
            }
            *score += list.score(frequency, f32::from(self.lengths[passage]), average);
        }
    }

    /// Adds a list to the passages that have a score already. Both are in the order of passages, so each is gone
    /// through once.
    fn add_to_touched(&self, list: &List<'_>, average: f32, scores: &mut Scores) {
        // The touched passages are a few sorted runs, one after another.
        scores.touched.sort();
        let mut left: &[u32] = &list.postings.packed;
        for passage in &scores.touched {
            left = &left[gallop(left, passage << FREQUENCY_BITS)..];
            let Some(posting) = left.first() else { break };
            let (found, frequency) = unpacked(*posting);
            if found == *passage as usize {
                scores.of[found] += list.score(frequency, f32::from(self.lengths[found]), average);
            }
        }
    }
}

/// A term of a query with its postings.
struct List<'a> {
    postings: &'a Postings,
    weight: f32,
    /// The most that it adds to a passage.
    bound: f32,
}

impl<'a> List<'a> {
    fn new(postings: &'a Postings, worth: f32, average: f32) -> Self {
        let list = Self { postings, weight: worth * (BM25.k1 + 1.0), bound: 0.0 };
        let most = f32::from(postings.most);
        let bound = list.score(most, f32::from(postings.shortest), average);
        Self { bound, ..list }
    }

    fn score(&self, frequency: f32, length: f32, average: f32) -> f32 {
        self.weight * frequency / (frequency + BM25.k1 * (1.0 - BM25.b + BM25.b * length / average))
    }
}

struct Scores {
    of: Vec<f32>,
    /// The passages whose score is not 0, or all that may be found.
    touched: Vec<u32>,
}

impl Scores {
    fn new(passages: usize) -> Self {
        Self { of: vec![0.0; passages], touched: Vec::new() }
    }

    fn keep_above(&mut self, score: f32) {
        let of = &self.of;
        self.touched.retain(|passage| of[*passage as usize] >= score);
    }
}

/// Returns how many of the sorted numbers are smaller. The search goes in steps that double, so that near ones are
/// found soon.
fn gallop(sorted: &[u32], number: u32) -> usize {
    let mut step = 1;
    while step < sorted.len() && sorted[step] < number {
        step *= 2;
    }
    let (from, to) = (step / 2, (step + 1).min(sorted.len()));
    from + sorted[from..to].partition_point(|other| *other < number)
}

#[cfg(test)]
mod tests;
