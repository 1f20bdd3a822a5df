use super::*;

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
