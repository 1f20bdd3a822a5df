use proptest::prelude::*;

use super::*;

fn gold(judged: &[(&str, f64)]) -> Gold {
    Gold::new(judged.iter().map(|(id, relevance)| ((*id).to_owned(), *relevance)))
}

#[track_caller]
fn is(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn recall_is_the_share_of_the_relevant_that_was_found() {
    let gold = gold(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]);
    let ranking = ["a", "x", "b", "y", "c"];
    is(gold.recall_at(1, &ranking), 0.25);
    is(gold.recall_at(3, &ranking), 0.5);
    is(gold.recall_at(10, &ranking), 0.75);
}

#[test]
fn the_reciprocal_rank_is_that_of_the_first_relevant_one() {
    let gold = gold(&[("a", 1.0), ("b", 1.0)]);
    is(gold.reciprocal_rank_at(10, &["a", "b"]), 1.0);
    is(gold.reciprocal_rank_at(10, &["x", "y", "b", "a"]), 1.0 / 3.0);
    is(gold.reciprocal_rank_at(2, &["x", "y", "b"]), 0.0);
    is(gold.reciprocal_rank_at(10, &[]), 0.0);
}

#[test]
fn the_gain_of_equal_relevances_is_discounted_by_rank() {
    // Found at ranks 1 and 3 of two relevant ones: (1/log2 2 + 1/log2 4) / (1/log2 2 + 1/log2 3) = 1.5 / 1.6309297536
    let gold = gold(&[("a", 1.0), ("b", 1.0)]);
    is(gold.ndcg_at(10, &["a", "x", "b"]), 0.919_720_789_148_5);
    is(gold.ndcg_at(10, &["b", "a"]), 1.0);
    is(gold.ndcg_at(2, &["x", "y", "a"]), 0.0);
}

#[test]
fn graded_relevance_counts_as_it_stands() {
    // Relevances 3, 2, 1 in the order 2, 3, 0, 1:
    // (2/1 + 3/1.5849625007 + 1/2.3219280949) / (3/1 + 2/1.5849625007 + 1/2) = 4.3234658191 / 4.7618595071
    let gold = gold(&[("a", 3.0), ("b", 2.0), ("c", 1.0), ("no", 0.0)]);
    is(gold.ndcg_at(10, &["b", "a", "no", "c"]), 0.907_936_451_1);
    // Cut at one, the best possible is a alone: 2 / 3.
    is(gold.ndcg_at(1, &["b", "a"]), 2.0 / 3.0);
}

#[test]
fn what_is_judged_irrelevant_is_nothing_to_be_found() {
    let gold = gold(&[("a", 0.0), ("b", 1.0)]);
    is(gold.recall_at(10, &["a", "b"]), 1.0);
    is(gold.reciprocal_rank_at(10, &["a", "b"]), 0.5);
    assert_eq!(gold.ids().collect::<Vec<_>>(), ["b"]);
    assert!(Gold::new([("a".to_owned(), 0.0)]).is_empty());
    is(Gold::default().ndcg_at(10, &["a"]) + Gold::default().recall_at(10, &["a"]), 0.0);
}

#[test]
fn percentiles_are_values_that_were_measured() {
    let values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
    assert_eq!(percentile(&values, 50.0), Some(100.0));
    assert_eq!(percentile(&values, 95.0), Some(190.0));
    assert_eq!(percentile(&values, 99.0), Some(198.0));
    assert_eq!(percentile(&[7.0], 99.0), Some(7.0));
    assert_eq!(percentile(&[], 50.0), None);
    assert_eq!((mean(&[1.0, 2.0]), mean(&[])), (Some(1.5), None));
}

proptest! {
    #[test]
    fn every_measure_is_a_share_and_more_places_never_find_less(
        relevances in proptest::collection::vec(0u8..4, 1..12),
        ranking in Just((0..16usize).collect::<Vec<_>>()).prop_shuffle(),
        k in 1usize..12,
    ) {
        let name = |n: usize| format!("d{n}");
        let gold = Gold::new(relevances.iter().enumerate().map(|(n, relevance)| (name(n), f64::from(*relevance))));
        let names: Vec<String> = ranking.into_iter().map(name).collect();
        let ranking: Vec<&str> = names.iter().map(String::as_str).collect();
        let measures = |k| [gold.recall_at(k, &ranking), gold.reciprocal_rank_at(k, &ranking)];
        for value in measures(k).into_iter().chain([gold.ndcg_at(k, &ranking)]) {
            prop_assert!((0.0..=1.0 + 1e-12).contains(&value), "{}", value);
        }
        for (fewer, more) in measures(k).into_iter().zip(measures(k + 1)) {
            prop_assert!(fewer <= more);
        }
    }
}
