//! Relevance: how likely it is that a memory is about what was asked, in 0..=1. The scores of a ranking say which
//! memory is the best of those there are. Relevance rests on absolute evidence, so it can say that none of them is
//! good.
//!
//! It is a logistic model (Cox, 1958): `relevance = 1 / (1 + exp(-(intercept + Σ coefficient·feature - crowd·ln n / ln
//! 80)))`, where n, at most 80, is how many memories were found. No coefficient of a feature is negative, so more
//! evidence never makes a memory less relevant. docs/RETRIEVAL.md says what the coefficients were fitted to, and how
//! well they do.

mod coefficients;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::coefficients::{Coefficients, SHIPPED_EMBEDDER};
use crate::memory::ids::MemoryId;
use crate::retrieval::candidates::{Candidates, MatchedTerms};
use crate::retrieval::fusion::Fused;

/// The relevance of a memory that was found for the very error that was asked for, where few warnings carry that error.
/// It needs no other evidence.
pub const OF_THE_VERY_ERROR: f64 = 1.0;
/// A relevance below this share of the best one is far below it. The value was measured, see docs/RETRIEVAL.md.
const FAR_BELOW: f64 = 0.5;

/// Tells whether a memory is so far below the best of its answer in relevance that it is left out.
pub fn is_far_below(relevance: f64, best: f64) -> bool {
    relevance < FAR_BELOW * best
}

/// The evidence that a memory is about the query, each part in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Features {
    /// The cosine of its best passage, or 0 where that is negative or unknown.
    pub cosine: f64,
    /// The share of the query's terms that its best passage has, where each term counts by its rarity.
    pub terms: f64,
    /// Its BM25 score as a share of the score that no passage can exceed.
    pub saturation: f64,
    /// The distance of the cosine of the nearest memory of the search, whichever that is, above what is found beside
    /// it. It counts in full for the nearest memory, and for half where a memory has nothing in common with the query.
    pub lead: f64,
    /// The distance of its `saturation` above the mean of the ten best others.
    pub margin: f64,
    /// The smaller of its margins in the two lists, which tells how far both single it out.
    pub agreement: f64,
    /// The number of memories that were found, from 0 for one to 1 for 80 and more. The best of many looks good by
    /// chance, so it counts against each.
    pub crowd: f64,
}

/// The relevance of a memory, with the evidence for it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Relevance {
    /// The likelihood that the memory is about what was asked, in 0..=1.
    pub value: f64,
    pub features: Features,
}

impl Features {
    /// Returns the evidence for a memory, in the order of [`Coefficients::all`].
    pub fn all(&self) -> [f64; 6] {
        [self.cosine, self.terms, self.saturation, self.lead, self.margin, self.agreement]
    }
}

impl Coefficients {
    /// Returns the relevance that this evidence makes likely, in 0..=1.
    pub fn relevance(&self, features: &Features) -> f64 {
        let evidence: f64 = features.all().into_iter().zip(self.all()).map(|(feature, weight)| feature * weight).sum();
        1.0 / (1.0 + (self.crowd * features.crowd - self.intercept - evidence).exp())
    }
}

fn crowd(found: usize) -> f64 {
    const MANY: f64 = 80.0;
    ((found.max(1) as f64).ln() / MANY.ln()).min(1.0)
}

/// Judges the relevance of every memory that a list has. `compares_meaning` says whether the vectors are of the
/// embedding model that the coefficients belong to. The cosines of any other model say nothing here, and words decide.
pub fn judge(
    candidates: &Candidates,
    fused: &BTreeMap<MemoryId, Fused>,
    compares_meaning: bool,
) -> BTreeMap<MemoryId, Relevance> {
    let by_meaning = compares_meaning && candidates.vector.is_some();
    let is_cut_off = candidates.vector.as_ref().is_some_and(|list| list.truncated);
    let cosine = |listed: &Fused| listed.cosine().filter(|_| by_meaning).unwrap_or_default().clamp(0.0, 1.0);
    let saturation = |listed: &Fused| share(listed.text_score().unwrap_or_default(), candidates.terms.saturation);
    let (cosines, saturations) = (Best::of(fused, cosine), Best::of(fused, saturation));
    let found = fused.values().filter(|listed| by_meaning || listed.text.is_some()).count();
    let crowd = crowd(found);
    let judged = fused.iter().map(|(id, listed)| {
        let (cosine, saturation) = (cosine(listed), saturation(listed));
        // A list that is not cut off has every memory with a vector, so a memory without a cosine has none yet.
        let coefficients = match (by_meaning && (listed.cosine().is_some() || is_cut_off), candidates.text.is_some()) {
            (true, true) => &Coefficients::HYBRID,
            (true, false) => &Coefficients::VECTOR,
            (false, _) => &Coefficients::KEYWORD,
        };
        let terms = terms(&candidates.terms, *id);
        // A memory with every word of the query is about it, however many others have them all.
        let has_all_words = terms >= 1.0 && *coefficients == Coefficients::KEYWORD;
        let margin = if has_all_words { saturation } else { saturations.margin(saturation) };
        let features = Features {
            cosine,
            terms,
            saturation,
            lead: if by_meaning { cosines.lead(cosine) } else { 0.0 },
            margin,
            agreement: cosines.margin(cosine).min(margin),
            crowd,
        };
        (*id, Relevance { value: coefficients.relevance(&features), features })
    });
    judged.collect()
}

/// Returns the share of the query's terms that the memory has, where each term counts by its rarity.
fn terms(terms: &MatchedTerms, id: MemoryId) -> f64 {
    let set = terms.matched.get(&id).copied().unwrap_or_default();
    let matched = terms.rarities.iter().enumerate().filter(|(place, _)| set.contains(*place));
    share(matched.map(|(_, rarity)| rarity).sum(), terms.rarities.iter().sum())
}

/// Returns the share of a part in a whole, in 0..=1. It is 0 where the whole is nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
}

/// The best scores of a list, to tell how far they stand out.
struct Best(Vec<f64>);

impl Best {
    /// The number of the best others that a memory is compared with.
    const RIVALS: usize = 10;
    /// The number of the first others that may be about the same thing. The [`Self::BESIDE`] after them are what is
    /// found beside a memory.
    const MAY_BE_ALIKE: usize = 5;
    const BESIDE: usize = 10;
    /// The number of memories that are assumed in addition, with the cosine of texts that have nothing in common. They
    /// matter where few are found.
    const ASSUMED: usize = 3;
    const UNRELATED: f64 = 0.1;

    fn of(fused: &BTreeMap<MemoryId, Fused>, score: impl Fn(&Fused) -> f64) -> Self {
        let mut best: Vec<f64> = fused.values().map(score).filter(|score| *score > 0.0).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        best.truncate(Self::MAY_BE_ALIKE + Self::BESIDE + 1);
        Self(best)
    }

    /// Returns the scores of the others beside a memory with this score, best first.
    fn others(&self, score: f64) -> impl Iterator<Item = f64> {
        let own = self.0.iter().position(|other| *other <= score);
        self.0.iter().enumerate().filter(move |(place, _)| Some(*place) != own).map(|(_, other)| *other)
    }

    /// Returns how far one of the scores is above the mean of the best others. It is 0 where the score is below.
    fn margin(&self, score: f64) -> f64 {
        let rivals: Vec<f64> = self.others(score).take(Self::RIVALS).collect();
        let mean = rivals.iter().sum::<f64>() / rivals.len().max(1) as f64;
        (score - mean).clamp(0.0, 1.0)
    }

    /// Returns how far the best of the cosines is above what is found beside one of them. It is 0 where the best is
    /// below. The best tells whether the query can be answered, and the share that the other has of it tells whether
    /// its memory is part of that answer, so each decides over one half.
    fn lead(&self, cosine: f64) -> f64 {
        let beside: Vec<f64> = self.others(cosine).skip(Self::MAY_BE_ALIKE).take(Self::BESIDE).collect();
        let sum = beside.iter().sum::<f64>() + Self::ASSUMED as f64 * Self::UNRELATED;
        let mean = sum / (beside.len() + Self::ASSUMED) as f64;
        let best = self.0.first().copied().unwrap_or_default();
        (best - mean).clamp(0.0, 1.0) * (1.0 + share(cosine, best)) / 2.0
    }
}

#[cfg(test)]
mod tests;
