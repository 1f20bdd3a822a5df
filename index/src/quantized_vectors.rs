//! Search by cosine over vectors in a quarter of their size: whole numbers of 8 bits and one scale a vector. A few
//! vectors are all compared. Of many vectors, the signs are compared first, one bit a number, after the mean of all has
//! been subtracted. The nearest by signs are then compared by their numbers.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::hits::{TopHits, push};
use super::kernels;

/// The number of rows of a block. Rows are kept in blocks so that growing never copies all of them.
pub(super) const BLOCK_ROWS: usize = 4_096;
/// The whole number that the largest number of a vector becomes.
const ROW_MAX: f32 = 127.0;
/// The same for the vector of a query, which is kept finer.
const QUERY_MAX: f32 = 2_047.0;
/// The least number of rows for which a binary prefilter is built. Below it, comparing all rows takes a few
/// milliseconds.
pub(super) const ROWS_WORTH_A_PREFILTER: usize = 40_000;
/// The growth in rows, as a factor, after which a binary prefilter is built anew.
const PREFILTER_GROWTH: usize = 2;
/// The share of rows that pass the binary prefilter, as one in this number, unless one of the next two constants asks
/// for more.
const PREFILTER_SHARE: usize = 200;
/// The least number of rows that pass.
const PREFILTER_LEAST: usize = 2_000;
/// At least this many rows pass for each memory that is wanted.
const PREFILTER_A_MEMORY: usize = 20;
/// The number of blocks of a binary prefilter that are worth handing to a thread.
pub(super) const BLOCKS_A_PIECE: usize = 8;
/// The number of rows to compare that are worth handing to a thread.
const ROWS_A_PIECE: usize = 1_000;
/// The number of pieces of work that a thread gets. Larger pieces leave more rows out early, but with one piece a
/// thread some threads would wait for others.
const PIECES_A_THREAD: usize = 2;
/// The number of rows by which the processor is told in advance which one it will need, as rows lie far apart.
const ROWS_AHEAD: usize = 4;

#[derive(Debug)]
pub(super) struct QuantizedVectors {
    dims: usize,
    blocks: Vec<VectorBlock>,
    memories: Vec<u32>,
    /// The mean of the rows when the binary prefilter was built. Rows have signs exactly when there is a mean.
    mean: Option<Vec<f32>>,
    /// The number of rows at which the binary prefilter is built the next time.
    prefilter_at: usize,
}

#[derive(Debug, Default)]
struct VectorBlock {
    numbers: Vec<i8>,
    scales: Vec<f32>,
    /// The signs of the rows, where there is a binary prefilter: 64 signs of each row, row after row for all that a
    /// block has room for, then the next 64.
    signs: Vec<u64>,
}

impl QuantizedVectors {
    pub(super) fn new(dims: usize) -> Self {
        let prefilter_at = ROWS_WORTH_A_PREFILTER * PREFILTER_GROWTH;
        Self { dims, blocks: Vec::new(), memories: Vec::new(), mean: None, prefilter_at }
    }

    /// Adds a vector. One of another length than the others is left out.
    pub(super) fn push(&mut self, memory: u32, vector: &[f32]) {
        if vector.len() != self.dims || self.dims == 0 {
            return;
        }
        if self.memories.len().is_multiple_of(BLOCK_ROWS) {
            self.blocks.push(VectorBlock::default());
        }
        let unit = unit(vector);
        let Some(block) = self.blocks.last_mut() else { return };
        let largest = unit.iter().fold(0.0, |largest: f32, number| largest.max(number.abs()));
        let scale = if largest > 0.0 { largest / ROW_MAX } else { 1.0 };
        block.numbers.extend(unit.iter().map(|number| (number / scale).round() as i8));
        block.scales.push(scale);
        if let Some(mean) = &self.mean {
            block.note_signs(block.scales.len() - 1, signs(&unit, mean));
        }
        push(&mut self.memories, memory);
        if self.memories.len() >= self.prefilter_at {
            self.build_prefilter();
        }
    }

    /// Builds the binary prefilter where there are enough rows to need one.
    pub(super) fn build_prefilter(&mut self) {
        if self.memories.len() < ROWS_WORTH_A_PREFILTER {
            return;
        }
        let mut sum = vec![0.0f64; self.dims];
        for block in &self.blocks {
            for row in 0..block.scales.len() {
                let (numbers, scale) = block.row(row, self.dims);
                sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += f64::from(f32::from(*number) * scale));
            }
        }
        let count = self.memories.len() as f64;
        let mean: Vec<f32> = sum.into_iter().map(|sum| (sum / count) as f32).collect();
        let mut vector = vec![0.0; self.dims];
        for block in &mut self.blocks {
            for row in 0..block.scales.len() {
                let (numbers, scale) = block.row(row, self.dims);
                vector.iter_mut().zip(numbers).for_each(|(to, number)| *to = f32::from(*number) * scale);
                block.note_signs(row, signs(&vector, &mean));
            }
        }
        self.mean = Some(mean);
        self.prefilter_at = self.memories.len() * PREFILTER_GROWTH;
    }

    pub(super) fn bytes(&self) -> usize {
        let of =
            |block: &VectorBlock| block.numbers.capacity() + block.scales.capacity() * 4 + block.signs.capacity() * 8;
        self.blocks.iter().map(of).sum::<usize>() + self.memories.capacity() * 4
    }

    /// Finds the memories with the nearest vectors. The cosine of vectors of opposite directions is negative.
    pub(super) fn search(&self, query: &[f32], limit: usize, allowed: impl Fn(u32) -> bool + Sync) -> TopHits {
        if query.len() != self.dims || self.memories.is_empty() {
            return TopHits::default();
        }
        let unit = unit(query);
        let finely = Query::new(&unit);
        match &self.mean {
            None => {
                let memory = |row: u32| Some(self.memories[row as usize]).filter(|memory| allowed(*memory));
                TopHits::best(self.compare_all(&finely), limit, memory)
            }
            Some(mean) => {
                let passing = self.prefilter(&signs(&unit, mean).collect::<Vec<u64>>(), limit, allowed);
                let memory = |row: u32| Some(self.memories[row as usize]);
                let found = TopHits::best(self.compare(&finely, &passing.rows), limit, memory);
                TopHits { truncated: found.truncated || passing.full, ..found }
            }
        }
    }

    fn compare_all(&self, query: &Query) -> Vec<(u32, f32)> {
        let mut scored = Vec::with_capacity(self.memories.len());
        let mut dots = Vec::with_capacity(BLOCK_ROWS);
        for (first, block) in (0..).step_by(BLOCK_ROWS).zip(&self.blocks) {
            dots.clear();
            kernels::dots(&query.numbers, &block.numbers, &mut dots);
            let rows = (first..).zip(dots.iter().zip(&block.scales));
            scored.extend(rows.map(|(row, (dot, scale))| (row, query.cosine(*dot, *scale))));
        }
        scored
    }

    fn compare(&self, query: &Query, rows: &[u32]) -> Vec<(u32, f32)> {
        let numbers = |row: &u32| self.blocks[*row as usize / BLOCK_ROWS].row(*row as usize % BLOCK_ROWS, self.dims);
        let some = |rows: &[u32]| {
            let mut dot = Vec::with_capacity(1);
            let scored = rows.iter().enumerate().map(|(at, row)| {
                if let Some(ahead) = rows.get(at + ROWS_AHEAD) {
                    kernels::read_soon(numbers(ahead).0);
                }
                let (numbers, scale) = numbers(row);
                dot.clear();
                kernels::dots(&query.numbers, numbers, &mut dot);
                (*row, query.cosine(dot[0], scale))
            });
            scored.collect::<Vec<(u32, f32)>>()
        };
        rows.par_chunks(ROWS_A_PIECE).flat_map_iter(some).collect()
    }

    /// Returns the allowed rows whose signs differ least from the query's.
    fn prefilter(&self, query: &[u64], limit: usize, allowed: impl Fn(u32) -> bool + Sync) -> Passing {
        let wanted = passing_count(self.memories.len(), limit);
        let farthest = AtomicUsize::new(self.dims);
        let pieces = PIECES_A_THREAD * rayon::current_num_threads();
        let piece = self.blocks.len().div_ceil(pieces).max(BLOCKS_A_PIECE);
        let blocks = self.blocks.par_chunks(piece).zip(self.memories.par_chunks(piece * BLOCK_ROWS));
        let some = blocks.enumerate().map(|(number, (blocks, memories))| {
            let mut near = Near::none(self.dims, wanted, &farthest);
            let mut distances = [0; BLOCK_ROWS];
            for (at, (block, memories)) in blocks.iter().zip(memories.chunks(BLOCK_ROWS)).enumerate() {
                let distances = &mut distances[..memories.len()];
                kernels::distances(query, &block.signs, distances);
                let first = (number * piece + at) * BLOCK_ROWS;
                near.add(distances, first, |row| allowed(memories[row]));
            }
            near
        });
        some.reduce(|| Near::none(self.dims, wanted, &farthest), Near::and).passing()
    }
}

/// Returns how many of so many rows pass the binary prefilter where `limit` are wanted.
pub(super) fn passing_count(rows: usize, limit: usize) -> usize {
    (rows / PREFILTER_SHARE).max(PREFILTER_LEAST).max(limit.saturating_mul(PREFILTER_A_MEMORY))
}

/// Rows that passed the binary prefilter.
pub(super) struct Passing {
    pub(super) rows: Vec<u32>,
    /// True where as many rows passed as are wanted, so that others may have been left out.
    full: bool,
}

/// The rows that differ least of those that were looked at: as many as are wanted, and some more.
pub(super) struct Near<'a> {
    wanted: usize,
    rows: Vec<(u16, u32)>,
    at_distance: Vec<usize>,
    /// The distance beyond which rows are left out. All threads that look for the nearest of one query lower it for
    /// each other.
    farthest: &'a AtomicUsize,
    /// The number of rows above which some are left out: twice as many as remained the last time.
    full_at: usize,
}

impl<'a> Near<'a> {
    pub(super) fn none(dims: usize, wanted: usize, farthest: &'a AtomicUsize) -> Self {
        Self { wanted, rows: Vec::new(), at_distance: vec![0; dims + 1], farthest, full_at: wanted.saturating_mul(2) }
    }

    /// Adds rows by their distances. `first` is the number of the first row.
    pub(super) fn add(&mut self, distances: &[u16], first: usize, allowed: impl Fn(usize) -> bool) {
        let farthest = self.farthest.load(Ordering::Relaxed);
        for (at, distance) in distances.iter().enumerate() {
            if usize::from(*distance) <= farthest && allowed(at) {
                self.rows.push((*distance, (first + at) as u32));
                self.at_distance[usize::from(*distance)] += 1;
            }
        }
        if self.rows.len() > self.full_at {
            self.leave_out();
            self.full_at = self.rows.len().max(self.wanted).saturating_mul(2);
        }
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self.at_distance.iter_mut().zip(other.at_distance).for_each(|(own, others)| *own += others);
        self
    }

    /// Leaves out the rows that are farther than as many others as are wanted.
    fn leave_out(&mut self) {
        let enough = nearest(&self.at_distance, self.wanted);
        let farthest = self.farthest.fetch_min(enough, Ordering::Relaxed).min(enough);
        self.rows.retain(|(distance, _)| usize::from(*distance) <= farthest);
        self.at_distance[farthest + 1..].fill(0);
    }

    pub(super) fn passing(mut self) -> Passing {
        self.leave_out();
        let full = self.rows.len() >= self.wanted;
        Passing { rows: self.rows.into_iter().map(|(_, row)| row).collect(), full }
    }
}

/// Returns the least distance within which there are as many rows as are wanted, or the greatest distance.
fn nearest(at_distance: &[usize], wanted: usize) -> usize {
    let mut within = 0;
    let enough = at_distance.iter().position(|count| {
        within += count;
        within >= wanted
    });
    enough.unwrap_or(at_distance.len() - 1)
}

impl VectorBlock {
    fn row(&self, row: usize, dims: usize) -> (&[i8], f32) {
        (&self.numbers[row * dims..][..dims], self.scales[row])
    }

    fn note_signs(&mut self, row: usize, signs: impl ExactSizeIterator<Item = u64>) {
        self.signs.resize(signs.len() * BLOCK_ROWS, 0);
        signs.enumerate().for_each(|(at, signs)| self.signs[at * BLOCK_ROWS + row] = signs);
    }
}

struct Query {
    numbers: Vec<i16>,
    scale: f32,
}

impl Query {
    fn new(unit: &[f32]) -> Self {
        let largest = unit.iter().fold(0.0, |largest: f32, number| largest.max(number.abs()));
        let scale = if largest > 0.0 { largest / QUERY_MAX } else { 1.0 };
        Self { numbers: unit.iter().map(|number| (number / scale).round() as i16).collect(), scale }
    }

    fn cosine(&self, dot: i32, scale: f32) -> f32 {
        (dot as f32 * self.scale * scale).clamp(-1.0, 1.0)
    }
}

/// Scales a vector to length 1. A vector whose length is 0 or not finite is multiplied by 0.
fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    let factor = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
    vector.iter().map(|number| number * factor).collect()
}

/// Returns one bit for each number, in words of 64. It is set where the number is above the mean.
pub(super) fn signs(vector: &[f32], mean: &[f32]) -> impl ExactSizeIterator<Item = u64> {
    vector.chunks(64).zip(mean.chunks(64)).map(|(numbers, means)| {
        let above = numbers.iter().zip(means).enumerate().map(|(bit, (n, mean))| u64::from(n > mean) << bit);
        above.sum()
    })
}

#[cfg(test)]
mod tests;
