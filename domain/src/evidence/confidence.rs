//! Evidence about memories, and the confidence that follows from it.
//!
//! Only signals are stored, append-only, each with an id of its own. Everything else (counts, usage, last use,
//! confidence) is folded from them. In log-odds the fold is a sum: bounded, monotone, independent of order, and the
//! union of what several processes wrote needs no lock.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fading::days_between;
use crate::memory::signal::{Signal, SignalKind, logit};
use crate::memory::trace::Outcome;
use crate::memory::{Facts, SourceType};

/// The evidence about one memory: what its signals add up to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    counts: [u64; SignalKind::ALL.len()],
    /// The latest time when the memory was reported helpful, or when a task that it was used in succeeded. A success
    /// that was overruled counts too, because somebody had a use for the memory at that time. None where neither has
    /// happened.
    pub last_used_at: Option<Timestamp>,
}

impl Evidence {
    pub fn add(&mut self, kind: SignalKind, at: Timestamp) {
        self.counts[kind as usize] += 1;
        if matches!(kind, SignalKind::Helpful | SignalKind::TaskSucceeded) {
            self.last_used_at = self.last_used_at.max(Some(at));
        }
    }

    pub fn of<'a>(signals: impl IntoIterator<Item = &'a Signal>) -> Self {
        let mut evidence = Self::default();
        for signal in signals {
            evidence.add(signal.kind, signal.at);
        }
        evidence
    }

    pub fn count(&self, kind: SignalKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Returns the time since which the memory has been idle. It is never before `created_at`, because a clock that is
    /// behind must not turn a vote into age.
    pub fn idle_since(&self, created_at: Timestamp) -> Timestamp {
        self.last_used_at.map_or(created_at, |used| used.max(created_at))
    }

    /// Returns the number of tasks that succeeded with the memory, without the successes that were overruled.
    pub fn successes(&self) -> u64 {
        self.count(SignalKind::TaskSucceeded).saturating_sub(self.count(SignalKind::SuccessOverruled))
    }

    /// Returns the number of times the memory was put into a prompt or shown to a client, whatever came of it. What one
    /// session is shown on one day counts once.
    pub fn usage_count(&self) -> u64 {
        self.count(SignalKind::Injected) + self.count(SignalKind::Shown)
    }
}

/// Returns the confidence that a memory starts with. `solve_outcome` is None where the memory comes from no solve. An
/// imported memory starts low, because nobody here has seen it succeed.
pub fn prior(source: SourceType, solve_outcome: Option<Outcome>) -> f64 {
    match (source, solve_outcome) {
        (SourceType::Explicit, _) => 0.8,
        (SourceType::Solve, Some(Outcome::Success)) => 0.7,
        (SourceType::Solve, Some(Outcome::Failure)) => 0.6,
        (SourceType::Distilled, _) => 0.6,
        (SourceType::PassiveLearning | SourceType::Imported, _) => 0.4,
        _ => 0.5,
    }
}

const DECAY_STARTS_AFTER_DAYS: f64 = 30.0;
const DECAY_UNIT_DAYS: f64 = 30.0;
/// One idle unit lowers a confidence of 0.5 to exactly this.
const DECAY_FROM_EVEN_ODDS: f64 = 0.45;
/// Idleness alone lowers no confidence below this; evidence may.
const DECAY_FLOOR: f64 = 0.05;

/// Returns the confidence in a memory, in 0..1: `σ(logit(prior) + Σ nₛ·wₛ − decay)`. A pinned memory does not decay.
pub fn confidence(memory: &Facts, evidence: &Evidence, now: Timestamp) -> f64 {
    let votes: f64 = SignalKind::ALL.iter().map(|kind| evidence.count(*kind) as f64 * kind.weight()).sum();
    let fresh = logit(memory.prior) + votes;
    if memory.pinned {
        return sigmoid(fresh);
    }
    let idle_days = days_between(evidence.idle_since(memory.created_at), now);
    let units = (idle_days - DECAY_STARTS_AFTER_DAYS).max(0.0) / DECAY_UNIT_DAYS;
    let decayed = fresh + units * logit(DECAY_FROM_EVEN_ODDS);
    sigmoid(decayed.max(fresh.min(logit(DECAY_FLOOR))))
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests;
