//! Every actor is killed and made to panic: it comes back, or its caller is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures::FutureExt;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::RetrieveRequest;
use reasoning_bank_actors::ports::{MemoryStore, Page, StoreError};
use reasoning_bank_actors::runtime::SystemEvent;
use reasoning_bank_actors::store::StoreOpener;
use reasoning_bank_actors::testkit::Faults;
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Purpose;
use rstest::rstest;

use crate::support::*;

async fn crash(faults: Faults, by_panic: bool) {
    let crashed = if by_panic { faults.panic().await } else { faults.kill().await };
    assert!(crashed);
}

#[rstest]
#[case::store("store")]
#[case::cache("cache")]
#[case::workspaces("workspaces")]
#[case::matts("matts")]
#[case::judge("judge")]
#[case::agents("agents")]
#[case::learner("learner")]
#[tokio::test(start_paused = true)]
async fn a_permanent_actor_comes_back_and_the_next_task_is_solved(
    #[case] name: &'static str,
    #[values(false, true)] by_panic: bool,
) {
    let world = world(good_model()).await;
    world.handle.memories.record(lesson("Kept", "what was acknowledged stays"), soon()).await.unwrap();
    let mut events = world.handle.events.subscribe();
    let handle = &world.handle;
    crash(handle.faults(name), by_panic).await;
    restarted(&mut events, name).await;
    let report = handle.agents.solve(task("x y z", 3), project(), call()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Success);
    let found = handle.memories.retrieve(RetrieveRequest::new("acknowledged", project(), 5), soon()).await.unwrap();
    assert!(found.memories.iter().any(|found| found.memory.title == "Kept"));
    let actors = handle.actors(soon()).await.unwrap();
    for actor in actors {
        assert_eq!(actor.restarts, u64::from(actor.name == name), "{actor:?}: only the one that crashed was restarted");
    }
    world.stop().await;
}

#[rstest]
#[tokio::test(start_paused = true)]
async fn a_task_whose_agent_dies_is_reported_and_recorded_and_not_run_again(#[values(false, true)] by_panic: bool) {
    let model = good_model();
    let _held = model.hold(Purpose::Think);
    let world = world(model.clone()).await;
    let mut events = world.handle.events.subscribe();
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 2), project(), call()).await });
    assert!(model.begun(2, soon()).await);
    crash(world.handle.faults("agents").of_a_child(), by_panic).await;
    let error = solving.await.unwrap().unwrap_err();
    assert!(matches!(error, Error::Internal(_)), "{error:?}");
    assert!(model.idle(soon()).await, "its model calls ended with it");
    assert_eq!(model.calls(Purpose::Think), 2, "it was not run again");
    let recorded = reasoning_bank_actors::testkit::eventually(&mut events, soon(), async || {
        let traces = world.handle.store.traces(None, Page::first(9), soon()).await.unwrap();
        traces.len() == 1 && traces[0].outcome == Outcome::Failure
    })
    .await;
    assert!(recorded);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn evaluations_that_die_with_the_judge_leave_attempts_without_a_score() {
    let model = good_model();
    let held = model.hold(Purpose::Evaluate);
    let world = world(model.clone()).await;
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 2), project(), call()).await });
    assert!(model.begun(4, soon()).await, "both drafts are done and being evaluated");
    assert!(world.handle.faults("judge").kill().await);
    held.release();
    let report = solving.await.unwrap().unwrap();
    assert!(report.attempts.iter().all(|attempt| attempt.score.is_none()));
    assert!(
        report.warnings.iter().any(|warning| warning.to_string().starts_with("internal: evaluate")),
        "{:?}",
        report.warnings
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn drafts_that_die_with_their_pool_are_failed_attempts_and_are_not_made_again() {
    let model = good_model();
    let _held = model.hold(Purpose::Think);
    let world = world(model.clone()).await;
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 3), project(), call()).await });
    assert!(model.begun(3, soon()).await);
    assert!(world.handle.faults("matts").kill().await);
    assert_eq!(solving.await.unwrap().unwrap_err().code(), Code::LlmFailed);
    assert_eq!(model.calls(Purpose::Think), 3);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_worker_whose_model_panics_loses_its_attempt_and_no_other() {
    let model = good_model();
    model.answer(Purpose::Think, |request| {
        assert_ne!(request.attempt, Some(2), "the second attempt panics");
        Ok("draft".into())
    });
    let world = world(model.clone()).await;
    let report = world.handle.agents.solve(task("x y z", 3), project(), call()).await.unwrap();
    let failed: Vec<u32> = report.attempts.iter().filter(|a| a.error.is_some()).map(|a| a.index).collect();
    assert_eq!((failed, report.outcome), (vec![2], Outcome::Success));
    world.stop().await;
}

#[rstest]
#[tokio::test(start_paused = true)]
async fn tasks_that_die_with_the_actor_above_them_are_reported_and_recorded(#[values(false, true)] by_panic: bool) {
    let model = good_model();
    let _held = model.hold(Purpose::Think);
    let world = world(model.clone()).await;
    let mut events = world.handle.events.subscribe();
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 1), project(), call()).await });
    assert!(model.begun(1, soon()).await);
    crash(world.handle.faults("agents"), by_panic).await;
    assert!(matches!(solving.await.unwrap(), Err(Error::Internal(_))));
    let finished = |event: &SystemEvent| matches!(event, SystemEvent::TaskFinished { .. });
    assert!(events.wait_for(finished, soon()).await.is_some());
    let traces = world.handle.store.traces(None, Page::first(9), soon()).await.unwrap();
    assert!(traces.len() == 1 && traces[0].outcome == Outcome::Failure);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_could_not_be_opened_in_time_is_opened_by_the_next_request() {
    let answers = Arc::new(Mutex::new(VecDeque::from([
        Err(StoreError::TimedOut),
        Ok(Arc::new(MemStore::new()) as Arc<dyn MemoryStore>),
    ])));
    let opener: StoreOpener = Arc::new(move || {
        let answer = answers.lock().unwrap().pop_front().unwrap();
        async move { answer }.boxed()
    });
    let world = world_over(opener, good_model()).await;
    assert!(world.handle.memories.record(lesson("Retry", "after a while"), soon()).await.is_ok());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_directory_that_cannot_be_used_is_a_lasting_answer() {
    let unusable = StoreError::Unusable("read-only".into());
    let answers = Arc::new(Mutex::new(VecDeque::from([Err(unusable.clone())])));
    let opener: StoreOpener = Arc::new(move || {
        let answer = answers.lock().unwrap().pop_front().unwrap();
        async move { answer }.boxed()
    });
    let world = world_over(opener, good_model()).await;
    for _ in 0..2 {
        let error = world.handle.memories.record(lesson("Retry", "after a while"), soon()).await.unwrap_err();
        assert_eq!(error, Error::Store(unusable.clone()));
    }
    world.stop().await;
}
