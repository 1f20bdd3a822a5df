use proptest::prelude::*;

use super::*;
use crate::prompt::Template;

#[test]
fn a_failure_keeps_only_lessons_that_say_what_went_wrong() {
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think => draft("bad"),
        Purpose::Refine => draft(format!("bad {}", call.prompt.input.len())),
        Purpose::Evaluate => evaluation(0.1),
        Purpose::Judge => judgement(Verdict::Failure, vec![lesson("vague", false), lesson("precise", true)]),
        _ => panic!("the judge's lessons are enough"),
    });
    let (conclusion, _) = player.play(spec(1), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(report.outcome, Outcome::Failure);
    let record = conclusion.record.unwrap();
    assert_eq!(record.lessons.iter().map(|lesson| &*lesson.title).collect::<Vec<_>>(), ["precise"]);
    assert!(report.warnings.contains(&Note::new(Code::LessonsRefused, "1 no_error_context")));
}

#[test]
fn lessons_of_the_judge_that_are_all_unfit_are_asked_for_again() {
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think => draft("ok"),
        Purpose::Evaluate => evaluation(0.9),
        Purpose::Judge => judgement(Verdict::Success, vec![lesson(" ", false)]),
        _ => Ok(Answer::Lessons(vec![lesson("extracted", false)])),
    });
    let (conclusion, _) = player.play(spec(1), RunLimits::default());
    assert_eq!(conclusion.record.unwrap().lessons[0].title, "extracted");
}

#[test]
fn a_failure_that_the_judge_learned_nothing_from_is_asked_for_its_cause_and_a_success_is_not() {
    for (verdict, extractions) in [(Verdict::Failure, 1), (Verdict::Success, 0)] {
        let mut player = Player::new(|call: &ModelCall| match call.purpose {
            Purpose::Think => draft("a draft"),
            Purpose::Evaluate => evaluation(0.9),
            Purpose::Judge => judgement(verdict, vec![]),
            _ => Ok(Answer::Lessons(vec![lesson("the cause", true)])),
        });
        let (conclusion, _) = player.play(spec(1), RunLimits::default());
        assert_eq!(player.count(Purpose::Extract), extractions, "{verdict:?}");
        assert_eq!(conclusion.record.unwrap().lessons.len(), extractions, "{verdict:?}");
    }
}

#[test]
fn what_the_judge_learned_is_kept_by_the_judges_rules_where_the_comparison_fails() {
    let mut offered: Vec<Lesson> = (0..4).map(|n| lesson(&format!("Warning {n}"), true)).collect();
    offered.push(lesson("vague", false));
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Judge => judgement(Verdict::Failure, offered.clone()),
        Purpose::Contrast => broken(Code::LlmUnavailable),
        _ => scores(&[0.0, 0.9, 0.9])(call),
    });
    let (conclusion, _) = player.play(spec(2), RunLimits::default());
    let titles: Vec<String> = conclusion.record.unwrap().lessons.into_iter().map(|lesson| lesson.title).collect();
    assert_eq!(titles, ["Warning 0", "Warning 1", "Warning 2"]);
    let refused = Note::new(Code::LessonsRefused, "1 no_error_context, 1 too_many");
    assert!(conclusion.end.unwrap().warnings.contains(&refused));
}

#[test]
fn where_every_attempt_failed_warnings_alone_are_kept_whatever_the_comparison_says() {
    let offered = vec![lesson("A strategy of nobody", false)];
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Judge => judgement(Verdict::Failure, vec![lesson("The judge's warning", true)]),
        Purpose::Contrast => Ok(Answer::Lessons(offered.clone())),
        _ => scores(&[0.2, 0.2, 0.3, 0.1, 0.2, 0.1])(call),
    });
    let (conclusion, _) = player.play(spec(5), RunLimits { max_iterations: 1, ..RunLimits::default() });
    let titles: Vec<String> = conclusion.record.unwrap().lessons.into_iter().map(|lesson| lesson.title).collect();
    assert_eq!(titles, ["The judge's warning"]);
}

#[test]
fn where_the_chosen_attempt_failed_and_another_passed_both_kinds_are_kept() {
    let many = (0..5).map(|n| lesson(&format!("Strategy {n}"), false)).collect::<Vec<_>>();
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Judge => judgement(Verdict::Failure, vec![]),
        Purpose::Contrast => Ok(Answer::Lessons(many.clone())),
        Purpose::Extract => Ok(Answer::Lessons(vec![lesson("The cause", true)])),
        _ => scores(&[0.9, 0.95, 0.85])(call),
    });
    let (conclusion, _) = player.play(spec(2), RunLimits::default());
    let titles: Vec<String> = conclusion.record.unwrap().lessons.into_iter().map(|lesson| lesson.title).collect();
    assert_eq!(titles, ["Strategy 0", "Strategy 1", "Strategy 2", "Strategy 3", "The cause"]);
}

#[test]
fn a_failure_that_no_model_says_anything_of_leaves_the_warning_that_rules_make() {
    const BAD: &[f64] = &[0.2, 0.2, 0.3, 0.1];
    const PRAISED: &[f64] = &[0.95, 0.95];
    let none = "Rule this out before a solution is handed in.";
    for (k, by_attempt, guidance) in [(1, BAD, "more"), (3, BAD, "more"), (1, PRAISED, none)] {
        let mut player = Player::new(|call: &ModelCall| match call.purpose {
            Purpose::Judge => judgement(Verdict::Failure, vec![]),
            Purpose::Contrast | Purpose::Extract => broken(Code::LlmUnavailable),
            _ => scores(by_attempt)(call),
        });
        let (conclusion, _) = player.play(spec(k), RunLimits { max_iterations: 1, ..RunLimits::default() });
        let lessons = conclusion.record.unwrap().lessons;
        let [warning] = &lessons[..] else { panic!("{lessons:?}") };
        let error = warning.error_context.as_ref().unwrap();
        assert_eq!((error.error_type.as_str(), error.corrective_guidance.as_str()), ("FailedSolution", guidance));
    }
}

#[test]
fn no_lessons_are_asked_for_beyond_the_budget_of_the_run_and_the_report_says_so() {
    for (k, purpose) in [(1, Purpose::Extract), (2, Purpose::Contrast)] {
        let answers = |call: &ModelCall| match call.purpose {
            Purpose::Judge => judgement(Verdict::Success, vec![lesson(" ", false)]),
            _ => scores(&[0.0, 0.9, 0.9])(call),
        };
        let used = 10 * u64::from(2 * k + 1);
        let limits = |left| RunLimits { total_token_budget: used + left, ..RunLimits::default() };
        let mut player = Player::new(answers);
        let (conclusion, _) = player.play(spec(k), limits(100));
        let warnings = conclusion.end.unwrap().warnings;
        assert_eq!(player.count(purpose), 0);
        assert!(
            warnings
                .iter()
                .any(|warning| warning.code == Some(Code::TokenBudgetExceeded)
                    && warning.detail.starts_with("no lessons")),
            "{warnings:?}"
        );

        let mut player = Player::new(answers);
        let (conclusion, _) = player.play(spec(k), limits(5_000));
        assert_eq!((player.count(purpose), conclusion.record.unwrap().lessons.len()), (1, 1));
    }
}

#[test]
fn a_learning_call_that_took_more_than_the_budget_is_told_of_and_its_lessons_are_kept() {
    let (mut run, _) = AgentLoop::start(spec(1), RunLimits { total_token_budget: 5_000, ..RunLimits::default() }, NOW);
    let mut answered = |purpose, attempt, result, input_tokens| {
        let spent = SolveUsage { input_tokens, ..SolveUsage::default() };
        run.on(Input::Answered { purpose, attempt, result, ended: FinishReason::Whole, spent }, NOW)
    };
    answered(Purpose::Think, Some(1), draft("one"), 10);
    answered(Purpose::Evaluate, Some(1), evaluation(0.9), 10);
    answered(Purpose::Judge, None, judgement(Verdict::Failure, vec![]), 10);
    let lessons = Ok(Answer::Lessons(vec![lesson("the cause", true)]));
    let effects = answered(Purpose::Extract, None, lessons, 6_000);
    let [Effect::Conclude(end)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(end.record.as_ref().unwrap().lessons.len(), 1);
    let warnings = &end.end.as_ref().unwrap().warnings;
    assert_eq!(*warnings, ["token_budget_exceeded: learning took it to 6030 tokens of 5000 allowed"]);
}

#[test]
fn without_storing_nothing_is_kept_and_no_learning_call_is_made() {
    let mut player = Player::new(scores(&[0.0, 0.9, 0.9]));
    let mut one = spec(2);
    one.task.store_result = false;
    let (conclusion, _) = player.play(one, RunLimits::default());
    assert!(conclusion.record.is_none());
    assert_eq!(player.count(Purpose::Contrast) + player.count(Purpose::Extract), 0);
    assert_eq!(player.count(Purpose::Judge), 1);
}

#[test]
fn without_a_judge_the_evaluation_stands_and_the_outcome_is_partial() {
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think => draft("ok"),
        Purpose::Evaluate => evaluation(0.9),
        Purpose::Judge => broken(Code::LlmUnavailable),
        _ => Ok(Answer::Lessons(vec![lesson("x", false)])),
    });
    let (conclusion, _) = player.play(spec(1), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(
        (report.outcome, report.verdict_source, report.score),
        (Outcome::Partial, VerdictSource::None, Some(0.9))
    );
    assert_eq!(player.count(Purpose::Extract), 1);
}

/// The one extraction of a run with this score and this judgement.
fn extraction(score: Option<f64>, judged: Result<Answer, CallFailure>) -> Prompt {
    let mut prompts = Vec::new();
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think => draft("the draft"),
        Purpose::Refine => draft("the draft again"),
        Purpose::Evaluate => score.map_or(broken(Code::LlmOutputInvalid), evaluation),
        Purpose::Judge => judged.clone(),
        _ => {
            prompts.push(call.prompt.clone());
            Ok(Answer::Lessons(vec![]))
        }
    });
    player.play(spec(1), RunLimits { max_iterations: 1, ..RunLimits::default() });
    let [prompt] = &prompts[..] else { panic!("{prompts:?}") };
    prompt.clone()
}

#[test]
fn successes_and_failures_are_learned_from_with_prompts_of_their_own() {
    let unfit = |verdict| judgement(verdict, vec![lesson(" ", true)]);
    let success = extraction(Some(0.1), unfit(Verdict::Success));
    assert_eq!(success.instructions, Template::ExtractSuccess.instructions());
    assert!(success.input.contains("## Verdict: success\n<submitted-text>\nr\n<"), "{}", success.input);
    let failure = extraction(Some(0.9), unfit(Verdict::Failure));
    assert_eq!(failure.instructions, Template::ExtractFailure.instructions());
    assert!(failure.input.contains("## Verdict: failure\n<submitted-text>\nr\n<"), "{}", failure.input);
}

#[test]
fn without_a_verdict_the_evaluation_chooses_the_prompt_and_gives_the_reasons() {
    let unjudged = |score| extraction(score, broken(Code::LlmUnavailable));
    assert_eq!(unjudged(Some(0.8)).instructions, Template::ExtractSuccess.instructions());
    let failed = unjudged(Some(0.79));
    assert_eq!(failed.instructions, Template::ExtractFailure.instructions());
    assert!(
        failed.input.contains("## Verdict: unknown: it could not be judged\n<submitted-text>\nEvaluation: more"),
        "{}",
        failed.input
    );
    let unknown = unjudged(None);
    assert_eq!(unknown.instructions, Template::ExtractSuccess.instructions());
    assert!(!unknown.input.contains("Evaluation:"), "{}", unknown.input);
}

proptest! {
    #[test]
    fn a_run_keeps_no_more_lessons_than_it_may_and_of_a_failure_none_that_does_not_say_what_went_wrong(
        k in 1u32..=3, offered in prop::collection::vec(any::<bool>(), 0..9), success: bool, unfit: bool,
    ) {
        let verdict = if success { Verdict::Success } else { Verdict::Failure };
        let learnings: Vec<Lesson> =
            offered.iter().enumerate().map(|(n, warns)| lesson(&format!("Lesson {n}"), *warns)).collect();
        let mut player = Player::new(|call: &ModelCall| match call.purpose {
            Purpose::Think => draft("x"),
            Purpose::Evaluate => evaluation(0.9),
            Purpose::Judge if unfit => judgement(verdict, vec![lesson(" ", true)]),
            Purpose::Judge => judgement(verdict, learnings.clone()),
            _ => Ok(Answer::Lessons(learnings.clone())),
        });
        let (conclusion, _) = player.play(spec(k), RunLimits::default());
        let kept = conclusion.record.unwrap().lessons;
        let most = if k > 1 { 5 } else { 3 };
        prop_assert!(kept.len() <= most);
        prop_assert!(k > 1 || success || kept.iter().all(|lesson| lesson.error_context.is_some()));
        prop_assert!(success || kept.iter().any(|lesson| lesson.error_context.is_some()));
        let asked = player.count(Purpose::Extract) + player.count(Purpose::Contrast);
        prop_assert!(asked <= 1 + usize::from(!success));
    }
}
