//! From candidates to an answer: score, order, drop duplicates, cut. Finding candidates is the store's work, reading
//! bodies the caller's; what of an answer goes into a prompt is `injection`'s.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use crate::confidence::Evidence;
use crate::fusion::{RankedList, fuse};
use crate::ids::MemoryId;
use crate::memory::{Facts, Memory};
use crate::score::{Asked, Profile, Score, score};
use crate::signature::Signature;
use crate::tokens;

/// How many candidates each list fetches for an answer of `n`.
pub fn over_fetch(n: usize) -> usize {
    (4 * n).max(50)
}

/// What the store found: two lists and, for every memory in either, what scoring needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Candidates {
    /// None when there was no vector to search with.
    pub vector: Option<RankedList>,
    /// None when there was no text to search with.
    pub text: Option<RankedList>,
    pub facts: Vec<(Facts, Evidence)>,
}

impl Candidates {
    /// As if these had not been found.
    pub fn without(mut self, ids: &HashSet<MemoryId>) -> Self {
        for list in [&mut self.vector, &mut self.text].into_iter().flatten() {
            list.hits.retain(|(id, _)| !ids.contains(id));
        }
        self.facts.retain(|(facts, _)| !ids.contains(&facts.id));
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub facts: Facts,
    pub evidence: Evidence,
    pub score: Score,
}

/// All candidates, best first, without duplicates (the same words in several scopes: the narrowest stays).
/// The order depends on nothing but scores and ids.
pub fn rank(candidates: Candidates, asked: &Asked, profile: &Profile) -> Vec<Ranked> {
    let fused = fuse(candidates.vector.as_ref(), candidates.text.as_ref());
    let mut asked = asked.clone();
    if asked.domain.is_none() {
        asked.majority_domain = majority_domain(&candidates, &fused);
    }
    let mut ranked: Vec<Ranked> = candidates
        .facts
        .into_iter()
        .map(|(facts, evidence)| {
            let fused = fused.get(&facts.id).copied().unwrap_or_default();
            let score = score(profile, &asked, &facts, &evidence, &fused);
            Ranked { facts, evidence, score }
        })
        .collect();
    ranked.sort_by(better);
    drop_duplicates(ranked)
}

/// Those that warn of the very error that is asked for come first; among them, and after them, the order stays.
pub fn matching_first(ranked: &mut [Ranked], error: &Signature) {
    ranked.sort_by_key(|entry| !entry.facts.signature.as_ref().is_some_and(|own| error.matches(own)));
}

/// The first `n`; of the rest the first `more` that warn of the very error.
pub fn shorten(ranked: &mut Vec<Ranked>, n: usize, error: Option<&Signature>, more: usize) {
    let rest = ranked.split_off(n.min(ranked.len()));
    let warns =
        |entry: &Ranked| error.zip(entry.facts.signature.as_ref()).is_some_and(|(wanted, own)| wanted.matches(own));
    ranked.extend(rest.into_iter().filter(warns).take(more));
}

fn better(a: &Ranked, b: &Ranked) -> Ordering {
    b.score.composite.total_cmp(&a.score.composite).then_with(|| a.facts.id.cmp(&b.facts.id))
}

fn drop_duplicates(ranked: Vec<Ranked>) -> Vec<Ranked> {
    let mut narrowest: BTreeMap<String, (crate::memory::Scope, MemoryId)> = BTreeMap::new();
    for entry in &ranked {
        let own = (entry.facts.scope, entry.facts.id);
        let kept = narrowest.entry(entry.facts.text_key.clone()).or_insert(own);
        if own.0 < kept.0 {
            *kept = own;
        }
    }
    let mut seen = HashSet::new();
    ranked
        .into_iter()
        .filter(|entry| narrowest[&entry.facts.text_key].1 == entry.facts.id && seen.insert(entry.facts.id))
        .collect()
}

/// The domain that more than half of the ten best-matching candidates with a domain share.
fn majority_domain(candidates: &Candidates, fused: &BTreeMap<MemoryId, crate::fusion::Fused>) -> Option<String> {
    const TOP: usize = 10;
    let mut by_similarity: Vec<(f64, &Facts)> =
        candidates.facts.iter().map(|(facts, _)| (fused.get(&facts.id).map_or(0.0, |f| f.similarity), facts)).collect();
    by_similarity.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.id.cmp(&y.id)));
    let domains: Vec<String> = by_similarity
        .into_iter()
        .take(TOP)
        .filter_map(|(_, facts)| facts.domain.as_deref())
        .map(|domain| domain.trim().to_lowercase())
        .filter(|domain| !domain.is_empty())
        .collect();
    let count = |domain: &String| domains.iter().filter(|other| *other == domain).count();
    domains.iter().find(|domain| 2 * count(domain) > domains.len()).cloned()
}

/// The first `n`, as far as they fit into `max_tokens` when rendered for a prompt.
pub fn cut<T>(ranked: Vec<T>, n: usize, max_tokens: Option<usize>, memory: impl Fn(&T) -> &Memory) -> Vec<T> {
    let mut left = max_tokens.unwrap_or(usize::MAX);
    ranked
        .into_iter()
        .take(n)
        .take_while(|entry| {
            if max_tokens.is_none() {
                return true;
            }
            let tokens = tokens::estimate(&memory(entry).format_for_prompt());
            let fits = tokens <= left;
            left = left.saturating_sub(tokens);
            fits
        })
        .collect()
}

/// A memory that was found, with the reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    pub memory: Memory,
    pub evidence: Evidence,
    pub score: Score,
}

#[cfg(test)]
mod tests;
