//! Tests of admission: the gate lets some calls in and tells the others why not.

use reasoning_bank_actors::runtime::{CallError, Gate};
use tokio::time::advance;

use crate::echo::MS;

fn retry_after(gate: &Gate) -> std::time::Duration {
    match gate.enter().map(drop) {
        Err(CallError::Overloaded { retry_after }) => retry_after,
        other => unreachable!("the gate is full, but: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_as_the_limit_are_inside_and_the_next_is_turned_away_at_once() {
    let gate = Gate::new(2);
    let (first, _second) = (gate.enter().unwrap(), gate.enter().unwrap());
    assert_eq!(gate.inside(), 2);
    assert!(matches!(gate.enter().map(drop), Err(CallError::Overloaded { .. })));
    assert_eq!(gate.refused(), 1);

    drop(first);
    assert_eq!(gate.inside(), 1);
    assert!(gate.enter().is_ok());
}

#[tokio::test(start_paused = true)]
async fn retry_after_follows_how_long_callers_stay() {
    let gate = Gate::new(2);
    for _ in 0..100 {
        let permit = gate.enter().unwrap();
        advance(MS(400)).await;
        drop(permit);
    }
    let _first = gate.enter().unwrap();
    advance(MS(300)).await;
    let _second = gate.enter().unwrap();
    assert_eq!([retry_after(&gate), retry_after(&gate)], [MS(200), MS(400)], "one leaves every 200 ms");
}

#[tokio::test(start_paused = true)]
async fn nobody_is_told_to_come_before_the_first_of_those_inside_is_expected_to_leave() {
    let gate = Gate::new(32);
    let permit = gate.enter().unwrap();
    advance(MS(8_000)).await;
    drop(permit);
    let _inside: Vec<_> = (0..32).map(|_| gate.enter().unwrap()).collect();
    advance(MS(1_000)).await;
    assert_eq!(retry_after(&gate), MS(7_000), "all of them came a second ago and stay for eight");
}

#[tokio::test(start_paused = true)]
async fn a_guess_counts_until_the_first_has_left() {
    let gate = Gate::expecting(1, MS(10_000));
    let permit = gate.enter().unwrap();
    assert_eq!(retry_after(&gate), MS(10_000));
    advance(MS(400)).await;
    drop(permit);
    let _inside = gate.enter().unwrap();
    assert_eq!(retry_after(&gate), MS(400));
}

#[tokio::test(start_paused = true)]
async fn callers_that_stay_longer_than_anyone_before_are_reckoned_with() {
    let gate = Gate::new(2);
    let _inside = (gate.enter().unwrap(), gate.enter().unwrap());
    advance(MS(60_000)).await;
    let told = retry_after(&gate);
    assert_eq!(told, MS(30_000), "nobody has left after the second that was guessed at first");
}

#[tokio::test(start_paused = true)]
async fn those_who_are_refused_are_told_to_come_one_after_another() {
    let gate = Gate::new(2);
    let (first, _second) = (gate.enter().unwrap(), gate.enter().unwrap());
    let told: Vec<_> = (0..4).map(|_| retry_after(&gate)).collect();
    assert_eq!(told, [MS(1_000), MS(1_000), MS(1_500), MS(2_000)]);
    drop(first);
    let _third = gate.enter().unwrap();
    assert!(retry_after(&gate) <= MS(500), "one of them came");
}

#[tokio::test(start_paused = true)]
async fn retry_after_stays_within_its_bounds() {
    for (stay, bound) in [(0, MS(10)), (3_600_000, MS(300_000))] {
        let gate = Gate::new(1);
        for _ in 0..100 {
            let permit = gate.enter().unwrap();
            advance(MS(stay)).await;
            drop(permit);
        }
        let _inside = gate.enter().unwrap();
        assert_eq!(retry_after(&gate), bound);
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_gate_lets_nobody_in_and_keeps_who_is_inside() {
    let gate = Gate::new(3);
    let _inside = gate.enter().unwrap();
    gate.close();
    assert!(matches!(gate.enter().map(drop), Err(CallError::Unavailable)));
    assert_eq!(gate.inside(), 1);
}

#[test]
fn a_gate_has_at_least_one_place() {
    assert_eq!(Gate::new(0).limit(), 1);
}
