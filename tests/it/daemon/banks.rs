//! Tests of memory banks over the network: their owner follows from the token, and no path of a client is looked at.

use reqwest::{Method, StatusCode};
use serde_json::json;

use super::api::{Script, script};
use super::*;

#[tokio::test]
async fn a_bank_is_of_its_owner_or_of_his_team_and_no_path_leads_to_it() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let rights = ["--permissions", "read,write", "--key", "shop", "--team", "red"];
    let other =
        Script { daemon: &daemon, token: token(&place, &[&["other", "--owner", "other"], rights.as_slice()].concat()) };
    let blue = ["blue", "--permissions", "read,write", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &blue) };
    let chat = json!({"conversation_type": "chat"});
    let plan = json!({"conversation_type": "planning", "project_name": "Ship"});
    let code = json!({"conversation_type": "coding"});
    for (bank, request, of_team) in
        [("global:default", &chat, false), ("project:ship", &plan, true), ("code:shop", &code, true)]
    {
        let said = format!("I prefer the word zebra in {bank} answers.");
        let (status, activated) = red.send(Method::POST, "/banks/activate", Some(request.clone())).await;
        assert_eq!(status, StatusCode::OK, "{activated}");
        let info = &activated["bank_info"];
        assert_eq!(format!("{}:{}", info["type"].as_str().unwrap(), info["id"].as_str().unwrap()), bank);
        let update = json!({"bank": bank, "content": said});
        let (status, updated) = red.send(Method::POST, "/banks/update", Some(update)).await;
        assert_eq!((status, &updated["status"]), (StatusCode::OK, &json!("success")), "{updated}");
        for (who, sees) in [(&red, true), (&other, of_team), (&blue, false)] {
            let (_, seen) = who.send(Method::POST, "/banks/activate", Some(request.clone())).await;
            assert_eq!(seen["content"].to_string().contains("zebra"), sees, "{bank}: {seen}");
        }
    }
    let (status, refused) = red.send(Method::POST, "/banks/update", Some(json!({"content": "text"}))).await;
    assert!(status.is_client_error() && refused.to_string().contains("bank"), "{refused}");
    for path in ["/etc", "../..", "~"] {
        let request = json!({"conversation_type": "coding", "current_path": path});
        let (status, refused) = red.send(Method::POST, "/banks/activate", Some(request)).await;
        assert!(status.is_client_error(), "{refused}");
    }
}

#[tokio::test]
async fn a_token_that_may_only_read_reads_a_bank_and_makes_none() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let writer = script(&daemon, &place, "read,write");
    let of_reader = ["reader", "--permissions", "read", "--key", "shop", "--team", "red"];
    let reader = Script { daemon: &daemon, token: token(&place, &of_reader) };
    let code = json!({"conversation_type": "coding"});
    let (status, refused) = reader.send(Method::POST, "/banks/activate", Some(code.clone())).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{refused}");
    assert!(refused.to_string().contains("a token with the permission write makes it"), "{refused}");
    writer.send(Method::POST, "/banks/activate", Some(code.clone())).await;
    let (status, activated) = reader.send(Method::POST, "/banks/activate", Some(code)).await;
    assert_eq!((status, &activated["status"]), (StatusCode::OK, &json!("success")), "{activated}");
    let described = json!({"conversation_type": "coding", "project_description": "A shop."});
    let (status, refused) = reader.send(Method::POST, "/banks/activate", Some(described)).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{refused}");
    let update = json!({"bank": "code:shop", "content": "We decided to use SQLite."});
    let (status, refused) = reader.send(Method::POST, "/banks/update", Some(update)).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{refused}");
}

#[tokio::test]
async fn a_script_brings_a_version_of_a_bank_back() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let red = script(&daemon, &place, "read,write");
    let of_reader = ["reader", "--permissions", "read", "--key", "shop", "--team", "red"];
    let reader = Script { daemon: &daemon, token: token(&place, &of_reader) };
    let of_blue = ["blue", "--permissions", "read,write", "--key", "shop", "--team", "blue"];
    let blue = Script { daemon: &daemon, token: token(&place, &of_blue) };
    let plan = json!({"conversation_type": "planning", "project_name": "Ship"});
    let versions = "/banks/project%3Aship/versions";
    let (status, _) = red.send(Method::GET, versions, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    red.send(Method::POST, "/banks/activate", Some(plan.clone())).await;
    let (status, none) = red.send(Method::GET, versions, None).await;
    assert_eq!((status, &none), (StatusCode::OK, &json!({"versions": []})));
    // A bank that has grown too long is made shorter, and the one before is kept.
    let entry = |number: usize| {
        format!("- 2026-01-05: Tried the plan {number} for the zebra queue, which was {number} times slower.\n")
    };
    let long: String = (0..700).map(entry).collect();
    let update = json!({"bank": "project:ship", "content": format!("# Progress\n\n## Log\n\n{long}")});
    let (status, updated) = red.send(Method::POST, "/banks/update", Some(update)).await;
    assert_eq!((status, &updated["status"]), (StatusCode::OK, &json!("success")), "{updated}");
    let (_, kept) = reader.send(Method::GET, versions, None).await;
    let version = kept["versions"][0]["version"].as_str().unwrap();
    let restore = |version: &str| Some(json!({"version": version}));
    let path = "/banks/project%3Aship/restore";
    let (status, _) = reader.send(Method::POST, path, restore(version)).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let (status, _) = blue.send(Method::POST, path, restore(version)).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    for (wrong, expected) in
        [("yesterday", StatusCode::UNPROCESSABLE_ENTITY), ("2020-01-01T00:00:00Z", StatusCode::NOT_FOUND)]
    {
        let (status, refused) = red.send(Method::POST, path, restore(wrong)).await;
        assert_eq!(status, expected, "{refused}");
    }
    let (status, restored) = red.send(Method::POST, path, restore(version)).await;
    assert_eq!((status, &restored["version"]), (StatusCode::OK, &json!(version)), "{restored}");
    assert_eq!(restored["added_since"], json!([]), "no file came later");
    let (_, after) = red.send(Method::GET, versions, None).await;
    assert_eq!(after["versions"][0]["version"], restored["kept"]);
    assert_ne!(after["versions"][0]["version"], json!(version));
}
