//! The protocol on real pipes: both revisions, what is not a message, and the end of the input.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

const CORE: [&str; 7] = [
    "solve_coding_task",
    "retrieve_memories",
    "record_memory",
    "report_outcome",
    "get_memory_genealogy",
    "get_statistics",
    "capture_exchange",
];

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_list_of_tools_is_as_documented() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let answer = process.request("tools/list", json!({}));
    let bytes = answer["result"].to_string().len();
    assert!(bytes < 12_288, "{bytes} bytes: every client sends them to its model");
    insta::assert_json_snapshot!("mcp_tools", answer["result"]);
}

#[test]
fn all_toolsets_together_are_as_documented() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[mcp]\ntoolsets = ['all']\n");
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let answer = process.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(names(&answer)[..7], CORE);
    insta::assert_json_snapshot!("mcp_tools_beyond_core", tools[7..]);
}

#[test]
fn a_toolset_is_listed_where_it_is_asked_for() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[mcp]\ntoolsets = ['core', 'workspace']\n");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let answer = process.request("tools/list", json!({}));
    assert_eq!(names(&answer)[6..], ["list_workspaces", "switch_workspace", "delete_workspace"]);
}

#[test]
fn the_stateless_revision_is_served_by_the_same_process() {
    let place = Place::new();
    let mut process = McpProcess::start(&place, &["--llm", "simulated"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = process.request("server/discover", json!({"_meta": meta}));
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION")).replace('.', "[.]");
    insta::with_settings!({filters => [(version.as_str(), "\"version\": \"[version]\"")]}, {
        insta::assert_json_snapshot!("mcp_discover", answer["result"]);
    });
    let answer = process.request("tools/list", json!({"_meta": meta}));
    assert_eq!(names(&answer), CORE);
    let call = json!({"name": "retrieve_memories", "arguments": {"query": "q"}, "_meta": meta});
    let answer = process.request("tools/call", call);
    assert_eq!(answer["result"]["structuredContent"]["memories"], json!([]), "{answer}");
}

#[test]
fn without_a_model_only_the_memory_tools_are_there() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let answer = process.request("tools/list", json!({}));
    assert_eq!(names(&answer), CORE[1..]);
    let call = json!({"name": "solve_coding_task", "arguments": {"task": "t"}});
    assert_eq!(process.request("tools/call", call)["error"]["code"], -32602);
}

#[rstest]
#[case::text(b"password=hunter2".to_vec(), "it is not JSON")]
#[case::half_a_message(br#"{"jsonrpc":"2.0","id":1,"hunter2":"#.to_vec(), "the JSON in it is incomplete")]
#[case::not_utf8(b"{\"hunter2\":\"\xff\xfe\"}".to_vec(), "it is not UTF-8")]
#[case::oversized([b"hunter2".as_slice(), &vec![b'x'; 9 << 20]].concat(), "it is too long")]
fn a_line_that_is_no_message_is_logged_and_the_next_request_answered(#[case] line: Vec<u8>, #[case] reason: &str) {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    process.write(&line);
    process.write(b"\n\r\n");
    assert_eq!(names(&process.request("tools/list", json!({}))).len(), CORE.len() - 1);
    let ended = process.end();
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    assert!(ended.stderr.contains(&line.len().to_string()), "{}", ended.stderr);
    assert!(!ended.stderr.contains("hunter2"), "what the line says is nobody's business: {}", ended.stderr);
}

#[test]
fn a_batch_is_refused_and_the_next_request_answered() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    process.write(b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n");
    assert_eq!(process.read()["error"]["code"], -32600);
    assert_eq!(names(&process.request("tools/list", json!({}))).len(), CORE.len() - 1);
}

#[test]
fn the_end_of_the_input_ends_the_process() {
    let place = Place::new();
    for process in [McpProcess::start(&place, &["--llm", "none"]), McpProcess::initialized(&place, &["--llm", "none"])]
    {
        let ended = process.end();
        assert!(ended.status.success(), "{} {}", ended.status, ended.stderr);
        assert!(ended.took < Duration::from_secs(30), "{:?}", ended.took);
    }
}

#[rstest]
#[case::terminate("TERM")]
#[case::interrupt("INT")]
fn a_signal_ends_the_process_as_the_end_of_the_input_does(#[case] signal: &str) {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[llm.simulated]\nlatency_ms = 60000\n");
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let lesson = json!({"title": "t", "description": "d", "content": "c"});
    process.call("record_memory", lesson);
    let solve = json!({"name": "solve_coding_task", "arguments": {"task": "sort a list"}});
    process.send(&json!({"id": 7, "method": "tools/call", "params": solve}));
    process.request("ping", json!({}));
    let ended = process.end_by(signal);
    assert_eq!(ended.status.code(), Some(0), "{} {}", ended.status, ended.stderr);
    assert!(ended.stderr.contains(&format!("SIG{signal}")), "{}", ended.stderr);
    assert!(!ended.stderr.contains("not closed cleanly"), "{}", ended.stderr);
    assert!(ended.took < Duration::from_secs(30), "{:?}", ended.took);
}

#[test]
fn what_was_asked_before_the_input_ended_is_answered() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "simulated"]);
    let arguments = json!({"query": "anything"});
    for id in 1..=20 {
        let params = json!({"name": "retrieve_memories", "arguments": arguments});
        process.send(&json!({"id": id, "method": "tools/call", "params": params}));
    }
    process.close_input();
    let mut answered: Vec<u64> = (1..=20).map(|_| process.read()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, (1..=20).collect::<Vec<_>>());
    assert!(process.end().status.success());
}
