//! Tests of work that handlers start: it ends with its actor, and its panics are known.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ractor::Actor;
use reasoning_bank_actors::runtime::{CallError, Panicked, Slot, Tasks};
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::echo::{Echo, EchoMsg, MS, within};

#[tokio::test(start_paused = true)]
async fn a_panic_is_counted_and_its_caller_answered() {
    let mut tasks = Tasks::new("test");
    let (reply, answer) = oneshot::channel::<()>();
    tasks.spawn(async move {
        let _reply = reply;
        panic!("out of paper");
    });
    assert!(answer.await.is_err());
    assert_eq!(tasks.finish(within(100)).await, 0);
    assert_eq!(tasks.panicked(), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_tasks_drops_the_work() {
    let mut tasks = Tasks::new("test");
    let (held, dropped) = oneshot::channel::<()>();
    tasks.spawn(async move {
        let _held = held;
        pending::<()>().await;
    });
    assert_eq!(tasks.running(), 1);
    drop(tasks);
    assert!(dropped.await.is_err());
}

#[tokio::test(start_paused = true)]
async fn cancelled_work_is_dropped_and_the_rest_goes_on() {
    let mut tasks = Tasks::new("test");
    let cancel = CancellationToken::new();
    let (held, dropped) = oneshot::channel::<()>();
    tasks.spawn_until(cancel.child_token(), async move {
        let _held = held;
        pending::<()>().await;
    });
    tasks.spawn(pending());
    cancel.cancel();
    assert!(dropped.await.is_err());
    tokio::task::yield_now().await;
    assert_eq!(tasks.running(), 1);
}

#[tokio::test(start_paused = true)]
async fn finish_waits_for_what_ends_in_time_and_aborts_the_rest_at_the_deadline() {
    let mut tasks = Tasks::new("test");
    let done = Arc::new(Notify::new());
    tasks.spawn({
        let done = Arc::clone(&done);
        async move {
            tokio::time::sleep(MS(50)).await;
            done.notify_one();
        }
    });
    tasks.spawn(pending());
    let begun = Instant::now();
    assert_eq!(tasks.finish(within(200)).await, 1);
    assert_eq!(begun.elapsed(), MS(200));
    assert_eq!(tasks.running(), 0);
    done.notified().await;
}

#[tokio::test(start_paused = true)]
async fn work_in_hand_dies_with_a_killed_actor() {
    let (slot, actor) = (Slot::new(), Echo::default());
    let (running, _) = Echo::spawn(None, actor.clone(), ()).await.unwrap();
    slot.bind(running.clone());
    let (until, (started, has_started)) = (Arc::new(Notify::new()), oneshot::channel());
    let waiting = tokio::spawn({
        let (slot, until) = (slot.clone(), Arc::clone(&until));
        async move { slot.call(|reply| EchoMsg::Work { until, started, reply }, within(1_000)).await }
    });
    has_started.await.unwrap();

    running.kill_and_wait(None).await.unwrap();

    assert_eq!(waiting.await.unwrap(), Err(CallError::Dropped));
    until.notify_one();
    assert_eq!(Arc::strong_count(&until), 1, "the work still holds what it was given");
    assert_eq!(actor.finished.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_piped_work_comes_back_as_a_message_panics_included() {
    let (inbox, mut received) = tokio::sync::mpsc::unbounded_channel();
    let (collector, _) = Collector::spawn(None, Collector, inbox).await.unwrap();
    let mut tasks = Tasks::new("test");
    tasks.pipe(&collector, async { 7 }, |outcome| outcome);
    assert_eq!(received.recv().await, Some(Ok(7)));
    tasks.pipe(&collector, async { panic!("out of {}", "ink") }, |outcome| outcome);
    assert_eq!(received.recv().await, Some(Err(Panicked("out of ink".to_owned()))));
    assert_eq!(tasks.panicked(), 1);
}

struct Collector;

impl Actor for Collector {
    type Msg = Result<u32, Panicked>;
    type State = tokio::sync::mpsc::UnboundedSender<Self::Msg>;
    type Arguments = Self::State;

    async fn pre_start(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        inbox: Self::State,
    ) -> Result<Self::State, ractor::ActorProcessingErr> {
        Ok(inbox)
    }

    async fn handle(
        &self,
        _: ractor::ActorRef<Self::Msg>,
        outcome: Self::Msg,
        inbox: &mut Self::State,
    ) -> Result<(), ractor::ActorProcessingErr> {
        Ok(inbox.send(outcome)?)
    }
}
