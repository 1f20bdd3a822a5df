//! Tests of episodes over the network: the routes for scripts, and the permissions that they need.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::{Script, script};
use super::*;

fn episode(task: &str) -> Value {
    json!({"task": {"original_input": task}, "outcome": {"status": "FAILURE"},
           "reflection": {"failures_analyzed": [{"error": "KeyError: 'user'", "resolution": "use get"}]}})
}

#[tokio::test]
async fn a_script_lives_with_an_episode_from_its_record_to_its_end() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let script = script(&daemon, &place, "read,write,admin");
    let (status, recorded) = script.send(Method::POST, "/episodes", Some(episode("Fix the session loader"))).await;
    assert_eq!((status, &recorded["created"]), (StatusCode::OK, &json!(true)), "{recorded}");
    let id = recorded["episode_id"].as_str().unwrap().to_owned();
    let (_, again) = script.send(Method::POST, "/episodes", Some(episode("Fix the session loader"))).await;
    assert_eq!((&again["episode_id"], &again["created"]), (&json!(id), &json!(false)), "one owner, one episode");
    assert_eq!(again.get("notes"), None, "{again}");
    let mut more = episode("Fix the session loader");
    more["reflection"]["insights"] = json!(["Ask for the key first"]);
    more["artefacts"] = json!([{"name": "loader.log", "text": "KeyError"}]);
    let (_, again) = script.send(Method::POST, "/episodes", Some(more)).await;
    assert_eq!(again["episode_id"], json!(id), "{again}");
    assert!(again["notes"][0].as_str().unwrap().contains("without what is new: 1 artefact and 1 insight;"), "{again}");

    let query = json!({"strategy": "failure", "query": "KeyError: 'id'"});
    let (_, found) = script.send(Method::POST, "/episodes/search", Some(query.clone())).await;
    assert_eq!(
        (&found["hits"][0]["episode_id"], &found["hits"][0]["failure"]["resolution"]),
        (&json!(id), &json!("use get"))
    );
    let path = format!("/episodes/{id}");
    let (_, read) = script.send(Method::GET, &path, None).await;
    assert_eq!((&read["outcome"]["status"], &read["source"]), (&json!("FAILURE"), &json!("reported")));
    let (_, listed) = script.send(Method::GET, "/episodes?status=FAILURE&limit=1", None).await;
    assert_eq!(listed["episodes"].as_array().map(Vec::len), Some(1), "{listed}");

    let (_, archived) = script.send(Method::POST, &format!("{path}/archive"), Some(json!({}))).await;
    assert_eq!(archived["archived"], true);
    let (_, found) = script.send(Method::POST, "/episodes/search", Some(query)).await;
    assert_eq!(found["hits"], json!([]));
    let (_, restored) = script.send(Method::POST, &format!("{path}/restore"), Some(json!({}))).await;
    assert_eq!(restored["phase"], "active");
    let (_, deleted) = script.send(Method::DELETE, &path, None).await;
    assert!(deleted["restorable_until"].is_string(), "{deleted}");
    let (status, _) = script.send(Method::GET, &path, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, purged) = script.send(Method::POST, "/episodes/purge", Some(json!({"all": true}))).await;
    assert_eq!(purged, json!({"purged": 1, "left": 0}));
    let (status, _) = script.send(Method::POST, &format!("{path}/restore"), Some(json!({}))).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn permissions_say_what_may_be_done_with_episodes() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let writer = script(&daemon, &place, "read,write");
    let (_, recorded) = writer.send(Method::POST, "/episodes", Some(episode("Fix the loader"))).await;
    let path = format!("/episodes/{}", recorded["episode_id"].as_str().unwrap());
    let reader = Script {
        daemon: &daemon,
        token: token(&place, &["reader", "--permissions", "read", "--key", "shop", "--team", "red"]),
    };
    let refused = async |script: &Script<'_>, method, path: &str, body| {
        let (status, answer) = script.send(method, path, body).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (StatusCode::FORBIDDEN, &json!("permission_denied")),
            "{answer}"
        );
    };
    let (status, _) = reader.send(Method::GET, &path, None).await;
    assert_eq!(status, StatusCode::OK);
    refused(&reader, Method::POST, "/episodes", Some(episode("other"))).await;
    refused(&reader, Method::DELETE, &path, None).await;
    refused(&writer, Method::DELETE, &format!("{path}?now=true"), None).await;
    refused(&writer, Method::POST, "/episodes/purge", Some(json!({}))).await;
    let (status, _) = writer.send(Method::DELETE, &path, None).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn what_was_done_to_an_episode_is_in_the_audit_log_with_its_id_and_the_token() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let script = script(&daemon, &place, "read,write,admin");
    let (_, recorded) = script.send(Method::POST, "/episodes", Some(episode("Fix the session loader"))).await;
    let path = format!("/episodes/{}", recorded["episode_id"].as_str().unwrap());
    for change in ["archive", "restore"] {
        let (status, changed) = script.send(Method::POST, &format!("{path}/{change}"), Some(json!({}))).await;
        assert_eq!(status, StatusCode::OK, "{changed}");
    }
    let task = json!({"task": {"description": "Make the importer faster"}});
    let (_, opened) = script.send(Method::POST, "/working", Some(task)).await;
    // The line of what erases is on the disk before the answer, and those before it are.
    let (status, erased) = script.send(Method::DELETE, &format!("{path}?now=true"), None).await;
    assert_eq!(status, StatusCode::OK, "{erased}");
    let named = json!({"id": script.token.split('_').nth(1), "name": "script"});
    let lines: Vec<Value> = audited(&place).into_iter().filter(|line| line["token"] == named).collect();
    let done: Vec<_> = lines.iter().map(|line| (line["action"].as_str().unwrap(), &line["ids"])).collect();
    let (of_episode, of_task) = (json!([recorded["episode_id"]]), json!([opened["task_id"]]));
    let episode = ["record_episode", "archive_episode", "restore_episode"].map(|action| (action, &of_episode));
    assert_eq!(done, [&episode[..], &[("working_open", &of_task), ("delete_episode", &of_episode)]].concat());
}
