//! A histogram of times with fixed bounds, as Prometheus reads it.

use std::time::Duration;

/// The upper bounds of the buckets: from an answer of the cache to a solve.
pub(super) const BOUNDS: [Duration; 16] = [
    Duration::from_micros(1_000),
    Duration::from_micros(2_500),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_millis(1_000),
    Duration::from_millis(2_500),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_secs(60),
    Duration::from_secs(300),
];

#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    /// The number of times in each bucket, without those of the buckets below it.
    counts: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

impl Histogram {
    pub(super) fn record(&mut self, took: Duration) {
        if let Some(bucket) = BOUNDS.iter().position(|bound| took <= *bound) {
            self.counts[bucket] += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(took);
    }

    /// Returns, for each bound, how many took no longer than it.
    pub(super) fn within(&self) -> Vec<u64> {
        let mut sum = 0;
        let upto = self.counts.iter().map(|count| {
            sum += count;
            sum
        });
        upto.collect()
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn seconds(&self) -> f64 {
        self.sum.as_secs_f64()
    }
}
