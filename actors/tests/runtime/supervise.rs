//! A supervisor over real actors: who is started again, when, and when it gives up.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt;
use ractor::Actor;
use reasoning_bank_actors::runtime::{
    CallError, ChildPhase, ChildSpec, Ended, Events, Slot, Subscription, Supervisor, SupervisorArgs, SystemEvent,
};
use reasoning_bank_actors::testkit::Faults;
use reasoning_bank_domain::system::restart::{ActorExit, Restart, RestartLimits};
use rstest::rstest;
use tokio::time::Instant;

use crate::echo::{Echo, EchoMsg, MS, echo, supervise, within};

async fn until_started(events: &mut Subscription, name: &'static str, nth: u64) {
    let wanted = SystemEvent::ChildStarted { child: name, incarnation: nth };
    assert!(events.wait_for(|event| *event == wanted, within(60_000)).await.is_some(), "{wanted:?} did not come");
}

#[derive(Clone, Copy)]
enum Crash {
    Kill,
    Panic,
    PanicInHandler,
    Error,
}

#[rstest]
#[case(Crash::Kill, "killed")]
#[case(Crash::Panic, "panicked on request of a test")]
#[case(Crash::PanicInHandler, "panicked in its handler")]
#[case(Crash::Error, "failed as asked")]
#[tokio::test(start_paused = true)]
async fn a_crashed_child_comes_back_and_a_call_that_waited_for_it_succeeds(#[case] crash: Crash, #[case] said: &str) {
    let (slot, events) = (Slot::new(), Events::default());
    let mut seen = events.subscribe();
    let supervisor =
        supervise(vec![Echo::default().child("echo", Restart::Permanent, &slot)], RestartLimits::default(), &events)
            .await;
    let first = slot.current().unwrap();
    match crash {
        Crash::Kill => assert!(Faults::of(&slot).kill().await),
        Crash::Panic => assert!(Faults::of(&slot).panic().await),
        Crash::PanicInHandler => slot.cast(EchoMsg::Panic).unwrap(),
        Crash::Error => slot.cast(EchoMsg::Fail).unwrap(),
    }
    first.wait(None).await.unwrap();

    assert_eq!(echo(&slot, "again", within(1_000)).await, Ok("again".to_owned()));

    assert_ne!(slot.current().unwrap().get_id(), first.get_id());
    let exit = seen.drain().into_iter().find_map(|event| match event {
        SystemEvent::ChildExited { child: "echo", exit, reason } => Some((exit, reason)),
        _ => None,
    });
    let (exit, reason) = exit.unwrap();
    assert_eq!(exit, ActorExit::Failed);
    assert!(reason.contains(said), "{reason}");
    let status = supervisor.observe(within(100)).await.unwrap().remove(0);
    assert_eq!((status.phase, status.restarts), (ChildPhase::Running, 1));
    assert_eq!(status.last_failure, Some(reason));
}

#[tokio::test(start_paused = true)]
async fn siblings_of_a_crashed_child_go_on() {
    let (slots, events) = ([Slot::new(), Slot::new(), Slot::new()], Events::default());
    let names = ["a", "b", "c"];
    let children = names.iter().zip(&slots);
    let children = children.map(|(name, slot)| Echo::default().child(name, Restart::Permanent, slot)).collect();
    let _supervisor = supervise(children, RestartLimits::default(), &events).await;
    let mut seen = events.subscribe();
    for (killed, name) in names.iter().enumerate() {
        let before: Vec<_> = slots.iter().map(|slot| slot.current().unwrap().get_id()).collect();
        assert!(Faults::of(&slots[killed]).kill().await);
        until_started(&mut seen, name, 2).await;
        for (n, slot) in slots.iter().enumerate() {
            let same = slot.current().unwrap().get_id() == before[n];
            assert_eq!(same, n != killed, "{} after the end of {name}", names[n]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn restarts_are_delayed_by_the_table_and_the_one_too_many_ends_the_supervisor() {
    let (slot, events) = (Slot::new(), Events::default());
    let mut seen = events.subscribe();
    let limits = RestartLimits { max_restarts: 5, max_delay: MS(100), ..RestartLimits::default() };
    let supervisor = supervise(vec![Echo::default().child("echo", Restart::Permanent, &slot)], limits, &events).await;
    let mut waited = Vec::new();
    for nth in 2..=6 {
        let died = Instant::now();
        assert!(Faults::of(&slot).panic().await);
        until_started(&mut seen, "echo", nth).await;
        waited.push(died.elapsed());
    }
    // a timer of tokio fires up to a millisecond late
    for (waited, table) in waited.iter().zip([10, 20, 40, 80, 100]) {
        assert!((MS(table)..=MS(table + 1)).contains(waited), "{waited:?} instead of {table} ms");
    }

    assert!(Faults::of(&slot).panic().await);

    let Ended::GaveUp(gave_up) = supervisor.ended().await else { unreachable!("it must give up") };
    assert_eq!(
        gave_up.to_string(),
        "root gives up: more than 5 restarts within 30s, the last for echo: panicked on request of a test"
    );
    assert_eq!(echo(&slot, "gone", within(100)).await, Err(CallError::Unavailable));
}

#[tokio::test(start_paused = true)]
async fn a_supervisor_that_gives_up_takes_its_other_children_along() {
    let ((crashing, innocent), events) = ((Slot::new(), Slot::new()), Events::default());
    let children = vec![
        Echo::default().child("innocent", Restart::Permanent, &innocent),
        Echo::default().child("crashing", Restart::Permanent, &crashing),
    ];
    let supervisor = supervise(children, RestartLimits { max_restarts: 0, ..RestartLimits::default() }, &events).await;
    let bystander = innocent.current().unwrap();
    assert!(Faults::of(&crashing).kill().await);
    assert!(matches!(supervisor.ended().await, Ended::GaveUp(_)));
    bystander.wait(None).await.unwrap();
    assert!(innocent.current().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_is_tried_again_and_counted() {
    let (slot, events) = (Slot::new(), Events::default());
    let mut seen = events.subscribe();
    let begun = Instant::now();
    let supervisor = supervise(vec![Echo::default().flaky("echo", 3, &slot)], RestartLimits::default(), &events).await;
    let status = supervisor.observe(within(1)).await.unwrap().remove(0);
    assert_eq!(status.phase, ChildPhase::Restarting);

    assert_eq!(echo(&slot, "at last", within(1_000)).await, Ok("at last".to_owned()));

    assert!((MS(70)..=MS(73)).contains(&begun.elapsed()), "10 + 20 + 40 ms, not {:?}", begun.elapsed());
    let failures = seen.drain().into_iter().filter(|event| matches!(event, SystemEvent::StartFailed { .. })).count();
    assert_eq!(failures, 3);
    let status = supervisor.observe(within(100)).await.unwrap().remove(0);
    assert_eq!((status.phase, status.restarts), (ChildPhase::Running, 3));
    assert!(status.last_failure.unwrap().contains("no disk"));
}

#[tokio::test(start_paused = true)]
async fn starts_that_never_succeed_end_the_supervisor() {
    let (slot, events) = (Slot::new(), Events::default());
    let limits = RestartLimits { max_restarts: 2, ..RestartLimits::default() };
    let supervisor = supervise(vec![Echo::default().flaky("echo", usize::MAX, &slot)], limits, &events).await;
    let Ended::GaveUp(gave_up) = supervisor.ended().await else { unreachable!("it must give up") };
    assert!(gave_up.reason.contains("no disk"));
}

#[tokio::test(start_paused = true)]
async fn a_first_start_that_may_not_fail_fails_the_start_of_the_supervisor() {
    let slot = Slot::new();
    let limits = RestartLimits { max_restarts: 0, ..RestartLimits::default() };
    let args = SupervisorArgs::new("root", vec![Echo::default().flaky("echo", 1, &slot)], limits, Events::default());
    assert!(reasoning_bank_actors::runtime::SupervisorHandle::start(args).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_start_that_hangs_is_given_up_and_does_not_leave_the_supervisor_deaf() {
    let ((hanging, other), events) = ((Slot::<EchoMsg>::new(), Slot::new()), Events::default());
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let hang = ChildSpec::new("hang", Restart::Permanent, &hanging, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        pending().boxed()
    });
    let limits = RestartLimits {
        max_restarts: 2,
        first_delay: Duration::from_secs(60),
        max_delay: Duration::from_secs(60),
        ..RestartLimits::default()
    };
    let children = vec![hang, Echo::default().child("other", Restart::Permanent, &other)];
    let _supervisor = supervise(children, limits, &events).await;
    assert_eq!(echo(&other, "alive", within(100)).await, Ok("alive".to_owned()));
    assert_eq!(starts.load(Ordering::SeqCst), 1);
}

#[rstest]
#[case(Restart::Permanent, true)]
#[case(Restart::Transient, false)]
#[case(Restart::Temporary, false)]
#[tokio::test(start_paused = true)]
async fn after_a_clean_end_only_a_permanent_child_comes_back(#[case] restart: Restart, #[case] back: bool) {
    let (slot, events) = (Slot::new(), Events::default());
    let supervisor =
        supervise(vec![Echo::default().child("echo", restart, &slot)], RestartLimits::default(), &events).await;
    let child = slot.current().unwrap();
    child.stop_and_wait(None, None).await.unwrap();
    let begun = Instant::now();
    assert_eq!(echo(&slot, "back", within(3_600_000)).await.is_ok(), back);
    assert!(begun.elapsed() < MS(20), "nobody waits for a child that never comes back");
    let phase = supervisor.observe(within(100)).await.unwrap()[0].phase;
    assert_eq!(phase, if back { ChildPhase::Running } else { ChildPhase::Ended });
}

#[rstest]
#[case(Restart::Permanent, true)]
#[case(Restart::Transient, true)]
#[case(Restart::Temporary, false)]
#[tokio::test(start_paused = true)]
async fn after_a_crash_only_a_temporary_child_stays_away(#[case] restart: Restart, #[case] back: bool) {
    let (slot, events) = (Slot::new(), Events::default());
    let _supervisor =
        supervise(vec![Echo::default().child("echo", restart, &slot)], RestartLimits::default(), &events).await;
    assert!(Faults::of(&slot).kill().await);
    assert_eq!(echo(&slot, "back", within(3_600_000)).await.is_ok(), back);
    // The same for one that waits for its next message.
    assert_eq!(Faults::of(&slot).kill().await, back);
    assert_eq!(echo(&slot, "back again", within(3_600_000)).await.is_ok(), back);
}

#[tokio::test(start_paused = true)]
async fn a_supervisor_below_that_gives_up_is_started_again_with_its_children() {
    let ((group, child), events) = ((Slot::new(), Slot::new()), Events::default());
    let mut seen = events.subscribe();
    let spec = Echo::default().child("echo", Restart::Permanent, &child);
    let args = SupervisorArgs::new(
        "group",
        vec![spec],
        RestartLimits { max_restarts: 1, ..RestartLimits::default() },
        events.clone(),
    );
    let group_spec = ChildSpec::actor("group", Restart::Permanent, &group, move || (Supervisor, args.clone()));
    let root = supervise(vec![group_spec], RestartLimits::default(), &events).await;

    assert!(Faults::of(&child).kill().await);
    until_started(&mut seen, "echo", 2).await;
    assert!(Faults::of(&child).kill().await);
    until_started(&mut seen, "group", 2).await;

    assert_eq!(echo(&child, "rebuilt", within(1_000)).await, Ok("rebuilt".to_owned()));
    let status = root.observe(within(100)).await.unwrap().remove(0);
    assert_eq!((status.name, status.restarts), ("group", 1));
    assert!(status.last_failure.unwrap().starts_with("group gives up"));
}

#[tokio::test(start_paused = true)]
async fn an_end_of_an_actor_that_is_no_child_is_not_the_supervisors_business() {
    let (slot, group, events) = (Slot::new(), Slot::new(), Events::default());
    let args = SupervisorArgs::new(
        "group",
        vec![Echo::default().child("echo", Restart::Permanent, &slot)],
        RestartLimits::default(),
        events.clone(),
    );
    let spec = ChildSpec::actor("group", Restart::Permanent, &group, move || (Supervisor, args.clone()));
    let root = supervise(vec![spec], RestartLimits::default(), &events).await;
    let group_cell = group.current().unwrap().get_cell();
    let (stranger, _) = Echo::spawn_linked(None, Echo::default(), (), group_cell).await.unwrap();
    stranger.kill_and_wait(None).await.unwrap();
    assert_eq!(echo(&slot, "unmoved", within(100)).await, Ok("unmoved".to_owned()));
    assert_eq!(root.observe(within(100)).await.unwrap()[0].restarts, 0);
}

#[tokio::test(start_paused = true)]
async fn a_killed_supervisor_frees_its_slots_and_says_so() {
    let (slot, events) = (Slot::new(), Events::default());
    let supervisor =
        supervise(vec![Echo::default().child("echo", Restart::Permanent, &slot)], RestartLimits::default(), &events)
            .await;
    let root = slot.current().unwrap().try_get_supervisor().unwrap();
    root.kill_and_wait(None).await.unwrap();
    assert_eq!(supervisor.ended().await, Ended::Killed);
    assert!(slot.current().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_transient_child_that_is_killed_between_two_messages_comes_back() {
    let (slot, events) = (Slot::new(), Events::default());
    let mut seen = events.subscribe();
    let children = vec![Echo::default().child("echo", Restart::Transient, &slot)];
    let _supervisor = supervise(children, RestartLimits::default(), &events).await;
    assert_eq!(echo(&slot, "once", within(1_000)).await, Ok("once".to_owned()));
    assert!(Faults::of(&slot).kill().await);
    until_started(&mut seen, "echo", 2).await;
}
