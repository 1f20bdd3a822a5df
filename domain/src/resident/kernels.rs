//! The two inner loops of a search by vector, written so that the compiler makes vector instructions of them, and again
//! for processors with AVX2, where they are several times as fast: chosen when the program runs, because it is built for
//! any processor of its kind.

/// Of every row the dot product with the query, in whole numbers. `rows` holds whole rows of as many numbers as the query
/// has. No overflow as long as a query's numbers stay below 2^11 and there are fewer than 8,000.
pub(super) fn dots(query: &[i16], rows: &[i8], dots: &mut Vec<i32>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2
        return unsafe { dots_avx2(query, rows, dots) };
    }
    dots_anywhere(query, rows, dots);
}

/// Of every row the number of bits in which it differs from the query.
pub(super) fn distances(query: &[u64], rows: &[u64], distances: &mut Vec<u16>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has both
        return unsafe { distances_avx2(query, rows, distances) };
    }
    distances_anywhere(query, rows, distances);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dots_avx2(query: &[i16], rows: &[i8], dots: &mut Vec<i32>) {
    dots_anywhere(query, rows, dots);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn distances_avx2(query: &[u64], rows: &[u64], distances: &mut Vec<u16>) {
    distances_anywhere(query, rows, distances);
}

#[inline(always)]
fn dots_anywhere(query: &[i16], rows: &[i8], dots: &mut Vec<i32>) {
    let dot = |row: &[i8]| query.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(i16::from(*b))).sum::<i32>();
    dots.extend(rows.chunks_exact(query.len()).map(dot));
}

#[inline(always)]
fn distances_anywhere(query: &[u64], rows: &[u64], distances: &mut Vec<u16>) {
    let distance = |row: &[u64]| query.iter().zip(row).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>() as u16;
    distances.extend(rows.chunks_exact(query.len()).map(distance));
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

        let bits: Vec<u64> = (0..18u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let (mut fast, mut plain) = (Vec::new(), Vec::new());
        distances(&bits[..6], &bits, &mut fast);
        distances_anywhere(&bits[..6], &bits, &mut plain);
        assert_eq!((fast.len(), fast[0]), (3, 0));
        assert_eq!(fast, plain);
    }
}
