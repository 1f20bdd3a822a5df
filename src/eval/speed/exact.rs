//! The nearest memories by exact search, which compares every vector with the query. What an index finds is held
//! against it, and so is its time: it is the plainest search there is, over vectors that lie in memory.

use std::time::{Duration, Instant};

use super::synthetic::{DIMS, Synthetic};

/// This many vectors are made before they are compared. They fit into a processor's cache.
const BLOCK: usize = 256;
/// This many sums are added up side by side.
const LANES: usize = 16;

/// The numbers of the nearest memories, for each query.
pub(crate) struct Nearest {
    pub(crate) numbers: Vec<Vec<u32>>,
    /// The time of comparing for one query, on one thread, without making the vectors.
    pub(crate) a_query: Duration,
}

/// Finds the `k` nearest memories of the workspace that is asked. `done` is told how many memories were compared.
pub(crate) fn nearest(bank: &Synthetic, queries: &[Vec<f32>], k: usize, done: impl Fn(u64)) -> Nearest {
    let mut best: Vec<Vec<(f32, u32)>> = vec![Vec::new(); queries.len()];
    let mut compared = Duration::ZERO;
    let numbers: Vec<u32> = (0..bank.rows()).filter(|number| Synthetic::is_queried(*number)).collect();
    for block in numbers.chunks(BLOCK) {
        let vectors: Vec<Vec<f32>> = block.iter().map(|number| bank.vector(*number)).collect();
        let begun = Instant::now();
        for (query, best) in queries.iter().zip(&mut best) {
            for (number, vector) in block.iter().zip(&vectors) {
                let cosine = dot(query, vector);
                if best.len() < k || best.last().is_some_and(|(least, _)| cosine > *least) {
                    let at = best.partition_point(|(other, _)| *other >= cosine);
                    best.insert(at, (cosine, *number));
                    best.truncate(k);
                }
            }
        }
        compared += begun.elapsed();
        done(block.last().map_or(0, |number| u64::from(*number) + 1));
    }
    let numbers = best.into_iter().map(|best| best.into_iter().map(|(_, number)| number).collect()).collect();
    Nearest { numbers, a_query: compared / queries.len().max(1) as u32 }
}

/// Returns the share of the nearest memories that were found, over all queries.
pub(crate) fn recall(nearest: &[Vec<u32>], found: &[Vec<u32>]) -> Option<f64> {
    let wanted: usize = nearest.iter().map(Vec::len).sum();
    let hits = nearest.iter().zip(found).flat_map(|(nearest, found)| nearest.iter().filter(|n| found.contains(n)));
    (wanted > 0).then(|| hits.count() as f64 / wanted as f64)
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    const { assert!(DIMS.is_multiple_of(LANES)) }
    let mut sums = [0f32; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_those_that_sorting_all_of_them_finds() {
        let bank = Synthetic::new(500, 1);
        let queries: Vec<Vec<f32>> = (0..5).map(|number| bank.query(number).vector).collect();
        let found = nearest(&bank, &queries, 10, |_| {});
        for (query, found) in queries.iter().zip(&found.numbers) {
            let numbers = (0..500).filter(|number| Synthetic::is_queried(*number));
            let mut all: Vec<(f32, u32)> = numbers.map(|number| (dot(query, &bank.vector(number)), number)).collect();
            all.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            assert_eq!(*found, all[..10].iter().map(|(_, number)| *number).collect::<Vec<_>>());
        }
        assert!(found.a_query > Duration::ZERO);
    }

    #[test]
    fn recall_is_the_share_of_the_nearest_in_whatever_order() {
        let nearest = vec![vec![1, 2, 3], vec![4]];
        assert_eq!(recall(&nearest, &[vec![3, 1, 2], vec![4, 9]]), Some(1.0));
        assert_eq!(recall(&nearest, &[vec![1, 7, 8], vec![4]]), Some(0.5));
        assert_eq!(recall(&[], &[]), None);
    }
}
