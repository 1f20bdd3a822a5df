//! Tests of imports over HTTP: the memories that a script sends go to its own workspace, as copies, and tell nothing of
//! any other.

use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::{Script, document, script};
use super::{Daemon, TIMEOUT, audited, place_with_all_tools, token};
use crate::support::Place;

async fn import(script: &Script<'_>, lines: String) -> (StatusCode, Value) {
    let request = script.request(Method::POST, "/import").header("content-type", "application/x-ndjson");
    document(request.body(lines).send().await.unwrap()).await
}

fn lesson(id: &str) -> String {
    let title = format!("Lesson of {id}");
    format!("{}\n", json!({"kind": "memory", "id": id, "title": title, "description": "When", "content": "How"}))
}

async fn export(script: &Script<'_>) -> String {
    script.request(Method::GET, "/export").send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn an_import_goes_to_the_own_workspace_and_the_same_import_again_is_skipped() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    red.record("Take locks in one order").await;
    red.record("Measure before you tune").await;
    let exported = export(&red).await;
    let (status, again) = import(&red, exported.clone()).await;
    assert_eq!((status, &again["imported"]["memories"], &again["skipped"]), (StatusCode::OK, &json!(0), &json!(2)));

    let arguments = ["blue", "--permissions", "read,write", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &arguments) };
    let (status, imported) = import(&blue, exported.clone()).await;
    assert_eq!((status, &imported["imported"]["memories"]), (StatusCode::OK, &json!(2)), "{imported}");
    assert!(imported["notes"][0].as_str().unwrap().starts_with("nobody vouches for the file: its"), "{imported}");
    let (_, found) = blue.send(Method::POST, "/memories/search", Some(json!({"query": "order of locks"}))).await;
    assert_eq!(found["memories"][0]["title"], "Take locks in one order", "{found}");
    let (_, again) = import(&blue, exported.clone()).await;
    assert_eq!((&again["imported"]["memories"], &again["skipped"]), (&json!(0), &json!(2)), "{again}");
    assert_eq!(export(&red).await, exported);
}

#[tokio::test]
async fn the_files_of_a_bank_in_an_export_keep_no_memory_from_being_imported() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    red.record("Take locks in one order").await;
    let (status, begun) = red.send(Method::POST, "/banks/activate", Some(json!({"conversation_type": "coding"}))).await;
    assert_eq!(status, StatusCode::OK, "{begun}");
    let exported = export(&red).await;
    assert!(exported.contains(r#""kind":"bank_file""#), "{exported}");
    let arguments = ["blue", "--permissions", "read,write", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &arguments) };
    let (status, imported) = import(&blue, exported).await;
    assert_eq!((status, &imported["imported"]["memories"]), (StatusCode::OK, &json!(1)), "{imported}");
    assert!(imported["notes"].to_string().contains("memory banks were not taken"), "{imported}");
}

#[tokio::test]
async fn an_import_tells_nothing_of_ids_that_others_have() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let known = red.record("Take locks in one order").await;
    let arguments = ["blue", "--permissions", "read,write", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &arguments) };
    let unknown = "0198f1a2-0000-7000-8000-000000000001";
    let (of_known, of_unknown) = (import(&blue, lesson(&known)).await, import(&blue, lesson(unknown)).await);
    assert_eq!(of_known, of_unknown);
    assert_eq!(of_known.1["imported"]["memories"], 1, "{}", of_known.1);
    let exported = export(&blue).await;
    let lines: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["id"] != *known && line["id"] != *unknown), "{exported}");
}

#[tokio::test]
async fn an_import_writes_nothing_that_the_whole_team_reads() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let mut line: Value = serde_json::from_str(&lesson("0198f1a2-0000-7000-8000-000000000001")).unwrap();
    (line["scope"], line["team"]) = (json!("team"), json!("red"));
    let (status, imported) = import(&red, line.to_string()).await;
    assert_eq!((status, &imported["left_out"]["memories"]), (StatusCode::OK, &json!(1)), "{imported}");
    assert!(imported["notes"][0].as_str().unwrap().contains("for the team \"red\""), "{imported}");
    assert_eq!(export(&red).await, "");
}

#[tokio::test]
async fn an_import_is_refused_whole_and_says_which_line_is_wrong() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let right = lesson("0198f1a2-0000-7000-8000-000000000001");
    let (status, refused) = import(&red, format!("{right}{{\"kind\":\"memory\"}}\n")).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("invalid_argument")));
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("line 2") && message.contains("id"), "{message}");
    assert_eq!(export(&red).await, "");

    let reader =
        Script { daemon: &daemon, token: token(&place, &["reader", "--permissions", "read", "--key", "shop"]) };
    assert_eq!(import(&reader, right.clone()).await.0, StatusCode::FORBIDDEN);
    assert_eq!(outcomes_of(&place, "reader").await, ["permission_denied"]);
    // The file is larger than what other routes hold in memory.
    let (status, imported) = import(&red, format!("{}{right}", "\n".repeat(9 << 20))).await;
    assert_eq!((status, &imported["imported"]["memories"]), (StatusCode::OK, &json!(1)), "{imported}");
}

/// The outcomes of the imports of an owner, as the audit log has them once there is one.
async fn outcomes_of(place: &Place, owner: &str) -> Vec<String> {
    let began = Instant::now();
    loop {
        let lines = audited(place).into_iter().filter(|line| line["action"] == "import" && line["owner"] == owner);
        let outcomes: Vec<String> = lines.map(|line| line["outcome"].as_str().unwrap().to_owned()).collect();
        if !outcomes.is_empty() {
            return outcomes;
        }
        assert!(began.elapsed() < 2 * TIMEOUT, "the audit log names no import of {owner}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_whose_client_goes_away_is_written_whole_and_noted() {
    // The store takes so many at once that these are several parts.
    const LESSONS: usize = 600;
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let lessons: String = (1..=LESSONS).map(|n| lesson(&uuid::Uuid::from_u128(n as u128).to_string())).collect();
    let request = red.request(Method::POST, "/import").header("content-type", "application/x-ndjson").body(lessons);
    let importing = tokio::spawn(request.send());
    let began = Instant::now();
    loop {
        let (_, page) = red.send(Method::GET, "/memories?limit=1", None).await;
        if page["memories"].as_array().is_some_and(|memories| !memories.is_empty()) {
            break;
        }
        assert!(began.elapsed() < 2 * TIMEOUT, "nothing is written: {page}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    importing.abort();
    assert_eq!(outcomes_of(&place, "script").await, ["ok"]);
    let (_, counted) = red.send(Method::GET, "/workspaces/shop", None).await;
    assert_eq!(counted["memories"], LESSONS, "{counted}");
}

#[tokio::test]
async fn an_import_takes_no_key_and_lines_of_json_alone() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let line = lesson("0198f1a2-0000-7000-8000-000000000001");
    for (name, value, status) in [
        ("idempotency-key", "one", StatusCode::BAD_REQUEST),
        ("content-type", "text/html", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("content-type", "application/json", StatusCode::UNSUPPORTED_MEDIA_TYPE),
    ] {
        let request = red.request(Method::POST, "/import").header(name, value);
        let request =
            if name == "content-type" { request } else { request.header("content-type", "application/x-ndjson") };
        let (got, refused) = document(request.body(line.clone()).send().await.unwrap()).await;
        assert_eq!((got, &refused["error"]["code"]), (status, &json!("invalid_argument")), "{refused}");
    }
    assert_eq!(export(&red).await, "");
    let empty = red.request(Method::POST, "/import").send().await.unwrap();
    assert_eq!(empty.status(), StatusCode::OK, "nothing has no type");
    let request = red.request(Method::POST, "/import").header("content-type", "application/x-ndjson; charset=utf-8");
    assert_eq!(request.body(line).send().await.unwrap().status(), StatusCode::OK);
}
