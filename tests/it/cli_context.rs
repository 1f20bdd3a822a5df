//! Tests of what helps with a task in one call, through the real binary: over stdio for an agent, and at a terminal for
//! a person.

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

const EARLIER: &str = "Fix the date parser that refuses leap days";
const TASK: &str = "Fix the date parser for leap years";
const UNKNOWN: &str = "01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11";

fn with_context() -> Place {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "mcp.toolsets = ['core', 'context']\nllm.provider = 'none'\n");
    place
}

/// Adds a pattern that a person accepts, and returns its id.
fn accepted_pattern(place: &Place, category: &str, applicability: Value) -> String {
    let id = candidate(place, category, applicability);
    place.run(&["pattern", "validate", &id, "--accept", "our way"]).ok();
    id
}

/// Adds a pattern that nothing has proven yet, and returns its id.
fn candidate(place: &Place, category: &str, applicability: Value) -> String {
    let pattern = json!({
        "title": format!("Search before opening files ({category})"),
        "description": "Debugging in a large repository", "explanation": "Look for the symbol with ripgrep first.",
        "category": category,
        "content": {"type": "heuristic", "condition": "A symbol is unknown", "action": {"text": "Use rg", "tools": ["rg"]}},
        "applicability": applicability,
    });
    let added = place.run_with_stdin(&["--json", "pattern", "add", "--file", "-"], &pattern.to_string()).ok().json();
    added["pattern_id"].as_str().unwrap().to_owned()
}

fn earlier_episode(place: &Place) -> String {
    let failure = "ValueError: day is out of range for month => clamp the day to the month";
    let told = ["episode", "record", "--task", EARLIER, "--status", "success", "--failure", failure];
    place.document(&told)["episode_id"].as_str().unwrap().to_owned()
}

fn lesson() -> Value {
    json!({
        "title": "The date parser takes the year first", "description": "When the date parser is changed.",
        "content": "Look up whether the year is a leap year before the day is checked.",
    })
}

#[test]
fn an_agent_asks_once_before_a_task_and_tells_once_what_came_of_it() {
    let place = with_context();
    let pattern = accepted_pattern(&place, "tool_selection", json!({"problem_types": ["debugging"]}));
    let episode = earlier_episode(&place);
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let memory = process.call("record_memory", lesson())["id"].clone();

    let found = process.call("get_context_for_task", json!({"task": TASK, "context": {"language": "rust"}}));
    assert_eq!(found["applicable_patterns"][0]["pattern_id"], json!(pattern), "{found}");
    assert_eq!(found["similar_episodes"][0]["episode_id"], json!(episode), "{found}");
    assert_eq!(found["domain_knowledge"][0]["id"], memory, "{found}");
    let rendered = found["rendered"].as_str().unwrap();
    for part in ["Look for the symbol with ripgrep", EARLIER, "before the day is checked", "<recalled-experience>"] {
        assert!(rendered.contains(part), "{part}: {rendered}");
    }
    assert!(found["tokens"].as_u64().unwrap() <= 2_000, "{found}");
    let few = process.call("get_context_for_task", json!({"task": TASK, "budget_tokens": 150}));
    assert!(few["tokens"].as_u64().unwrap() <= 150, "{few}");
    let nothing = process.call("get_context_for_task", json!({"task": "Bake a cake with cherries"}));
    assert_eq!((&nothing["rendered"], &nothing["tokens"]), (&json!(""), &json!(0)), "{nothing}");
    assert_eq!(nothing["notes"], json!(["nothing_relevant: nothing here is about this task"]));

    let insight = "The parser checked the day before it knew the year. Read the year first.";
    let tell = json!({"context_id": found["context_id"], "status": "SUCCESS", "insights": [insight]});
    let learned = process.call("learn_from_episode", tell.clone());
    assert_eq!(learned["created"], true, "{learned}");
    assert_eq!(learned["lessons"][0]["title"], "The parser checked the day before it knew the year", "{learned}");
    assert_eq!((&learned["updated"][0]["id"], &learned["applications"][0]["pattern_id"]), (&memory, &json!(pattern)));
    let again = process.call("learn_from_episode", tell);
    assert_eq!((&again["episode_id"], &again["created"]), (&learned["episode_id"], &json!(false)), "{again}");
    assert_eq!(again["lessons"], json!([]));
    assert!(again["notes"].to_string().contains("record_memory keeps a lesson that is new"), "{again}");

    let shown = place.document(&["pattern", "get", &pattern]);
    assert_eq!(shown["evidence"]["supporting_episodes"], json!([learned["episode_id"]]), "{shown}");
    let kept = place.document(&["episode", "get", learned["episode_id"].as_str().unwrap()]);
    assert_eq!((&kept["task"]["original_input"], &kept["reflection"]["insights"]), (&json!(TASK), &json!([insight])));
    let episodes = place.document(&["episode", "list"]);
    assert_eq!(episodes["episodes"].as_array().map(Vec::len), Some(2), "{episodes}");

    let recovery = process.call("get_recovery", json!({"error": "ValueError: day is out of range for month"}));
    let failure = &recovery["similar_failures"][0];
    assert_eq!(failure["failure"]["resolution"], "clamp the day to the month", "{recovery}");
    assert!(recovery["rendered"].as_str().unwrap().contains("> Resolved by: clamp the day"), "{recovery}");
}

#[test]
fn what_is_told_wrongly_is_refused_with_what_is_missing() {
    let place = with_context();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let task = json!({"original_input": TASK});
    for (arguments, code, part) in [
        (json!({"context_id": UNKNOWN, "status": "SUCCESS"}), "not_found", UNKNOWN),
        (json!({"status": "SUCCESS"}), "invalid_argument", "context_id"),
        (json!({"episode": {"task": task}}), "invalid_argument", "status"),
        (
            json!({"episode": {"task": task, "outcome": {"status": "FAILURE"}}, "status": "SUCCESS"}),
            "invalid_argument",
            "status",
        ),
        (
            json!({"episode": {"task": {"original_input": " "}}, "status": "SUCCESS"}),
            "invalid_argument",
            "original_input",
        ),
    ] {
        let refused = process.call_failing("learn_from_episode", arguments);
        assert_eq!(refused["code"], code, "{refused}");
        assert!(refused["message"].as_str().unwrap().contains(part), "{part}: {refused}");
    }
    let bad = json!({"task": TASK, "context": {"complexity": "huge"}});
    let refused = process.call_failing("get_context_for_task", bad);
    assert!(refused["message"].as_str().unwrap().contains("low, medium or high"), "{refused}");
    let told = json!({"context_id": UNKNOWN, "episode": {"task": task, "outcome": {"status": "PARTIAL"}}});
    let learned = process.call("learn_from_episode", told);
    assert_eq!(learned["created"], true);
    assert!(learned["notes"][0].as_str().unwrap().starts_with("not_found: "), "{learned}");
}

#[test]
fn a_person_gets_the_same_and_tells_it_with_a_file() {
    let place = with_context();
    let pattern = accepted_pattern(&place, "tool_selection", json!({"problem_types": ["debugging"]}));
    let error = json!([{"feature": "error_signature", "op": "is", "value": "ValueError"}]);
    let recovery = accepted_pattern(&place, "recovery", json!({"context_conditions": error}));
    earlier_episode(&place);
    let text = place.run(&["context", TASK]).ok().stdout;
    assert!(text.contains("Use rg") && text.contains("1 pattern, 0 warnings, 0 memories, 1 episode"), "{text}");
    let answer = place.document(&["context", TASK]);
    let file = place.write("context.json", &answer.to_string()).display().to_string();
    let learn = ["episode", "learn", "--task", TASK, "--status", "failure", "--context", &file];
    let learned = place.document(&learn);
    assert_eq!(learned["applications"][0]["pattern_id"], json!(pattern), "{learned}");
    let again = place.document(&learn);
    assert_eq!((&again["episode_id"], &again["created"]), (&learned["episode_id"], &json!(false)));
    let shown = place.document(&["pattern", "get", &pattern]);
    assert_eq!(shown["evidence"]["counter_episodes"], json!([learned["episode_id"]]), "{shown}");
    let advice = place.document(&["recover", "ValueError: bad day"]);
    assert_eq!(advice["recovery_patterns"][0]["pattern_id"], json!(recovery), "{advice}");
    assert_eq!(advice["similar_failures"][0]["failure"]["resolution"], "clamp the day to the month");
    let nothing = place.run(&["recover", "OSError: disk on fire"]).ok().stdout;
    assert!(nothing.contains("nothing_relevant"), "{nothing}");
    place.run(&["context", TASK, "--budget-tokens", "5"]).exits(2);
    place.run(&["context", TASK, "--context", "language"]).exits(2);
}

#[test]
fn a_candidate_is_tried_where_the_settings_say_so_and_its_application_counts() {
    let place = with_context();
    let id = candidate(&place, "tool_selection", json!({"problem_types": ["debugging"]}));
    assert_eq!(place.document(&["context", TASK])["applicable_patterns"], json!([]));
    let config = "mcp.toolsets = ['core', 'context']\nllm.provider = 'none'\npatterns.trial = true\n";
    place.write("config/reasoning-bank/config.toml", config);
    let answer = place.document(&["context", TASK]);
    let tried = &answer["applicable_patterns"][0];
    assert_eq!((&tried["pattern_id"], &tried["unproven"]), (&json!(id), &json!(true)), "{answer}");
    assert!(answer["rendered"].as_str().unwrap().contains("candidate, trust: user, unproven"), "{answer}");
    let file = place.write("context.json", &answer.to_string()).display().to_string();
    let learn = ["episode", "learn", "--task", TASK, "--status", "success", "--context", &file];
    assert_eq!(place.document(&learn)["applications"][0]["pattern_id"], json!(id));
}
