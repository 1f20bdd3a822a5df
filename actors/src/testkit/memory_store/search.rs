//! Search in memory: every memory is compared, and texts by an owner index that is made for the query.

use std::collections::BTreeSet;

use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signature::SignatureFrequency;
use reasoning_bank_domain::memory::{ErrorContext, Facts};
use reasoning_bank_domain::retrieval::candidates::{Candidates, MatchedTerms};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::retrieval::fusion::RankedList;
use reasoning_bank_domain::text::terms;
use reasoning_bank_index::{Collection, IndexedMemory, OwnerIndex, TermQuery};

use super::data::{Data, Stored};
use crate::ports::{Passage, Recall};

impl Data {
    pub(super) fn candidates(&self, recall: &Recall) -> Candidates {
        let searched: Vec<&Stored> = self
            .memories
            .values()
            .filter(|stored| recall.statuses().contains(&stored.memory.status))
            .filter(|stored| recall.visible.contains(&stored.memory) && recall.conditions.hold(&stored.memory))
            .collect();
        let vector = recall.vector.as_ref().map(|query| {
            let cosine = |passage: &Passage| passage.vector.as_deref().map(|vector| cosine(query, vector));
            let best = |stored: &&Stored| stored.passages.iter().filter_map(cosine).reduce(f64::max);
            list(searched.iter().filter_map(|stored| Some((stored.memory.id, best(stored)?))), recall.limit)
        });
        let text = recall.text.as_deref().filter(|text| !text.trim().is_empty());
        let (text, terms) = text.map(|text| by_words(&searched, text, recall.limit)).unzip();
        let warns = |stored: &&&Stored| {
            let own = stored.memory.error_context.as_ref().map(ErrorContext::signature);
            matches!((&recall.signature, own), (Some(asked), Some(own)) if asked.matches(&own))
        };
        let warning = searched.iter().rev().filter(warns).take(recall.limit).map(|stored| stored.memory.id);
        let listed = [&vector, &text].into_iter().flatten().flat_map(|list| list.hits.iter().map(|(id, _)| *id));
        let found: BTreeSet<MemoryId> = listed.chain(warning).collect();
        let facts = found
            .into_iter()
            .filter_map(|id| Some((Facts::from(&self.memories.get(&id)?.memory), self.evidence(id))))
            .collect();
        let signature_frequency = recall.signature.as_ref().map(|error| {
            let readable = self.memories.values().map(|stored| &stored.memory);
            let readable =
                readable.filter(|memory| recall.statuses().contains(&memory.status) && recall.visible.contains(memory));
            readable.filter_map(|memory| memory.error_context.as_ref()).fold(
                SignatureFrequency::default(),
                |sum, own| {
                    sum.and(SignatureFrequency { warnings: 1, of_this: u64::from(error.matches(&own.signature())) })
                },
            )
        });
        Candidates { vector, text, facts, terms: terms.unwrap_or_default(), signature_frequency }
    }
}

/// Returns the `limit` best, best first. Equally good ones are in the order of their ids.
fn list(hits: impl Iterator<Item = (MemoryId, f64)>, limit: usize) -> RankedList {
    let mut hits: Vec<(MemoryId, f64)> = hits.collect();
    hits.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    let truncated = hits.len() > limit;
    hits.truncate(limit);
    RankedList { hits, truncated }
}

fn by_words(searched: &[&Stored], text: &str, limit: usize) -> (RankedList, MatchedTerms) {
    let mut index = OwnerIndex::new(0);
    for stored in searched {
        index.put(IndexedMemory::new(&stored.memory, 0));
        for terms in &stored.terms {
            // a test has not nearly as many passages as an owner index has room for
            let _ = index.add_passage(stored.memory.id, stored.memory.revision, terms, None);
        }
    }
    let query = TermQuery::new(&terms::query(text));
    let mut collection = Collection::default();
    index.count(&query, &mut collection);
    let found = index.by_words(&query, &collection, &Conditions::default(), limit);
    (found.list, MatchedTerms { matched: found.matched, ..collection.terms() })
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    if norms > 0.0 { dot(a, b) / norms } else { 0.0 }
}
