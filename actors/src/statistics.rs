//! What the system counts while it runs, and the statistics document that is made of it. Counts are of this process
//! and since the last reset; how much the bank holds is asked of the store.

mod embedder;
mod latency;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::system::statistics::{
    ActorStatistics, ActorStatus, EmbedderStatistics, Latencies, LlmCounts, LlmStatistics, MemoryStatistics,
    Statistics, StoreStatistics, TraceStatistics,
};

pub(crate) use embedder::MeteredEmbedder;

use crate::error::Error;
use crate::ports::{EmbedderState, Summary};
use crate::runtime::{ChildPhase, ChildStatus, Deadline};
use crate::system::SystemHandle;
use latency::Latency;

/// The counters; clones share them.
#[derive(Clone)]
pub(crate) struct Meters {
    counted: Arc<Mutex<Counted>>,
}

#[derive(Default)]
struct Counted {
    since: Timestamp,
    llm: BTreeMap<Purpose, LlmCounts>,
    latencies: [Latency; Timer::COUNT],
}

/// What is timed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Timer {
    Retrieval,
    Embedding,
    Solve,
    Llm,
}

impl Timer {
    const COUNT: usize = 4;
}

impl Meters {
    /// Counting from now.
    pub(crate) fn new() -> Self {
        let counted = Counted { since: Timestamp::now(), ..Counted::default() };
        Self { counted: Arc::new(Mutex::new(counted)) }
    }

    pub(crate) fn took(&self, what: Timer, duration: Duration) {
        self.counted().latencies[what as usize].record(duration);
    }

    /// Adds to what was spent on calls of this purpose.
    pub(crate) fn spent(&self, purpose: Purpose, counts: LlmCounts) {
        *self.counted().llm.entry(purpose).or_default() += counts;
    }

    fn since(&self) -> Timestamp {
        self.counted().since
    }

    pub(crate) fn llm(&self) -> LlmStatistics {
        LlmStatistics::of(self.counted().llm.clone())
    }

    pub(crate) fn latencies(&self) -> Latencies {
        let counted = self.counted();
        let of = |what: Timer| counted.latencies[what as usize].percentiles();
        Latencies {
            retrieval: of(Timer::Retrieval),
            embedding: of(Timer::Embedding),
            solve: of(Timer::Solve),
            llm: of(Timer::Llm),
        }
    }

    fn reset(&self) {
        *self.counted() = Counted { since: Timestamp::now(), ..Counted::default() };
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SystemHandle {
    /// The statistics document. Where the store does not answer, its error.
    pub async fn statistics(&self, deadline: Deadline) -> Result<Statistics, Error> {
        let summary = self.store.summary(deadline).await?;
        let actors = self.actors(deadline).await?;
        let fingerprint = self.embedder.fingerprint();
        let (cache_hits, cache_misses) = self.embeddings.hits_and_misses();
        Ok(Statistics {
            traces: traces(&summary),
            store: StoreStatistics {
                rows: summary.rows,
                fragments: summary.fragments,
                bytes: summary.bytes,
                index_lag_rows: summary.index_lag_rows,
            },
            resident: summary.resident,
            memories: MemoryStatistics {
                total: summary.memories_by_status.values().sum(),
                by_outcome: summary.memories_by_outcome,
                by_scope: summary.memories_by_scope,
                by_status: summary.memories_by_status,
            },
            cache: self.cache.statistics().await,
            llm: self.meters.llm(),
            latency_ms: self.meters.latencies(),
            actors: actors.into_iter().map(actor).collect(),
            embedder: EmbedderStatistics {
                name: fingerprint.name.clone(),
                dims: fingerprint.dims as u64,
                ready: self.embedder.state() == EmbedderState::Ready,
                cache_hits,
                cache_misses,
            },
            since: self.meters.since(),
            uptime_s: self.started.elapsed().as_secs(),
        })
    }

    /// Counters and latencies begin anew. What the bank holds and what the caches keep stay.
    pub fn reset_statistics(&self) {
        self.meters.reset();
        self.cache.reset_statistics();
        self.embeddings.reset_statistics();
    }
}

fn traces(summary: &Summary) -> TraceStatistics {
    let count = |outcome| summary.traces.get(&outcome).copied().unwrap_or_default();
    let (success, failure, partial) = (count(Outcome::Success), count(Outcome::Failure), count(Outcome::Partial));
    let total = success + failure + partial;
    let success_rate = if total == 0 { 0.0 } else { success as f64 / total as f64 };
    TraceStatistics { total, success, failure, partial, success_rate }
}

fn actor(child: ChildStatus) -> ActorStatistics {
    ActorStatistics {
        name: child.name.to_owned(),
        status: match child.phase {
            ChildPhase::Running => ActorStatus::Running,
            ChildPhase::Restarting => ActorStatus::Restarting,
            ChildPhase::Ended => ActorStatus::Ended,
        },
        restarts: child.restarts,
        queue: child.inside as u64,
    }
}
