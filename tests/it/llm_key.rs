//! The key of the provider: checked beside the handshake, and told about where it is wrong.

use std::time::{Duration, Instant};

use rstest::rstest;
use serde_json::json;

use crate::llm_server::{Asked, LlmServer, Reply, good};
use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

const SOON: Duration = Duration::from_secs(10);

/// A place whose settings lead to OpenRouter at this URL, with a key.
fn place(base_url: &str) -> Place {
    let place = Place::new();
    let llm = format!("[llm]\nbase_url = '{base_url}'\napi_key = 'sk-or-v1-wrong'\nretry.max_retries = 0\n");
    place.write("config/reasoning-bank/config.toml", &llm);
    place
}

fn rejecting(status: u16) -> impl Fn(&Asked) -> Reply + Send + Sync + 'static {
    move |asked| match asked.path.as_str() {
        "/v1/key" => Reply::error(status, "No auth credentials found for sk-or-v1-wrong"),
        _ => good(asked),
    }
}

fn assert_told(stderr: &str) {
    assert!(stderr.contains("rejected the key") && stderr.contains("OPENROUTER_API_KEY"), "{stderr}");
    assert!(stderr.contains("--llm none") && !stderr.contains("sk-or-v1-wrong"), "{stderr}");
}

#[rstest]
fn a_rejected_key_ends_the_server_although_its_client_is_there(#[values(401, 403)] status: u16) {
    let server = LlmServer::new(Duration::ZERO, rejecting(status));
    let place = place(&server.base_url());
    let begun = Instant::now();
    let ended = McpProcess::start(&place, &[]).ended_by_itself();
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    assert_told(&ended.stderr);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let head = &server.asked()[0].head;
    assert!(head.starts_with("get /v1/key") && head.contains("authorization: bearer sk-or-v1-wrong"), "{head}");
}

#[test]
fn a_rejected_key_ends_a_solve() {
    let server = LlmServer::new(Duration::ZERO, rejecting(401));
    let place = place(&server.base_url());
    let begun = Instant::now();
    let ran = place.run(&["--json", "solve", "task"]).exits(2);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert_eq!(ran.json()["error"]["code"], "llm_rejected_key");
    assert_told(&ran.stderr);
}

#[test]
fn a_key_that_cannot_be_checked_is_a_warning() {
    let broken = LlmServer::new(Duration::ZERO, rejecting(503));
    for base_url in ["http://127.0.0.1:9/v1", &broken.base_url()] {
        let place = place(base_url);
        let mut process = McpProcess::initialized(&place, &[]);
        assert_eq!(process.call("retrieve_memories", json!({"query": "anything"}))["memories"], json!([]));
        let ended = process.end();
        assert!(ended.status.success(), "{}", ended.stderr);
        assert!(ended.stderr.contains("the key could not be checked"), "{}", ended.stderr);
    }
    let place = place(&broken.base_url());
    place.run(&["solve", "--matts-k", "1", "task"]).ok();
}

#[test]
fn a_key_that_is_rejected_later_fails_the_task_and_not_the_server() {
    let server = LlmServer::new(Duration::ZERO, |asked| match asked.path.as_str() {
        "/v1/key" => good(asked),
        _ => Reply::error(401, "This key has been revoked"),
    });
    let place = place(&server.base_url());
    let mut process = McpProcess::initialized(&place, &[]);
    let error = process.call_failing("solve_coding_task", json!({"task": "task", "matts_k": 2}));
    assert_eq!((&error["code"], &error["retryable"]), (&json!("llm_rejected_key"), &json!(false)), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("OPENROUTER_API_KEY"), "{error}");
    assert_eq!(server.asked_to("think").len(), 2);
    assert!(process.end().status.success());
}

#[test]
fn commands_that_need_no_model_need_no_key_and_do_not_ask_for_it() {
    let server = LlmServer::new(Duration::ZERO, rejecting(401));
    place(&server.base_url()).run(&["memory", "export", "--all"]).ok();
    assert!(server.asked().is_empty());

    // Nor one that is where it says.
    let place = Place::new();
    let with_lost_key = |args: &[&str]| {
        let mut command = place.command(args);
        Ran::of(command.env("OPENROUTER_API_KEY_FILE", "/nowhere/key").output().unwrap())
    };
    with_lost_key(&["memory", "export", "--all"]).ok();
    let shown = with_lost_key(&["config", "show"]).ok().stdout;
    assert!(shown.contains("# llm.api_key: cannot be used; ") && shown.contains("OPENROUTER_API_KEY_FILE"), "{shown}");
    for needs_it in [&["mcp"][..], &["solve", "task"]] {
        let ran = with_lost_key(needs_it).exits(2);
        assert!(ran.stderr.contains("OPENROUTER_API_KEY_FILE"), "{}", ran.stderr);
    }
}

#[rstest]
#[case(200, "ok    key", 0)]
#[case(401, "fail  key", 1)]
#[case(500, "warn  key", 0)]
fn doctor_asks_whether_the_key_is_taken(#[case] status: u16, #[case] line: &str, #[case] code: i32) {
    let server = LlmServer::new(Duration::ZERO, move |asked| match status {
        200 => good(asked),
        _ => Reply::error(status, "no"),
    });
    let ran = place(&server.base_url()).run(&["doctor"]).exits(code);
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    assert!(!ran.stdout.contains("sk-or-v1-wrong"), "{}", ran.stdout);
}
