//! Reads every metric from where it is kept, within a deadline.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::backups::BackupsHandle;
use reasoning_bank_actors::runtime::{ChildPhase, ChildStatus, Deadline};
use reasoning_bank_actors::system::{BankCounts, ProcessStatistics, SystemHandle, WorkTimes};
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::system::statistics::{LlmCounts, ResidentStatistics};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::exposition::{Exposition, HistogramNumbers, MEDIA_TYPE};
use super::histogram::{BOUNDS, Histogram};
use super::{ServerMetrics, locked, names};
use crate::process_memory;

/// Whoever scrapes waits at most this long for the store and for the actors.
const SCRAPE_LIMIT: Duration = Duration::from_secs(2);

/// Reads the metrics of a server.
#[derive(Clone)]
pub(crate) struct Scraper {
    system: SystemHandle,
    metrics: Arc<ServerMetrics>,
    /// All who ask meanwhile share one answer.
    held: Arc<Mutex<Option<ReadCounts>>>,
}

/// The counts of the bank when it was last asked.
struct ReadCounts {
    asked: Instant,
    held: Arc<BankCounts>,
}

impl Scraper {
    pub(crate) const MEDIA_TYPE: &str = MEDIA_TYPE;

    pub(crate) fn new(system: SystemHandle, metrics: Arc<ServerMetrics>) -> Self {
        Self { system, metrics, held: Arc::default() }
    }

    /// Returns the text of all metrics. Where the store or the actors do not answer in time it has none of theirs, and
    /// says so.
    pub(crate) async fn text(&self, sessions: usize) -> String {
        let deadline = Deadline::after(SCRAPE_LIMIT);
        let actors = timeout_at(deadline.instant(), self.system.actors(deadline));
        let (held, actors) = tokio::join!(self.held(deadline), actors);
        let actors = actors.ok().and_then(Result::ok);
        let mut out = Exposition::default();
        out.values(&names::BUILD_INFO, [([env!("CARGO_PKG_VERSION")], 1_u64)]);
        out.value(&names::SCRAPE_COMPLETE, held.is_some() && actors.is_some());
        let process = self.system.process_statistics(&BOUNDS).await;
        write_process(&mut out, self.metrics.since, process.since);
        let backup = self.system.backups.as_ref().and_then(BackupsHandle::newest);
        out.values(&names::BACKUP_NEWEST, backup.map(|at| ([], seconds(at))));
        if let Some(held) = held {
            write_bank(&mut out, &held);
        }
        if let Some(actors) = actors {
            write_actors(&mut out, &actors);
        }
        write_work(&mut out, process);
        self.write_server(&mut out, sessions);
        out.into_text()
    }

    /// Asks what the bank holds. An answer that was asked for after this call began is fresh enough for it.
    async fn held(&self, deadline: Deadline) -> Option<Arc<BankCounts>> {
        let began = Instant::now();
        let mut known = timeout_at(deadline.instant(), self.held.lock()).await.ok()?;
        if let Some(known) = &*known
            && known.asked >= began
        {
            return Some(Arc::clone(&known.held));
        }
        let asked = Instant::now();
        let held = timeout_at(deadline.instant(), self.system.bank_counts(deadline)).await.ok()?.ok()?;
        let held = Arc::new(held);
        *known = Some(ReadCounts { asked, held: Arc::clone(&held) });
        Some(held)
    }

    fn write_server(&self, out: &mut Exposition, sessions: usize) {
        let requests = locked(&self.metrics.requests).clone();
        let requests = requests.iter().map(|(labels, times)| ([&*labels.route, labels.method, labels.status], times));
        out.histograms(&names::HTTP_DURATION, requests.map(|(labels, times)| (labels, times.into())));
        let calls = locked(&self.metrics.calls).clone();
        let calls = calls.iter().map(|(labels, times)| ([labels.tool, labels.outcome], times.into()));
        out.histograms(&names::TOOL_DURATION, calls);
        out.values(&names::ADMISSION_REFUSED, self.metrics.refusals().map(|(reason, count)| ([reason], count)));
        out.value(&names::HTTP_SESSIONS, sessions);
    }
}

fn write_process(out: &mut Exposition, started: Timestamp, since: Timestamp) {
    out.value(&names::START_TIME, seconds(started));
    if let Some(bytes) = process_memory::read().now {
        out.value(&names::RESIDENT_MEMORY, bytes);
    }
    out.value(&names::STATISTICS_SINCE, seconds(since));
}

fn seconds(at: Timestamp) -> f64 {
    at.as_millisecond() as f64 / 1000.0
}

fn write_bank(out: &mut Exposition, held: &BankCounts) {
    let summary = &held.summary;
    /// Gives each count the word of its key as its label.
    fn by<K: Copy>(counts: &BTreeMap<K, u64>, word: fn(K) -> &'static str) -> Vec<([&'static str; 1], u64)> {
        counts.iter().map(|(key, count)| ([word(*key)], *count)).collect()
    }
    out.values(&names::TRACES, by(&summary.traces, |outcome| outcome.as_str()));
    out.values(&names::MEMORIES, by(&summary.memories_by_status, |status| status.as_str()));
    out.values(&names::MEMORIES_BY_OUTCOME, by(&summary.memories_by_outcome, |outcome| outcome.as_str()));
    out.values(&names::MEMORIES_BY_SCOPE, by(&summary.memories_by_scope, |scope| scope.as_str()));
    out.values(&names::EPISODES, by(&held.episodes, |visibility| visibility.as_str()));
    out.value(&names::EPISODES_WITH_VECTORS, summary.episodes_with_vectors);
    out.values(&names::PATTERNS, by(&summary.patterns, |stage| stage.as_str()));
    out.value(&names::PATTERN_APPLICATIONS, summary.applications);
    out.value(&names::CONSOLIDATION_RUNS, summary.consolidation_runs);
    out.values(&names::CONSOLIDATION_LAST, summary.last_consolidation.map(|at| ([], seconds(at))));
    out.value(&names::WORKING_MEMORIES, held.working_memories);
    out.values(&names::JOBS, by(&summary.jobs, |state| state.as_str()));
    out.value(&names::STORE_ROWS, summary.rows);
    out.value(&names::STORE_FRAGMENTS, summary.fragments);
    out.value(&names::STORE_BYTES, summary.bytes);
    out.value(&names::STORE_INDEX_LAG, summary.index_lag_rows);
    let ResidentStatistics { shelves, bytes, searches } = summary.resident;
    out.value(&names::RESIDENT_INDEXES, shelves);
    out.value(&names::RESIDENT_BYTES, bytes);
    out.value(&names::RESIDENT_SEARCHES, searches);
}

fn write_actors(out: &mut Exposition, actors: &[ChildStatus]) {
    let up = |actor: &ChildStatus| actor.phase == ChildPhase::Running;
    out.values(&names::ACTOR_UP, actors.iter().map(|actor| ([actor.name], up(actor))));
    out.values(&names::ACTOR_RESTARTS, actors.iter().map(|actor| ([actor.name], actor.restarts)));
    out.values(&names::ACTOR_QUEUE, actors.iter().map(|actor| ([actor.name], actor.inside)));
    out.values(&names::ACTOR_REFUSED, actors.iter().map(|actor| ([actor.name], actor.refused)));
}

fn write_work(out: &mut Exposition, process: ProcessStatistics) {
    let ProcessStatistics { cache, llm, embedder, queue, times, .. } = process;
    out.histograms(&names::WORK_DURATION, times.into_iter().map(|(work, times)| ([work], times.into())));
    let spent = |count: fn(&LlmCounts) -> u64| {
        let of = |(purpose, counts): (&Purpose, &LlmCounts)| ([purpose.as_str()], count(counts));
        llm.by_purpose.iter().map(of).collect::<Vec<_>>()
    };
    out.values(&names::LLM_CALLS, spent(|counts| counts.calls));
    out.values(&names::LLM_RETRIES, spent(|counts| counts.retries));
    out.values(&names::LLM_FAILURES, spent(|counts| counts.failures));
    out.values(&names::LLM_INPUT_TOKENS, spent(|counts| counts.input_tokens));
    out.values(&names::LLM_OUTPUT_TOKENS, spent(|counts| counts.output_tokens));
    out.values(&names::LLM_REASONING_TOKENS, spent(|counts| counts.reasoning_tokens));
    let costs = llm.by_purpose.iter().filter_map(|(purpose, counts)| Some(([purpose.as_str()], counts.cost_usd?)));
    out.values(&names::LLM_COST, costs);
    let asked = [(["hit"], cache.hits), (["miss"], cache.misses), (["bypassed"], cache.bypassed)];
    out.values(&names::LLM_CACHE, asked);
    out.value(&names::LLM_CACHE_ENTRIES, cache.entries);
    out.value(&names::LLM_CACHE_SAVED_TOKENS, cache.saved_tokens);
    out.values(&names::LLM_CACHE_SAVED_COST, cache.saved_cost_usd.map(|cost| ([], cost)));
    out.value(&names::EMBEDDER_READY, embedder.ready);
    out.value(&names::EMBEDDER_DIMENSIONS, embedder.dims);
    out.values(&names::EMBEDDER_QUEUE, [(["queries"], queue.queries), (["documents"], queue.documents)]);
    out.values(&names::EMBEDDER_CACHE, [(["hit"], embedder.cache_hits), (["miss"], embedder.cache_misses)]);
}

impl From<&Histogram> for HistogramNumbers {
    fn from(times: &Histogram) -> Self {
        Self { within: times.within(), count: times.count(), seconds: times.seconds() }
    }
}

impl From<WorkTimes> for HistogramNumbers {
    fn from(WorkTimes { within, count, seconds }: WorkTimes) -> Self {
        Self { within, count, seconds }
    }
}
