//! The worth of the terms of a query where the tables are searched. The text index keeps to itself how many passages
//! have a term, so the rarity of each term is bounded from above by what the search brought: the passages that have it
//! are at least those that were found, and no passage that has it scores less than the term alone adds.

use std::collections::{BTreeMap, HashMap};

use arrow_array::RecordBatch;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::retrieval::candidates::{MatchedTerms, TermSet};

use crate::lance::errors::failed;
use crate::lance::tables::rows;

/// The parameters of BM25 in the text index of the tables, which LanceDB fixes. The index in memory has others
/// (docs/RETRIEVAL.md says why).
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A passage that was found: how often it has each term of the query, and how long it is.
struct FoundPassage {
    id: MemoryId,
    score: f64,
    frequencies: Vec<u32>,
    length: f64,
}

/// Computes what the terms are worth by the passages that a text search found, which have the columns `memory_id`,
/// `terms` and `_score`. `all` is the number of passages that were searched.
pub(in crate::lance) fn of(batches: &[RecordBatch], query: &[String], all: usize) -> Result<MatchedTerms, StoreError> {
    let places: HashMap<&str, usize> = query.iter().enumerate().map(|(place, term)| (term.as_str(), place)).collect();
    let columns = rows::text_column(batches, "memory_id").zip(rows::text_column(batches, "terms"));
    let mut passages = Vec::new();
    for ((id, terms), score) in columns.zip(rows::float_column(batches, "_score")) {
        let mut passage =
            FoundPassage { id: id.parse().map_err(failed)?, score, frequencies: vec![0; query.len()], length: 0.0 };
        for term in terms.split_ascii_whitespace() {
            passage.length += 1.0;
            if let Some(place) = places.get(term) {
                passage.frequencies[*place] += 1;
            }
        }
        passages.push(passage);
    }
    let average = passages.iter().map(|passage| passage.length).sum::<f64>() / (passages.len().max(1) as f64);
    let rarities: Vec<f64> = (0..query.len()).map(|place| rarity(&passages, place, average.max(1.0), all)).collect();
    let mut best: BTreeMap<MemoryId, (f64, TermSet)> = BTreeMap::new();
    for FoundPassage { id, score, frequencies, .. } in &passages {
        let set = TermSet::of(frequencies.iter().map(|frequency| *frequency > 0));
        let entry = best.entry(*id).or_insert((*score, set));
        if *score > entry.0 {
            *entry = (*score, set);
        }
    }
    let saturation = rarities.iter().sum::<f64>() * (K1 + 1.0);
    Ok(MatchedTerms { rarities, saturation, matched: best.into_iter().map(|(id, (_, set))| (id, set)).collect() })
}

fn rarity(passages: &[FoundPassage], place: usize, average: f64, all: usize) -> f64 {
    let having = || passages.iter().filter(|passage| passage.frequencies[place] > 0);
    let (all, found) = (all.max(passages.len()) as f64, having().count() as f64);
    let most = having().map(|passage| {
        let frequency = f64::from(passage.frequencies[place]);
        let length = 1.0 - B + B * passage.length / average;
        passage.score * (frequency + K1 * length) / (frequency * (K1 + 1.0))
    });
    most.fold((1.0 + (all - found + 0.5) / (found + 0.5)).ln(), f64::min)
}
