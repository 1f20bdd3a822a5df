//! Calls through a slot: waiting before sending, never sending twice.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ractor::{Actor, ActorRef};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::runtime::{CallError, Slot};
use reasoning_bank_domain::note::Code;
use tokio::time::Instant;

use crate::echo::{Echo, EchoMsg, MS, echo, hold, within};

async fn started(actor: &Echo) -> ActorRef<EchoMsg> {
    Echo::spawn(None, actor.clone(), ()).await.unwrap().0
}

#[tokio::test(start_paused = true)]
async fn a_call_before_the_first_start_waits_for_it() {
    let slot = Slot::new();
    let waiting = tokio::spawn({
        let slot = slot.clone();
        async move { echo(&slot, "early", within(1_000)).await }
    });
    tokio::task::yield_now().await;
    slot.bind(started(&Echo::default()).await);
    assert_eq!(waiting.await.unwrap(), Ok("early".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_actor_is_unavailable_at_its_deadline() {
    let begun = Instant::now();
    let slot = Slot::new();
    assert_eq!(echo(&slot, "nobody", within(250)).await, Err(CallError::Unavailable));
    assert_eq!(begun.elapsed(), MS(250));
}

#[tokio::test(start_paused = true)]
async fn a_call_on_a_closed_slot_fails_at_once() {
    let slot = Slot::new();
    slot.close();
    let begun = Instant::now();
    assert_eq!(echo(&slot, "nobody", within(250)).await, Err(CallError::Unavailable));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn closing_a_slot_ends_the_calls_that_wait_for_it() {
    let slot = Slot::new();
    let waiting = tokio::spawn({
        let slot = slot.clone();
        async move { echo(&slot, "late", within(3_600_000)).await }
    });
    tokio::task::yield_now().await;
    let begun = Instant::now();
    slot.close();
    assert_eq!(waiting.await.unwrap(), Err(CallError::Unavailable));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_actor_that_ended_unnoticed_is_not_sent_to_and_the_next_one_answers() {
    let (slot, first, second) = (Slot::new(), Echo::default(), Echo::default());
    let ended = started(&first).await;
    slot.bind(ended.clone());
    ended.stop_and_wait(None, None).await.unwrap();
    let waiting = tokio::spawn({
        let slot = slot.clone();
        async move { echo(&slot, "moved", within(1_000)).await }
    });
    tokio::task::yield_now().await;
    slot.bind(started(&second).await);
    assert_eq!(waiting.await.unwrap(), Ok("moved".to_owned()));
    assert_eq!((first.taken(), second.taken()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_sent_when_the_actor_died_is_dropped_and_not_sent_again() {
    let (slot, first, second) = (Slot::new(), Echo::default(), Echo::default());
    let dying = started(&first).await;
    slot.bind(dying.clone());
    let _until = hold(&slot).await;
    let waiting = tokio::spawn({
        let slot = slot.clone();
        async move { echo(&slot, "queued", within(1_000)).await }
    });
    tokio::task::yield_now().await;
    dying.kill_and_wait(None).await.unwrap();
    slot.bind(started(&second).await);
    assert_eq!(waiting.await.unwrap(), Err(CallError::Dropped));
    assert_eq!(second.taken(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gives_up_does_not_hurt_the_actor() {
    let (slot, actor) = (Slot::new(), Echo::default());
    slot.bind(started(&actor).await);
    let until = hold(&slot).await;
    assert_eq!(echo(&slot, "slow", within(100)).await, Err(CallError::TimedOut));
    until.notify_one();
    assert_eq!(echo(&slot, "next", within(100)).await, Ok("next".to_owned()));
    assert_eq!(actor.taken(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_actor_sees_that_nobody_waits_for_a_message_any_more() {
    let (slot, actor) = (Slot::new(), Echo::default());
    slot.bind(started(&actor).await);
    let until = hold(&slot).await;
    assert_eq!(echo(&slot, "given up", within(100)).await, Err(CallError::TimedOut));
    until.notify_one();
    assert_eq!(echo(&slot, "wanted", within(100)).await, Ok("wanted".to_owned()));
    assert_eq!(actor.abandoned.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_the_deadline() {
    let (slot, actor) = (Slot::new(), Echo::default());
    slot.bind(started(&actor).await);
    assert_eq!(echo(&slot, "late", within(0)).await, Err(CallError::TimedOut));
    assert_eq!(actor.taken(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_old_incarnation_leaves_the_new_one_bound() {
    let (slot, actor) = (Slot::new(), Echo::default());
    let (old, new) = (started(&actor).await, started(&actor).await);
    slot.bind(old.clone());
    slot.bind(new.clone());
    slot.clear(old.get_id());
    assert_eq!(slot.current(), Some(new.clone()));
    slot.clear(new.get_id());
    assert_eq!(slot.current(), None);
    assert_eq!(slot.cast(EchoMsg::Fail), Err(CallError::Unavailable));
}

#[test]
fn only_a_dropped_call_is_reported_as_a_bug() {
    let retry_after = MS(40);
    assert_eq!(Error::from(CallError::Unavailable), Error::DeadlineExceeded);
    assert_eq!(Error::from(CallError::TimedOut), Error::DeadlineExceeded);
    assert_eq!(Error::from(CallError::Overloaded { retry_after }), Error::Overloaded { retry_after });
    assert_eq!(Error::from(CallError::Dropped).code(), Code::Internal);
}
