//! Tests of reporting, tracing back, statistics, workspaces and administration, as a client of the real process meets
//! them.

use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::redacted::Redacted;
use crate::support::Place;

fn place() -> Place {
    let place = Place::new();
    place.write(
        "config/reasoning-bank/config.toml",
        "[mcp]\ntoolsets = ['all']\ndestructive = 'allow'\n[llm.simulated]\nlatency_ms = 0\n",
    );
    place
}

fn lesson(title: &str, content: &str) -> Value {
    json!({"title": title, "description": "When it fits.", "content": content})
}

fn recorded(process: &mut McpProcess, lesson: Value) -> Value {
    process.call("record_memory", lesson)["id"].clone()
}

#[test]
fn a_report_moves_confidence_and_keeps_what_was_learned() {
    let place = place();
    let root = place.path("");
    let mut redacted = Redacted::new(&root);
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let first = recorded(&mut process, lesson("Close files", "Drop every handle, then rename."));
    let report = json!({
        "memory_ids": [first],
        "helpful": true,
        "task_succeeded": false,
        "evidence": {"kind": "tests", "passed": true, "detail": "14 passed"},
        "comment": "as described",
        "learnings": [lesson("Retry a rename", "Wait a second where a scanner holds the file, then rename again.")],
    });
    let reported = process.call("report_outcome", report);
    insta::assert_json_snapshot!("mcp_report_outcome", redacted.document(&reported));
    let moved = &reported["updated"][0];
    assert!(moved["confidence_after"].as_f64() > moved["confidence_before"].as_f64(), "evidence beats the claim");

    let tree = process.call("get_memory_genealogy", json!({"memory_id": reported["learned"][0]["id"]}));
    insta::assert_json_snapshot!("mcp_get_memory_genealogy", redacted.document(&tree));

    let report = process.call("solve_coding_task", json!({"task": "Close files before a rename", "matts_k": 1}));
    let by_trace = process.call("report_outcome", json!({"trace_id": report["trace_id"], "helpful": false}));
    let used = report["memories_used"].as_array().unwrap().len();
    assert_eq!(by_trace["updated"].as_array().unwrap().len(), used, "{by_trace}");
}

#[test]
fn statistics_are_those_of_the_bank_and_of_this_process() {
    let place = place();
    let root = place.path("");
    let mut redacted = Redacted::new(&root);
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    recorded(&mut process, lesson("Close files", "Drop every handle, then rename."));
    process.call("solve_coding_task", json!({"task": "Reverse a list", "matts_k": 3}));
    let statistics = process.call("get_statistics", json!({}));
    assert_eq!((&statistics["traces"]["total"], &statistics["latency_ms"]["solve"]["count"]), (&json!(1), &json!(1)));
    assert!(statistics["llm"]["calls"].as_u64() > Some(3), "{statistics}");
    assert_eq!(statistics["embedder"]["ready"], true);
    let reset = process.call("reset_statistics", json!({}));
    assert_eq!((&reset["traces"]["total"], &reset["llm"]["calls"]), (&json!(1), &json!(0)));
    insta::assert_json_snapshot!("mcp_reset_statistics", redacted.document(&reset));
}

#[test]
fn a_healthy_server_says_so() {
    let place = place();
    let root = place.path("");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    recorded(&mut process, lesson("Close files", "Drop every handle, then rename."));
    let health = process.call("health_check", json!({}));
    insta::assert_json_snapshot!("mcp_health_check", Redacted::new(&root).document(&health));
}

#[test]
fn a_server_without_a_store_is_unhealthy_and_still_says_so() {
    let place = place();
    let file = place.write("not-a-directory", "a file").display().to_string();
    let mut process = McpProcess::initialized(&place, &["--llm", "none", "--data-dir", &file]);
    let health = process.call("health_check", json!({}));
    assert_eq!(health["status"], "unhealthy", "{health}");
    assert!(health.get("memory_count").is_none());
    let store = &health["checks"][0];
    assert_eq!((&store["name"], &store["status"]), (&json!("store"), &json!("fail")));
    assert!(store["hint"].as_str().unwrap().contains("data directory"), "{store}");
}

#[test]
fn a_memory_is_read_changed_and_deleted() {
    let place = place();
    let root = place.path("");
    let mut redacted = Redacted::new(&root);
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let id = recorded(&mut process, lesson("Close files", "Drop every handle, then rename."));
    let read = process.call("get_memory", json!({"memory_id": id}));
    insta::assert_json_snapshot!("mcp_get_memory", redacted.document(&read));
    let change = json!({"memory_id": id, "content": "Flush, close, rename.", "pinned": true, "if_revision": 1});
    let changed = process.call("update_memory", change.clone());
    insta::assert_json_snapshot!("mcp_update_memory", redacted.document(&changed));
    let found = process.call("retrieve_memories", json!({"query": "flush before rename"}));
    assert_eq!(found["memories"][0]["id"], id);
    assert_eq!(process.call_failing("update_memory", change)["code"], "conflict");
    let removed = process.call("delete_memory", json!({"memory_id": id, "confirm": true}));
    insta::assert_json_snapshot!("mcp_delete_memory", redacted.document(&removed));
    assert_eq!(process.call_failing("get_memory", json!({"memory_id": id}))["code"], "not_found");
}

#[test]
fn workspaces_are_listed_switched_and_deleted() {
    let place = place();
    let root = place.path("");
    let mut redacted = Redacted::new(&root);
    let other = place.path("other");
    std::fs::create_dir(&other).unwrap();
    let other = other.display().to_string();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let own = recorded(&mut process, lesson("Close files", "Drop every handle, then rename."));
    process.call("record_memory", {
        let mut elsewhere = lesson("Pin versions", "In the lock file.");
        elsewhere["workspace"] = json!(other);
        elsewhere
    });
    let listed = process.call("list_workspaces", json!({}));
    insta::assert_json_snapshot!("mcp_list_workspaces", redacted.document(&listed));
    let switched = process.call("switch_workspace", json!({"path": other}));
    insta::assert_json_snapshot!("mcp_switch_workspace", redacted.document(&switched));
    assert_eq!(process.call_failing("get_memory", json!({"memory_id": own}))["code"], "not_found");
    assert_eq!(process.call("list_workspaces", json!({}))["current"], switched["id"]);
    let removed = process.call("delete_workspace", json!({"path": other, "confirm": true}));
    insta::assert_json_snapshot!("mcp_delete_workspace", redacted.document(&removed));
    assert_eq!(process.call("retrieve_memories", json!({"query": "versions"}))["memories"], json!([]));
    let project = place.path("project").display().to_string();
    let kept = process.call("get_memory", json!({"memory_id": own, "workspace": project}));
    assert_eq!(kept["title"], "Close files");
}

const NOBODY: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

#[rstest]
#[case::nothing_reported("report_outcome", json!({"memory_ids": [NOBODY]}), "invalid_argument", "nothing is reported")]
#[case::of_nobody("report_outcome", json!({"helpful": true}), "invalid_argument", "memory_ids")]
#[case::unknown_memory("report_outcome", json!({"memory_ids": [NOBODY], "helpful": true}), "not_found", NOBODY)]
#[case::unknown_trace("report_outcome", json!({"trace_id": NOBODY, "helpful": true}), "not_found", NOBODY)]
#[case::no_kind("report_outcome", json!({"memory_ids": [NOBODY], "evidence": {"passed": true}}), "invalid_argument", "evidence.kind")]
#[case::other_kind("report_outcome", json!({"memory_ids": [NOBODY], "evidence": {"kind": "vibes", "passed": true}}), "invalid_argument", "evidence.kind")]
#[case::half_a_lesson("report_outcome", json!({"learnings": [{"title": "t"}]}), "memory_invalid", "learnings[0]")]
#[case::unknown_tree("get_memory_genealogy", json!({"memory_id": NOBODY}), "not_found", NOBODY)]
#[case::no_depth("get_memory_genealogy", json!({"memory_id": NOBODY, "depth": 0}), "invalid_argument", "depth")]
#[case::an_argument_for_nothing("get_statistics", json!({"verbose": true}), "invalid_argument", "verbose")]
#[case::no_change("update_memory", json!({"memory_id": NOBODY}), "invalid_argument", "at least one of title")]
#[case::bad_status("update_memory", json!({"memory_id": NOBODY, "status": "gone"}), "invalid_argument", "status")]
#[case::not_confirmed("delete_memory", json!({"memory_id": NOBODY}), "invalid_argument", "confirm")]
#[case::denied("delete_workspace", json!({"path": "/", "confirm": false}), "invalid_argument", "confirm")]
#[case::unknown_root("delete_workspace", json!({"path": "/", "confirm": true}), "workspace_unknown", "/")]
#[case::unknown_id("switch_workspace", json!({"path": "0123456789abcdef"}), "workspace_unknown", "0123456789abcdef")]
fn bad_input_is_named(#[case] tool: &str, #[case] arguments: Value, #[case] code: &str, #[case] named: &str) {
    let place = place();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let error = process.call_failing(tool, arguments);
    assert_eq!((&error["code"], &error["retryable"]), (&json!(code), &json!(false)), "{error}");
    assert!(error["message"].as_str().unwrap().contains(named), "{error}");
    assert!(!error["hint"].as_str().unwrap().is_empty());
}
