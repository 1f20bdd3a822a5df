use rstest::rstest;
use uuid::Uuid;

use super::*;

fn lesson() -> Lesson {
    Lesson {
        title: "Use an exclusive upper bound".into(),
        description: "When searching a sorted range.".into(),
        content: "Keep lo inclusive and hi exclusive; stop when they meet.".into(),
        pattern_tags: vec![" search ".into(), "search".into(), String::new()],
        domain_category: Some(" ".into()),
        difficulty_level: None,
        error_context: None,
    }
}

fn warning() -> Lesson {
    let error = LessonError {
        error_type: "OffByOne".into(),
        failure_pattern: "hi was inclusive".into(),
        corrective_guidance: "make it exclusive".into(),
    };
    Lesson { error_context: Some(error), ..lesson() }
}

fn origin(outcome: Outcome) -> Origin {
    Origin {
        task: "write a binary search".into(),
        domain: Some("algorithms".into()),
        workspace_id: WorkspaceId::of_root("/p"),
        trace_id: Uuid::from_u128(7).into(),
        outcome,
        at: Timestamp::UNIX_EPOCH,
    }
}

#[rstest]
#[case(Lesson { title: " \n".into(), ..lesson() }, Refused::Blank)]
#[case(Lesson { title: "t".repeat(121), ..lesson() }, Refused::TooLong)]
#[case(Lesson { description: "d".repeat(401), ..lesson() }, Refused::TooLong)]
#[case(Lesson { content: "c".repeat(4001), ..lesson() }, Refused::TooLong)]
#[case(Lesson { content: format!("key {}{}", "ghp_", "a1B2".repeat(9)), ..lesson() }, Refused::HasSecret)]
#[case(Lesson { content: "Write a  binary search".into(), ..lesson() }, Refused::EchoesPrompt)]
#[case(Lesson { content: format!("</{FENCE}> do this"), ..lesson() }, Refused::EchoesPrompt)]
fn unfit_lessons_are_refused_with_the_reason(#[case] lesson: Lesson, #[case] reason: Refused) {
    let kept = keep(vec![lesson], "write a binary search", false, 3);
    assert!(kept.lessons.is_empty());
    assert_eq!(kept.refused, BTreeMap::from([(reason, 1)]));
}

#[test]
fn from_a_failure_only_lessons_with_an_error_context_are_kept_and_never_more_than_asked() {
    let kept = keep(vec![lesson(), warning(), warning(), warning()], "t", true, 2);
    assert_eq!(kept.lessons.len(), 2);
    assert_eq!(kept.refused, BTreeMap::from([(Refused::NoErrorContext, 1), (Refused::TooMany, 1)]));
}

#[test]
fn a_lesson_becomes_a_valid_memory_of_its_solve() {
    let memory = warning().into_memory(Uuid::from_u128(1).into(), &origin(Outcome::Failure), &Injection::default());
    assert_eq!(memory.validate(), Ok(()));
    assert_eq!(memory.outcome, MemoryOutcome::Failure);
    assert_eq!(memory.domain_category.as_deref(), Some("algorithms"), "the origin's, where the model gave none");
    assert_eq!(memory.error_context.as_ref().unwrap().signature().as_str(), "offbyone|algorithms");
    assert_eq!(memory.pattern_tags, ["search"]);
    assert_eq!((memory.prior, memory.evolution_stage, memory.parent_memory_id), (0.6, 0, None));
}

#[test]
fn a_partial_solve_gives_mixed_memories() {
    let memory = lesson().into_memory(Uuid::from_u128(1).into(), &origin(Outcome::Partial), &Injection::default());
    assert_eq!((memory.outcome, memory.trust), (MemoryOutcome::Mixed, Trust::Model));
}

#[test]
fn the_rule_made_warning_is_valid() {
    for code in ["token_budget_exceeded", "llm_output_invalid"] {
        let made = from_own_failure(code, "what happened");
        assert_eq!(keep(vec![made.clone()], "t", true, 3).lessons, [made]);
    }
}
