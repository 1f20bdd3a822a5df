//! The pages of lists.

use std::collections::BTreeSet;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::{Script, document};
use super::*;

/// Sends a request to a workspace, or to none.
async fn ask(of: &Script<'_>, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
    let request = of.daemon.http.request(method, of.daemon.url.replace("/mcp", &format!("/api/v1{path}")));
    document(request.bearer_auth(&of.token).json(&body).send().await.unwrap()).await
}

/// Reads a list in pages of two, and returns the ids on it.
async fn in_pages(of: &Script<'_>, path: &str, items: &str, id: &str) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let joined = if path.contains('?') { '&' } else { '?' };
        let (status, page) = ask(of, Method::GET, &format!("{path}{joined}limit=2{after}"), None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {page}");
        let found = page[items].as_array().unwrap();
        ids.extend(found.iter().map(|item| item[id].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        assert_eq!((found.len(), ids.last().map(String::as_str)), (2, Some(next)), "{path}: {page}");
        after = format!("&after={next}");
    }
    ids
}

#[tokio::test]
async fn every_list_is_read_page_by_page() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let rights = ["--permissions", "read,write,admin", "--all-workspaces", "--team", "red"];
    let admin = Script { daemon: &daemon, token: token(&place, &[&["admin"], rights.as_slice()].concat()) };
    for name in ["a", "b"] {
        token(&place, &[&[name], rights.as_slice()].concat());
    }
    for key in ["shop", "bank", "farm"] {
        let lesson = json!({"title": "Sort locks", "description": "A lock waits.", "content": key, "workspace": key});
        let (status, made) = ask(&admin, Method::POST, "/memories", Some(lesson)).await;
        assert_eq!(status, StatusCode::OK, "{made}");
        let (status, run) =
            ask(&admin, Method::POST, "/consolidations?workspace=shop", Some(json!({"apply": true}))).await;
        assert_eq!(status, StatusCode::OK, "{run}");
    }
    for (path, items, id) in [
        ("/workspaces", "workspaces", "id"),
        ("/tokens", "tokens", "id"),
        ("/consolidations?workspace=shop", "runs", "run_id"),
    ] {
        let (_, whole) = ask(&admin, Method::GET, path, None).await;
        let whole: Vec<&str> = whole[items].as_array().unwrap().iter().map(|item| item[id].as_str().unwrap()).collect();
        assert_eq!(whole.iter().collect::<BTreeSet<_>>().len(), 3, "{path}: {whole:?}");
        assert_eq!(in_pages(&admin, path, items, id).await, whole, "{path}");
    }
}

#[tokio::test]
async fn a_page_that_cannot_be_is_refused() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let rights = ["admin", "--permissions", "read,write,admin", "--key", "shop", "--team", "red"];
    let admin = Script { daemon: &daemon, token: token(&place, &rights) };
    for path in ["/workspaces", "/tokens", "/consolidations"] {
        for (query, status) in [("limit=0", 422), ("limit=501", 422), ("limit=two", 422), ("after=no", 422)] {
            let (got, refused) = ask(&admin, Method::GET, &format!("{path}?{query}"), None).await;
            assert_eq!(
                (got.as_u16(), &refused["error"]["code"]),
                (status, &json!("invalid_argument")),
                "{path}?{query}: {refused}"
            );
        }
    }
    let strange = "/tokens?after=01890000-0000-7000-8000-000000000000";
    let (_, refused) = ask(&admin, Method::GET, strange, None).await;
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("the `next` of the page before") && !said.contains("rb_"), "{refused}");
    // No page may pass for the last one.
    for path in ["/workspaces?after=0123456789abcdef", "/tokens?after=0123456789ab"] {
        let (got, refused) = ask(&admin, Method::GET, path, None).await;
        assert_eq!((got, &refused["error"]["code"]), (StatusCode::NOT_FOUND, &json!("not_found")), "{refused}");
    }
}
