use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::hits::Hit;
use reasoning_bank_domain::text::terms::counted;

/// Returns the scores of BM25 by the book, over all passages: that of the best passage of each allowed memory.
fn naive(passages: &[(u32, Vec<String>)], query: &[String], allowed: impl Fn(u32) -> bool) -> BTreeMap<u32, f64> {
    let count = passages.len() as f64;
    let average = passages.iter().map(|(_, terms)| terms.len()).sum::<usize>() as f64 / count.max(1.0);
    let mut best = BTreeMap::new();
    for (memory, terms) in passages.iter().filter(|(memory, _)| allowed(*memory)) {
        let of = |term: &&String| {
            let having = passages.iter().filter(|(_, terms)| terms.contains(term)).count() as f64;
            let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            let frequency = terms.iter().filter(|own| own == term).count() as f64;
            let (k1, b) = (f64::from(BM25.k1), f64::from(BM25.b));
            let length = 1.0 - b + b * terms.len() as f64 / average.max(1.0);
            rarity * (k1 + 1.0) * frequency / (frequency + k1 * length)
        };
        let weighed = |term: &&String| {
            let count = query.iter().filter(|other| other == term).count() as f64;
            of(term) * (f64::from(K3) + 1.0) * count / (f64::from(K3) + count)
        };
        let score: f64 = query.iter().collect::<BTreeSet<_>>().iter().map(weighed).sum();
        if score > 0.0 {
            let entry = best.entry(*memory).or_insert(score);
            *entry = entry.max(score);
        }
    }
    best
}

fn index(passages: &[(u32, Vec<String>)]) -> InvertedIndex {
    let mut words = InvertedIndex::default();
    passages.iter().for_each(|(memory, terms)| words.push(*memory, &terms.join(" ")).unwrap());
    words
}

fn asked<'a>(terms: impl IntoIterator<Item = &'a str>) -> TermQuery {
    TermQuery::new(&counted(terms.into_iter().map(str::to_owned)))
}

fn collection(indexes: &[&InvertedIndex], query: &TermQuery) -> Collection {
    let mut collection = Collection::default();
    indexes.iter().for_each(|words| words.count(query, &mut collection));
    collection
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-4 * (1.0 + a.abs())
}

/// Makes one of few terms, of which some are in most passages, as stop words are.
fn term() -> impl Strategy<Value = String> {
    prop_oneof![3 => 0..2u32, 2 => 2..6u32, 1 => 6..40u32].prop_map(|n| format!("t{n}"))
}

/// The score of a passage that had all the terms of the query, each as often as can be.
fn ideal(statistics: &Collection, query: &TermQuery) -> f64 {
    (0..query.terms.len()).map(|term| f64::from(statistics.worth(term) * (BM25.k1 + 1.0))).sum()
}

proptest! {
    #[test]
    fn the_best_are_those_of_an_exhaustive_search(
        passages in prop::collection::vec((0..30u32, prop::collection::vec(term(), 0..12)), 0..120),
        query in prop::collection::vec(term(), 0..8),
        limit in 1..12usize,
        hidden in 0..5u32,
    ) {
        let words = index(&passages);
        let asked = asked(query.iter().map(String::as_str));
        // all, all but one in four, or one alone
        let allowed = |memory: u32| if hidden == 4 { memory == 7 } else { hidden == 3 || memory % 4 != hidden };
        let collection = collection(&[&words], &asked);
        let found = words.search(&asked, &collection, limit, allowed);
        let expected = naive(&passages, &query, allowed);
        let mut scores: Vec<f64> = expected.values().copied().collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        prop_assert_eq!(found.hits.len(), limit.min(expected.len()));
        for (Hit { memory, score, .. }, rank) in found.hits.iter().zip(0..) {
            prop_assert!(close(f64::from(*score), expected[memory]), "{} {:?}", score, expected);
            prop_assert!(close(f64::from(*score), scores[rank]), "{} at {}: {:?}", score, rank, scores);
        }
        prop_assert!(found.truncated || expected.len() == found.hits.len());
    }

    #[test]
    fn no_score_is_above_the_ideal_and_parts_of_a_collection_score_like_the_whole(
        passages in prop::collection::vec((0..30u32, prop::collection::vec(term(), 1..12)), 2..60),
        query in prop::collection::vec(term(), 1..8),
        cut in 0..60usize,
    ) {
        let asked = asked(query.iter().map(String::as_str));
        let (left, right) = passages.split_at(cut.min(passages.len()));
        let parts = [index(left), index(right)];
        let whole = index(&passages);
        let statistics = collection(&[&whole], &asked);
        prop_assert_eq!(&statistics, &collection(&[&parts[0], &parts[1]], &asked));
        let of = |words: &InvertedIndex| words.search(&asked, &statistics, 100, |_| true).hits;
        let mut best: BTreeMap<u32, f32> = BTreeMap::new();
        for Hit { memory, score, .. } in parts.iter().flat_map(of) {
            let entry = best.entry(memory).or_insert(score);
            *entry = entry.max(score);
        }
        let all = of(&whole);
        prop_assert_eq!(all.len(), best.len());
        for Hit { memory, score, .. } in all {
            prop_assert!(close(f64::from(score), f64::from(best[&memory])));
            prop_assert!(f64::from(score) <= ideal(&statistics, &asked));
        }
    }
}

#[test]
fn of_a_long_query_the_terms_are_searched_that_count_most_of_those_that_are_there() {
    let all: Vec<String> = (0..100).map(|n| format!("own{n}")).collect();
    let passages: Vec<(u32, Vec<String>)> =
        (0..100u32).map(|n| (n, vec!["common".to_owned(), all[n as usize].clone()])).collect();
    let words = index(&passages);
    let found = |terms: Vec<&str>| {
        let query = asked(terms);
        let collection = collection(&[&words], &query);
        let hits = words.search(&query, &collection, 200, |_| true).hits;
        hits.iter().map(|hit| hit.memory).collect::<Vec<_>>()
    };
    let own = || all.iter().map(String::as_str);
    assert_eq!(found(own().chain(["common", "own99"]).collect())[0], 99, "what is said twice counts most");
    assert_eq!(found(own().chain(["own99"]).collect()).len(), SEARCHED_TERMS);
    let absent: Vec<String> = (0..120).map(|n| format!("absent{n}")).collect();
    assert_eq!(found(absent.iter().map(String::as_str).chain(["own7"]).collect()), [7]);
}

#[test]
fn a_query_of_stop_words_and_a_rare_one_looks_at_few_passages_and_says_that_it_left_some_out() {
    let passages: Vec<(u32, Vec<String>)> = (0..5_000u32)
        .map(|n| {
            let rare = (n % 500 == 7).then(|| "rare".to_owned());
            let common = ["the", "of"].into_iter().filter(|_| n % 3 != 0).map(str::to_owned);
            (n, common.chain(rare).chain([format!("own{n}")]).collect())
        })
        .collect();
    let words = index(&passages);
    let query = asked(["the", "of", "rare", "rare", "never"]);
    let found = words.search(&query, &collection(&[&words], &query), 5, |_| true);
    assert!(found.truncated);
    assert_eq!(found.hits.len(), 5);
    assert!(found.hits.iter().all(|hit| hit.memory % 500 == 7));
}

#[test]
fn of_a_few_that_may_be_found_all_are_found_and_none_that_lacks_the_words() {
    let passages: Vec<(u32, Vec<String>)> =
        (0..10_000u32).map(|n| (n, vec!["the".to_owned(), format!("own{}", n % 300)])).collect();
    let words = index(&passages);
    let found = |terms: &[&str], limit: usize| {
        let query = asked(terms.iter().copied());
        words.search(&query, &collection(&[&words], &query), limit, |memory| memory % 1_000 == 7)
    };
    assert_eq!(words.few(|memory| memory % 1_000 == 7).map(|few| few.len()), Some(10));
    assert_eq!(words.few(|memory| memory % 3 == 0), None);
    let (all, some) = (found(&["the", "never"], 10), found(&["the"], 3));
    assert_eq!((all.hits.len(), all.truncated, some.hits.len(), some.truncated), (10, false, 3, true));
    let one = found(&["own7"], 10);
    assert_eq!(one.hits.iter().map(|hit| hit.memory).collect::<Vec<_>>(), [7, 3_007, 6_007, 9_007]);
}

#[test]
fn what_is_not_in_the_query_or_the_index_finds_nothing() {
    let words = index(&[(0, vec!["a".into()])]);
    for terms in [&[][..], &["b"]] {
        let query = asked(terms.iter().copied());
        assert_eq!(words.search(&query, &collection(&[&words], &query), 5, |_| true), TopHits::default());
    }
    assert_eq!(InvertedIndex::default().search(&asked(["a"]), &Collection::default(), 5, |_| true), TopHits::default());
}

#[test]
fn a_passage_takes_five_bytes_for_each_of_its_terms_and_little_else() {
    let mut words = InvertedIndex::default();
    for passage in 0..20_000u32 {
        let terms: Vec<String> = (0..25).map(|n| format!("w{}", (passage * 31 + n * n * 17) % 2_000)).collect();
        words.push(passage, &terms.join(" ")).unwrap();
    }
    words.shrink();
    let postings: usize = words.postings.iter().map(|postings| postings.packed.len()).sum();
    assert!(words.bytes() < 6 * postings, "{} bytes for {postings} postings", words.bytes());
}

#[test]
fn galloping_counts_the_smaller_ones() {
    let sorted: Vec<u32> = (0..100).map(|n| n * 3).collect();
    for from in 0..100 {
        for number in 0..310 {
            let expected = sorted[from..].iter().filter(|other| **other < number).count();
            assert_eq!(gallop(&sorted[from..], number), expected, "{number} from {from}");
        }
    }
    assert_eq!(gallop(&[], 1), 0);
}
