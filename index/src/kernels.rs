//! The two inner loops of a search by vector. They are written so that the compiler makes vector instructions of them,
//! and a second time for processors with AVX2, where they are several times as fast. Which one runs is chosen at run
//! time, because the program is built for any processor of its kind.

/// The number of rows whose bit planes are gone through together, while those of the same number of rows ahead are
/// prefetched. Memory is slower than the processor, and faster when several of its pages are read at once.
const ROWS_AT_ONCE: usize = 64;
const ROWS_AHEAD: usize = 128;

/// The dot product of every row with the query, in whole numbers. `rows` holds whole rows of as many numbers as the
/// query has. Nothing overflows as long as a query's numbers stay below 2^11 and there are fewer than 8,000.
pub(super) fn dots(query: &[i16], rows: &[i8], dots: &mut Vec<i32>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2
        return unsafe { dots_avx2(query, rows, dots) };
    }
    dots_anywhere(query, rows, dots);
}

/// The number of bits in which every row differs from the query. `bit_planes` holds the first word of every row's bits,
/// then the second word of every row, and so on: as many words of a row as the query has. It may hold more rows than
/// distances are asked for.
pub(super) fn distances(query: &[u64], bit_planes: &[u64], distances: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has both
        return unsafe { distances_avx2(query, bit_planes, distances) };
    }
    distances_anywhere(query, bit_planes, distances);
}

/// Tells the processor that these numbers will be needed, where that is possible.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn read_soon<T>(numbers: &[T]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    const LINE: usize = 64;
    for at in (0..size_of_val(numbers)).step_by(LINE) {
        // SAFETY: no more than a hint, to an address within the slice
        unsafe { _mm_prefetch::<_MM_HINT_T0>(numbers.as_ptr().cast::<i8>().wrapping_add(at)) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn read_soon<T>(_: &[T]) {}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_avx2(query: &[i16], rows: &[i8], dots: &mut Vec<i32>) {
    dots_anywhere(query, rows, dots);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn distances_avx2(query: &[u64], bit_planes: &[u64], distances: &mut [u16]) {
    distances_anywhere(query, bit_planes, distances);
}

#[inline(always)]
fn dots_anywhere(query: &[i16], rows: &[i8], dots: &mut Vec<i32>) {
    // An overflow check of each sum would keep the compiler from making vector instructions.
    let product = |(a, b): (&i16, &i8)| i32::from(*a).wrapping_mul(i32::from(*b));
    let dot = |row: &[i8]| query.iter().zip(row).map(product).fold(0, i32::wrapping_add);
    dots.extend(rows.chunks_exact(query.len()).map(dot));
}

#[inline(always)]
fn distances_anywhere(query: &[u64], bit_planes: &[u64], distances: &mut [u16]) {
    distances.fill(0);
    let rows = bit_planes.len() / query.len();
    debug_assert!(distances.len() <= rows && query.len() * 64 <= usize::from(u16::MAX));
    for (first, distances) in (0..).step_by(ROWS_AT_ONCE).zip(distances.chunks_mut(ROWS_AT_ONCE)) {
        for (own, bit_plane) in query.iter().zip(bit_planes.chunks_exact(rows)) {
            let words = &bit_plane[first..][..distances.len()];
            read_soon(&bit_plane[(first + ROWS_AHEAD).min(rows)..(first + ROWS_AHEAD + ROWS_AT_ONCE).min(rows)]);
            for (distance, word) in distances.iter_mut().zip(words) {
                *distance = distance.wrapping_add((own ^ word).count_ones() as u16);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loops_for_this_processor_say_what_those_for_any_say() {
        let numbers = |n: usize| (0..n).map(|i| ((i * 7_919) % 255) as i64 - 127);
        let query: Vec<i16> = numbers(37).map(|n| n as i16 * 16).collect();
        let rows: Vec<i8> = numbers(37 * 5).map(|n| n as i8).collect();
        let (mut fast, mut plain) = (Vec::new(), Vec::new());
        dots(&query, &rows, &mut fast);
        dots_anywhere(&query, &rows, &mut plain);
        assert_eq!(fast, plain);
        let naive: i32 = query.iter().zip(&rows[37..74]).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        assert_eq!((fast.len(), fast[1]), (5, naive));

        let bits: Vec<u64> = (0..6 * 210u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let (mut fast, mut plain) = ([0; 200], [7; 200]);
        let query: Vec<u64> = (0..6).map(|bit_plane| bits[bit_plane * 210]).collect();
        distances(&query, &bits, &mut fast);
        distances_anywhere(&query, &bits, &mut plain);
        assert_eq!(fast, plain);
        let naive: u32 = (0..6).map(|bit_plane| (query[bit_plane] ^ bits[bit_plane * 210 + 150]).count_ones()).sum();
        assert_eq!((fast[0], u32::from(fast[150])), (0, naive));
    }
}
