//! The core tools over the real store, embedder and simulated model.

use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn lesson() -> Value {
    json!({
        "title": "Close the file before renaming it",
        "description": "When a rename fails with a sharing violation on Windows.",
        "content": "Drop every handle to the file, then rename it.",
        "error_context": {
            "error_type": "PermissionError",
            "failure_pattern": "renaming while a handle is open",
            "corrective_guidance": "close first, rename second",
        },
        "pattern_tags": ["files"],
        "domain_category": "windows",
    })
}

#[test]
fn what_one_process_records_the_next_retrieves_in_the_same_project_only() {
    let place = Place::with_instant_model();
    let mut first = McpProcess::initialized(&place, &["--llm", "none"]);
    let recorded = first.call("record_memory", lesson());
    assert_eq!((&recorded["status"], &recorded["redactions"]), (&json!("created"), &json!(0)));
    let again = first.call("record_memory", lesson());
    assert_eq!((&again["status"], &again["id"]), (&json!("reinforced"), &recorded["id"]));
    assert!(first.end().status.success());

    let mut second = McpProcess::initialized(&place, &["--llm", "none"]);
    let query = json!({"query": "rename fails with sharing violation", "detail": "full"});
    let found = second.call("retrieve_memories", query.clone());
    assert_eq!(found["memories"].as_array().unwrap().len(), 1, "{found}");
    let memory = &found["memories"][0];
    assert_eq!((&memory["id"], &memory["warning"]), (&recorded["id"], &json!(true)));
    for field in ["workspace_id", "source_type", "trust", "derived_from", "evolution_stage", "created_at", "why"] {
        assert!(memory.get(field).is_some(), "{field} in {memory}");
    }
    let by_id = json!({"query": "rename a file", "workspace": memory["workspace_id"]});
    assert_eq!(second.call("retrieve_memories", by_id)["memories"][0]["id"], recorded["id"]);
    assert!(second.end().status.success());
    let elsewhere = place.path("home").display().to_string();
    let mut third = McpProcess::initialized(&place, &["--llm", "none", "--workspace", &elsewhere]);
    assert_eq!(third.call("retrieve_memories", query)["memories"], json!([]));
}

#[rstest]
#[case::tag_and_domain(json!({"tags": ["files"], "domain_filter": "windows"}), &["warning"])]
#[case::since(json!({"since": "1d"}), &["strategy", "warning"])]
#[case::until(json!({"until": "1d"}), &[])]
#[case::errors(json!({"errors_only": true}), &["warning"])]
#[case::no_errors(json!({"include_errors": false}), &["strategy"])]
#[case::several(json!({"tags": ["files"], "include_errors": false}), &[])]
fn what_is_retrieved_can_be_narrowed(#[case] conditions: Value, #[case] expected: &[&str]) {
    let place = Place::with_instant_model();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let strategy = json!({
        "title": "Rename files in one step",
        "description": "When readers must never see a file that is half written.",
        "content": "Write beside it, then rename the file.",
    });
    let ids = [("warning", lesson()), ("strategy", strategy)]
        .map(|(name, lesson)| (process.call("record_memory", lesson)["id"].clone(), name));
    let mut query = conditions;
    query["query"] = json!("rename a file");
    query["min_relevance"] = json!(0);
    let found = process.call("retrieve_memories", query);
    let name = |id: &Value| ids.iter().find(|(own, _)| own == id).unwrap().1;
    let mut names: Vec<&str> = found["memories"].as_array().unwrap().iter().map(|memory| name(&memory["id"])).collect();
    names.sort_unstable();
    assert_eq!(names, expected, "{found}");
}

#[test]
fn a_solve_learns_what_the_next_one_is_told() {
    let place = Place::with_instant_model();
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let solve =
        |process: &mut McpProcess, task: &str| process.call("solve_coding_task", json!({"task": task, "matts_k": 3}));
    let first = solve(&mut process, "Write a binary search that finds a number in a sorted list.");
    assert_eq!(first["attempts"].as_array().unwrap().len(), 3, "{first}");
    assert_eq!((&first["memories_used"], &first["memories_left_out"]), (&json!([]), &json!([])));
    assert!(first["notes"][0].as_str().unwrap().starts_with("nothing_relevant: "), "{first}");
    let learned = first["learnings"][0]["id"].clone();
    assert!(learned.is_string(), "{first}");
    let second = solve(&mut process, "Find where to insert a number into a sorted list so that it stays sorted.");
    let used: Vec<&Value> = second["memories_used"].as_array().unwrap().iter().map(|used| &used["id"]).collect();
    let lessons: Vec<&Value> = first["learnings"].as_array().unwrap().iter().map(|lesson| &lesson["id"]).collect();
    assert!(used.iter().any(|id| lessons.contains(id)), "{used:?} of {lessons:?}");
}

#[test]
fn evidence_that_comes_later_decides_what_the_trace_says() {
    let place = Place::with_instant_model();
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let solved = process.call("solve_coding_task", json!({"task": "Search a sorted list of numbers.", "matts_k": 1}));
    let id = solved["trace_id"].as_str().unwrap().to_owned();
    let shown = || place.run(&["trace", "show", &id]).ok().stdout;
    assert!(shown().contains("success, by the judge"), "{}", shown());
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let evidence = json!({"kind": "tests", "passed": false, "detail": format!("3 of 7 fail with {secret}")});
    process.call("report_outcome", json!({"trace_id": id, "evidence": evidence}));
    let revised = shown();
    assert!(revised.contains("failure, by evidence"), "{revised}");
    assert!(revised.contains("tests failed: 3 of 7 fail with [REDACTED:github]"), "{revised}");
    let document = place.run(&["--json", "trace", "show", &id]).ok().json();
    assert_eq!((&document["outcome"], &document["verdict_source"]), (&json!("failure"), &json!("evidence")));
    assert_eq!(process.call("get_statistics", json!({}))["traces"]["failure"], 1);
}

#[rstest]
#[case::empty_task("solve_coding_task", json!({"task": ""}), "invalid_argument", "task")]
#[case::blank_task("solve_coding_task", json!({"task": " \n"}), "invalid_argument", "task")]
#[case::no_task("solve_coding_task", json!({}), "invalid_argument", "task")]
#[case::megabyte_task("solve_coding_task", json!({"task": "x".repeat(1 << 20)}), "invalid_argument", "200000")]
#[case::no_attempts("solve_coding_task", json!({"task": "t", "matts_k": 0}), "invalid_argument", "from 1 to 8")]
#[case::many_attempts("solve_coding_task", json!({"task": "t", "matts_k": 9}), "invalid_argument", "from 1 to 8")]
#[case::no_results("retrieve_memories", json!({"query": "q", "n_results": 0}), "invalid_argument", "from 1 to 50")]
#[case::too_many_results("retrieve_memories", json!({"query": "q", "n_results": 10_000}), "invalid_argument", "from 1 to 50")]
#[case::a_number_in_a_string("retrieve_memories", json!({"query": "q", "n_results": "5"}), "invalid_argument", "n_results")]
#[case::an_unknown_argument("retrieve_memories", json!({"query": "q", "limit": 5}), "invalid_argument", "limit: unknown; known are query, n_results")]
#[case::an_unknown_workspace("retrieve_memories", json!({"query": "q", "workspace": "0123456789abcdef"}), "workspace_unknown", "0123456789abcdef")]
#[case::an_empty_memory("record_memory", json!({}), "memory_invalid", "content")]
#[case::half_a_memory("record_memory", json!({"title": "t", "description": " "}), "memory_invalid", "description")]
#[case::a_parent_that_is_no_id("record_memory", json!({"parent_memory_id": "../../etc/passwd"}), "invalid_argument", "parent_memory_id")]
fn bad_input_is_named_and_does_no_damage(
    #[case] tool: &str,
    #[case] arguments: Value,
    #[case] code: &str,
    #[case] named: &str,
) {
    let place = Place::with_instant_model();
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let error = process.call_failing(tool, arguments);
    assert_eq!((&error["code"], &error["retryable"]), (&json!(code), &json!(false)), "{error}");
    assert!(error["message"].as_str().unwrap().contains(named), "{error}");
    assert!(!error["hint"].as_str().unwrap().is_empty());
    assert_eq!(process.call("retrieve_memories", json!({"query": "q"}))["memories"], json!([]));
}

#[test]
fn a_data_directory_that_cannot_be_used_is_told_by_each_call_and_not_by_the_handshake() {
    let place = Place::with_instant_model();
    let file = place.write("not-a-directory", "a file").display().to_string();
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated", "--data-dir", &file]);
    assert!(process.request("tools/list", json!({}))["result"]["tools"].is_array());
    for (tool, arguments) in [("retrieve_memories", json!({"query": "q"})), ("record_memory", lesson())] {
        let error = process.call_failing(tool, arguments);
        assert_eq!((&error["code"], &error["retryable"]), (&json!("store_unavailable"), &json!(false)), "{error}");
    }
    let report = process.call("solve_coding_task", json!({"task": "add two numbers"}));
    assert!(report.get("trace_id").is_none(), "{report}");
    let warned = |warning: &Value| warning.as_str().unwrap().contains("store_unavailable");
    assert!(report["warnings"].as_array().unwrap().iter().any(warned), "{report}");
}
