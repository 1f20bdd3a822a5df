use std::time::Duration;

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::answer::{Ended, Evaluation, Verdict};
use crate::feedback::EvidenceKind;
use crate::lesson::LessonError;
use crate::trace::{Outcome, VerdictSource};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn job(k: u32) -> Job {
    Job {
        task: SolveTask {
            task: "write a binary search".into(),
            use_memory: false,
            k,
            mode: MattsMode::Parallel,
            store_result: true,
            domain: None,
        },
        trace_id: Uuid::from_u128(1).into(),
        workspace_id: WorkspaceId::of_root("/p"),
        model: "simulated".into(),
        reasoning_effort: "medium".into(),
        verify: false,
    }
}

fn lesson(title: &str, error: bool) -> Lesson {
    Lesson {
        title: title.into(),
        description: "when".into(),
        content: "how".into(),
        pattern_tags: vec![],
        domain_category: None,
        difficulty_level: None,
        error_context: error.then(|| LessonError {
            error_type: "OffByOne".into(),
            failure_pattern: "p".into(),
            corrective_guidance: "g".into(),
        }),
    }
}

/// A model that answers by rule; plays a run to its end and counts what was asked.
struct Player<F> {
    asked: Vec<(Purpose, Option<u32>)>,
    answer: F,
    tokens_per_call: u64,
    /// Purposes whose answers are cut off, and where.
    cut_off: Vec<(Purpose, Ended)>,
}

impl<F: FnMut(&Call) -> Result<Answer, CallFailure>> Player<F> {
    fn new(answer: F) -> Self {
        Self { asked: Vec::new(), answer, tokens_per_call: 10, cut_off: vec![] }
    }

    fn play(&mut self, job: Job, limits: Limits) -> (Conclusion, AgentLoop) {
        let (mut run, mut effects) = AgentLoop::start(job, limits, NOW);
        loop {
            let effect = effects.remove(0);
            match effect {
                Effect::Recall => {
                    effects.extend(run.on(Input::Recalled { injection: Injection::default(), notes: vec![] }, NOW))
                }
                Effect::Call(call) => {
                    self.asked.push((call.purpose, call.attempt));
                    let spent =
                        SolveUsage { input_tokens: self.tokens_per_call, llm_calls: 1, ..SolveUsage::default() };
                    let (purpose, attempt) = (call.purpose, call.attempt);
                    let cut_off = self.cut_off.iter().find(|(cut, _)| *cut == purpose);
                    let ended = cut_off.map_or(Ended::Whole, |(_, ended)| *ended);
                    let result = (self.answer)(&call);
                    effects.extend(run.on(Input::Answered { purpose, attempt, result, ended, spent }, NOW));
                }
                Effect::Verify { .. } => panic!("there is no check"),
                Effect::Conclude(conclusion) => return (*conclusion, run),
            }
        }
    }

    fn count(&self, purpose: Purpose) -> usize {
        self.asked.iter().filter(|(asked, _)| *asked == purpose).count()
    }
}

fn draft(text: impl Into<String>) -> Result<Answer, CallFailure> {
    Ok(Answer::Draft(text.into()))
}

fn evaluation(score: f64) -> Result<Answer, CallFailure> {
    Ok(Answer::Evaluation(Evaluation { score, feedback: "more".into() }))
}

fn judgement(verdict: Verdict, learnings: Vec<Lesson>) -> Result<Answer, CallFailure> {
    Ok(Answer::Judgement(Judgement { verdict, score: 0.9, reasoning: "r".into(), learnings }))
}

fn broken(code: &'static str) -> Result<Answer, CallFailure> {
    Err(CallFailure::new(code, "no"))
}

/// Answers with the given score for attempt n (or the refinement: 0) and a success verdict.
fn scores(by_attempt: &'static [f64]) -> impl FnMut(&Call) -> Result<Answer, CallFailure> {
    let mut refinements = 0;
    move |call| match call.purpose {
        Purpose::Think => draft(format!("draft {}", call.attempt.unwrap_or(0))),
        Purpose::Refine => {
            refinements += 1;
            draft(format!("refined {refinements}"))
        }
        Purpose::Evaluate => evaluation(by_attempt[call.attempt.unwrap_or(0) as usize]),
        Purpose::Judge => judgement(Verdict::Success, vec![lesson("from judge", false)]),
        Purpose::Extract | Purpose::Contrast => Ok(Answer::Lessons(vec![lesson("learned", false)])),
    }
}

#[test]
fn a_good_single_draft_exits_early_and_learns_from_the_judge() {
    let mut player = Player::new(scores(&[0.0, 0.8]));
    let (conclusion, _) = player.play(job(1), Limits::default());
    let report = conclusion.end.unwrap();
    let purposes: Vec<Purpose> = player.asked.iter().map(|(purpose, _)| *purpose).collect();
    assert_eq!(purposes, [Purpose::Think, Purpose::Evaluate, Purpose::Judge]);
    assert!(report.early_exit && !report.loop_detected);
    assert_eq!((report.iterations, report.selected, report.score), (1, 1, Some(0.8)));
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Success, VerdictSource::Judge));
    assert_eq!(conclusion.keep.unwrap().lessons[0].title, "from judge");
    assert_eq!(report.usage.llm_calls, 3);
}

#[test]
fn five_parallel_drafts_are_asked_for_at_once_and_the_best_is_chosen() {
    let (mut run, effects) = AgentLoop::start(job(5), Limits::default(), NOW);
    assert_eq!(effects.len(), 5, "all drafts at once");
    assert_eq!(run.progress(), Progress { completed: 0, total: 5 + 5 + 4 + 1 + 1 });
    let asked = run.on(
        Input::Answered {
            purpose: Purpose::Think,
            attempt: Some(3),
            result: draft("x"),
            ended: Ended::Whole,
            spent: SolveUsage::default(),
        },
        NOW,
    );
    assert!(matches!(&asked[..], [Effect::Call(call)] if call.purpose == Purpose::Evaluate && call.attempt == Some(3)));

    let mut player = Player::new(scores(&[0.0, 0.3, 0.9, 0.9, 0.1, 0.2]));
    let (conclusion, _) = player.play(job(5), Limits::default());
    let report = conclusion.end.unwrap();
    assert_eq!((report.selected, report.score, &*report.solution), (2, Some(0.9), "draft 2"));
    assert_eq!((player.count(Purpose::Contrast), player.count(Purpose::Refine)), (1, 0));
}

#[test]
fn sequential_drafts_come_one_after_another() {
    let mut one = job(3);
    one.task.mode = MattsMode::Sequential;
    let (mut run, effects) = AgentLoop::start(one, Limits::default(), NOW);
    assert_eq!(effects.len(), 1);
    let next = run.on(
        Input::Answered {
            purpose: Purpose::Think,
            attempt: Some(1),
            result: draft("a"),
            ended: Ended::Whole,
            spent: SolveUsage::default(),
        },
        NOW,
    );
    let asked: Vec<_> = next
        .iter()
        .map(|effect| match effect {
            Effect::Call(call) => (call.purpose, call.attempt),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(asked, [(Purpose::Evaluate, Some(1)), (Purpose::Think, Some(2))]);
}

#[test]
fn a_weak_solution_is_refined_until_the_iterations_are_used_up_and_the_best_is_returned() {
    let mut player = Player::new(scores(&[0.2, 0.5]));
    let (conclusion, _) = player.play(job(1), Limits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(player.count(Purpose::Refine), 2);
    assert_eq!((report.iterations, report.early_exit), (3, false));
    assert_eq!((&*report.solution, report.score), ("draft 1", Some(0.5)), "the refinements scored less");
}

#[test]
fn a_refinement_that_repeats_is_a_loop_and_equal_drafts_are_not() {
    let mut player = Player::new(|call: &Call| match call.purpose {
        Purpose::Think => draft("the  same"),
        Purpose::Refine => draft("the same\n"),
        Purpose::Evaluate => evaluation(0.4),
        Purpose::Judge => judgement(Verdict::Success, vec![]),
        _ => Ok(Answer::Lessons(vec![])),
    });
    let (conclusion, _) = player.play(job(3), Limits::default());
    let report = conclusion.end.unwrap();
    assert!(report.loop_detected);
    assert_eq!((player.count(Purpose::Refine), player.count(Purpose::Evaluate), report.iterations), (1, 3, 2));
}

#[test]
fn one_failed_draft_among_several_is_reported_and_the_others_go_on() {
    let mut player = Player::new(|call: &Call| match (call.purpose, call.attempt) {
        (Purpose::Think, Some(1)) => broken("llm_unavailable"),
        (Purpose::Think, _) => draft("ok"),
        (Purpose::Evaluate, _) => evaluation(0.9),
        (Purpose::Judge, _) => judgement(Verdict::Success, vec![]),
        _ => Ok(Answer::Lessons(vec![])),
    });
    let (conclusion, _) = player.play(job(3), Limits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(report.selected, 2);
    assert_eq!(report.attempts[0].error.as_deref(), Some("llm_unavailable: no"));
    assert_eq!(report.attempts[0].score, None);
}

#[test]
fn all_drafts_failing_is_a_failure_that_teaches_nothing_when_the_model_is_unreachable() {
    let mut player = Player::new(|_: &Call| broken("llm_unavailable"));
    let (conclusion, _) = player.play(job(3), Limits::default());
    assert!(matches!(conclusion.end, Err(Failure::AllDraftsFailed(_))));
    assert!(conclusion.keep.is_none() && conclusion.best.is_none());
}

#[test]
fn evaluations_that_fail_leave_the_attempt_without_a_score_and_skip_refinement() {
    let mut player = Player::new(|call: &Call| match call.purpose {
        Purpose::Think => draft("ok"),
        Purpose::Evaluate => broken("llm_output_invalid"),
        Purpose::Judge => judgement(Verdict::Success, vec![]),
        _ => Ok(Answer::Lessons(vec![])),
    });
    let (conclusion, _) = player.play(job(2), Limits::default());
    let report = conclusion.end.unwrap();
    assert_eq!((report.score, report.selected, report.outcome), (None, 1, Outcome::Success));
    assert_eq!(player.count(Purpose::Refine), 0);
    assert!(report.warnings.iter().any(|warning| warning.starts_with("llm_output_invalid: evaluate")));
}

#[test]
fn without_a_judge_the_evaluation_stands_and_the_outcome_is_partial() {
    let mut player = Player::new(|call: &Call| match call.purpose {
        Purpose::Think => draft("ok"),
        Purpose::Evaluate => evaluation(0.9),
        Purpose::Judge => broken("llm_unavailable"),
        _ => Ok(Answer::Lessons(vec![lesson("x", false)])),
    });
    let (conclusion, _) = player.play(job(1), Limits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(
        (report.outcome, report.verdict_source, report.score),
        (Outcome::Partial, VerdictSource::None, Some(0.9))
    );
    assert_eq!(player.count(Purpose::Extract), 1);
}

#[test]
fn a_failure_keeps_only_lessons_that_say_what_went_wrong() {
    let mut player = Player::new(|call: &Call| match call.purpose {
        Purpose::Think => draft("bad"),
        Purpose::Refine => draft(format!("bad {}", call.prompt.input.len())),
        Purpose::Evaluate => evaluation(0.1),
        Purpose::Judge => judgement(Verdict::Failure, vec![lesson("vague", false), lesson("precise", true)]),
        _ => panic!("the judge's lessons are enough"),
    });
    let (conclusion, _) = player.play(job(1), Limits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(report.outcome, Outcome::Failure);
    let keep = conclusion.keep.unwrap();
    assert_eq!(keep.lessons.iter().map(|lesson| &*lesson.title).collect::<Vec<_>>(), ["precise"]);
    assert!(report.warnings.contains(&"lessons_refused: 1 no_error_context".to_owned()));
}

#[test]
fn lessons_of_the_judge_that_are_all_unfit_are_asked_for_again() {
    let mut player = Player::new(|call: &Call| match call.purpose {
        Purpose::Think => draft("ok"),
        Purpose::Evaluate => evaluation(0.9),
        Purpose::Judge => judgement(Verdict::Success, vec![lesson(" ", false)]),
        _ => Ok(Answer::Lessons(vec![lesson("extracted", false)])),
    });
    let (conclusion, _) = player.play(job(1), Limits::default());
    assert_eq!(conclusion.keep.unwrap().lessons[0].title, "extracted");
}

#[test]
fn without_storing_nothing_is_kept_and_no_learning_call_is_made() {
    let mut player = Player::new(scores(&[0.0, 0.9, 0.9]));
    let mut one = job(2);
    one.task.store_result = false;
    let (conclusion, _) = player.play(one, Limits::default());
    assert!(conclusion.keep.is_none());
    assert_eq!(player.count(Purpose::Contrast) + player.count(Purpose::Extract), 0);
    assert_eq!(player.count(Purpose::Judge), 1);
}

#[test]
fn over_the_token_budget_the_best_so_far_is_handed_over_and_a_warning_is_learned() {
    let mut player = Player::new(scores(&[0.0, 0.3, 0.6]));
    player.tokens_per_call = 30;
    let limits = Limits { total_token_budget: 100, ..Limits::default() };
    let (conclusion, run) = player.play(job(2), limits);
    assert_eq!(conclusion.end, Err(Failure::Budget { used: 120, limit: 100 }));
    assert_eq!(conclusion.best.unwrap().score, Some(0.6));
    let keep = conclusion.keep.unwrap();
    assert_eq!(keep.trace.outcome, Outcome::Failure);
    assert!(keep.lessons[0].error_context.is_some());
    assert_eq!(run.phase, Phase::Concluded);
}

#[test]
fn at_the_deadline_what_there_is_becomes_a_partial_answer() {
    let (mut run, _) = AgentLoop::start(job(2), Limits::default(), NOW);
    let spent = SolveUsage::default();
    run.on(
        Input::Answered { purpose: Purpose::Think, attempt: Some(1), result: draft("one"), ended: Ended::Whole, spent },
        NOW,
    );
    let effects = run.on(Input::DeadlinePassed, NOW);
    let [Effect::Conclude(conclusion)] = &effects[..] else { panic!("{effects:?}") };
    let report = conclusion.end.as_ref().unwrap();
    assert_eq!((&*report.solution, report.outcome), ("one", Outcome::Partial));
    assert!(run.on(Input::Cancelled, NOW).is_empty(), "nothing happens after the conclusion");

    let (mut run, _) = AgentLoop::start(job(2), Limits::default(), NOW);
    let effects = run.on(Input::DeadlinePassed, NOW);
    assert!(matches!(&effects[..], [Effect::Conclude(end)] if end.end == Err(Failure::DeadlinePassed)));
}

#[test]
fn a_cancelled_run_keeps_nothing() {
    let (mut run, _) = AgentLoop::start(job(2), Limits::default(), NOW);
    let effects = run.on(Input::Cancelled, NOW);
    assert!(
        matches!(&effects[..], [Effect::Conclude(end)] if end.end == Err(Failure::Cancelled) && end.keep.is_none())
    );
}

#[test]
fn recall_comes_first_and_its_notes_become_warnings() {
    let mut with_memory = job(1);
    with_memory.task.use_memory = true;
    let (mut run, effects) = AgentLoop::start(with_memory, Limits::default(), NOW);
    assert_eq!(effects, [Effect::Recall]);
    let notes = vec!["store_unavailable: no memories".to_owned()];
    let effects = run.on(Input::Recalled { injection: Injection::default(), notes: notes.clone() }, NOW);
    assert!(matches!(&effects[..], [Effect::Call(call)] if call.purpose == Purpose::Think));
    assert_eq!(run.warnings, notes);
    assert_eq!(run.trajectory[0].action, Action::Recall);
}

proptest! {
    #[test]
    fn every_run_ends_within_its_calls_and_returns_its_best_solution(
        k in 1u32..=8,
        max_iterations in 1u32..=5,
        sequential: bool,
        outcomes in prop::collection::vec((0u8..10, 0.0..=1.0f64), 40),
    ) {
        let mut outcomes = outcomes.into_iter().cycle();
        let mut given: Vec<f64> = Vec::new();
        let mut player = Player::new(|call: &Call| {
            let (fate, score) = outcomes.next().unwrap();
            if fate == 0 {
                return broken("llm_unavailable");
            }
            match call.purpose {
                Purpose::Think | Purpose::Refine => draft(format!("solution {score}")),
                Purpose::Evaluate => {
                    given.push(score);
                    evaluation(score)
                }
                Purpose::Judge => judgement(Verdict::Success, vec![]),
                _ => Ok(Answer::Lessons(vec![])),
            }
        });
        let mut job = job(k);
        job.task.mode = if sequential { MattsMode::Sequential } else { MattsMode::Parallel };
        let (conclusion, run) = player.play(job, Limits { max_iterations, ..Limits::default() });
        prop_assert!(player.asked.len() as u32 <= run.progress().total);
        prop_assert_eq!(player.count(Purpose::Think) as u32, k);
        prop_assert!((player.count(Purpose::Refine) as u32) < max_iterations);
        prop_assert!(player.count(Purpose::Judge) <= 1);
        if let Ok(report) = conclusion.end {
            prop_assert_eq!(player.count(Purpose::Judge), 1);
            let best = given.iter().copied().reduce(f64::max);
            prop_assert_eq!(report.score, best);
            prop_assert!(report.iterations <= max_iterations);
        }
    }
}

/// Plays a run whose check says this; answers with the conclusion and the prompts.
fn checked(observed: Result<bool, String>, says: Verdict) -> (Conclusion, Vec<Call>) {
    let mut calls = Vec::new();
    let job = Job { verify: true, ..job(1) };
    let (mut run, mut effects) = AgentLoop::start(job, Limits::default(), NOW);
    loop {
        let input = match effects.remove(0) {
            Effect::Conclude(conclusion) => return (*conclusion, calls),
            Effect::Recall => panic!("nothing is to be recalled"),
            Effect::Verify { solution } => {
                assert_eq!(solution, "the solution");
                let seen = |passed| Observed { kind: EvidenceKind::ExitCode, passed, detail: Some("it ran".into()) };
                Input::Verified(observed.clone().map(seen))
            }
            Effect::Call(call) => {
                let result = match call.purpose {
                    Purpose::Think => draft("the solution"),
                    Purpose::Evaluate => evaluation(0.9),
                    Purpose::Judge => judgement(says, vec![lesson("of the judge", says == Verdict::Failure)]),
                    _ => Ok(Answer::Lessons(vec![lesson("extracted", true)])),
                };
                let (purpose, attempt) = (call.purpose, call.attempt);
                calls.push(call);
                Input::Answered { purpose, attempt, result, ended: Ended::Whole, spent: SolveUsage::default() }
            }
        };
        effects.extend(run.on(input, NOW));
    }
}

#[test]
fn a_check_that_agrees_with_the_judge_is_the_source_of_the_verdict() {
    let (conclusion, calls) = checked(Ok(true), Verdict::Success);
    let (report, keep) = (conclusion.end.unwrap(), conclusion.keep.unwrap());
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Success, VerdictSource::Evidence));
    assert_eq!(keep.trace.verdict_source, VerdictSource::Evidence);
    assert_eq!(keep.trace.evidence.as_deref(), Some("exit_code passed: it ran"));
    assert_eq!(keep.lessons[0].title, "of the judge");
    let judge = calls.iter().find(|call| call.purpose == Purpose::Judge).unwrap();
    assert!(judge.prompt.input.contains("exit_code passed: it ran"), "{}", judge.prompt.input);
}

#[test]
fn a_check_wins_over_the_judge_whose_lessons_are_then_asked_for_again() {
    for (passed, says) in [(false, Verdict::Success), (true, Verdict::Failure)] {
        let (conclusion, calls) = checked(Ok(passed), says);
        let (report, keep) = (conclusion.end.unwrap(), conclusion.keep.unwrap());
        let outcome = if passed { Outcome::Success } else { Outcome::Failure };
        assert_eq!((report.outcome, report.verdict_source), (outcome, VerdictSource::Evidence));
        assert_eq!(keep.trace.outcome, outcome);
        let extract = calls.iter().find(|call| call.purpose == Purpose::Extract).unwrap();
        assert!(extract.prompt.input.contains(&format!("## Verdict: {}", outcome.as_str())), "{passed}");
        assert_eq!(keep.lessons[0].title, "extracted");
    }
}

#[test]
fn a_check_that_could_not_be_made_leaves_the_verdict_to_the_judge() {
    let (conclusion, calls) = checked(Err("there is no such command".into()), Verdict::Failure);
    let report = conclusion.end.unwrap();
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Failure, VerdictSource::Judge));
    assert_eq!(report.warnings, ["not_verified: there is no such command"]);
    assert_eq!(conclusion.keep.unwrap().trace.evidence, None);
    assert!(!calls.iter().any(|call| call.prompt.input.contains("Evidence")));
}

#[test]
fn a_run_that_ends_during_its_check_is_partial() {
    let job = Job { verify: true, ..job(1) };
    let (mut run, _) = AgentLoop::start(job, Limits::default(), NOW);
    let spent = SolveUsage::default();
    run.on(
        Input::Answered { purpose: Purpose::Think, attempt: Some(1), result: draft("one"), ended: Ended::Whole, spent },
        NOW,
    );
    let (purpose, attempt, result) = (Purpose::Evaluate, Some(1), evaluation(0.9));
    let effects = run.on(Input::Answered { purpose, attempt, result, ended: Ended::Whole, spent }, NOW);
    assert_eq!(effects, [Effect::Verify { solution: "one".into() }]);
    let effects = run.on(Input::DeadlinePassed, NOW);
    let [Effect::Conclude(conclusion)] = &effects[..] else { panic!("{effects:?}") };
    let report = conclusion.end.as_ref().unwrap();
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Partial, VerdictSource::None));
}

#[test]
fn drafts_that_were_cut_off_are_used_and_said_once_for_each_kind() {
    let mut player = Player::new(scores(&[0.6, 0.3, 0.4]));
    player.cut_off = vec![(Purpose::Think, Ended::AtLimit), (Purpose::Refine, Ended::Filtered)];
    let (conclusion, _) = player.play(job(2), Limits::default());
    let report = conclusion.end.unwrap();
    assert!(report.truncated && report.solution == "refined 1");
    assert_eq!(
        report.warnings,
        [
            "truncated: the answer of think was cut off at llm.max_output_tokens",
            "truncated: the answer of refine was cut off by the provider's content filter"
        ]
    );
}

#[test]
fn only_if_no_draft_failed_for_another_reason_the_model_was_unavailable() {
    let unavailable = || {
        let retry_after = Some(Duration::from_secs(4));
        Err(CallFailure { retry_after, ..CallFailure::new("llm_unavailable", "left alone") })
    };
    let mut player = Player::new(|_: &Call| unavailable());
    let (conclusion, _) = player.play(job(3), Limits::default());
    let Err(Failure::AllDraftsFailed(failure)) = conclusion.end else { panic!("{:?}", conclusion.end) };
    assert_eq!((failure.code, failure.retry_after), ("llm_unavailable", Some(Duration::from_secs(4))));

    let mut player = Player::new(|call: &Call| match call.attempt {
        Some(3) => broken("llm_failed"),
        _ => unavailable(),
    });
    let (conclusion, _) = player.play(job(3), Limits::default());
    assert!(matches!(conclusion.end, Err(Failure::AllDraftsFailed(CallFailure { code: "llm_failed", .. }))));
}

#[test]
fn a_refusal_is_told_only_if_no_draft_failed_for_a_reason_that_may_pass() {
    let refused = || Err(CallFailure { refused: true, ..CallFailure::new("llm_failed", "no such model") });
    let mut player = Player::new(|call: &Call| if call.attempt == Some(2) { broken("llm_failed") } else { refused() });
    let (conclusion, _) = player.play(job(3), Limits::default());
    assert!(matches!(conclusion.end, Err(Failure::AllDraftsFailed(CallFailure { refused: false, .. }))));

    let mut player = Player::new(|_: &Call| refused());
    let (conclusion, _) = player.play(job(3), Limits::default());
    assert!(matches!(conclusion.end, Err(Failure::AllDraftsFailed(CallFailure { refused: true, .. }))));
}

#[test]
fn a_call_that_ran_out_of_time_ends_the_run_with_what_there_is() {
    let mut player = Player::new(|call: &Call| match call.purpose {
        Purpose::Think => draft("one"),
        _ => broken("deadline_exceeded"),
    });
    let (conclusion, _) = player.play(job(1), Limits::default());
    let report = conclusion.end.unwrap();
    assert_eq!((&*report.solution, report.outcome, report.score), ("one", Outcome::Partial, None));
    assert_eq!(report.warnings, ["deadline_exceeded: the run was cut short"]);
    assert_eq!(player.asked.len(), 2);

    let mut player = Player::new(|_: &Call| broken("deadline_exceeded"));
    let (conclusion, _) = player.play(job(2), Limits::default());
    assert_eq!(conclusion.end, Err(Failure::DeadlinePassed));
}
