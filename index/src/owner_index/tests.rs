use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::samples::{strategy, warning};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::text::terms::counted;

fn everything() -> Conditions {
    Conditions::default()
}

fn put(index: &mut OwnerIndex, memory: &Memory, terms: &str, vector: [f32; 2]) {
    index.put(IndexedMemory::new(memory, memory.revision));
    index.clear_passages(memory.id);
    index.add_passage(memory.id, memory.revision, terms, Some(&vector)).unwrap();
}

fn by_words(index: &OwnerIndex, terms: &[&str], conditions: &Conditions) -> Vec<MemoryId> {
    let query = TermQuery::new(&counted(terms.iter().map(|term| term.to_string())));
    let mut collection = Collection::default();
    index.count(&query, &mut collection);
    index.by_words(&query, &collection, conditions, 10).list.hits.into_iter().map(|(id, _)| id).collect()
}

fn by_vector(index: &OwnerIndex, vector: [f32; 2]) -> Vec<MemoryId> {
    index.by_vector(&vector, &everything(), 10).hits.into_iter().map(|(id, _)| id).collect()
}

#[test]
fn what_scoring_needs_comes_back_as_it_was() {
    let mut index = OwnerIndex::new(2);
    for memory in [
        strategy(1),
        warning(2),
        Memory { domain_category: Some(" Odd".into()), pinned: true, prior: 0.123_456_789, ..warning(3) },
    ] {
        put(&mut index, &memory, "a", [1.0, 0.0]);
        let mut evidence = Evidence::default();
        assert_eq!(index.facts(memory.id), Some((Facts::from(&memory), evidence.clone())));
        index.note(memory.id, SignalKind::Helpful, memory.created_at);
        evidence.add(SignalKind::Helpful, memory.created_at);
        assert_eq!(index.facts(memory.id).unwrap().1, evidence);
        index.set_evidence(memory.id, Evidence::default());
        assert_eq!(index.facts(memory.id).unwrap().1, Evidence::default());
    }
    assert_eq!(index.facts(strategy(9).id), None);
}

#[test]
fn a_memory_that_changes_is_found_by_what_it_says_now() {
    let mut index = OwnerIndex::new(2);
    let memory = strategy(1);
    put(&mut index, &memory, "old", [1.0, 0.0]);
    put(&mut index, &strategy(2), "other", [0.0, 1.0]);
    // its location alone
    let pinned = Memory { pinned: true, revision: 2, ..memory.clone() };
    index.put(IndexedMemory::new(&pinned, 7));
    let (location, _) = index.location(memory.id).unwrap();
    assert_eq!(location, RowLocation { row_id: 7, revision: 2 });
    index.moved(memory.id, 8);
    index.moved(strategy(9).id, 8);
    assert_eq!(index.location(memory.id).unwrap().0.row_id, 8);
    assert_eq!(index.location(strategy(9).id), None);
    assert_eq!(by_words(&index, &["old"], &everything()), [memory.id]);
    assert!(index.facts(memory.id).unwrap().0.pinned);
    // its passages
    put(&mut index, &pinned, "new", [0.0, -1.0]);
    assert_eq!(by_words(&index, &["old"], &everything()), []);
    assert_eq!(by_words(&index, &["new"], &everything()), [memory.id]);
    assert_eq!(by_vector(&index, [0.0, 1.0]), [strategy(2).id, memory.id]);

    index.note(memory.id, SignalKind::Helpful, memory.created_at);
    index.remove(memory.id);
    assert_eq!(by_words(&index, &["new", "old"], &everything()), []);
    assert_eq!(by_vector(&index, [0.0, 1.0]), [strategy(2).id]);
    assert_eq!(index.facts(memory.id), None);
    // one that comes back brings none of its evidence
    put(&mut index, &memory, "old", [1.0, 0.0]);
    assert_eq!(index.facts(memory.id).unwrap().1, Evidence::default());
}

#[test]
fn passages_of_several_revisions_leave_those_of_the_highest() {
    for order in [[1, 2], [2, 1]] {
        let mut index = OwnerIndex::new(2);
        let memory = strategy(1);
        index.put(IndexedMemory::new(&memory, 0));
        for revision in order {
            for n in 0..2 {
                index.add_passage(memory.id, revision, &format!("of{revision} n{n}"), None).unwrap();
            }
        }
        assert_eq!(by_words(&index, &["of1"], &everything()), []);
        for term in ["of2", "n0", "n1"] {
            assert_eq!(by_words(&index, &[term], &everything()), [memory.id]);
        }
    }
    let mut index = OwnerIndex::new(2);
    index.add_passage(strategy(1).id, 1, "stranger", Some(&[1.0, 0.0])).unwrap();
    index.note(strategy(1).id, SignalKind::Helpful, strategy(1).created_at);
    assert_eq!(by_words(&index, &["stranger"], &everything()), []);
    assert_eq!(index.evidence.len(), 0);
}

#[test]
fn conditions_hold_of_what_is_found_as_they_hold_of_the_memory() {
    let tagged = |n: u128, tags: &[&str], domain: Option<&str>| Memory {
        pattern_tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        domain_category: domain.map(Into::into),
        ..strategy(n)
    };
    let memories = [
        tagged(1, &["io", "retry"], Some("Parsing")),
        tagged(2, &["io"], None),
        Memory { difficulty_level: Some("HARD".into()), ..warning(3) },
        Memory { domain_category: Some(" parsing".into()), ..warning(4) },
    ];
    let mut index = OwnerIndex::new(2);
    memories.iter().for_each(|memory| put(&mut index, memory, "common", [1.0, 0.0]));
    let made = memories[0].created_at;
    for conditions in [
        everything(),
        Conditions { domain: Some("PARSING ".into()), ..everything() },
        Conditions { domain: Some(String::new()), ..everything() },
        Conditions { difficulty: Some("hard".into()), ..everything() },
        Conditions { tags: vec!["io".into()], ..everything() },
        Conditions { tags: vec!["io".into(), "retry".into()], ..everything() },
        Conditions { tags: vec!["io".into(), "unknown".into()], ..everything() },
        Conditions { warnings_only: true, ..everything() },
        Conditions { without_warnings: true, domain: Some("parsing".into()), ..everything() },
        Conditions { outcome: Some(memories[2].outcome), ..everything() },
        Conditions { source_type: Some(memories[0].source_type), ..everything() },
        Conditions { since: Some(made), ..everything() },
        Conditions { until: Some(made), ..everything() },
    ] {
        let expected: BTreeSet<MemoryId> =
            memories.iter().filter(|memory| conditions.hold(memory)).map(|memory| memory.id).collect();
        assert_eq!(by_words(&index, &["common"], &conditions).into_iter().collect::<BTreeSet<_>>(), expected);
        let vector = index.by_vector(&[1.0, 0.0], &conditions, 10);
        assert_eq!(vector.hits.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>(), expected, "{conditions:?}");
    }
}

#[test]
fn warnings_are_found_by_their_error_newest_first() {
    let mut index = OwnerIndex::new(2);
    let warnings = [warning(1), warning(2), warning(3)];
    warnings.iter().for_each(|memory| put(&mut index, memory, "words", [1.0, 0.0]));
    put(&mut index, &strategy(4), "words", [1.0, 0.0]);
    index.remove(warnings[1].id);
    let error = warnings[0].signature().unwrap();
    assert_eq!(index.by_signature(&error, &everything(), 10), [warnings[2].id, warnings[0].id]);
    assert_eq!(index.by_signature(&error, &everything(), 1), [warnings[2].id]);
    assert_eq!(index.by_signature(&Signature::of("Unheard", None), &everything(), 10), []);
    let none = Conditions { without_warnings: true, ..everything() };
    assert_eq!(index.by_signature(&error, &none, 10), []);
}

#[test]
fn an_index_that_changed_much_is_worn() {
    let mut index = OwnerIndex::new(2);
    for n in 0..2_000 {
        put(&mut index, &strategy(n), "words", [1.0, 0.0]);
    }
    assert!(!index.is_worn());
    for n in 0..1_100 {
        put(&mut index, &strategy(n), "changed", [1.0, 0.0]);
    }
    assert!(index.is_worn());
}

#[test]
fn lists_of_several_indexes_become_one() {
    let id = |n| strategy(n).id;
    let list = |hits: &[(u128, f64)], truncated| RankedList {
        hits: hits.iter().map(|(n, score)| (id(*n), *score)).collect(),
        truncated,
    };
    let lists = || [list(&[(1, 0.9), (2, 0.5)], false), list(&[(3, 0.7), (2, 0.6)], false)];
    assert_eq!(merge(lists(), 5), list(&[(1, 0.9), (3, 0.7), (2, 0.6)], false));
    assert_eq!(merge(lists(), 2), list(&[(1, 0.9), (3, 0.7)], true));
    assert!(merge([list(&[], true)], 2).truncated);
}

#[test]
fn a_million_memories_would_fit_into_900_megabytes() {
    const COUNT: u128 = 5_000;
    let mut index = OwnerIndex::new(384);
    for n in 0..COUNT {
        let terms: Vec<String> = (0..25).map(|word| format!("w{}", (n * 31 + word * word * 17) % 4_000)).collect();
        index.put(IndexedMemory::new(&strategy(n), 0));
        let vector: Vec<f32> = (0..384u128).map(|at| ((n * 7 + at * 13) % 101) as f32 - 50.0).collect();
        index.add_passage(strategy(n).id, 1, &terms.join(" "), Some(&vector)).unwrap();
    }
    index.optimize();
    let each = index.bytes() / COUNT as usize;
    assert!(each < 900 - 48, "{each} bytes a memory, before its 48 of the binary prefilter");
    assert!(index.columns.bytes() / (COUNT as usize) < 180, "{}", index.columns.bytes() / COUNT as usize);
}

proptest! {
    #[test]
    fn the_best_are_the_best_passages_of_memories_that_may_be_found(
        scores in prop::collection::vec(0..20u8, 0..300),
        memories in 1..120u32,
        hidden in 1..40u32,
        limit in 0..12usize,
    ) {
        let scored: Vec<(u32, f32)> = (0..).zip(scores.iter().map(|score| f32::from(*score))).collect();
        let memory = |passage: u32| Some(passage * 7 % memories).filter(|memory| memory % hidden == 0);
        let found = TopHits::best(scored.clone(), limit, memory);

        let mut sorted = scored;
        sorted.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        let mut all: Vec<(u32, f32)> = Vec::new();
        for (passage, score) in sorted {
            let Some(memory) = memory(passage) else { continue };
            if all.iter().all(|(known, _)| *known != memory) {
                all.push((memory, score));
            }
        }
        prop_assert_eq!(found.truncated, all.len() > limit);
        all.truncate(limit);
        prop_assert_eq!(found.hits.iter().map(|hit| (hit.memory, hit.score)).collect::<Vec<_>>(), all);
    }
}
