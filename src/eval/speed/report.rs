//! The answer of `eval speed`, and the ratios that its numbers are read for.

use serde::{Deserialize, Serialize};

use crate::eval::report::{Ingest, LatencyPercentiles};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct SpeedReport {
    pub(crate) seed: u64,
    pub(crate) dims: usize,
    pub(crate) cores: usize,
    /// `debug` or `release`. The times of a debug build say little.
    pub(crate) build: &'static str,
    pub(crate) texts: Texts,
    pub(crate) banks: Vec<BankSpeed>,
    /// The growth from each bank to the next larger one.
    pub(crate) growth: Vec<Growth>,
}

/// The rates of storing memories that are yet to be embedded. Their texts of 35 to 75 words are made up and have many
/// tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Texts {
    pub(crate) texts: u32,
    /// The rate of the embedding model alone, on all threads.
    pub(crate) embedded_per_second: f64,
    pub(crate) stored_per_second: f64,
    pub(crate) stored_to_embedded: f64,
}

/// The factor by which a query takes longer in the larger bank.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Growth {
    pub(crate) from_rows: u32,
    pub(crate) to_rows: u32,
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct BankSpeed {
    /// The number of memories, of which nine of ten are in the workspace that is asked.
    pub(crate) rows: u32,
    pub(crate) filled: Filled,
    pub(crate) disk_bytes: u64,
    pub(crate) served: Served,
    /// The first of the same queries, asked with nothing kept in memory, so that the tables are searched.
    pub(crate) from_tables: FromTables,
    /// The share of the ten nearest by exact search that the vector list of a query has.
    pub(crate) recall_at_10: Option<f64>,
    pub(crate) recall_at_10_from_tables: Option<f64>,
    /// The time to compare every vector of the workspace with the query, in memory, on one thread.
    pub(crate) exact_scan_ms: f64,
    pub(crate) ratios: Ratios,
}

/// The measures of storing all memories.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Filled {
    #[serde(flatten)]
    pub(crate) ingest: Ingest,
    /// The peak memory of the process while it stored and while it did upkeep, or none where the system does not say.
    pub(crate) rss_peak_bytes: Option<u64>,
    pub(crate) fragments: u64,
    pub(crate) index_lag_rows: u64,
}

/// The measures of a process that opens the bank and is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Served {
    /// The time from the start of the system to the first answer of the store.
    pub(crate) open_ms: f64,
    /// The time from the start of the process to the answer to the first query, which does not wait for the embedding
    /// model.
    pub(crate) first_answer_ms: f64,
    /// The time from then on until queries are answered from memory, or none where they are not.
    pub(crate) resident_after_ms: Option<f64>,
    pub(crate) resident_bytes: u64,
    /// The memory of the process after all queries, the embedding model included.
    pub(crate) rss_bytes: Option<u64>,
    pub(crate) rss_peak_bytes: Option<u64>,
    pub(crate) query_ms: QueryTimes,
    pub(crate) parts_ms: QueryParts,
    pub(crate) upkeep: DuringUpkeep,
    /// The numbers of the nearest memories that were found for the first queries.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) nearest: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueryTimes {
    pub(crate) without_embedding: LatencyPercentiles,
    /// The times of other queries, of 16 tokens each.
    pub(crate) with_embedding: LatencyPercentiles,
    /// The part of these times that embedding took.
    pub(crate) embedding: LatencyPercentiles,
}

/// The parts of a query without embedding. Both lists are looked for side by side; each was measured alone as well.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct QueryParts {
    pub(crate) candidates: LatencyPercentiles,
    pub(crate) vector_list: LatencyPercentiles,
    pub(crate) text_list: LatencyPercentiles,
    pub(crate) bodies: LatencyPercentiles,
    /// The rest of the whole: fusion, scores, and messages between actors.
    pub(crate) fusion_and_scores: LatencyPercentiles,
}

/// The measures of queries that were asked while upkeep ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct DuringUpkeep {
    /// The number of memories that were stored before it, in commits of a few.
    pub(crate) fresh_rows: u32,
    pub(crate) commit_ms: LatencyPercentiles,
    pub(crate) upkeep_ms: f64,
    pub(crate) queries: usize,
    pub(crate) query_ms: LatencyPercentiles,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FromTables {
    pub(crate) query_ms: LatencyPercentiles,
    pub(crate) parts_ms: QueryParts,
    pub(crate) rss_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) nearest: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Ratios {
    pub(crate) p99_to_p50: Option<f64>,
    pub(crate) p99_during_upkeep_to_at_rest: Option<f64>,
    /// The factor, of medians, by which a query of the tables takes longer.
    pub(crate) from_tables_to_resident: Option<f64>,
    pub(crate) exact_scan_to_query: Option<f64>,
    /// The share of embedding in a query with embedding, of medians.
    pub(crate) embedding_share: Option<f64>,
}

impl Ratios {
    pub(crate) fn of(served: &Served, from_tables: &FromTables, exact_scan_ms: f64) -> Self {
        let QueryTimes { without_embedding: rest, with_embedding, embedding } = served.query_ms;
        Self {
            p99_to_p50: ratio(rest.p99, rest.p50),
            p99_during_upkeep_to_at_rest: ratio(served.upkeep.query_ms.p99, rest.p99),
            from_tables_to_resident: ratio(from_tables.query_ms.p50, rest.p50),
            exact_scan_to_query: ratio(Some(exact_scan_ms), rest.p50),
            embedding_share: ratio(embedding.p50, with_embedding.p50),
        }
    }
}

impl SpeedReport {
    pub(crate) fn new(seed: u64, texts: Texts, banks: Vec<BankSpeed>) -> Self {
        let times = |bank: &BankSpeed| bank.served.query_ms.without_embedding;
        let growth = banks.windows(2).map(|two| Growth {
            from_rows: two[0].rows,
            to_rows: two[1].rows,
            p50: ratio(times(&two[1]).p50, times(&two[0]).p50),
            p99: ratio(times(&two[1]).p99, times(&two[0]).p99),
        });
        Self {
            seed,
            dims: super::synthetic::DIMS,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            build: crate::eval::report::BUILD,
            texts,
            growth: growth.collect(),
            banks,
        }
    }
}

fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    let (a, b) = (a?, b?);
    (b > 0.0).then(|| a / b)
}
