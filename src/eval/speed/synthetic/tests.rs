use std::collections::{HashMap, HashSet};

use super::*;

fn content(bank: &Synthetic, number: u32) -> String {
    match bank.memory(number, "e") {
        Restorable::Memory { memory, .. } => memory.content,
        other => panic!("{other:?}"),
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn the_same_seed_makes_the_same_bank_and_another_seed_another() {
    let (one, same, other) = (Synthetic::new(1_000, 1), Synthetic::new(1_000, 1), Synthetic::new(1_000, 2));
    for number in [0, 1, 999, 1_000, 5_999] {
        assert_eq!(one.memory(number, "e"), same.memory(number, "e"));
        assert_ne!(one.vector(number), other.vector(number));
        assert_ne!(content(&one, number), content(&other, number));
    }
    assert_eq!(one.query(7).text, same.query(7).text);
    assert_eq!(one.query(7).vector, same.query(7).vector);
    assert_ne!(one.query(7).text, one.query(8).text);
}

#[test]
fn vectors_have_length_one_and_neighbours_that_are_neither_trivial_nor_all_alike() {
    let bank = Synthetic::new(2_000, 1);
    let vectors: Vec<Vec<f32>> = (0..2_000).map(|number| bank.vector(number)).collect();
    assert!(vectors.iter().all(|vector| vector.len() == DIMS && (cosine(vector, vector) - 1.0).abs() < 1e-4));
    let mut found = 0;
    for number in 0..20 {
        let query = bank.query(number).vector;
        let mut cosines: Vec<f32> = vectors.iter().map(|vector| cosine(&query, vector)).collect();
        cosines.sort_by(|a, b| b.total_cmp(a));
        let (nearest, tenth, middle) = (cosines[0], cosines[9], cosines[1_000]);
        assert!(nearest < 0.95 && nearest > tenth && tenth > middle + 0.2, "{nearest} {tenth} {middle}");
        found += usize::from(nearest > 0.7);
    }
    assert!(found > 10, "{found}");
}

#[test]
fn few_words_are_frequent_and_most_are_rare() {
    let bank = Synthetic::new(2_000, 1);
    let mut counts: HashMap<String, u32> = HashMap::new();
    for number in 0..2_000 {
        let content = content(&bank, number);
        assert!((20..=60).contains(&content.split(' ').count()));
        content.split(' ').for_each(|word| *counts.entry(word.to_owned()).or_default() += 1);
    }
    let total: u32 = counts.values().sum();
    let most = counts.values().copied().max().unwrap();
    assert!(most > total / 30, "{most} of {total}");
    let once = counts.values().filter(|count| **count <= 2).count();
    assert!(once > counts.len() / 4, "{once} of {}", counts.len());
}

#[test]
fn every_rank_has_a_word_of_its_own() {
    let words: HashSet<String> = (1..=20_000)
        .map(|rank| {
            let mut word = String::new();
            push_word(&mut word, rank);
            word
        })
        .collect();
    assert_eq!(words.len(), 20_000);
}

#[test]
fn queries_are_in_words_of_a_memory_of_the_workspace_that_is_asked() {
    let bank = Synthetic::new(100, 3);
    let texts: Vec<String> = (0..100).filter(|n| Synthetic::is_queried(*n)).map(|n| content(&bank, n)).collect();
    assert_eq!(texts.len(), 90);
    for number in 0..50 {
        let query = bank.query(number);
        let holds_all = |text: &String| query.text.split(' ').all(|word| text.split(' ').any(|other| other == word));
        assert!(texts.iter().any(holds_all), "{}", query.text);
    }
}
