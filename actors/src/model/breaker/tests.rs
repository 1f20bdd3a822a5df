use std::num::NonZeroU32;
use std::time::Duration;

use futures::future::join_all;
use reasoning_bank_domain::prompt::Purpose;
use tokio::time::sleep;

use super::super::testing::*;
use super::*;
use crate::testkit::Scripted;

const OPEN_AFTER: usize = 29;

fn breaker(model: &Scripted) -> Breaker {
    Breaker::new(Arc::new(model.clone()), BreakerLimits::default(), None)
}

fn down() -> Scripted {
    let model = Scripted::new();
    model.answer(Purpose::Evaluate, |_| Err(busy()));
    model
}

async fn opened(model: &Scripted) -> Breaker {
    let breaker = breaker(model);
    for _ in 0..OPEN_AFTER {
        assert_eq!(ask(&breaker).await, Err(busy()));
    }
    assert_eq!(ask(&breaker).await, Err(ModelError::CircuitOpen { retry_after: S(5) }));
    breaker
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_keeps_failing_is_not_asked_for_a_while_and_then_by_one_call() {
    let model = down();
    let breaker = opened(&model).await;
    assert_eq!(model.calls(Purpose::Evaluate), OPEN_AFTER);
    sleep(S(5)).await;
    let held = model.hold(Purpose::Evaluate);
    let probes = join_all((0..5).map(|_| ask(&breaker)));
    let release = async {
        assert!(model.begun(OPEN_AFTER + 1, Deadline::after(S(60))).await);
        sleep(S(1)).await;
        assert_eq!(model.calls(Purpose::Evaluate), OPEN_AFTER + 1);
        held.release();
    };
    let (answers, ()) = tokio::join!(probes, release);
    let refused =
        answers.iter().filter(|answer| **answer == Err(ModelError::CircuitOpen { retry_after: S(10) })).count();
    assert_eq!((refused, model.calls(Purpose::Evaluate)), (4, OPEN_AFTER + 1), "{answers:?}");
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_their_turn_are_told_at_once_when_the_provider_is_left_alone() {
    let model = down();
    let rate_limit = RateLimit::new(NonZeroU32::new(60).unwrap());
    let breaker = Breaker::new(Arc::new(model.clone()), BreakerLimits::default(), Some(rate_limit));
    let begun = Instant::now();
    let calls = (0..100).map(|_| async { (ask(&breaker).await, begun.elapsed()) });
    let answers = join_all(calls).await;
    let told: Vec<Duration> =
        answers.iter().filter(|(answer, _)| *answer != Err(busy())).map(|(_, elapsed)| *elapsed).collect();
    assert_eq!((told.len(), model.calls(Purpose::Evaluate)), (100 - OPEN_AFTER, OPEN_AFTER));
    assert!(told.iter().all(|elapsed| *elapsed == told[0]) && told[0] < S(30), "{told:?}");

    model.answer(Purpose::Evaluate, |_| Ok(GOOD.into()));
    sleep(S(5)).await;
    assert!(join_all((0..5).map(|_| ask(&breaker))).await.iter().all(Result::is_ok), "a probe takes its turn, too");
}

#[tokio::test(start_paused = true)]
async fn when_the_probe_is_answered_those_who_waited_go_through() {
    let model = down();
    let breaker = opened(&model).await;
    model.answer(Purpose::Evaluate, |_| Ok(GOOD.into()));
    model.latency(S(2));
    sleep(S(5)).await;
    let answers = join_all((0..5).map(|_| ask(&breaker))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(model.most_at_once(), 4, "one probed, then four at once");
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_is_dropped_is_taken_over_by_one_who_waits() {
    let model = down();
    let breaker = opened(&model).await;
    sleep(S(5)).await;
    let held = model.hold(Purpose::Evaluate);
    let probe = tokio::time::timeout(S(1), ask(&breaker));
    let release = async {
        assert!(model.begun(OPEN_AFTER + 2, Deadline::after(S(60))).await, "the other probes now");
        model.answer(Purpose::Evaluate, |_| Ok(GOOD.into()));
        held.release();
    };
    let (probe, waited, ()) = tokio::join!(probe, ask(&breaker), release);
    assert!(probe.is_err() && waited.is_ok(), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_probe_waits_to_the_deadline() {
    let model = down();
    let breaker = opened(&model).await;
    sleep(S(5)).await;
    let held = model.hold(Purpose::Evaluate);
    let release = async {
        sleep(S(20)).await;
        held.release();
    };
    let (probe, waited, ()) = tokio::join!(ask(&breaker), ask_until(&breaker, S(10)), release);
    assert_eq!((probe, waited), (Err(busy()), Err(ModelError::TimedOut)));
}

#[tokio::test(start_paused = true)]
async fn a_limited_rate_and_a_refusal_are_answers_and_a_caller_out_of_time_says_nothing() {
    let model = Scripted::new();
    model.answer(Purpose::Evaluate, |_| Err(limited(None)));
    let breaker = breaker(&model);
    for _ in 0..100 {
        assert_eq!(ask(&breaker).await, Err(limited(None)));
    }
    model.latency(S(5));
    for _ in 0..100 {
        assert_eq!(ask_until(&breaker, Duration::from_millis(1)).await, Err(ModelError::TimedOut));
    }
    model.answer(Purpose::Evaluate, |_| Ok(GOOD.into()));
    assert!(ask(&breaker).await.is_ok());
}
