//! Vectors in 8 bits a number, as episodes have them. Of many, the signs are compared first, one bit a number, after
//! the mean of all directions has been subtracted (`quantized_vectors` does the same for memories). Those that differ
//! least are then compared by their numbers.

use std::sync::atomic::AtomicUsize;

use rayon::prelude::*;

use crate::kernels;
use crate::quantized_vectors::{BLOCK_ROWS, BLOCKS_A_PIECE, Near, ROWS_WORTH_A_PREFILTER, passing_count, signs};

/// Vectors of one length, one after another. A row without a vector is all zeros.
#[derive(Debug, Default)]
pub struct ByteVectors {
    dims: usize,
    numbers: Vec<i8>,
    norms: Vec<f32>,
    prefilter: Option<Prefilter>,
}

/// The signs of all rows.
#[derive(Debug)]
struct Prefilter {
    mean: Vec<f32>,
    /// For each block of rows, the first 64 signs of each row, then the next 64 of each, and so on.
    blocks: Vec<Vec<u64>>,
}

/// A vector that rows are compared with.
pub(super) struct ByteQuery {
    numbers: Vec<i16>,
    length: f32,
}

impl ByteQuery {
    pub(super) fn of(numbers: &[i8]) -> Self {
        Self { numbers: numbers.iter().map(|number| i16::from(*number)).collect(), length: norm(numbers) }
    }
}

impl ByteVectors {
    pub fn new(dims: usize) -> Self {
        Self { dims, ..Self::default() }
    }

    /// Adds a row. A vector of another length is none.
    pub fn push(&mut self, vector: Option<&[u8]>) {
        match vector.filter(|vector| vector.len() == self.dims) {
            Some(vector) => {
                let at = self.numbers.len();
                self.numbers.extend(vector.iter().map(|byte| i8::from_le_bytes([*byte])));
                self.norms.push(norm(&self.numbers[at..]));
            }
            None => {
                self.numbers.extend(std::iter::repeat_n(0, self.dims));
                self.norms.push(0.0);
            }
        }
    }

    /// Compares signs first from now on, where there are so many rows that it is worth that. Rows that are added later
    /// would be left out, so this comes last.
    pub fn build_prefilter(&mut self) {
        if self.norms.len() >= ROWS_WORTH_A_PREFILTER && self.dims > 0 {
            self.prefilter = Some(self.made_prefilter());
        }
    }

    fn made_prefilter(&self) -> Prefilter {
        let rows = self.numbers.chunks_exact(self.dims).zip(&self.norms).filter(|(_, norm)| **norm > 0.0);
        let (mut sum, mut count) = (vec![0.0_f64; self.dims], 0.0);
        for (numbers, norm) in rows {
            sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += f64::from(f32::from(*number) / norm));
            count += 1.0;
        }
        #[allow(clippy::cast_possible_truncation, reason = "a mean of directions lies in -1..=1")]
        let mean: Vec<f32> = sum.into_iter().map(|sum| (sum / f64::max(count, 1.0)) as f32).collect();
        let words = self.dims.div_ceil(64);
        let of_rows = self.numbers.par_chunks(BLOCK_ROWS * self.dims).zip(self.norms.par_chunks(BLOCK_ROWS));
        let of_block = |(numbers, norms): (&[i8], &[f32])| {
            let mut block = vec![0; words * BLOCK_ROWS];
            for (row, (numbers, norm)) in numbers.chunks_exact(self.dims).zip(norms).enumerate() {
                let factor = if *norm > 0.0 { 1.0 / norm } else { 0.0 };
                let unit: Vec<f32> = numbers.iter().map(|number| f32::from(*number) * factor).collect();
                signs(&unit, &mean).enumerate().for_each(|(at, signs)| block[at * BLOCK_ROWS + row] = signs);
            }
            block
        };
        Prefilter { blocks: of_rows.map(of_block).collect(), mean }
    }

    /// Returns the rows to compare with a query of which the `limit` nearest are wanted: all of them where they are
    /// few, else those that are allowed and nearest by signs.
    pub(super) fn near(&self, query: &ByteQuery, limit: usize, allowed: impl Fn(usize) -> bool + Sync) -> Vec<u32> {
        let Some(prefilter) = self.prefilter.as_ref().filter(|_| self.is_compared(query)) else {
            return (0..).zip(&self.norms).map(|(row, _)| row).collect();
        };
        let unit: Vec<f32> = query.numbers.iter().map(|number| f32::from(*number) / query.length).collect();
        let query: Vec<u64> = signs(&unit, &prefilter.mean).collect();
        let (rows, farthest) = (self.norms.len(), AtomicUsize::new(self.dims));
        let none = || Near::none(self.dims, passing_count(rows, limit), &farthest);
        let some = |(piece, blocks): (usize, &[Vec<u64>])| {
            let (mut near, mut distances) = (none(), [0; BLOCK_ROWS]);
            for (at, block) in blocks.iter().enumerate() {
                let first = (piece * BLOCKS_A_PIECE + at) * BLOCK_ROWS;
                let distances = &mut distances[..BLOCK_ROWS.min(rows - first)];
                kernels::distances(&query, block, distances);
                near.add(distances, first, |row| allowed(first + row));
            }
            near
        };
        prefilter.blocks.par_chunks(BLOCKS_A_PIECE).enumerate().map(some).reduce(none, Near::and).passing().rows
    }

    /// Returns the cosine of a row with the query; 0 where it has no vector, or the query is of another length.
    pub(super) fn cosine(&self, row: usize, query: &ByteQuery) -> f32 {
        let own = self.norms[row];
        if own <= 0.0 || !self.is_compared(query) {
            return 0.0;
        }
        let mut dot = Vec::with_capacity(1);
        kernels::dots(&query.numbers, &self.numbers[row * self.dims..][..self.dims], &mut dot);
        #[allow(clippy::cast_precision_loss, reason = "a dot product has less than 24 bits for vectors of this length")]
        let dot = dot[0] as f32;
        dot / (own * query.length)
    }

    fn is_compared(&self, query: &ByteQuery) -> bool {
        query.numbers.len() == self.dims && query.length > 0.0
    }
}

fn norm(numbers: &[i8]) -> f32 {
    let sum: i64 = numbers.iter().map(|number| i64::from(*number).pow(2)).sum();
    #[allow(clippy::cast_precision_loss, reason = "the length of a vector needs no more than 24 bits")]
    let sum = sum as f32;
    sum.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: usize = 72;

    /// Makes a vector of numbers that follow from its own.
    fn vector(number: u64) -> Vec<u8> {
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 56) as u8
        };
        (0..DIMS).map(|_| next().wrapping_add(20)).collect()
    }

    #[test]
    fn signs_leave_out_few_of_the_nearest_and_nothing_that_is_not_allowed_passes() {
        let mut vectors = ByteVectors::new(DIMS);
        (0..41_000_u64).for_each(|n| vectors.push((!n.is_multiple_of(50)).then(|| vector(n)).as_deref()));
        let query: Vec<i8> = vector(77).into_iter().map(|byte| (byte as i8) / 2).collect();
        let query = ByteQuery::of(&query);
        let allowed = |row: usize| !row.is_multiple_of(3);
        assert_eq!(vectors.near(&query, 10, allowed).len(), 41_000, "few are all compared");
        vectors.build_prefilter();
        let mut near = vectors.near(&query, 10, allowed);
        assert!((2_000..6_000).contains(&near.len()), "{}", near.len());
        assert!(near.iter().all(|row| !row.is_multiple_of(3)));
        let best = |rows: &mut Vec<u32>| {
            let cosine = |row: &u32| vectors.cosine(*row as usize, &query);
            rows.sort_by(|a, b| cosine(b).total_cmp(&cosine(a)));
            rows[..10].to_vec()
        };
        let exact = best(&mut (0..41_000).filter(|row| allowed(*row as usize)).collect());
        let found = best(&mut near);
        assert_eq!(found[0], 77);
        assert!(exact.iter().filter(|row| found.contains(row)).count() >= 9, "{exact:?} {found:?}");
        let other = ByteQuery::of(&[1; 8]);
        assert_eq!(vectors.near(&other, 10, allowed).len(), 41_000, "a query of another length is like none of them");
        assert_eq!(vectors.cosine(1, &other), 0.0);
    }
}
