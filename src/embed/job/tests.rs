use rstest::rstest;

use super::*;

#[rstest]
#[case(0, vec![])]
#[case(1, vec![0])]
#[case(8, vec![0, 1, 2, 3, 4, 5, 6, 7])]
#[case(9, vec![0, 1, 2, 3, 4, 5, 6, 8])]
#[case(200, vec![0, 28, 56, 85, 113, 142, 170, 199])]
fn a_spread_holds_the_first_and_the_last(#[case] pieces: usize, #[case] expected: Vec<usize>) {
    assert_eq!(spread((0..pieces).collect(), QUERY_PIECES), expected);
}

#[test]
fn batches_are_sorted_by_length_and_hold_several_texts_where_those_are_short() {
    let lengths: Vec<usize> = (0..300).map(|i| (i * 7919) % 255).collect();
    let batches = batches(lengths.clone(), |tokens| *tokens);
    for batch in &batches {
        assert!(batch.len() <= BATCH_TEXTS);
        assert!(batch.len() == 1 || batch[batch.len() - 1] <= SHORT_TOKENS);
    }
    let mut sorted = lengths;
    sorted.sort_unstable();
    assert_eq!(batches.concat(), sorted);
}

#[rstest]
#[case(vec![vec![0.6, 0.8]], vec![0.6, 0.8])]
#[case(vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![0.5_f32.sqrt(), 0.5_f32.sqrt()])]
#[case(vec![vec![1.0, 0.0], vec![-1.0, 0.0]], vec![0.0, 0.0])]
fn a_mean_has_length_one_unless_the_vectors_cancel_out(#[case] vectors: Vec<Vec<f32>>, #[case] mean: Vec<f32>) {
    for (x, expected) in normalised_mean(vectors).into_iter().zip(mean) {
        assert!((x - expected).abs() < 1e-6);
    }
}
