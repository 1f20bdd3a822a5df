//! The answer of `eval retrieval`, and the measures that other reports use too.

use reasoning_bank_domain::retrieval::measures::{mean, percentile};
use reasoning_bank_domain::retrieval::score::ProfileName;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RetrievalReport {
    pub(crate) corpus: CorpusCount,
    pub(crate) queries: QueryCount,
    /// `recall@k` for every k, `MRR@10` and `nDCG@10`. Each is the mean over the scored queries, and null where there
    /// are none.
    pub(crate) metrics: Map<String, Value>,
    /// The same measures of what either list alone would have answered.
    pub(crate) by_list: ByList<Map<String, Value>>,
    /// The times of all queries, which were asked one after another.
    pub(crate) latency_ms: QueryLatency,
    pub(crate) ingest: Ingest,
    pub(crate) profile: ProfileName,
    pub(crate) embedder: String,
    /// `debug` or `release`. The times of a debug build say little.
    pub(crate) build: &'static str,
}

/// A value of the keyword list, and one of the vector list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ByList<T> {
    pub(crate) keyword: T,
    pub(crate) vector: T,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct CorpusCount {
    pub(crate) lines: usize,
    pub(crate) workspaces: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct QueryCount {
    pub(crate) lines: usize,
    /// The queries that have gold.
    pub(crate) scored: usize,
    /// The queries that were searched by words alone, because there was no vector of them.
    pub(crate) by_words_alone: usize,
    /// The gold ids that no document has. They count as not found.
    pub(crate) gold_not_in_corpus: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct QueryLatency {
    pub(crate) with_embedding: LatencyPercentiles,
    pub(crate) without_embedding: LatencyPercentiles,
}

/// The percentiles of a list of times, in milliseconds. They are null where nothing was timed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct LatencyPercentiles {
    pub(crate) p50: Option<f64>,
    pub(crate) p95: Option<f64>,
    pub(crate) p99: Option<f64>,
}

impl LatencyPercentiles {
    pub(crate) fn of(values: &[f64]) -> Self {
        let at = |percent| percentile(values, percent);
        Self { p50: at(50.0), p95: at(95.0), p99: at(99.0) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ingest {
    /// The time from the first line until the last one is durable: it is read, embedded and stored.
    pub(crate) seconds: f64,
    pub(crate) per_second: f64,
    /// The time after that, until every index has every line.
    pub(crate) upkeep_seconds: f64,
}

pub(crate) const BUILD: &str = if cfg!(debug_assertions) { "debug" } else { "release" };

/// The measures of the queries so far: a list of values for each measure.
#[derive(Clone, Default)]
pub(crate) struct Measures {
    by_name: Vec<(String, Vec<f64>)>,
}

impl Measures {
    pub(crate) fn of(names: impl IntoIterator<Item = String>) -> Self {
        Self { by_name: names.into_iter().map(|name| (name, Vec::new())).collect() }
    }

    /// Adds one value for each name, in their order.
    pub(crate) fn add(&mut self, values: impl IntoIterator<Item = f64>) {
        for ((_, list), value) in self.by_name.iter_mut().zip(values) {
            list.push(value);
        }
    }

    pub(crate) fn means(self) -> Map<String, Value> {
        self.by_name.into_iter().map(|(name, values)| (name, json!(mean(&values)))).collect()
    }
}
