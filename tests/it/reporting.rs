//! Tests of a client that solves by itself, without a model of ours, and of what it leaves: through the real process.

use serde_json::json;

use crate::mcp_process::McpProcess;
use crate::support::Place;

#[test]
fn a_client_without_a_model_leaves_usage_and_a_trace_of_its_work() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let lesson = json!({"title": "Backoff", "description": "When the API answers 429.",
                        "content": "Wait 1, 2 and 4 seconds before the next request."});
    let id = process.call("record_memory", lesson)["id"].clone();
    for _ in 0..3 {
        process.call("retrieve_memories", json!({"query": "the API answers 429"}));
    }
    let report = |commit| {
        json!({"memory_ids": [id], "task": "page through the orders", "commit": commit,
               "evidence": {"kind": "tests", "passed": true}})
    };
    let first = process.call("report_outcome", report("0123abc"));
    let trace = first["trace_id"].as_str().unwrap().to_owned();
    assert_eq!(process.call("report_outcome", report("0123abcd"))["trace_id"], trace.as_str());
    let refused = process.call_failing("report_outcome", report("of today")).to_string();
    assert!(refused.contains("commit") && refused.contains("hexadecimal"), "{refused}");
    process.end();

    let id = id.as_str().unwrap();
    let shown = place.run(&["memory", "get", id]).ok();
    assert!(shown.stdout.contains("1 time\n"), "a session counts once a day: {}", shown.stdout);
    let listed = place.run(&["trace", "list"]).ok();
    assert!(listed.stdout.contains("reported: page through the orders"), "{}", listed.stdout);
    let told = place.run(&["trace", "show", &trace]).ok();
    for part in ["success, by evidence", "tests passed", "0123abcd", id, "the client's own"] {
        assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
    }
    let statistics = place.run(&["stats", "--json"]).ok();
    let statistics: serde_json::Value = serde_json::from_str(&statistics.stdout).unwrap();
    assert_eq!(statistics["traces"]["success_rate"], 1.0, "{statistics}");
}
