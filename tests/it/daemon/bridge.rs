//! A client over stdio, which `mcp --server` takes to a daemon.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Daemon, token};
use crate::llm_server::{LlmServer, good};
use crate::mcp_process::McpProcess;
use crate::support::{Place, git};

/// Starts `mcp --server` for this daemon, with a token.
fn bridge(place: &Place, url: &str, token: &str, key: &str) -> McpProcess {
    let mut command = place.command(&["mcp", "--server", url, "--key", key]);
    command.env("REASONING_BANK_TOKEN", token);
    McpProcess::spawn(command)
}

#[tokio::test]
async fn a_client_over_stdio_is_taken_to_the_daemon_and_outlives_its_restart() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &[]);
    daemon.session(Some(&ana)).await.on("shop").record("the checkout of the shop").await;
    let mut client = bridge(&place, &daemon.url, &ana, "shop");
    client.initialize();
    let found = client.call("retrieve_memories", json!({"query": "checkout", "min_relevance": 0.0}));
    assert_eq!(found["memories"][0]["title"], "the checkout of the shop", "{found}");

    let address = daemon.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    drop(daemon);
    let answer = client.request("tools/list", json!({}));
    let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(message.contains("does not answer"), "{message}");
    let _again = Daemon::start_at(&place, &[], &address);
    let found = client.call("retrieve_memories", json!({"query": "checkout", "min_relevance": 0.0}));
    assert_eq!(found["memories"][0]["title"], "the checkout of the shop", "{found}");
    assert!(client.end().status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_answered_when_the_daemon_or_its_token_ends() {
    let model = LlmServer::new(Duration::from_secs(600), good);
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", &format!("[llm]\nbase_url = '{}'\n", model.base_url()));
    let solver = ["--all-workspaces", "--permissions", "read,solve"];
    let [ana, ben] = ["ana", "ben"].map(|name| token(&place, &[&[name], &solver[..]].concat()));
    let mut daemon = Daemon::start(&place, &["--llm", "chat"]);
    let arguments = json!({"task": "sort a list", "matts_k": 1, "use_memory": false});
    let params = json!({"name": "solve_coding_task", "arguments": arguments});
    let [mut of_ana, mut of_ben] = [&ana, &ben].map(|token| {
        let mut client = bridge(&place, &daemon.url, token, "shop");
        client.initialize();
        client.send(&json!({"id": "solve", "method": "tools/call", "params": params}));
        client
    });
    tokio::task::block_in_place(|| model.wait_for_requests(2));
    place.run(&["token", "revoke", "ben"]).ok();
    let told = |answer: &Value| answer["result"]["structuredContent"]["code"].clone();
    let revoked = answer(&mut of_ben, "solve");
    assert_eq!(told(&revoked), "cancelled", "{revoked}");
    assert_eq!(daemon.terminate(), Some(0));
    let ended = answer(&mut of_ana, "solve");
    assert_eq!(told(&ended), "cancelled", "{ended}");
}

/// Reads the answer to a request, behind the news that come before it.
fn answer(client: &mut McpProcess, id: &str) -> Value {
    loop {
        let read = client.read();
        if read["id"] == id {
            return read;
        }
    }
}

#[tokio::test]
async fn a_client_without_a_valid_token_is_told_so() {
    let place = Place::new();
    token(&place, &["ana", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &[]);
    let mut client = bridge(&place, &daemon.url, "rb_wrong", "shop");
    let answer = client.request("initialize", json!({}));
    let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(message.contains("a valid token is needed") && message.contains("hint: ask whoever"), "{message}");
    let far =
        place.command(&["mcp", "--server", "http://bank.example.org/mcp"]).env("REASONING_BANK_TOKEN", "x").output();
    assert_eq!(far.unwrap().status.code(), Some(2), "no token goes over a network unencrypted");
    let path =
        place.command(&["mcp", "--server", &daemon.url, "--key", "/etc"]).env("REASONING_BANK_TOKEN", "x").output();
    let path = path.unwrap();
    assert_eq!(path.status.code(), Some(2), "a key is no path");
    assert!(String::from_utf8_lossy(&path.stderr).contains("a workspace key is no path"), "{path:?}");
}

#[tokio::test]
async fn a_project_that_the_user_has_linked_needs_no_key_and_its_checkout_has_no_say() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &[]);
    daemon.session(Some(&ana)).await.on("git:example.org/acme/shop").record("the checkout of the shop").await;
    let project = place.path("shop");
    std::fs::create_dir(&project).unwrap();
    git(&project, &["init", "--quiet"]);
    git(&project, &["remote", "add", "origin", "https://ana@example.org/acme/shop.git"]);
    let client = || {
        let mut command = place.command(&["mcp", "--server", &daemon.url]);
        command.env("REASONING_BANK_TOKEN", &ana).current_dir(&project);
        let mut client = McpProcess::spawn(command);
        client.initialize();
        client
    };
    let query = json!({"query": "checkout", "min_relevance": 0.0});
    let search = || client().call("retrieve_memories", query.clone());
    let refused = || client().call_failing("retrieve_memories", query.clone());
    let unlinked = refused();
    assert_eq!(unlinked["code"], "workspace_required");
    let hint = unlinked["hint"].as_str().unwrap();
    assert!(hint.contains("reasoning-bank workspace link PATH") && hint.contains("--key KEY"), "{hint}");
    let path = project.to_str().unwrap();
    let asked = place.run(&["workspace", "link", path]).exits(2);
    assert!(asked.stderr.contains("git:example.org/acme/shop"), "{}", asked.stderr);
    let linked = place.document(&["workspace", "link", path, "--yes"]);
    assert_eq!(linked["key"], "git:example.org/acme/shop");
    assert_eq!(search()["memories"][0]["title"], "the checkout of the shop");
    // Another remote changes nothing until the user says so.
    git(&project, &["remote", "set-url", "origin", "https://example.org/acme/bank.git"]);
    assert_eq!(search()["memories"][0]["title"], "the checkout of the shop");
    place.document(&["workspace", "link", path, "bank"]);
    assert_eq!(search()["memories"], json!([]));
    place.document(&["workspace", "link", path, "--remove"]);
    assert_eq!(refused()["code"], "workspace_required");
}
