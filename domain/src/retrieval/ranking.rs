//! Ranking: from candidates to an answer. They are scored, ordered, and cut by one rule after another. A cut candidate
//! stays in the ranking with the rule that cut it, so that the answer and its explanation are read from the same
//! ranking. The store finds the candidates, the caller reads their bodies, and `prompt_memories` decides what of an
//! answer goes into a prompt.

mod newest;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::confidence::Evidence;
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::label::label_key;
use crate::memory::signature::{Signature, SignatureFrequency};
use crate::memory::{Facts, Memory, Scope};
use crate::retrieval::candidates::Candidates;
use crate::retrieval::fusion::{Fused, fuse};
use crate::retrieval::relevance::{OF_THE_VERY_ERROR, is_far_below, judge};
use crate::retrieval::score::{Profile, QueryContext, Score, score};
use crate::text::tokens;

/// The reason why a candidate is not in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Cut {
    /// It says the same as this memory, which has a narrower scope or a better score.
    Duplicate { of: MemoryId },
    /// Its confidence is below the one that was asked for.
    BelowConfidence { least: f64 },
    /// Its relevance is below what an answer needs.
    BelowRelevance { least: f64 },
    /// Its relevance is far below that of the most relevant one.
    FarBelowBest { best: f64 },
    /// The profile answers with the items of one trace, and this is of another trace than the best candidate.
    NotOfBestTrace { best: MemoryId },
    /// The answer was to have so many memories, and as many come before it.
    BeyondN { n: usize },
    /// With it, or with a better one before it, the answer would have more tokens than were asked for.
    OverTokens { max: usize },
    /// It was removed or hidden after it was found.
    Gone,
}

/// The place of warnings of the very error that is asked for, when other memories score better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningPlacement {
    /// The best of them takes the last place of the answer, where its score gives it none.
    Within,
    /// This many of them are added to the answer.
    Beside(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub facts: Facts,
    pub evidence: Evidence,
    pub score: Score,
    /// The likelihood that the memory is about what was asked, in 0..=1.
    pub relevance: f64,
    /// The same likelihood by its words and its vector alone, whichever error it warns of.
    pub relevance_of_text: f64,
    /// The rule that cut it. None where it is in the answer.
    pub cut: Option<Cut>,
    /// The rule that cuts it where the caller asks for no relevance of its own. None where this answer keeps to that.
    pub spared: Option<Cut>,
    /// The newest memory of the answer that says something else of the same thing, where there is one.
    pub outdated_by: Option<MemoryId>,
    /// The newest memory of the answer that contradicts it, but is of lower trust or of another owner.
    pub contested_by: Option<MemoryId>,
}

impl Ranked {
    fn warns_of(&self, error: &Signature) -> bool {
        self.facts.signature.as_ref().is_some_and(|own| error.matches(own))
    }
}

/// All candidates, best first. Their order depends on nothing but scores and ids, unless [`Self::matching_first`],
/// [`Self::very_error_first`] or [`Self::newest_first`] was called.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranking {
    pub entries: Vec<Ranked>,
    /// The domain that counted: the one asked for, else the one of most of the best candidates.
    pub domain: Option<String>,
}

impl Ranking {
    /// Ranks the candidates. Of several with the same words, the one with the narrowest scope stays and the others are
    /// cut.
    pub fn of(candidates: Candidates, asked: &QueryContext, profile: &Profile) -> Self {
        let fused = fuse(candidates.vector.as_ref(), candidates.text.as_ref(), candidates.terms.enough());
        let mut asked = asked.clone();
        if asked.domain.is_none() {
            asked.majority_domain = majority_domain(&candidates, &fused);
        }
        let relevance = judge(&candidates, &fused, asked.compares_meaning);
        let telling = asked.signature.as_ref().filter(|error| is_telling(error, candidates.signature_frequency));
        let scored = candidates.facts.into_iter().map(|(facts, evidence)| {
            let fused = fused.get(&facts.id).copied().unwrap_or_default();
            let mut score = score(profile, &asked, &facts, &evidence, &fused);
            let judged = relevance.get(&facts.id);
            score.why.relevance = judged.map(|judged| judged.features);
            let relevance = judged.map_or(0.0, |judged| judged.value);
            let mut ranked = Ranked {
                facts,
                evidence,
                score,
                relevance,
                relevance_of_text: relevance,
                cut: None,
                spared: None,
                outdated_by: None,
                contested_by: None,
            };
            if telling.is_some_and(|error| ranked.warns_of(error)) {
                ranked.score.why.very_error = true;
                ranked.relevance = OF_THE_VERY_ERROR;
            }
            ranked
        });
        let mut entries: Vec<Ranked> = scored.collect();
        entries.sort_by(better);
        entries.dedup_by(|a, b| a.facts.id == b.facts.id);
        let mut ranking = Self { entries, domain: asked.domain.or(asked.majority_domain) };
        ranking.cut_duplicates();
        ranking
    }

    /// Returns the answer, best first.
    pub fn kept(&self) -> impl Iterator<Item = &Ranked> {
        self.entries.iter().filter(|entry| entry.cut.is_none())
    }

    /// Returns the answer by value, best first.
    pub fn into_kept(self) -> impl Iterator<Item = Ranked> {
        self.entries.into_iter().filter(|entry| entry.cut.is_none())
    }

    fn kept_mut(&mut self) -> impl Iterator<Item = &mut Ranked> {
        self.entries.iter_mut().filter(|entry| entry.cut.is_none())
    }

    fn cut_duplicates(&mut self) {
        let mut told: BTreeMap<&str, (Scope, MemoryId)> = BTreeMap::new();
        for Ranked { facts, .. } in &self.entries {
            let own = (facts.scope, facts.id);
            let kept = told.entry(&facts.text_key).or_insert(own);
            if own.0 < kept.0 {
                *kept = own;
            }
        }
        let kept: Vec<MemoryId> = self.entries.iter().map(|entry| told[&*entry.facts.text_key].1).collect();
        for (entry, of) in self.entries.iter_mut().zip(kept) {
            entry.cut = (of != entry.facts.id).then_some(Cut::Duplicate { of });
        }
    }

    /// Puts those first that warn of the very error that is asked for. The order stays the same otherwise.
    pub fn matching_first(&mut self, error: &Signature) {
        self.entries.sort_by_key(|entry| !entry.warns_of(error));
    }

    /// Puts those first that are relevant by the very error that is asked for. The order stays the same otherwise.
    pub fn very_error_first(&mut self) {
        self.entries.sort_by_key(|entry| !entry.score.why.very_error);
    }

    /// Cuts what is less certain than `least`, a confidence in 0..=1.
    pub fn require_confidence(&mut self, least: f64) {
        let doubtful = self.kept_mut().filter(|entry| entry.score.confidence < least);
        doubtful.for_each(|entry| entry.cut = Some(Cut::BelowConfidence { least }));
    }

    /// Cuts what is less relevant than `least`, in 0..=1. Items that stand `together` are as relevant as the most
    /// relevant of them.
    pub fn require_relevance(&mut self, least: f64, together: bool) {
        if together && self.kept().any(|entry| entry.relevance >= least) {
            return;
        }
        let irrelevant = self.kept_mut().filter(|entry| entry.relevance < least);
        irrelevant.for_each(|entry| entry.cut = Some(Cut::BelowRelevance { least }));
    }

    /// Cuts what is far less relevant than the most relevant of the answer. The text alone of a memory tells how
    /// relevant others have to be: one that warns of the very error may say little of what else was asked.
    pub fn cut_far_below_best(&mut self) {
        let best = self.kept().map(|entry| entry.relevance_of_text).fold(0.0, f64::max);
        let far_below = self.kept_mut().filter(|entry| is_far_below(entry.relevance, best));
        far_below.for_each(|entry| entry.cut = Some(Cut::FarBelowBest { best }));
    }

    /// Notes at each memory of the answer the rule that would cut it in an answer that needs the relevance `least`.
    pub fn note_spared(&mut self, least: f64) {
        let mut shorter = self.clone();
        shorter.require_relevance(least, false);
        shorter.cut_far_below_best();
        let kept = self.entries.iter_mut().zip(shorter.entries).filter(|(entry, _)| entry.cut.is_none());
        kept.for_each(|(entry, shorter)| entry.spared = shorter.cut);
    }

    /// Returns the trace that the best of the answer was learned from, if any.
    pub fn best_trace(&self) -> Option<TraceId> {
        self.kept().next()?.facts.trace_id
    }

    /// Cuts what is of another trace than the best of the answer. A memory without a trace is a trace of its own.
    pub fn keep_best_trace(&mut self) {
        let Some((best, trace)) = self.kept().next().map(|best| (best.facts.id, best.facts.trace_id)) else { return };
        let others = self
            .kept_mut()
            .filter(|entry| entry.facts.id != best && (trace.is_none() || entry.facts.trace_id != trace));
        others.for_each(|entry| entry.cut = Some(Cut::NotOfBestTrace { best }));
    }

    /// Keeps the best `n`, and as many warnings of the very `error` as their placement allows: one in the last place
    /// where none would be among the `n`, or some beside them.
    pub fn shorten(&mut self, n: usize, error: Option<&Signature>, room: WarningPlacement) {
        let warns = |entry: &Ranked| error.is_some_and(|error| entry.warns_of(error));
        let told = self.kept().take(n).any(warns);
        let (n_first, mut left) = match room {
            WarningPlacement::Beside(more) => (n, more),
            WarningPlacement::Within if !told && n > 0 && self.kept().any(warns) => (n - 1, 1),
            WarningPlacement::Within => (n, 0),
        };
        for entry in self.kept_mut().skip(n_first) {
            if left > 0 && warns(entry) {
                left -= 1;
            } else {
                entry.cut = Some(Cut::BeyondN { n });
            }
        }
    }

    /// Cuts the first that does not fit into `max` tokens, and all after it. The tokens are those of memories as a
    /// prompt renders them. It also cuts what has no body any more.
    pub fn fit<'a>(&mut self, max: Option<usize>, body: impl Fn(MemoryId) -> Option<&'a Memory>) {
        let mut left = max;
        for entry in self.kept_mut() {
            let Some(memory) = body(entry.facts.id) else {
                entry.cut = Some(Cut::Gone);
                continue;
            };
            let (Some(max), Some(room)) = (max, left) else { continue };
            match room.checked_sub(tokens::estimate(&memory.format_for_prompt())) {
                Some(rest) => left = Some(rest),
                None => {
                    // Nothing worse takes the place of what is too long.
                    left = Some(0);
                    entry.cut = Some(Cut::OverTokens { max });
                }
            }
        }
    }
}

/// Tells whether a warning of the error is relevant for that reason alone.
fn is_telling(error: &Signature, signature_frequency: Option<SignatureFrequency>) -> bool {
    !error.is_generic() && signature_frequency.is_some_and(SignatureFrequency::is_rare)
}

fn better(a: &Ranked, b: &Ranked) -> Ordering {
    b.score.composite.total_cmp(&a.score.composite).then_with(|| a.facts.id.cmp(&b.facts.id))
}

/// Finds the domain that more than half have of those among the ten best-matching candidates that have a domain.
fn majority_domain(candidates: &Candidates, fused: &BTreeMap<MemoryId, Fused>) -> Option<String> {
    const TOP: usize = 10;
    let mut by_similarity: Vec<(f64, &Facts)> =
        candidates.facts.iter().map(|(facts, _)| (fused.get(&facts.id).map_or(0.0, |f| f.similarity), facts)).collect();
    by_similarity.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.id.cmp(&y.id)));
    let domains: Vec<String> = by_similarity
        .into_iter()
        .take(TOP)
        .filter_map(|(_, facts)| facts.domain.as_deref())
        .map(label_key)
        .filter(|domain| !domain.is_empty())
        .collect();
    let count = |domain: &String| domains.iter().filter(|other| *other == domain).count();
    domains.iter().find(|domain| 2 * count(domain) > domains.len()).cloned()
}

#[cfg(test)]
mod tests;
