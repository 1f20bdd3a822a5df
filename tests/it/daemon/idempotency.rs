//! Tests of requests of scripts that have a key: sent again, they are not carried out again.

use std::time::Duration;

use futures::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::{Script, document, script};
use super::*;

impl Script<'_> {
    async fn keyed(&self, key: &str, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
        document(self.request(method, path).header("idempotency-key", key).json(body).send().await.unwrap()).await
    }

    async fn count(&self) -> usize {
        loop {
            // The token may have asked much just before.
            let (status, page) = self.send(Method::GET, "/memories?limit=100", None).await;
            if status != StatusCode::TOO_MANY_REQUESTS {
                break page["memories"].as_array().unwrap_or_else(|| panic!("{page}")).len();
            }
        }
    }
}

fn lesson(title: &str) -> Value {
    json!({"title": title, "description": "When a lock waits.", "content": format!("{title}, and say so.")})
}

#[tokio::test]
async fn a_request_that_is_sent_again_has_the_same_answer_and_is_done_once() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write,admin");
    let first = red.keyed("one", Method::POST, "/memories", &lesson("Take locks in one order")).await;
    assert_eq!((first.0, &first.1["status"]), (StatusCode::OK, &json!("created")));
    assert_eq!(red.keyed("one", Method::POST, "/memories", &lesson("Take locks in one order")).await, first);
    let other_order = json!({"content": "Take locks in one order, and say so.", "description": "When a lock waits.",
        "title": "Take locks in one order"});
    assert_eq!(red.keyed("one", Method::POST, "/memories", &other_order).await, first, "an object has no order");
    // Without the key it is said twice.
    let (_, said_again) = red.send(Method::POST, "/memories", Some(lesson("Take locks in one order"))).await;
    assert_eq!(said_again["status"], "reinforced");

    let outcome = json!({"memory_ids": [first.1["id"]], "helpful": true});
    let told = red.keyed("one", Method::POST, "/outcomes", &outcome).await;
    assert_eq!(told.0, StatusCode::OK, "{}", told.1);
    assert_eq!(red.keyed("one", Method::POST, "/outcomes", &outcome).await, told);

    let path = format!("/memories/{}", first.1["id"].as_str().unwrap());
    let change = async |tags: &str, title: &str| {
        let request = red.request(Method::PATCH, &path).header("if-match", tags).header("idempotency-key", "two");
        let answer = request.json(&json!({"title": title})).send().await.unwrap();
        (answer.headers().get("etag").cloned(), document(answer).await)
    };
    let changed = change("\"1\", \"9\"", "Locks have one order").await;
    assert_eq!(changed.1.0, StatusCode::OK, "{}", changed.1.1);
    assert_eq!(change("\"9\", \"1\"", "Locks have one order").await, changed);
    for (tags, title) in [("\"1\", \"9\"", "Locks have many orders"), ("\"1\"", "Locks have one order")] {
        assert_eq!(change(tags, title).await.1.0, StatusCode::UNPROCESSABLE_ENTITY, "{tags}");
    }
}

#[tokio::test]
async fn a_key_is_of_one_owner_workspace_and_request() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write,admin");
    let first = red.keyed("one", Method::POST, "/memories", &lesson("Take locks in one order")).await;
    let (status, other) = red.keyed("one", Method::POST, "/memories", &lesson("Measure before you tune")).await;
    assert_eq!((status, &other["error"]["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("invalid_argument")));
    assert_eq!(red.count().await, 1);
    let arguments = ["blue", "--permissions", "read,write", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &arguments) };
    let theirs = blue.keyed("one", Method::POST, "/memories", &lesson("Measure before you tune")).await;
    assert_eq!((theirs.0, &theirs.1["status"]), (StatusCode::OK, &json!("created")));
    for wrong in ["", "a b", &"k".repeat(256)] {
        let (status, refused) = red.keyed(wrong, Method::POST, "/memories", &lesson("Take locks in one order")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{refused}");
    }
    // A request that was refused was not done, and may be sent again in its right form.
    let (status, _) = red.keyed("two", Method::POST, "/memories", &json!({"title": "Half a lesson"})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, whole) = red.keyed("two", Method::POST, "/memories", &lesson("Write tests before code")).await;
    assert_eq!((status, &whole["status"]), (StatusCode::OK, &json!("created")));
    // The stored answers to requests for a memory go with it.
    let path = format!("/memories/{}", first.1["id"].as_str().unwrap());
    assert_eq!(red.send(Method::DELETE, &path, None).await.0, StatusCode::OK);
    let (status, again) = red.keyed("one", Method::POST, "/memories", &lesson("Take locks in one order")).await;
    assert_eq!((status, &again["status"]), (StatusCode::OK, &json!("created")));
    assert_ne!(again["id"], first.1["id"]);
    let (status, solve) = red.keyed("three", Method::POST, "/solve", &json!({"task": "sort a list"})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{solve}");
    let (status, of_tokens) = red.keyed("three", Method::POST, "/tokens", &json!({"name": "a"})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{of_tokens}");
}

#[tokio::test]
async fn a_script_that_went_away_finds_its_answer_when_it_comes_again() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write,admin");
    let lesson = lesson("Take locks in one order");
    for n in 0..20 {
        let key = format!("key-{n}");
        let path = "/memories";
        let request = red.request(Method::POST, path).header("idempotency-key", &key).json(&lesson).send();
        // The connection goes away at some time of the work.
        let _ = tokio::time::timeout(Duration::from_millis(n), request).await;
        let answered = async {
            loop {
                let (status, answer) = red.keyed(&key, Method::POST, path, &lesson).await;
                match status {
                    StatusCode::CONFLICT => assert_eq!(answer["error"]["retryable"], true, "{answer}"),
                    StatusCode::TOO_MANY_REQUESTS => {}
                    _ => break (status, answer),
                }
            }
        };
        let (status, answer) = tokio::time::timeout(Duration::from_secs(60), answered).await.unwrap();
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(answer["status"] == "created", n == 0, "each is said once: {answer}");
    }
    assert_eq!(red.count().await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_tries_at_two_daemons_one_is_carried_out() {
    let place = place_with_all_tools();
    let daemons = [Daemon::start(&place, &[]), Daemon::start(&place, &[])];
    let red = script(&daemons[0], &place, "read,write,admin");
    let there = Script { daemon: &daemons[1], token: red.token.clone() };
    let lesson = lesson("Take locks in one order");
    let tries = (0..8).map(|n| [&red, &there][n % 2].keyed("one", Method::POST, "/memories", &lesson));
    let answers = join_all(tries).await;
    let done: Vec<&Value> = answers.iter().filter(|(status, _)| *status == StatusCode::OK).map(|(_, it)| it).collect();
    assert!(!done.is_empty() && done.iter().all(|answer| *answer == done[0]), "{answers:?}");
    for (status, refused) in answers.iter().filter(|(status, _)| *status != StatusCode::OK) {
        assert_eq!((*status, &refused["error"]["code"]), (StatusCode::CONFLICT, &json!("conflict")));
    }
    assert_eq!(red.count().await, 1);
    assert_eq!(there.keyed("one", Method::POST, "/memories", &lesson).await.1, *done[0]);
    // Had it been said twice, it would be more sure.
    let (_, said_once) = red.send(Method::POST, "/memories", Some(self::lesson("Measure before you tune"))).await;
    let (_, page) = red.send(Method::GET, "/memories", None).await;
    let confidence = |n: usize| page["memories"][n]["confidence"].as_f64().unwrap();
    assert_eq!(said_once["status"], "created");
    assert_eq!(confidence(0), confidence(1), "{page}");
}
