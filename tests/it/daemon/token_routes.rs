//! The routes for tokens.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::api::{Script, script};
use super::*;

fn new_token(name: &str, permissions: &[&str], keys: &[&str]) -> Value {
    json!({"name": name, "permissions": permissions, "workspaces": {"only": keys}})
}

#[tokio::test]
async fn an_administrator_makes_lists_replaces_and_ends_tokens_of_his_team() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let admin = script(&daemon, &place, "read,write,admin");
    let (status, made) = admin.send(Method::POST, "/tokens", Some(new_token("ana", &["read"], &["shop"]))).await;
    assert_eq!((status, &made["team"], &made["status"]), (StatusCode::OK, &json!("red"), &json!("valid")), "{made}");
    let ana = Script { daemon: &daemon, token: made["token"].as_str().unwrap().to_owned() };
    assert_eq!(ana.send(Method::GET, "/memories", None).await.0, StatusCode::OK);
    let (status, refused) = ana.send(Method::GET, "/tokens", None).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::FORBIDDEN, &json!("permission_denied")));

    let (_, listed) = admin.send(Method::GET, "/tokens", None).await;
    let names: Vec<&str> = listed["tokens"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["script", "ana"]);
    assert!(!listed.to_string().contains(&ana.token) && !listed.to_string().contains("sha256"), "{listed}");
    let (_, shown) = admin.send(Method::GET, "/tokens/ana", None).await;
    assert_eq!(shown["id"], made["id"]);

    let (_, rotated) = admin.send(Method::POST, "/tokens/ana/rotate", Some(json!({}))).await;
    let again = Script { daemon: &daemon, token: rotated["token"].as_str().unwrap().to_owned() };
    assert_eq!(ana.send(Method::GET, "/memories", None).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(again.send(Method::GET, "/memories", None).await.0, StatusCode::OK);
    let (_, revoked) = admin.send(Method::DELETE, "/tokens/ana", None).await;
    assert_eq!(revoked["status"], "revoked");
    assert_eq!(again.send(Method::GET, "/memories", None).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(admin.send(Method::DELETE, "/tokens/ana", None).await.0, StatusCode::NOT_FOUND);
    let log = audited(&place);
    for action in ["token create", "token rotate", "token revoke"] {
        assert!(log.iter().any(|line| line["action"] == action && line["owner"] == "script"), "{action}: {log:?}");
    }
    assert!(!format!("{log:?}").contains(again.token.split('_').next_back().unwrap()));
}

#[tokio::test]
async fn what_is_wrong_with_a_new_token_is_told_by_its_field() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let admin = script(&daemon, &place, "read,admin");
    for (new, message) in [
        (json!({"name": 7, "workspaces": "all"}), "name: must be a string; it is 7"),
        (
            json!({"name": "a", "workspaces": ["shop"]}),
            "workspaces: must be \"all\", or an object of only; it is an array",
        ),
        (json!({"name": "a", "workspaces": {"only": "shop"}}), "workspaces.only: "),
        (
            json!({"name": "a", "workspaces": "all", "expires_days": "ten"}),
            "expires_days: must be an integer from 1 to",
        ),
        (json!({"name": "a", "workspaces": "all", "permissions": ["fly"]}), "permissions[0]: must be one of \""),
        (json!({"name": "a", "workspaces": "all", "colour": "red"}), "colour: unknown"),
        (json!({"name": "a"}), "workspaces: is required"),
        (new_token("", &["read"], &["shop"]), "name: "),
    ] {
        let (status, refused) = admin.send(Method::POST, "/tokens", Some(new)).await;
        assert_eq!((status.as_u16(), &refused["error"]["code"]), (422, &json!("invalid_argument")), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().starts_with(message), "{refused}");
        assert!(refused["error"]["hint"].is_string(), "{refused}");
    }
}

#[tokio::test]
async fn nobody_hands_out_more_than_he_has_or_learns_of_tokens_of_others() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let admin = script(&daemon, &place, "read,admin");
    let arguments = ["hidden", "--permissions", "read", "--key", "shop", "--team", "blue"];
    let theirs = token(&place, &arguments);
    let their_id = theirs.split('_').nth(1).unwrap();
    for (new, status, code) in [
        (new_token("a", &["write"], &["shop"]), 403, "permission_denied"),
        (new_token("a", &["admin:all"], &["shop"]), 403, "permission_denied"),
        (new_token("a", &["read"], &["bank"]), 403, "permission_denied"),
        (json!({"name": "a", "workspaces": "all"}), 403, "permission_denied"),
        (json!({"name": "a", "workspaces": {"only": ["shop"]}, "team": "blue"}), 403, "permission_denied"),
        (json!({"name": "a"}), 422, "invalid_argument"),
        (new_token("a", &[], &["shop"]), 422, "invalid_argument"),
        (new_token("", &["read"], &["shop"]), 422, "invalid_argument"),
        (new_token("a", &["fly"], &["shop"]), 422, "invalid_argument"),
        (new_token("script", &["read"], &["shop"]), 409, "conflict"),
    ] {
        let (got, refused) = admin.send(Method::POST, "/tokens", Some(new)).await;
        assert_eq!((got.as_u16(), refused["error"]["code"].as_str().unwrap()), (status, code), "{refused}");
    }
    // A name that another team has is free here.
    let (status, _) = admin.send(Method::POST, "/tokens", Some(new_token("hidden", &["read"], &["shop"]))).await;
    assert_eq!(status, StatusCode::OK);
    let (_, listed) = admin.send(Method::GET, "/tokens", None).await;
    assert!(!listed.to_string().contains("blue") && !listed.to_string().contains(their_id), "{listed}");
    for (method, path) in [(Method::GET, ""), (Method::DELETE, ""), (Method::POST, "/rotate")] {
        let (status, foreign) = admin.send(method.clone(), &format!("/tokens/{their_id}{path}"), Some(json!({}))).await;
        let (_, unknown) = admin.send(method, &format!("/tokens/000000000000{path}"), Some(json!({}))).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert_eq!(foreign.to_string().replace(their_id, "000000000000"), unknown.to_string());
    }
    for (method, path) in [(Method::GET, ""), (Method::DELETE, ""), (Method::POST, "/rotate")] {
        let (status, refused) = admin.send(method, &format!("/tokens/%ff{path}"), None).await;
        assert_eq!((status.as_u16(), &refused["error"]["code"]), (400, &json!("invalid_argument")), "{refused}");
    }
    let blue = Script { daemon: &daemon, token: theirs };
    assert_eq!(blue.send(Method::GET, "/memories", None).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_script_makes_no_token_of_a_team_that_is_of_another_organisation() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let all = "read,write,solve,admin,admin:all";
    let boss = Script { daemon: &daemon, token: token(&place, &["boss", "--permissions", all, "--all-workspaces"]) };
    let of = |name: &str, team: Option<&str>, org: Option<&str>| {
        let mut new = json!({"name": name, "workspaces": "all"});
        for (field, value) in [("team", team), ("org", org)] {
            value.into_iter().for_each(|value| new[field] = json!(value));
        }
        new
    };
    for (name, team, org, wanted) in [
        ("a", Some("dev"), Some("o1"), 200),
        ("b", Some("dev"), Some("o2"), 409),
        ("c", Some("dev"), None, 409),
        ("d", None, Some("o1"), 422),
        ("e", Some("dev"), Some("o1"), 200),
        ("f", Some("ops"), Some("o2"), 200),
    ] {
        let (status, made) = boss.send(Method::POST, "/tokens", Some(of(name, team, org))).await;
        assert_eq!(status.as_u16(), wanted, "{name}: {made}");
    }
    let moving = json!({"name": "g", "workspaces": "all", "team": "dev", "org": "o2", "moves_team": true});
    let (status, refused) = boss.send(Method::POST, "/tokens", Some(moving)).await;
    assert_eq!(status.as_u16(), 422, "{refused}");
}

#[tokio::test]
async fn the_id_of_a_token_means_that_token_whatever_others_are_called() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let admin = script(&daemon, &place, "read,write,admin");
    let id = token(&place, &["victim", "--key", "shop", "--team", "red"]).split('_').nth(1).unwrap().to_owned();
    let (status, refused) = admin.send(Method::POST, "/tokens", Some(new_token(&id, &["read"], &["shop"]))).await;
    assert_eq!(status.as_u16(), 422, "{refused}");
    let refused = place.run(&["token", "create", &id, "--all-workspaces"]).exits(2).stderr;
    assert!(refused.contains("name: must not have the form of the id of a token"), "{refused}");
    // Earlier versions took such a name.
    token(&place, &["attacker", "--key", "shop", "--team", "red"]);
    let file = place.path("data/tokens.json");
    let tokens = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, tokens.replace("\"name\": \"attacker\"", &format!("\"name\": \"{id}\""))).unwrap();
    let (_, shown) = admin.send(Method::GET, &format!("/tokens/{id}"), None).await;
    assert_eq!((&shown["name"], &shown["id"]), (&json!("victim"), &json!(id)), "{shown}");
    let (status, revoked) = admin.send(Method::DELETE, &format!("/tokens/{id}"), None).await;
    assert_eq!((status, &revoked["name"]), (StatusCode::OK, &json!("victim")), "{revoked}");
    let again = place.run(&["token", "revoke", &id]).exits(2).stderr;
    assert!(again.contains("there is no valid token"), "the other one is not meant: {again}");
}
