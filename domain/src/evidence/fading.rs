//! Ageing and use, as scores count them: what is long ago counts less, and what was used often counts more. Confidence
//! lowers what nobody uses by a rule of its own (`confidence`).

use jiff::Timestamp;

/// Returns the days between two times. They are zero where `to` is earlier, because the clocks of several machines
/// disagree.
pub fn days_between(from: Timestamp, to: Timestamp) -> f64 {
    ((to.as_millisecond() - from.as_millisecond()) as f64 / 86_400_000.0).max(0.0)
}

/// Returns the recency of what is so many days old, which falls to 1/e in `days_to_one_e` days.
pub fn recency(days: f64, days_to_one_e: f64) -> f64 {
    (-days / days_to_one_e).exp()
}

/// Returns the part of a score for use, in 0..=1: ln(1 + uses) / 10. Some 22,000 uses make it 1.
pub fn usage_part(uses: u64) -> f64 {
    ((uses as f64).ln_1p() / 10.0).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::samples::{days_ago, now};

    #[test]
    fn a_time_to_come_is_no_age_and_use_never_counts_more_than_one() {
        assert_eq!((days_between(days_ago(3.0), now()), days_between(now(), days_ago(3.0))), (3.0, 0.0));
        assert_eq!((recency(0.0, 90.0), recency(90.0, 90.0)), (1.0, (-1.0_f64).exp()));
        assert_eq!((usage_part(0), usage_part(u64::MAX)), (0.0, 1.0));
        assert!(usage_part(1) < usage_part(2) && usage_part(22_024) < 1.0 && usage_part(22_026) == 1.0);
    }
}
