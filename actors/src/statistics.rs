//! The counters of the running system. They count for this process and since the last reset.

mod embedder;
mod latency;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use latency::LatencyHistogram;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::system::statistics::{Latencies, LlmCounts, LlmStatistics};

pub(crate) use embedder::MeteredEmbedder;
pub use latency::WorkTimes;

/// The counters; clones share them.
#[derive(Clone)]
pub(crate) struct Meters {
    counted: Arc<Mutex<Counted>>,
}

#[derive(Default)]
struct Counted {
    since: Timestamp,
    llm: BTreeMap<Purpose, LlmCounts>,
    latencies: [LatencyHistogram; Timer::COUNT],
}

/// The kinds of work that are timed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Timer {
    Retrieval,
    Embedding,
    Solve,
    Llm,
}

impl Timer {
    const COUNT: usize = 4;
    const ALL: [Self; Self::COUNT] = [Self::Retrieval, Self::Embedding, Self::Solve, Self::Llm];

    fn as_str(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Embedding => "embedding",
            Self::Solve => "solve",
            Self::Llm => "llm",
        }
    }
}

impl Meters {
    /// Makes counters that count from now on.
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

    pub(crate) fn since(&self) -> Timestamp {
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

    /// Counts how long each kind of work took, up to each bound.
    pub(crate) fn times(&self, bounds: &[Duration]) -> Vec<(&'static str, WorkTimes)> {
        let counted = self.counted();
        Timer::ALL.map(|work| (work.as_str(), counted.latencies[work as usize].within(bounds))).into()
    }

    pub(crate) fn reset(&self) {
        *self.counted() = Counted { since: Timestamp::now(), ..Counted::default() };
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
