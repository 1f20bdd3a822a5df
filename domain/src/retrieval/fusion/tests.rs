use proptest::prelude::*;

use super::*;
use crate::memory::samples::id;
use crate::retrieval::candidates::MatchedTerms;

fn list(scores: &[(u128, f64)]) -> RankedList {
    RankedList { hits: scores.iter().map(|(n, score)| (id(*n), *score)).collect(), truncated: false }
}

fn truncated(scores: &[(u128, f64)]) -> RankedList {
    RankedList { truncated: true, ..list(scores) }
}

/// Fuses two lists where it is not known which score explains enough of the query.
fn fuse(vector: Option<&RankedList>, text: Option<&RankedList>) -> BTreeMap<MemoryId, Fused> {
    super::fuse(vector, text, 0.0)
}

fn similarity(fused: &BTreeMap<MemoryId, Fused>, n: u128) -> f64 {
    fused[&id(n)].similarity
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn with_one_list_that_list_alone_counts() {
    let only_vector = fuse(Some(&list(&[(1, 0.8), (2, 0.4)])), None);
    assert!(close(similarity(&only_vector, 1), 1.0) && close(similarity(&only_vector, 2), 0.5));
    let only_text = fuse(None, Some(&list(&[(1, 8.0), (2, 2.0)])));
    assert!(close(similarity(&only_text, 1), 1.0) && close(similarity(&only_text, 2), 0.25));
    assert!(fuse(None, None).is_empty());
}

#[test]
fn an_empty_list_is_no_missing_list() {
    let fused = fuse(Some(&list(&[(1, 0.8)])), Some(&list(&[])));
    assert!(close(similarity(&fused, 1), SHARE_RANGE.1), "the words were searched, and said nothing for it");
}

#[test]
fn lists_that_are_equally_decisive_have_their_measured_shares() {
    let fused = fuse(Some(&list(&[(1, 0.8), (2, 0.4)])), Some(&list(&[(2, 8.0), (3, 4.0)])));
    assert!(close(similarity(&fused, 1), VECTOR_SHARE));
    assert!(close(similarity(&fused, 2), VECTOR_SHARE / 2.0 + (1.0 - VECTOR_SHARE)));
    assert!(close(similarity(&fused, 3), (1.0 - VECTOR_SHARE) / 2.0));
}

#[test]
fn the_list_whose_best_stands_out_counts_more() {
    let flat = list(&[(1, 0.8), (2, 0.8)]);
    let steep = list(&[(3, 20.0), (4, 1.0)]);
    let by_words = fuse(Some(&flat), Some(&steep));
    assert!(close(similarity(&by_words, 1), SHARE_RANGE.0), "0.55 - 0.75 * 0.95 is below the least share");
    assert!(close(similarity(&by_words, 3), 1.0 - SHARE_RANGE.0));
    let steep = list(&[(1, 0.8), (2, 0.04)]);
    let flat = list(&[(3, 9.0), (4, 9.0)]);
    let by_vectors = fuse(Some(&steep), Some(&flat));
    assert!(close(similarity(&by_vectors, 1), SHARE_RANGE.1));
    assert!(close(similarity(&by_vectors, 4), 1.0 - SHARE_RANGE.1));
}

#[test]
fn words_that_explain_little_of_the_query_are_not_sure_however_fast_they_fall_off() {
    let (vector, text) = (list(&[(1, 0.8), (2, 0.4)]), list(&[(3, 6.0)]));
    let share = |enough: f64| super::fuse(Some(&vector), Some(&text), enough)[&id(1)].similarity;
    assert!(close(share(4.0), SHARE_RANGE.0), "enough: 0.55 - 0.75 * 0.5 is below the least share");
    assert!(close(share(12.0), VECTOR_SHARE), "half of what is enough");
    assert!(share(24.0) > VECTOR_SHARE);
}

#[test]
fn of_a_long_query_a_smaller_share_is_enough() {
    let enough =
        |terms: usize| MatchedTerms { rarities: vec![1.0; terms], saturation: 10.0, ..Default::default() }.enough();
    assert!(close(enough(1), 4.0) && close(enough(4), 4.0) && close(enough(8), 2.0));
    assert_eq!(MatchedTerms::default().enough(), 0.0);
}

#[test]
fn what_each_list_said_is_kept_apart() {
    let fused = fuse(Some(&list(&[(1, 0.8), (2, -0.3)])), Some(&list(&[(1, 7.5)])));
    assert_eq!((fused[&id(1)].cosine(), fused[&id(1)].text_score()), (Some(0.8), Some(7.5)));
    assert_eq!((fused[&id(2)].cosine(), fused[&id(2)].text_score()), (Some(0.0), None), "a negative cosine counts 0");
}

#[test]
fn the_places_in_a_list_are_those_of_its_scores_and_ties_go_by_id() {
    let fused = fuse(Some(&list(&[(4, 0.2), (3, 0.9), (2, 0.2)])), Some(&list(&[(2, 6.0)])));
    let ranks = |n: u128| [fused[&id(n)].vector, fused[&id(n)].text].map(|listed| listed.map(|listed| listed.rank));
    assert_eq!([ranks(3), ranks(2), ranks(4)], [[Some(1), None], [Some(2), Some(1)], [Some(3), None]]);
    let shares = [fused[&id(2)].vector, fused[&id(2)].text].map(|listed| listed.unwrap().share);
    assert!(close(shares.iter().sum(), 1.0));
}

#[test]
fn a_memory_with_several_passages_counts_by_its_best() {
    let fused = fuse(Some(&list(&[(1, 0.2), (1, 0.9), (1, 0.4)])), None);
    assert_eq!(fused[&id(1)].cosine(), Some(0.9));
    assert!(close(similarity(&fused, 1), 1.0));
}

#[test]
fn the_best_of_a_poor_list_is_still_poor() {
    let fused = fuse(Some(&list(&[(1, 0.1)])), Some(&list(&[(1, 0.5)])));
    let expected = VECTOR_SHARE * (0.1 / GOOD_COSINE) + (1.0 - VECTOR_SHARE) * (0.5 / GOOD_TEXT);
    assert!(close(similarity(&fused, 1), expected));
}

#[test]
fn the_last_of_a_list_that_was_cut_off_counts_nothing_for_what_was_not_seen_is_no_worse() {
    let scores = [(1, 0.8), (2, 0.6), (3, 0.4)];
    let cut = fuse(Some(&truncated(&scores)), None);
    assert!(close(similarity(&cut, 3), 0.0) && close(similarity(&cut, 2), 0.5) && close(similarity(&cut, 1), 1.0));
    let whole = fuse(Some(&list(&scores)), None);
    assert!(close(similarity(&whole, 3), 0.4 / 0.8));
}

#[test]
fn a_good_match_at_the_end_of_a_cut_off_list_is_no_bad_match() {
    let cut = fuse(Some(&truncated(&[(1, 0.9), (2, 0.9), (3, 0.9)])), None);
    for n in 1..=3 {
        assert!(close(similarity(&cut, n), 1.0), "{n}");
    }
}

#[test]
fn what_is_no_number_counts_nothing() {
    let fused = fuse(Some(&list(&[(1, f64::NAN), (2, f64::INFINITY), (3, 0.5)])), None);
    assert!(
        close(similarity(&fused, 1), 0.0) && close(similarity(&fused, 2), 0.0) && close(similarity(&fused, 3), 1.0)
    );
}

fn any_list(max: f64) -> impl Strategy<Value = RankedList> {
    (prop::collection::vec((0u128..12, -1.0..max), 0..20), any::<bool>())
        .prop_map(|(scores, cut)| RankedList { truncated: cut, ..list(&scores) })
}

proptest! {
    #[test]
    fn similarity_stays_between_0_and_1_and_covers_every_hit(
        vector in prop::option::of(any_list(1.0)),
        text in prop::option::of(any_list(40.0)),
    ) {
        let fused = fuse(vector.as_ref(), text.as_ref());
        for entry in fused.values() {
            prop_assert!((0.0..=1.0).contains(&entry.similarity), "{:?}", entry);
            let parts = [entry.vector, entry.text];
            let sum: f64 = parts.iter().flatten().map(|listed| listed.share * listed.relative).sum();
            prop_assert!(close(sum, entry.similarity), "its parts add up: {:?}", entry);
        }
        for (hit, _) in vector.iter().chain(&text).flat_map(|list| &list.hits) {
            prop_assert!(fused.contains_key(hit));
        }
    }

    #[test]
    fn the_order_of_hits_does_not_matter(
        (vector, shuffled) in any_list(1.0).prop_flat_map(|l| (Just(l.clone()), Just(l.hits).prop_shuffle())),
        text in any_list(40.0),
    ) {
        let again = RankedList { hits: shuffled, ..vector.clone() };
        prop_assert_eq!(fuse(Some(&vector), Some(&text)), fuse(Some(&again), Some(&text)));
    }

    #[test]
    fn what_scores_no_lower_in_either_list_is_no_less_similar(vector in any_list(1.0), text in any_list(40.0)) {
        let fused = fuse(Some(&vector), Some(&text));
        let not_above = |a: Option<f64>, b: Option<f64>| a.unwrap_or(f64::NEG_INFINITY) <= b.unwrap_or(f64::NEG_INFINITY);
        for (a, b) in fused.values().flat_map(|a| fused.values().map(move |b| (a, b))) {
            if not_above(a.cosine(), b.cosine()) && not_above(a.text_score(), b.text_score()) {
                prop_assert!(a.similarity <= b.similarity + 1e-9, "{:?} {:?}", a, b);
            }
        }
    }

    /// This holds for one list. Beside another a higher score may make its list less decisive, and so count less.
    #[test]
    fn a_higher_score_never_ranks_lower(list in any_list(1.0), pick in any::<prop::sample::Index>(), more in 0.0..1.0f64, by_words: bool) {
        prop_assume!(!list.hits.is_empty());
        let alone = |list: &RankedList| if by_words { fuse(None, Some(list)) } else { fuse(Some(list), None) };
        let before = alone(&list);
        let index = pick.index(list.hits.len());
        let mut raised = list.clone();
        raised.hits[index].1 += more;
        let after = alone(&raised);
        let chosen = list.hits[index].0;
        let ahead = |fused: &BTreeMap<MemoryId, Fused>, by: f64| {
            fused.values().filter(|other| other.similarity > fused[&chosen].similarity + by).count()
        };
        prop_assert!(ahead(&after, 1e-9) <= ahead(&before, 0.0));
    }
}
