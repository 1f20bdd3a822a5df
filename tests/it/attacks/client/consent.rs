//! Attacks by clients that erase without the user's consent, or make one up.

use serde_json::{Value, json};

use super::{ALL_TOOLS, SECRET_PLAN, TwoProjects, meta};
use crate::mcp_process::McpProcess;

/// Handles of a question that nobody gave for the call.
const MADE_UP_HANDLES: &[&str] = &[
    "",
    "x",
    "00000000-0000-0000-0000-000000000000",
    "rs2.e30.AAAA",
    "../../etc/passwd",
    "null",
    "{\"confirm\":true}",
];

/// Answers to a question that are no consent.
fn refusals() -> Vec<Value> {
    vec![
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"confirm": false}}),
        json!({"action": "accept", "content": {"confirm": "true"}}),
        json!({"action": "decline", "content": {"confirm": true}}),
        json!({"action": "ACCEPT", "content": {"confirm": true}}),
        json!({}),
        json!(null),
        json!([{"action": "accept", "content": {"confirm": true}}]),
        json!("accept"),
    ]
}

/// Each refusal is tried by clients of both revisions of the protocol.
pub(super) fn inputs() -> usize {
    2 * refusals().len() + MADE_UP_HANDLES.len()
}

#[test]
fn what_erases_is_refused_with_the_command_where_the_client_cannot_ask_the_user() {
    let two = TwoProjects::new();
    two.place.write("config/reasoning-bank/config.toml", ALL_TOOLS);
    let mut process = McpProcess::initialized(&two.place, &["--llm", "none", "--workspace", &two.other]);
    let before = two.export();
    let delete = json!({"memory_id": two.memory, "confirm": true});
    for (tool, arguments) in
        [("delete_memory", &delete), ("delete_workspace", &json!({"path": two.other, "confirm": true}))]
    {
        let error = process.call_failing(tool, arguments.clone());
        assert_eq!((&error["code"], &error["retryable"]), (&json!("consent_required"), &json!(false)), "{error}");
        assert_eq!(two.export(), before);
    }
    let hint = process.call_failing("delete_memory", delete)["hint"].as_str().unwrap().to_owned();
    let command = hint.strip_prefix("the user can run: reasoning-bank ").unwrap();
    let words: Vec<&str> = command.split(' ').chain(["--yes"]).collect();
    two.place.run(&words).ok();
    assert!(!two.export().contains(SECRET_PLAN), "{command}");
}

#[test]
fn what_erases_is_done_where_the_user_lets_clients_erase() {
    let two = TwoProjects::new();
    two.place.write("config/reasoning-bank/config.toml", &format!("{ALL_TOOLS}mcp.destructive = 'allow'\n"));
    let mut process = McpProcess::initialized(&two.place, &["--llm", "none"]);
    let removed = process.call("delete_workspace", json!({"path": two.other, "confirm": true}));
    assert_eq!(removed["memories"], 1);
}

#[test]
fn a_user_who_is_asked_through_the_client_decides() {
    let two = TwoProjects::new();
    two.place.write("config/reasoning-bank/config.toml", ALL_TOOLS);
    let mut process = McpProcess::start(&two.place, &["--llm", "none", "--workspace", &two.other]);
    process.initialize_with(json!({"elicitation": {}}));
    let delete = json!({"memory_id": two.memory, "confirm": true});
    for refusal in refusals() {
        let (asked, result) = process.call_and_answer("delete_memory", delete.clone(), refusal.clone());
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert!(asked["params"]["message"].as_str().unwrap().contains("The plan"), "{asked}");
        assert_eq!(result["structuredContent"]["code"], "declined", "{refusal}: {result}");
    }
    assert!(two.export().contains(SECRET_PLAN));
    let agrees = json!({"action": "accept", "content": {"confirm": true}});
    let (_, result) = process.call_and_answer("delete_memory", delete, agrees);
    assert_eq!(result["structuredContent"]["memories"], 1, "{result}");
    assert!(!two.export().contains(SECRET_PLAN));
}

/// A client of the stateless revision wants a memory deleted, perhaps with the answer to a question.
fn delete(process: &mut McpProcess, memory: &Value, handle: Option<&str>, answer: Option<Value>) -> Value {
    let mut params = json!({
        "name": "delete_memory", "arguments": {"memory_id": memory, "confirm": true},
        "_meta": meta(json!({"elicitation": {"form": {}}})),
    });
    if let Some(handle) = handle {
        params["requestState"] = handle.into();
    }
    if let Some(answer) = answer {
        params["inputResponses"] = json!({"confirm": answer});
    }
    process.request("tools/call", params)["result"].clone()
}

/// The handle of the question that a call was answered with: an answer that came without a question is none.
fn handle_of(asked: Value) -> String {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["confirm"]["method"], "elicitation/create");
    asked["requestState"].as_str().unwrap().to_owned()
}

#[test]
fn a_client_of_the_stateless_revision_gets_the_question_and_its_answer_counts_once_for_that_call() {
    let two = TwoProjects::new();
    two.place.write("config/reasoning-bank/config.toml", ALL_TOOLS);
    let second = ["--title", "Second", "--description", "d", "--content", "another plan"];
    let record = [&["--json", "--workspace", &two.other, "memory", "record"][..], &second].concat();
    let second = two.place.run(&record).ok().json()["id"].clone();
    let mut process = McpProcess::start(&two.place, &["--llm", "none", "--workspace", &two.other]);
    let first = json!(two.memory);
    let agrees = json!({"action": "accept", "content": {"confirm": true}});
    let mut call =
        |memory: &Value, handle: Option<&str>, answer: Option<Value>| delete(&mut process, memory, handle, answer);
    for made_up in MADE_UP_HANDLES {
        let refused = call(&first, Some(made_up), Some(agrees.clone()));
        assert_eq!(refused["structuredContent"]["code"], "invalid_argument", "{made_up:?}: {refused}");
    }
    for refusal in refusals() {
        let handle = handle_of(call(&first, None, Some(agrees.clone())));
        let refused = call(&first, Some(&handle), Some(refusal.clone()));
        assert_eq!(refused["structuredContent"]["code"], "declined", "{refusal}: {refused}");
        let again = call(&first, Some(&handle), Some(agrees.clone()));
        assert_eq!(again["structuredContent"]["code"], "invalid_argument", "used: {again}");
    }
    let handle = handle_of(call(&first, None, Some(agrees.clone())));
    let of_another = call(&second, Some(&handle), Some(agrees.clone()));
    assert_eq!(of_another["structuredContent"]["code"], "invalid_argument", "{of_another}");
    assert!(two.export().contains(SECRET_PLAN) && two.export().contains("another plan"));
    let handle = handle_of(call(&first, None, Some(agrees.clone())));
    let removed = call(&first, Some(&handle), Some(agrees.clone()));
    assert_eq!(removed["structuredContent"]["memories"], 1, "{removed}");
    let replayed = call(&second, Some(&handle), Some(agrees));
    assert_eq!(replayed["structuredContent"]["code"], "invalid_argument", "{replayed}");
    assert!(!two.export().contains(SECRET_PLAN) && two.export().contains("another plan"));
}
