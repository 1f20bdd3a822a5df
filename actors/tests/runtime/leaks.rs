//! The leak check finds what a test leaves behind, and crashes on demand end what they shall end.

use std::future::pending;

use futures::FutureExt;
use reasoning_bank_actors::runtime::{Events, Slot, Tasks};
use reasoning_bank_actors::testkit::{Faults, LeakCheck};
use reasoning_bank_domain::system::restart::{Restart, RestartLimits};

use crate::echo::{Echo, MS, echo, supervise, within};

#[tokio::test(start_paused = true)]
async fn a_stopped_system_leaves_nothing() {
    let (slot, events) = (Slot::new(), Events::default());
    let leaks = LeakCheck::new(&events);
    let supervisor =
        supervise(vec![Echo::default().child("echo", Restart::Permanent, &slot)], RestartLimits::default(), &events)
            .await;
    assert!(Faults::of(&slot).kill().await);
    assert!(echo(&slot, "back", within(1_000)).await.is_ok());
    supervisor.stop_in_order(&[], MS(500)).await.unwrap();
    leaks.finish(within(1_000)).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "2 tasks are still running; children that did not end: [\"echo\"]")]
async fn a_system_that_was_not_stopped_is_named() {
    let (slot, events) = (Slot::new(), Events::default());
    let leaks = LeakCheck::new(&events);
    let _supervisor =
        supervise(vec![Echo::default().child("echo", Restart::Permanent, &slot)], RestartLimits::default(), &events)
            .await;
    leaks.finish(within(1_000)).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "1 tasks are still running; children that did not end: []")]
async fn a_check_that_was_forgotten_still_fails_the_test() {
    let mut tasks = Tasks::new("test");
    let _leaks = LeakCheck::new(&Events::default());
    tasks.spawn(pending());
    std::mem::forget(tasks);
}

#[tokio::test(start_paused = true)]
async fn there_is_nobody_to_crash_behind_a_vacant_slot() {
    let slot = Slot::new();
    let faults = Faults::of::<crate::echo::EchoMsg>(&slot);
    assert!(!faults.kill().await);
    assert!(!faults.panic().now_or_never().unwrap());
}
