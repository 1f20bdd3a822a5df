use std::collections::HashSet;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::access::ClientSession;
use crate::evidence::promotion::PositiveSources;
use crate::memory::observation::{EvidenceKind, Feedback, Observed};
use crate::memory::samples::{self, id, now, strategy};
use crate::memory::workspace::WorkspaceRef;

const ROOT: &str = "/home/ann/project";

fn request(verdict: Feedback) -> FeedbackRequest {
    FeedbackRequest {
        workspace: WorkspaceRef::Root(ROOT.into()),
        memory_ids: vec![id(1), id(2)],
        trace_id: None,
        task: None,
        commit: None,
        verdict,
        learnings: vec![],
        session: Some("s".into()),
        counts_in: vec![],
        is_work: true,
    }
}

fn helpful(yes: bool) -> Feedback {
    Feedback { helpful: Some(yes), ..Feedback::default() }
}

fn observed(passed: bool) -> Feedback {
    let evidence = Some(Observed { kind: EvidenceKind::Tests, passed, detail: None });
    Feedback { evidence, ..Feedback::default() }
}

fn both() -> Vec<(Memory, Evidence)> {
    vec![(strategy(1), Evidence::default()), (strategy(2), Evidence::default())]
}

fn begun(session: &str) -> Trace {
    Trace::reported(samples::trace(1), strategy(1).workspace_id, session, None, now())
}

fn of_team(n: u128) -> (Memory, Evidence) {
    (Memory { scope: Scope::Team, team: Some("blue".into()), ..strategy(n) }, Evidence::default())
}

/// Returns the signals of such a report on this trace.
fn signals(request: &FeedbackRequest, trace: Option<Trace>) -> Vec<Signal> {
    let workspace = Workspace::of_root(ROOT, now());
    let report = Report::of(request, &workspace, trace, false, both()).unwrap();
    let next = std::cell::Cell::new(0);
    report.signals(report.trace_after(&[]).as_ref(), now(), || {
        next.set(next.get() + 1);
        Uuid::from_u128(next.get()).into()
    })
}

#[test]
fn memories_that_are_named_must_be_there() {
    let (request, workspace) = (request(helpful(true)), Workspace::of_root(ROOT, now()));
    let one = vec![(strategy(2), Evidence::default())];
    let refused = Report::of(&request, &workspace, None, false, one.clone()).unwrap_err();
    assert_eq!(refused, ReportRefusal::Missing(vec![id(1)]));
    let of_trace = FeedbackRequest { memory_ids: vec![], ..request };
    let trace = Trace { memories_used: vec![id(1), id(2)], ..begun("s") };
    assert!(Report::of(&of_trace, &workspace, Some(trace), false, one).is_ok(), "what is left of a trace counts");
}

#[test]
fn what_others_read_is_judged_only_where_the_user_agreed() {
    let (request, workspace) = (request(helpful(true)), Workspace::of_root(ROOT, now()));
    let memories = vec![(strategy(1), Evidence::default()), of_team(2)];
    let judged = |report: Report| report.judged().map(|memory| memory.id).collect::<Vec<_>>();
    let report = Report::of(&request, &workspace, None, false, memories.clone()).unwrap();
    assert_eq!(report.not_shared_with, [id(2)]);
    assert_eq!(judged(report), [id(1)]);
    let agreed = FeedbackRequest { counts_in: vec![Scope::Team], ..request.clone() };
    assert_eq!(judged(Report::of(&agreed, &workspace, None, false, memories.clone()).unwrap()), [id(1), id(2)]);
    let elsewhere = FeedbackRequest { counts_in: vec![Scope::Org], ..request.clone() };
    assert_eq!(judged(Report::of(&elsewhere, &workspace, None, false, memories).unwrap()), [id(1)]);
    let shared = Report::of(&request, &workspace, None, false, vec![of_team(1), of_team(2)]);
    assert_eq!(shared.unwrap_err(), ReportRefusal::NotShared(Scope::Team), "nothing is left to say");
}

#[test]
fn work_with_memories_of_others_alone_leaves_its_trace() {
    let (work, workspace) = (request(observed(true)), Workspace::of_root(ROOT, now()));
    let memories = vec![of_team(1), of_team(2)];
    let report = Report::of(&work, &workspace, Some(begun("s")), true, memories.clone()).unwrap();
    assert_eq!(report.not_shared_with, [id(1), id(2)]);
    let after = report.trace_after(&[]).unwrap();
    assert_eq!((after.outcome, &after.memories_used[..]), (Outcome::Success, &[][..]));
    assert_eq!(report.signals(Some(&after), now(), || Uuid::from_u128(1).into()), []);
    let vote = request(helpful(true));
    let refused = Report::of(&vote, &workspace, Some(begun("s")), true, memories).unwrap_err();
    assert_eq!(refused, ReportRefusal::NotShared(Scope::Team), "a vote tells of no work");
}

#[test]
fn one_who_says_the_same_again_votes_once_and_votes_by_hand_count_each() {
    let ids = |request: &FeedbackRequest, trace| -> Vec<SignalId> {
        signals(request, trace).into_iter().map(|signal| signal.id).collect()
    };
    let (work, vote) = (request(observed(true)), request(helpful(true)));
    let own = id_of_trace_vote(samples::trace(1), 0, id(1), SignalKind::TaskSucceeded);
    assert_eq!(ids(&work, Some(begun("s")))[0], own);
    let foreign = id_within_trace(samples::trace(1), id(1), SignalKind::TaskSucceeded, Some("s"));
    assert_eq!(ids(&work, Some(begun("another")))[0], foreign);
    assert_eq!(ids(&vote, None)[0], id_of_vote("s", id(1), SignalKind::Helpful));
    let by_hand = FeedbackRequest { is_work: false, ..vote };
    assert_eq!(ids(&by_hand, None), [Uuid::from_u128(1).into(), Uuid::from_u128(2).into()]);
}

#[test]
fn votes_by_hand_come_from_one_source_whatever_the_workspace() {
    let workspace = strategy(1).workspace_id;
    for mut sources in [PositiveSources::default(), PositiveSources::with_shared([workspace.clone()])] {
        for _ in 0..3 {
            let vote = request(helpful(true));
            let by_hand = FeedbackRequest { session: Some(ClientSession::by_hand()), is_work: false, ..vote };
            let mut said = signals(&by_hand, None);
            said.iter_mut().for_each(|signal| signal.workspace_id = workspace.clone());
            said.into_iter().for_each(|signal| sources.add(signal));
        }
        assert_eq!(sources.count(id(1)), 1);
    }
}

#[test]
fn signals_of_a_session_name_the_trace_of_a_solve_and_not_its_own() {
    let trace_of = |trace: Trace| signals(&request(helpful(true)), Some(trace))[0].trace_id;
    assert_eq!(trace_of(begun("s")), None);
    assert_eq!(trace_of(Trace { source: TraceSource::Solve, ..begun("s") }), Some(samples::trace(1)));
}

#[test]
fn evidence_contradicts_the_votes_of_a_solve_about_all_that_it_used() {
    let workspace = Workspace::of_root(ROOT, now());
    let solve = Trace { source: TraceSource::Solve, memories_used: vec![id(3), id(1), id(3)], ..begun("s") };
    let contradicted = |verdict: Feedback| {
        let request = request(verdict);
        Report::of(&request, &workspace, Some(solve.clone()), false, both()).unwrap().contradicted(&solve, None)
    };
    let of = |memory| OwnVote::of_solve(false, samples::trace(1), memory);
    assert_eq!(contradicted(observed(false)), [of(id(1)), of(id(3))]);
    assert_eq!(contradicted(helpful(false)), [], "a vote observes nothing");
}

#[test]
fn a_session_contradicts_itself_once_its_work_is_turned_round() {
    let workspace = Workspace::of_root(ROOT, now());
    let succeeded = Trace { outcome: Outcome::Success, ..begun("s") };
    let contradicted = |verdict: Feedback| {
        let request = request(verdict);
        let report = Report::of(&request, &workspace, Some(succeeded.clone()), false, both()).unwrap();
        report.contradicted(&succeeded, report.trace_after(&[]).as_ref())
    };
    assert_eq!(contradicted(observed(true)), []);
    let of = |memory| OwnVote::of_reported_trace(false, samples::trace(1), 0, memory);
    assert_eq!(contradicted(observed(false)), [of(id(1)), of(id(2))]);
}

#[test]
fn a_report_moves_the_confidence_in_memories_that_it_does_not_name() {
    let (request, workspace) = (request(helpful(true)), Workspace::of_root(ROOT, now()));
    let report = Report::of(&request, &workspace, None, false, both()).unwrap();
    let refuted = |n| {
        let learned = strategy(n);
        Signal::new(Uuid::from_u128(n).into(), learned.id, learned.workspace_id, SignalKind::TaskFailed, now())
    };
    let signals = [refuted(4), refuted(1), refuted(4)];
    assert_eq!(report.concerned(&signals), [id(4)], "the report judges the first memory itself");
    let moved = report.moved(&[(strategy(4), Evidence::default())], &signals, now());
    let moves: Vec<_> = moved.iter().map(|one| (one.id, one.confidence_after < one.confidence_before)).collect();
    assert_eq!(moves, [(id(1), true), (id(2), false), (id(4), true)]);
}

#[test]
fn what_did_not_help_was_not_used() {
    let workspace = Workspace::of_root(ROOT, now());
    let used = |helpful| {
        let request = request(Feedback { helpful, task_succeeded: Some(true), ..Feedback::default() });
        let report = Report::of(&request, &workspace, Some(begun("s")), true, both()).unwrap();
        report.trace_after(&[]).unwrap().memories_used
    };
    assert_eq!(used(None), [id(1), id(2)]);
    assert_eq!(used(Some(false)), []);
}

proptest! {
    #[test]
    fn words_stand_once_at_each_memory_and_confidence_moves_as_the_votes_say(
        helpful: Option<bool>, task_succeeded: Option<bool>, comment in prop::option::of("[a-z]{1,9}"),
    ) {
        let request = request(Feedback { helpful, task_succeeded, comment: comment.clone(), ..Feedback::default() });
        let workspace = Workspace::of_root(ROOT, now());
        let report = Report::of(&request, &workspace, None, false, both()).unwrap();
        let signals = report.with_words(report.signals(None, now(), || Uuid::nil().into()));
        let kinds = request.verdict.signals();
        prop_assert_eq!(signals.len(), 2 * kinds.len());
        let worded: Vec<&Signal> = signals.iter().filter(|signal| signal.comment.is_some()).collect();
        let about: HashSet<MemoryId> = worded.iter().map(|signal| signal.memory_id).collect();
        prop_assert_eq!(worded.len(), about.len());
        prop_assert_eq!(about.len(), if comment.is_some() && !kinds.is_empty() { 2 } else { 0 });
        let weight: f64 = kinds.iter().map(|kind| kind.weight()).sum();
        for moved in report.moved(&[], &signals, now()) {
            let change = moved.confidence_after - moved.confidence_before;
            prop_assert!((weight.abs() < 1e-9 && change.abs() < 1e-9) || change * weight > 0.0);
        }
    }
}
