use rstest::rstest;

use super::*;
use crate::mcp::arguments::extract;
use crate::mcp::caller::ServerEnd;
use crate::mcp::test_client::taken;

fn solve_task(arguments: Value, defaults: &ToolDefaults) -> SolveTask {
    let schema = TOOL.definition(defaults, &ServerEnd::stdio(None)).input_schema;
    let arguments: Arguments = extract(&schema, arguments.as_object().cloned(), &[]).unwrap();
    arguments.into_task(defaults)
}

#[test]
fn what_a_caller_of_solve_leaves_out_comes_from_the_configuration() {
    let defaults = ToolDefaults { matts_k: 3, matts_mode: MattsMode::Sequential, ..ToolDefaults::default() };
    let expected = SolveTask {
        task: "t".into(),
        use_memory: true,
        k: 3,
        mode: MattsMode::Sequential,
        store_result: true,
        domain: None,
    };
    assert_eq!(solve_task(json!({"task": "t"}), &defaults), expected);
    let single = SolveTask { k: 1, ..expected.clone() };
    assert_eq!(solve_task(json!({"task": "t", "enable_matts": false, "matts_k": 4}), &defaults), single);
    let without = ToolDefaults { enable_matts: false, ..defaults };
    assert_eq!(solve_task(json!({"task": "t"}), &without), single);
    assert_eq!(solve_task(json!({"task": "t", "enable_matts": true}), &without), expected);
}

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
    assert_eq!(taken::<Arguments>(&TOOL, arguments), Err(message.into()));
}

#[rstest]
#[case::all_of_solve(json!({
    "task": "t", "use_memory": false, "enable_matts": false, "matts_k": 8, "matts_mode": "sequential",
    "store_result": false, "domain": "rust", "workspace": "."
}))]
#[case::nulls(json!({"task": "t", "use_memory": null, "matts_k": null, "workspace": null}))]
#[case::longest_task(json!({"task": "ä".repeat(200_000)}))]
fn good_arguments_are_taken(#[case] arguments: Value) {
    assert_eq!(taken::<Arguments>(&TOOL, arguments), Ok(()));
}
