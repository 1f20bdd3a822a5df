use jiff::SignedDuration;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::memory::Memory;
use crate::memory::ids::SignalId;
use crate::memory::samples::{days_ago, id, now, strategy};
use crate::memory::signal::id_within_trace;
use crate::memory::workspace::WorkspaceId;

const KINDS: [SignalKind; 15] = SignalKind::ALL;

fn made(prior: f64, days: f64) -> Facts {
    Facts::from(&Memory { prior, created_at: days_ago(days), ..strategy(1) })
}

fn evidence(kinds: &[SignalKind]) -> Evidence {
    let mut evidence = Evidence::default();
    for kind in kinds {
        evidence.add(*kind, now());
    }
    evidence
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn one_signal_moves_even_odds_by_exactly_its_delta() {
    let table = [
        (SignalKind::Injected, 0.0),
        (SignalKind::Helpful, 0.3),
        (SignalKind::NotHelpful, -0.2),
        (SignalKind::TaskSucceeded, 0.1),
        (SignalKind::TaskFailed, -0.1),
        (SignalKind::Stable, 0.2),
        (SignalKind::Reverted, -0.2),
        (SignalKind::Confirmed, 0.1),
        (SignalKind::SuccessOverruled, -0.1),
        (SignalKind::FailureOverruled, 0.1),
        (SignalKind::Promoted, 0.0),
        (SignalKind::Shown, 0.0),
        (SignalKind::Superseded, 0.0),
        (SignalKind::Reinstated, 0.0),
        (SignalKind::Applied, 0.0),
    ];
    assert_eq!(table.map(|(kind, _)| kind), KINDS);
    for (kind, delta) in table {
        let after = confidence(&made(0.5, 0.0), &evidence(&[kind]), now());
        assert!(close(after, 0.5 + delta), "{kind:?}: {after}");
    }
}

#[test]
fn without_evidence_and_age_confidence_is_the_prior() {
    for prior in [0.05, 0.4, 0.5, 0.8, 0.99] {
        assert!(close(confidence(&made(prior, 0.0), &Evidence::default(), now()), prior));
    }
}

#[test]
fn priors_follow_the_source() {
    use Outcome::{Failure, Partial, Success};
    let table = [
        (SourceType::Explicit, None, 0.8),
        (SourceType::Distilled, None, 0.6),
        (SourceType::Solve, Some(Success), 0.7),
        (SourceType::Solve, Some(Failure), 0.6),
        (SourceType::Solve, Some(Partial), 0.5),
        (SourceType::PassiveLearning, None, 0.4),
        (SourceType::Consolidated, None, 0.5),
    ];
    for (source, outcome, expected) in table {
        assert_eq!(prior(source, outcome), expected, "{source:?} {outcome:?}");
    }
}

#[test]
fn idleness_takes_even_odds_down_a_twentieth_a_month_after_the_first() {
    // 30 idle days cost nothing; each 30 more add logit(0.45)
    let table = [(0.0, 0.5), (29.9, 0.5), (30.0, 0.5), (60.0, 0.45), (90.0, 81.0 / 202.0), (120.0, 729.0 / 2060.0)];
    for (days, expected) in table {
        let after = confidence(&made(0.5, days), &Evidence::default(), now());
        assert!((after - expected).abs() < 1e-6, "{days} days: {after}");
    }
    let between = confidence(&made(0.5, 45.0), &Evidence::default(), now());
    assert!(0.45 < between && between < 0.5, "continuous, not in steps: {between}");
}

#[test]
fn idleness_alone_ends_at_a_twentieth() {
    assert!(close(confidence(&made(0.8, 36_500.0), &Evidence::default(), now()), 0.05));
}

#[test]
fn votes_go_below_what_idleness_alone_may() {
    let voted_down = confidence(&made(0.5, 0.0), &evidence(&[SignalKind::NotHelpful; 8]), now());
    assert!(voted_down < 0.05, "{voted_down}");
    let mut old_votes = Evidence::default();
    (0..8).for_each(|_| old_votes.add(SignalKind::NotHelpful, days_ago(36_000.0)));
    let and_idle = confidence(&made(0.5, 36_500.0), &old_votes, now());
    assert!(close(and_idle, voted_down), "already below: idleness takes nothing more");
}

#[test]
fn what_is_pinned_does_not_decay() {
    let pinned = Facts { pinned: true, ..made(0.7, 3_650.0) };
    assert!(close(confidence(&pinned, &Evidence::default(), now()), 0.7));
}

#[test]
fn use_that_helped_ends_idleness_and_mere_injection_does_not() {
    let used = |kind| {
        let mut evidence = Evidence::default();
        evidence.add(kind, days_ago(1.0));
        evidence.last_used_at
    };
    assert_eq!(used(SignalKind::Helpful), Some(days_ago(1.0)));
    assert_eq!(used(SignalKind::TaskSucceeded), Some(days_ago(1.0)));
    for kind in [SignalKind::Injected, SignalKind::NotHelpful, SignalKind::TaskFailed, SignalKind::Confirmed] {
        assert_eq!(used(kind), None, "{kind:?}");
    }
}

#[test]
fn a_vote_from_a_clock_that_is_behind_does_not_make_a_memory_older() {
    let facts = made(0.5, 0.0);
    let mut behind = Evidence::default();
    behind.add(SignalKind::Helpful, days_ago(400.0));
    assert!(close(confidence(&facts, &behind, now()), 0.8));
}

#[test]
fn only_injections_count_as_usage() {
    let evidence = evidence(&[SignalKind::Injected, SignalKind::Injected, SignalKind::Helpful]);
    assert_eq!(evidence.usage_count(), 2);
    assert_eq!(evidence.count(SignalKind::Helpful), 1);
}

fn signals() -> impl Strategy<Value = Vec<Signal>> {
    prop::collection::vec((prop::sample::select(KINDS.to_vec()), 0i64..40_000), 0..40).prop_map(|kinds| {
        let signal = |(n, (kind, hours)): (usize, (SignalKind, i64))| {
            let (workspace, at) =
                (WorkspaceId::of_root("/home/ann/project"), now() - SignedDuration::from_hours(hours));
            Signal::new(Uuid::from_u128(n as u128).into(), id(1), workspace, kind, at)
        };
        kinds.into_iter().enumerate().map(signal).collect()
    })
}

fn facts() -> impl Strategy<Value = Facts> {
    (0.001..0.999f64, 0.0..4_000.0f64, any::<bool>())
        .prop_map(|(prior, days, pinned)| Facts { pinned, ..made(prior, days) })
}

proptest! {
    #[test]
    fn confidence_stays_between_0_and_1(facts in facts(), signals in signals()) {
        let value = confidence(&facts, &Evidence::of(&signals), now());
        prop_assert!((0.0..=1.0).contains(&value), "{}", value);
    }

    #[test]
    fn the_order_of_signals_does_not_matter(
        facts in facts(),
        (signals, shuffled) in signals().prop_flat_map(|s| (Just(s.clone()), Just(s).prop_shuffle())),
    ) {
        prop_assert_eq!(Evidence::of(&signals), Evidence::of(&shuffled));
        prop_assert_eq!(
            confidence(&facts, &Evidence::of(&signals), now()),
            confidence(&facts, &Evidence::of(&shuffled), now())
        );
    }

    #[test]
    fn good_signals_raise_and_bad_ones_lower(facts in facts(), signals in signals(), hours in 0i64..40_000) {
        let before = confidence(&facts, &Evidence::of(&signals), now());
        for kind in KINDS {
            let mut more = Evidence::of(&signals);
            more.add(kind, now() - SignedDuration::from_hours(hours));
            let after = confidence(&facts, &more, now());
            if kind.weight() >= 0.0 {
                prop_assert!(after >= before - 1e-12, "{:?}: {} to {}", kind, before, after);
            } else {
                prop_assert!(after <= before + 1e-12, "{:?}: {} to {}", kind, before, after);
            }
        }
    }

    #[test]
    fn what_is_overruled_weighs_nothing_wherever_it_stands(
        signals in signals(), prior in 0.001..0.999f64,
        pair in prop::sample::select(vec![
            (SignalKind::TaskSucceeded, SignalKind::SuccessOverruled),
            (SignalKind::TaskFailed, SignalKind::FailureOverruled),
        ]),
        (at, before) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        prop_assert_eq!(pair.0.weight() + pair.1.weight(), 0.0);
        let facts = Facts { pinned: true, ..made(prior, 0.0) };
        let kinds: Vec<SignalKind> = signals.iter().map(|signal| signal.kind).collect();
        let mut more = kinds.clone();
        more.insert(at.index(more.len() + 1), pair.0);
        more.insert(before.index(more.len() + 1), pair.1);
        let (without, with) = (evidence(&kinds), evidence(&more));
        let moved = confidence(&facts, &with, now()) - confidence(&facts, &without, now());
        prop_assert!(moved.abs() < 1e-9, "{}", moved);
        prop_assert!(with.successes() == without.successes() || pair.0 == SignalKind::TaskSucceeded);
    }

    #[test]
    fn what_is_pinned_never_decays(facts in facts(), signals in signals(), days in 0.0..4_000.0f64) {
        let pinned = Facts { pinned: true, ..facts };
        let later = now() + SignedDuration::from_secs_f64(days * 86_400.0);
        let evidence = Evidence::of(&signals);
        prop_assert_eq!(confidence(&pinned, &evidence, later), confidence(&pinned, &evidence, now()));
    }

    #[test]
    fn the_union_of_what_several_processes_wrote_counts_each_signal_once_in_any_order(
        signals in signals(), split in any::<prop::sample::Index>(), shared in any::<prop::sample::Index>(),
    ) {
        let (split, shared) = (split.index(signals.len() + 1), shared.index(signals.len() + 1));
        let (one, other) = (&signals[..split.max(shared)], &signals[split.min(shared)..]);
        let union = |logs: [&[Signal]; 3]| -> Evidence {
            let by_id: std::collections::BTreeMap<SignalId, Signal> =
                logs.into_iter().flatten().map(|signal| (signal.id, signal.clone())).collect();
            Evidence::of(by_id.values())
        };
        prop_assert_eq!(union([one, other, &[]]), Evidence::of(&signals));
        prop_assert_eq!(union([other, one, one]), Evidence::of(&signals));
    }

    #[test]
    fn usage_counts_what_was_injected_or_shown_and_the_last_use_is_the_newest_that_helped(signals in signals()) {
        let evidence = Evidence::of(&signals);
        let of = |kinds: &'static [SignalKind]| signals.iter().filter(move |signal| kinds.contains(&signal.kind));
        prop_assert_eq!(evidence.usage_count() as usize, of(&[SignalKind::Injected, SignalKind::Shown]).count());
        let helped = of(&[SignalKind::Helpful, SignalKind::TaskSucceeded]).map(|signal| signal.at).max();
        prop_assert_eq!(evidence.last_used_at, helped);
    }

    #[test]
    fn a_signal_said_again_of_a_trace_by_the_same_one_never_gets_another_id(
        trace in 0u128..9, memory in 0u128..9, kind in prop::sample::select(KINDS.to_vec()), session in "[ab]{0,2}",
        other in (0u128..9, 0u128..9, prop::sample::select(KINDS.to_vec()), "[ab]{0,2}"),
    ) {
        let of = |(trace, memory, kind, session): &(u128, u128, SignalKind, String)| {
            id_within_trace(Uuid::from_u128(*trace).into(), Uuid::from_u128(*memory).into(), *kind, Some(session))
        };
        let said = (trace, memory, kind, session);
        prop_assert_eq!(of(&said) == of(&other), said == other);
    }

    #[test]
    fn idleness_never_raises_confidence_and_alone_never_takes_it_below_the_floor(prior in 0.05..0.999f64, days in 0.0..4_000.0f64, more in 0.0..400.0f64) {
        let at = |days| confidence(&made(prior, days), &Evidence::default(), now());
        prop_assert!(at(days + more) <= at(days) + 1e-12);
        prop_assert!(at(days) >= 0.05 - 1e-9);
    }
}

#[test]
fn the_same_said_of_the_same_trace_has_the_same_id() {
    let id = |trace: u128, memory: u128, kind, session| {
        id_within_trace(Uuid::from_u128(trace).into(), Uuid::from_u128(memory).into(), kind, session)
    };
    use SignalKind::{Helpful, TaskFailed, TaskSucceeded};
    let fact = id(1, 2, TaskSucceeded, None);
    assert_eq!(fact, id(1, 2, TaskSucceeded, None));
    assert_ne!(fact, id(1, 2, TaskSucceeded, Some("s")), "a report is another witness than the judge");
    for other in [id(2, 2, TaskSucceeded, None), id(1, 1, TaskSucceeded, None), id(1, 2, TaskFailed, None)] {
        assert_ne!(fact, other);
    }
    assert_eq!(id(1, 2, Helpful, Some("s")), id(1, 2, Helpful, Some("s")));
    assert_ne!(id(1, 2, Helpful, Some("s")), id(1, 2, Helpful, Some("t")));
    assert_ne!(id(1, 2, Helpful, Some("")), id(1, 2, Helpful, None));
}
