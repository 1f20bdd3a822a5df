//! Fisher's exact test of two groups that succeed or fail. The tail is added up from its largest term, each from the
//! one before it, because a distribution function that takes logarithms for each term is a hundred times slower, and
//! mining tests thousands of tables.

use statrs::function::factorial::ln_binomial;

/// The successes and failures of two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContingencyTable {
    pub successes: u64,
    pub failures: u64,
    pub other_successes: u64,
    pub other_failures: u64,
}

impl ContingencyTable {
    /// Returns the table whose first group has as many successes as its size and all successes allow. No table with the
    /// same margins has a smaller p-value.
    pub fn most_extreme(self) -> Self {
        let size = self.successes + self.failures;
        let all = self.successes + self.other_successes;
        let successes = size.min(all);
        let failures = size - successes;
        Self {
            successes,
            failures,
            other_successes: all - successes,
            other_failures: self.failures + self.other_failures - failures,
        }
    }

    /// Returns the table with both groups exchanged.
    pub fn exchanged(self) -> Self {
        Self {
            successes: self.other_successes,
            failures: self.other_failures,
            other_successes: self.successes,
            other_failures: self.failures,
        }
    }
}

/// Returns the probability that the first group has as many successes as it has, or more, where both succeed at the
/// same rate.
pub fn fisher_greater(table: ContingencyTable) -> f64 {
    let ContingencyTable { successes, failures, other_successes, other_failures } = table;
    let (size, all) = (successes + failures, successes + other_successes);
    let (total, most) = (size + other_successes + other_failures, size.min(all));
    let least = (size + all).saturating_sub(total);
    if successes <= least {
        return 1.0;
    }
    let start = ln_binomial(all, successes) + ln_binomial(total - all, failures) - ln_binomial(total, size);
    // The terms from `successes` to `most` where those fall, else one minus the terms below, which then fall.
    let mean = size as f64 * all as f64 / total as f64;
    let sum = |mut k: u64, upwards: bool, first: f64| {
        let (mut term, mut sum) = (first, 0.0);
        loop {
            sum += term;
            if term <= sum * 1e-18 || (upwards && k == most) || (!upwards && k == least) {
                return sum;
            }
            // The fourth cell is never negative between `least` and `most`.
            let fourth = (total + k) as f64 - size as f64 - all as f64;
            if upwards {
                term *= (all - k) as f64 * (size - k) as f64 / ((k + 1) as f64 * (fourth + 1.0));
                k += 1;
            } else {
                term *= k as f64 * fourth / ((all - k + 1) as f64 * (size - k + 1) as f64);
                k -= 1;
            }
        }
    };
    let tail = if successes as f64 >= mean {
        sum(successes, true, start.exp())
    } else {
        let fourth = (total + successes) as f64 - size as f64 - all as f64;
        let below =
            start.exp() * successes as f64 * fourth / ((all - successes + 1) as f64 * (size - successes + 1) as f64);
        1.0 - sum(successes - 1, false, below)
    };
    tail.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(cells: [u64; 4]) -> ContingencyTable {
        let [successes, failures, other_successes, other_failures] = cells;
        ContingencyTable { successes, failures, other_successes, other_failures }
    }

    #[test]
    fn the_lady_tastes_tea() {
        let p = |cells| fisher_greater(table(cells));
        assert!((p([3, 1, 1, 3]) - 17.0 / 70.0).abs() < 1e-14);
        assert!((p([4, 0, 0, 4]) - 1.0 / 70.0).abs() < 1e-14);
        assert!((p([1, 3, 3, 1]) - 69.0 / 70.0).abs() < 1e-14);
        assert_eq!(p([0, 4, 4, 0]), 1.0);
        assert_eq!((p([0, 0, 0, 0]), p([5, 0, 7, 0]), p([0, 0, 3, 4])), (1.0, 1.0, 1.0));
    }

    #[test]
    fn the_most_extreme_table_keeps_the_margins() {
        assert_eq!(table([2, 3, 4, 6]).most_extreme(), table([5, 0, 1, 9]));
        assert_eq!(table([2, 8, 1, 4]).most_extreme(), table([3, 7, 0, 5]));
        assert_eq!(table([1, 2, 3, 4]).exchanged(), table([3, 4, 1, 2]));
    }
}
