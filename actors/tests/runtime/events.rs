//! Tests of events: nothing is built for nobody, and nothing is lost in silence.

use reasoning_bank_actors::runtime::{Events, SystemEvent};
use reasoning_bank_actors::testkit::eventually;
use tokio::time::Instant;

use crate::echo::{MS, within};

fn started(incarnation: u64) -> SystemEvent {
    SystemEvent::ChildStarted { child: "echo", incarnation }
}

#[test]
fn an_event_is_built_only_if_someone_listens() {
    let events = Events::default();
    events.emit(|| unreachable!("nobody listens"));
    let mut listener = events.subscribe();
    events.emit(|| started(1));
    assert_eq!(listener.drain(), vec![started(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_lags_is_told_how_much_it_missed() {
    let events = Events::default();
    let mut slow = events.subscribe();
    (1..=1030).for_each(|n| events.emit(|| started(n)));
    assert_eq!(slow.next().await, Some(SystemEvent::Missed { count: 6 }));
    assert_eq!(slow.next().await, Some(started(7)));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_an_event_skips_others_and_ends_at_the_deadline() {
    let events = Events::default();
    let mut listener = events.subscribe();
    (1..=3).for_each(|n| events.emit(|| started(n)));
    assert_eq!(listener.wait_for(|event| *event == started(3), within(100)).await, Some(started(3)));
    let begun = Instant::now();
    assert_eq!(listener.wait_for(|_| true, within(100)).await, None);
    assert_eq!(begun.elapsed(), MS(100));
}

#[tokio::test(start_paused = true)]
async fn a_listener_ends_with_its_source() {
    let events = Events::default();
    let mut listener = events.subscribe();
    drop(events);
    assert_eq!(listener.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_condition_is_asked_again_after_each_event_and_given_up_at_the_deadline() {
    let events = Events::default();
    let mut listener = events.subscribe();
    (1..=5).for_each(|n| events.emit(|| started(n)));
    let mut asked = 0;
    let third = eventually(&mut listener, within(100), async || {
        asked += 1;
        asked == 3
    });
    assert!(third.await);
    assert!(!eventually(&mut listener, within(100), async || false).await);
}
