//! Tests of memory banks over the network: their owner follows from the token, and no path of a client is looked at.

use reqwest::{Method, StatusCode};
use serde_json::json;

use super::api::{Script, document, script};
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

#[tokio::test]
async fn owners_and_teams_whose_names_look_alike_have_banks_of_their_own() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    // The last field is for the banks of projects, which the members of a team have in common.
    let names = [
        ("ana", Some("Bank of America"), true),
        ("ana of Bank", Some("America"), true),
        ("ana", Some("web"), true),
        ("Ana", Some("web"), false),
        ("ana", Some("Web"), true),
        ("ana", Some("a b"), true),
        ("ana", Some("a  b"), true),
        ("ana", None, true),
        ("Ana", None, true),
        ("ben", None, true),
    ];
    let scripts = names.iter().enumerate().map(|(n, (owner, team, _))| {
        let name = format!("t{n}");
        let mut rights = vec![&*name, "--owner", owner, "--permissions", "read,write", "--key", "shop"];
        rights.extend(team.iter().flat_map(|team| ["--team", team]));
        Script { daemon: &daemon, token: token(&place, &rights) }
    });
    let scripts: Vec<_> = scripts.collect();
    let chat = json!({"conversation_type": "chat"});
    let plan = json!({"conversation_type": "planning", "project_name": "Ship"});
    for (bank, request, of_projects) in [("global:default", chat, false), ("project:ship", plan, true)] {
        let own: Vec<_> = (0..names.len()).filter(|n| !of_projects || names[*n].2).collect();
        for n in &own {
            scripts[*n].send(Method::POST, "/banks/activate", Some(request.clone())).await;
            let said = json!({"bank": bank, "content": format!("I prefer the word zebra{n}z in answers.")});
            let (status, updated) = scripts[*n].send(Method::POST, "/banks/update", Some(said)).await;
            assert_eq!((status, &updated["status"]), (StatusCode::OK, &json!("success")), "{updated}");
        }
        for n in &own {
            let (_, seen) = scripts[*n].send(Method::POST, "/banks/activate", Some(request.clone())).await;
            let text = seen["content"].to_string();
            let found: Vec<_> = own.iter().filter(|other| text.contains(&format!("zebra{other}z"))).collect();
            assert_eq!(found, [n], "{bank} of {:?}: {text}", names[*n]);
        }
    }
}

#[tokio::test]
async fn the_number_of_an_update_is_its_senders_own_and_no_other_global_bank_is_named() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let [ana, ben] = ["ana", "ben"].map(|name| {
        let rights = [name, "--permissions", "read,write", "--key", "shop", "--team", "red"];
        Script { daemon: &daemon, token: token(&place, &rights) }
    });
    let update = async |script: &Script<'_>, said: &str| {
        let update = json!({"bank": "code:shop", "content": said, "conversation_id": "c", "update_count": 1});
        script.send(Method::POST, "/banks/update", Some(update)).await.1
    };
    ana.send(Method::POST, "/banks/activate", Some(json!({"conversation_type": "coding"}))).await;
    let applied = |updated: &Value| updated["applied"].as_array().unwrap().len();
    assert!(applied(&update(&ana, "- Finished the blue page").await) > 0);
    assert!(applied(&update(&ben, "- Finished the red page").await) > 0);
    let again = update(&ben, "- Finished the red page").await;
    assert_eq!((&again["applied"], &again["previous_errors"]), (&json!([]), &json!([])), "{again}");
    let other = update(&ben, "- Finished the green page").await;
    assert_eq!((&other["status"], &other["applied"]), (&json!("success"), &json!([])), "{other}");
    assert!(other["previous_errors"].to_string().contains("this update was filed before"), "{other}");

    for bank in ["global:other", "global:ben", "global:"] {
        let update = json!({"bank": bank, "content": "I prefer zebras."});
        let (status, refused) = ana.send(Method::POST, "/banks/update", Some(update)).await;
        assert_eq!((status, &refused["error"]["code"]), (StatusCode::NOT_FOUND, &json!("not_found")), "{refused}");
    }
    let update = json!({"bank": "global:default", "content": "I prefer zebras."});
    assert_eq!(ana.send(Method::POST, "/banks/update", Some(update)).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_team_has_the_bank_that_an_earlier_version_kept_unless_another_team_can_have_filled_it() {
    let place = place_with_all_tools();
    // The id of a project with this name is the one that earlier versions gave to the bank of the team.
    for team in ["red", "web"] {
        let name = format!("team/{team}/ship");
        let begun = place.document(&["bank", "activate", "project", "--project-name", &name]);
        let bank = format!("project:{}", begun["bank_info"]["id"].as_str().unwrap());
        place.run(&["bank", "update", "I prefer the word zebra in answers.", "--bank", &bank]).ok();
    }
    let tokens = ["red", "web", "Web"].map(|team| token(&place, &[team, "--key", "shop", "--team", team]));
    let daemon = Daemon::start(&place, &[]);
    let mut sees = Vec::new();
    for token in tokens {
        let plan = json!({"conversation_type": "planning", "project_name": "Ship"});
        let script = Script { daemon: &daemon, token };
        let (status, seen) = script.send(Method::POST, "/banks/activate", Some(plan)).await;
        assert_eq!(status, StatusCode::OK, "{seen}");
        sees.push(seen["content"].to_string().contains("zebra"));
    }
    assert_eq!(sees, [true, false, false]);
}

#[tokio::test]
async fn whoever_looks_for_a_bank_registers_no_workspace() {
    let place = place_with_all_tools();
    let daemon = Daemon::start(&place, &[]);
    let rights = ["writer", "--permissions", "read,write", "--all-workspaces", "--team", "red"];
    let writer = Script { daemon: &daemon, token: token(&place, &rights) };
    let ask = async |method: Method, path: &str, body: Value| {
        let request = daemon.http.request(method, daemon.url.replace("/mcp", &format!("/api/v1{path}")));
        document(request.bearer_auth(&writer.token).json(&body).send().await.unwrap()).await
    };
    let keys = async || {
        let (_, listed) = ask(Method::GET, "/workspaces", json!(null)).await;
        let listed = listed["workspaces"].as_array().unwrap().clone();
        listed.iter().map(|it| it["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let restore = json!({"version": "2026-11-28T09:30:00Z"});
    for (method, path, body) in [
        (Method::GET, "/banks/code%3Anew/versions", json!(null)),
        (Method::POST, "/banks/code%3Anew/restore", restore),
        (Method::GET, "/memories?workspace=new", json!(null)),
        (Method::POST, "/memories/search", json!({"query": "locks", "workspace": "new"})),
        (Method::POST, "/episodes/search", json!({"query": "locks", "workspace": "new"})),
        (Method::POST, "/patterns/search", json!({"query": "locks", "workspace": "new"})),
        (Method::POST, "/context", json!({"task": "Take locks", "workspace": "new"})),
        (Method::POST, "/recovery", json!({"error": "deadlock", "workspace": "new"})),
        (Method::GET, "/episodes?workspace=new", json!(null)),
        (Method::GET, "/workspaces/new", json!(null)),
    ] {
        ask(method, path, body).await;
        assert_eq!(keys().await, Vec::<String>::new(), "{path}");
    }
    let activate = json!({"conversation_type": "coding", "current_path": "new"});
    let (status, activated) = ask(Method::POST, "/banks/activate", activate).await;
    assert_eq!((status, keys().await), (StatusCode::OK, vec!["new".to_owned()]), "{activated}");
}
