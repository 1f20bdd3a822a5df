//! The routes for scripts.

use std::collections::BTreeSet;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::*;
use crate::llm_server::LlmServer;

/// A script with a token that may do everything in one workspace.
pub(super) struct Script<'a> {
    pub(super) daemon: &'a Daemon,
    pub(super) token: String,
}

impl Script<'_> {
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = self.daemon.url.replace("/mcp", &format!("/api/v1{path}"));
        self.daemon.http.request(method, url).bearer_auth(&self.token).header("x-workspace", "shop")
    }

    pub(super) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let request = self.request(method, path);
        let answer = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        document(answer.send().await.unwrap()).await
    }

    pub(super) async fn record(&self, title: &str) -> String {
        let lesson =
            json!({"title": title, "description": "When a lock waits.", "content": format!("{title}, and say so.")});
        let (status, recorded) = self.send(Method::POST, "/memories", Some(lesson)).await;
        assert_eq!(status, StatusCode::OK, "{recorded}");
        recorded["id"].as_str().unwrap().to_owned()
    }
}

pub(super) async fn document(answer: Response) -> (StatusCode, Value) {
    let status = answer.status();
    (status, serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default())
}

pub(super) fn script<'a>(daemon: &'a Daemon, place: &Place, permissions: &str) -> Script<'a> {
    let arguments = ["script", "--permissions", permissions, "--key", "shop", "--team", "red"];
    Script { daemon, token: token(place, &arguments) }
}

#[tokio::test]
async fn a_script_lives_with_a_memory_from_its_record_to_its_end() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let script = script(&daemon, &place, "read,write,admin");
    let id = script.record("Take locks in one order").await;
    let (_, found) = script.send(Method::POST, "/memories/search", Some(json!({"query": "order of locks"}))).await;
    assert_eq!(found["memories"][0]["id"], *id);
    let path = format!("/memories/{id}");
    let read = script.request(Method::GET, &path).send().await.unwrap();
    let tag = read.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(tag, "\"1\"");
    assert!(read.headers().contains_key("content-length"), "{:?}", read.headers());
    let same = script.request(Method::GET, &path).header("if-none-match", &tag).send().await.unwrap();
    assert_eq!(same.status(), StatusCode::NOT_MODIFIED);

    let change = json!({"title": "Take locks in the order of their names"});
    let (status, refused) = script.send(Method::PATCH, &path, Some(change.clone())).await;
    assert_eq!(status, StatusCode::PRECONDITION_REQUIRED, "{refused}");
    let changed = script.request(Method::PATCH, &path).header("if-match", &tag).json(&change).send().await.unwrap();
    assert_eq!((changed.status(), changed.headers()["etag"].to_str().unwrap()), (StatusCode::OK, "\"2\""));
    let stale = script.request(Method::PATCH, &path).header("if-match", &tag).json(&change).send().await.unwrap();
    let (status, stale) = document(stale).await;
    assert_eq!((status, &stale["error"]["code"]), (StatusCode::PRECONDITION_FAILED, &json!("conflict")));

    for (tags, status) in
        [("\"abc\"", 412), ("W/\"2\"", 412), ("\"1\", \"9\"", 412), ("2", 400), ("\"1\", \"2\"", 200), ("*", 200)]
    {
        let change = json!({"title": format!("Take locks in the order of {tags}")});
        let sent = script.request(Method::PATCH, &path).header("if-match", tags).json(&change).send().await.unwrap();
        assert_eq!(sent.status(), status, "{tags}: {:?}", sent.text().await);
    }
    let of_updates = audited(&place).into_iter().filter(|line| line["action"] == "update_memory").count();
    assert_eq!(of_updates, 7, "each request is one call, however many tags it names");
    let any = script.request(Method::GET, &path).header("if-none-match", "*").send().await.unwrap();
    assert_eq!(any.status(), StatusCode::NOT_MODIFIED);
    let (_, family) = script.send(Method::GET, &format!("{path}/genealogy"), None).await;
    assert_eq!(family["memory"]["id"], *id);
    let (status, erased) = script.send(Method::DELETE, &path, None).await;
    assert_eq!(status, StatusCode::OK, "{erased}");
    let (status, gone) = script.send(Method::GET, &path, None).await;
    assert_eq!((status, &gone["error"]["code"]), (StatusCode::NOT_FOUND, &json!("not_found")));
}

#[tokio::test]
async fn lists_come_in_pages_and_a_workspace_can_be_deleted_by_its_key() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let script = script(&daemon, &place, "read,write,admin");
    for title in ["Take locks in one order", "Write tests before code", "Measure before you tune"] {
        script.record(title).await;
    }
    let mut titles = Vec::new();
    let mut path = "/memories?limit=2".to_owned();
    loop {
        let (_, page) = script.send(Method::GET, &path, None).await;
        titles.extend(page["memories"].as_array().unwrap().iter().map(|memory| memory["title"].clone()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/memories?limit=2&after={next}");
    }
    assert_eq!(titles, ["Measure before you tune", "Write tests before code", "Take locks in one order"]);
    let (_, workspaces) = script.send(Method::GET, "/workspaces", None).await;
    assert_eq!(workspaces["workspaces"][0]["key"], "shop");
    let (_, counted) = script.send(Method::GET, "/workspaces/shop", None).await;
    assert_eq!((&counted["key"], &counted["memories"], &counted["traces"]), (&json!("shop"), &json!(3), &json!(0)));
    let (status, deleted) = script.send(Method::DELETE, "/workspaces/shop", None).await;
    assert_eq!(status, StatusCode::OK, "{deleted}");
    let (_, page) = script.send(Method::GET, "/memories", None).await;
    assert_eq!(page["memories"], json!([]));
    let (status, gone) = script.send(Method::GET, "/workspaces/shop", None).await;
    assert_eq!((status, &gone["error"]["code"]), (StatusCode::NOT_FOUND, &json!("workspace_unknown")));
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_said_in_its_status_and_its_document() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let script = script(&daemon, &place, "read");
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    let cases = [
        (Method::GET, "/memories?limit=0".to_owned(), None, 422, "invalid_argument"),
        (Method::GET, "/memories?limit=two".to_owned(), None, 422, "invalid_argument"),
        (Method::GET, "/memories?colour=red".to_owned(), None, 422, "invalid_argument"),
        (Method::GET, "/memories?limit=1&limit=2".to_owned(), None, 400, "invalid_argument"),
        (Method::GET, "/memories/7".to_owned(), None, 422, "invalid_argument"),
        (Method::GET, format!("/memories/{unknown}"), None, 404, "not_found"),
        (Method::GET, "/memories?workspace=bank".to_owned(), None, 403, "scope_denied"),
        (Method::POST, "/memories/search".to_owned(), Some(json!([])), 400, "invalid_argument"),
        (Method::POST, "/memories".to_owned(), Some(json!({})), 403, "permission_denied"),
        (Method::GET, "/stats".to_owned(), None, 403, "permission_denied"),
        (Method::PUT, "/memories".to_owned(), Some(json!({})), 405, "invalid_argument"),
        (Method::GET, "/colours".to_owned(), None, 404, "not_found"),
    ];
    for (method, path, body, status, code) in cases {
        let (got, document) = script.send(method, &path, body).await;
        assert_eq!((got.as_u16(), document["error"]["code"].as_str().unwrap()), (status, code), "{path}: {document}");
    }
    let (_, two) = script.send(Method::GET, "/memories?workspace=bank", None).await;
    assert_eq!(two["error"]["message"], "workspace: names bank, and the request is for the workspace shop");
    let hint = two["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("?workspace=") && hint.contains("X-Workspace") && !hint.contains("session"), "{hint}");
    let (_, query) = script.send(Method::GET, "/export?vectors=maybe", None).await;
    assert_eq!(query["error"]["message"], "the query: vectors: provided string was not `true` or `false`");
    let form = script.request(Method::POST, "/memories/search").body("query=locks").send().await.unwrap();
    assert_eq!(form.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let torn = script.request(Method::POST, "/memories/search").header("content-type", "application/json");
    assert_eq!(torn.body("{").send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    let long = script.request(Method::POST, "/memories/search").json(&json!({"query": "x".repeat(9 << 20)}));
    assert_eq!(long.send().await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    let unmet = script.request(Method::DELETE, &format!("/memories/{unknown}")).header("if-match", "\"1\"");
    assert_eq!(unmet.send().await.unwrap().status(), StatusCode::BAD_REQUEST);
    let nobody = daemon.get("/api/v1/memories").send().await.unwrap();
    assert_eq!(nobody.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_script_of_one_team_finds_nothing_of_another() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write,admin");
    let id = red.record("Take locks in one order").await;
    let arguments = ["blue", "--permissions", "read,write,admin", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &arguments) };
    for (method, path, body) in [
        (Method::GET, format!("/memories/{id}"), None),
        (Method::DELETE, format!("/memories/{id}"), None),
        (Method::GET, format!("/memories/{id}/genealogy"), None),
    ] {
        let (status, answer) = blue.send(method, &path, body).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}: {answer}");
    }
    let (_, page) = blue.send(Method::GET, "/memories", None).await;
    assert_eq!(page["memories"], json!([]));
    let (_, workspaces) = blue.send(Method::GET, "/workspaces", None).await;
    assert_eq!(workspaces["workspaces"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solve_is_a_stream_of_its_progress_and_ends_with_its_report() {
    let model = LlmServer::good();
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", &format!("[llm]\nbase_url = '{}'\n", model.base_url()));
    let daemon = Daemon::start(&place, &["--llm", "chat"]);
    let script = script(&daemon, &place, "solve");
    let task = json!({"task": "Write a binary search.", "matts_k": 3, "use_memory": false});
    let answer = script.request(Method::POST, "/solve").json(&task).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    assert_eq!(answer.headers()["x-accel-buffering"], "no");
    let stream = answer.text().await.unwrap();
    let events: Vec<(&str, Value)> = stream
        .split_terminator("\n\n")
        .filter_map(|event| event.strip_prefix("event: ")?.split_once("\ndata: "))
        .map(|(name, data)| (name, serde_json::from_str(data).unwrap()))
        .collect();
    let (last, before) = events.split_last().unwrap();
    assert_eq!((last.0, &last.1["outcome"]), ("done", &json!("success")), "{stream}");
    let (progress, stages): (Vec<_>, Vec<_>) = before.iter().partition(|(name, _)| *name == "progress");
    let completed: Vec<u64> = progress.iter().map(|(_, data)| data["completed"].as_u64().unwrap()).collect();
    assert!(completed.is_sorted(), "{stream}");
    let of = |stage: &str| stages.iter().filter(|(name, _)| *name == stage).map(|(_, data)| data).collect::<Vec<_>>();
    let attempts: BTreeSet<u64> = of("attempt_done").iter().map(|data| data["attempt"].as_u64().unwrap()).collect();
    assert_eq!(attempts, BTreeSet::from([1, 2, 3]), "{stream}");
    assert_eq!((of("attempt_started").len(), of("attempt_done").len()), (3, 3), "{stream}");
    assert!(of("attempt_done").iter().all(|data| data["score"].is_number()), "{stream}");
    let names: Vec<&str> = stages.iter().map(|(name, _)| *name).collect();
    assert_eq!((names[0], &names[names.len() - 2..]), ("attempt_started", &["judged", "learned"][..]), "{stream}");
    assert_eq!(of("judged")[0]["verdict"], "success");
    let (status, refused) = script.send(Method::POST, "/solve", Some(json!({}))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "what fails before it begins is no stream: {refused}");
}

#[tokio::test]
async fn a_solve_without_a_model_is_refused_before_it_begins() {
    let place = Place::new();
    let daemon = Daemon::start(&place, &["--llm", "none"]);
    let script = script(&daemon, &place, "solve");
    let task = json!({"task": "Write a binary search."});
    let (status, refused) = script.send(Method::POST, "/solve", Some(task)).await;
    let error = &refused["error"];
    assert_eq!((status, &error["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("llm_unavailable")), "{refused}");
    assert_eq!(error["retryable"], false);
    assert!(error["hint"].as_str().unwrap().contains("llm.provider"), "{refused}");
}

#[tokio::test]
async fn the_description_names_every_route_and_every_route_answers() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let script = script(&daemon, &place, "read,write,admin");
    let (_, description) = script.send(Method::GET, "/openapi.json", None).await;
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, operations)| {
        let each = operations.as_object().unwrap().iter();
        each.map(move |(method, operation)| format!("{method} {path}: {}", operation["operationId"].as_str().unwrap()))
    });
    insta::assert_snapshot!(operations.collect::<Vec<_>>().join("\n"));
    for (path, operations) in paths {
        for method in operations.as_object().unwrap().keys() {
            let path = path.strip_prefix("/api/v1").unwrap().replace(['{', '}'], "");
            let method: Method = method.to_ascii_uppercase().parse().unwrap();
            let (status, answer) = script.send(method.clone(), &path, Some(json!({}))).await;
            assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}: {answer}");
            assert!(
                !answer["error"]["message"].as_str().is_some_and(|said| said.contains("nothing at this path")),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn the_description_names_the_statuses_that_a_script_has_to_expect() {
    let place = Place::new();
    let daemon = Daemon::start(&place, &[]);
    let script = script(&daemon, &place, "read");
    let (_, description) = script.send(Method::GET, "/openapi.json", None).await;
    let beside_those_of_every_route = |method: &str, path: &str| {
        let responses = description["paths"][format!("/api/v1{path}")][method]["responses"].as_object().unwrap();
        let mut others: BTreeSet<String> = responses.keys().cloned().collect();
        for status in ["200", "400", "401", "403", "422", "429", "431", "500", "503", "default"] {
            assert!(others.remove(status), "{method} {path}: {status}");
        }
        others.into_iter().collect::<Vec<_>>().join(" ")
    };
    for (method, path, others) in [
        ("get", "/memories", "404 504"),
        ("get", "/memories/{memory_id}", "304 404 504"),
        ("post", "/memories", "404 408 409 413 415 504"),
        ("patch", "/memories/{memory_id}", "404 408 409 412 413 415 428 504"),
        ("delete", "/memories/{memory_id}", "404 409 504"),
        ("get", "/stats", "504"),
        ("post", "/solve", "404 408 413 415 502 504"),
        ("get", "/export", "404 504"),
        ("post", "/import", "404 408 413 415 504"),
        ("post", "/tokens", "408 409 413 415"),
        ("get", "/tokens", "404"),
        ("get", "/workspaces", "404 504"),
        ("get", "/tokens/{token}", "404 409"),
        ("get", "/openapi.json", ""),
    ] {
        assert_eq!(beside_those_of_every_route(method, path), others, "{method} {path}");
    }
}

#[tokio::test]
async fn an_export_has_the_lines_of_one_workspace_and_the_command_imports_them() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let ids = [red.record("Take locks in one order").await, red.record("Measure before you tune").await];
    let arguments = ["blue", "--permissions", "read,write", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &arguments) };
    blue.record("Write tests before code").await;

    let answer = red.request(Method::GET, "/export?vectors=true").send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/x-ndjson");
    let text = answer.text().await.unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let memories: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "memory").collect();
    assert_eq!(memories.iter().map(|line| line["id"].as_str().unwrap()).collect::<Vec<_>>(), ids);
    assert!(memories.iter().all(|line| line["passages"][0]["vector"].is_array()), "{text}");
    assert!(!text.contains("Write tests"), "{text}");
    let wrong = red.request(Method::GET, "/export?vector=true").send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let elsewhere = red.request(Method::GET, "/export?workspace=bank").send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::FORBIDDEN);

    let copy = Place::new();
    copy.write("export.jsonl", &text);
    let file = copy.path("export.jsonl");
    let imported = copy.document(&["memory", "import", "--trusted-backup", "--yes", file.to_str().unwrap()]);
    assert_eq!(imported["imported"]["memories"], 2, "{imported}");
}

#[tokio::test]
async fn the_query_of_a_request_with_a_body_names_its_workspace_and_nothing_else() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let one = script(&daemon, &place, "read,write,admin");
    let rights = ["both", "--permissions", "read,write,admin", "--key", "shop", "--key", "bank", "--team", "red"];
    let both = Script { daemon: &daemon, token: token(&place, &rights) };
    let lesson =
        json!({"title": "Take locks in one order", "description": "When a lock waits.", "content": "Sort them."});
    let with = |workspace: &str| {
        let mut lesson = lesson.clone();
        lesson["workspace"] = json!(workspace);
        lesson
    };
    // A script sends the header X-Workspace, and these requests have none.
    let ask = async |of: &Script<'_>, method: Method, path: &str, body: Option<Value>| {
        let request = daemon.http.request(method, daemon.url.replace("/mcp", &format!("/api/v1{path}")));
        document(request.bearer_auth(&of.token).json(&body).send().await.unwrap()).await
    };
    let (status, refused) = ask(&one, Method::POST, "/memories?workspace=bank", Some(lesson.clone())).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::NOT_FOUND, &json!("workspace_unknown")), "{refused}");
    let (status, _) = both.send(Method::POST, "/memories?workspace=bank", Some(lesson.clone())).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "as a GET answers it");
    for (path, body) in [
        ("/memories?workspace=bank", with("shop")),
        ("/memories?workspace=shop&foo=1", lesson.clone()),
        ("/memories?title=x", lesson.clone()),
        ("/memories/search?query=x", json!({"query": "locks"})),
        ("/tokens?limit=1", json!({"name": "t", "workspaces": {"only": ["shop"]}})),
    ] {
        let (status, refused) = ask(&both, Method::POST, path, Some(body)).await;
        assert_eq!(
            (status.as_u16(), &refused["error"]["code"]),
            (422, &json!("invalid_argument")),
            "{path}: {refused}"
        );
    }
    let (status, refused) = ask(&both, Method::GET, "/tokens?foo=1", None).await;
    assert_eq!(status.as_u16(), 422, "{refused}");
    for body in [lesson.clone(), with("bank")] {
        let (status, made) = ask(&both, Method::POST, "/memories?workspace=bank", Some(body)).await;
        assert_eq!(status, StatusCode::OK, "{made}");
    }
    for (path, count) in [("/memories?workspace=bank", 1), ("/memories?workspace=shop", 0)] {
        let (_, listed) = ask(&both, Method::GET, path, None).await;
        assert_eq!(listed["memories"].as_array().unwrap().len(), count, "{path}: {listed}");
    }
}

#[tokio::test]
async fn who_may_not_read_is_shown_nothing_that_is_similar() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let reader = script(&daemon, &place, "read,write");
    let blind = ["blind", "--permissions", "write", "--key", "shop", "--team", "red"];
    let blind = Script { daemon: &daemon, token: token(&place, &blind) };
    let lesson = |content: &str| json!({"title": "Deploy key", "description": "When you deploy.", "content": content});
    let record = async |who: &Script<'_>, content| {
        let (status, recorded) = who.send(Method::POST, "/memories", Some(lesson(content))).await;
        assert_eq!(status, StatusCode::OK, "{recorded}");
        recorded
    };
    record(&reader, "The deploy key of the shop lies in the vault.").await;
    let guessed = record(&blind, "Where the deploy key of the shop lies is told by the vault.").await;
    assert_eq!(guessed["similar"], Value::Null, "{guessed}");
    let known = record(&reader, "The vault of the shop hides a deploy key somewhere.").await;
    assert!(!known["similar"].as_array().unwrap().is_empty(), "{known}");
}
