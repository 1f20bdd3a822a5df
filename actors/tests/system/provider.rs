//! A provider that fails, is slow, or cuts answers off, as the caller of a solve sees it.

use std::time::Duration;

use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::ModelError;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::solve::answer::FinishReason;
use reasoning_bank_domain::solve::task::SolveTask;
use tokio::time::{Instant, sleep};

use crate::support::*;

fn busy() -> ModelError {
    ModelError::Transient { message: "503 from upstream".into(), retry_after: None }
}

#[tokio::test(start_paused = true)]
async fn drafts_that_fail_after_all_tries_name_the_reason_and_how_often_it_was_tried() {
    let model = good_model();
    model.answer(Purpose::Think, |_| Err(busy()));
    let world = world(model.clone()).await;
    let error = world.handle.agents.solve(task("x y z", 2), project(), call()).await.unwrap_err();
    assert_eq!((error.code(), error.retryable(), error.retry_after()), (Code::LlmFailed, true, None));
    assert_eq!(error.to_string(), "no attempt succeeded: 503 from upstream (4 tries)");
    assert_eq!(model.calls(Purpose::Think), 2 * 4);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_down_is_left_alone_and_callers_are_told_for_how_long() {
    let model = good_model();
    model.answer(Purpose::Think, |_| Err(busy()));
    let world = world(model.clone()).await;
    let solve = || world.handle.agents.solve(task("x y z", 8), project(), call());
    assert_eq!(solve().await.unwrap_err().code(), Code::LlmFailed);
    let (asked, begun) = (model.calls(Purpose::Think), Instant::now());
    assert!((29..=32).contains(&asked), "{asked}");
    let error = solve().await.unwrap_err();
    assert_eq!((error.code(), error.retryable()), (Code::LlmUnavailable, true));
    let wait = error.retry_after().unwrap();
    assert!(wait > Duration::ZERO && wait <= Duration::from_secs(5), "{wait:?}");
    assert!(begun.elapsed() < Duration::from_millis(100) && model.calls(Purpose::Think) == asked, "at once");

    sleep(wait).await;
    model.answer(Purpose::Think, |_| Ok("draft".into()));
    assert_eq!(solve().await.unwrap().outcome, Outcome::Success);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rejected_key_is_said_once_and_not_tried_again() {
    let model = good_model();
    model.answer(Purpose::Think, |_| Err(ModelError::KeyRejected("401 unauthorized".into())));
    let world = world(model.clone()).await;
    let error = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap_err();
    assert_eq!(error, Error::KeyRejected("401 unauthorized".into()));
    assert_eq!(model.calls(Purpose::Think), 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_would_be_refused_again_is_told_as_such() {
    let model = good_model();
    model.answer(Purpose::Think, |_| Err(ModelError::Refused("HTTP 404: no model gemini-9".into())));
    let world = world(model.clone()).await;
    let error = world.handle.agents.solve(task("x y z", 3), project(), call()).await.unwrap_err();
    assert_eq!((error.code(), error.retryable()), (Code::LlmFailed, false));
    assert_eq!(error.to_string(), "the request was refused: HTTP 404: no model gemini-9");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_leaves_no_time_to_store_is_not_begun_and_the_reason_is_told() {
    let model = good_model();
    let retry_after = Some(Duration::from_secs(59));
    model.answer(Purpose::Think, move |_| Err(ModelError::RateLimited { message: "429".into(), retry_after }));
    let world = world(model.clone()).await;
    let call = SolveOptions { deadline: Deadline::after(Duration::from_secs(60)), ..call() };
    let begun = Instant::now();
    let error = world.handle.agents.solve(task("x y z", 1), project(), call).await.unwrap_err();
    assert_eq!(error.code(), Code::LlmFailed);
    assert!(error.to_string().contains("429 (1 try; the next, after 59.0 s, would come too late)"), "{error}");
    assert_eq!(error.retry_after(), retry_after, "the client is told what the provider said");
    assert!(begun.elapsed() < Duration::from_secs(1));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_fails_and_asks_for_no_wait_is_not_quoted_with_it() {
    let model = good_model();
    let retry_after = Some(Duration::ZERO);
    model.answer(Purpose::Think, move |_| Err(ModelError::RateLimited { message: "429".into(), retry_after }));
    let world = world(model.clone()).await;
    let error = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap_err();
    assert_eq!((error.retryable(), error.retry_after()), (true, None), "{error}");
    world.stop().await;
}

#[test]
fn a_wait_is_told_in_whole_milliseconds_and_never_too_short() {
    let told = |microseconds| {
        let error = Error::from(ModelError::CircuitOpen { retry_after: Duration::from_micros(microseconds) });
        error.retry_after().map(|wait| wait.as_micros())
    };
    assert_eq!([told(4_000), told(4_001), told(1)], [Some(4_000), Some(5_000), Some(1_000)]);
}

#[tokio::test(start_paused = true)]
async fn drafts_that_were_cut_off_are_used_and_the_answer_says_so() {
    let model = good_model();
    model.cut_off(Purpose::Think, FinishReason::AtLimit);
    let world = world(model).await;
    let report = world.handle.agents.solve(task("x y z", 3), project(), call()).await.unwrap();
    assert_eq!((&*report.solution, report.truncated), ("draft 1", true));
    assert_eq!(report.warnings, ["truncated: the answer of think was cut off at llm.max_output_tokens"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_draft_that_was_cut_off_before_it_began_fails_with_the_setting_to_raise() {
    let model = good_model();
    model.cut_off(Purpose::Think, FinishReason::AtLimit).answer(Purpose::Think, |_| Ok(String::new()));
    let world = world(model.clone()).await;
    let error = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap_err();
    assert_eq!(error.code(), Code::LlmFailed);
    let message = error.to_string();
    assert!(message.contains("cut off at llm.max_output_tokens (8192"), "{message}");
    assert_eq!(world.handle.statistics(soon()).await.unwrap().llm.by_purpose[&Purpose::Think].calls, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_draft_that_was_filtered_is_used_and_the_warning_names_the_filter() {
    let model = good_model();
    model.cut_off(Purpose::Think, FinishReason::Filtered);
    let world = world(model).await;
    let report = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap();
    assert_eq!((&*report.solution, report.truncated), ("draft 1", true));
    assert_eq!(report.warnings, ["truncated: the answer of think was cut off by the provider's content filter"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_draft_of_which_the_filter_left_nothing_fails_without_a_word_about_tokens() {
    let model = good_model();
    model.cut_off(Purpose::Think, FinishReason::Filtered).answer(Purpose::Think, |_| Ok(String::new()));
    let world = world(model.clone()).await;
    let error = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap_err();
    assert_eq!(error.code(), Code::LlmFailed);
    let message = error.to_string();
    assert!(message.contains("content filter") && !message.contains("max_output_tokens"), "{message}");
    assert_eq!(model.calls(Purpose::Think), 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_repair_is_spent_on_a_structured_answer_that_was_filtered() {
    let model = good_model();
    model.cut_off(Purpose::Judge, FinishReason::Filtered).reply(Purpose::Judge, r#"{"verdict": "succ"#);
    let world = world(model.clone()).await;
    let one = SolveTask { store_result: false, ..task("x y z", 1) };
    let report = world.handle.agents.solve(one, project(), call()).await.unwrap();
    assert_eq!((report.outcome, model.calls(Purpose::Judge)), (Outcome::Partial, 1));
    let warning = report.warnings[0].to_string();
    assert!(warning.starts_with("llm_failed: judge") && warning.contains("content filter"), "{warning}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_repair_tells_the_form_for_endpoints_that_take_none_with_the_request() {
    let model = good_model();
    model.reply(Purpose::Evaluate, "It is quite good.");
    let world = world(model.clone()).await;
    let report = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Success);
    let asked = model.requests().into_iter().filter(|request| request.purpose == Purpose::Evaluate);
    let inputs: Vec<String> = asked.map(|request| request.input).collect();
    let form = format!("of this JSON schema: {}", Purpose::Evaluate.schema().unwrap());
    assert_eq!(inputs.len(), 2);
    assert!(!inputs[0].contains(&form) && inputs[1].ends_with(&form), "{}", inputs[1]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_structured_answer_that_was_cut_off_is_repaired_once_and_counted() {
    let model = good_model();
    let half = r#"{"verdict": "succ"#;
    model.cut_off(Purpose::Judge, FinishReason::AtLimit).reply(Purpose::Judge, half).reply(Purpose::Judge, "{");
    let world = world(model.clone()).await;
    let one = SolveTask { store_result: false, ..task("x y z", 1) };
    let report = world.handle.agents.solve(one, project(), call()).await.unwrap();
    assert_eq!((report.outcome, model.calls(Purpose::Judge), report.usage.llm_calls), (Outcome::Partial, 2, 4));
    let warning = report.warnings[0].to_string();
    assert!(warning.starts_with("llm_output_invalid: judge") && warning.contains("llm.max_output_tokens"), "{warning}");
    assert!(!report.truncated);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_or_cancels_ends_whatever_its_calls_wait_for() {
    for abort in [false, true] {
        let mut settings = SystemSettings { requests_per_minute: 10, ..SystemSettings::default() };
        settings.retry.base_delay = Duration::from_secs(20);
        let model = good_model();
        model.fail(Purpose::Think, busy());
        let world = world_with(model.clone(), settings).await;
        let (agents, call) = (world.handle.agents.clone(), call());
        let cancel = call.cancel.clone();
        let solving = tokio::spawn(async move { agents.solve(task("x y z", 5), project(), call).await });
        assert!(model.begun(1, soon()).await && model.idle(soon()).await);
        let _held = model.hold(Purpose::Think);
        assert!(model.begun(2, soon()).await);
        // One waits to be tried again, one is in flight, the others wait for their turn.
        match abort {
            true => solving.abort(),
            false => cancel.cancel(),
        }
        let _ = solving.await;
        assert!(model.idle(soon()).await);
        sleep(Duration::from_secs(3600)).await;
        assert_eq!(model.calls(Purpose::Think), 2, "nothing went out any more");
        assert_eq!((model.abandoned(), world.handle.agents.running()), (1, 0));
        world.stop().await;
    }
}
