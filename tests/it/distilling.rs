//! Tests of sessions that are handed in, through the real process: they are queued durably and done once whatever is
//! killed, by rules where no model may be asked.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::llm_server::LlmServer;
use crate::mcp_process::McpProcess;
use crate::support::Place;

const TIMEOUT: Duration = Duration::from_secs(60);

const TRANSCRIPT: &str = r#"{"role": "user", "content": "Why does cargo rebuild everything when I switch branches?"}
{"role": "assistant", "content": "Cargo compares modification times, and git sets new ones on checkout. Because of that every crate looks changed. Use a separate target directory for each branch:\n\n```sh\nexport CARGO_TARGET_DIR=target/$(git branch --show-current)\n```\n\nThen each branch keeps its own fingerprints and nothing is rebuilt when you switch back."}
"#;

fn place(more: &str) -> Place {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", &format!("mcp.toolsets = ['core', 'learning']\n{more}"));
    place
}

fn with_model(server: &LlmServer, cap: u64) -> Place {
    let llm = format!("base_url = '{}'\nretry.base_delay_ms = 5\nmodels.capture = 'a/small-model'", server.base_url());
    place(&format!("background.daily_token_cap = {cap}\n[llm]\n{llm}\n"))
}

fn session(outcome: &str) -> Value {
    json!({"session_id": "monday", "transcript": TRANSCRIPT, "outcome": outcome})
}

/// Asks until the job is over.
fn over(process: &mut McpProcess, job_id: &Value) -> Value {
    let begun = Instant::now();
    loop {
        let job = process.call("get_job", json!({"job_id": job_id}));
        if job["state"] == "done" || job["state"] == "failed" {
            return job;
        }
        assert!(begun.elapsed() < TIMEOUT, "{job}");
    }
}

fn memories(place: &Place) -> Vec<Value> {
    let listed = place.run(&["memory", "list", "--json"]).ok().json();
    listed["memories"].as_array().unwrap().clone()
}

#[test]
fn without_a_model_rules_draw_the_lessons() {
    let place = place("");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let queued = process.call("distill_session", session("success"));
    assert_eq!(queued["queued"], true);
    let job = over(&mut process, &queued["job_id"]);
    assert_eq!((&job["state"], &job["result"]["method"]), (&json!("done"), &json!("rules")), "{job}");
    let learned = job["result"]["learned"].as_array().unwrap();
    assert_eq!(learned.len(), 1, "{job}");
    let kept = memories(&place);
    assert_eq!((kept.len(), &kept[0]["id"], &kept[0]["source_type"]), (1, &learned[0]["id"], &json!("distilled")));
    let again = process.call("distill_session", session("success"));
    assert_eq!((&again["queued"], &again["job_id"]), (&json!(false), &queued["job_id"]));
    process.end();
}

#[test]
fn a_job_whose_process_is_killed_is_done_once_by_the_next_one() {
    let server = LlmServer::never_distilling_at_first();
    let place = with_model(&server, 100_000);
    let mut first = McpProcess::initialized(&place, &["--llm", "responses"]);
    let queued = first.call("distill_session", session("success"));
    server.wait_for_requests(1);
    assert_eq!(first.call("get_job", json!({"job_id": queued["job_id"]}))["state"], "running");
    first.kill();

    let mut second = McpProcess::initialized(&place, &["--llm", "responses"]);
    let job = over(&mut second, &queued["job_id"]);
    assert_eq!((&job["state"], &job["attempts"]), (&json!("done"), &json!(2)), "{job}");
    assert_eq!(job["result"]["learned"][0]["title"], "Keep a build directory for each branch");
    assert_eq!(memories(&place).len(), 1);
    let asked = server.asked_to("distill");
    assert_eq!((asked.len(), &asked[1].body["model"]), (2, &json!("a/small-model")));
    assert!(asked[1].input().contains("modification times"), "{}", asked[1].input());
    second.end();
}

#[test]
fn what_is_no_session_and_no_job_is_refused_and_doctor_has_nothing_to_say() {
    let place = place("");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let error =
        process.call_failing("distill_session", json!({"session_id": "x", "transcript": " ", "outcome": "mixed"}));
    assert_eq!(error["code"], "invalid_argument", "{error}");
    let error = process.call_failing("get_job", json!({"job_id": "019a0000-0000-7000-8000-000000000000"}));
    assert_eq!(error["code"], "not_found", "{error}");
    process.end();
    let doctor = place.run(&["--llm", "none", "doctor", "--json"]).json();
    let jobs = doctor["checks"].as_array().unwrap().iter().find(|check| check["name"] == "jobs").unwrap();
    assert_eq!((&jobs["status"], &jobs["detail"]), (&json!("ok"), &json!("no background job was given up")));
}

#[test]
fn a_session_that_a_hook_left_is_read_by_a_model_where_one_may_be_asked() {
    let server = LlmServer::never_distilling_at_first();
    let place = place(&format!(
        "passive.llm = true\nbackground.daily_token_cap = 100000\n[llm]\nbase_url = '{}'\nretry.base_delay_ms = \
         5\nmodels.capture = 'a/small-model'\n",
        server.base_url()
    ));
    place.write("session.jsonl", TRANSCRIPT);
    let process = McpProcess::initialized(&place, &["--llm", "responses"]);
    let data = place.path("data").display().to_string();
    let event = json!({
        "hook_event_name": "SessionEnd", "session_id": "monday", "transcript_path": place.path("session.jsonl"),
    });
    place.run_with_stdin(&["--data-dir", &data, "hook", "claude-code", "SessionEnd"], &event.to_string()).ok();
    server.wait_for_requests(1);
    process.end();
    let asked = server.asked_to("distill");
    assert!(asked[0].input().contains("modification times"), "{}", asked[0].input());
    let kept = memories(&place);
    assert_eq!(kept.len(), 1, "rules learned from it as well: {kept:?}");
    assert_eq!(kept[0]["source_type"], "passive_learning", "{kept:?}");
}
