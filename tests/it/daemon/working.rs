//! Tests of working memory over the network: the routes for scripts, whose tasks belong to the owner of a token.

use reqwest::{Method, StatusCode};
use serde_json::json;

use super::api::{Script, script};
use super::*;

#[tokio::test]
async fn a_script_lives_with_a_task_from_its_beginning_to_its_episode() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let task =
        json!({"description": "Make the importer faster", "plan": [{"id": "profile", "title": "Find the slow part"}]});
    let (status, opened) = red.send(Method::POST, "/working", Some(json!({"task": task}))).await;
    assert_eq!(status, StatusCode::OK, "{opened}");
    let path = format!("/working/{}", opened["task_id"].as_str().unwrap());
    let update = json!({"results": [{"subtask": "profile", "output": "parse()"}], "state": {"completed": ["profile"]}});
    let (status, updated) = red.send(Method::PATCH, &path, Some(update)).await;
    assert_eq!((status, &updated["added"]), (StatusCode::OK, &json!(["result:1"])), "{updated}");
    let with_null = json!({"set": [{"key": "proxy", "value": {"host": null, "retries": 0}}], "note": null});
    let (status, updated) = red.send(Method::PATCH, &path, Some(with_null)).await;
    assert_eq!((status, &updated["added"]), (StatusCode::OK, &json!(["value:2"])), "{updated}");
    let get = Some(json!({"get": ["value:2"]}));
    let (_, read) = red.send(Method::POST, &format!("{path}/context"), get).await;
    assert_eq!(read["entries"][0]["text"], r#"{"host":null,"retries":0}"#, "{read}");
    let (_, resumed) = red.send(Method::POST, "/working", Some(json!({}))).await;
    assert_eq!(resumed["task_id"], opened["task_id"], "{resumed}");

    // Another owner of the same team and workspace knows nothing of a task that is open.
    let rights = ["--permissions", "read,write", "--key", "shop", "--team", "red"];
    let other =
        Script { daemon: &daemon, token: token(&place, &[&["other", "--owner", "other"], rights.as_slice()].concat()) };
    let context = format!("{path}/context");
    for (method, path, body) in [
        (Method::PATCH, path.clone(), json!({"note": "mine now"})),
        (Method::POST, context.clone(), json!({})),
        (Method::POST, format!("{path}/close"), json!({})),
    ] {
        let (status, refused) = other.send(method, &path, Some(body)).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}: {refused}");
    }
    let (status, none) = other.send(Method::POST, "/working", Some(json!({}))).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{none}");

    let (status, closed) = red.send(Method::POST, &format!("{path}/close"), Some(json!({"status": "SUCCESS"}))).await;
    assert_eq!((status, &closed["episode_id"]), (StatusCode::OK, &opened["task_id"]), "{closed}");
    // Its episode belongs to the workspace.
    let (status, read) = other.send(Method::POST, &context, Some(json!({"get": ["result:1"]}))).await;
    assert_eq!((status, &read["entries"][0]["text"]), (StatusCode::OK, &json!("parse()")), "{read}");
    let blind = ["blind", "--permissions", "write", "--key", "shop", "--team", "red"];
    let blind = Script { daemon: &daemon, token: token(&place, &blind) };
    let (status, refused) = blind.send(Method::POST, &context, Some(json!({"get": ["result:1"]}))).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "who may not read episodes does not read this one: {refused}");
}
