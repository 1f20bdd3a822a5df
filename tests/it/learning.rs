//! What is learned, through the real process: an update is another statement, a confirmation keeps its words, and a long
//! task loses no lesson.

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn lesson(content: &str) -> Value {
    json!({"title": "Deployment", "description": "When the service is deployed.", "content": content})
}

fn recorded(process: &mut McpProcess, content: &str) -> (String, String) {
    let answer = process.call("record_memory", lesson(content));
    (answer["status"].as_str().unwrap().to_owned(), answer["id"].as_str().unwrap().to_owned())
}

#[test]
fn a_statement_that_differs_in_one_value_is_stored_and_raises_no_other() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    for (old, new) in [
        ("The service listens on port 8080.", "The service listens on port 9090."),
        ("The tests run on Python 3.11.", "The tests run on Python 3.12."),
        ("The owner of the billing module is Ann Meyer.", "The owner of the billing module is Bob Meyer."),
        ("Retry the upload when it fails.", "Do not retry the upload when it fails."),
        ("The cache is kept in Redis in the region eu-west-1.", "The cache is kept in Redis in the region us-east-1."),
        ("His religion is Islam.", "His religion is Hinduism."),
        ("Move the data from MySQL to Postgres.", "Move the data from Postgres to MySQL."),
    ] {
        let (first, old_id) = recorded(&mut process, old);
        let (second, new_id) = recorded(&mut process, new);
        assert_eq!((first.as_str(), second.as_str()), ("created", "created"), "{old} {new}");
        assert_ne!(old_id, new_id);
        let found = process.call("retrieve_memories", json!({"query": old, "n_results": 50}));
        let memories = found["memories"].as_array().unwrap();
        let confidence = |id: &str| memories.iter().find(|memory| memory["id"] == id).unwrap()["confidence"].clone();
        assert_eq!(confidence(&old_id), confidence(&new_id), "{found}");
    }
}

#[test]
fn a_confirmation_keeps_its_words_and_is_found_by_its_task() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "mcp.toolsets = ['all']\nllm.provider = 'none'\n");
    let mut process = McpProcess::initialized(&place, &[]);
    let with_task = |content: &str, task: &str| {
        let mut lesson = lesson(content);
        lesson["task"] = json!(task);
        lesson
    };
    let first = with_task("Use backoff when the API answers 429.", "page through the orders of a shop");
    let id = process.call("record_memory", first)["id"].clone();
    let again = with_task("When the API answers 429, use backoff.", "migrate zebra photographs to another bucket");
    let answer = process.call("record_memory", again);
    assert_eq!((&answer["status"], &answer["id"]), (&json!("reinforced"), &id), "{answer}");
    let memory = process.call("get_memory", json!({"memory_id": id}));
    assert_eq!(memory["task"], "page through the orders of a shop");
    assert_eq!(memory["further_tasks"], json!(["migrate zebra photographs to another bucket"]));
    let wording = "Deployment\nWhen the service is deployed.\nWhen the API answers 429, use backoff.";
    assert_eq!(memory["wordings"], json!([wording]));
    for n in 0..8 {
        process.call("record_memory", lesson(&format!("Other matters of release {n}.")));
    }
    let found = process.call("retrieve_memories", json!({"query": "zebra photographs bucket", "n_results": 1}));
    assert_eq!(found["memories"][0]["id"], id, "{found}");
    let shown = place.run(&["memory", "get", id.as_str().unwrap()]).ok();
    assert!(shown.stdout.contains("also for    migrate zebra photographs"), "{}", shown.stdout);
    assert!(shown.stdout.contains("also said   Deployment"), "{}", shown.stdout);
}
