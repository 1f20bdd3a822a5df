//! Tests of a stop: children end in order, each within its time, and nothing accepted is thrown away.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use reasoning_bank_actors::runtime::{
    CallError, Ended, Events, Slot, StopOutcome, Stopped, Subscription, SupervisorHandle, SystemEvent,
};
use reasoning_bank_actors::testkit::Faults;
use reasoning_bank_domain::system::restart::{Restart, RestartLimits};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep};

use crate::echo::{Echo, EchoMsg, MS, echo, hold, supervise, within};

struct Three {
    supervisor: SupervisorHandle,
    echo: Echo,
    slots: [Slot<EchoMsg>; 3],
    events: Subscription,
}

/// Starts the children a, b and c in this order.
async fn three() -> Three {
    let (echo, events) = (Echo::default(), Events::default());
    let slots = [Slot::new(), Slot::new(), Slot::new()];
    let children = ["a", "b", "c"].into_iter().zip(&slots);
    let children = children.map(|(name, slot)| echo.child(name, Restart::Permanent, slot)).collect();
    let supervisor = supervise(children, RestartLimits::default(), &events).await;
    Three { supervisor, echo, slots, events: events.subscribe() }
}

fn exits(events: &mut Subscription) -> Vec<&'static str> {
    let child = |event| match event {
        SystemEvent::ChildExited { child, .. } => Some(child),
        _ => None,
    };
    events.drain().into_iter().filter_map(child).collect()
}

fn names_and_endings(report: &[Stopped]) -> Vec<(&'static str, StopOutcome)> {
    report.iter().map(|stopped| (stopped.name, stopped.ending)).collect()
}

#[tokio::test(start_paused = true)]
async fn children_stop_in_the_order_given_then_the_others_last_started_first() {
    let mut three = three().await;
    let report = three.supervisor.stop_in_order(&["b"], MS(500)).await.unwrap();
    let expected = [("b", StopOutcome::Drained), ("c", StopOutcome::Drained), ("a", StopOutcome::Drained)];
    assert_eq!(names_and_endings(&report), expected);
    assert_eq!(exits(&mut three.events), ["b", "c", "a"]);
    assert_eq!(three.echo.stops.load(Ordering::SeqCst), 3, "each post_stop ran");
    assert_eq!(three.supervisor.ended().await, Ended::Stopped);
}

#[tokio::test(start_paused = true)]
async fn queued_messages_and_started_work_are_finished_before_a_child_ends() {
    let three = three().await;
    let slot = &three.slots[0];
    let (until, (started, has_started)) = (Arc::new(Notify::new()), oneshot::channel());
    let work = {
        let (slot, until) = (slot.clone(), Arc::clone(&until));
        tokio::spawn(async move { slot.call(|reply| EchoMsg::Work { until, started, reply }, within(10_000)).await })
    };
    has_started.await.unwrap();
    let held = hold(slot).await;
    let queued: Vec<_> = (0..10)
        .map(|n: u32| {
            let slot = slot.clone();
            tokio::spawn(async move { echo(&slot, &n.to_string(), within(10_000)).await })
        })
        .collect();
    tokio::task::yield_now().await;
    tokio::spawn(async move {
        sleep(MS(50)).await;
        held.notify_one();
        sleep(MS(50)).await;
        until.notify_one();
    });

    let report = three.supervisor.stop_in_order(&["a"], MS(500)).await.unwrap();

    assert_eq!(report[0].ending, StopOutcome::Drained);
    assert!((MS(100)..MS(105)).contains(&report[0].elapsed), "{:?}", report[0]);
    for (n, queued) in queued.into_iter().enumerate() {
        assert_eq!(queued.await.unwrap(), Ok(n.to_string()));
    }
    assert_eq!(work.await.unwrap(), Ok("worked".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_child_that_does_not_end_is_killed_after_its_grace_and_the_next_is_drained() {
    let three = three().await;
    let _until = hold(&three.slots[1]).await;
    let begun = Instant::now();
    let report = three.supervisor.stop_in_order(&["a", "b", "c"], MS(500)).await.unwrap();
    let expected = [("a", StopOutcome::Drained), ("b", StopOutcome::Killed), ("c", StopOutcome::Drained)];
    assert_eq!(names_and_endings(&report), expected);
    assert!((MS(500)..MS(510)).contains(&report[1].elapsed));
    assert!((MS(500)..MS(510)).contains(&begun.elapsed()));
}

#[tokio::test(start_paused = true)]
async fn new_calls_fail_at_once_when_the_turn_of_a_child_has_come() {
    let three = three().await;
    let _until = hold(&three.slots[2]).await;
    let supervisor = three.supervisor.clone();
    let stopping = tokio::spawn(async move { supervisor.stop_in_order(&["a", "c"], MS(500)).await });
    sleep(MS(100)).await;
    let begun = Instant::now();
    assert_eq!(echo(&three.slots[0], "ended", within(10_000)).await, Err(CallError::Unavailable));
    assert_eq!(echo(&three.slots[2], "draining", within(10_000)).await, Err(CallError::Unavailable));
    assert_eq!(echo(&three.slots[1], "not yet", within(10_000)).await, Ok("not yet".to_owned()));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(stopping.await.unwrap().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_crashes_before_its_turn_is_started_again_and_one_being_stopped_is_not() {
    let mut three = three().await;
    let _until = hold(&three.slots[0]).await;
    let supervisor = three.supervisor.clone();
    let stopping = tokio::spawn(async move { supervisor.stop_in_order(&["a", "b", "c"], MS(500)).await });
    sleep(MS(100)).await;

    assert!(Faults::of(&three.slots[1]).kill().await);
    assert_eq!(echo(&three.slots[1], "back", within(100)).await, Ok("back".to_owned()));

    let report = stopping.await.unwrap().unwrap();
    let expected = [("a", StopOutcome::Killed), ("b", StopOutcome::Drained), ("c", StopOutcome::Drained)];
    assert_eq!(names_and_endings(&report), expected);
    let restarted = |event: &SystemEvent| matches!(event, SystemEvent::ChildStarted { child: "a", .. });
    assert!(!three.events.drain().iter().any(restarted));
}

#[tokio::test(start_paused = true)]
async fn a_child_between_two_incarnations_is_not_started_again() {
    let (slot, events) = (Slot::new(), Events::default());
    let mut seen = events.subscribe();
    let slow = RestartLimits {
        first_delay: Duration::from_secs(5),
        max_delay: Duration::from_secs(5),
        ..RestartLimits::default()
    };
    let supervisor = supervise(vec![Echo::default().child("echo", Restart::Permanent, &slot)], slow, &events).await;
    assert!(Faults::of(&slot).kill().await);
    let scheduled = |event: &SystemEvent| matches!(event, SystemEvent::RestartScheduled { .. });
    assert!(seen.wait_for(scheduled, within(100)).await.is_some());

    let report = supervisor.stop_in_order(&[], MS(500)).await.unwrap();
    assert_eq!(names_and_endings(&report), [("echo", StopOutcome::NotRunning)]);
    sleep(Duration::from_secs(10)).await;
    assert!(seen.drain().is_empty());
}

#[tokio::test(start_paused = true)]
async fn too_many_crashes_while_stopping_do_not_cut_the_others_short() {
    let (echo, events) = (Echo::default(), Events::default());
    let (first, second, third) = (Slot::new(), Slot::new(), Slot::new());
    let children = vec![
        echo.child("first", Restart::Permanent, &first),
        echo.child("second", Restart::Permanent, &second),
        echo.child("third", Restart::Permanent, &third),
    ];
    let supervisor = supervise(children, RestartLimits { max_restarts: 0, ..RestartLimits::default() }, &events).await;
    let until = hold(&first).await;
    let handle = supervisor.clone();
    let stopping = tokio::spawn(async move { handle.stop_in_order(&["first", "second", "third"], MS(500)).await });
    tokio::task::yield_now().await;
    assert!(Faults::of(&second).kill().await);
    until.notify_one();
    let report = stopping.await.unwrap().unwrap();
    let expected =
        [("first", StopOutcome::Drained), ("second", StopOutcome::NotRunning), ("third", StopOutcome::Drained)];
    assert_eq!(names_and_endings(&report), expected);
}

#[tokio::test(start_paused = true)]
async fn a_second_stop_is_answered_while_the_first_goes_on() {
    let three = three().await;
    let _until = hold(&three.slots[0]).await;
    let supervisor = three.supervisor.clone();
    let stopping = tokio::spawn(async move { supervisor.stop_in_order(&["a"], MS(500)).await });
    tokio::task::yield_now().await;
    assert_eq!(three.supervisor.stop_in_order(&["a"], MS(500)).await, Err(CallError::Dropped));
    assert_eq!(stopping.await.unwrap().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_supervisor_that_is_killed_while_a_child_drains_takes_it_along() {
    let three = three().await;
    let draining = three.slots[0].current().unwrap();
    let root = draining.try_get_supervisor().unwrap();
    let _until = hold(&three.slots[0]).await;
    let supervisor = three.supervisor.clone();
    let stopping = tokio::spawn(async move { supervisor.stop_in_order(&["a"], MS(60_000)).await });
    tokio::task::yield_now().await;
    root.kill_and_wait(None).await.unwrap();
    assert_eq!(stopping.await.unwrap(), Err(CallError::Dropped));
    draining.wait(Some(MS(100))).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_that_blocks_its_thread_is_left_behind_and_reported() {
    let three = three().await;
    // A thread that blocks takes along the task it has just woken. This one is to have woken none: the supervisor,
    // woken by the start of each child, has run once all of them and then it have answered.
    for slot in &three.slots {
        echo(slot, "awake", within(60_000)).await.unwrap();
    }
    three.supervisor.observe(within(60_000)).await.unwrap();
    let (release, until) = mpsc::channel();
    let (held, holding) = oneshot::channel();
    three.slots[1].cast(EchoMsg::Block { until, held }).unwrap();
    holding.await.unwrap();
    let report = three.supervisor.stop_in_order(&["a", "b", "c"], MS(50)).await.unwrap();
    let expected = [("a", StopOutcome::Drained), ("b", StopOutcome::Stuck), ("c", StopOutcome::Drained)];
    assert_eq!(names_and_endings(&report), expected);
    release.send(()).unwrap();
}
