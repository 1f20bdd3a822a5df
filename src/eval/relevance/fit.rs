//! Logistic regression with coefficients that are not negative, by coordinate-wise Newton steps.

use reasoning_bank_domain::retrieval::relevance::{Coefficients, Features};

/// One example that the coefficients are fitted to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Example {
    pub(crate) features: Features,
    pub(crate) is_relevant: bool,
    /// The weight of the example, above 0.
    pub(crate) weight: f64,
}

/// There is one coefficient for each feature, and one for the crowd, whose sign is turned.
const COEFFICIENTS: usize = 7;
const SWEEPS: usize = 500;
const LONGEST_STEP: f64 = 2.0;
const GOOD_ENOUGH: f64 = 1e-5;
/// A ridge, in units of the weight of all examples, keeps a coefficient that hardly matters small.
const RIDGE: f64 = 1e-5;

impl Example {
    fn inputs(&self) -> [f64; COEFFICIENTS] {
        let [a, b, c, d, e, f] = self.features.all();
        [a, b, c, d, e, f, -self.features.crowd]
    }
}

/// Finds the coefficients that make the examples most likely.
pub(crate) fn fit(examples: &[Example]) -> Coefficients {
    let inputs: Vec<[f64; COEFFICIENTS]> = examples.iter().map(Example::inputs).collect();
    let ridge = RIDGE * examples.iter().map(|example| example.weight).sum::<f64>();
    let mut coefficients = [0.0; COEFFICIENTS];
    let mut intercept = 0.0;
    let mut sums = vec![0.0; examples.len()];
    for _ in 0..SWEEPS {
        let mut farthest = 0.0f64;
        for place in 0..=COEFFICIENTS {
            let input = |n: usize| if place == COEFFICIENTS { 1.0 } else { inputs[n][place] };
            let (mut slope, mut curvature) = (0.0, 0.0);
            for (n, example) in examples.iter().enumerate() {
                let likely = 1.0 / (1.0 + f64::exp(-sums[n]));
                slope += example.weight * (likely - f64::from(u8::from(example.is_relevant))) * input(n);
                curvature += example.weight * likely * (1.0 - likely) * input(n) * input(n);
            }
            let own = if place == COEFFICIENTS { &mut intercept } else { &mut coefficients[place] };
            let step = -(slope + ridge * *own) / (curvature + ridge).max(f64::MIN_POSITIVE);
            let next = *own + step.clamp(-LONGEST_STEP, LONGEST_STEP);
            let next = if place == COEFFICIENTS { next } else { next.max(0.0) };
            let moved = next - *own;
            *own = next;
            sums.iter_mut().enumerate().for_each(|(n, sum)| *sum += moved * input(n));
            farthest = farthest.max(moved.abs());
        }
        if farthest < GOOD_ENOUGH {
            break;
        }
    }
    let [cosine, terms, saturation, lead, margin, agreement, crowd] = coefficients;
    Coefficients { intercept, cosine, terms, saturation, lead, margin, agreement, crowd }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples that a model with these coefficients makes: each twice, weighed by how likely it is either way.
    fn of(intercept: f64, cosine: f64, saturation: f64) -> Vec<Example> {
        let grid = (0..=10).flat_map(|a| (0..=10).map(move |b| (f64::from(a) / 10.0, f64::from(b) / 10.0)));
        let both = grid.flat_map(|(a, b)| {
            let likely = 1.0 / (1.0 + f64::exp(-(intercept + cosine * a + saturation * b)));
            let features = Features { cosine: a, saturation: b, ..Features::default() };
            let example = |is_relevant, weight| Example { features, is_relevant, weight };
            [example(true, likely), example(false, 1.0 - likely)]
        });
        both.collect()
    }

    #[test]
    fn the_model_that_made_the_examples_is_found() {
        let found = fit(&of(-3.0, 5.0, 2.0));
        assert!((found.intercept + 3.0).abs() < 0.05, "{found:?}");
        assert!((found.cosine - 5.0).abs() < 0.05 && (found.saturation - 2.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn what_speaks_against_counts_nothing() {
        let found = fit(&of(0.0, 4.0, -3.0));
        assert_eq!(found.saturation, 0.0);
        assert!(found.cosine > 2.0, "{found:?}");
    }
}
