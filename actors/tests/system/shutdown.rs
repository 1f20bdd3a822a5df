//! The end of the system: in order, bounded, with nothing left running.

use std::time::Duration;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::Events;
use reasoning_bank_actors::testkit::LeakCheck;
use reasoning_bank_domain::prompt::Purpose;
use tokio::time::Instant;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_stop_lets_running_tasks_end_and_takes_no_new_ones() {
    let model = good_model();
    let held = model.hold(Purpose::Judge);
    let World { system, handle, .. } = world(model.clone()).await;
    let agents = handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 1), project(), call()).await });
    assert!(model.begun(3, soon()).await);
    let stopping = tokio::spawn(system.stop(Duration::from_secs(30)));
    tokio::task::yield_now().await;
    assert!(handle.agents.solve(task("too late", 1), project(), call()).await.is_err());
    held.release();
    assert!(solving.await.unwrap().unwrap().trace_id.is_some(), "it was stored before the store stopped");
    let report = stopping.await.unwrap();
    assert_eq!(report.cancelled_tasks, 0);
    let order: Vec<&str> = report.actors.iter().map(|stopped| stopped.name).collect();
    assert_eq!(
        order,
        ["agents", "learner", "working", "banks", "usage", "judge", "matts", "workspaces", "cache", "store"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_does_not_end_is_cancelled_after_the_grace() {
    let model = good_model();
    let _held = model.hold(Purpose::Think);
    let World { system, handle, .. } = world(model.clone()).await;
    let agents = handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 1), project(), call()).await });
    assert!(model.begun(1, soon()).await);
    let begun = Instant::now();
    let report = system.stop(Duration::from_secs(2)).await;
    assert_eq!(report.cancelled_tasks, 1);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(solving.await.unwrap(), Err(Error::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_left_running_after_a_stop() {
    let check = LeakCheck::new(&Events::default());
    let world = world(good_model()).await;
    world.handle.agents.solve(task("x y z", 3), project(), call()).await.unwrap();
    world.stop().await;
    check.finish(soon()).await;
}
