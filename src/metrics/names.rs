//! Every metric: its name, its kind, its labels and what it means. `docs/DAEMON.md` has the same list, which a test
//! compares.

use MetricKind::{Counter, Gauge, Histogram};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricKind {
    /// A number that only grows, until the process or the statistics begin anew.
    Counter,
    Gauge,
    Histogram,
}

impl MetricKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A metric with `N` labels.
#[derive(Debug)]
pub(super) struct Metric<const N: usize> {
    pub(super) name: &'static str,
    pub(super) kind: MetricKind,
    pub(super) labels: [&'static str; N],
    /// The meaning of the metric, in one line.
    pub(super) help: &'static str,
}

/// A metric as the list of all has it.
#[cfg(test)]
pub(super) struct ListedMetric {
    pub(super) name: &'static str,
    pub(super) kind: MetricKind,
    pub(super) labels: &'static [&'static str],
    pub(super) help: &'static str,
}

macro_rules! metrics {
    ($($constant:ident = $kind:ident $name:literal [$($label:literal),*] $help:literal;)+) => {
        $(pub(super) const $constant: Metric<{ <[&str]>::len(&[$($label),*]) }> =
            Metric { name: $name, kind: $kind, labels: [$($label),*], help: $help };)+

        /// Every metric, in the order in which they are written.
        #[cfg(test)]
        pub(super) const ALL: &[ListedMetric] =
            &[$(ListedMetric { name: $name, kind: $kind, labels: &[$($label),*], help: $help }),+];
    };
}

metrics! {
    BUILD_INFO = Gauge "reasoning_bank_build_info" ["version"] "The version that runs; the value is always 1.";
    SCRAPE_COMPLETE = Gauge "reasoning_bank_scrape_complete" []
        "1 where everything was read; 0 where the store or the actors did not answer in time, and their metrics are missing.";
    START_TIME = Gauge "process_start_time_seconds" [] "The time at which the server started, in Unix seconds.";
    RESIDENT_MEMORY = Gauge "process_resident_memory_bytes" [] "The resident memory of the process.";
    STATISTICS_SINCE = Gauge "reasoning_bank_statistics_start_time_seconds" []
        "The time from which on the statistics count, in Unix seconds: the start, or their last reset.";
    BACKUP_NEWEST = Gauge "reasoning_bank_backup_newest_time_seconds" []
        "The time of the newest backup that the schedule made, in Unix seconds; those made by hand do not count. \
         Missing where there is none, or no schedule.";

    TRACES = Gauge "reasoning_bank_traces" ["outcome"] "The traces of solves in the bank.";
    MEMORIES = Gauge "reasoning_bank_memories" ["status"] "The memories in the bank, by status.";
    MEMORIES_BY_OUTCOME = Gauge "reasoning_bank_memories_by_outcome" ["outcome"]
        "The memories in the bank, by the outcome that they were learned from.";
    MEMORIES_BY_SCOPE = Gauge "reasoning_bank_memories_by_scope" ["scope"] "The memories in the bank, by who reads them.";
    EPISODES = Gauge "reasoning_bank_episodes" ["visibility"]
        "The episodes in the bank: active ones are found, archived ones on demand, and deleted ones can be restored.";
    EPISODES_WITH_VECTORS = Gauge "reasoning_bank_episodes_with_vectors" []
        "The episodes with vectors of the embedding model in use; the others are found by words and labels.";
    PATTERNS = Gauge "reasoning_bank_patterns" ["stage"] "The memories that are patterns, by their stage.";
    PATTERN_APPLICATIONS = Gauge "reasoning_bank_pattern_applications" [] "The applications of patterns in the bank.";
    CONSOLIDATION_RUNS = Gauge "reasoning_bank_consolidation_runs" []
        "The runs of consolidation that are recorded, which each is for 30 days.";
    CONSOLIDATION_LAST = Gauge "reasoning_bank_consolidation_last_run_time_seconds" []
        "The start of the last run of consolidation, in Unix seconds; missing where none is recorded.";
    WORKING_MEMORIES = Gauge "reasoning_bank_working_memories" []
        "The tasks that have a working memory, because nobody has closed them.";
    JOBS = Gauge "reasoning_bank_jobs" ["state"] "The background jobs in the bank.";
    STORE_ROWS = Gauge "reasoning_bank_store_rows" [] "The rows of all tables.";
    STORE_FRAGMENTS = Gauge "reasoning_bank_store_fragments" [] "The fragments of all tables; upkeep compacts them.";
    STORE_BYTES = Gauge "reasoning_bank_store_bytes" [] "The size of the tables on the disk.";
    STORE_INDEX_LAG = Gauge "reasoning_bank_store_index_lag_rows" []
        "The rows that are searched one by one because no index has them yet.";
    RESIDENT_INDEXES = Gauge "reasoning_bank_resident_indexes" []
        "The workspaces, teams and organisations whose memories are searched in memory.";
    RESIDENT_BYTES = Gauge "reasoning_bank_resident_bytes" [] "The size of the indexes in memory.";
    RESIDENT_SEARCHES = Counter "reasoning_bank_resident_searches_total" []
        "The searches that were answered from memory alone.";

    ACTOR_UP = Gauge "reasoning_bank_actor_up" ["actor"] "1 while the actor runs, 0 while it is restarted or has ended.";
    ACTOR_RESTARTS = Counter "reasoning_bank_actor_restarts_total" ["actor"] "The restarts of the actor.";
    ACTOR_QUEUE = Gauge "reasoning_bank_actor_queue" ["actor"] "The callers that the actor serves or that wait for it.";
    ACTOR_REFUSED = Counter "reasoning_bank_actor_refused_total" ["actor"]
        "The callers that were told to come back because the queue of the actor was full.";

    WORK_DURATION = Histogram "reasoning_bank_work_duration_seconds" ["work"]
        "The time of retrievals, embeddings, solves that ended without an error, and requests to the model (llm).";
    LLM_CALLS = Counter "reasoning_bank_llm_calls_total" ["purpose"] "The calls to the model, retries included.";
    LLM_RETRIES = Counter "reasoning_bank_llm_retries_total" ["purpose"] "The retries of calls to the model.";
    LLM_FAILURES = Counter "reasoning_bank_llm_failures_total" ["purpose"]
        "The calls to the model that ended with an error or without an answer.";
    LLM_INPUT_TOKENS = Counter "reasoning_bank_llm_input_tokens_total" ["purpose"] "The tokens that the model read.";
    LLM_OUTPUT_TOKENS = Counter "reasoning_bank_llm_output_tokens_total" ["purpose"]
        "The tokens that the model wrote, those of reasoning included.";
    LLM_REASONING_TOKENS = Counter "reasoning_bank_llm_reasoning_tokens_total" ["purpose"]
        "The tokens that the model wrote while it reasoned.";
    LLM_COST = Counter "reasoning_bank_llm_cost_usd_total" ["purpose"]
        "What the calls to the model cost, in US dollars; missing while the provider names no cost.";
    LLM_CACHE = Counter "reasoning_bank_llm_cache_requests_total" ["result"]
        "The calls that the cache of answers was asked for (hit, miss), and those that are never cached (bypassed).";
    LLM_CACHE_ENTRIES = Gauge "reasoning_bank_llm_cache_entries" [] "The answers of the model in the cache.";
    LLM_CACHE_SAVED_TOKENS = Counter "reasoning_bank_llm_cache_saved_tokens_total" []
        "The tokens that answers from the cache did not spend again.";
    LLM_CACHE_SAVED_COST = Counter "reasoning_bank_llm_cache_saved_cost_usd_total" []
        "What answers from the cache did not cost again, in US dollars; missing while the provider names no cost.";
    EMBEDDER_READY = Gauge "reasoning_bank_embedder_ready" []
        "1 where the embedding model is loaded; before, search is by words.";
    EMBEDDER_DIMENSIONS = Gauge "reasoning_bank_embedder_dimensions" [] "The numbers of a vector.";
    EMBEDDER_QUEUE = Gauge "reasoning_bank_embedder_queue" ["lane"] "The work that waits for the embedding model.";
    EMBEDDER_CACHE = Counter "reasoning_bank_embedder_cache_requests_total" ["result"]
        "The texts whose embedding was cached (hit), and those that were embedded (miss).";

    HTTP_DURATION = Histogram "reasoning_bank_http_request_duration_seconds" ["route", "method", "status"]
        "The time until the head of an answer, by the template of the route (none where there is no such path) and the \
         class of the status.";
    TOOL_DURATION = Histogram "reasoning_bank_tool_call_duration_seconds" ["tool", "outcome"]
        "The time of calls of tools, by their outcome: ok, or the code of the failure.";
    ADMISSION_REFUSED = Counter "reasoning_bank_admission_refused_total" ["reason"]
        "The calls and requests that were not begun: too much was in work (busy), the token asked too often (rate), it had as many solves in work as it may have (solves), or its solves had used its model tokens of the day (model_tokens).";
    HTTP_SESSIONS = Gauge "reasoning_bank_http_sessions" [] "The sessions of MCP clients that are open.";
}
