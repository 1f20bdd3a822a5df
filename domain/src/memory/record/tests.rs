use proptest::prelude::*;

use super::*;
use crate::memory::samples::{id, strategy, warning};

fn fields_of(problems: &MemoryInvalid) -> Vec<&'static str> {
    problems.problems.iter().map(|problem| problem.field).collect()
}

#[test]
fn all_missing_fields_are_named_at_once() {
    let memory = Memory { title: String::new(), description: String::new(), content: String::new(), ..strategy(1) };
    let invalid = memory.validate().unwrap_err();
    assert_eq!(fields_of(&invalid), ["title", "description", "content"]);
    let message = invalid.to_string();
    for field in ["title", "description", "content"] {
        assert!(message.contains(field), "{message}");
    }
}

#[test]
fn white_space_counts_as_missing() {
    let memory = Memory { title: " \t".into(), content: "\n\u{a0}\u{2003}".into(), ..strategy(1) };
    assert_eq!(fields_of(&memory.validate().unwrap_err()), ["title", "content"]);
}

#[test]
fn an_error_context_needs_type_pattern_and_guidance() {
    let mut memory = warning(1);
    let blank = || " ".to_owned();
    let error = memory.error_context.as_mut().unwrap();
    (error.error_type, error.failure_pattern, error.corrective_guidance) = (blank(), blank(), blank());
    assert_eq!(
        fields_of(&memory.validate().unwrap_err()),
        ["error_context.error_type", "error_context.failure_pattern", "error_context.corrective_guidance"]
    );
}

#[test]
fn bounds_count_characters_not_bytes() {
    let with = |title: String| Memory { title, ..strategy(1) }.validate();
    assert_eq!(with("é".repeat(TITLE_MAX_CHARS)), Ok(()));
    assert_eq!(fields_of(&with("é".repeat(TITLE_MAX_CHARS + 1)).unwrap_err()), ["title"]);
}

#[test]
fn every_text_has_a_bound() {
    let long = "x".repeat(CONTENT_MAX_CHARS + 1);
    let some = || Some(long.clone());
    let memory = Memory {
        title: long.clone(),
        description: long.clone(),
        content: long.clone(),
        error_context: Some(ErrorContext {
            error_type: long.clone(),
            failure_pattern: long.clone(),
            corrective_guidance: long.clone(),
            error_message: some(),
            stack_trace: some(),
            task_domain: some(),
        }),
        domain_category: some(),
        difficulty_level: some(),
        pattern_tags: vec![long.clone(); TAGS_MAX + 1],
        ..strategy(1)
    };
    let fields = fields_of(&memory.validate().unwrap_err());
    for field in ["title", "description", "content", "domain_category", "difficulty_level", "pattern_tags"] {
        assert!(fields.contains(&field), "{field} in {fields:?}");
    }
    assert_eq!(fields.iter().filter(|field| field.starts_with("error_context.")).count(), 6);
    assert_eq!(fields.iter().filter(|field| **field == "pattern_tags").count(), TAGS_MAX + 2);
}

#[test]
fn a_memory_does_not_descend_from_itself() {
    let memory = Memory { parent_memory_id: Some(id(1)), ..strategy(1) };
    assert_eq!(fields_of(&memory.validate().unwrap_err()), ["derived_from"]);
    assert_eq!(Memory { derived_from: vec![id(2)], parent_memory_id: Some(id(2)), ..strategy(1) }.validate(), Ok(()));
}

#[test]
fn a_prior_lies_strictly_between_0_and_1() {
    for prior in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(fields_of(&Memory { prior, ..strategy(1) }.validate().unwrap_err()), ["prior"], "{prior}");
    }
}

#[test]
fn a_warning_is_exactly_what_has_an_error_context() {
    assert!(warning(1).is_warning());
    assert!(!Memory { outcome: MemoryOutcome::Failure, ..strategy(1) }.is_warning());
}

#[test]
fn a_strategy_in_a_prompt() {
    let memory = Memory { pattern_tags: vec!["search".into(), "bounds".into()], ..strategy(7) };
    insta::assert_snapshot!(memory.format_for_prompt(), @r"
    STRATEGY: Strategy 7
    When: Use it when a range is searched.
    How: Prefer an exclusive upper bound, variant 7.
    Tags: search, bounds
    ");
}

#[test]
fn a_warning_in_a_prompt_carries_type_pattern_and_guidance() {
    insta::assert_snapshot!(warning(7).format_for_prompt(), @r"
    WARNING from a past failure: Warning 7
    When: Use it when a range is searched.
    Error type: IndexError
    Pattern: the loop ran one past the end
    Guidance: compare with <, not <=
    Details: Prefer an exclusive upper bound, variant 7.
    ");
}

#[test]
fn a_strategy_reads_as_a_note_of_a_failure_while_its_trace_counts_as_one() {
    let head = |outcome, trace_outcome| Memory { outcome, trace_outcome, ..strategy(1) }.head_for_prompt();
    assert!(head(MemoryOutcome::Success, Some(Outcome::Failure)).starts_with("NOTE of a past failure: Strategy 1"));
    assert!(head(MemoryOutcome::Success, Some(Outcome::Success)).starts_with("STRATEGY: Strategy 1"));
    let contrast = head(MemoryOutcome::Mixed, Some(Outcome::Failure));
    assert!(contrast.starts_with("STRATEGY"), "a lesson of several attempts may tell what the good ones did");
}

#[test]
fn the_signature_of_a_warning_has_its_domain() {
    assert_eq!(warning(1).error_context.unwrap().signature().as_str(), "indexerror|algorithms");
}

#[test]
fn what_says_the_same_to_the_same_readers_is_a_duplicate() {
    let memory = strategy(1);
    let shouted = Memory { id: id(2), title: "  Strategy\n1 ".into(), ..strategy(1) };
    assert_eq!(memory.duplicate_key(), shouted.duplicate_key());
    assert_eq!(memory.text_key(), shouted.text_key());
    let failed = Memory { outcome: MemoryOutcome::Failure, ..strategy(1) };
    assert_ne!(memory.duplicate_key(), failed.duplicate_key());
    let elsewhere = Memory { description: "Only in staging.".into(), ..strategy(1) };
    assert_ne!(memory.duplicate_key(), elsewhere.duplicate_key());
    assert_ne!(memory.text_key(), elsewhere.text_key());
    let mut advised = warning(1);
    advised.error_context.as_mut().unwrap().corrective_guidance = "check the length".into();
    assert_ne!(advised.duplicate_key(), warning(1).duplicate_key());
    assert_ne!(advised.text_key(), warning(1).text_key(), "both are shown: they advise different things");
}

#[test]
fn the_same_words_for_other_readers_are_no_duplicate() {
    let team = |name: &str| Memory { scope: Scope::Team, team: Some(name.into()), ..strategy(1) };
    let elsewhere = Memory { workspace_id: WorkspaceId::of_root("/home/bob/other"), ..strategy(1) };
    let keys = [strategy(1), team("red"), team("blue"), elsewhere].map(|memory| memory.duplicate_key());
    for (index, key) in keys.iter().enumerate() {
        assert!(!keys[..index].contains(key), "{index}");
    }
    assert_eq!(strategy(1).text_key(), team("red").text_key());
}

#[test]
fn the_same_words_about_another_error_are_no_duplicate() {
    let of = |error_type: &str| {
        let mut memory = Memory { title: "t".into(), ..warning(1) };
        memory.error_context.as_mut().unwrap().error_type = error_type.into();
        memory
    };
    let plain = Memory { error_context: None, ..of("") };
    let all = [of("IndexError"), of("KeyError"), plain];
    for keys in [all.each_ref().map(Memory::duplicate_key), all.each_ref().map(Memory::text_key)] {
        assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2]);
    }
    assert_eq!(of("std.IndexError: out of range").duplicate_key(), of("IndexError").duplicate_key());
}

#[test]
fn the_key_of_a_memory_without_an_error_is_the_one_that_is_stored() {
    insta::assert_snapshot!(strategy(1).duplicate_key(), @"1239cb6176333b68ad1fcf52a8e2248cd2f5735951b21d6bb61481dc230ce3f6");
}

#[test]
fn the_former_key_knows_neither_domain_nor_indentation() {
    let said = Memory { domain_category: None, content: "if a:\nstop".into(), ..strategy(1) };
    let with = Memory { domain_category: Some("ios".into()), content: "if a:\n    stop".into(), ..said.clone() };
    assert_ne!(with.duplicate_key(), said.duplicate_key());
    assert_eq!([&with, &said].map(Memory::former_duplicate_key), [said.duplicate_key(), said.duplicate_key()]);
}

#[test]
fn the_words_of_enums_are_the_words_of_their_json() {
    let json = |value: serde_json::Value| value.as_str().unwrap().to_owned();
    for source in [SourceType::PassiveLearning, SourceType::Solve, SourceType::Imported] {
        assert_eq!(json(serde_json::to_value(source).unwrap()), source.as_str());
    }
    for scope in [Scope::Project, Scope::Team, Scope::Org] {
        assert_eq!(json(serde_json::to_value(scope).unwrap()), scope.as_str());
    }
    for status in [Status::Active, Status::Archived, Status::Superseded, Status::Quarantined] {
        assert_eq!(json(serde_json::to_value(status).unwrap()), status.as_str());
    }
}

#[test]
fn trust_grows_from_models_to_users_and_scopes_from_projects_to_organisations() {
    assert!(Trust::Model < Trust::Tool && Trust::Tool < Trust::Agent && Trust::Agent < Trust::User);
    assert!(Scope::Project < Scope::Team && Scope::Team < Scope::Org);
}

proptest! {
    /// The keys in stored banks were made in this way.
    #[test]
    fn a_text_is_normalised_as_its_words_are(text in r"([\sa-zA-ZΣσİßǅ.'\u{301}]|\PC){0,40}") {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        prop_assert_eq!(normalised(&text), words.join(" "));
    }

    #[test]
    fn a_memory_survives_json(title in "\\PC{1,40}", content in "\\PC{1,80}", prior in 0.001..0.999f64, is_warning: bool) {
        let base = if is_warning { warning(3) } else { strategy(3) };
        let memory = Memory { title, content, prior, ..base };
        let json = serde_json::to_string(&memory).unwrap();
        prop_assert_eq!(serde_json::from_str::<Memory>(&json).unwrap(), memory);
    }

    #[test]
    fn moving_a_boundary_between_title_and_content_changes_the_key(a in "[a-z]{1,8}", b in "[a-z]{1,8}", c in "[a-z]{1,8}") {
        let left = Memory { title: format!("{a}{b}"), content: c.clone(), ..strategy(1) };
        let right = Memory { title: a, content: format!("{b}{c}"), ..strategy(1) };
        prop_assert_ne!(left.text_key(), right.text_key());
        prop_assert_ne!(left.duplicate_key(), right.duplicate_key());
    }

    #[test]
    fn spacing_within_and_behind_lines_never_makes_another_memory(
        words in prop::collection::vec("[a-zA-Z]{1,8}", 1..6), space in "[ \t]{0,2}\n|[ \t]{1,3}",
    ) {
        let plain = Memory { content: words.join(" "), ..strategy(1) };
        let spaced = Memory { content: words.join(&space) + &space, ..strategy(1) };
        prop_assert_eq!(plain.duplicate_key(), spaced.duplicate_key());
    }

    #[test]
    fn exactly_the_blank_fields_are_named(blank in prop::collection::vec(any::<bool>(), 6), space in "[ \t\n\u{a0}\u{2003}]{0,4}") {
        let names = [
            "title", "description", "content",
            "error_context.error_type", "error_context.failure_pattern", "error_context.corrective_guidance",
        ];
        let text = |n: usize| if blank[n] { space.clone() } else { "words".to_owned() };
        let mut memory = Memory { title: text(0), description: text(1), content: text(2), ..warning(1) };
        if let Some(error) = &mut memory.error_context {
            (error.error_type, error.failure_pattern, error.corrective_guidance) = (text(3), text(4), text(5));
        }
        let expected: Vec<&str> = names.into_iter().zip(&blank).filter(|(_, blank)| **blank).map(|(name, _)| name).collect();
        let named = memory.validate().map_or_else(|invalid| fields_of(&invalid), |()| vec![]);
        prop_assert_eq!(named, expected);
    }

    #[test]
    fn in_a_prompt_a_warning_always_carries_type_pattern_and_guidance_and_no_strategy_reads_like_one(
        error_type in "[a-zA-Z ]{1,20}", pattern in "[a-zA-Z ]{1,20}", guidance in "[a-zA-Z ]{1,20}",
    ) {
        let mut memory = warning(1);
        if let Some(error) = &mut memory.error_context {
            (error.error_type, error.failure_pattern, error.corrective_guidance) =
                (error_type.clone(), pattern.clone(), guidance.clone());
        }
        let text = memory.format_for_prompt();
        prop_assert!(text.starts_with("WARNING"));
        for part in [one_line(&error_type), pattern, guidance] {
            prop_assert!(text.contains(&part));
        }
        let of = |outcome| Memory { error_context: None, outcome, ..memory.clone() }.format_for_prompt();
        prop_assert!(of(MemoryOutcome::Success).starts_with("STRATEGY"));
        prop_assert!(of(MemoryOutcome::Failure).starts_with("NOTE of a past failure"));
    }
}
