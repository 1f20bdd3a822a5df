//! Tests of episodes through the real binary: they are kept once, found in every way, hidden, restored and erased; and
//! of the tools of agents.

use std::slice::from_ref;

use rstest::rstest;
use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

const UNKNOWN: &str = "01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11";

fn run(place: &Place, arguments: &[&str]) -> Value {
    place.run(&[&["--llm", "none", "--json", "episode"][..], arguments].concat()).ok().json()
}

fn refused(place: &Place, arguments: &[&str]) -> String {
    let run = place.run(&[&["--llm", "none", "--json", "episode"][..], arguments].concat());
    run.json()["error"].to_string()
}

fn record(place: &Place, task: &str, more: &[&str]) -> String {
    let recorded = run(place, &[&["record", "--task", task][..], more].concat());
    recorded["episode_id"].as_str().unwrap_or_else(|| panic!("{recorded}")).to_owned()
}

fn ids(answer: &Value, list: &str) -> Vec<String> {
    let items = answer[list].as_array().unwrap_or_else(|| panic!("{answer}"));
    items.iter().map(|item| item["episode_id"].as_str().unwrap().to_owned()).collect()
}

fn found(place: &Place, arguments: &[&str]) -> Vec<String> {
    ids(&run(place, &[&["search"][..], arguments].concat()), "hits")
}

fn listed(place: &Place, arguments: &[&str]) -> Vec<String> {
    ids(&run(place, &[&["list"][..], arguments].concat()), "episodes")
}

#[test]
fn an_episode_is_found_by_every_strategy() {
    let place = Place::new();
    let parser = record(
        &place,
        "Fix the date parser that fails on leap days",
        &[
            "--status",
            "success",
            "--failure",
            "ValueError: day is out of range => clamp the day",
            "--domain",
            "rust",
            "--tool",
            "cargo test",
            "--tag",
            "dates",
            "--session",
            "monday",
        ],
    );
    let deploy = record(
        &place,
        "Deploy the shop to staging",
        &["--status", "failure", "--failure", "ConnectionError: the registry refused", "--domain", "ops"],
    );
    assert_eq!(listed(&place, &[]), [deploy.clone(), parser.clone()]);
    assert_eq!(found(&place, &["parse the 29th of february", "-k", "1"]), from_ref(&parser));
    assert_eq!(
        found(&place, &["--strategy", "semantic", "bring the shop to the test servers", "-k", "1"]),
        from_ref(&deploy)
    );
    assert_eq!(found(&place, &["--domain", "ops", "parse the 29th of february"]), from_ref(&deploy), "hybrid narrows");
    let structured = ["--strategy", "structured", "--task-type", "debugging", "--tool", "Cargo Test", "--tag", "dates"];
    assert_eq!(found(&place, &structured), from_ref(&parser));
    assert_eq!(found(&place, &["--strategy", "structured", "--status", "failure"]), from_ref(&deploy));
    assert_eq!(found(&place, &["--strategy", "temporal", "--session", "monday"]), from_ref(&parser));
    assert_eq!(found(&place, &["--strategy", "temporal", "--since", "1h"]), [deploy.clone(), parser.clone()]);
    assert_eq!(found(&place, &["--strategy", "temporal", "--until", "1h"]), Vec::<String>::new());
    assert_eq!(found(&place, &["--only-successful", "shop"]), from_ref(&parser));

    let failures = run(&place, &["failures", "ValueError: day is out of range for month"]);
    let first = &failures["hits"][0];
    assert_eq!(
        (first["episode_id"].as_str(), &first["failure"]["resolution"]),
        (Some(&*parser), &json!("clamp the day"))
    );
    assert_eq!((&first["why"]["failure"], &first["score"]), (&json!("message"), &json!(1.0)));
    let failures = run(&place, &["failures"]);
    assert_eq!(ids(&failures, "hits"), [deploy, parser]);
    assert_eq!(failures["hits"][1]["failure"]["resolution"], "clamp the day");

    let why = &run(&place, &["search", "fix the date parser", "--domain", "rust"])["hits"][0]["why"]["score"];
    let parts = ["semantic", "recency", "success", "access", "domain"].map(|part| why[part].as_f64().unwrap());
    assert!(parts[0] > 0.3 && parts[1] > 0.19 && parts[2..] == [0.15, 0.0, 0.05], "{why}");
}

#[test]
fn the_same_told_again_in_its_session_is_one_episode() {
    let place = Place::new();
    let told = ["--status", "success", "--session", "monday"];
    let first = record(&place, "Fix the pager", &told);
    let again = run(&place, &["record", "--task", " fix the  pager", "--status", "success", "--session", "monday"]);
    assert_eq!((again["episode_id"].as_str(), &again["created"]), (Some(&*first), &json!(false)));
    let others = [
        record(&place, "Fix the pager", &["--status", "failure", "--session", "monday"]),
        record(&place, "Fix the pager", &["--status", "success", "--session", "tuesday"]),
    ];
    assert_eq!(listed(&place, &[]), [others[1].clone(), others[0].clone(), first]);
}

#[test]
fn an_episode_is_archived_deleted_restored_and_erased() {
    let place = Place::new();
    let id = record(&place, "Fix the pager", &["--status", "success"]);
    let is_shown = || (listed(&place, &[]).contains(&id), found(&place, &["pager"]).contains(&id));
    assert_eq!(run(&place, &["archive", &id])["archived"], true);
    assert_eq!((is_shown(), listed(&place, &["--archived"]).len()), ((false, false), 1));
    assert_eq!(found(&place, &["--include-archived", "pager"]), from_ref(&id));
    assert_eq!(run(&place, &["get", &id])["lifecycle"]["archival_status"], "archived");
    assert_eq!(run(&place, &["restore", &id])["phase"], "active");
    assert_eq!(is_shown(), (true, true));

    assert!(run(&place, &["delete", &id])["restorable_until"].is_string());
    assert_eq!((is_shown(), listed(&place, &["--deleted"]).len()), ((false, false), 1));
    assert!(refused(&place, &["get", &id]).contains("not_found"));
    assert!(place.run(&["--json", "trace", "show", &id]).json()["error"].to_string().contains("not_found"));
    assert_eq!(place.run(&["--json", "trace", "list"]).ok().json()["traces"], json!([]));
    assert!(!place.run(&["memory", "export"]).ok().stdout.contains(&id));
    assert_eq!(run(&place, &["purge"]), json!({"purged": 0, "left": 1}));
    run(&place, &["restore", &id]);
    assert!(refused(&place, &["restore", &id]).contains("nothing to restore"));
    let episode = run(&place, &["get", &id]);
    assert!(episode["lifecycle"]["access_count"].as_u64() >= Some(1), "it was read before: {episode}");

    let asks = place.run(&["episode", "delete", &id, "--now"]);
    assert!(asks.stderr.contains("There is no terminal to ask on"), "{}", asks.stderr);
    run(&place, &["delete", &id, "--now", "--yes"]);
    assert!(refused(&place, &["restore", &id]).contains("not_found"));
    let other = record(&place, "Fix the pager", &["--status", "success"]);
    run(&place, &["delete", &other]);
    assert_eq!(run(&place, &["purge", "--all", "--yes"]), json!({"purged": 1, "left": 0}));
}

#[test]
fn a_solve_is_an_episode() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[llm.simulated]\nlatency_ms = 0\n");
    let solved = place.run(&["--llm", "simulated", "--json", "solve", "--no-matts", "Fix the pager in Rust"]);
    let trace_id = solved.json()["trace_id"].as_str().unwrap().to_owned();
    let episode = run(&place, &["get", &trace_id]);
    assert_eq!((&episode["source"], &episode["metadata"]["task_type"]), (&json!("solve"), &json!("debugging")));
    assert!(episode["outcome"]["primary_output"].is_string(), "{episode}");
    assert!(!episode["execution"]["trace"].as_array().unwrap().is_empty());
    assert_eq!(found(&place, &["mend the pager"]), [trace_id]);
}

/// A session of Claude Code in which a test failed, something was edited, and the test passed.
fn session() -> String {
    let said = |second: u32, role: &str, content: Value| {
        json!({
            "type": role, "uuid": format!("u{second}"), "sessionId": "s1",
            "timestamp": format!("2026-11-20T10:00:{second:02}Z"), "message": {"role": role, "content": content},
        })
    };
    let call = |second, id: &str, tool: &str, input: Value| {
        said(second, "assistant", json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]))
    };
    let result = |second, id: &str, output: &str, failed: bool| {
        said(second, "user", json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]))
    };
    let lines = [
        said(1, "user", json!("Fix the date parser that fails on leap days")),
        call(2, "a", "Bash", json!({"command": "cd /w && cargo test -p dates"})),
        result(3, "a", "ValueError: day is out of range for month", true),
        call(4, "b", "Edit", json!({"file_path": "src/dates.rs"})),
        result(5, "b", "done", false),
        call(6, "c", "Bash", json!({"command": "cd /w && cargo test -p dates"})),
        result(7, "c", "14 passed", false),
        said(8, "assistant", json!([{"type": "text", "text": "The day is clamped to the month now."}])),
    ];
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_tool_of_a_server_is_found_by_the_name_that_its_client_gives_it() {
    let place = Place::new();
    let id = record(&place, "File the bug", &["--status", "success", "--tool", "mcp__github__create_issue"]);
    for name in ["mcp__github__create_issue", "github.create_issue"] {
        assert_eq!(found(&place, &["--strategy", "structured", "--tool", name]), from_ref(&id), "{name}");
    }
    assert_eq!(found(&place, &["--strategy", "structured", "--tool", "mcp__github__list"]), Vec::<String>::new());
}

#[test]
fn learning_a_session_keeps_what_was_done_in_it_once() {
    let place = Place::new();
    place.write("project/session.jsonl", &session());
    let learn = || place.run(&["--llm", "none", "--json", "learn", "session.jsonl"]).ok().json();
    assert_eq!(learn()["files"][0]["episodes"], 1);
    assert_eq!(learn()["files"][0].get("episodes"), None, "it is known");
    let found = run(&place, &["failures", "ValueError: day 366"]);
    let hit = &found["hits"][0];
    assert_eq!(
        (&hit["source"], &hit["status"], &hit["verdict_source"]),
        (&json!("transcript"), &json!("SUCCESS"), &json!("evidence"))
    );
    assert_eq!(hit["failure"]["resolution"], "Edit src/dates.rs; then cargo test succeeded");
    assert_eq!(hit["tools_used"], json!(["cargo test", "Edit"]));
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_session_that_is_learned_while_it_runs_is_whole_when_it_is_learned_again() {
    let place = Place::new();
    let learn = |session: &str| {
        place.write("project/session.jsonl", session);
        place.run(&["--llm", "none", "--json", "learn", "session.jsonl"]).ok().json()["files"][0].clone()
    };
    let whole = session();
    let half: String = whole.split_inclusive('\n').take(3).collect();
    assert_eq!(learn(&half)["episodes"], 1);
    let status = || run(&place, &["list"])["episodes"][0]["status"].clone();
    assert_eq!(status(), "FAILURE");
    assert_eq!(learn(&whole).get("episodes"), None, "it is no new one");
    assert_eq!((status(), listed(&place, &[]).len()), (json!("SUCCESS"), 1));
    let found = run(&place, &["failures", "ValueError: day 366"]);
    assert_eq!(found["hits"][0]["failure"]["resolution"], "Edit src/dates.rs; then cargo test succeeded");
    learn(&half);
    assert_eq!(status(), "SUCCESS", "less than what is known changes nothing");
}

#[rstest]
#[case(json!({"outcome": {"status": "SUCCESS"}}), "task")]
#[case(json!({"task": {"original_input": " "}, "outcome": {"status": "SUCCESS"}}), "task.original_input")]
#[case(json!({"task": {"original_input": "t"}, "outcome": {"status": "DONE"}}), "outcome.status")]
#[case(json!({"task": {"original_input": "t"}, "outcome": {"status": "SUCCESS"}, "execution": {"duration_s": -1}}), "execution.duration_s")]
#[case(json!({"task": {"original_input": "t"}, "outcome": {"status": "SUCCESS"}, "lifecycle": {}}), "lifecycle")]
fn what_is_wrong_with_an_episode_is_named(#[case] episode: Value, #[case] field: &str) {
    let place = Place::new();
    place.write("project/e.json", &episode.to_string());
    let error = refused(&place, &["record", "--file", "e.json"]);
    assert!(error.contains(field), "{error}");
    assert_eq!(listed(&place, &[]), Vec::<String>::new());
}

#[test]
fn secrets_reach_neither_the_bank_nor_an_answer() {
    let place = Place::new();
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let recorded = run(
        &place,
        &["record", "--task", "Push the branch", "--status", "failure", "--failure", &format!("denied for {token}")],
    );
    assert_eq!(recorded["redactions"], 1);
    let id = recorded["episode_id"].as_str().unwrap();
    let shown = place.run(&["--llm", "none", "episode", "get", id]).ok().stdout;
    assert!(!shown.contains(token) && shown.contains("[REDACTED:"), "{shown}");
}

#[test]
fn agents_record_search_and_read_episodes_where_the_tools_are_on() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let tools = process.request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(!tools.contains("record_episode"), "the tools are off by default");
    drop(process);
    place.write("config/reasoning-bank/config.toml", "[mcp]\ntoolsets = ['core', 'episodes']\n");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let call = json!({"action": "call", "tool": "Bash", "input": "cargo test -p pager", "output": "failed", "succeeded": false});
    let recorded = process.call(
        "record_episode",
        json!({
            "task": {"original_input": "Fix the pager", "parsed_goals": ["no page is shown twice"]},
            "outcome": {"status": "SUCCESS", "quality_metrics": {"tests": 14}},
            "execution": {"plan": [{"id": "1", "title": "Reproduce it"}], "trace": [call]},
            "reflection": {"failures_analyzed": [{"error": "IndexError: out of range", "resolution": "an exclusive bound"}]},
        }),
    );
    let id = recorded["episode_id"].clone();
    let found = process.call("search_episodes", json!({"strategy": "failure", "query": "IndexError: list index"}));
    assert_eq!((&found["hits"][0]["episode_id"], &found["hits"][0]["why"]["failure"]), (&id, &json!("signature")));
    let episode = process.call("get_episode", json!({"episode_id": id}));
    assert_eq!(episode["metadata"]["tools_used"], json!(["cargo test"]));
    assert_eq!(episode["task"]["parsed_goals"], json!(["no page is shown twice"]));
    let refused = process.call_failing("get_episode", json!({"episode_id": UNKNOWN}));
    assert_eq!(refused["code"], "not_found", "{refused}");
    let refused = process.call_failing("search_episodes", json!({"strategy": "hybrid"}));
    assert!(refused["message"].to_string().contains("query"), "{refused}");
}

#[test]
fn what_happened_to_episodes_is_exported_and_deleted_ones_are_not() {
    let old = Place::new();
    let archived = record(&old, "Fix the pager", &["--status", "success"]);
    let read = record(&old, "Write the manual", &["--status", "success"]);
    let deleted = record(&old, "Tune the cache", &["--status", "failure"]);
    run(&old, &["archive", &archived]);
    run(&old, &["get", &read]);
    run(&old, &["delete", &deleted]);
    let exported = old.run(&["memory", "export"]).ok().stdout;
    assert!(!exported.contains(&deleted) && !exported.contains("Tune the cache"), "{exported}");

    let new = Place::new();
    let import = |place: &Place, more: &[&str]| {
        place.run_with_stdin(&[&["memory", "import"][..], more, &["-"]].concat(), &exported).ok();
        place.run(&["memory", "export", "--all"]).ok().stdout
    };
    assert_eq!(import(&new, &["--trusted-backup"]), exported);
    assert_eq!(import(&new, &["--trusted-backup"]), exported, "the same again changes nothing");
    let stranger = import(&Place::new(), &["--yes"]);
    let state = |id: &str| {
        let lines = stranger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let line = lines.into_iter().find(|line| line["trace_id"] == id).unwrap_or_else(|| panic!("{stranger}"));
        line["episode_state"].clone()
    };
    assert!(state(&archived)["archived_at"].is_string(), "{stranger}");
    assert_eq!(state(&read)["access_count"], 0, "{stranger}");
}
