//! The limits of one token, and what whoever goes beyond them is told.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::{Daemon, Session, TIMEOUT, token};
use crate::support::Place;

#[tokio::test]
async fn a_token_has_so_many_solves_in_work() {
    let place = Place::new();
    place.write(
        "config/reasoning-bank/config.toml",
        "[llm.simulated]\nlatency_ms = 1000\n[http]\nsolves_per_token = 1\n",
    );
    let [ana, ben] = ["ana", "ben"].map(|name| token(&place, &[name, "--all-workspaces", "--permissions", "solve"]));
    let daemon = Daemon::start(&place, &["--llm", "simulated"]);
    let (ana, ben) = (daemon.session(Some(&ana)).await.on("shop"), daemon.session(Some(&ben)).await.on("shop"));
    let solve = async |session: &Session<'_>, task| session.call("solve_coding_task", json!({"task": task})).await;
    let (first, second, of_ben) =
        tokio::join!(solve(&ana, "sort a list"), solve(&ana, "sort another list"), solve(&ben, "sort a list"));
    let (solved, refused) = if first["code"].is_null() { (first, second) } else { (second, first) };
    assert!(solved["solution"].is_string(), "{solved}");
    assert_eq!((&refused["code"], &refused["retryable"]), (&json!("overloaded"), &json!(true)), "{refused}");
    assert!(of_ben["solution"].is_string(), "others have places of their own: {of_ben}");
}

#[tokio::test]
async fn a_token_that_has_used_its_model_tokens_of_a_day_solves_no_more_at_any_daemon() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[http]\nmodel_tokens_per_day = 1\n");
    let [ana, ben] = ["ana", "ben"].map(|name| token(&place, &[name, "--all-workspaces", "--permissions", "solve"]));
    let solve = async |daemon: &Daemon, token: &str, task: &str| {
        daemon.session(Some(token)).await.on("shop").call("solve_coding_task", json!({"task": task})).await
    };
    let daemon = Daemon::start(&place, &["--llm", "simulated"]);
    let solved = solve(&daemon, &ana, "sort a list").await;
    assert!(solved["solution"].is_string(), "{solved}");
    let other = Daemon::start(&place, &["--llm", "simulated"]);
    for daemon in [&daemon, &other] {
        let refused = solve(daemon, &ana, "sort another list").await;
        assert_eq!(refused["code"], "token_budget_exceeded", "{refused}");
        assert!(refused["retry_after_ms"].as_u64().is_some_and(|wait| wait <= 24 * 60 * 60 * 1_000), "{refused}");
    }
    let solved = solve(&other, &ben, "sort a list").await;
    assert!(solved["solution"].is_string(), "others have tokens of their own: {solved}");
}

#[tokio::test]
async fn the_rate_of_a_token_bounds_whatever_it_asks_of_the_protocol() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--key", "shop"]);
    place.write("config/reasoning-bank/config.toml", "[http]\nrequests_per_second = 3\n");
    let daemon = Daemon::start(&place, &[]);
    let session = daemon.session(Some(&ana)).await.on("shop");
    for (method, params) in [
        ("tools/list", json!({})),
        ("ping", json!({})),
        ("tools/call", json!({"name": "no_such_tool", "arguments": {}})),
        ("no/such", json!({})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}}),
        ),
        ("prompts/list", json!({})),
        ("prompts/get", json!({"name": "p"})),
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "file:///x"})),
        ("resources/templates/list", json!({})),
        ("resources/subscribe", json!({"uri": "file:///x"})),
        ("logging/setLevel", json!({"level": "info"})),
    ] {
        let asked = (0..12).map(|_| session.request(method, params.clone()));
        let answers = futures::future::join_all(asked).await;
        let refused = answers.iter().map(|answer| match method {
            "tools/call" => &answer["result"]["structuredContent"],
            _ => &answer["error"]["data"],
        });
        let refused = refused.filter(|told| told["code"] == "overloaded" && told["retry_after_ms"].is_u64()).count();
        assert!((1..12).contains(&refused), "{method}: {refused} of {answers:?}");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let handshakes = futures::future::join_all((0..12).map(|_| daemon.initialize(Some(&ana)).send())).await;
    let answers: Vec<_> = handshakes.into_iter().map(Result::unwrap).collect();
    let statuses: BTreeSet<u16> = answers.iter().map(|answer| answer.status().as_u16()).collect();
    assert_eq!(statuses, BTreeSet::from([200, 503]));
    let refused = answers.into_iter().find(|answer| answer.status() == 503).unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "overloaded");
}

#[tokio::test]
async fn a_refusal_to_be_tried_again_is_no_error_in_the_log() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--key", "shop"]);
    place.write("config/reasoning-bank/config.toml", "[http]\nrequests_per_second = 1\n");
    let mut daemon = Daemon::start_logged(&place, &["--llm", "none"]);
    let handshakes = futures::future::join_all((0..12).map(|_| daemon.initialize(Some(&ana)).send())).await;
    let refused = handshakes.into_iter().map(Result::unwrap).filter(|answer| answer.status() == 503).count();
    assert!(refused > 0, "the rate is bounded");
    assert_eq!(daemon.terminate(), Some(0));
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert!(!log.contains("ERROR"), "{refused} refusals: {log}");
}

#[tokio::test]
async fn a_token_that_asks_too_often_is_told_when_to_come_again() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[http]\nbehind_proxy = true\nrequests_per_second = 1\n");
    let all = token(&place, &["all", "--all-workspaces", "--permissions", "admin:all"]);
    let daemon = Daemon::start(&place, &[]);
    let asked = (0..20).map(|_| daemon.get("/metrics").bearer_auth(&all).send());
    let answers = futures::future::join_all(asked).await;
    let statuses: BTreeSet<u16> = answers.iter().map(|answer| answer.as_ref().unwrap().status().as_u16()).collect();
    assert_eq!(statuses, BTreeSet::from([200, 429]));
    let refused = answers.into_iter().map(Result::unwrap).find(|answer| answer.status() == 429).unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    let refused: Value = refused.json().await.unwrap();
    let error = &refused["error"];
    assert!(error["retryable"] == true && error["retry_after_ms"].as_u64().is_some_and(|ms| ms <= 1_000), "{refused}");
}

#[tokio::test]
async fn who_sends_imports_slowly_keeps_no_other_token_from_importing() {
    let place = Place::new();
    let [ana, ben] = ["ana", "ben"].map(|name| token(&place, &[name, "--key", "shop"]));
    let daemon = Daemon::start(&place, &[]);
    let address = daemon.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let lesson = json!({"kind": "memory", "id": "0198f1a2-0000-7000-8000-000000000001", "title": "t", "description": "d", "content": "c"});
    let import = async |token: &str| {
        let url = daemon.url.replace("/mcp", "/api/v1/import");
        let request = daemon.http.post(url).bearer_auth(token).header("content-type", "application/x-ndjson");
        request.body(lesson.to_string()).send().await.unwrap()
    };
    let mut slow = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST /api/v1/import HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {ana}\r\n\
             Content-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\n\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let began = Instant::now();
    let refused = loop {
        let answer = import(&ana).await;
        if answer.status() == 503 {
            break answer;
        }
        assert!(began.elapsed() < TIMEOUT, "its other import arrives: {answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(refused.headers()["retry-after"], "30");
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "overloaded");
    let imported = import(&ben).await;
    assert_eq!(imported.status(), 200, "{:?}", imported.text().await);
}
