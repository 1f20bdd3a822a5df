//! The statistics document: what was counted while the system runs, what the store says of the bank, and how the actors
//! are.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::episode::Visibility;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::system::statistics::{
    ActorStatistics, ActorStatus, CacheStatistics, EmbedderStatistics, EpisodeStatistics, LlmStatistics,
    MemoryStatistics, Statistics, StoreStatistics, TraceStatistics,
};

use super::SystemHandle;
use crate::error::Error;
use crate::ports::{EmbedderState, EmbeddingQueue, Summary};
use crate::runtime::{ChildPhase, ChildStatus, Deadline};
use crate::statistics::WorkTimes;

/// The part of the statistics that this process has counted itself.
#[derive(Debug, Clone)]
pub struct ProcessStatistics {
    pub cache: CacheStatistics,
    pub llm: LlmStatistics,
    pub embedder: EmbedderStatistics,
    pub queue: EmbeddingQueue,
    /// The start of the process, or the last reset.
    pub since: Timestamp,
    /// The times of each kind of work, counted up to the bounds that were asked for.
    pub times: Vec<(&'static str, WorkTimes)>,
}

/// The counts of what the bank holds, of all workspaces.
#[derive(Debug, Clone, PartialEq)]
pub struct BankCounts {
    pub summary: Summary,
    pub episodes: BTreeMap<Visibility, u64>,
    /// The tasks that have a working memory.
    pub working_memories: u64,
}

impl SystemHandle {
    /// Counts what the bank holds.
    pub async fn bank_counts(&self, deadline: Deadline) -> Result<BankCounts, Error> {
        let (summary, episodes) = (self.store.summary(deadline), self.episodes.counts(deadline));
        let (summary, episodes, working_memories) = tokio::try_join!(summary, episodes, self.working.count(deadline))?;
        Ok(BankCounts { summary, episodes, working_memories })
    }

    /// Makes the statistics document. It is the error of the store where that does not answer.
    pub async fn statistics(&self, deadline: Deadline) -> Result<Statistics, Error> {
        let BankCounts { summary, episodes: by_visibility, working_memories } = self.bank_counts(deadline).await?;
        let actors = self.actors(deadline).await?;
        Ok(Statistics {
            traces: traces(&summary),
            episodes: EpisodeStatistics {
                without_vectors: by_visibility.values().sum::<u64>().saturating_sub(summary.episodes_with_vectors),
                by_visibility,
                with_vectors: summary.episodes_with_vectors,
            },
            patterns: summary.patterns,
            applications: summary.applications,
            working_memories,
            consolidation_runs: summary.consolidation_runs,
            last_consolidation: summary.last_consolidation,
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
            embedder: self.embedder_statistics(),
            since: self.meters.since(),
            uptime_s: self.started.elapsed().as_secs(),
        })
    }

    /// Reads what this process has counted. It asks no store and no actor, so it always answers.
    pub async fn process_statistics(&self, bounds: &[Duration]) -> ProcessStatistics {
        ProcessStatistics {
            cache: self.cache.statistics().await,
            llm: self.meters.llm(),
            embedder: self.embedder_statistics(),
            queue: self.embedder.queue(),
            since: self.meters.since(),
            times: self.meters.times(bounds),
        }
    }

    fn embedder_statistics(&self) -> EmbedderStatistics {
        let fingerprint = self.embedder.fingerprint();
        let (cache_hits, cache_misses) = self.embeddings.hits_and_misses();
        EmbedderStatistics {
            name: fingerprint.name.clone(),
            dims: fingerprint.dims as u64,
            ready: self.embedder.state() == EmbedderState::Ready,
            cache_hits,
            cache_misses,
        }
    }

    /// Begins counters and latencies anew. What the bank holds and what the caches keep stay.
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
