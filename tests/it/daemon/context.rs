//! Tests of what helps with a task over the network: the routes for scripts, their permissions, and whose a context is.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::{Script, script};
use super::*;

const TASK: &str = "Fix the session loader that drops users";

#[tokio::test]
async fn a_context_is_for_its_workspace_and_is_learned_from_by_who_may_write() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let owner = script(&daemon, &place, "read,write");
    let of = |name: &str, team: &str, permissions: &str| Script {
        daemon: &daemon,
        token: token(&place, &[name, "--permissions", permissions, "--key", "shop", "--team", team]),
    };
    let (reader, other) = (of("reader", "red", "read"), of("other", "blue", "read,write"));
    let failure = json!({"error": "KeyError: 'user'", "resolution": "use get"});
    let earlier = json!({"task": {"original_input": "Fix the session loader that is slow"}, "outcome": {"status": "SUCCESS"},
                         "reflection": {"failures_analyzed": [failure]}});
    let (_, earlier) = owner.send(Method::POST, "/episodes", Some(earlier)).await;

    let (status, found) = reader.send(Method::POST, "/context", Some(json!({"task": TASK}))).await;
    assert_eq!(
        (status, &found["similar_episodes"][0]["episode_id"]),
        (StatusCode::OK, &earlier["episode_id"]),
        "{found}"
    );
    let (_, advice) = reader.send(Method::POST, "/recovery", Some(json!({"error": "KeyError: 'id'"}))).await;
    assert_eq!(advice["similar_failures"][0]["failure"]["resolution"], "use get", "{advice}");
    let (_, nothing) = other.send(Method::POST, "/context", Some(json!({"task": TASK}))).await;
    assert_eq!((&nothing["rendered"], &nothing["similar_episodes"]), (&json!(""), &json!([])), "{nothing}");

    let tell = Some(json!({"context_id": found["context_id"], "status": "SUCCESS"}));
    let learn = async |script: &Script<'_>| script.send(Method::POST, "/episodes/learn", tell.clone()).await;
    let (status, refused) = learn(&reader).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::FORBIDDEN, &json!("permission_denied")));
    let (status, refused) = learn(&other).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::NOT_FOUND, &json!("not_found")), "{refused}");
    let (status, learned): (StatusCode, Value) = learn(&owner).await;
    assert_eq!((status, &learned["created"]), (StatusCode::OK, &json!(true)), "{learned}");
    let (_, again) = learn(&owner).await;
    assert_eq!((&again["episode_id"], &again["created"]), (&learned["episode_id"], &json!(false)));
}
