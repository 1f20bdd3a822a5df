//! Tests of the traces of clients that work by themselves: what they were shown, and the traces that their reports
//! make.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::memories::{FeedbackRequest, RecordRequest};
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::system::{System, SystemParts};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{ManualClock, parts};
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::observation::{EvidenceKind, Feedback, Observed};
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::trace::{Outcome, TraceSource, VerdictSource};
use reasoning_bank_domain::note::Code;

use crate::support::*;

fn report(task: Option<&str>, used: &[MemoryId], verdict: Feedback) -> FeedbackRequest {
    work_report("session", task, used, verdict)
}

fn observes(passed: bool) -> Feedback {
    let evidence = Some(Observed { kind: EvidenceKind::Tests, passed, detail: None });
    Feedback { evidence, ..Feedback::default() }
}

#[tokio::test(start_paused = true)]
async fn the_reports_of_a_session_make_one_trace_a_task() {
    let world = world(good_model()).await;
    let a = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let b = world.recorded(lesson("Close files", "before renaming them")).await;
    let first = world.feedback(report(Some("fix the pager"), &[a], claims(true))).await.trace_id;
    let named = FeedbackRequest { commit: Some("abcdef1".into()), ..report(None, &[b], observes(true)) };
    assert_eq!(world.feedback(named).await.trace_id, first);
    let made = world.trace(first.unwrap()).await;
    assert_eq!(
        (made.source, made.task.as_str(), made.outcome),
        (TraceSource::Reported, "fix the pager", Outcome::Success)
    );
    assert_eq!((made.verdict_source, made.commit.as_deref()), (VerdictSource::Evidence, Some("abcdef1")));
    assert_eq!((made.memories_used, made.metadata.source_session.as_deref()), (vec![a, b], Some("session")));

    let learning = learning("Flush before closing", "a buffer may hold the last lines");
    let another = FeedbackRequest { learnings: vec![learning], ..report(Some("write the log"), &[a], claims(false)) };
    let another = world.feedback(another).await;
    assert_ne!(another.trace_id, first);
    let second = world.trace(another.trace_id.unwrap()).await;
    assert_eq!((second.parent_trace_id, second.outcome), (first, Outcome::Failure));
    assert_eq!(second.memory_items, [another.learned[0].id]);
    let learned = world.handle.memories.show(another.learned[0].id, &project(), soon()).await.unwrap();
    assert_eq!((learned.source_session.as_deref(), learned.task.as_str()), (Some("session"), "write the log"));

    let listed = world.handle.memories.traces(&project(), 10, None, soon()).await.unwrap().traces;
    assert_eq!(listed.iter().map(|trace| Some(trace.trace_id)).collect::<Vec<_>>(), [another.trace_id, first]);
    let statistics = world.handle.statistics(soon()).await.unwrap();
    assert!((statistics.traces.success_rate - 0.5).abs() < 1e-9, "{statistics:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_has_one_voice_a_task_and_its_evidence_takes_its_claim_back() {
    let world = world(good_model()).await;
    let used = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let claim = report(Some("fix the pager"), &[used], claims(true));
    let before = world.feedback(claim.clone()).await.updated[0];
    assert!(before.confidence_after > before.confidence_before);
    let again = world.feedback(claim).await.updated[0];
    assert_eq!((again.confidence_before, again.confidence_after), (before.confidence_after, before.confidence_after));
    world.feedback(report(None, &[used], observes(false))).await;
    let mut said = world.signal_kinds().await;
    said.sort_by_key(|kind| kind.as_str());
    assert_eq!(said, [SignalKind::SuccessOverruled, SignalKind::TaskFailed, SignalKind::TaskSucceeded]);
    let back = world.feedback(report(None, &[used], observes(true))).await.updated[0];
    assert!((back.confidence_after - before.confidence_after).abs() < 1e-9, "what was observed last counts, once");
    let sources: Vec<_> = world.signals().await.into_iter().map(|signal| (signal.trace_id, signal.session)).collect();
    assert!(sources.iter().all(|source| *source == (None, Some("session".into()))), "the session is one source");

    let other = FeedbackRequest { session: Some("another".into()), ..report(None, &[used], claims(true)) };
    let other = world.feedback(other).await.trace_id;
    assert_eq!(world.trace(other.unwrap()).await.metadata.source_session.as_deref(), Some("another"));
    world.stop().await;
}

/// A conversation of somebody who has several.
fn conversation(name: &str) -> Option<ClientSession> {
    Some(ClientSession { source: "ana".into(), conversation: Some(name.into()) })
}

#[tokio::test(start_paused = true)]
async fn two_conversations_of_one_source_keep_their_traces_apart_and_have_one_voice() {
    let world = world(good_model()).await;
    let used = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let report = |name: &str, task: Option<&str>| FeedbackRequest {
        session: conversation(name),
        ..report(task, &[used], claims(true))
    };
    let pager = world.feedback(report("laptop", Some("fix the pager"))).await;
    let log = world.feedback(report("desktop", Some("write the log"))).await;
    assert_eq!(world.feedback(report("laptop", None)).await.trace_id, pager.trace_id);
    assert_eq!(world.feedback(report("desktop", None)).await.trace_id, log.trace_id);
    assert_eq!(world.trace(log.trace_id.unwrap()).await.parent_trace_id, None, "it did not come after the other's");
    let same = world.feedback(report("desktop", Some("Fix the  pager"))).await;
    assert_eq!((same.trace_id, same.updated[0].confidence_after), (pager.trace_id, same.updated[0].confidence_before));
    let sources: Vec<_> = world.signals().await.into_iter().map(|signal| signal.session.unwrap()).collect();
    assert_eq!(sources, ["ana", "ana"]);

    let solved = async |name: &str| {
        let options = SolveOptions { session: conversation(name), ..call() };
        let solved = world.handle.agents.solve(task("write a parser", 1), project(), options).await.unwrap();
        world.trace(solved.trace_id.unwrap()).await
    };
    let first = solved("laptop").await;
    assert_eq!((first.parent_trace_id, first.metadata.source_session.as_deref()), (pager.trace_id, Some("ana")));
    assert_eq!(solved("desktop").await.parent_trace_id, pager.trace_id, "it reported on that last");
    assert_eq!(solved("laptop").await.parent_trace_id, Some(first.trace_id));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_reported_nothing_yet_has_to_name_its_task() {
    let world = world(good_model()).await;
    let used = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    world
        .feedback(FeedbackRequest { session: conversation("one"), ..report(Some("a task"), &[used], claims(true)) })
        .await;
    let untold = FeedbackRequest { session: conversation("another"), ..report(None, &[used], claims(true)) };
    let alone =
        FeedbackRequest { session: Some(ClientSession { source: "ana".into(), conversation: None }), ..untold.clone() };
    for report in [alone.clone(), untold.clone(), alone] {
        let refused = world.handle.memories.feedback(report, soon()).await.unwrap_err();
        assert!(refused.code() == Code::InvalidArgument && refused.to_string().starts_with("task: "), "{refused}");
    }
    assert_eq!(world.signals().await.len(), 1);
    let vote = FeedbackRequest { verdict: helpful(), ..untold };
    assert_eq!(world.feedback(vote).await.updated.len(), 1, "a vote is about no task");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reports_of_one_moment_extend_one_trace() {
    let world = world(good_model()).await;
    let mut used = Vec::new();
    for n in 0..6 {
        used.push(world.recorded(lesson(&format!("Lesson {n}"), &format!("word{n} content{n}"))).await);
    }
    let all = used.iter().map(|id| world.feedback(report(Some("one task"), &[*id], claims(true))));
    let traces: Vec<_> = futures::future::join_all(all).await.into_iter().map(|reported| reported.trace_id).collect();
    assert!(traces.iter().all(|trace| *trace == traces[0]));
    let mut named = world.trace(traces[0].unwrap()).await.memories_used;
    named.sort();
    used.sort();
    assert_eq!(named, used);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_trace_that_was_purged_begins_anew() {
    let world = world(good_model()).await;
    let used = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let first = world.feedback(report(Some("one task"), &[used], claims(true))).await.trace_id;
    let ahead = jiff::Timestamp::now() + SignedDuration::from_hours(48);
    world.handle.workspaces.purge_traces(&project(), ahead, soon()).await.unwrap();
    assert!(world.handle.memories.traces(&project(), 10, None, soon()).await.unwrap().traces.is_empty());
    let second = world.feedback(report(Some("one task"), &[used], claims(true))).await.trace_id;
    assert_eq!((second, world.trace(second.unwrap()).await.memories_used), (first, vec![used]));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_source_says_of_a_task_counts_once_over_restarts_until_the_next_day_is_over() {
    let (store, clock) = (Arc::new(MemStore::new()), ManualClock::default());
    let mut used = None;
    let mut traces = Vec::new();
    for hours in [0, 1, 24, 24] {
        clock.advance(SignedDuration::from_hours(hours));
        let parts = SystemParts { clock: clock.clock(), ..parts(Arc::clone(&store) as Arc<_>, NoModel) };
        let system = System::start(parts).await.unwrap();
        let memories = system.handle().memories;
        let id = match used {
            Some(id) => id,
            None => memories.record(lesson("Retry with backoff", "double the delay"), soon()).await.unwrap().id,
        };
        used = Some(id);
        let report =
            FeedbackRequest { session: conversation("laptop"), ..report(Some("fix the pager"), &[id], claims(true)) };
        let told = memories.feedback(report, soon()).await.unwrap();
        let counted = told.updated[0].confidence_after != told.updated[0].confidence_before;
        traces.push((told.trace_id.unwrap(), counted));
        system.stop(Duration::ZERO).await;
    }
    let (first, last) = (traces[0].0, traces[3].0);
    assert_eq!(traces, [(first, true), (first, false), (first, false), (last, true)]);
    assert_ne!(first, last);
}

#[tokio::test(start_paused = true)]
async fn tasks_that_take_turns_keep_their_traces() {
    let world = world(good_model()).await;
    let used = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let on = async |task| world.feedback(report(Some(task), &[used], claims(true))).await;
    let (a, b) = (on("fix the pager").await, on("write the log").await);
    let again = on("Fix  the pager").await;
    assert_eq!(again.trace_id, a.trace_id);
    assert_ne!(a.trace_id, b.trace_id);
    assert_eq!(again.updated[0].confidence_before, again.updated[0].confidence_after, "it was said before");
    assert_eq!(world.signal_kinds().await, [SignalKind::TaskSucceeded; 2]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_vote_alone_tells_of_no_work() {
    let world = world(good_model()).await;
    let used = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let voted = world.feedback(report(None, &[used], Feedback { helpful: Some(true), ..Feedback::default() })).await;
    assert_eq!((voted.trace_id, voted.updated.len()), (None, 1));
    let unused = Feedback { helpful: Some(false), ..claims(true) };
    let told = world.feedback(report(Some("fix the pager"), &[used], unused)).await;
    assert!(world.trace(told.trace_id.unwrap()).await.memories_used.is_empty(), "what did not help was not used");
    let named =
        FeedbackRequest { commit: Some("abcdef1".into()), ..report(Some("fix the pager"), &[], Feedback::default()) };
    world.feedback(named).await;
    assert_eq!(world.trace(told.trace_id.unwrap()).await.commit.as_deref(), Some("abcdef1"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_trace_tells_nothing_of_what_its_report_may_not_judge_and_takes_no_claim_of_others() {
    let world = world(good_model()).await;
    world.handle.workspaces.trust(&project(), Some("blue".into()), None, soon()).await.unwrap();
    let own = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let shared = RecordRequest { scope: Scope::Team, ..lesson("Close files", "before renaming them") };
    let shared = world.recorded(shared).await;
    let told = world.feedback(report(Some("fix the pager"), &[own, shared], claims(true))).await;
    assert_eq!(
        (told.not_shared_with, world.trace(told.trace_id.unwrap()).await.memories_used),
        (vec![shared], vec![own])
    );

    let foreign = FeedbackRequest {
        trace_id: told.trace_id,
        commit: Some("abcdef1".into()),
        session: Some("another".into()),
        ..report(None, &[own], claims(false))
    };
    world.feedback(foreign).await;
    let after = world.trace(told.trace_id.unwrap()).await;
    assert_eq!((after.outcome, after.commit), (Outcome::Success, None));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_solve_names_its_session_and_what_the_session_left_before() {
    let world = world(good_model()).await;
    let of = |session: &str| SolveOptions { session: Some(session.into()), ..call() };
    let first = world.handle.agents.solve(task("write a parser", 1), project(), of("session")).await.unwrap();
    let second = world.handle.agents.solve(task("write a lexer", 1), project(), of("session")).await.unwrap();
    let stranger = world.handle.agents.solve(task("write a printer", 1), project(), of("another")).await.unwrap();
    let trace =
        async |report: &reasoning_bank_domain::solve::task::SolveReport| world.trace(report.trace_id.unwrap()).await;
    assert_eq!(trace(&first).await.parent_trace_id, None);
    assert_eq!(trace(&second).await.parent_trace_id, first.trace_id);
    assert_eq!(trace(&stranger).await.parent_trace_id, None);
    let learned = world.handle.memories.show(first.learnings[0].id, &project(), soon()).await.unwrap();
    assert_eq!(learned.source_session.as_deref(), Some("session"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_client_is_shown_counts_once_a_session_and_day_and_is_no_evidence() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let before = world.handle.memories.get(id, &project(), soon()).await.unwrap();
    for session in ["one", "one", "two"] {
        world.handle.usage.shown([id], &project(), session);
    }
    assert!(world.signals().await.is_empty(), "nobody waits for it");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let after = world.handle.memories.get(id, &project(), soon()).await.unwrap();
    assert_eq!((before.usage_count, after.usage_count), (0, 2));
    assert_eq!(after.confidence, before.confidence);
    world.handle.usage.shown([id], &elsewhere(), "three");
    let (store, handle) = (world.store.clone(), world.handle.clone());
    handle.usage.shown([id], &project(), "four");
    world.stop().await;
    let stored = reasoning_bank_actors::ports::StoreReads::get(&*store, vec![id], soon()).await.unwrap();
    assert_eq!(stored[0].evidence.usage_count(), 3, "a stop stores what waits, and reading registers no workspace");
}

#[tokio::test(start_paused = true)]
async fn a_crash_loses_what_waits_to_be_counted_and_nothing_else() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let mut events = world.handle.events.subscribe();
    world.handle.usage.shown([id], &project(), "lost");
    assert!(world.handle.faults("usage").panic().await);
    restarted(&mut events, "usage").await;
    world.handle.usage.shown([id], &project(), "one");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(world.signal_kinds().await, [SignalKind::Shown]);
    world.stop().await;
}
