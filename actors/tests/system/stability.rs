//! Tests of what the commits after a solve say of the memories that were used in it.

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::memories::FeedbackRequest;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::testkit::ManualClock;
use reasoning_bank_domain::evidence::stability::{Commit, CommitHistory, Stability, WorkStanding};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::prompt::Purpose;

use crate::support::*;

/// The day of the solves, or the given number of days after it.
fn on(day: i32) -> Timestamp {
    ManualClock::default().now() + day * DAY
}

fn commit(id: &str, day: i32, reverts: &[&str]) -> Commit {
    let full = |id: &str| id.repeat(40);
    Commit { id: full(id), at: on(day), subject: id.into(), reverts: reverts.iter().map(|id| full(id)).collect() }
}

fn history(commits: &[Commit]) -> CommitHistory {
    CommitHistory::new(commits.to_vec(), None)
}

async fn judged(world: &World, commits: &[Commit], apply: bool) -> Stability {
    world.handle.memories.stability(&history(commits), &project(), apply, soon()).await.unwrap()
}

async fn confidence(world: &World, id: MemoryId) -> f64 {
    world.handle.memories.get(id, &project(), soon()).await.unwrap().confidence
}

async fn kinds_of(world: &World, id: MemoryId) -> Vec<SignalKind> {
    let signals = world.signals().await.into_iter().filter(|signal| signal.memory_id == id);
    let mut kinds: Vec<SignalKind> = signals.map(|signal| signal.kind).collect();
    kinds.retain(|kind| matches!(kind, SignalKind::Stable | SignalKind::Reverted));
    kinds
}

async fn solved(world: &World, text: &str) {
    world.handle.agents.solve(task(text, 1), project(), call()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_stands_for_seven_days_confirms_what_was_used_once_and_a_revert_takes_it_back() {
    let clock = ManualClock::default();
    let world = world_at(clock.clock(), good_model(), SystemSettings::default()).await;
    let used = world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    solved(&world, "bisect the sorted range of numbers").await;
    let mut commits = vec![commit("a", 1, &[])];

    clock.set(on(7));
    let early = judged(&world, &commits, true).await;
    assert_eq!((early.new_signals, &early.solves[0].standing), (0, &WorkStanding::Waiting { until: on(8) }));
    assert_eq!((early.solves[0].memories[0].id, early.solves[0].memories[0].signal), (used, None));

    clock.set(on(9));
    let shown = judged(&world, &commits, false).await;
    assert_eq!((shown.new_signals, shown.solves[0].memories[0].signal), (1, Some(SignalKind::Stable)));
    assert!(kinds_of(&world, used).await.is_empty(), "it was shown, not done");
    let before = confidence(&world, used).await;
    assert_eq!(judged(&world, &commits, true).await.new_signals, 1);
    let odds = |p: f64| p / (1.0 - p);
    let after = confidence(&world, used).await;
    assert!((odds(after) / odds(before) - 7.0 / 3.0).abs() < 1e-9, "{before} {after}");
    let again = judged(&world, &commits, true).await;
    assert!(again.new_signals == 0 && again.solves[0].memories[0].known);
    assert_eq!(kinds_of(&world, used).await, [SignalKind::Stable]);

    commits.push(commit("b", 9, &["a"]));
    assert_eq!(judged(&world, &commits, true).await.new_signals, 1);
    assert_eq!(judged(&world, &commits, true).await.new_signals, 0);
    assert_eq!(kinds_of(&world, used).await.len(), 2);
    assert!((confidence(&world, used).await - before).abs() < 1e-9, "one takes back what the other gave");
    let mut said: Vec<_> = world.signals().await.into_iter().filter_map(|signal| signal.comment).collect();
    said.sort();
    assert_eq!(said, ["commit aaaaaaaaaaaa stood for 7 days", "commit aaaaaaaaaaaa was reverted by bbbbbbbbbbbb"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn only_solves_that_used_memories_and_did_not_fail_are_judged() {
    let clock = ManualClock::default();
    let model = good_model();
    let world = world_at(clock.clock(), model.clone(), SystemSettings::default()).await;
    solved(&world, "write a parser for dates").await;
    let used = world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    model.answer(Purpose::Judge, |_| {
        Ok(r#"{"verdict": "failure", "score": 0.1, "reasoning": "no", "learnings": []}"#.into())
    });
    solved(&world, "bisect the sorted range of numbers").await;
    clock.set(on(10));
    let commits = [commit("a", 1, &[])];
    assert!(judged(&world, &commits, true).await.solves.is_empty());

    clock.set(on(0));
    model.answer(Purpose::Judge, |_| Ok(JUDGED.into()));
    solved(&world, "bisect the sorted range of numbers again").await;
    clock.set(on(10));
    let elsewhere = world.handle.memories.stability(&history(&commits), &elsewhere(), true, soon()).await.unwrap();
    assert!(elsewhere.solves.is_empty(), "it is judged where it was solved");
    world.handle.memories.delete(used, &project(), soon()).await.unwrap();
    let left = judged(&world, &commits, true).await;
    assert!(
        left.solves.iter().flat_map(|solve| &solve.memories).all(|memory| memory.id != used),
        "what is gone is left out"
    );
    assert!(kinds_of(&world, used).await.is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn where_nothing_was_committed_or_it_cannot_be_known_nothing_is_said() {
    let clock = ManualClock::default();
    let world = world_at(clock.clock(), good_model(), SystemSettings::default()).await;
    world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    solved(&world, "bisect the sorted range of numbers").await;
    clock.set(on(30));
    let nothing = judged(&world, &[commit("a", 20, &[])], true).await;
    assert_eq!((nothing.new_signals, &nothing.solves[0].standing), (0, &WorkStanding::Nothing));
    let shallow = CommitHistory::new(vec![commit("a", 1, &[])], Some(on(1)));
    let unknown = world.handle.memories.stability(&shallow, &project(), true, soon()).await.unwrap();
    assert_eq!((unknown.new_signals, &unknown.solves[0].standing), (0, &WorkStanding::Unknown));
    world.stop().await;
}

fn reported(used: MemoryId, task: &str, commit: Option<&str>) -> FeedbackRequest {
    FeedbackRequest { commit: commit.map(Into::into), ..work_report("session", Some(task), &[used], claims(true)) }
}

#[tokio::test(start_paused = true)]
async fn of_reported_work_the_commit_that_was_named_decides_and_counts_once_for_its_session() {
    let clock = ManualClock::default();
    let world = world_at(clock.clock(), good_model(), SystemSettings::default()).await;
    let used = world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    for task in ["find a number", "find a name"] {
        world.handle.memories.feedback(reported(used, task, Some("aaaaaaaa")), soon()).await.unwrap();
    }
    clock.set(on(20));
    // It was made before the report, and others were made and reverted after it.
    let commits = [commit("a", -1, &[]), commit("b", 1, &[]), commit("c", 2, &["b"])];
    let judged = judged(&world, &commits, true).await;
    assert_eq!((judged.new_signals, judged.solves[0].memories[0].signal), (1, Some(SignalKind::Stable)));
    assert_eq!(kinds_of(&world, used).await, [SignalKind::Stable]);
    let sources = world.signals().await.into_iter().map(|signal| (signal.trace_id, signal.session));
    assert!(sources.into_iter().all(|source| source == (None, Some("session".into()))));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reported_work_was_committed_before_its_report() {
    let clock = ManualClock::default();
    let world = world_at(clock.clock(), good_model(), SystemSettings::default()).await;
    let used = world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    world.handle.memories.feedback(reported(used, "find a number", None), soon()).await.unwrap();
    clock.set(on(20));
    let minutes = |id: &str, after: i64, reverts: &[&str]| Commit {
        at: on(0) + SignedDuration::from_mins(after),
        ..commit(id, 0, reverts)
    };
    let judged = judged(&world, &[minutes("a", -5, &[]), minutes("b", 55, &["a"])], true).await;
    assert_eq!(judged.solves[0].memories[0].signal, Some(SignalKind::Reverted));
    world.stop().await;
}
