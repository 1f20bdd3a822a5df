//! Search by words: a small BM25, not that of the real store.

use std::collections::{BTreeSet, HashMap};

use reasoning_bank_domain::ids::MemoryId;

use super::Stored;

/// Lowercase words; snake_case and camelCase are taken apart.
pub(super) fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let mut term = String::new();
        let mut previous_is_lower = false;
        for c in word.chars() {
            if c.is_uppercase() && previous_is_lower {
                terms.push(std::mem::take(&mut term));
            }
            previous_is_lower = c.is_lowercase() || c.is_numeric();
            term.extend(c.to_lowercase());
        }
        terms.push(term);
    }
    terms.retain(|term| !term.is_empty());
    terms
}

/// Every searched passage is a document; a memory scores as its best passage.
pub(super) struct Bm25 {
    documents: Vec<Vec<Vec<String>>>,
    frequency: HashMap<String, u32>,
    count: u32,
    average_length: f64,
}

impl Bm25 {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;

    pub(super) fn new(searched: &[&Stored]) -> Self {
        let documents: Vec<Vec<Vec<String>>> = searched
            .iter()
            .map(|stored| stored.passages.iter().map(|passage| terms(&passage.text)).collect())
            .collect();
        let mut frequency = HashMap::new();
        let (mut count, mut length) = (0u32, 0usize);
        for document in documents.iter().flatten() {
            count += 1;
            length += document.len();
            for term in document.iter().collect::<BTreeSet<_>>() {
                *frequency.entry(term.clone()).or_default() += 1;
            }
        }
        Self { documents, frequency, count, average_length: length as f64 / f64::from(count.max(1)) }
    }

    pub(super) fn scores(&self, query: &[String], searched: &[&Stored]) -> Vec<(MemoryId, f64)> {
        let query: BTreeSet<&String> = query.iter().collect();
        let best = |passages: &[Vec<String>]| passages.iter().map(|p| self.score(&query, p)).fold(0.0, f64::max);
        let scored = searched.iter().zip(&self.documents).map(|(stored, passages)| (stored.memory.id, best(passages)));
        scored.filter(|(_, score)| *score > 0.0).collect()
    }

    fn score(&self, query: &BTreeSet<&String>, document: &[String]) -> f64 {
        let length = document.len() as f64 / self.average_length.max(1.0);
        let term_score = |term: &&String| {
            let count = document.iter().filter(|word| *word == *term).count() as f64;
            let containing = f64::from(self.frequency.get(*term).copied().unwrap_or_default());
            let rarity = (1.0 + (f64::from(self.count) - containing + 0.5) / (containing + 0.5)).ln();
            rarity * count * (Self::K1 + 1.0) / (count + Self::K1 * (1.0 - Self::B + Self::B * length))
        };
        query.iter().map(term_score).sum()
    }
}
