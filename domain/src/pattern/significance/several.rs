//! Corrections for several tests at once.

/// Returns the p-values that Holm's method makes of these, in their order. One below a level keeps the chance of any
/// false finding below it.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![0.0; p_values.len()];
    let mut so_far: f64 = 0.0;
    for (rank, place) in order.iter().enumerate() {
        so_far = so_far.max(p_values[*place] * (p_values.len() - rank) as f64).min(1.0);
        adjusted[*place] = so_far;
    }
    adjusted
}

/// Returns the p-values that the method of Benjamini and Hochberg makes of these, in their order. Among those below a
/// level the expected share of false findings is below it.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let order = ascending(p_values);
    let mut adjusted = vec![0.0; p_values.len()];
    let mut so_far: f64 = 1.0;
    for (rank, place) in order.iter().enumerate().rev() {
        so_far = so_far.min(p_values[*place] * p_values.len() as f64 / (rank + 1) as f64);
        adjusted[*place] = so_far;
    }
    adjusted
}

fn ascending(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_keep_the_order_of_what_is_given() {
        let near = |a: Vec<f64>, b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(near(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]));
        assert!(near(benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]), [0.02, 0.04, 0.04, 0.02]));
        assert_eq!((holm(&[]), benjamini_hochberg(&[])), (vec![], vec![]));
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
