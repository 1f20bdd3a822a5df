//! The histogram of how long one kind of thing took. Its memory is bounded however many are recorded.

use std::time::Duration;

use hdrhistogram::Histogram;
use reasoning_bank_domain::system::statistics::Percentiles;

const HOUR_US: u64 = 3_600_000_000;
const DIGITS: u8 = 3;

/// The times that one kind of work took, counted up to some bounds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkTimes {
    /// The number of those that took at most as long as each bound.
    pub within: Vec<u64>,
    pub count: u64,
    /// The sum of all times, exact to three digits.
    pub seconds: f64,
}

/// Microseconds, exact to three digits; longer than an hour counts as an hour.
pub(super) struct LatencyHistogram {
    histogram: Histogram<u64>,
}

impl Default for LatencyHistogram {
    #[expect(clippy::expect_used, reason = "the bounds are constants that a test builds it with")]
    fn default() -> Self {
        Self { histogram: Histogram::new_with_bounds(1, HOUR_US, DIGITS).expect("the bounds are valid") }
    }
}

impl LatencyHistogram {
    pub(super) fn record(&mut self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(HOUR_US);
        self.histogram.saturating_record(micros.clamp(1, HOUR_US));
    }

    /// Counts what took at most as long as each bound.
    pub(super) fn within(&self, bounds: &[Duration]) -> WorkTimes {
        let micros = |bound: &Duration| u64::try_from(bound.as_micros()).unwrap_or(HOUR_US).min(HOUR_US);
        let within = bounds.iter().map(|bound| self.histogram.count_between(0, micros(bound))).collect();
        let recorded = self.histogram.iter_recorded();
        let micros = recorded.map(|step| step.value_iterated_to() as f64 * step.count_at_value() as f64).sum::<f64>();
        WorkTimes { within, count: self.histogram.len(), seconds: micros / 1e6 }
    }

    pub(super) fn percentiles(&self) -> Percentiles {
        let at = |quantile| self.histogram.value_at_quantile(quantile) as f64 / 1000.0;
        Percentiles { p50: at(0.50), p95: at(0.95), p99: at(0.99), count: self.histogram.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_in_milliseconds_and_exact_to_three_digits() {
        let mut latency = LatencyHistogram::default();
        assert_eq!(latency.percentiles(), Percentiles::default());
        (1..=1000).for_each(|ms| latency.record(Duration::from_millis(ms)));
        let Percentiles { p50, p95, p99, count } = latency.percentiles();
        assert_eq!(count, 1000);
        for (found, exact) in [(p50, 500.0), (p95, 950.0), (p99, 990.0)] {
            assert!((found - exact).abs() <= exact / 1000.0, "{found} for {exact}");
        }
    }

    #[test]
    fn times_are_counted_up_to_each_bound() {
        let mut latency = LatencyHistogram::default();
        [1, 5, 50, 2_000].into_iter().for_each(|ms| latency.record(Duration::from_millis(ms)));
        let WorkTimes { within, count, seconds } = latency.within(&[5, 100, 1_000].map(Duration::from_millis));
        assert_eq!((within, count), (vec![2, 3, 3], 4));
        assert!((seconds - 2.056).abs() < 0.005, "{seconds}");
    }

    #[test]
    fn what_is_shorter_or_longer_than_it_can_tell_is_counted_at_its_bounds() {
        let mut latency = LatencyHistogram::default();
        latency.record(Duration::ZERO);
        assert_eq!(latency.percentiles().p50, 0.001);
        (0..3).for_each(|_| latency.record(Duration::from_secs(48 * 3600)));
        let hour = latency.percentiles().p99;
        assert!((hour - 3_600_000.0).abs() <= 3_600.0, "{hour}");
    }
}
