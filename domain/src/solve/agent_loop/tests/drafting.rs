use proptest::prelude::*;

use super::*;
use crate::memory::Memory;
use crate::memory::samples::{id, strategy, warning};
use crate::retrieval::prompt_memories::LeftOut;
use crate::retrieval::prompt_memories::samples::recalled;

#[test]
fn a_good_single_draft_exits_early_and_learns_from_the_judge() {
    let mut player = Player::new(scores(&[0.0, 0.8]));
    let (conclusion, _) = player.play(spec(1), RunLimits::default());
    let report = conclusion.end.unwrap();
    let purposes: Vec<Purpose> = player.asked.iter().map(|(purpose, _)| *purpose).collect();
    assert_eq!(purposes, [Purpose::Think, Purpose::Evaluate, Purpose::Judge]);
    assert!(report.early_exit && !report.loop_detected);
    assert_eq!((report.iterations, report.selected, report.score), (1, 1, Some(0.8)));
    assert_eq!((report.outcome, report.verdict_source), (Outcome::Success, VerdictSource::Judge));
    assert_eq!(conclusion.record.unwrap().lessons[0].title, "from judge");
    assert_eq!(report.usage.llm_calls, 3);
}

#[test]
fn five_parallel_drafts_are_asked_for_at_once_and_the_best_is_chosen() {
    let (mut run, effects) = AgentLoop::start(spec(5), RunLimits::default(), NOW);
    assert_eq!(effects.len(), 5, "all drafts at once");
    assert_eq!((run.progress().completed, run.progress().total), (0, 5 + 5 + 4 + 1 + 1));
    let asked = run.on(
        Input::Answered {
            purpose: Purpose::Think,
            attempt: Some(3),
            result: draft("x"),
            ended: FinishReason::Whole,
            spent: SolveUsage::default(),
        },
        NOW,
    );
    assert!(matches!(&asked[..], [Effect::Call(call)] if call.purpose == Purpose::Evaluate && call.attempt == Some(3)));

    let mut player = Player::new(scores(&[0.0, 0.3, 0.9, 0.9, 0.1, 0.2]));
    let (conclusion, _) = player.play(spec(5), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert_eq!((report.selected, report.score, &*report.solution), (2, Some(0.9), "draft 2"));
    assert_eq!((player.count(Purpose::Contrast), player.count(Purpose::Refine)), (1, 0));
}

#[test]
fn sequential_drafts_come_one_after_another() {
    let mut one = spec(3);
    one.task.mode = MattsMode::Sequential;
    let (mut run, effects) = AgentLoop::start(one, RunLimits::default(), NOW);
    assert_eq!(effects.len(), 1);
    let next = run.on(
        Input::Answered {
            purpose: Purpose::Think,
            attempt: Some(1),
            result: draft("a"),
            ended: FinishReason::Whole,
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
    let (conclusion, _) = player.play(spec(1), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(player.count(Purpose::Refine), 2);
    assert_eq!((report.iterations, report.early_exit), (3, false));
    assert_eq!((&*report.solution, report.score), ("draft 1", Some(0.5)), "the refinements scored less");
}

#[test]
fn whoever_waits_is_told_every_stage_in_its_order() {
    let mut task = spec(1);
    task.task.use_memory = true;
    let (_, run) = Player::new(scores(&[0.2, 0.5])).play(task, RunLimits::default());
    let expected = [
        Stage::Recalled { memories: 0 },
        Stage::AttemptStarted { attempt: 1 },
        Stage::AttemptDone { attempt: 1, score: Some(0.5) },
        Stage::Refined { iteration: 2, score: 0.2 },
        Stage::Refined { iteration: 3, score: 0.2 },
        Stage::Judged { verdict: Some(Verdict::Success), score: Some(0.9) },
        Stage::Learned { lessons: 1 },
    ];
    assert_eq!(run.progress().stages, expected);
    let (_, run) = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think if call.attempt == Some(1) => broken(Code::LlmFailed),
        _ => scores(&[0.0, 0.0, 0.8])(call),
    })
    .play(spec(2), RunLimits::default());
    let of_first = Stage::AttemptDone { attempt: 1, score: None };
    assert!(run.progress().stages.contains(&of_first), "{:?}", run.progress().stages);
    assert_eq!(serde_json::to_string(&of_first).unwrap(), "{\"attempt\":1}");
}

#[test]
fn a_refinement_that_repeats_is_a_loop_and_equal_drafts_are_not() {
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think => draft("the  same"),
        Purpose::Refine => draft("the same\n"),
        Purpose::Evaluate => evaluation(0.4),
        Purpose::Judge => judgement(Verdict::Success, vec![]),
        _ => Ok(Answer::Lessons(vec![])),
    });
    let (conclusion, _) = player.play(spec(3), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert!(report.loop_detected);
    assert_eq!((player.count(Purpose::Refine), player.count(Purpose::Evaluate), report.iterations), (1, 3, 2));
}

#[test]
fn one_failed_draft_among_several_is_reported_and_the_others_go_on() {
    let mut player = Player::new(|call: &ModelCall| match (call.purpose, call.attempt) {
        (Purpose::Think, Some(1)) => broken(Code::LlmUnavailable),
        (Purpose::Think, _) => draft("ok"),
        (Purpose::Evaluate, _) => evaluation(0.9),
        (Purpose::Judge, _) => judgement(Verdict::Success, vec![]),
        _ => Ok(Answer::Lessons(vec![])),
    });
    let (conclusion, _) = player.play(spec(3), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert_eq!(report.selected, 2);
    assert_eq!(report.attempts[0].error, Some(Note::new(Code::LlmUnavailable, "no")));
    assert_eq!(report.attempts[0].score, None);
}

#[test]
fn evaluations_that_fail_leave_the_attempt_without_a_score_and_skip_refinement() {
    let mut player = Player::new(|call: &ModelCall| match call.purpose {
        Purpose::Think => draft("ok"),
        Purpose::Evaluate => broken(Code::LlmOutputInvalid),
        Purpose::Judge => judgement(Verdict::Success, vec![]),
        _ => Ok(Answer::Lessons(vec![])),
    });
    let (conclusion, _) = player.play(spec(2), RunLimits::default());
    let report = conclusion.end.unwrap();
    assert_eq!((report.score, report.selected, report.outcome), (None, 1, Outcome::Success));
    assert_eq!(player.count(Purpose::Refine), 0);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.code == Some(Code::LlmOutputInvalid) && warning.detail.starts_with("evaluate"))
    );
}

#[test]
fn recall_comes_first_and_its_notes_become_warnings() {
    let mut with_memory = spec(1);
    with_memory.task.use_memory = true;
    let (mut run, effects) = AgentLoop::start(with_memory, RunLimits::default(), NOW);
    assert_eq!(effects, [Effect::Recall]);
    let notes = vec![Note::new(Code::StoreUnavailable, "no memories")];
    let effects =
        run.on(Input::Recalled { prompt_memories: Some(PromptMemories::default()), notes: notes.clone() }, NOW);
    assert!(matches!(&effects[..], [Effect::Call(call)] if call.purpose == Purpose::Think));
    assert_eq!(run.warnings, notes);
    assert_eq!(run.trajectory[0].action, Action::Recall);
}

#[test]
fn the_report_says_what_was_injected_what_was_left_out_and_that_nothing_was_relevant() {
    let recalled_by = |prompt_memories: Option<PromptMemories>, notes: Vec<Note>| {
        let mut with_memory = spec(1);
        with_memory.task.use_memory = true;
        let (mut run, _) = AgentLoop::start(with_memory, RunLimits::default(), NOW);
        let [Effect::Call(think)] = &run.on(Input::Recalled { prompt_memories, notes }, NOW)[..] else {
            panic!("no draft")
        };
        let spent = SolveUsage::default();
        let (purpose, result) = (Purpose::Think, draft("x"));
        run.on(Input::Answered { purpose, attempt: Some(1), result, ended: FinishReason::Whole, spent }, NOW);
        let [Effect::Conclude(end)] = &run.on(Input::DeadlinePassed, NOW)[..] else { panic!("no end") };
        (end.end.clone().unwrap(), think.prompt.input.clone())
    };
    let below = (recalled(warning(2), 0.1, 0.2), LeftOut::BelowFloor);
    let used = recalled(strategy(1), 0.9, 0.7);
    let some = PromptMemories { strategies: vec![used], left_out: vec![below.clone()], ..PromptMemories::default() };
    let (report, prompt) = recalled_by(Some(some), vec![]);
    assert_eq!((report.memories_used[0].id, report.memories_used.len()), (id(1), 1));
    let left_out = &report.memories_left_out[0];
    assert_eq!((left_out.id, left_out.warning, left_out.composite_score), (id(2), true, 0.2));
    assert_eq!(serde_json::to_value(left_out).unwrap()["reason"], "below_floor");
    assert!(report.notes.is_empty() && prompt.contains("Strategy 1") && !prompt.contains("Warning 2"), "{prompt}");

    let nothing = PromptMemories { left_out: vec![below], ..PromptMemories::default() };
    for (prompt_memories, notes) in
        [(nothing, vec![]), (PromptMemories::default(), vec![Note::new(Code::EmbeddingUnavailable, "x")])]
    {
        let (report, prompt) = recalled_by(Some(prompt_memories), notes);
        assert_eq!(report.notes, ["nothing_relevant: no memory is relevant enough to be put into the prompts"]);
        assert!(report.memories_used.is_empty(), "{report:?}");
        assert!(prompt.contains("No experience in the memory is relevant to this task."), "{prompt}");
    }
    let (report, _) = recalled_by(None, vec![Note::new(Code::StoreUnavailable, "no memories were recalled")]);
    assert!(report.notes.is_empty(), "that is not to have found nothing");
}

#[test]
fn memories_that_no_draft_was_shown_were_not_used_and_nothing_is_concluded_about_them() {
    let notes = |n: usize| Memory { content: "note ".repeat(n), ..strategy(1) };
    for (content, shown) in [(notes(300), true), (notes(1_200), false)] {
        let mut long = spec(1);
        long.task.use_memory = true;
        long.task.task = "word ".repeat(9_000);
        let limits = RunLimits { prompt_token_budget: 2_000, max_iterations: 2, ..RunLimits::default() };
        let (mut run, _) = AgentLoop::start(long, limits, NOW);
        let strategies = vec![recalled(content, 0.9, 0.7)];
        let prompt_memories = Some(PromptMemories { strategies, ..PromptMemories::default() });
        let mut effects = run.on(Input::Recalled { prompt_memories, notes: vec![] }, NOW);
        let mut prompts = Vec::new();
        let conclusion = loop {
            match effects.remove(0) {
                Effect::Conclude(conclusion) => break conclusion,
                Effect::Call(call) => {
                    let result = scores(&[0.3, 0.2])(&call);
                    let (purpose, attempt, spent) = (call.purpose, call.attempt, SolveUsage::default());
                    prompts.push(call);
                    effects.extend(
                        run.on(Input::Answered { purpose, attempt, result, ended: FinishReason::Whole, spent }, NOW),
                    );
                }
                other => panic!("{other:?}"),
            }
        };
        let (report, record) = (conclusion.end.unwrap(), conclusion.record.unwrap());
        for call in prompts.iter().filter(|call| call.purpose.is_draft()) {
            assert_eq!(call.prompt.input.contains("note note"), shown, "{:?}", call.purpose);
        }
        let used: Vec<MemoryId> = if shown { vec![id(1)] } else { vec![] };
        assert_eq!(report.memories_used.iter().map(|used| used.id).collect::<Vec<_>>(), used);
        assert_eq!((&record.trace.memories_used, record.injected.ids()), (&used, used.clone()));
        assert_eq!(record.signals.len(), 2 * used.len());
        assert_eq!(
            report.memories_left_out.iter().map(|left| left.reason).collect::<Vec<_>>(),
            match shown {
                true => vec![],
                false => vec![LeftOut::OverTokens],
            }
        );
        assert_eq!(report.notes.iter().any(|note| note.code == Some(Code::MemoriesLeftOut)), !shown);
    }
}

proptest! {
    #[test]
    fn the_loop_hash_sees_everything_but_white_space(
        words in prop::collection::vec("[a-c;]{1,3}", 1..6), other in prop::collection::vec("[a-c;]{1,3}", 1..6), space in "[ \t\n]{1,3}",
    ) {
        let spaced = format!("{space}{}{space}", words.join(&space));
        prop_assert_eq!(loop_hash(&spaced), loop_hash(&words.join(" ")));
        prop_assert_eq!(loop_hash(&other.join(" ")) == loop_hash(&spaced), other == words);
    }

    #[test]
    fn a_report_never_costs_more_than_the_budget(k in 1u32..=5, each in 1u64..60, limit in 1u64..600, score in 0.0..=1.0f64) {
        let mut player = Player::new(|call: &ModelCall| match call.purpose {
            Purpose::Think | Purpose::Refine => draft(format!("{call:?}")),
            Purpose::Evaluate => evaluation(score),
            _ => judgement(Verdict::Success, vec![]),
        });
        player.tokens_per_call = each;
        let mut spec = spec(k);
        spec.task.store_result = false;
        let (conclusion, _) = player.play(spec, RunLimits { total_token_budget: limit, ..RunLimits::default() });
        match conclusion.end {
            Ok(report) => prop_assert!(report.usage.total_tokens() <= limit),
            Err(failure) => prop_assert!(matches!(failure, RunFailure::Budget { used, .. } if used > limit), "{:?}", failure),
        }
    }

    #[test]
    fn every_run_ends_within_its_calls_and_returns_its_best_solution(
        k in 1u32..=8,
        max_iterations in 1u32..=5,
        sequential: bool,
        outcomes in prop::collection::vec((0u8..10, 0.0..=1.0f64), 40),
    ) {
        let mut outcomes = outcomes.into_iter().cycle();
        let mut given: Vec<f64> = Vec::new();
        let mut player = Player::new(|call: &ModelCall| {
            let (fate, score) = outcomes.next().unwrap();
            if fate == 0 {
                return broken(Code::LlmUnavailable);
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
        let mut spec = spec(k);
        spec.task.mode = if sequential { MattsMode::Sequential } else { MattsMode::Parallel };
        let (conclusion, run) = player.play(spec, RunLimits { max_iterations, ..RunLimits::default() });
        prop_assert!(player.asked.len() as u32 <= run.progress().total);
        prop_assert_eq!(player.count(Purpose::Think) as u32, k);
        prop_assert!((player.count(Purpose::Refine) as u32) < max_iterations);
        prop_assert!(player.count(Purpose::Judge) <= 1);
        if let Ok(report) = conclusion.end {
            prop_assert_eq!(player.count(Purpose::Judge), 1);
            let best = given.iter().copied().reduce(f64::max);
            prop_assert_eq!(report.score, best);
            prop_assert!(!report.early_exit || report.score.is_some_and(|score| score >= 0.8));
            prop_assert!(report.iterations <= max_iterations);
        }
    }
}

#[test]
fn drafts_that_were_cut_off_are_used_and_said_once_for_each_kind() {
    let mut player = Player::new(scores(&[0.6, 0.3, 0.4]));
    player.cut_off = vec![(Purpose::Think, FinishReason::AtLimit), (Purpose::Refine, FinishReason::Filtered)];
    let (conclusion, _) = player.play(spec(2), RunLimits::default());
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
