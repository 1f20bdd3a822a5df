//! Fusion of the vector list and the full-text list into one similarity per memory, in 0..1.
//!
//! This is a min-max score fusion (relative score fusion) whose weight follows the query: the list whose scores fall
//! off faster is surer of its best and counts more. It was measured against single lists, reciprocal ranks and even
//! weights on public retrieval sets; the numbers are in docs/RETRIEVAL.md and docs/adr/0005-fusion-and-floor.md.
//!
//! The scores of the text list fall off fast where few memories have any word of the query, however little the best of
//! them says of it. So that list is as sure as it looks only where its best memory explains enough of the query.
//!
//! Min-max alone would give the best of any list 1 and the worst 0, however good they are. So the lower end is the
//! list's smallest score only when the list was cut off (an unseen memory then scores at most that), else zero. The
//! upper end is at least the score of a good match.

use std::collections::BTreeMap;

use crate::memory::ids::MemoryId;

/// A cosine that good matches reach with sentence-transformer models of this size.
const GOOD_COSINE: f64 = 0.4;
/// A BM25 score that good matches reach.
const GOOD_TEXT: f64 = 5.0;
/// The share of the vector list when both lists are equally decisive, how fast it moves, and where it ends.
const VECTOR_SHARE: f64 = 0.55;
const SHARE_SLOPE: f64 = 0.75;
const SHARE_RANGE: (f64, f64) = (0.2, 0.8);
/// The rank of the score that decisiveness compares the best score with.
const DECISIVE_RANK: usize = 10;

/// The scores of one retrieval list, in any order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RankedList {
    pub hits: Vec<(MemoryId, f64)>,
    /// True where more memories matched than were returned.
    pub truncated: bool,
}

/// The entry of a memory in one list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListEntry {
    /// Its place in the list, from 1. Equal scores are in the order of ids.
    pub rank: usize,
    /// A cosine, where negative ones count 0, or a BM25 score, which is unbounded.
    pub score: f64,
    /// The place of its score between the ends of the list, in 0..1.
    pub relative: f64,
    /// The weight of the list in the similarity, in 0..1. The shares of all lists add up to 1.
    pub share: f64,
}

/// The entries of one memory in all lists, with the similarity that they make.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fused {
    /// The sum `Σ share·relative` of the lists that it is in.
    pub similarity: f64,
    /// The entry in the vector list, with the largest cosine of its passages. None when the memory is not in that list.
    pub vector: Option<ListEntry>,
    /// The entry in the text list. None when the memory is not in that list.
    pub text: Option<ListEntry>,
}

impl Fused {
    pub fn cosine(&self) -> Option<f64> {
        self.vector.map(|listed| listed.score)
    }

    pub fn text_score(&self) -> Option<f64> {
        self.text.map(|listed| listed.score)
    }
}

/// Fuses two lists. `None` stands for a list that could not be made, as opposed to an empty one: the other list then
/// counts alone. `enough` is the score of a memory of the text list that explains enough of the query, or 0 where that
/// is not known.
pub fn fuse(vector: Option<&RankedList>, text: Option<&RankedList>, enough: f64) -> BTreeMap<MemoryId, Fused> {
    let vector = vector.map(best_scores);
    let text = text.map(best_scores);
    let vector_share = match (&vector, &text) {
        (Some(vector), Some(text)) => {
            let surer = vector.decisiveness() - text.decisiveness() * text.explained(enough);
            (VECTOR_SHARE + SHARE_SLOPE * surer).clamp(SHARE_RANGE.0, SHARE_RANGE.1)
        }
        (Some(_), None) => 1.0,
        (None, _) => 0.0,
    };
    let mut fused: BTreeMap<MemoryId, Fused> = BTreeMap::new();
    for (id, listed) in vector.iter().flat_map(|list| list.listed(GOOD_COSINE, vector_share)) {
        fused.entry(id).or_default().vector = Some(listed);
    }
    for (id, listed) in text.iter().flat_map(|list| list.listed(GOOD_TEXT, 1.0 - vector_share)) {
        fused.entry(id).or_default().text = Some(listed);
    }
    for entry in fused.values_mut() {
        let lists = [entry.vector, entry.text];
        entry.similarity = lists.iter().flatten().map(|list| list.share * list.relative).sum::<f64>().clamp(0.0, 1.0);
    }
    fused
}

/// A list in which a memory with several passages counts by its best one.
struct BestScores {
    /// The scores, best first; equal scores are in the order of ids.
    scores: Vec<(MemoryId, f64)>,
    truncated: bool,
}

fn best_scores(list: &RankedList) -> BestScores {
    let mut best: BTreeMap<MemoryId, f64> = BTreeMap::new();
    for (id, score) in &list.hits {
        let score = if score.is_finite() { score.max(0.0) } else { 0.0 };
        let entry = best.entry(*id).or_insert(score);
        *entry = entry.max(score);
    }
    let mut scores: Vec<(MemoryId, f64)> = best.into_iter().collect();
    scores.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    BestScores { scores, truncated: list.truncated }
}

impl BestScores {
    fn listed(&self, good: f64, share: f64) -> impl Iterator<Item = (MemoryId, ListEntry)> {
        let top = self.scores.first().map_or(good, |(_, best)| best.max(good));
        let worst = self.scores.last().filter(|_| self.truncated);
        let floor = worst.map_or(0.0, |(_, worst)| worst.min(good));
        let span = (top - floor).max(f64::EPSILON);
        (1..).zip(&self.scores).map(move |(rank, (id, score))| {
            let relative = (score - floor).max(0.0) / span;
            (*id, ListEntry { rank, score: *score, relative, share })
        })
    }

    /// Returns how much of the query the best memory explains, in 0..1. It is 1 where that is enough or not known.
    fn explained(&self, enough: f64) -> f64 {
        let best = self.scores.first().map_or(0.0, |(_, best)| *best);
        if best < enough { best / enough } else { 1.0 }
    }

    /// Returns how far the scores fall from the best to the tenth (or the last, where there are fewer), in 0..1. It is
    /// 1 for a single hit and 0 for none.
    fn decisiveness(&self) -> f64 {
        match self.scores[..self.scores.len().min(DECISIVE_RANK)] {
            [] => 0.0,
            [(_, top)] => f64::from(u8::from(top > 0.0)),
            [(_, top), .., (_, tenth)] if top > 0.0 => 1.0 - tenth / top,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
