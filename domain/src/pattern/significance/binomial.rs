//! The exact binomial test: how likely a count of successes is at a rate that is assumed.

use statrs::distribution::{Binomial, DiscreteCDF};

/// Returns the probability of `successes` or more in `trials`, where each succeeds at `rate` (0..=1).
pub fn binomial_at_least(successes: u64, trials: u64, rate: f64) -> f64 {
    let Some(last_below) = successes.checked_sub(1) else { return 1.0 };
    if successes > trials {
        return 0.0;
    }
    Binomial::new(rate, trials).map_or(1.0, |distribution| distribution.sf(last_below))
}

/// Returns the probability of `successes` or fewer in `trials`, where each succeeds at `rate` (0..=1).
pub fn binomial_at_most(successes: u64, trials: u64, rate: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    Binomial::new(rate, trials).map_or(1.0, |distribution| distribution.cdf(successes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_of_five_are_one_in_thirty_two() {
        assert!((binomial_at_least(5, 5, 0.5) - 1.0 / 32.0).abs() < 1e-15);
        assert!((binomial_at_most(0, 5, 0.5) - 1.0 / 32.0).abs() < 1e-15);
        assert_eq!((binomial_at_least(0, 5, 0.5), binomial_at_most(5, 5, 0.5)), (1.0, 1.0));
        assert_eq!((binomial_at_least(0, 0, 0.5), binomial_at_most(0, 0, 0.5)), (1.0, 1.0));
        assert_eq!(binomial_at_least(6, 5, 0.5), 0.0);
        assert_eq!((binomial_at_least(3, 5, 0.0), binomial_at_least(3, 5, 1.0)), (0.0, 1.0));
    }
}
