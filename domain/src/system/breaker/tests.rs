use proptest::prelude::*;

use super::*;

const S: fn(u64) -> Duration = Duration::from_secs;

fn pass(circuit: &mut Circuit, now: Duration) -> Ticket {
    let Admission::Pass(ticket) = circuit.admit(now) else { panic!("it did not pass: {circuit:?}") };
    ticket
}

fn call(circuit: &mut Circuit, ending: CallEnding, now: Duration) {
    let ticket = pass(circuit, now);
    circuit.ended(ticket, ending, now);
}

/// Returns a circuit that opened at 0.
fn open() -> Circuit {
    let mut circuit = Circuit::new(BreakerLimits::default());
    for _ in 0..29 {
        call(&mut circuit, CallEnding::Failed, S(0));
    }
    circuit
}

#[test]
fn it_opens_when_nine_in_ten_of_the_last_32_calls_failed_and_not_before() {
    let mut circuit = Circuit::new(BreakerLimits::default());
    for _ in 0..200 {
        for ending in [CallEnding::Failed; 28].into_iter().chain([CallEnding::Answered; 4]) {
            call(&mut circuit, ending, S(0));
        }
    }
    for _ in 0..29 {
        call(&mut circuit, CallEnding::Failed, S(1));
    }
    assert_eq!(circuit.admit(S(2)), Admission::Refused { retry_after: S(4) });
}

#[test]
fn calls_that_say_nothing_about_the_provider_are_not_counted() {
    let mut circuit = Circuit::new(BreakerLimits::default());
    for _ in 0..28 {
        call(&mut circuit, CallEnding::Failed, S(0));
        call(&mut circuit, CallEnding::Unknown, S(0));
    }
    call(&mut circuit, CallEnding::Unknown, S(0));
    assert!(matches!(circuit.admit(S(0)), Admission::Pass(_)));
    call(&mut circuit, CallEnding::Failed, S(0));
    assert!(matches!(circuit.admit(S(0)), Admission::Refused { .. }));
}

#[test]
fn failures_of_long_ago_are_forgotten() {
    let mut circuit = Circuit::new(BreakerLimits::default());
    for _ in 0..28 {
        call(&mut circuit, CallEnding::Failed, S(0));
    }
    for _ in 0..28 {
        call(&mut circuit, CallEnding::Failed, S(301));
    }
    assert!(matches!(circuit.admit(S(301)), Admission::Pass(_)));
    call(&mut circuit, CallEnding::Failed, S(601));
    assert!(matches!(circuit.admit(S(601)), Admission::Refused { .. }), "29 within five minutes");
}

#[test]
fn after_the_pause_one_call_probes_and_the_others_wait_for_it() {
    let mut circuit = open();
    let probe = pass(&mut circuit, S(5));
    assert_eq!(circuit.admit(S(5)), Admission::Wait);
    assert_eq!(circuit.ended(probe, CallEnding::Answered, S(6)), Some(Change::Closed));
    for _ in 0..28 {
        call(&mut circuit, CallEnding::Failed, S(6));
    }
    assert!(matches!(circuit.admit(S(6)), Admission::Pass(_)), "what failed before it opened is forgotten");
}

#[test]
fn each_probe_that_fails_doubles_the_pause_up_to_the_longest() {
    let mut circuit = open();
    let mut now = S(0);
    for pause in [5, 10, 20, 40, 60, 60] {
        assert_eq!(circuit.admit(now), Admission::Refused { retry_after: S(pause) });
        now += S(pause);
        let probe = pass(&mut circuit, now);
        assert!(matches!(circuit.ended(probe, CallEnding::Failed, now), Some(Change::Opened { .. })));
    }
}

#[test]
fn a_probe_that_is_dropped_leaves_its_place_to_the_next_call() {
    let mut circuit = open();
    let dropped = pass(&mut circuit, S(5));
    assert_eq!(circuit.ended(dropped, CallEnding::Unknown, S(6)), Some(Change::ProbeWanted));
    let probe = pass(&mut circuit, S(6));
    assert_eq!(circuit.admit(S(6)), Admission::Wait);
    assert_eq!(
        circuit.ended(dropped, CallEnding::Failed, S(6)),
        None,
        "a probe that was given up says nothing any more"
    );
    assert_eq!(circuit.ended(probe, CallEnding::Answered, S(6)), Some(Change::Closed));
}

#[test]
fn calls_that_began_before_it_opened_change_nothing_when_they_end() {
    let mut circuit = Circuit::new(BreakerLimits::default());
    let late: Vec<Ticket> = (0..40).map(|_| pass(&mut circuit, S(0))).collect();
    for ticket in &late[..29] {
        circuit.ended(*ticket, CallEnding::Failed, S(1));
    }
    for (ticket, ending) in late[29..].iter().zip([CallEnding::Answered, CallEnding::Failed].into_iter().cycle()) {
        assert_eq!(circuit.ended(*ticket, ending, S(2)), None);
    }
    assert_eq!(circuit.admit(S(2)), Admission::Refused { retry_after: S(4) });
    let probe = pass(&mut circuit, S(6));
    assert_eq!(circuit.ended(late[39], CallEnding::Answered, S(6)), None);
    assert_eq!(circuit.admit(S(6)), Admission::Wait);
    assert_eq!(circuit.ended(probe, CallEnding::Answered, S(6)), Some(Change::Closed));
}

#[derive(Debug, Clone)]
enum Step {
    Ask,
    End(usize, CallEnding),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ending = prop_oneof![
        1 => Just(CallEnding::Answered),
        6 => Just(CallEnding::Failed),
        1 => Just(CallEnding::Unknown),
    ];
    let step = prop_oneof![
        4 => Just(Step::Ask),
        4 => (0usize..64, ending).prop_map(|(which, ending)| Step::End(which, ending)),
        1 => (0u64..8_000).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..400)
}

proptest! {
    /// Whatever callers do, a refusal names a time that is at most the longest pause, asking again then is not refused
    /// by the same pause, and whoever waits, waits for a call that is under way.
    #[test]
    fn nobody_is_refused_for_longer_than_said_or_waits_for_nothing(steps in steps()) {
        let limits = BreakerLimits { window: 6, failures: 5, ..BreakerLimits::default() };
        let mut circuit = Circuit::new(limits);
        let (mut now, mut under_way, mut failures): (Duration, Vec<Ticket>, usize) = (S(0), Vec::new(), 0);
        for step in steps {
            match step {
                Step::Ask => match circuit.admit(now) {
                    Admission::Pass(ticket) => under_way.push(ticket),
                    Admission::Wait => prop_assert!(!under_way.is_empty()),
                    Admission::Refused { retry_after } => {
                        prop_assert!(failures >= limits.failures, "opened after {failures} failures");
                        prop_assert!(retry_after > S(0) && retry_after <= limits.longest_pause);
                        let mut later = circuit.clone();
                        let again = later.admit(now + retry_after);
                        prop_assert!(matches!(again, Admission::Pass(_)), "{again:?}");
                        prop_assert_eq!(later.admit(now + retry_after), Admission::Wait);
                    }
                },
                Step::End(which, ending) if !under_way.is_empty() => {
                    let ticket = under_way.swap_remove(which % under_way.len());
                    failures += usize::from(ending == CallEnding::Failed);
                    circuit.ended(ticket, ending, now);
                }
                Step::End(..) => {}
                Step::Pass(ms) => now += Duration::from_millis(ms),
            }
        }
        for ticket in under_way {
            circuit.ended(ticket, CallEnding::Unknown, now);
        }
        prop_assert_ne!(circuit.admit(now), Admission::Wait, "all calls have ended");
    }
}
