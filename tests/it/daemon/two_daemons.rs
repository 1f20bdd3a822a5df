//! Tests of two daemons and a process over stdio on one data directory: a change by one of them reaches all within a
//! second, and one of them does the background work.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Daemon, TIMEOUT, place_with_all_tools, token};
use crate::llm_server::LlmServer;
use crate::mcp_process::McpProcess;
use crate::support::Place;

/// The time after which a change of one process is so for the others.
const SOON: Duration = Duration::from_secs(1);

/// A script with a token for all workspaces, whichever daemon it asks.
struct Script(String);

/// A place whose daemons a test may ask as often as it can, since it asks until something is so.
fn place_without_limit() -> Place {
    let place = place_with_all_tools();
    place.write("config/reasoning-bank/config.toml", "[http]\nrequests_per_second = 0\n");
    place
}

impl Script {
    fn of(place: &Place) -> Self {
        Self(token(place, &["ops", "--permissions", "read,write,admin", "--all-workspaces", "--team", "web"]))
    }

    async fn send(&self, daemon: &Daemon, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let url = daemon.url.replace("/mcp", &format!("/api/v1{path}"));
        let mut request = daemon.http.request(method, url).bearer_auth(&self.0).header("x-workspace", "shop");
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
    }

    async fn record(&self, daemon: &Daemon, title: &str) -> String {
        let lesson =
            json!({"title": title, "description": format!("when {title}"), "content": format!("do {title} slowly")});
        let (status, recorded) = self.send(daemon, Method::POST, "/memories", Some(lesson)).await;
        assert_eq!(status, StatusCode::OK, "{recorded}");
        recorded["id"].as_str().unwrap().to_owned()
    }

    async fn found(&self, daemon: &Daemon, query: &str) -> Vec<String> {
        let asked = json!({"query": query, "min_relevance": 0.0});
        let (status, found) = self.send(daemon, Method::POST, "/memories/search", Some(asked)).await;
        assert_eq!(status, StatusCode::OK, "{found}");
        titles(&found)
    }

    async fn workspaces(&self, daemon: &Daemon) -> Vec<Value> {
        let (status, listed) = self.send(daemon, Method::GET, "/workspaces", None).await;
        assert_eq!(status, StatusCode::OK, "{listed}");
        listed["workspaces"].as_array().unwrap().clone()
    }
}

fn titles(found: &Value) -> Vec<String> {
    let memories = found["memories"].as_array().unwrap_or_else(|| panic!("{found}"));
    memories.iter().map(|memory| memory["title"].as_str().unwrap().to_owned()).collect()
}

fn found_over_stdio(process: &mut McpProcess, query: &str) -> Vec<String> {
    titles(&process.call("retrieve_memories", json!({"query": query, "min_relevance": 0.0})))
}

/// Asks until the answer is as it should be. It has to be so within the time.
#[track_caller]
fn soon_after(changed: Instant, mut holds: impl FnMut() -> bool) {
    while !holds() {
        assert!(changed.elapsed() < SOON, "it is not so after {SOON:?}");
    }
}

#[tokio::test]
async fn a_token_that_is_revoked_opens_no_daemon_any_more() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let daemons = [Daemon::start(&place, &[]), Daemon::start(&place, &[])];
    for daemon in &daemons {
        assert_eq!(daemon.initialize(Some(&ana)).send().await.unwrap().status(), StatusCode::OK);
    }
    let sessions = [daemons[0].session(Some(&ana)).await, daemons[1].session(Some(&ana)).await];
    place.run(&["token", "revoke", "ana"]).ok();
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    for (daemon, session) in daemons.iter().zip(&sessions) {
        assert_eq!(daemon.initialize(Some(&ana)).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
        assert_eq!(session.send(&ping).await.status(), StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_process_records_or_erases_the_others_find_or_find_no_more() {
    let place = place_without_limit();
    let script = Script::of(&place);
    let (here, there) = (Daemon::start(&place, &[]), Daemon::start(&place, &[]));
    let id = script.record(&here, "migrations of the orders table").await;
    script.record(&here, "rollbacks of the orders table").await;
    assert_eq!(script.found(&there, "migrations of the orders table").await.len(), 2);
    let workspace = script.workspaces(&there).await[0]["id"].as_str().unwrap().to_owned();
    let mut stdio = McpProcess::initialized(&place, &["--llm", "none", "--workspace", &workspace]);
    assert_eq!(found_over_stdio(&mut stdio, "migrations of the orders table").len(), 2);

    let (status, erased) = script.send(&here, Method::DELETE, &format!("/memories/{id}"), None).await;
    assert_eq!(status, StatusCode::OK, "{erased}");
    let left = ["rollbacks of the orders table"];
    assert_eq!(script.found(&there, "migrations of the orders table").await, left);
    assert_eq!(found_over_stdio(&mut stdio, "migrations of the orders table"), left);
    let (status, _) = script.send(&there, Method::GET, &format!("/memories/{id}"), None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);

    let again = found_over_stdio(&mut stdio, "deployments");
    assert_eq!(again, left);
    script.record(&there, "deployments on Fridays").await;
    assert!(script.found(&here, "deployments on Fridays").await.contains(&"deployments on Fridays".to_owned()));
    assert!(found_over_stdio(&mut stdio, "deployments").contains(&"deployments on Fridays".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_that_one_process_deletes_is_gone_for_all() {
    let place = place_without_limit();
    let script = Script::of(&place);
    let (here, there) = (Daemon::start(&place, &[]), Daemon::start(&place, &[]));
    script.record(&here, "migrations of the orders table").await;
    assert_eq!(script.found(&there, "orders").await.len(), 1);
    let workspace = script.workspaces(&there).await[0]["id"].as_str().unwrap().to_owned();
    let mut stdio = McpProcess::initialized(&place, &["--llm", "none", "--workspace", &workspace]);
    assert_eq!(found_over_stdio(&mut stdio, "orders").len(), 1);

    let (status, deleted) = script.send(&here, Method::DELETE, "/workspaces/shop", None).await;
    assert_eq!(status, StatusCode::OK, "{deleted}");
    let deleted = Instant::now();
    assert_eq!(script.found(&there, "orders").await, [""; 0]);
    assert_eq!(script.workspaces(&there).await, [Value::Null; 0]);
    soon_after(deleted, || {
        let params = json!({"name": "retrieve_memories", "arguments": {"query": "orders", "min_relevance": 0.0}});
        let answer = stdio.request("tools/call", params);
        answer["result"]["structuredContent"]["code"] == "workspace_unknown"
    });
    script.record(&there, "a new beginning").await;
    assert_eq!(script.found(&here, "orders").await, ["a new beginning"]);
}

const TRANSCRIPT: &str = r#"{"role": "user", "content": "Why does cargo rebuild everything when I switch branches?"}
{"role": "assistant", "content": "Cargo compares modification times, and git sets new ones on checkout."}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn one_daemon_does_the_background_work_and_another_one_takes_over_when_it_is_killed() {
    let server = LlmServer::never_distilling_at_first();
    let place = place_without_limit();
    let script = Script::of(&place);
    // The model that is asked tells which daemon asked.
    let started = ["first", "second"].map(|name| {
        let config = format!(
            "[background]\ndaily_token_cap = 100000\n[llm]\nbase_url = '{}'\nmodels.capture = 'a/{name}'\n",
            server.base_url()
        );
        place.write(&format!("project/{name}.toml"), &config);
        Daemon::start(&place, &["--config", &format!("{name}.toml"), "--llm", "responses"])
    });
    let session = json!({"session_id": "monday", "transcript": TRANSCRIPT, "outcome": "success"});
    let (status, queued) = script.send(&started[0], Method::POST, "/sessions", Some(session)).await;
    assert_eq!(status, StatusCode::OK, "{queued}");
    tokio::task::block_in_place(|| server.wait_for_requests(1));
    let asked_by = |request: usize| server.asked_to("distill")[request].body["model"].as_str().unwrap().to_owned();
    let [first, second] = started;
    let (mut killed, left, other) = match asked_by(0).as_str() {
        "a/first" => (first, second, "a/second"),
        _ => (second, first, "a/first"),
    };
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();

    let path = format!("/jobs/{}", queued["job_id"].as_str().unwrap());
    let begun = Instant::now();
    let job = loop {
        let (_, job) = script.send(&left, Method::GET, &path, None).await;
        if job["state"] == "done" || job["state"] == "failed" {
            break job;
        }
        assert!(begun.elapsed() < TIMEOUT, "{job}");
    };
    assert_eq!((&job["state"], &job["attempts"]), (&json!("done"), &json!(2)), "{job}");
    assert_eq!((server.asked_to("distill").len(), asked_by(1).as_str()), (2, other));
    assert_eq!(script.found(&left, "branches").await, ["Keep a build directory for each branch"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn upkeep_goes_on_when_the_daemon_that_did_it_is_killed() {
    let place = place_without_limit();
    let script = Script::of(&place);
    let operator = token(&place, &["operator", "--all-workspaces", "--permissions", "admin:all"]);
    let (mut killed, left) = (Daemon::start(&place, &[]), Daemon::start(&place, &[]));
    let fragments = async |daemon: &Daemon| -> u64 {
        let stats = daemon.get("/api/v1/stats").bearer_auth(&operator).send().await.unwrap();
        let stats: Value = stats.json().await.unwrap();
        stats["store"]["fragments"].as_u64().unwrap_or_else(|| panic!("{stats}"))
    };
    for number in 0..10 {
        script.record(&killed, &format!("number {number} of what is there before")).await;
    }
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    // Without upkeep every write leaves fragments behind.
    let begun = Instant::now();
    let (mut number, mut before) = (0, fragments(&left).await);
    loop {
        script.record(&left, &format!("number {number} of what comes after the kill")).await;
        let now = fragments(&left).await;
        if now < before {
            break;
        }
        (number, before) = (number + 1, now);
        assert!(begun.elapsed() < TIMEOUT, "{now} fragments after {number} writes");
    }
}
