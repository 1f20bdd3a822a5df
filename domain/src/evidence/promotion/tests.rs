use std::collections::BTreeSet;

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::memory::samples::{id, now, strategy, trace};

fn signal(n: u128, kind: SignalKind, trace_id: Option<u128>, session: Option<&str>) -> Signal {
    Signal {
        trace_id: trace_id.map(trace),
        session: session.map(Into::into),
        ..Signal::new(uuid::Uuid::from_u128(n).into(), id(1), strategy(1).workspace_id, kind, now())
    }
}

fn proposal(memory: &Memory, signals: Vec<Signal>) -> Option<Proposal> {
    let evidence = Evidence::of(&signals);
    let mut sources = PositiveSources::default();
    signals.into_iter().for_each(|signal| sources.add(signal));
    Proposal::of(memory, &evidence, &sources, now())
}

/// Returns five helpful votes out of two traces.
fn proven() -> Vec<Signal> {
    (0..5).map(|n| signal(n, SignalKind::Helpful, Some(n % 2), None)).collect()
}

#[test]
fn what_has_helped_often_and_in_several_places_is_proposed() {
    let proposed = proposal(&strategy(1), proven()).unwrap();
    assert_eq!((proposed.to, proposed.positive_signals, proposed.sources), (Scope::Team, 5, 2));
    assert!(proposed.confidence >= LEAST_CONFIDENCE);
    let team = Memory { scope: Scope::Team, team: Some("blue".into()), ..strategy(1) };
    assert_eq!(proposal(&team, proven()).unwrap().to, Scope::Org);
}

#[test]
fn sessions_that_name_no_trace_are_sources_too() {
    let mut signals: Vec<Signal> = (0..4).map(|n| signal(n, SignalKind::Helpful, None, Some("a"))).collect();
    signals.push(signal(9, SignalKind::Helpful, None, Some("b")));
    assert_eq!(proposal(&strategy(1), signals).unwrap().sources, 2);
}

#[test]
fn in_a_shared_workspace_the_sources_are_owners_however_much_each_of_them_does() {
    let sources = |signals: &[Signal]| {
        let mut sources = PositiveSources::with_shared([strategy(1).workspace_id]);
        signals.iter().cloned().for_each(|signal| sources.add(signal));
        sources.count(id(1))
    };
    let solved = |n, owner| signal(n, SignalKind::TaskSucceeded, Some(n), owner);
    let mut signals = vec![solved(1, Some("ana")), solved(2, Some("ana"))];
    signals.push(signal(3, SignalKind::Helpful, Some(2), Some("ana")));
    signals.push(signal(4, SignalKind::Helpful, None, Some("ana")));
    assert_eq!(sources(&signals), 1);
    signals.push(solved(5, None));
    assert_eq!(sources(&signals), 1, "nobody knows whose solve that was");
    signals.push(signal(6, SignalKind::Helpful, Some(2), Some("ben")));
    assert_eq!(sources(&signals), 2);
    signals.push(signal(7, SignalKind::SuccessOverruled, Some(1), Some("ana")));
    assert_eq!(sources(&signals), 2, "ana said more than that");
}

#[test]
fn a_signal_of_a_solve_that_an_earlier_version_stored_is_read_and_counts() {
    let stored = serde_json::json!({
        "id": uuid::Uuid::from_u128(1), "memory_id": id(1), "workspace_id": strategy(1).workspace_id,
        "kind": "task_succeeded", "at": now(), "trace_id": trace(1),
    });
    let read: Signal = serde_json::from_value(stored).unwrap();
    assert_eq!(read, signal(1, SignalKind::TaskSucceeded, Some(1), None));
    let mut sources = PositiveSources::default();
    sources.add(read);
    assert_eq!(sources.count(id(1)), 1);
}

#[rstest]
#[case::four_signals(proven().split_off(1), strategy(1))]
#[case::one_trace((0..9).map(|n| signal(n, SignalKind::Helpful, Some(1), None)).collect(), strategy(1))]
#[case::nobody_named((0..9).map(|n| signal(n, SignalKind::Helpful, None, None)).collect(), strategy(1))]
#[case::only_confirmed((0..99).map(|n| signal(n, SignalKind::Confirmed, Some(n), None)).collect(), strategy(1))]
#[case::org_already(proven(), Memory { scope: Scope::Org, org: Some("o".into()), ..strategy(1) })]
#[case::quarantined(proven(), Memory { status: Status::Quarantined, ..strategy(1) })]
fn what_has_not_proved_itself_is_not(#[case] signals: Vec<Signal>, #[case] memory: Memory) {
    assert_eq!(proposal(&memory, signals), None);
}

#[test]
fn bad_news_keeps_a_memory_where_it_is() {
    let mut signals = proven();
    signals.extend((10..20).map(|n| signal(n, SignalKind::Reverted, Some(n), None)));
    assert_eq!(proposal(&strategy(1), signals), None);
}

#[test]
fn a_success_that_was_overruled_is_no_evidence_and_its_trace_no_source() {
    let succeeded = |n, trace| signal(n, SignalKind::TaskSucceeded, Some(trace), None);
    let overruled = |n, trace| signal(n, SignalKind::SuccessOverruled, Some(trace), None);
    let mut signals: Vec<Signal> = (0..9).map(|n| signal(n, SignalKind::Helpful, Some(1), None)).collect();
    signals.push(succeeded(10, 2));
    assert_eq!(proposal(&strategy(1), signals.clone()).unwrap().sources, 2);
    signals.insert(0, overruled(11, 2));
    assert_eq!(proposal(&strategy(1), signals.clone()), None, "the only other source was wrong");
    signals.push(signal(12, SignalKind::Helpful, Some(2), Some("s")));
    let proposed = proposal(&strategy(1), signals).unwrap();
    assert_eq!((proposed.positive_signals, proposed.sources), (10, 2));
}

#[test]
fn a_promoted_copy_has_the_words_and_a_parent() {
    let mut workspace = Workspace::of_root("/home/ann/project", now());
    let evidence = Evidence::of(&proven());
    let memory = Memory { evolution_stage: 2, ..strategy(1) };
    assert_eq!(promoted(&memory, &evidence, id(2), &workspace, now()), None, "there is no team");
    workspace.team = Some("blue".into());
    let copy = promoted(&memory, &evidence, id(2), &workspace, now()).unwrap();
    assert_eq!((copy.scope, copy.team.as_deref(), copy.org.as_deref()), (Scope::Team, Some("blue"), None));
    assert_eq!((copy.parent_memory_id, copy.derived_from.as_slice()), (Some(memory.id), [memory.id].as_slice()));
    assert_eq!((copy.evolution_stage, copy.text_key()), (3, memory.text_key()));
    let earned = confidence(&Facts::from(&memory), &evidence, now());
    assert_eq!(copy.prior, earned.min(0.99));
    assert!(copy.validate().is_ok());
    assert_ne!(copy.duplicate_key(), memory.duplicate_key());
    workspace.org = Some("o".into());
    let higher = promoted(&copy, &Evidence::default(), id(3), &workspace, now()).unwrap();
    assert_eq!((higher.scope, higher.team.as_deref(), higher.org.as_deref()), (Scope::Org, None, Some("o")));
    assert_eq!(promoted(&higher, &Evidence::default(), id(4), &workspace, now()), None);
}

proptest! {
    #[test]
    fn another_helpful_vote_never_takes_a_proposal_away(votes in 0u128..30, traces in 1u128..5) {
        let votes: Vec<Signal> =
            (0..votes).map(|n| signal(n, SignalKind::Helpful, Some(n % traces), None)).collect();
        let mut more = votes.clone();
        more.push(signal(99, SignalKind::Helpful, Some(99), None));
        prop_assert!(proposal(&strategy(1), votes).is_none() || proposal(&strategy(1), more).is_some());
    }

    #[test]
    fn more_good_evidence_never_takes_a_proposal_away_and_bad_evidence_never_makes_one(votes in votes(), kind in any_kind(), trace in 0u128..4) {
        let before = proposal(&strategy(1), votes.clone());
        let mut more = votes;
        more.push(signal(99, kind, Some(trace), None));
        let after = proposal(&strategy(1), more);
        if kind.weight() >= 0.0 {
            prop_assert!(before.is_none() || after.is_some(), "{:?}", kind);
        } else {
            prop_assert!(before.is_some() || after.is_none(), "{:?}", kind);
        }
    }

    #[test]
    fn nothing_is_proposed_without_confidence_positive_signals_and_several_sources(votes in votes()) {
        if let Some(proposed) = proposal(&strategy(1), votes.clone()) {
            let positive = votes.iter().filter(|vote| POSITIVE.contains(&vote.kind));
            let traces: BTreeSet<_> = positive.clone().map(|vote| vote.trace_id).collect();
            prop_assert!(proposed.confidence >= 0.9 && positive.count() >= 5 && traces.len() >= 2);
        }
        let confirmed_only = votes.into_iter().map(|vote| Signal { kind: SignalKind::Confirmed, ..vote }).collect();
        prop_assert_eq!(proposal(&strategy(1), confirmed_only), None);
    }
}

fn any_kind() -> impl Strategy<Value = SignalKind> {
    prop::sample::select(SignalKind::ALL.to_vec())
}

fn votes() -> impl Strategy<Value = Vec<Signal>> {
    let kind = prop_oneof![4 => Just(SignalKind::Helpful), 1 => any_kind()];
    prop::collection::vec((kind, 0u128..4), 0..16).prop_map(|votes| {
        let vote = |(n, (kind, trace)): (usize, (SignalKind, u128))| signal(n as u128, kind, Some(trace), None);
        votes.into_iter().enumerate().map(vote).collect()
    })
}
