//! Tests of one task from the caller's side.

use std::time::Duration;

use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::model::{Simulated, SimulatedBehaviour, SimulatedLatency};
use reasoning_bank_actors::ports::{EmbedderState, ModelError, Page, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::testkit::Scripted;
use reasoning_bank_domain::memory::trace::{MattsMode, Outcome, VerdictSource};
use reasoning_bank_domain::note::{Code, Note};
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::solve::agent_loop::RunLimits;
use reasoning_bank_domain::solve::task::{Progress, SolveTask};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_solved_task_leaves_a_trace_and_a_lesson_that_the_next_one_is_shown() {
    let model = good_model();
    let world = world(model.clone()).await;
    let first = world
        .handle
        .agents
        .solve(task("bisect sorted data with a half-open range", 1), project(), call())
        .await
        .unwrap();
    assert_eq!((first.outcome, first.verdict_source, first.score), (Outcome::Success, VerdictSource::Judge, Some(0.9)));
    assert!(first.memories_used.is_empty() && first.early_exit);
    let stored = world.trace(first.trace_id.unwrap()).await;
    assert_eq!(stored.memory_items, [first.learnings[0].id]);
    assert_eq!(stored.metadata.total_tokens, first.usage.total_tokens());

    let second = world
        .handle
        .agents
        .solve(task("bisect sorted data with a half-open range again", 1), project(), call())
        .await
        .unwrap();
    assert_eq!(second.memories_used.iter().map(|used| used.id).collect::<Vec<_>>(), [first.learnings[0].id]);
    let prompt = &model.requests().into_iter().rfind(|request| request.purpose == Purpose::Think).unwrap().input;
    assert!(prompt.contains("Bisect with a half-open range"), "{prompt}");
    let used = world.handle.memories.get(first.learnings[0].id, &project(), soon()).await.unwrap();
    assert_eq!(used.usage_count, 1);
    assert!(used.last_used_at.is_some() && used.confidence > 0.7, "it helped and was confirmed: {}", used.confidence);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn five_attempts_in_parallel_take_about_as_long_as_one_and_sequential_ones_longer() {
    let latency = SimulatedLatency { base: Duration::from_millis(400), jitter: 0.0 };
    let mut elapsed = Vec::new();
    for (k, mode) in [(1, MattsMode::Parallel), (5, MattsMode::Parallel), (5, MattsMode::Sequential)] {
        let world = world(Simulated::new(SimulatedBehaviour { latency, ..SimulatedBehaviour::default() })).await;
        let begun = Instant::now();
        let one = SolveTask { mode, store_result: false, ..task("retry a flaky http client", k) };
        let report = world.handle.agents.solve(one, project(), call()).await.unwrap();
        assert_eq!(report.attempts.len(), k as usize);
        let rounds = 1 + (report.iterations - 1) * 2;
        elapsed.push(begun.elapsed().as_millis() as f64 - 400.0 * f64::from(rounds - 1));
        world.stop().await;
    }
    assert!(elapsed[1] <= 1.15 * elapsed[0], "{elapsed:?}");
    assert!(elapsed[2] >= elapsed[0] + 4.0 * 400.0, "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn drafts_of_one_task_run_at_the_same_time() {
    let model = good_model();
    let held = model.hold(Purpose::Think);
    let world = world(model.clone()).await;
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 5), project(), call()).await });
    assert!(model.begun(5, soon()).await);
    held.release();
    let report = solving.await.unwrap().unwrap();
    assert_eq!((report.selected, model.calls(Purpose::Contrast)), (1, 1));
    assert_eq!(report.learnings[0].title, "Name the edge cases first");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_the_wrong_form_is_repaired_once() {
    let model = good_model();
    model.reply(Purpose::Evaluate, "no json").reply(Purpose::Evaluate, GOOD);
    let world = world(model.clone()).await;
    let report = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap();
    assert_eq!((report.score, model.calls(Purpose::Evaluate), report.usage.llm_calls), (Some(0.9), 2, 4));
    let repair = model.requests().into_iter().filter(|request| request.purpose == Purpose::Evaluate).nth(1).unwrap();
    assert!(repair.input.contains("was refused"));

    model.reply(Purpose::Judge, "no").reply(Purpose::Judge, "still no");
    let report = world.handle.agents.solve(task("x y zz", 1), project(), call()).await.unwrap();
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Partial, VerdictSource::None));
    assert!(
        report.warnings.iter().any(|warning| warning.to_string().starts_with("llm_output_invalid: judge")),
        "{:?}",
        report.warnings
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn cancelling_stops_the_calls_in_flight_and_stores_nothing() {
    let model = good_model();
    let _held = model.hold(Purpose::Think);
    let world = world(model.clone()).await;
    let (agents, call) = (world.handle.agents.clone(), call());
    let cancel = call.cancel.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 3), project(), call).await });
    assert!(model.begun(3, soon()).await);
    cancel.cancel();
    assert_eq!(solving.await.unwrap(), Err(Error::Cancelled));
    assert!(model.idle(soon()).await && model.abandoned() == 3);
    assert_eq!(world.handle.store.traces(None, Page::first(9), soon()).await.unwrap(), []);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_cancels_its_task() {
    let model = good_model();
    let _held = model.hold(Purpose::Think);
    let world = world(model.clone()).await;
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 2), project(), call()).await });
    assert!(model.begun(2, soon()).await);
    solving.abort();
    assert!(model.idle(soon()).await);
    assert_eq!(world.handle.agents.running(), 0);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn at_the_deadline_the_best_so_far_is_a_partial_answer_in_time() {
    let model = good_model();
    let _held = model.hold(Purpose::Judge);
    let world = world(model.clone()).await;
    let begun = Instant::now();
    let until = SolveOptions::until(Deadline::after(Duration::from_secs(30)));
    let report = world.handle.agents.solve(task("x y z", 2), project(), until).await.unwrap();
    assert!(begun.elapsed() <= Duration::from_secs(30));
    assert_eq!((report.outcome, &*report.solution), (Outcome::Partial, "draft 1"));
    assert!(report.warnings.iter().any(|warning| warning.to_string().starts_with("deadline_exceeded")));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn over_its_token_budget_a_task_ends_with_the_best_so_far() {
    let mut settings = SystemSettings::default();
    settings.solve.limits = RunLimits { total_token_budget: 1, ..RunLimits::default() };
    let world = world_with(Simulated::new(SimulatedBehaviour::default()), settings).await;
    let error = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap_err();
    let Error::TokenBudgetExceeded { used, limit: 1, best: Some(best) } = &error else { panic!("{error:?}") };
    assert!(*used > 1 && best.solution.contains("simulated"));
    assert_eq!(error.code(), Code::TokenBudgetExceeded);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn all_drafts_failing_is_an_error_with_the_reason() {
    let model = Scripted::new();
    model.answer(Purpose::Think, |_| Err(ModelError::Transient { message: "503".into(), retry_after: None }));
    let world = world(model).await;
    let error = world.handle.agents.solve(task("x y z", 3), project(), call()).await.unwrap_err();
    assert_eq!((error.code(), error.retryable()), (Code::LlmFailed, true));
    assert!(error.to_string().contains("503"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_store_or_an_embedder_the_task_is_still_solved() {
    let world = world(good_model()).await;
    world.embedder.set_state(EmbedderState::Loading);
    world.store.fail_with(Some(StoreError::Unusable("no space".into())));
    let begun = Instant::now();
    let report = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30), "nothing around it holds a solution back for long");
    assert_eq!((&*report.solution, report.trace_id), ("draft 1", None));
    assert!(
        report.warnings.iter().any(|warning| warning.to_string().starts_with("store_unavailable")),
        "{:?}",
        report.warnings
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_provider_says_of_a_refusal_is_scrubbed() {
    let model = good_model();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let quoted = secret.clone();
    model.answer(Purpose::Judge, move |_| Err(ModelError::Refused(format!("bad request: {quoted}"))));
    let world = world(model).await;
    let report = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap();
    let said = report.warnings.iter().map(Note::to_string).collect::<Vec<_>>().join(" ");
    assert!(said.contains("bad request") && !said.contains(&secret), "{said}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_could_not_be_read_is_not_kept_for_the_next_task() {
    let model = good_model();
    model.answer(Purpose::Think, |_| Ok("the same draft".into()));
    model.reply(Purpose::Evaluate, "no").reply(Purpose::Evaluate, "still no");
    let world = world(model.clone()).await;
    let solve = || world.handle.agents.solve(task("x y z", 1), project(), call());
    assert_eq!(solve().await.unwrap().score, None);
    assert_eq!(solve().await.unwrap().score, Some(0.9));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_longer_than_its_limit_fails_and_waiting_for_a_place_does_not_count() {
    let mut settings = SystemSettings::default();
    settings.pool.matts_workers = 1;
    settings.solve.call_timeout = Duration::from_secs(3);
    let model = good_model();
    model.latency(Duration::from_secs(2));
    let world = world_with(model.clone(), settings).await;
    let report = world.handle.agents.solve(task("x y z", 3), project(), call()).await.unwrap();
    assert!(report.attempts.iter().all(|attempt| attempt.error.is_none()), "{:?}", report.attempts);
    model.latency(Duration::from_secs(4));
    let error = world.handle.agents.solve(task("z y x", 2), project(), call()).await.unwrap_err();
    assert_eq!(error.code(), Code::LlmFailed);
    assert!(error.to_string().contains("no answer within 3 s"), "{error}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn secrets_in_a_task_reach_neither_the_model_nor_the_trace() {
    let model = good_model();
    let world = world(model.clone()).await;
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let report =
        world.handle.agents.solve(task(&format!("use token {secret} to push"), 1), project(), call()).await.unwrap();
    assert!(report.warnings.iter().any(|warning| warning.to_string().starts_with("redacted: 1")));
    assert!(model.requests().iter().all(|request| !request.input.contains(&secret)));
    assert!(!world.trace(report.trace_id.unwrap()).await.task.contains(&secret));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn progress_only_rises_and_stays_within_its_total() {
    let world = world(good_model()).await;
    let (sender, mut receiver) = watch::channel(Progress::default());
    let watched = tokio::spawn(async move {
        let mut seen = Vec::new();
        while receiver.changed().await.is_ok() {
            seen.push(receiver.borrow().clone());
        }
        seen
    });
    let call = SolveOptions { progress: Some(sender), ..call() };
    let report = world.handle.agents.solve(task("x y z", 3), project(), call).await.unwrap();
    world.stop().await;
    let seen = watched.await.unwrap();
    assert!(seen.windows(2).all(|pair| pair[0].completed <= pair[1].completed));
    let last = seen.last().unwrap();
    assert!(last.completed <= last.total && u64::from(last.completed) == report.usage.llm_calls);
}

#[tokio::test(start_paused = true)]
async fn equal_questions_are_asked_once() {
    let model = good_model();
    model.answer(Purpose::Think, |_| Ok("the same draft".into())).latency(Duration::from_millis(50));
    let world = world(model.clone()).await;
    let report = world.handle.agents.solve(task("x y z", 4), project(), call()).await.unwrap();
    assert_eq!((model.calls(Purpose::Evaluate), report.usage.cache_hits), (1, 3));
    assert_eq!(model.calls(Purpose::Think), 4, "drafts are never cached");
    let statistics = world.handle.cache.statistics().await;
    assert_eq!((statistics.hits, statistics.bypassed), (3, 4));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn bad_tasks_are_refused_with_the_argument_and_its_bound() {
    let world = world(good_model()).await;
    for (bad, argument) in [
        (task("  \n", 1), "task"),
        (task(&"x".repeat(200_001), 1), "task"),
        (task("x", 0), "matts_k"),
        (task("x", 9), "matts_k"),
    ] {
        let error = world.handle.agents.solve(bad, project(), call()).await.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.to_string().starts_with(argument), "{error}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn more_tasks_than_places_are_refused_with_a_time_to_wait() {
    let mut settings = SystemSettings::default();
    settings.solve.concurrency = 1;
    let model = good_model();
    let held = model.hold(Purpose::Think);
    let world = world_with(model.clone(), settings).await;
    let agents = world.handle.agents.clone();
    let solving = tokio::spawn(async move { agents.solve(task("x y z", 1), project(), call()).await });
    assert!(model.begun(1, soon()).await);
    let error = world.handle.agents.solve(task("another", 1), project(), call()).await.unwrap_err();
    assert!(matches!(error, Error::Overloaded { retry_after } if retry_after >= Duration::from_secs(5)), "{error}");
    held.release();
    assert!(solving.await.unwrap().is_ok());
    world.stop().await;
}
