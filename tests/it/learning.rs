//! Tests of what is learned, through the real process: an update is another statement, a confirmation keeps its words,
//! and a long task loses no lesson.

use std::time::Duration;

use serde_json::{Value, json};

use crate::llm_server::{LlmServer, Reply, good, scored};
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
fn what_is_outdated_stands_behind_the_newer_one_and_says_so() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let (_, old) = recorded(&mut process, "The service listens on port 8080.");
    let (_, staging) = recorded(&mut process, "On staging the service listens on port 7070.");
    let (_, new) = recorded(&mut process, "The service listens on port 9090.");
    let found = process.call("retrieve_memories", json!({"query": "does the service listen on port 8080?"}));
    let memories = found["memories"].as_array().unwrap();
    let place_of = |id: &str| memories.iter().position(|memory| memory["id"] == id).unwrap();
    assert!(place_of(&new) < place_of(&old), "{found}");
    assert_eq!(memories[place_of(&old)]["outdated_by"], new.as_str());
    assert!([&staging, &new].iter().all(|id| memories[place_of(id)].get("outdated_by").is_none()), "{found}");
    process.end();
    let shown = place.run(&["memory", "search", "service port"]).ok();
    assert!(shown.stdout.contains(&format!("outdated by {new}")), "{}", shown.stdout);
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

/// The test solves with the default settings, whose five attempts are compared: the comparison offers a strategy, the
/// judge a warning.
#[test]
fn a_solve_that_failed_in_every_attempt_leaves_a_warning_and_no_strategy() {
    let item = |title: &str, error: Value| {
        json!({"title": title, "description": "When searching sorted data.", "content": "Count the elements first.",
               "pattern_tags": [], "domain_category": null, "difficulty_level": null, "error_context": error})
    };
    let strategy = item("Search as these attempts did", Value::Null);
    let error = json!({"error_type": "OffByOne", "failure_pattern": "the last element is skipped",
                       "corrective_guidance": "compare with the length"});
    let warning = item("An inclusive bound skips the last element", error);
    let server = LlmServer::new(Duration::ZERO, move |asked| match asked.purpose() {
        "evaluate" => scored(0.2),
        "judge" => {
            let judged =
                json!({"verdict": "failure", "score": 0.2, "reasoning": "it skips one", "learnings": [warning]});
            Reply::Text(judged.to_string())
        }
        "contrast" => {
            Reply::Text(json!({"best_index": 1, "analysis": "all alike", "learnings": [strategy]}).to_string())
        }
        _ => good(asked),
    });
    let place = Place::new();
    let settings = format!("[llm]\nbase_url = '{}'\nretry.base_delay_ms = 5\n", server.base_url());
    place.write("config/reasoning-bank/config.toml", &settings);
    let mut process = McpProcess::initialized(&place, &["--llm", "responses"]);
    let task = "Write a binary search over a sorted list.";
    let report = process.call("solve_coding_task", json!({"task": task}));
    assert_eq!(report["outcome"], "failure", "{report}");
    assert_eq!(report["attempts"].as_array().unwrap().len(), 5);
    let learned = report["learnings"].as_array().unwrap();
    assert_eq!(learned.len(), 1, "{report}");
    assert_eq!(learned[0]["title"], "An inclusive bound skips the last element");
    let found = process.call("retrieve_memories", json!({"query": task, "n_results": 10}));
    let memories = found["memories"].as_array().unwrap();
    assert!(!memories.is_empty() && memories.iter().all(|memory| memory["warning"] == true), "{found}");
}

/// The task is as long as may be. Its lesson is stored, and a task of the same kind finds it.
#[test]
fn the_longest_task_loses_no_lesson() {
    let server = LlmServer::good();
    let place = Place::new();
    let settings = format!("[llm]\nbase_url = '{}'\n[agent]\ntotal_token_budget = 2000000\n", server.base_url());
    place.write("config/reasoning-bank/config.toml", &settings);
    let mut process = McpProcess::initialized(&place, &["--llm", "responses"]);
    let head = "Find why the parser of nested brackets loses the last token of a line.\n";
    let line = |n: usize| {
        format!("fn step_{n}(input: &[Token]) -> usize {{ input.iter().filter(|t| t.kind == {n}).count() }}\n")
    };
    let code: String = (0..)
        .map(line)
        .scan(0, |length, line| {
            *length += line.len();
            (*length < 199_000).then_some(line)
        })
        .collect();
    let report = process.call("solve_coding_task", json!({"task": format!("{head}{code}"), "matts_k": 1}));
    assert_eq!(report["learnings"].as_array().unwrap().len(), 1, "{report}");
    let query = "the parser loses a token within nested brackets";
    let found = process.call("retrieve_memories", json!({"query": query, "n_results": 1}));
    assert_eq!(found["memories"][0]["id"], report["learnings"][0]["id"], "{found}");
}
