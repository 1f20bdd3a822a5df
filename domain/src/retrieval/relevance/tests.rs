use proptest::prelude::*;

use super::*;
use crate::memory::samples::id;
use crate::retrieval::candidates::TermSet;
use crate::retrieval::fusion::{RankedList, fuse};

const ALL: [Coefficients; 3] = [Coefficients::HYBRID, Coefficients::KEYWORD, Coefficients::VECTOR];

/// Returns the memories 1, 2, … with a cosine and a BM25 score each, of a query with three terms of which the n-th has
/// the first n.
fn candidates(scores: &[(f64, f64)]) -> Candidates {
    let hits = |of: fn(&(f64, f64)) -> f64| (1..).zip(scores).map(|(n, scores)| (id(n), of(scores))).collect();
    let list = |of| Some(RankedList { hits: hits(of), truncated: false });
    let set = |n: usize| TermSet::of((0..3).map(|place| place < n));
    Candidates {
        vector: list(|scores| scores.0),
        text: list(|scores| scores.1),
        facts: Vec::new(),
        terms: MatchedTerms {
            rarities: vec![2.0, 1.0, 1.0],
            saturation: 8.0,
            matched: (1..=scores.len()).map(|n| (id(n as u128), set(n))).collect(),
        },
        signature_frequency: None,
    }
}

fn judged(candidates: &Candidates, compares_meaning: bool) -> BTreeMap<MemoryId, Relevance> {
    let enough = candidates.terms.enough();
    judge(candidates, &fuse(candidates.vector.as_ref(), candidates.text.as_ref(), enough), compares_meaning)
}

#[test]
fn evidence_is_absolute() {
    let features = judged(&candidates(&[(0.7, 6.0), (0.3, 2.0), (0.1, 2.0)]), true)[&id(1)].features;
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(close(features.cosine, 0.7));
    assert!(close(features.terms, 0.5), "the rare one of three terms is worth as much as the others");
    assert!(close(features.saturation, 0.75));
    assert!(close(features.lead, 0.6), "0.7 beside unrelated texts, as there are no others but the first five");
    assert!(close(features.margin, 0.5), "0.75 beside 0.25 twice");
    assert!(close(features.agreement, 0.5), "0.5 by words, and 0.7 beside 0.3 and 0.1");
    assert!(close(features.crowd, 3f64.ln() / 80f64.ln()));
}

#[test]
fn what_is_near_is_relevant_and_what_is_far_is_not() {
    let relevance = |scores: &[(f64, f64)]| judged(&candidates(scores), true)[&id(1)].value;
    assert!(relevance(&[(0.75, 5.0), (0.2, 0.0), (0.1, 0.0)]) > 0.8);
    assert!(relevance(&[(0.08, 0.0), (0.05, 0.0), (0.02, 0.0)]) < 0.05);
}

#[test]
fn a_clear_answer_does_not_make_what_is_found_beside_it_relevant() {
    let judged = judged(&candidates(&[(0.65, 5.0), (0.55, 1.0), (0.2, 0.0), (0.06, 0.0)]), true);
    let is_kept = |n| !is_far_below(judged[&id(n)].value, judged[&id(1)].value);
    assert_eq!([1, 2, 3, 4].map(is_kept), [true, true, false, false]);
}

#[test]
fn cosines_of_another_model_say_nothing() {
    let of = |cosine: f64| judged(&candidates(&[(cosine, 3.0), (0.1, 1.0)]), false)[&id(1)];
    assert_eq!(of(0.9), of(0.1));
    assert_eq!(of(0.9).features.cosine, 0.0);
    let words_alone = Candidates { vector: None, ..candidates(&[(0.9, 3.0), (0.1, 1.0)]) };
    assert_eq!(judged(&words_alone, true)[&id(1)], of(0.9));
}

#[test]
fn what_has_no_vector_yet_is_judged_by_its_words() {
    let scores = [(0.0, 5.0), (0.0, 2.0), (0.0, 2.0)];
    let none =
        |truncated| Candidates { vector: Some(RankedList { hits: Vec::new(), truncated }), ..candidates(&scores) };
    let by_words = Candidates { vector: None, ..candidates(&scores) };
    let value = |candidates: &Candidates| judged(candidates, true)[&id(1)].value;
    assert!((value(&none(false)) - value(&by_words)).abs() < 1e-9);
    assert!(value(&none(true)) < value(&by_words), "its vector is among those that are farther");
}

#[test]
fn many_that_have_every_word_of_the_query_are_all_relevant() {
    let mut same = candidates(&[(0.0, 4.0); 20]);
    same.terms.matched.values_mut().for_each(|set| *set = TermSet::of([true; 3]));
    assert!(judged(&same, false).values().all(|one| one.value > 0.5));
    same.terms.matched.values_mut().for_each(|set| *set = TermSet::of([false, true, true]));
    assert!(judged(&same, false).values().all(|one| one.value < 0.1));
}

#[test]
fn no_evidence_counts_against_a_memory() {
    for coefficients in ALL {
        assert!(coefficients.all().into_iter().chain([coefficients.crowd]).all(|one| one >= 0.0), "{coefficients:?}");
    }
}

proptest! {
    #[test]
    fn more_evidence_is_never_less_relevant(
        own in (0.0..1.0f64, 0.0..8.0f64),
        more in (0.0..1.0f64, 0.0..8.0f64),
        others in prop::collection::vec((-1.0..1.0f64, 0.0..8.0f64), 0..30),
        mode in 0..3usize,
        compares_meaning: bool,
    ) {
        let of = |own: (f64, f64)| {
            let mut candidates = candidates(&[&[own], &others[..]].concat());
            match mode {
                0 => candidates.vector = None,
                1 => candidates.text = None,
                _ => {}
            }
            judged(&candidates, compares_meaning)
        };
        let (before, after) = (of(own), of(((own.0 + more.0).min(1.0), (own.1 + more.1).min(8.0))));
        prop_assert!(before.values().chain(after.values()).all(|one| (0.0..=1.0).contains(&one.value)));
        if let (Some(before), Some(after)) = (before.get(&id(1)), after.get(&id(1))) {
            prop_assert!(after.value >= before.value - 1e-12, "{before:?} {after:?}");
        }
    }
}
