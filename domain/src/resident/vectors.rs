//! Search by cosine over vectors that are kept in a quarter of their size: whole numbers of 8 bits and one scale a
//! vector. Few vectors are all compared. Of many first the signs are, one bit a number, after the mean of all has been
//! taken off; the nearest by signs are then compared by their numbers.

use rayon::prelude::*;

use super::{Found, kernels, push};

/// Rows are kept in blocks of so many, so that growing never copies all of them.
const BLOCK_ROWS: usize = 4_096;
/// The largest number of a vector becomes this; that of a query, which is kept finer, the other.
const ROW_MAX: f32 = 127.0;
const QUERY_MAX: f32 = 2_047.0;
/// From so many rows on there is a sieve: below, comparing all takes a few milliseconds.
const ROWS_WORTH_A_SIEVE: usize = 40_000;
/// A sieve is built anew when there are so many times more rows than it was built for.
const SIEVE_GROWTH: usize = 2;
/// One in so many rows passes the sieve, but never fewer than so many, and so many for each memory that is wanted.
const SIEVE_SHARE: usize = 100;
const SIEVE_LEAST: usize = 2_000;
const SIEVE_A_MEMORY: usize = 20;
/// Blocks that are sieved, and rows that are compared, by one thread at least: with fewer it takes longer to hand them over.
const BLOCKS_A_THREAD: usize = 8;
const ROWS_A_THREAD: usize = 1_000;

#[derive(Debug)]
pub(super) struct Vectors {
    dims: usize,
    blocks: Vec<Block>,
    memories: Vec<u32>,
    /// The mean of the rows there were when the sieve was built. Rows have signs exactly when there is one.
    mean: Option<Vec<f32>>,
    /// With so many rows the sieve is built the next time.
    sieve_at: usize,
}

#[derive(Debug, Default)]
struct Block {
    numbers: Vec<i8>,
    scales: Vec<f32>,
    signs: Vec<u64>,
}

impl Vectors {
    pub(super) fn new(dims: usize) -> Self {
        let sieve_at = ROWS_WORTH_A_SIEVE * SIEVE_GROWTH;
        Self { dims, blocks: Vec::new(), memories: Vec::new(), mean: None, sieve_at }
    }

    /// A vector of another length than the others is left out.
    pub(super) fn push(&mut self, memory: u32, vector: &[f32]) {
        if vector.len() != self.dims || self.dims == 0 {
            return;
        }
        if self.memories.len().is_multiple_of(BLOCK_ROWS) {
            self.blocks.push(Block::default());
        }
        let unit = unit(vector);
        let Some(block) = self.blocks.last_mut() else { return };
        let largest = unit.iter().fold(0.0, |largest: f32, number| largest.max(number.abs()));
        let scale = if largest > 0.0 { largest / ROW_MAX } else { 1.0 };
        block.numbers.extend(unit.iter().map(|number| (number / scale).round() as i8));
        block.scales.push(scale);
        if let Some(mean) = &self.mean {
            signs(&unit, mean, &mut block.signs);
        }
        push(&mut self.memories, memory);
        if self.memories.len() >= self.sieve_at {
            self.build_sieve();
        }
    }

    /// Builds the sieve where there are enough rows to need one.
    pub(super) fn build_sieve(&mut self) {
        if self.memories.len() < ROWS_WORTH_A_SIEVE {
            return;
        }
        let mut sum = vec![0.0f64; self.dims];
        for (row, scale) in self.blocks.iter().flat_map(|block| block.rows(self.dims)) {
            sum.iter_mut().zip(row).for_each(|(sum, number)| *sum += f64::from(f32::from(*number) * scale));
        }
        let count = self.memories.len() as f64;
        let mean: Vec<f32> = sum.into_iter().map(|sum| (sum / count) as f32).collect();
        let mut vector = vec![0.0; self.dims];
        for block in &mut self.blocks {
            let mut all = Vec::with_capacity(block.scales.len() * self.dims.div_ceil(64));
            for (row, scale) in block.rows(self.dims) {
                vector.iter_mut().zip(row).for_each(|(to, number)| *to = f32::from(*number) * scale);
                signs(&vector, &mean, &mut all);
            }
            block.signs = all;
        }
        self.mean = Some(mean);
        self.sieve_at = self.memories.len() * SIEVE_GROWTH;
    }

    pub(super) fn bytes(&self) -> usize {
        let of = |block: &Block| block.numbers.capacity() + block.scales.capacity() * 4 + block.signs.capacity() * 8;
        self.blocks.iter().map(of).sum::<usize>() + self.memories.capacity() * 4
    }

    /// The memories with the nearest vectors; of vectors of opposite directions the cosine is negative.
    pub(super) fn search(&self, query: &[f32], limit: usize, allowed: impl Fn(u32) -> bool + Sync) -> Found {
        if query.len() != self.dims || self.memories.is_empty() {
            return Found::default();
        }
        let unit = unit(query);
        let finely = Query::new(&unit);
        match &self.mean {
            None => Found::best(self.compare_all(&finely, allowed), limit),
            Some(mean) => {
                let mut own = Vec::new();
                signs(&unit, mean, &mut own);
                let passing = self.sieve(&own, limit, allowed);
                let found = Found::best(self.compare(&finely, &passing.rows), limit);
                Found { truncated: found.truncated || passing.left_out, ..found }
            }
        }
    }

    fn compare_all(&self, query: &Query, allowed: impl Fn(u32) -> bool) -> Vec<(u32, f32)> {
        let mut scored = Vec::with_capacity(self.memories.len());
        let mut dots = Vec::with_capacity(BLOCK_ROWS);
        for (block, memories) in self.blocks.iter().zip(self.memories.chunks(BLOCK_ROWS)) {
            dots.clear();
            kernels::dots(&query.numbers, &block.numbers, &mut dots);
            let rows = memories.iter().zip(dots.iter().zip(&block.scales));
            let cosines = rows.map(|(memory, (dot, scale))| (*memory, query.cosine(*dot, *scale)));
            scored.extend(cosines.filter(|(memory, _)| allowed(*memory)));
        }
        scored
    }

    fn compare(&self, query: &Query, rows: &[u32]) -> Vec<(u32, f32)> {
        let cosine = |dot: &mut Vec<i32>, row: usize| {
            let (block, at) = (&self.blocks[row / BLOCK_ROWS], row % BLOCK_ROWS);
            dot.clear();
            kernels::dots(&query.numbers, &block.numbers[at * self.dims..][..self.dims], dot);
            query.cosine(dot[0], block.scales[at])
        };
        let scored = rows
            .par_iter()
            .with_min_len(ROWS_A_THREAD)
            .map_init(|| Vec::with_capacity(1), |dot, row| (self.memories[*row as usize], cosine(dot, *row as usize)));
        scored.collect()
    }

    /// The allowed rows whose signs differ least from the query's.
    fn sieve(&self, query: &[u64], limit: usize, allowed: impl Fn(u32) -> bool + Sync) -> Passing {
        let wanted = (self.memories.len() / SIEVE_SHARE).max(SIEVE_LEAST).max(limit.saturating_mul(SIEVE_A_MEMORY));
        let none = || Near::none(self.dims, wanted);
        let blocks = self.blocks.par_iter().zip(self.memories.par_chunks(BLOCK_ROWS)).enumerate();
        let some = blocks.with_min_len(BLOCKS_A_THREAD).fold(none, |mut near, (number, (block, memories))| {
            near.add(query, block, number * BLOCK_ROWS, |at| allowed(memories[at]));
            near
        });
        some.reduce(none, Near::and).passing()
    }
}

/// Rows that passed the sieve.
struct Passing {
    rows: Vec<u32>,
    left_out: bool,
}

/// The rows that differ least, of those that were looked at: so many as are wanted, and some more.
struct Near {
    wanted: usize,
    rows: Vec<(u16, u32)>,
    at_distance: Vec<usize>,
    /// Rows that are farther are left out.
    farthest: usize,
    left_out: bool,
    distances: Vec<u16>,
}

impl Near {
    fn none(dims: usize, wanted: usize) -> Self {
        let (rows, at_distance, distances) = (Vec::new(), vec![0; dims + 1], Vec::new());
        Self { wanted, rows, at_distance, farthest: dims, left_out: false, distances }
    }

    /// `first`: the number of the block's first row.
    fn add(&mut self, query: &[u64], block: &Block, first: usize, allowed: impl Fn(usize) -> bool) {
        self.distances.clear();
        kernels::distances(query, &block.signs, &mut self.distances);
        for (at, distance) in self.distances.iter().enumerate() {
            if usize::from(*distance) <= self.farthest && allowed(at) {
                self.rows.push((*distance, (first + at) as u32));
                self.at_distance[usize::from(*distance)] += 1;
            }
        }
        if self.rows.len() > 2 * self.wanted {
            self.leave_out();
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self.at_distance.iter_mut().zip(other.at_distance).for_each(|(own, others)| *own += others);
        self.farthest = self.farthest.min(other.farthest);
        self.left_out |= other.left_out;
        self
    }

    /// What is farther than as many others as are wanted.
    fn leave_out(&mut self) {
        self.farthest = nearest(&self.at_distance, self.wanted);
        let before = self.rows.len();
        self.rows.retain(|(distance, _)| usize::from(*distance) <= self.farthest);
        self.at_distance[self.farthest + 1..].fill(0);
        self.left_out |= self.rows.len() < before;
    }

    fn passing(mut self) -> Passing {
        self.leave_out();
        Passing { rows: self.rows.into_iter().map(|(_, row)| row).collect(), left_out: self.left_out }
    }
}

/// The least distance within which there are so many, or the greatest.
fn nearest(at_distance: &[usize], wanted: usize) -> usize {
    let mut within = 0;
    let enough = at_distance.iter().position(|count| {
        within += count;
        within >= wanted
    });
    enough.unwrap_or(at_distance.len() - 1)
}

impl Block {
    fn rows(&self, dims: usize) -> impl Iterator<Item = (&[i8], f32)> {
        self.numbers.chunks_exact(dims).zip(self.scales.iter().copied())
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

/// Of length 1; what has no length stays as it is.
fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    let factor = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
    vector.iter().map(|number| number * factor).collect()
}

/// A bit for each number: whether it is above the mean.
fn signs(vector: &[f32], mean: &[f32], signs: &mut Vec<u64>) {
    for (numbers, means) in vector.chunks(64).zip(mean.chunks(64)) {
        let above = numbers.iter().zip(means).enumerate().map(|(bit, (n, mean))| u64::from(n > mean) << bit);
        signs.push(above.sum());
    }
}

#[cfg(test)]
mod tests;
