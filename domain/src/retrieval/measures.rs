//! The measures of information retrieval that say how good a ranking is: recall, reciprocal rank, discounted gain. A
//! ranking is a list of distinct ids, best first. Queries are not run here.

use std::collections::HashMap;

/// The ids that a query should find, and how relevant each is, above 0. It is empty where nobody has judged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gold(HashMap<String, f64>);

impl Gold {
    /// Takes judgements. Ids that are judged irrelevant (0) are left out. Where one id has several judgements, the last
    /// counts.
    pub fn new(judged: impl IntoIterator<Item = (String, f64)>) -> Self {
        let mut relevant: HashMap<String, f64> = judged.into_iter().collect();
        relevant.retain(|_, relevance| *relevance > 0.0);
        Self(relevant)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    fn relevance(&self, id: &str) -> f64 {
        self.0.get(id).copied().unwrap_or(0.0)
    }

    /// Returns the share of the relevant ids that is among the first `k`, in 0..=1 (Manning, Raghavan, Schütze:
    /// Introduction to Information Retrieval, 2008, 8.4). It is 0 where nothing is relevant.
    pub fn recall_at(&self, k: usize, ranking: &[&str]) -> f64 {
        let found = ranking.iter().take(k).filter(|id| self.relevance(id) > 0.0).count();
        if self.is_empty() { 0.0 } else { found as f64 / self.0.len() as f64 }
    }

    /// Returns one over the rank of the first relevant id, or 0 where none of the first `k` is relevant (Voorhees: The
    /// TREC-8 Question Answering Track Report, 1999). Its mean over queries is MRR@k.
    pub fn reciprocal_rank_at(&self, k: usize, ranking: &[&str]) -> f64 {
        let first = ranking.iter().take(k).position(|id| self.relevance(id) > 0.0);
        first.map_or(0.0, |index| 1.0 / (index + 1) as f64)
    }

    /// Returns the sum over the first `k` of relevance over the binary logarithm of rank + 1, as a share of the best
    /// possible sum, in 0..=1 (Järvelin, Kekäläinen: Cumulated gain-based evaluation of IR techniques, 2002; gains are
    /// linear, as in trec_eval's ndcg_cut). It is 0 where nothing is relevant.
    pub fn ndcg_at(&self, k: usize, ranking: &[&str]) -> f64 {
        let mut ideal: Vec<f64> = self.0.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let best = discounted(ideal.into_iter().take(k));
        let gained = discounted(ranking.iter().take(k).map(|id| self.relevance(id)));
        if best > 0.0 { gained / best } else { 0.0 }
    }
}

fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    gains.enumerate().map(|(index, gain)| gain / ((index + 2) as f64).log2()).sum()
}

/// Returns the mean of the values. None where there are none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the smallest value that at least `percent` (in 0..=100) of the values do not exceed (nearest rank). None
/// where there are none.
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests;
