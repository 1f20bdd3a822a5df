use std::time::Duration;

use super::*;
use crate::text::tokens;

#[test]
fn all_drafts_failing_is_a_failure_that_teaches_nothing_when_the_model_is_unreachable() {
    let mut player = Player::new(|_: &ModelCall| broken(Code::LlmUnavailable));
    let (conclusion, _) = player.play(spec(3), RunLimits::default());
    assert!(matches!(conclusion.end, Err(RunFailure::AllDraftsFailed(_))));
    assert!(conclusion.record.is_none() && conclusion.best.is_none());
}

#[test]
fn over_the_token_budget_the_best_so_far_is_handed_over_and_the_trace_says_so() {
    let mut player = Player::new(scores(&[0.0, 0.3, 0.6]));
    player.tokens_per_call = 30;
    let limits = RunLimits { total_token_budget: 100, ..RunLimits::default() };
    let (conclusion, run) = player.play(spec(2), limits);
    assert_eq!(conclusion.end, Err(RunFailure::Budget { used: 120, limit: 100 }));
    assert_eq!(conclusion.best.unwrap().score, Some(0.6));
    let record = conclusion.record.unwrap();
    assert_eq!(record.trace.outcome, Outcome::Failure);
    assert_eq!(record.lessons, [], "what our own limits ended says nothing about the task");
    assert_eq!(record.trace.ended_by.as_deref(), Some("token_budget_exceeded: 120 tokens were used of 100 allowed"));
    assert_eq!(run.phase, Phase::Concluded);
}

#[test]
fn a_long_task_gets_as_many_attempts_as_the_budget_has_room_for_and_ends() {
    let long = |characters: usize| "pub fn f(x: u8) {}\n".repeat(characters / 19);
    let attempts = |task: String| {
        let tokens = tokens::estimate(&task).min(RunLimits::default().prompt_token_budget) as u64;
        let mut player = Player::new(scores(&[0.1; 6]));
        player.tokens_per_call = tokens + 1_000;
        let mut spec = spec(5);
        spec.task.task = task;
        let (conclusion, _) = player.play(spec, RunLimits::default());
        let report = conclusion.end.unwrap();
        assert!(conclusion.record.is_some_and(|record| !record.lessons.is_empty()));
        let reduced = report.warnings.iter().any(|warning| warning.code == Some(Code::AttemptsReduced));
        (report.attempts.len(), reduced)
    };
    assert_eq!(attempts("write a binary search".into()), (5, false));
    assert_eq!(attempts(long(200_000)), (1, true));
    let (some, reduced) = attempts(long(80_000));
    assert!((1..5).contains(&some) && reduced, "{some}");
}

#[test]
fn what_the_budget_has_no_room_to_refine_is_judged() {
    let mut player = Player::new(scores(&[0.1; 6]));
    player.tokens_per_call = 40;
    let limits = RunLimits { total_token_budget: 130, ..RunLimits::default() };
    let (conclusion, _) = player.play(spec(1), limits);
    assert!(player.asked.iter().all(|(purpose, _)| *purpose != Purpose::Refine), "{:?}", player.asked);
    let warnings = conclusion.end.unwrap().warnings;
    assert!(warnings.iter().any(|warning| warning.code == Some(Code::RefinementSkipped)), "{warnings:?}");
}

#[test]
fn at_the_deadline_what_there_is_becomes_a_partial_answer() {
    let (mut run, _) = AgentLoop::start(spec(2), RunLimits::default(), NOW);
    let spent = SolveUsage::default();
    run.on(
        Input::Answered {
            purpose: Purpose::Think,
            attempt: Some(1),
            result: draft("one"),
            ended: FinishReason::Whole,
            spent,
        },
        NOW,
    );
    let effects = run.on(Input::DeadlinePassed, NOW);
    let [Effect::Conclude(conclusion)] = &effects[..] else { panic!("{effects:?}") };
    let report = conclusion.end.as_ref().unwrap();
    assert_eq!((&*report.solution, report.outcome), ("one", Outcome::Partial));
    assert!(run.on(Input::Cancelled, NOW).is_empty(), "nothing happens after the conclusion");

    let (mut run, _) = AgentLoop::start(spec(2), RunLimits::default(), NOW);
    let effects = run.on(Input::DeadlinePassed, NOW);
    assert!(matches!(&effects[..], [Effect::Conclude(end)] if end.end == Err(RunFailure::DeadlinePassed)));
}

#[test]
fn a_cancelled_run_keeps_nothing() {
    let (mut run, _) = AgentLoop::start(spec(2), RunLimits::default(), NOW);
    let effects = run.on(Input::Cancelled, NOW);
    assert!(
        matches!(&effects[..], [Effect::Conclude(end)] if end.end == Err(RunFailure::Cancelled) && end.record.is_none())
    );
}

#[test]
fn only_if_no_draft_failed_for_another_reason_the_model_was_unavailable() {
    let unavailable = || {
        let retry_after = Some(Duration::from_secs(4));
        Err(CallFailure { retry_after, ..CallFailure::new(Code::LlmUnavailable, "left alone") })
    };
    let mut player = Player::new(|_: &ModelCall| unavailable());
    let (conclusion, _) = player.play(spec(3), RunLimits::default());
    let Err(RunFailure::AllDraftsFailed(failure)) = conclusion.end else { panic!("{:?}", conclusion.end) };
    assert_eq!((failure.code, failure.retry_after), (Code::LlmUnavailable, Some(Duration::from_secs(4))));

    let mut player = Player::new(|call: &ModelCall| match call.attempt {
        Some(3) => broken(Code::LlmFailed),
        _ => unavailable(),
    });
    let (conclusion, _) = player.play(spec(3), RunLimits::default());
    assert!(matches!(conclusion.end, Err(RunFailure::AllDraftsFailed(CallFailure { code: Code::LlmFailed, .. }))));
}

#[test]
fn a_refusal_is_told_only_if_no_draft_failed_for_a_reason_that_may_pass() {
    let refused = || Err(CallFailure { refused: true, ..CallFailure::new(Code::LlmFailed, "no such model") });
    let mut player =
        Player::new(|call: &ModelCall| if call.attempt == Some(2) { broken(Code::LlmFailed) } else { refused() });
    let (conclusion, _) = player.play(spec(3), RunLimits::default());
    assert!(matches!(conclusion.end, Err(RunFailure::AllDraftsFailed(CallFailure { refused: false, .. }))));

    let mut player = Player::new(|_: &ModelCall| refused());
    let (conclusion, _) = player.play(spec(3), RunLimits::default());
    assert!(matches!(conclusion.end, Err(RunFailure::AllDraftsFailed(CallFailure { refused: true, .. }))));
}

#[test]
fn a_call_that_ran_out_of_time_ends_the_run_with_what_there_is() {
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think => draft("one"),
        _ => broken(Code::DeadlineExceeded),
    });
    let (conclusion, _) = player.play(spec(1), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert_eq!((&*report.solution, report.outcome, report.score), ("one", Outcome::Partial, None));
    assert_eq!(report.warnings, ["deadline_exceeded: the run was cut short"]);
    assert_eq!(player.asked.len(), 2);

    let mut player = Player::new(|_: &ModelCall| broken(Code::DeadlineExceeded));
    let (conclusion, _) = player.play(spec(2), RunLimits::default());
    assert_eq!(conclusion.end, Err(RunFailure::DeadlinePassed));
}

#[test]
fn calls_that_end_with_a_cancelled_run_may_say_so_first() {
    let mut player = Player::new(|_: &ModelCall| broken(Code::Cancelled));
    let (conclusion, mut run) = player.play(spec(3), RunLimits::default());
    assert_eq!(conclusion.end, Err(RunFailure::Cancelled));
    assert!(conclusion.record.is_none() && run.on(Input::Cancelled, NOW).is_empty());
}
