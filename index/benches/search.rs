//! This bench measures a search of owner indexes. It takes the time of a search by words (one thread) and by vector
//! (all cores), of 10,000, 100,000 and 1,000,000 memories with a passage each; the same where conditions leave half of
//! the memories, or one in 5,000. It also counts the bytes of a memory, and how many of the ten nearest by exact search
//! the search by vector finds.
//!
//! The texts are made up: 25 terms a passage, as frequent as words are (Zipf), queries of 12 words of which half are
//! among the 50 most frequent ones. So are the vectors: 384 numbers around 2,000 centres. The bench leaves out
//! everything around the model: embedding, the store, scoring, reading bodies.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench that prints what it measured, or fails")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::{Facts, MemoryOutcome, Scope, SourceType};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::text::terms;
use reasoning_bank_index::{Collection, IndexedMemory, OwnerIndex, RowLocation, TermQuery};

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];
const DIMS: usize = 384;
const TERMS: usize = 25;
const CENTRES: u64 = 2_000;
const QUERIES: u64 = 64;
/// The number of queries that are compared with exact search, which is slow, as it reads every vector in f32.
const QUERIES_COMPARED: u64 = 20;
const LIMIT: usize = 50;
const FEW: u64 = 5_000;
const VOCABULARY: f64 = 400_000.0;

/// A stream of numbers that are the same in every run.
struct NumberStream(SplitMix64);

impl NumberStream {
    fn of(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a number in 0..1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The rank of a word, as often as its inverse.
    fn word(&mut self) -> u64 {
        VOCABULARY.powf(self.share()) as u64
    }

    fn number(&mut self) -> f32 {
        // about normal: the sum of a few even ones
        let mut sum = 0.0;
        let bits = self.next();
        for part in 0..4 {
            sum += ((bits >> (part * 16)) & 0xffff) as f32 / 32_768.0 - 1.0;
        }
        sum
    }
}

fn text(n: u64) -> String {
    let mut noise = NumberStream::of(n.wrapping_mul(31));
    (0..TERMS).map(|_| format!("w{}", noise.word())).collect::<Vec<_>>().join(" ")
}

fn query(n: u64) -> TermQuery {
    let mut noise = NumberStream::of(n + 77_777_777);
    let mut rare = NumberStream::of(n.wrapping_mul(31));
    let words: Vec<String> = (0..6)
        .map(|_| 1 + noise.next() % 50)
        .chain(std::iter::repeat_with(|| rare.word()).filter(|word| *word > 50).take(6))
        .map(|word| format!("w{word}"))
        .collect();
    TermQuery::new(&terms::query(&words.join(" ")))
}

fn vector(n: u64) -> Vec<f32> {
    let (mut own, mut centre, mut shared) =
        (NumberStream::of(n + 1), NumberStream::of((1 << 40) + n % CENTRES), NumberStream::of(1 << 50));
    (0..DIMS).map(|_| 0.5 * shared.number() + centre.number() + own.number()).collect()
}

fn id(n: u64) -> MemoryId {
    uuid::Uuid::from_u128(u128::from(n)).into()
}

fn index(size: usize) -> OwnerIndex {
    let mut index = OwnerIndex::new(DIMS);
    for n in 0..size as u64 {
        let facts = Facts {
            id: id(n),
            scope: Scope::Project,
            outcome: if n % 2 == 0 { MemoryOutcome::Success } else { MemoryOutcome::Mixed },
            signature: None,
            domain: None,
            prior: 0.7,
            pinned: false,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            trace_id: None,
            text_key: format!("{n:064x}"),
        };
        let location = RowLocation { row_id: n, revision: 1 };
        let source_type = if n % FEW == 7 { SourceType::Explicit } else { SourceType::Imported };
        index.put(IndexedMemory { facts, tags: Vec::new(), difficulty: None, source_type, location });
        index.add_passage(id(n), 1, &text(n), Some(&vector(n))).expect("room");
    }
    index.optimize();
    index
}

/// The share of the ten nearest that are found.
fn recall(index: &OwnerIndex, size: usize) -> f64 {
    let unit = |vector: Vec<f32>| {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.into_iter().map(|x| x / length).collect::<Vec<f32>>()
    };
    let queries: Vec<Vec<f32>> = (0..QUERIES_COMPARED).map(|n| unit(vector(1 << 33 | n))).collect();
    let mut nearest: Vec<Vec<(f32, u64)>> = vec![Vec::new(); queries.len()];
    for n in 0..size as u64 {
        let vector = unit(vector(n));
        for (query, nearest) in queries.iter().zip(&mut nearest) {
            let cosine = query.iter().zip(&vector).map(|(a, b)| a * b).sum::<f32>();
            if nearest.len() < 10 || cosine > nearest[9].0 {
                nearest.push((cosine, n));
                nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
                nearest.truncate(10);
            }
        }
    }
    let found = queries.iter().zip(&nearest).map(|(query, nearest)| {
        let hits = index.by_vector(query, &Conditions::default(), 10).hits;
        nearest.iter().filter(|(_, n)| hits.iter().any(|(found, _)| *found == id(*n))).count()
    });
    found.sum::<usize>() as f64 / (10 * QUERIES_COMPARED) as f64
}

fn main() {
    let mut criterion = Criterion::default().measurement_time(Duration::from_secs(3)).configure_from_args();
    let everything = Conditions::default();
    let half = Conditions { outcome: Some(MemoryOutcome::Success), ..Conditions::default() };
    let few = Conditions { source_type: Some(SourceType::Explicit), ..Conditions::default() };
    for size in SIZES {
        let index = index(size);
        println!(
            "{size} memories: {} bytes each, {:.3} of the ten nearest are found",
            index.bytes() / size,
            recall(&index, size)
        );
        let queries: Vec<TermQuery> = (0..QUERIES).map(query).collect();
        let vectors: Vec<Vec<f32>> = (0..QUERIES).map(|n| vector(1 << 32 | n)).collect();
        let mut next = (0..QUERIES as usize).cycle();
        for (among, conditions) in [("all", &everything), ("half", &half), ("few", &few)] {
            criterion.bench_with_input(BenchmarkId::new(format!("words of {among}"), size), &index, |bench, index| {
                bench.iter(|| {
                    let query = &queries[next.next().expect("endless")];
                    let mut collection = Collection::default();
                    index.count(query, &mut collection);
                    black_box(index.by_words(query, &collection, conditions, LIMIT))
                });
            });
            criterion.bench_with_input(BenchmarkId::new(format!("vector of {among}"), size), &index, |bench, index| {
                bench.iter(|| black_box(index.by_vector(&vectors[next.next().expect("endless")], conditions, LIMIT)));
            });
        }
    }
}
