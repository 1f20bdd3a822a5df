//! The answer of `eval speed --episodes`, and the bars that its numbers are held against.

use serde::{Deserialize, Serialize};

use crate::eval::report::LatencyPercentiles;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct EpisodeSpeedReport {
    pub(crate) seed: u64,
    pub(crate) cores: usize,
    /// `debug` or `release`. The times of a debug build say little.
    pub(crate) build: &'static str,
    /// The value of `retrieval.resident_mb`.
    pub(crate) resident_mb: usize,
    pub(crate) working: WorkingSpeed,
    pub(crate) banks: Vec<EpisodeBankSpeed>,
}

/// The measures of working memory: tasks that are open at once, and operations that go round them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorkingSpeed {
    pub(crate) tasks: u32,
    /// A value is set, and a result of 2 KiB added. Both are in the log before they are answered.
    pub(crate) operation_ms: LatencyPercentiles,
    /// A state is pushed, which is on the disk before it is answered.
    pub(crate) synced_ms: LatencyPercentiles,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct EpisodeBankSpeed {
    pub(crate) episodes: u32,
    pub(crate) memories: u32,
    pub(crate) patterns: u32,
    pub(crate) without: WithoutEpisodes,
    pub(crate) filled: FilledEpisodes,
    pub(crate) served: ServedEpisodes,
    /// The same with nothing kept in memory, so that the tables are read.
    pub(crate) from_tables: EpisodesFromTables,
    pub(crate) consolidated: ConsolidationSpeed,
}

/// The measures of the bank before it has episodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct WithoutEpisodes {
    pub(crate) memory_query_ms: LatencyPercentiles,
}

/// The measures of storing all episodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct FilledEpisodes {
    pub(crate) per_second: f64,
    pub(crate) upkeep_seconds: f64,
    pub(crate) rss_peak_bytes: Option<u64>,
    /// The bytes of a body as JSON, on average.
    pub(crate) body_bytes: f64,
    /// The bytes of an episode on disk, without its vectors, on average.
    pub(crate) disk_bytes: f64,
    pub(crate) vector_disk_bytes: f64,
}

/// The measures of a process that opens the bank and is asked for episodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServedEpisodes {
    /// The time of the first search by meaning, which reads what it needs into memory.
    pub(crate) first_search_ms: f64,
    pub(crate) by_id_ms: LatencyPercentiles,
    /// The newest ten of a domain, a type, an outcome and a tool.
    pub(crate) by_attributes_ms: LatencyPercentiles,
    /// The ten that are most like a text, without its embedding.
    pub(crate) semantic_ms: LatencyPercentiles,
    pub(crate) patterns_ms: LatencyPercentiles,
    /// `get_context_for_task`, the embedding included.
    pub(crate) context_ms: LatencyPercentiles,
    /// The embedding of such a task alone.
    pub(crate) embedding_ms: LatencyPercentiles,
    /// A query of the memories, as it was asked without episodes.
    pub(crate) memory_query_ms: LatencyPercentiles,
    /// An episode is recorded. Its vectors are made later, as the texts are made up.
    pub(crate) record_ms: LatencyPercentiles,
    /// A search by meaning, each after an episode was recorded.
    pub(crate) semantic_after_record_ms: LatencyPercentiles,
    /// The bytes that are kept in memory to be searched, memories included.
    pub(crate) resident_bytes: u64,
    pub(crate) rss_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct EpisodesFromTables {
    pub(crate) by_attributes_ms: LatencyPercentiles,
    pub(crate) semantic_ms: LatencyPercentiles,
    pub(crate) rss_bytes: Option<u64>,
}

/// The measures of one run of consolidation, and of searches beside it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct ConsolidationSpeed {
    /// The episodes that the run looked at.
    pub(crate) looked_at: u64,
    pub(crate) changes: usize,
    pub(crate) seconds: f64,
    pub(crate) rss_peak_bytes: Option<u64>,
    pub(crate) at_rest: SearchTimes,
    pub(crate) beside: SearchTimes,
    /// The number of searches beside the run, of each kind.
    pub(crate) searches: usize,
}

/// Searches that are asked in turn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchTimes {
    pub(crate) memory_query_ms: LatencyPercentiles,
    pub(crate) semantic_ms: LatencyPercentiles,
}
