use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::memory::observation::{EvidenceKind, Observed};
use crate::memory::samples::{id, now, strategy, trace};

fn report() -> FeedbackRequest {
    FeedbackRequest {
        workspace: WorkspaceRef::Root("/home/ann/project".into()),
        memory_ids: vec![],
        trace_id: None,
        task: None,
        commit: None,
        verdict: Feedback::default(),
        learnings: vec![],
        session: Some("s".into()),
        counts_in: vec![],
        is_work: true,
    }
}

fn helpful() -> Feedback {
    Feedback { helpful: Some(true), ..Feedback::default() }
}

fn succeeded() -> Feedback {
    Feedback { task_succeeded: Some(true), ..Feedback::default() }
}

fn learning() -> Learning {
    Learning { title: "t".into(), description: "d".into(), content: "c".into(), error_context: None }
}

fn on_one(verdict: Feedback) -> FeedbackRequest {
    FeedbackRequest { memory_ids: vec![id(1)], verdict, ..report() }
}

fn with_commit(commit: &str, request: FeedbackRequest) -> FeedbackRequest {
    FeedbackRequest { commit: Some(commit.into()), ..request }
}

fn on_task(task: &str) -> FeedbackRequest {
    FeedbackRequest { task: Some(task.into()), ..report() }
}

fn observed(detail: String) -> Feedback {
    let evidence = Some(Observed { kind: EvidenceKind::Tests, passed: true, detail: Some(detail) });
    Feedback { evidence, ..Feedback::default() }
}

#[rstest]
#[case::nothing(on_one(Feedback::default()), "helpful")]
#[case::not_reverted(on_one(Feedback { reverted: Some(false), ..Feedback::default() }), "helpful")]
#[case::a_task_alone(on_task("fix the pager"), "helpful")]
#[case::of_nobody(FeedbackRequest { verdict: helpful(), ..report() }, "memory_ids")]
#[case::of_too_many(FeedbackRequest { memory_ids: (0..51).map(id).collect(), ..on_one(helpful()) }, "memory_ids")]
#[case::of_two_tasks(FeedbackRequest { trace_id: Some(trace(1)), verdict: helpful(), ..on_task("t") }, "task")]
#[case::of_a_blank_task(FeedbackRequest { verdict: helpful(), ..on_task(" ") }, "task")]
#[case::of_a_long_task(FeedbackRequest { verdict: helpful(), ..on_task(&"x".repeat(TASK_MAX_CHARS + 1)) }, "task")]
#[case::no_commit(with_commit("HEAD", on_one(succeeded())), "commit")]
#[case::a_commit_of_nothing(with_commit("abcdef1", on_one(helpful())), "commit")]
#[case::much_to_say(on_one(Feedback { comment: Some("x".repeat(2_001)), ..helpful() }), "comment")]
#[case::much_seen(on_one(observed("x".repeat(4_001))), "evidence.detail")]
#[case::many_lessons(FeedbackRequest { learnings: vec![learning(); 11], ..report() }, "learnings")]
fn a_report_that_says_nothing_or_too_much_is_refused(#[case] request: FeedbackRequest, #[case] argument: &str) {
    assert_eq!(request.check().unwrap_err().field, argument);
}

#[rstest]
#[case::a_vote(on_one(helpful()))]
#[case::a_lesson(FeedbackRequest { learnings: vec![learning()], ..report() })]
#[case::an_outcome(FeedbackRequest { verdict: succeeded(), ..on_task("fix the pager") })]
#[case::a_commit(with_commit("abcdef1", on_task("fix the pager")))]
#[case::a_commit_of_a_trace(with_commit("abcdef1", FeedbackRequest { trace_id: Some(trace(1)), ..report() }))]
#[case::a_commit_with_an_outcome(with_commit("abcdef1", on_one(succeeded())))]
fn a_report_that_says_something_is_taken(#[case] request: FeedbackRequest) {
    assert_eq!(request.check(), Ok(()));
}

#[test]
fn a_vote_tells_of_no_work_and_an_outcome_does() {
    assert!(!on_one(helpful()).tells_of_own_work());
    assert!(on_one(succeeded()).tells_of_own_work() && on_task("fix the pager").tells_of_own_work());
    assert!(!FeedbackRequest { is_work: false, ..on_one(succeeded()) }.tells_of_own_work(), "by hand");
    assert!(!FeedbackRequest { trace_id: Some(trace(1)), ..on_one(succeeded()) }.tells_of_own_work());
    assert!(!on_one(Feedback { reverted: Some(false), ..Feedback::default() }).tells_of_own_work());
}

#[test]
fn a_report_that_names_no_memory_is_about_those_of_its_trace() {
    let used = Trace {
        memories_used: vec![id(3), id(1), id(3)],
        ..Trace::reported(trace(1), strategy(1).workspace_id, "s", None, now())
    };
    assert_eq!(report().subjects(Some(&used)), [id(3), id(1)]);
    assert_eq!(on_one(helpful()).subjects(Some(&used)), [id(1)]);
    assert_eq!(report().subjects(None), []);
}

#[test]
fn what_is_said_is_scrubbed() {
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let text = || format!("with {key}");
    let verdict = Feedback { comment: Some(text()), ..observed(text()) };
    let clean = FeedbackRequest { verdict, ..on_task(&text()) }.scrubbed();
    assert!(!format!("{clean:?}").contains(&key), "{clean:?}");
}

proptest! {
    #[test]
    fn a_report_is_about_each_memory_once(named in prop::collection::vec(0u128..8, 0..20)) {
        let request = FeedbackRequest { memory_ids: named.iter().map(|n| id(*n)).collect(), ..report() };
        let subjects = request.subjects(None);
        let distinct: BTreeSet<MemoryId> = subjects.iter().copied().collect();
        prop_assert_eq!(distinct.len(), subjects.len());
        prop_assert_eq!(distinct, request.memory_ids.into_iter().collect::<BTreeSet<_>>());
    }
}
