//! The cache pays on the repeat workload that `benches/repeat.rs` states and prints.

#[path = "../../benches/repeat/workload.rs"]
mod workload;

use rstest::rstest;

use workload::{PASSES, TASKS, run};

/// The saving also holds when a draft in four is a new one each time.
#[rstest]
#[tokio::test]
async fn after_the_first_pass_two_in_five_cacheable_calls_are_hits_and_a_fifth_of_the_cost_is_saved(
    #[values(1.0, 0.75)] same_drafts: f64,
) {
    let (cached, plain) = (run(same_drafts, true).await.unwrap(), run(same_drafts, false).await.unwrap());
    assert!((cached.warm_up.cost_usd - plain.warm_up.cost_usd).abs() < 1e-9, "{cached:?} {plain:?}");
    let (cached, plain) = (cached.repeats, plain.repeats);
    // Three drafts, three evaluations, a judgement, a comparison.
    assert_eq!(plain.llm_calls as usize, (PASSES - 1) * TASKS * 8);
    assert_eq!(plain.hit_rate, 0.0);
    assert!(cached.hit_rate >= 0.40, "{cached:?}");
    assert!(cached.cost_usd <= 0.80 * plain.cost_usd, "{cached:?} {plain:?}");
}
