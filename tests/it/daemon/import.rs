//! Tests of imports over HTTP: the memories that a script sends go to its own workspace, as copies, and tell nothing of
//! any other.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::{Script, document, script};
use super::{Daemon, place_with_all_tools, token};

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
    // The file is larger than what other routes hold in memory.
    let (status, imported) = import(&red, format!("{}{right}", "\n".repeat(9 << 20))).await;
    assert_eq!((status, &imported["imported"]["memories"]), (StatusCode::OK, &json!(1)), "{imported}");
}
