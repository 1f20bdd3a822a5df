use rstest::rstest;
use serde_json::json;

use super::*;
use crate::mcp::test_client::taken;

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

#[rstest]
#[case::no_string(json!({"title": 1}), "title: must be a string of 1 to 120 characters; it is 1")]
#[case::outcome(json!({"outcome": "ok"}), r#"outcome: must be one of "success", "failure", "mixed"; it is the string "ok""#)]
#[case::parent(json!({"parent_memory_id": "7"}), r#"parent_memory_id: must be a UUID in a string; it is the string "7""#)]
#[case::a_source(json!({"derived_from": [ID, 7]}), "derived_from[1]: must be a UUID in a string; it is 7")]
#[case::a_word_for_an_error(json!({"error_context": "boom"}), r#"error_context: must be an object of error_type, failure_pattern, corrective_guidance, error_message, stack_trace, task_domain; it is the string "boom""#)]
#[case::no_error_type(json!({"error_context": {"error_type": []}}), "error_context.error_type: must be a string; it is an array")]
#[case::unknown_inside(
    json!({"error_context": {"kind": "x"}}),
    "error_context.kind: unknown; known are error_type, failure_pattern, corrective_guidance, error_message, stack_trace, task_domain"
)]
fn a_bad_argument_of_record_is_named_with_its_bound(#[case] arguments: Value, #[case] message: &str) {
    assert_eq!(taken::<Arguments>(&TOOL, arguments), Err(message.into()));
}

#[rstest]
#[case::all_of_record(json!({
    "title": "t", "description": "d", "content": "c", "outcome": "mixed",
    "error_context": {"error_type": "e", "failure_pattern": "p", "corrective_guidance": "g", "stack_trace": null},
    "pattern_tags": ["a"], "domain_category": "d", "difficulty_level": "hard", "parent_memory_id": ID,
    "derived_from": [ID], "scope": "team", "task": "t", "workspace": "/tmp"
}))]
#[case::what_a_memory_judges_itself(json!({
    "title": "", "content": "x".repeat(100_001), "error_context": {}, "pattern_tags": vec![""; 21]
}))]
fn good_arguments_are_taken(#[case] arguments: Value) {
    assert_eq!(taken::<Arguments>(&TOOL, arguments), Ok(()));
}

#[test]
fn far_too_much_is_refused_whoever_judges_it() {
    let lesson = |field: &str, value: Value| {
        taken::<Arguments>(&TOOL, json!({"title": "t", "description": "d", "content": "c", field: value})).unwrap_err()
    };
    assert!(lesson("pattern_tags", json!(vec!["t"; 1_001])).contains("it has 1001 items"));
    let long = lesson("content", json!("x".repeat(1_000_001)));
    assert!(long.contains("it has 1000001 characters"), "{long}");
    let inside = lesson("error_context", json!({"error_type": "x".repeat(1_000_001)}));
    assert!(inside.starts_with("error_context.error_type"), "{inside}");
}
