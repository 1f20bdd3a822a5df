use rstest::rstest;
use serde_json::json;

use super::*;
use crate::memory::kinds::Complexity;
use crate::safety::secrets::Scrub;

fn heuristic() -> PatternPart {
    let action = PatternAction { text: "Use cargo check".into(), tools: vec!["cargo check".into()] };
    let content = PatternContent::Heuristic { condition: "A type is changed".into(), action, rationale: String::new() };
    PatternPart::new(PatternCategory::ToolSelection, content)
}

fn problems(part: &PatternPart) -> Vec<String> {
    part.problems().iter().map(|problem| format!("{} {}", problem.field, problem.problem)).collect()
}

#[test]
fn a_part_is_read_from_what_is_needed_and_written_with_everything() {
    let part: PatternPart = serde_json::from_value(json!({
        "category": "decomposition",
        "content": {"type": "template", "structure": [
            {"id": "design", "title": "Design the route"},
            {"id": "test", "title": "Test the route", "depends_on": ["design"]},
        ]},
        "applicability": {
            "problem_types": ["feature"],
            "complexity": {"min": "medium"},
            "context_conditions": [{"feature": "language", "op": "in", "value": ["python", "rust"]}],
            "anti_conditions": [{"feature": "files", "op": "at_least", "value": 100}, {"feature": "ci", "op": "exists"}],
        },
    }))
    .unwrap();
    assert_eq!(problems(&part), Vec::<String>::new());
    assert_eq!((part.stage, part.version), (PatternStage::Candidate, 1));
    assert_eq!(serde_json::from_value::<PatternPart>(serde_json::to_value(&part).unwrap()).unwrap(), part);
}

#[rstest]
#[case(json!({"feature": " ", "op": "exists"}), "applicability.context_conditions is missing or blank")]
#[case(json!({"feature": "x", "op": "exists", "value": 1}), "applicability.context_conditions has a condition on \"x\" with a value, which `exists` does not take")]
#[case(json!({"feature": "x", "op": "in", "value": "a"}), "applicability.context_conditions has a condition on \"x\" with no list of texts, which `in` takes")]
#[case(json!({"feature": "x", "op": "in", "value": []}), "applicability.context_conditions has a condition on \"x\" with 0 values; `in` takes 1 to 30")]
#[case(json!({"feature": "x", "op": "at_most", "value": "high"}), "applicability.context_conditions has a condition on \"x\" with no number, which `at_most` takes; of complexity it takes low, medium or high")]
#[case(json!({"feature": "x", "op": "matches", "value": "("}), "applicability.context_conditions has a condition on \"x\" with a regular expression that cannot be read: unclosed group")]
#[case(json!({"feature": "x", "op": "matches", "value": "\\w{9999}"}), "applicability.context_conditions has a condition on \"x\" with a regular expression that cannot be read: Compiled regex exceeds size limit of 262144 bytes.")]
#[case(json!({"feature": "x", "op": "matches", "value": "a".repeat(201)}), "applicability.context_conditions has a condition on \"x\" with a regular expression of 201 characters; at most 200 are allowed")]
#[case(json!({"feature": "x", "op": "is"}), "applicability.context_conditions has a condition on \"x\" with no text, number or truth value, one of which `is` takes")]
fn a_bad_condition_is_told_with_what_is_wrong(#[case] condition: serde_json::Value, #[case] problem: &str) {
    let mut part = heuristic();
    part.applicability.context_conditions = vec![serde_json::from_value(condition).unwrap()];
    assert_eq!(problems(&part), [problem]);
}

#[test]
fn conditions_on_complexity_compare_its_words() {
    let mut part = heuristic();
    let condition = json!({"feature": "complexity", "op": "at_least", "value": "Medium"});
    part.applicability.anti_conditions = vec![serde_json::from_value(condition).unwrap()];
    assert_eq!(problems(&part), Vec::<String>::new());
}

#[test]
fn steps_depend_on_steps_before_them_and_have_names_of_their_own() {
    let step = |id: &str, depends_on: &[&str]| PatternStep {
        id: id.into(),
        title: "Do it".into(),
        tool: None,
        depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
    };
    let of = |steps| {
        let content = PatternContent::Procedure { steps, branching: vec![], termination: vec![] };
        problems(&PatternPart::new(PatternCategory::Sequence, content))
    };
    assert_eq!(of(vec![step("a", &[]), step("", &["a"]), step("", &[])]), Vec::<String>::new());
    assert_eq!(
        of(vec![step("a", &["b"]), step("b", &[])]),
        ["content.steps has a step that depends on \"b\", which is no step before it"]
    );
    assert_eq!(of(vec![step("a", &[]), step("a", &[])]), ["content.steps has two steps with the id \"a\""]);
    assert_eq!(of(vec![]), ["content.steps has no step"]);
    assert_eq!(of(vec![step("", &[]); STEPS_MAX + 1]), ["content.steps has 51 steps; at most 50 are allowed"]);
}

#[test]
fn every_problem_is_told_at_once() {
    let mut part = heuristic();
    part.version = 0;
    part.applicability.complexity = ComplexityRange { min: Some(Complexity::High), max: Some(Complexity::Low) };
    part.applicability.domains = vec!["x".into(); LABELS_MAX + 1];
    part.guidance.how_to_apply = "x".repeat(TEXT_MAX_CHARS + 1);
    let fields: Vec<&str> = part.problems().iter().map(|problem| problem.field).collect();
    assert_eq!(fields, ["applicability.domains", "applicability.complexity", "guidance.how_to_apply", "version"]);
}

#[test]
fn signatures_are_those_that_context_conditions_name() {
    let mut part = heuristic();
    part.applicability.context_conditions =
        vec![PatternCondition::is("error_signature", "KeyError: 'x'"), PatternCondition::is("language", "python")];
    let signatures: Vec<String> = part.applicability.signatures().iter().map(ToString::to_string).collect();
    assert_eq!(signatures, ["keyerror|"]);
}

#[test]
fn no_secret_stays_in_any_text_of_a_pattern() {
    let secret = "sk-or-v1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let mut part = heuristic();
    let said = || format!("token {secret}");
    part.content = PatternContent::Strategy { approach: said(), key_principles: vec![said()], trade_offs: said() };
    part.applicability.context_conditions = vec![PatternCondition::is("token", &said())];
    part.guidance.potential_risks = vec![said()];
    part.lifecycle.deprecation_reason = Some(said());
    assert!(part.scrub().redactions >= 6, "{part:?}");
    assert!(!serde_json::to_string(&part).unwrap().contains(secret));
}

#[test]
fn the_words_of_stages_and_categories_are_those_of_their_json() {
    for stage in PatternStage::ALL {
        assert_eq!(serde_json::to_value(stage).unwrap(), stage.as_str());
    }
    for category in PatternCategory::ALL {
        assert_eq!(serde_json::to_value(category).unwrap(), category.as_str());
    }
}

#[test]
fn applications_of_a_pattern_in_an_episode_have_one_id() {
    use crate::memory::samples::{id, trace};
    assert_eq!(application_id(id(1), trace(2)), application_id(id(1), trace(2)));
    assert_ne!(application_id(id(1), trace(2)), application_id(id(2), trace(1)));
}

#[test]
fn a_memory_whose_pattern_is_not_validated_has_no_texts_to_be_searched() {
    use crate::memory::Memory;
    use crate::memory::samples::strategy;
    let of = |stage| Memory { pattern: Some(Box::new(PatternPart { stage, ..heuristic() })), ..strategy(1) };
    for stage in PatternStage::ALL {
        let texts = of(stage).search_texts();
        assert_eq!(texts == Default::default(), stage != PatternStage::Validated, "{stage:?}");
        assert_eq!(of(stage).validate(), Ok(()));
    }
    let old = serde_json::to_string(&strategy(1)).unwrap();
    assert!(!old.contains("\"pattern\""), "{old}");
    assert_ne!(of(PatternStage::Candidate).duplicate_key(), strategy(1).duplicate_key());
    assert_eq!(of(PatternStage::Candidate).duplicate_key(), of(PatternStage::Deprecated).duplicate_key());
}

#[test]
fn a_pattern_names_its_error_in_its_applicability_alone() {
    use crate::memory::Memory;
    use crate::memory::samples::warning;
    let both = Memory { pattern: Some(Box::new(heuristic())), ..warning(1) };
    assert_eq!(both.validate().unwrap_err().problems[0].field, "error_context");
}

#[test]
fn an_application_is_stored_as_a_signal_and_read_back() {
    use crate::memory::samples::{id, now, strategy, trace};
    use crate::memory::signal::Signal;
    let application = PatternApplication {
        id: application_id(id(1), trace(2)),
        pattern_id: id(1),
        version: 3,
        episode_id: trace(2),
        workspace_id: strategy(1).workspace_id,
        session: "s".into(),
        kind: ApplicationKind::Observed,
        result: ApplicationResult::Failed,
        episode_succeeded: Some(true),
        at: now(),
    };
    let signal = Signal::from(application.clone());
    let read: Signal = serde_json::from_str(&serde_json::to_string(&signal).unwrap()).unwrap();
    assert_eq!(read.as_application(), Some(application));
}
