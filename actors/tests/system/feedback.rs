//! Tests of reports of clients about memories they used.

use reasoning_bank_actors::memories::{FeedbackRequest, Learning, RetrieveRequest};
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::observation::{EvidenceKind, Feedback, Observed};
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::trace::{Outcome, VerdictSource};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{ErrorContext, Trust};
use reasoning_bank_domain::note::Code;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_vote_moves_confidence_as_the_rule_says() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let said = Feedback { comment: Some("it just worked".into()), ..helpful() };
    let request = FeedbackRequest { session: Some("s1".into()), ..feedback_on(vec![id, id], said) };
    let reported = world.handle.memories.feedback(request, soon()).await.unwrap();
    let [moved] = reported.updated.as_slice() else { panic!("{reported:?}") };
    // The prior of 0.8 is odds of 4, and a helpful vote multiplies them by 4.
    assert!((moved.confidence_before - 0.8).abs() < 1e-9 && (moved.confidence_after - 16.0 / 17.0).abs() < 1e-9);
    let view = world.handle.memories.get(id, &project(), soon()).await.unwrap();
    assert!((view.confidence - moved.confidence_after).abs() < 1e-9);
    let signals = world.signals().await;
    assert_eq!(signals.len(), 1, "an id that is given twice counts once");
    assert_eq!(signals[0].session.as_deref(), Some("s1"));
    assert_eq!(signals[0].comment.as_deref(), Some("it just worked"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_repeats_its_vote_counts_once_and_votes_by_hand_count_each() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let vote = async |session: Option<&str>| {
        let is_work = session.is_some();
        let request = FeedbackRequest { session: session.map(Into::into), is_work, ..feedback_on(vec![id], helpful()) };
        let moved = world.handle.memories.feedback(request, soon()).await.unwrap().updated[0];
        moved.confidence_after > moved.confidence_before
    };
    assert!(vote(Some("s1")).await);
    assert!(!vote(Some("s1")).await);
    assert!(vote(Some("s2")).await);
    assert!(vote(None).await && vote(None).await);
    assert_eq!(world.signals().await.len(), 4);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn all_that_is_said_of_several_memories_is_one_commit() {
    let world = world(good_model()).await;
    let a = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let b = world.recorded(lesson("Close files", "before renaming them")).await;
    let verdict = Feedback {
        helpful: Some(false),
        task_succeeded: Some(true),
        reverted: Some(true),
        evidence: Some(Observed { kind: EvidenceKind::Tests, passed: false, detail: Some("2 of 9".into()) }),
        comment: None,
    };
    let reported = world.handle.memories.feedback(feedback_on(vec![a, b], verdict), soon()).await.unwrap();
    assert_eq!(reported.updated.iter().map(|moved| moved.id).collect::<Vec<_>>(), [a, b]);
    assert!(reported.updated.iter().all(|moved| moved.confidence_after < moved.confidence_before));
    let signals = world.signals().await;
    assert_eq!(signals.len(), 6);
    for id in [a, b] {
        let of_it: Vec<_> = signals.iter().filter(|signal| signal.memory_id == id).collect();
        let kinds: Vec<SignalKind> = of_it.iter().map(|signal| signal.kind).collect();
        assert_eq!(kinds, [SignalKind::NotHelpful, SignalKind::TaskFailed, SignalKind::Reverted], "evidence wins");
        let comments: Vec<_> = of_it.iter().filter_map(|signal| signal.comment.as_deref()).collect();
        assert_eq!(comments, ["tests failed: 2 of 9"]);
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_trace_stands_for_the_memories_it_used() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let used = world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    let report_of_solve =
        world.handle.agents.solve(task("bisect the sorted range of numbers", 1), project(), call()).await.unwrap();
    assert_eq!(report_of_solve.memories_used.iter().map(|used| used.id).collect::<Vec<_>>(), [used]);
    let by_trace = FeedbackRequest { trace_id: report_of_solve.trace_id, ..feedback_on(vec![], helpful()) };
    let reported = memories.feedback(by_trace.clone(), soon()).await.unwrap();
    assert_eq!(reported.updated.iter().map(|moved| moved.id).collect::<Vec<_>>(), [used]);
    let votes: Vec<_> = world.signals().await.into_iter().filter(|s| s.kind == SignalKind::Helpful).collect();
    assert_eq!((votes.len(), votes[0].trace_id), (1, report_of_solve.trace_id));

    let again = memories.feedback(by_trace.clone(), soon()).await.unwrap().updated[0];
    assert_eq!(again.confidence_before, again.confidence_after, "a call that is made again votes once");
    assert_eq!(again.confidence_before, reported.updated[0].confidence_after);
    let kinds_before = world.signal_kinds().await;
    let known = Feedback { task_succeeded: Some(true), comment: Some("it passed".into()), ..Feedback::default() };
    memories.feedback(FeedbackRequest { verdict: known, ..by_trace.clone() }, soon()).await.unwrap();
    assert_eq!(world.signal_kinds().await, kinds_before, "the solve said so itself");
    let other = FeedbackRequest { session: Some("another".into()), ..by_trace.clone() };
    memories.feedback(other, soon()).await.unwrap();
    assert_eq!(world.signal_kinds().await.len(), kinds_before.len() + 1, "another session has a vote of its own");

    let foreign = FeedbackRequest { workspace: elsewhere(), ..by_trace.clone() };
    assert_eq!(memories.feedback(foreign, soon()).await.unwrap_err().code(), Code::NotFound);
    let unknown = FeedbackRequest { trace_id: Some(TraceId::from(uuid::Uuid::now_v7())), ..by_trace.clone() };
    assert_eq!(memories.feedback(unknown, soon()).await.unwrap_err().code(), Code::NotFound);

    memories.delete(used, &project(), soon()).await.unwrap();
    assert!(memories.feedback(by_trace, soon()).await.unwrap().updated.is_empty(), "what is gone is left out");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_observed_of_a_trace_decides_its_outcome_and_says_so() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let used = world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    let solved =
        world.handle.agents.solve(task("bisect the sorted range of numbers", 1), project(), call()).await.unwrap();
    let trace_id = solved.trace_id.unwrap();
    let judged = memories.trace(trace_id, &project(), soon()).await.unwrap();
    assert_eq!((judged.outcome, judged.verdict_source), (Outcome::Success, VerdictSource::Judge));

    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let evidence = |passed, detail: &str| Feedback {
        evidence: Some(Observed { kind: EvidenceKind::Tests, passed, detail: Some(detail.into()) }),
        ..Feedback::default()
    };
    let of_trace = |verdict| FeedbackRequest { trace_id: Some(trace_id), ..feedback_on(vec![], verdict) };
    let failed = of_trace(evidence(false, &format!("2 of 9 with {key}")));
    let failed = FeedbackRequest { learnings: vec![learning("Cap the pause", "at a minute")], ..failed };
    let reported = memories.feedback(failed.clone(), soon()).await.unwrap();
    let observed = memories.trace(trace_id, &project(), soon()).await.unwrap();
    assert_eq!((observed.outcome, observed.verdict_source), (Outcome::Failure, VerdictSource::Evidence));
    assert_eq!(observed.evidence.as_deref(), Some("tests failed: 2 of 9 with [REDACTED:github]"));
    assert_eq!((observed.revision, &observed.trajectory), (1, &judged.trajectory));
    let learned = memories.get(reported.learned[0].id, &project(), soon()).await.unwrap();
    assert_eq!(learned.trace_outcome, Some(Outcome::Failure), "what comes with it knows");
    let of_used: Vec<SignalKind> =
        world.signals().await.into_iter().filter(|s| s.memory_id == used).map(|s| s.kind).collect();
    assert!(of_used.contains(&SignalKind::TaskSucceeded) && of_used.contains(&SignalKind::TaskFailed), "{of_used:?}");

    memories.feedback(failed, soon()).await.unwrap();
    assert_eq!(memories.trace(trace_id, &project(), soon()).await.unwrap(), observed, "said again changes nothing");
    let claimed = Feedback { task_succeeded: Some(true), ..Feedback::default() };
    memories.feedback(of_trace(claimed), soon()).await.unwrap();
    assert_eq!(memories.trace(trace_id, &project(), soon()).await.unwrap(), observed, "a claim observes nothing");
    memories.feedback(of_trace(evidence(true, "9 of 9")), soon()).await.unwrap();
    let later = memories.trace(trace_id, &project(), soon()).await.unwrap();
    assert_eq!((later.outcome, later.revision), (Outcome::Success, 2), "the newest observation counts");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn unknown_memories_are_all_named_and_nothing_is_stored() {
    let world = world(good_model()).await;
    let known = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let (one, two) = (MemoryId::from(uuid::Uuid::now_v7()), MemoryId::from(uuid::Uuid::now_v7()));
    let error =
        world.handle.memories.feedback(feedback_on(vec![one, known, two], helpful()), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    let message = error.to_string();
    assert!(message.contains(&one.to_string()) && message.contains(&two.to_string()), "{message}");
    assert!(!message.contains(&known.to_string()));
    let foreign = FeedbackRequest { workspace: elsewhere(), ..feedback_on(vec![known], helpful()) };
    assert_eq!(world.handle.memories.feedback(foreign, soon()).await.unwrap_err().code(), Code::NotFound);
    assert!(world.signals().await.is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn lessons_that_come_with_a_report_descend_from_its_memories() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let parent = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let error = ErrorContext {
        error_type: "TimeoutError".into(),
        failure_pattern: "every client retried at once".into(),
        corrective_guidance: "add jitter".into(),
        error_message: None,
        stack_trace: None,
        task_domain: None,
    };
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let warning = Learning { error_context: Some(error), ..learning("Jitter retries", "spread them over the pause") };
    let learnings = vec![warning, learning("Cap the pause", &format!("at a minute; token {key}"))];
    let request = FeedbackRequest { learnings, ..feedback_on(vec![parent], helpful()) };
    let reported = memories.feedback(request.clone(), soon()).await.unwrap();
    assert_eq!(
        reported.learned.iter().map(|l| l.title.as_str()).collect::<Vec<_>>(),
        ["Jitter retries", "Cap the pause"]
    );
    let first = memories.get(reported.learned[0].id, &project(), soon()).await.unwrap();
    assert_eq!((first.parent_memory_id, first.evolution_stage, first.warning), (Some(parent), 1, true));
    assert_eq!((first.derived_from, first.trust), (vec![parent], Trust::Agent));
    let second = memories.get(reported.learned[1].id, &project(), soon()).await.unwrap();
    assert!(!second.content.contains(&key), "{}", second.content);

    let again = memories.feedback(request, soon()).await.unwrap();
    assert_eq!(again.learned, reported.learned, "the same lessons again confirm those there are");
    assert_eq!(world.signal_kinds().await.iter().filter(|kind| **kind == SignalKind::Confirmed).count(), 2);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn lessons_alone_are_a_report() {
    let world = world(good_model()).await;
    let request = FeedbackRequest {
        learnings: vec![learning("Cap the pause", "at a minute")],
        ..feedback_on(vec![], Feedback::default())
    };
    let reported = world.handle.memories.feedback(request, soon()).await.unwrap();
    assert_eq!((reported.updated.len(), reported.learned.len()), (0, 1));
    let found =
        world.handle.memories.retrieve(RetrieveRequest::new("cap the pause", project(), 5), soon()).await.unwrap();
    assert_eq!(found.memories[0].memory.id, reported.learned[0].id);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn bad_lessons_are_refused_with_all_that_is_wrong_and_nothing_is_stored() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let learnings = vec![learning("Fine", "content"), learning(" ", "content"), learning("Title", "")];
    let request = FeedbackRequest { learnings, ..feedback_on(vec![id], helpful()) };
    let error = world.handle.memories.feedback(request, soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::MemoryInvalid);
    let message = error.to_string();
    assert!(message.contains("title of learnings[1]") && message.contains("content of learnings[2]"), "{message}");
    assert_eq!((world.signals().await.len(), world.memories().await.len()), (0, 1));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_that_says_nothing_is_refused() {
    let world = world(good_model()).await;
    let request = feedback_on(vec![MemoryId::from(uuid::Uuid::nil())], Feedback::default());
    let error = world.handle.memories.feedback(request, soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().starts_with("helpful"), "{error}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn words_of_a_report_are_scrubbed() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let evidence = Observed { kind: EvidenceKind::User, passed: true, detail: Some(format!("with {key}")) };
    let verdict = Feedback { evidence: Some(evidence), comment: Some(format!("saw {key}")), ..helpful() };
    world.handle.memories.feedback(feedback_on(vec![id], verdict), soon()).await.unwrap();
    let words: String = world.signals().await.into_iter().filter_map(|signal| signal.comment).collect();
    assert!(words.contains("[REDACTED:") && !words.contains(&key), "{words}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_outlives_a_store_that_dies_and_counts_once() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let mut events = world.handle.events.subscribe();
    let memories = world.handle.memories.clone();
    let reporting = tokio::spawn(async move { memories.feedback(feedback_on(vec![id], helpful()), soon()).await });
    assert!(world.handle.faults("store").kill().await);
    restarted(&mut events, "store").await;
    reporting.await.unwrap().unwrap();
    assert_eq!(world.signal_kinds().await, [SignalKind::Helpful]);

    world.store.fail_with(Some(StoreError::Failed("the disk is gone".into())));
    let error = world.handle.memories.feedback(feedback_on(vec![id], helpful()), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::StoreUnavailable);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_first_report_registers_its_workspace() {
    let world = world(good_model()).await;
    let request = FeedbackRequest {
        learnings: vec![learning("Cap the pause", "at a minute")],
        workspace: elsewhere(),
        ..feedback_on(vec![], Feedback::default())
    };
    world.handle.memories.feedback(request, soon()).await.unwrap();
    let known = world.handle.workspaces.list(soon()).await.unwrap();
    assert_eq!(known.iter().map(|w| w.id.clone()).collect::<Vec<_>>(), [WorkspaceId::of_root("/home/me/other")]);
    world.stop().await;
}
