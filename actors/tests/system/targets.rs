//! This test measures how long a task may take at 2 s a model call, in the worst case: five attempts, three iterations,
//! and what is learned. Time is paused, so it measures the calls and their order, not the machine; `benches/targets.rs`
//! measures the real thing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use reasoning_bank_actors::testkit::Scripted;
use reasoning_bank_domain::prompt::Purpose;
use tokio::time::Instant;

use crate::support::*;

/// Returns a model for which nothing is ever good enough, and no two solutions of which are the same.
fn hard_to_please() -> Scripted {
    let model = good_model();
    model.latency(Duration::from_secs(2));
    model.answer(Purpose::Think, |request| Ok(format!("draft {:?} of {}", request.attempt, request.task_id)));
    let refined = AtomicUsize::new(0);
    model.answer(Purpose::Refine, move |_| Ok(format!("refinement {}", refined.fetch_add(1, Ordering::Relaxed))));
    model.answer(Purpose::Evaluate, |request| {
        let score = (request.input.len() % 100) as f64 / 200.0;
        Ok(format!(r#"{{"score": {score}, "feedback": "more"}}"#))
    });
    model
}

#[tokio::test(start_paused = true)]
async fn the_first_task_takes_under_60_s_a_later_one_under_30_and_each_of_ten_at_once_under_60() {
    let model = hard_to_please();
    let world = world(model.clone()).await;
    let solve = async |number: usize| {
        let begun = Instant::now();
        let report = world.handle.agents.solve(task(&format!("task {number}"), 5), project(), call()).await.unwrap();
        assert_eq!((report.iterations, report.attempts.len(), report.usage.cache_hits), (3, 5, 0));
        assert_eq!(report.usage.llm_calls, 5 + 5 + 2 + 2 + 1 + 1);
        begun.elapsed()
    };
    let first = solve(0).await;
    assert!(first < Duration::from_secs(60), "{first:?}");
    let later = solve(1).await;
    assert!(later < Duration::from_secs(30), "{later:?}");
    let at_once = join_all((2..12).map(solve)).await;
    assert!(at_once.iter().all(|took| *took < Duration::from_secs(60)), "{at_once:?}");
    assert_eq!(model.abandoned(), 0);
    world.stop().await;
}
