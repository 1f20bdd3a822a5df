//! Memory-aware test-time scaling (MaTTS, from the ReasoningBank paper, arXiv:2509.25140): several attempts at one
//! task, the best of which is chosen. This file has the bounds and the choice; `agent_loop` runs the attempts.

/// The bounds of k. One is a single attempt; the paper uses 3 to 5.
pub const K_RANGE: std::ops::RangeInclusive<u32> = 1..=8;

/// Returns the position of the highest score. Ties go to the earliest attempt, and attempts without a score come last.
/// There is none only in an empty list.
pub fn select(scores: &[Option<f64>]) -> Option<usize> {
    let rank = |score: Option<f64>| score.unwrap_or(f64::NEG_INFINITY);
    (0..scores.len()).reduce(|best, next| if rank(scores[next]) > rank(scores[best]) { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_the_lowest_index_and_unscored_attempts_lose() {
        assert_eq!(select(&[Some(0.4), Some(0.9), Some(0.9)]), Some(1));
        assert_eq!(select(&[None, Some(0.0)]), Some(1));
        assert_eq!(select(&[None, None]), Some(0));
        assert_eq!(select(&[]), None);
    }

    proptest! {
        #[test]
        fn nothing_scores_higher_than_the_selected(scores in prop::collection::vec(prop::option::of(0.0..=1.0f64), 1..8)) {
            let chosen = select(&scores).unwrap();
            for (index, score) in scores.iter().enumerate() {
                prop_assert!(score.unwrap_or(-1.0) <= scores[chosen].unwrap_or(-1.0));
                if *score == scores[chosen] {
                    prop_assert!(index >= chosen);
                }
            }
        }
    }
}
