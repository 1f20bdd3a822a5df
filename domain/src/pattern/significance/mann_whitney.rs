//! The Mann-Whitney test of two samples of numbers, by the method that SciPy chooses: exact where one sample has at
//! most eight numbers and no number comes twice, else the normal approximation with corrections for ties and for
//! continuity. The test of statrs enumerates every choice of ranks, which never ends for 8 of 100.

use statrs::function::erf::erfc;

/// The most numbers of one sample. The newest ones are the ones to give.
pub const SAMPLE_MAX: usize = 10_000;
/// The largest of the smaller samples that is tested exactly.
const EXACT_MAX: usize = 8;

/// Returns the probability that the first sample lies as far below the other one as it does, or farther, where both
/// come from the same distribution. Numbers that are not finite are left out, and so is what is beyond [`SAMPLE_MAX`].
pub fn mann_whitney_less(first: &[f64], other: &[f64]) -> f64 {
    let finite = |sample: &[f64]| -> Vec<f64> {
        sample.iter().copied().filter(|number| number.is_finite()).take(SAMPLE_MAX).collect()
    };
    let (first, other) = (finite(first), finite(other));
    let (n1, n2) = (first.len(), other.len());
    if n1 == 0 || n2 == 0 {
        return 1.0;
    }
    let mut pooled: Vec<(f64, bool)> =
        first.iter().map(|x| (*x, true)).chain(other.iter().map(|x| (*x, false))).collect();
    pooled.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Doubled ranks are whole numbers, also where equal numbers share the mean of their ranks.
    let (mut doubled_ranks, mut ties, mut begin) = (0_u64, 0.0, 0);
    for run in pooled.chunk_by(|a, b| a.0 == b.0) {
        let size = run.len();
        let rank = (2 * begin + size + 1) as u64;
        doubled_ranks += rank * run.iter().filter(|(_, is_first)| *is_first).count() as u64;
        ties += (size as f64).powi(3) - size as f64;
        begin += size;
    }
    // The number of times that a number of the other sample is below one of the first, doubled.
    let doubled_u = doubled_ranks - (n1 * (n1 + 1)) as u64;
    if n1.min(n2) <= EXACT_MAX && ties == 0.0 {
        return exact(doubled_u / 2, n1.min(n2), n1.max(n2));
    }
    let (a, b, u) = (n1 as f64, n2 as f64, doubled_u as f64 / 2.0);
    let n = a + b;
    let deviation = (a * b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)))).sqrt();
    if deviation == 0.0 {
        return 1.0;
    }
    let z = (a * b - u - a * b / 2.0 - 0.5) / deviation;
    (erfc(z / std::f64::consts::SQRT_2) / 2.0).min(1.0)
}

/// Returns the share of all choices of ranks whose statistic is at most `u`. The counts are the coefficients of a
/// Gaussian binomial, which is a product of (1 - q^(larger + i)) / (1 - q^i). They are whole numbers of at most 91
/// bits.
fn exact(u: u64, smaller: usize, larger: usize) -> f64 {
    let top = smaller * larger;
    let mut counts = vec![0_i128; top + 1];
    counts[0] = 1;
    for i in 1..=smaller {
        for place in (larger + i..=top).rev() {
            counts[place] -= counts[place - larger - i];
        }
        for place in i..=top {
            counts[place] += counts[place - i];
        }
    }
    let all: i128 = counts.iter().sum();
    let below: i128 = counts.iter().take(usize::try_from(u).unwrap_or(top).saturating_add(1)).sum();
    below as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_three_of_six_are_one_in_twenty() {
        assert!((mann_whitney_less(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]) - 0.05).abs() < 1e-15);
        assert_eq!(mann_whitney_less(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]), 1.0);
    }

    #[test]
    fn samples_that_say_nothing_give_one() {
        assert_eq!(mann_whitney_less(&[], &[1.0]), 1.0);
        assert_eq!(mann_whitney_less(&[f64::NAN], &[1.0]), 1.0);
        assert_eq!(mann_whitney_less(&[2.0; 12], &[2.0; 12]), 1.0);
    }

    #[test]
    fn the_largest_samples_of_the_exact_test_do_not_overflow() {
        let other: Vec<f64> = (0..SAMPLE_MAX).map(|n| n as f64).collect();
        let first: Vec<f64> = (0..EXACT_MAX).map(|n| 5_000.5 + n as f64).collect();
        let p = mann_whitney_less(&first, &other);
        assert!((0.4..0.6).contains(&p), "{p}");
    }
}
