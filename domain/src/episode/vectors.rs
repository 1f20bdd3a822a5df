//! The meanings of an episode as vectors. A number takes 8 bits, which changes a cosine by less than a hundredth. Each
//! record names the embedder that made it: vectors of another one are not compared.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::memory::ids::TraceId;
use crate::memory::workspace::WorkspaceId;

/// A vector in 8 bits a number. Its length has no meaning, only its direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuantizedVector(Vec<i8>);

impl QuantizedVector {
    /// Quantises a vector. None where it has no direction: it is empty, all zeros, or has a number that is not finite.
    pub fn of(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if largest <= 0.0 || vector.iter().any(|number| !number.is_finite()) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, reason = "the numbers lie in -127..=127")]
        let quantized = vector.iter().map(|number| (number / largest * 127.0).round() as i8).collect();
        Some(Self(quantized))
    }

    /// Reads what [`Self::bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| i8::from_le_bytes([*byte])).collect())
    }

    pub fn numbers(&self) -> &[i8] {
        &self.0
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Returns the direction in the middle of several. None where they have no common direction or length.
    pub fn middle<'a>(vectors: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut sum: Vec<f32> = Vec::new();
        for vector in vectors {
            let norm = vector.0.iter().map(|number| f32::from(*number).powi(2)).sum::<f32>().sqrt();
            if norm <= 0.0 || !sum.is_empty() && sum.len() != vector.0.len() {
                return None;
            }
            sum.resize(vector.0.len(), 0.0);
            sum.iter_mut().zip(&vector.0).for_each(|(sum, number)| *sum += f32::from(*number) / norm);
        }
        Self::of(&sum)
    }

    /// Returns the cosine of the angle between two vectors; 0 where they cannot be compared.
    pub fn cosine(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let dot = |a: &[i8], b: &[i8]| -> i32 { a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum() };
        let norms = f64::from(dot(&self.0, &self.0)).sqrt() * f64::from(dot(&other.0, &other.0)).sqrt();
        if norms > 0.0 { (f64::from(dot(&self.0, &other.0)) / norms).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

/// The vectors of one episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeVectors {
    pub episode_id: TraceId,
    pub workspace_id: WorkspaceId,
    /// The time at which the episode was made.
    pub created_at: Timestamp,
    /// The number of times that they were made again: by another embedder, or because the episode tells more. The
    /// highest one stays.
    pub revision: u64,
    /// The embedder that made them. Empty where they are still to be made.
    pub embedder: String,
    /// The vector of the task and its goals.
    pub task: Option<QuantizedVector>,
    /// The vector of the output, the failures and the insights.
    pub outcome: Option<QuantizedVector>,
    /// The vector of a summary of it all.
    pub whole: Option<QuantizedVector>,
}

impl EpisodeVectors {
    /// Returns the next revision for an episode that tells more now: no embedder made it and it has no vectors, so each
    /// embedder finds that they are missing.
    pub fn outdated(&self) -> Self {
        let revision = self.revision.saturating_add(1);
        Self { revision, embedder: String::new(), task: None, outcome: None, whole: None, ..self.clone() }
    }

    /// Returns how like the episode is to what is asked: the larger of its task and the whole, or its outcome alone.
    pub fn similarity(&self, asked: &QuantizedVector, of_outcome: bool) -> f64 {
        let compared = if of_outcome { [&self.outcome, &None] } else { [&self.task, &self.whole] };
        let cosines = compared.into_iter().flatten().map(|vector| vector.cosine(asked));
        cosines.fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cosine(a: &[f32], b: &[f32]) -> f64 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())
    }

    #[test]
    fn a_vector_without_a_direction_is_none() {
        for vector in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert_eq!(QuantizedVector::of(vector), None, "{vector:?}");
        }
    }

    #[test]
    fn the_middle_is_as_near_to_each_and_needs_vectors_of_one_length() {
        let vector = |numbers: &[f32]| QuantizedVector::of(numbers).unwrap();
        let (x, y) = (vector(&[1.0, 0.0]), vector(&[0.0, 9.0]));
        let middle = QuantizedVector::middle([&x, &y]).unwrap();
        assert!((middle.cosine(&x) - middle.cosine(&y)).abs() < 1e-9 && middle.cosine(&x) > 0.7);
        assert_eq!(QuantizedVector::middle([&x, &vector(&[1.0, 0.0, 0.0])]), None);
        assert_eq!(QuantizedVector::middle([]), None);
    }

    proptest! {
        #[test]
        fn a_cosine_is_kept_to_a_hundredth(
            (a, b) in (8..400_usize).prop_flat_map(|n| {
                let vector = || prop::collection::vec(-1.0..1.0_f32, n);
                (vector(), vector())
            }),
        ) {
            let (Some(left), Some(right)) = (QuantizedVector::of(&a), QuantizedVector::of(&b)) else { return Ok(()) };
            prop_assert!((left.cosine(&right) - cosine(&a, &b)).abs() < 0.01);
            prop_assert!((left.cosine(&left) - 1.0).abs() < 1e-9);
            prop_assert_eq!(QuantizedVector::from_bytes(&left.bytes()), left);
        }
    }
}
