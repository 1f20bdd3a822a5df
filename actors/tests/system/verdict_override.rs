//! Tests of evidence against a solve's own verdict: votes that are taken back, lessons that are held to account, and
//! reports that come at the same time.

use std::collections::HashSet;

use futures::future::join_all;
use reasoning_bank_actors::memories::FeedbackRequest;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::observation::{EvidenceKind, Feedback, Observed};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::solve::task::SolveReport;

use crate::support::*;

const TASK: &str = "bisect the sorted range of numbers";

/// A world in which a task was solved with one memory and left one strategy.
async fn solved() -> (World, MemoryId, SolveReport) {
    let world = world(good_model()).await;
    let used = world.recorded(lesson("Bisect sorted data", TASK)).await;
    let report = world.handle.agents.solve(task(TASK, 1), project(), call()).await.unwrap();
    assert_eq!(report.memories_used.iter().map(|used| used.id).collect::<Vec<_>>(), [used]);
    assert_eq!(report.learnings.len(), 1);
    (world, used, report)
}

fn tests(passed: bool, trace_id: Option<TraceId>, session: &str) -> FeedbackRequest {
    let evidence = Observed { kind: EvidenceKind::Tests, passed, detail: Some(format!("seen by {session}")) };
    let verdict = Feedback { evidence: Some(evidence), ..Feedback::default() };
    FeedbackRequest { trace_id, session: Some(session.into()), ..feedback_on(vec![], verdict) }
}

impl World {
    async fn says(&self, passed: bool, report: &SolveReport, session: &str) {
        self.feedback(tests(passed, report.trace_id, session)).await;
    }

    async fn trace_of(&self, report: &SolveReport) -> Trace {
        self.trace(report.trace_id.unwrap()).await
    }

    /// Returns what the trace says of a memory, beside that it was used.
    async fn votes(&self, report: &SolveReport, memory: MemoryId) -> Vec<Signal> {
        let mut signals = self.signals().await;
        signals.retain(|s| s.memory_id == memory && s.trace_id == report.trace_id && s.kind != SignalKind::Injected);
        signals
    }

    async fn weight(&self, report: &SolveReport, memory: MemoryId) -> f64 {
        self.votes(report, memory).await.iter().map(|signal| signal.kind.weight()).sum()
    }

    async fn lesson(&self, report: &SolveReport) -> Memory {
        self.memories().await.into_iter().find(|memory| memory.id == report.learnings[0].id).unwrap()
    }

    async fn outcome_of_lesson(&self, report: &SolveReport) -> Option<Outcome> {
        self.handle.memories.get(report.learnings[0].id, &project(), soon()).await.unwrap().trace_outcome
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[tokio::test(start_paused = true)]
async fn failing_tests_take_the_success_of_the_judge_back_from_what_was_used_and_what_was_learned() {
    let (world, used, report) = solved().await;
    let learned = report.learnings[0].id;
    let before = world.handle.memories.get(used, &project(), soon()).await.unwrap();
    let known = world.handle.memories.get(learned, &project(), soon()).await.unwrap().confidence;
    let answer = world.handle.memories.feedback(tests(false, report.trace_id, "a"), soon()).await.unwrap().updated;
    let [reported, refuted] = answer.as_slice() else { panic!("{answer:?}") };
    let now = world.handle.memories.get(learned, &project(), soon()).await.unwrap().confidence;
    assert!(refuted.id == learned && near(refuted.confidence_before, known) && near(refuted.confidence_after, now));
    assert!(now < known, "the lesson of the solve lost confidence");
    let failed = SignalKind::TaskFailed.weight();
    assert!(near(world.weight(&report, used).await, failed), "the evidence alone counts");
    assert!(near(world.weight(&report, learned).await, failed));
    assert_eq!(world.outcome_of_lesson(&report).await, Some(Outcome::Failure));
    let after = world.handle.memories.get(used, &project(), soon()).await.unwrap();
    assert!(near(reported.confidence_before, before.confidence) && near(reported.confidence_after, after.confidence));
    assert_eq!((before.usage_count, before.last_used_at), (after.usage_count, after.last_used_at), "it was used");

    assert!(world.lesson(&report).await.is_of_failure(), "a model reads it as one of what failed");
    world.says(false, &report, "b").await;
    world.says(false, &report, "a").await;
    let overruled = world.votes(&report, used).await.into_iter().filter(|s| s.kind == SignalKind::SuccessOverruled);
    assert_eq!(overruled.count(), 1, "whoever reports it");
    assert!(near(world.weight(&report, used).await, 2.0 * failed), "two witnesses");
    assert!(near(world.weight(&report, learned).await, failed), "one trace");

    world.says(true, &report, "c").await;
    assert!(near(world.weight(&report, used).await, failed), "the judge's word is gone for good");
    assert!(near(world.weight(&report, learned).await, 0.0));
    assert_eq!(world.outcome_of_lesson(&report).await, Some(Outcome::Success));
    assert!(!world.lesson(&report).await.is_of_failure());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn evidence_that_agrees_with_the_judge_overrules_nothing() {
    let (world, used, report) = solved().await;
    world.says(true, &report, "a").await;
    assert!(near(world.weight(&report, used).await, 2.0 * SignalKind::TaskSucceeded.weight()));
    assert!(world.votes(&report, report.learnings[0].id).await.is_empty());
    let lesson = world.lesson(&report).await;
    assert_eq!((lesson.revision, lesson.trace_outcome), (1, Some(Outcome::Success)));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_of_other_memories_overrules_what_the_solve_said_all_the_same() {
    let (world, used, report) = solved().await;
    let other = world.recorded(lesson("Close files", "before renaming them")).await;
    let of_another = FeedbackRequest { memory_ids: vec![other], ..tests(false, report.trace_id, "a") };
    let answer = world.handle.memories.feedback(of_another, soon()).await.unwrap().updated;
    let moved: HashSet<MemoryId> = answer.iter().map(|moved| moved.id).collect();
    assert_eq!(moved, HashSet::from([other, used, report.learnings[0].id]), "the answer names all that moved");
    assert!(near(world.weight(&report, used).await, 0.0));
    assert!(near(world.weight(&report, other).await, SignalKind::TaskFailed.weight()));
    world.stop().await;
}

/// Returns all orders of up to three of these reports.
fn orders() -> Vec<Vec<(bool, &'static str)>> {
    let all = [(true, "a"), (false, "a"), (true, "b"), (false, "b")];
    let mut orders: Vec<Vec<(bool, &str)>> = vec![vec![]];
    for _ in 0..3 {
        let longer: Vec<_> =
            orders.iter().flat_map(|order| all.map(|one| [order.clone(), vec![one]].concat())).collect();
        orders.extend(longer);
        orders.sort();
        orders.dedup();
    }
    orders
}

#[tokio::test(start_paused = true)]
async fn in_whatever_order_reports_come_the_same_counts_for_what_was_used_and_the_last_for_what_was_learned() {
    let vote = |passed| if passed { SignalKind::TaskSucceeded } else { SignalKind::TaskFailed }.weight();
    for order in orders() {
        let (world, used, report) = solved().await;
        for (passed, session) in &order {
            world.says(*passed, &report, session).await;
        }
        let said: std::collections::BTreeSet<_> = order.iter().copied().collect();
        let contradicted = said.iter().any(|(passed, _)| !passed);
        let own = if contradicted { 0.0 } else { vote(true) };
        let expected: f64 = own + said.iter().map(|(passed, _)| vote(*passed)).sum::<f64>();
        assert!(near(world.weight(&report, used).await, expected), "{order:?}");
        let last = order.last().is_none_or(|(passed, _)| *passed);
        let (outcome, against) = if last { (Outcome::Success, 0.0) } else { (Outcome::Failure, vote(false)) };
        assert_eq!(
            (world.trace_of(&report).await.outcome, world.outcome_of_lesson(&report).await),
            (outcome, Some(outcome))
        );
        assert!(near(world.weight(&report, report.learnings[0].id).await, against), "{order:?}");
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn reports_that_come_at_once_are_all_counted_one_after_another() {
    let (world, used, report) = solved().await;
    let sessions = ["a", "b", "c", "d", "e", "f"];
    let reports = sessions.iter().enumerate().map(|(n, session)| tests(n % 2 == 0, report.trace_id, session));
    let memories = &world.handle.memories;
    for answer in join_all(reports.map(|report| memories.feedback(report, soon()))).await {
        answer.unwrap();
    }
    let trace = world.trace_of(&report).await;
    assert_eq!(trace.revision as usize, sessions.len(), "none overwrote another");
    let expected = 3.0 * (SignalKind::TaskSucceeded.weight() + SignalKind::TaskFailed.weight());
    assert!(near(world.weight(&report, used).await, expected));
    let against = if trace.is_refuted() { SignalKind::TaskFailed.weight() } else { 0.0 };
    assert!(near(world.weight(&report, report.learnings[0].id).await, against));
    assert_eq!(world.outcome_of_lesson(&report).await, Some(trace.outcome));
    world.stop().await;
}
