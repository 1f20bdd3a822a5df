//! Answers that are streams, and whose token or daemon ends in their middle. No part of one passes for the whole.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::api::{Script, document, script};
use super::{Daemon, TIMEOUT, place_with_all_tools, token};
use crate::support::Place;

const TRACES: usize = 80;
/// The length of the task of each trace: all of them are more than what waits in the buffers of a connection.
const TASK_BYTES: usize = 100_000;

/// The lines of traces, which no model looks at.
fn traces() -> String {
    let line = |n: usize| {
        let id = uuid::Uuid::from_u128(n as u128 + 1).to_string();
        let metadata = json!({"model": "m", "reasoning_effort": "low", "matts_enabled": false, "matts_k": 1,
            "matts_mode": "parallel", "total_iterations": 1, "total_tokens": 1, "workspace_id": "00000000000000aa"});
        json!({"kind": "trace", "trace_id": id, "task": format!("{n} {}", "word ".repeat(TASK_BYTES / 5)),
            "trajectory": [], "outcome": "partial", "final_score": null, "verdict_source": "judge", "memory_items": [],
            "memories_used": [], "metadata": metadata, "created_at": "2026-01-01T00:00:00Z"})
    };
    (0..TRACES).map(|n| format!("{}\n", line(n))).collect()
}

async fn with_traces<'a>(daemon: &'a Daemon, place: &Place) -> Script<'a> {
    let red = script(daemon, place, "read,write");
    let request = red.request(Method::POST, "/import").header("content-type", "application/x-ndjson");
    let (status, imported) = document(request.body(traces()).send().await.unwrap()).await;
    assert_eq!((status, &imported["imported"]["traces"]), (StatusCode::OK, &json!(TRACES)), "{imported}");
    red
}

/// Begins an export, and reads nothing of it for a moment.
async fn begin_export(script: &Script<'_>) -> TcpStream {
    let address = script.daemon.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let (host, token) = (address, &script.token);
    let head = format!(
        "GET /api/v1/export HTTP/1.1\r\nHost: {host}\r\nX-Workspace: shop\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    stream
}

/// Reads the rest of an answer in parts, and says whether it has its end.
async fn is_whole(mut stream: TcpStream) -> bool {
    let mut said = Vec::new();
    while !said.ends_with(b"\r\n0\r\n\r\n") {
        match tokio::time::timeout(TIMEOUT, stream.read_buf(&mut said)).await.unwrap() {
            Ok(0) | Err(_) => {
                assert!(said.starts_with(b"HTTP/1.1 200"), "{:.300}", String::from_utf8_lossy(&said));
                return false;
            }
            Ok(_) => {}
        }
    }
    assert!(said.len() > TRACES * TASK_BYTES, "{}", said.len());
    true
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_whose_token_is_revoked_in_its_middle_has_no_end() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = with_traces(&daemon, &place).await;
    assert!(is_whole(begin_export(&red).await).await);
    let export = begin_export(&red).await;
    place.run(&["token", "revoke", "script"]).ok();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!is_whole(export).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_goes_on_while_a_daemon_ends_and_has_no_end_where_it_is_cut() {
    let place = place_with_all_tools();
    let mut daemon = Daemon::start(&place, &[]);
    let red = with_traces(&daemon, &place).await;
    let [read_on, not_read] = [begin_export(&red).await, begin_export(&red).await];
    daemon.signal("-TERM");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(is_whole(read_on).await, "what is in work may end");
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
    assert!(!is_whole(not_read).await);
}

/// The name and the document of the last event of a stream, which has an end.
async fn last_event(answer: reqwest::Response) -> (String, Value) {
    // A stream that was cut is an error here.
    let stream = answer.text().await.unwrap();
    let last = stream.split_terminator("\n\n").filter_map(|event| event.strip_prefix("event: ")).last();
    let (name, data) = last.unwrap_or_else(|| panic!("{stream}")).split_once("\ndata: ").unwrap();
    (name.to_owned(), serde_json::from_str(data).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solve_that_is_cancelled_says_so_in_its_last_event() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[llm.simulated]\nlatency_ms = 60000\n");
    let revoked = token(&place, &["revoked", "--key", "shop", "--permissions", "solve"]);
    let stays = token(&place, &["stays", "--key", "shop", "--permissions", "solve"]);
    let mut daemon = Daemon::start(&place, &["--llm", "simulated"]);
    let begun = async |token: &str| {
        let solve = daemon.http.post(daemon.url.replace("/mcp", "/api/v1/solve")).bearer_auth(token);
        let answer = solve.json(&json!({"task": "sort a list"})).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        answer
    };
    let (of_revoked, of_daemon) = (begun(&revoked).await, begun(&stays).await);
    place.run(&["token", "revoke", "revoked"]).ok();
    let (name, error) = last_event(of_revoked).await;
    assert_eq!((&*name, error["message"].is_string(), error["hint"].is_string()), ("error", true, true), "{error}");
    assert!(matches!(error["code"].as_str(), Some("unauthenticated" | "cancelled")), "{error}");
    daemon.signal("-TERM");
    let (name, error) = last_event(of_daemon).await;
    assert_eq!((&*name, &error["code"]), ("error", &json!("cancelled")), "{error}");
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
}
