use rstest::rstest;
use serde_json::json;

use super::*;
use crate::mcp::ToolDefaults;
use crate::mcp::tools::{ToolSpec, record_memory, report_outcome, retrieve_memories, solve_coding_task};

fn read(tool: &ToolSpec, arguments: Value) -> Result<(), String> {
    let Value::Object(arguments) = arguments else { panic!("an object, not {arguments}") };
    let schema = tool.definition(&ToolDefaults::default()).input_schema;
    let (arguments, elsewhere) = (Some(arguments), tool.judged_elsewhere);
    let result = match tool.name {
        "solve_coding_task" => extract::<solve_coding_task::Arguments>(&schema, arguments, elsewhere).map(drop),
        "retrieve_memories" => extract::<retrieve_memories::Arguments>(&schema, arguments, elsewhere).map(drop),
        "record_memory" => extract::<record_memory::Arguments>(&schema, arguments, elsewhere).map(drop),
        "report_outcome" => extract::<report_outcome::Arguments>(&schema, arguments, elsewhere).map(drop),
        _ => extract::<Value>(&schema, arguments, elsewhere).map(drop),
    };
    result.map_err(|error| {
        assert_eq!(error.code(), "invalid_argument");
        error.to_string()
    })
}

const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

#[rstest]
#[case::nothing(json!({}), "task: is required: a string of 1 to 200000 characters")]
#[case::null(json!({"task": null}), "task: is required: a string of 1 to 200000 characters")]
#[case::empty(json!({"task": ""}), "task: must be a string of 1 to 200000 characters; it is empty or blank")]
#[case::blank(json!({"task": " \n\t"}), "task: must be a string of 1 to 200000 characters; it is empty or blank")]
#[case::too_long(json!({"task": "x".repeat(1 << 20)}), "task: must be a string of 1 to 200000 characters; it has 1048576 characters")]
#[case::no_string(json!({"task": 5}), "task: must be a string of 1 to 200000 characters; it is 5")]
#[case::an_object(json!({"task": {"a": 1}}), "task: must be a string of 1 to 200000 characters; it is an object")]
#[case::no_attempts(json!({"task": "t", "matts_k": 0}), "matts_k: must be an integer from 1 to 8; it is 0")]
#[case::nine_attempts(json!({"task": "t", "matts_k": 9}), "matts_k: must be an integer from 1 to 8; it is 9")]
#[case::negative(json!({"task": "t", "matts_k": -1}), "matts_k: must be an integer from 1 to 8; it is -1")]
#[case::fraction(json!({"task": "t", "matts_k": 2.5}), "matts_k: must be an integer from 1 to 8; it is 2.5")]
#[case::huge(json!({"task": "t", "matts_k": u64::MAX}), "matts_k: must be an integer from 1 to 8; it is 18446744073709551615")]
#[case::number_in_a_string(json!({"task": "t", "matts_k": "3"}), r#"matts_k: must be an integer from 1 to 8; it is the string "3""#)]
#[case::unknown_word(json!({"task": "t", "matts_mode": "both"}), r#"matts_mode: must be one of "parallel", "sequential"; it is the string "both""#)]
#[case::truth_in_a_string(json!({"task": "t", "use_memory": "yes"}), r#"use_memory: must be true or false; it is the string "yes""#)]
#[case::a_long_word(json!({"task": "t", "use_memory": "y".repeat(1000)}), "use_memory: must be true or false; it is the string \"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…\"")]
#[case::blank_workspace(json!({"task": "t", "workspace": ""}), "workspace: must be a string of 1 to 4096 characters; it is empty or blank")]
#[case::unknown(
    json!({"task": "t", "k": 3, "model": "x"}),
    "k, model: unknown; known are task, use_memory, enable_matts, matts_k, matts_mode, store_result, domain, workspace"
)]
fn a_bad_argument_of_solve_is_named_with_its_bound(#[case] arguments: Value, #[case] message: &str) {
    assert_eq!(read(&solve_coding_task::TOOL, arguments), Err(message.into()));
}

#[rstest]
#[case::no_results(json!({"query": "q", "n_results": 0}), "n_results: must be an integer from 1 to 50; it is 0")]
#[case::one_too_many(json!({"query": "q", "n_results": 51}), "n_results: must be an integer from 1 to 50; it is 51")]
#[case::far_too_many(json!({"query": "q", "n_results": 10_000}), "n_results: must be an integer from 1 to 50; it is 10000")]
#[case::blank(json!({"query": "  "}), "query: must be a string of 1 to 200000 characters; it is empty or blank")]
#[case::above_one(json!({"query": "q", "min_confidence": 1.01}), "min_confidence: must be a number from 0 to 1; it is 1.01")]
#[case::scope(json!({"query": "q", "scope": "all"}), r#"scope: must be one of "cascade", "project", "team", "org"; it is the string "all""#)]
#[case::a_null_tag(json!({"query": "q", "tags": ["a", null]}), "tags[1]: must be a string of 1 to 120 characters; it is null")]
#[case::one_tag(json!({"query": "q", "tags": "a"}), r#"tags: must be an array of 0 to 20 items, each a string of 1 to 120 characters; it is the string "a""#)]
#[case::many_tags(json!({"query": "q", "tags": vec!["a"; 21]}), "tags: must be an array of 0 to 20 items, each a string of 1 to 120 characters; it has 21 items")]
#[case::no_tokens(json!({"query": "q", "max_tokens": 0}), "max_tokens: must be an integer from 1 to 200000; it is 0")]
fn a_bad_argument_of_retrieve_is_named_with_its_bound(#[case] arguments: Value, #[case] message: &str) {
    assert_eq!(read(&retrieve_memories::TOOL, arguments), Err(message.into()));
}

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
    assert_eq!(read(&record_memory::TOOL, arguments), Err(message.into()));
}

#[rstest]
#[case::null_in_a_list(
    &report_outcome::TOOL,
    json!({"learnings": [{"title": "t", "description": "d", "content": "c", "error_context": null}]})
)]
#[case::all_of_solve(&solve_coding_task::TOOL, json!({
    "task": "t", "use_memory": false, "enable_matts": false, "matts_k": 8, "matts_mode": "sequential",
    "store_result": false, "domain": "rust", "workspace": "."
}))]
#[case::nulls(&solve_coding_task::TOOL, json!({"task": "t", "use_memory": null, "matts_k": null, "workspace": null}))]
#[case::longest_task(&solve_coding_task::TOOL, json!({"task": "ä".repeat(200_000)}))]
#[case::all_of_retrieve(&retrieve_memories::TOOL, json!({
    "query": "q", "n_results": 50, "workspace": "0123456789abcdef", "scope": "org", "domain": "d", "domain_filter": "d",
    "tags": ["a"], "include_errors": false, "errors_only": true, "error_signature": "ValueError", "min_confidence": 1,
    "since": "7d", "until": "2026-11-20", "profile": "paper", "max_tokens": 1, "detail": "full"
}))]
#[case::all_of_record(&record_memory::TOOL, json!({
    "title": "t", "description": "d", "content": "c", "outcome": "mixed",
    "error_context": {"error_type": "e", "failure_pattern": "p", "corrective_guidance": "g", "stack_trace": null},
    "pattern_tags": ["a"], "domain_category": "d", "difficulty_level": "hard", "parent_memory_id": ID,
    "derived_from": [ID], "scope": "team", "task": "t", "workspace": "/tmp"
}))]
#[case::what_a_memory_judges_itself(&record_memory::TOOL, json!({
    "title": "", "content": "x".repeat(100_001), "error_context": {}, "pattern_tags": vec![""; 21]
}))]
fn good_arguments_are_taken(#[case] tool: &ToolSpec, #[case] arguments: Value) {
    assert_eq!(read(tool, arguments), Ok(()));
}

#[test]
fn a_call_without_arguments_is_one_with_none() {
    let schema = retrieve_memories::TOOL.definition(&ToolDefaults::default()).input_schema;
    let error = extract::<retrieve_memories::Arguments>(&schema, None, &[]).unwrap_err();
    assert_eq!(error.to_string(), "query: is required: a string of 1 to 200000 characters");
}

#[test]
fn far_too_much_is_refused_whoever_judges_it() {
    let lesson = |field: &str, value: Value| {
        read(&record_memory::TOOL, json!({"title": "t", "description": "d", "content": "c", field: value})).unwrap_err()
    };
    assert!(lesson("pattern_tags", json!(vec!["t"; 1_001])).ends_with("it has 1001 items"));
    let long = lesson("content", json!("x".repeat(1_000_001)));
    assert!(long.ends_with("it has 1000001 characters"), "{long}");
    let inside = lesson("error_context", json!({"error_type": "x".repeat(1_000_001)}));
    assert!(inside.starts_with("error_context.error_type"), "{inside}");
}
