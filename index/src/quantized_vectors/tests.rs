use proptest::prelude::*;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

use super::*;
use crate::hits::Hit;

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    unit(a).iter().zip(unit(b)).map(|(a, b)| a * b).sum()
}

/// Returns numbers that look random and are the same in every run, about normal in sum, in -1..1.
fn noise(seed: u64) -> impl Iterator<Item = f32> {
    let mut numbers = SplitMix64::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    std::iter::repeat_with(move || ((numbers.next_u64() >> 40) as f32 / (1u64 << 23) as f32) - 1.0)
}

/// Returns a vector around one of a few centres, all of which lie on one side, as embeddings of texts do.
fn clustered(n: u64, dims: usize) -> Vec<f32> {
    let (own, centre) = (noise(n + 1), noise(1_000_003 + n % 97));
    own.zip(centre).take(dims).map(|(own, centre)| 0.15 + 0.6 * own + 0.8 * centre).collect()
}

proptest! {
    #[test]
    fn cosines_are_those_of_the_vectors_but_for_rounding(
        vectors in prop::collection::vec((0..20u32, prop::collection::vec(-1.0..1.0f32, 24)), 0..60),
        query in prop::collection::vec(-1.0..1.0f32, 24),
        hidden in 0..20u32,
        limit in 1..25usize,
    ) {
        let mut all = QuantizedVectors::new(24);
        vectors.iter().for_each(|(memory, vector)| all.push(*memory, vector));
        let found = all.search(&query, limit, |memory| memory != hidden);
        let mut best = std::collections::BTreeMap::new();
        for (memory, vector) in vectors.iter().filter(|(memory, _)| *memory != hidden) {
            let entry = best.entry(*memory).or_insert(f32::MIN);
            *entry = entry.max(cosine(vector, &query));
        }
        let mut scores: Vec<f32> = best.values().copied().collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        prop_assert_eq!(found.hits.len(), limit.min(best.len()));
        prop_assert_eq!(found.truncated, best.len() > limit);
        for (Hit { memory, score, .. }, expected) in found.hits.iter().zip(scores) {
            prop_assert!((score - best[memory]).abs() < 0.01 && (score - expected).abs() < 0.01);
        }
    }
}

proptest! {
    #[test]
    fn what_is_near_does_not_depend_on_how_it_was_shared_out(
        distances in prop::collection::vec(0..=64u16, 0..400),
        wanted in 1..30usize,
        cuts in prop::collection::vec(0..25usize, 0..4),
    ) {
        let blocks: Vec<&[u16]> = distances.chunks(16).collect();
        let of = |numbers: std::ops::Range<usize>, farthest| {
            let mut near = Near::none(64, wanted, farthest);
            numbers.for_each(|number| near.add(blocks[number], number * 16, |at| at != 3));
            near
        };
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(blocks.len())).chain([0, blocks.len()]).collect();
        cuts.sort_unstable();
        let (farthest, alone) = (AtomicUsize::new(64), AtomicUsize::new(64));
        let parts = cuts.windows(2).map(|two| of(two[0]..two[1], &farthest));
        let shared = parts.fold(Near::none(64, wanted, &farthest), Near::and).passing().rows;
        prop_assert_eq!(&shared, &of(0..blocks.len(), &alone).passing().rows);

        let allowed = distances.iter().enumerate().filter(|(row, _)| row % 16 != 3);
        let mut sorted: Vec<u16> = allowed.clone().map(|(_, distance)| *distance).collect();
        sorted.sort_unstable();
        let farthest = sorted.get(wanted - 1).or(sorted.last()).copied().unwrap_or_default();
        let expected = allowed.filter(|(_, distance)| **distance <= farthest).map(|(row, _)| row as u32);
        prop_assert_eq!(shared, expected.collect::<Vec<u32>>());
    }
}

#[test]
fn the_prefilter_finds_nearly_all_of_the_nearest() {
    let (dims, count) = (64, ROWS_WORTH_A_PREFILTER as u64 + 5_000);
    let mut all = QuantizedVectors::new(dims);
    let vectors: Vec<Vec<f32>> = (0..count).map(|n| clustered(n, dims)).collect();
    let (before, after) = vectors.split_at(count as usize - 3_000);
    before.iter().zip(0..).for_each(|(vector, n)| all.push(n, vector));
    all.build_prefilter();
    // those that come later pass the binary prefilter as well
    after.iter().zip(before.len() as u32..).for_each(|(vector, n)| all.push(n, vector));
    let mut right = 0;
    for query in 0..20 {
        let query = clustered(1_000_000 + query, dims);
        let mut exact: Vec<(f32, u32)> =
            vectors.iter().zip(0..).filter(|(_, n)| n % 2 == 0).map(|(v, n)| (cosine(v, &query), n)).collect();
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let found = all.search(&query, 10, |memory| memory % 2 == 0);
        assert!(found.truncated && found.hits.len() == 10);
        right += exact[..10].iter().filter(|(_, n)| found.hits.iter().any(|hit| hit.memory == *n)).count();
    }
    assert!(right >= 190, "{right} of 200");

    // on however many threads
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| all.search(&vectors[11], 50, |memory| memory % 3 > 0))
    };
    assert_eq!(on(4), on(1));

    // where few are allowed, none of them is left out
    let few = all.search(&vectors[7], 100, |memory| memory % 1_000 == 7);
    assert_eq!((few.hits.len(), few.truncated), (45, false));
    assert_eq!(few.hits[0].memory, 7);
}

#[test]
fn vectors_without_a_length_or_of_another_one_do_no_harm() {
    let mut all = QuantizedVectors::new(2);
    all.push(0, &[0.0, 0.0]);
    all.push(1, &[1.0]);
    all.push(2, &[0.0, -3.0]);
    let found = all.search(&[0.0, 1.0], 5, |_| true);
    assert_eq!(found.hits.iter().map(|hit| (hit.memory, hit.score)).collect::<Vec<_>>(), [(0, 0.0), (2, -1.0)]);
    assert_eq!(all.search(&[1.0], 5, |_| true), TopHits::default());
    assert_eq!(all.search(&[0.0, 0.0], 5, |_| true).hits.len(), 2);
}

#[test]
fn a_vector_takes_a_little_more_than_a_byte_for_each_number() {
    let mut all = QuantizedVectors::new(384);
    let vector = clustered(1, 384);
    (0..ROWS_WORTH_A_PREFILTER as u32).for_each(|n| all.push(n, &vector));
    all.build_prefilter();
    let each = all.bytes() / ROWS_WORTH_A_PREFILTER;
    assert!((440..480).contains(&each), "{each} bytes");
}
