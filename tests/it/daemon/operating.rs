//! A daemon under a service manager: what it tells it, and how it takes over a new configuration.

use std::os::unix::net::UnixDatagram;
use std::process::Stdio;
use std::time::Instant;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use super::{Daemon, TIMEOUT, audited, message, token};
use crate::support::Place;

/// The end of the service manager.
struct Manager(UnixDatagram);

impl Manager {
    /// The next message. Lines that differ from run to run are left out.
    #[track_caller]
    fn told(&self) -> String {
        let mut message = [0; 256];
        let bytes = self.0.recv(&mut message).unwrap();
        let text = std::str::from_utf8(&message[..bytes]).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with("MONOTONIC_USEC="));
        lines.collect::<Vec<_>>().join("\n")
    }
}

const CONFIG: &str = "config/reasoning-bank/config.toml";

fn started(place: &Place) -> (Daemon, Manager) {
    let socket = UnixDatagram::bind(place.path("notify.sock")).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut command = place.command(&["--llm", "none", "serve", "--listen", "127.0.0.1:0"]);
    command.env("NOTIFY_SOCKET", place.path("notify.sock")).stderr(Stdio::null());
    (Daemon::of(&mut command), Manager(socket))
}

fn log(place: &Place) -> String {
    std::fs::read_to_string(place.path("log")).unwrap()
}

#[tokio::test]
async fn a_reload_takes_over_what_it_can_names_the_rest_and_ignores_what_is_not_valid() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let logged = |rest: &str| format!("[log]\nfile = {:?}\n{rest}", place.path("log").to_str().unwrap());
    place.write(CONFIG, &logged("level = \"warn\"\n"));
    let (mut daemon, manager) = started(&place);
    assert_eq!(manager.told(), "READY=1");
    let session = daemon.session(Some(&ana)).await.on("shop");
    session.record("quiet").await;
    assert_eq!(log(&place), "");

    let new = "level = \"debug\"\n[agent]\nconcurrency = 3\n[llm]\nmodel = \"a/b\"\napi_key = \"sk-or-v1-0123456789abcdef\"\n";
    place.write(CONFIG, &logged(new));
    daemon.signal("-HUP");
    assert_eq!([manager.told(), manager.told()], ["RELOADING=1", "READY=1"]);
    let said = log(&place);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("agent.concurrency") && said.contains("llm.model"), "{said}");
    assert!(!said.contains("log.level") && !said.contains("sk-or"), "{said}");
    session.record("loud").await;
    assert!(log(&place).contains("DEBUG"), "{}", log(&place));

    let lines = log(&place).lines().count();
    place.write(CONFIG, &logged("level = \"warn\"\n[agent]\nconcurrency = 0\n[http]\nlisten = 7\n"));
    daemon.signal("-HUP");
    assert_eq!([manager.told(), manager.told()], ["RELOADING=1", "READY=1"]);
    let said = log(&place);
    let errors: Vec<&str> = said.lines().skip(lines).filter(|line| line.contains("ERROR")).collect();
    assert!(matches!(&*errors, [one] if one.contains("agent.concurrency") && one.contains("http.listen")), "{said}");
    let lines = said.lines().count();
    session.record("still loud").await;
    assert!(log(&place).lines().skip(lines).any(|line| line.contains("DEBUG")), "the level stays");

    daemon.signal("-TERM");
    assert_eq!(manager.told(), "STOPPING=1");
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn limits_of_tokens_are_taken_over_by_a_reload() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let (daemon, manager) = started(&place);
    assert_eq!(manager.told(), "READY=1");
    let session = daemon.session(Some(&ana)).await.on("shop");
    let overloaded = async || {
        let calls = (0..20).map(async |id| {
            let params = json!({"name": "retrieve_memories", "arguments": {"query": "anything"}});
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            message(session.send(&call).await).await["result"]["structuredContent"].clone()
        });
        let answers = futures::future::join_all(calls).await;
        answers.iter().filter(|answer| answer["code"] == "overloaded" && answer["retry_after_ms"].is_u64()).count()
    };
    place.write(CONFIG, "[http]\nrequests_per_second = 1\n");
    daemon.signal("-HUP");
    assert_eq!([manager.told(), manager.told()], ["RELOADING=1", "READY=1"]);
    assert!(overloaded().await > 0);
    let text = daemon.get("/metrics").send().await.unwrap().text().await.unwrap();
    assert!(text.contains(r#"reasoning_bank_admission_refused_total{reason="rate"}"#), "{text}");
}

#[tokio::test]
async fn a_daemon_that_waits_for_what_is_in_work_says_so_to_whoever_comes_meanwhile() {
    let place = Place::new();
    place.write(CONFIG, "[llm.simulated]\nlatency_ms = 60000\n");
    let ana = token(&place, &["ana", "--key", "shop", "--permissions", "solve"]);
    let mut daemon = Daemon::start(&place, &["--llm", "simulated"]);
    let solve = daemon.http.post(daemon.url.replace("/mcp", "/api/v1/solve")).bearer_auth(&ana);
    let mut solving = solve.json(&json!({"task": "sort a list"})).send().await.unwrap();
    solving.chunk().await.unwrap().expect("a stream that begins");
    daemon.signal("-TERM");
    let others = Client::builder().timeout(TIMEOUT).pool_max_idle_per_host(0).no_proxy().build().unwrap();
    let (ready, signalled) = (daemon.url.replace("/mcp", "/readyz"), Instant::now());
    let unready = loop {
        // The signal comes in its own time. A connection that was made just before is closed.
        match others.get(&ready).send().await {
            Ok(answer) if answer.status() == StatusCode::SERVICE_UNAVAILABLE => break answer,
            other => assert!(signalled.elapsed() < TIMEOUT, "{other:?}"),
        }
    };
    assert_eq!(unready.json::<Value>().await.unwrap(), json!({"status": "unready", "reasons": ["draining"]}));
    for request in [daemon.initialize(Some(&ana)), daemon.get("/api/v1/memories")] {
        let refused = others.execute(request.build().unwrap()).await.unwrap();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.headers().contains_key("retry-after") && refused.headers().contains_key("x-request-id"));
        assert_eq!(refused.json::<Value>().await.unwrap()["error"]["message"], "the server ends");
    }
    drop(solving);
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_daemon_that_ends_waits_for_a_call_whose_client_has_left() {
    let place = Place::new();
    place.write(CONFIG, "[llm.simulated]\nlatency_ms = 150\n");
    let ana = token(&place, &["ana", "--key", "shop", "--permissions", "solve"]);
    let mut daemon = Daemon::start(&place, &["--llm", "simulated"]);
    let session = daemon.session(Some(&ana)).await.on("shop");
    let params = json!({
        "name": "solve_coding_task", "arguments": {"task": "sort a list"}, "_meta": {"progressToken": "p"},
    });
    let mut solving = session.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    // The first event of a stream may come before its call is in work.
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("notifications/progress") {
        said.extend(solving.chunk().await.unwrap().expect("a stream that tells progress"));
    }
    drop((solving, session));
    assert_eq!(daemon.terminate(), Some(0));
    let solved = audited(&place).into_iter().find(|line| line["action"] == "solve_coding_task");
    assert_eq!(solved.unwrap()["outcome"], "ok");
}
