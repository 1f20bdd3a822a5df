//! Tests of what is known of tokens afterwards: their last use, who made and ended them, and who came without a valid
//! one.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{Daemon, audited, token};
use crate::support::Place;

/// The entries of the audit log about one action, without the time.
fn about(place: &Place, action: &str) -> Vec<Value> {
    let mut entries: Vec<Value> = audited(place).into_iter().filter(|entry| entry["action"] == action).collect();
    for entry in &mut entries {
        assert!(entry.as_object_mut().unwrap().remove("at").is_some());
    }
    entries
}

#[test]
fn what_was_done_to_tokens_is_in_the_audit_log_with_the_user_who_did_it() {
    let place = Place::new();
    let made = place.document(&["token", "create", "ci", "--all-workspaces"]);
    let rotated = place.document(&["token", "rotate", "ci"]);
    let taken = place.run(&["token", "create", "ci", "--all-workspaces"]).exits(2).stderr;
    assert!(taken.contains("hint: choose another name"), "{taken}");
    place.run(&["token", "revoke", "ci"]).ok();
    let over = place.run(&["token", "rotate", "ci"]).exits(2).stderr;
    assert!(over.contains("there is no valid token ci"), "{over}");
    place.run(&["token", "list"]).ok();
    let entries = audited(&place);
    let of = |entry: &Value| (entry["action"].clone(), entry["ids"].clone());
    assert_eq!(
        entries.iter().map(of).collect::<Vec<_>>(),
        [
            (json!("token create"), json!([made["id"]])),
            (json!("token rotate"), json!([made["id"], rotated["id"]])),
            (json!("token revoke"), json!([rotated["id"]])),
        ]
    );
    assert!(entries.iter().all(|entry| !entry["owner"].as_str().unwrap().is_empty() && entry["outcome"] == "ok"));
    let files = std::fs::read_dir(place.path("data/audit")).unwrap().count();
    assert_eq!(files, 3, "a command that changed nothing leaves no file");
}

#[tokio::test]
async fn refused_requests_are_in_the_audit_log_with_the_token_that_they_came_with() {
    let place = Place::new();
    let [good, old] = ["good", "old"].map(|name| token(&place, &[name, "--all-workspaces"]));
    place.run(&["token", "revoke", "old"]).ok();
    let mut daemon = Daemon::start(&place, &[]);
    for (sent, wanted) in [(None, 401), (Some("rb_wrong"), 401), (Some(&*old), 401), (Some(&*good), 200)] {
        assert_eq!(daemon.initialize(sent).send().await.unwrap().status().as_u16(), wanted, "{sent:?}");
    }
    let foreign = daemon.initialize(Some(&good)).header("host", "evil.example").send().await.unwrap();
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    assert_eq!(daemon.terminate(), Some(0));
    let id = |token: &str| token.split('_').nth(1).unwrap().to_owned();
    let unknown = json!({"action": "request", "outcome": "unauthenticated"});
    let of_old = json!({"action": "request", "outcome": "unauthenticated", "ids": [id(&old)]});
    let of_good = json!({"action": "request", "outcome": "host_denied", "ids": [id(&good)]});
    assert_eq!(about(&place, "request"), [unknown.clone(), unknown, of_old, of_good]);
}

#[tokio::test]
async fn a_token_is_shown_with_the_hour_of_its_last_use() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let shown = place.document(&["token", "show", "ana"]);
    assert_eq!((&shown["name"], &shown["last_used"]), (&json!("ana"), &Value::Null));
    assert!(shown.get("sha256").is_none() && shown.get("token").is_none(), "{shown}");
    let stored = std::fs::read(place.path("data/tokens.json")).unwrap();
    let daemon = Daemon::start(&place, &[]);
    daemon.session(Some(&ana)).await;
    // It is noted beside the request, which does not wait for it.
    let used = (0..200).find_map(|_| {
        let shown = place.document(&["token", "show", "ana"]);
        shown["last_used"].as_str().map(str::to_owned)
    });
    let used = used.expect("the use of the token is noted");
    assert!(used.ends_with(":00:00Z"), "{used}");
    assert_eq!(std::fs::read(place.path("data/tokens.json")).unwrap(), stored, "what authorises is not written");
    place.run(&["token", "revoke", "ana"]).ok();
    let shown = place.document(&["token", "show", ana.split('_').nth(1).unwrap()]);
    assert_eq!((&shown["status"], shown["last_used"].as_str()), (&json!("revoked"), Some(&*used)));
    place.run(&["token", "show", "nobody"]).exits(2);
}

#[tokio::test]
async fn a_daemon_whose_tokens_cannot_be_read_is_not_ready_until_they_can() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--all-workspaces"]);
    let daemon = Daemon::start(&place, &[]);
    let file = place.path("data/tokens.json");
    let stored = std::fs::read(&file).unwrap();
    for broken in [None, Some("{"), Some(r#"{"tokens": []}"#)] {
        std::fs::remove_file(&file).unwrap();
        broken.into_iter().for_each(|text| std::fs::write(&file, text).unwrap());
        for token in [Some(&*ana), None] {
            let refused = daemon.initialize(token).send().await.unwrap();
            assert!([401, 503].contains(&refused.status().as_u16()), "{broken:?}: {refused:?}");
            assert_eq!(refused.status() == 503, token.is_some(), "{broken:?}");
        }
        let unready = daemon.get("/readyz").send().await.unwrap();
        assert_eq!(unready.status(), StatusCode::SERVICE_UNAVAILABLE, "{broken:?}");
        assert_eq!(unready.json::<Value>().await.unwrap(), json!({"status": "unready", "reasons": ["tokens"]}));
        std::fs::write(&file, &stored).unwrap();
        assert_eq!(daemon.get("/readyz").send().await.unwrap().status(), StatusCode::OK, "{broken:?}");
    }
    std::fs::write(&file, "{").unwrap();
    let url = daemon.url.replace("/mcp", "");
    let health = place.run(&["health", "--url", &url]).exits(1);
    assert!(health.stdout.contains("is not ready") && health.stdout.contains("tokens"), "{}", health.stdout);
    std::fs::write(&file, stored).unwrap();
    assert_eq!(daemon.get("/readyz").send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_token_in_a_url_is_refused_and_a_name_that_looks_a_little_like_one_is_not() {
    let place = Place::new();
    let ana = token(&place, &["ana", "--key", "orb_shop", "--permissions", "read,admin"]);
    let daemon = Daemon::start(&place, &[]);
    for path in ["/memories?workspace=orb_shop".to_owned(), "/tokens/rb_ci".to_owned()] {
        let answer = daemon.get(&format!("/api/v1{path}")).bearer_auth(&ana).send().await.unwrap();
        assert_ne!(answer.status(), StatusCode::BAD_REQUEST, "{path}: {:?}", answer.text().await);
    }
    for path in [format!("/memories?workspace=token%3D{ana}"), format!("/tokens/{ana}")] {
        let refused = daemon.get(&format!("/api/v1{path}")).bearer_auth(&ana).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{path}");
        let refused: Value = refused.json().await.unwrap();
        assert!(refused["error"]["hint"].as_str().unwrap().contains("token rotate"), "{refused}");
    }
}

#[test]
fn a_team_is_of_one_organisation_and_moves_only_when_its_tokens_have_ended() {
    let place = Place::new();
    let create = |name: &str, team: &str, more: &[&str]| {
        place.run(&[&["token", "create", name, "--all-workspaces", "--team", team], more].concat())
    };
    create("a", "dev", &["--org", "o1"]).ok();
    create("b", "dev", &["--org", "o1"]).ok();
    for more in [&["--org", "o2"][..], &[], &["--org", "o2", "--move-team"]] {
        let refused = create("c", "dev", more).exits(2).stderr;
        assert!(refused.contains("team: \"dev\" is a team of the organisation \"o1\""), "{refused}");
        assert!(refused.contains("hint: choose another name for the team"), "{refused}");
    }
    let alone = place.run(&["token", "create", "c", "--all-workspaces", "--org", "o1"]).exits(2).stderr;
    assert!(alone.contains("--team"), "{alone}");
    create("c", "Dev", &["--org", "o2"]).ok();
    place.run(&["token", "revoke", "a"]).ok();
    place.run(&["token", "revoke", "b"]).ok();
    let refused = create("d", "dev", &["--org", "o3"]).exits(2).stderr;
    assert!(refused.contains("--move-team"), "{refused}");
    create("d", "dev", &["--org", "o3", "--move-team"]).ok();
    create("e", "dev", &["--org", "o3"]).ok();
    create("f", "dev", &["--org", "o1"]).exits(2);
}

#[tokio::test]
async fn teams_that_organisations_have_in_common_are_named_by_doctor_and_at_the_start() {
    let place = Place::new();
    place.run(&["token", "create", "ana", "--all-workspaces", "--team", "dev", "--org", "o1"]).ok();
    place.run(&["token", "create", "ben", "--all-workspaces", "--team", "dew", "--org", "o2"]).ok();
    let doctor = || place.run(&["--llm", "none", "--json", "doctor"]).ok().json();
    let of_tokens = |document: &Value| {
        document["checks"].as_array().unwrap().iter().find(|check| check["name"] == "tokens").cloned()
    };
    assert_eq!(of_tokens(&doctor()), None);
    // Earlier versions made such tokens.
    let file = place.path("data/tokens.json");
    let tokens = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, tokens.replace("\"dew\"", "\"dev\"")).unwrap();
    let said = "several organisations have a team \"dev\" (\"o1\": \"ana\"; \"o2\": \"ben\")";
    let check = of_tokens(&doctor()).unwrap();
    assert_eq!(check["status"], "warn", "{check}");
    assert!(check["detail"].as_str().unwrap().contains(said), "{check}");
    let mut daemon = Daemon::start_logged(&place, &["--llm", "none"]);
    assert_eq!(daemon.terminate(), Some(0));
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    let log = log.replace('\\', "");
    assert!(log.contains("several organisations have a team") && log.contains("ben"), "{log}");
    place.run(&["token", "rotate", "ana"]).ok();
}
