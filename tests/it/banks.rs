//! Tests of memory banks through the real binary: an agent activates and updates, people edit, processes are killed.

mod commands;
mod export;
mod hostile;
mod kills;
mod model;
mod moved;
mod person;
mod settings;
mod upkeep;

use std::path::Path;

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn place_with_banks(more: &str) -> Place {
    let place = Place::new();
    let config = format!("mcp.toolsets = ['banks', 'workspace', 'context']\nllm.provider = 'none'\n{more}");
    place.write("config/reasoning-bank/config.toml", &config);
    place
}

fn text_of(activated: &Value) -> String {
    let files = activated["content"].as_object().unwrap().values();
    files.map(|text| text.as_str().unwrap()).collect()
}

/// Reads all files below a directory.
fn read_all(dir: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            text.push_str(&read_all(&path));
        } else if kind.is_file() {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
    text
}

#[test]
fn a_bank_begins_with_templates_comes_from_the_cache_and_outlives_a_restart() {
    let place = place_with_banks("");
    let mut process = McpProcess::initialized(&place, &[]);
    let code = json!({"conversation_type": "coding", "project_description": "A parser for logs of ships."});
    let first = process.call("activate", code.clone());
    assert_eq!((&first["status"], &first["bank_info"]["type"]), (&json!("success"), &json!("code")), "{first}");
    let files = [
        "activeContext.md",
        "productContext.md",
        "progress.md",
        "projectbrief.md",
        "systemPatterns.md",
        "techContext.md",
    ];
    assert_eq!(first["bank_info"]["files"], json!(files));
    assert!(text_of(&first).contains("A parser for logs of ships."));
    assert!(first["content"]["progress.md"].as_str().unwrap().starts_with("<submitted-text>\n# Progress"));
    assert!(first["custom_instructions"].as_str().unwrap().contains("`update`"));
    assert_eq!(first["cache"]["hit"], false);
    assert_eq!(process.call("activate", code.clone())["cache"]["hit"], true);

    let said = "We decided to use SQLite because it needs no server.";
    let update = json!({"content": said, "conversation_id": "c", "update_count": 1});
    let updated = process.call("update", update.clone());
    assert_eq!((&updated["status"], updated["applied"].as_array().unwrap().len()), (&json!("success"), 1), "{updated}");
    assert_eq!(process.call("update", update.clone())["applied"], json!([]), "the same update again adds nothing");
    assert!(!read_all(&place.path("data/banks")).contains(said), "the files are written later");
    process.kill();

    let mut process = McpProcess::initialized(&place, &[]);
    let nowhere = json!({"conversation_type": "coding", "current_path": "/nonexistent/shop"});
    let refused = process.call_failing("activate", nowhere);
    assert!(refused["message"].as_str().unwrap().contains("current_path: is not there"), "{refused}");
    let refused = process.call_failing("update", json!({"content": "x", "update_count": 1}));
    assert!(refused["message"].as_str().unwrap().contains("update_count: counts the updates"), "{refused}");
    let refused = process.call_failing("update", update.clone());
    assert_eq!(refused["code"], "invalid_argument", "a session without a bank is told to activate one: {refused}");
    let again = process.call("activate", code);
    assert_eq!(text_of(&again).matches(said).count(), 1, "{again}");
    assert_eq!(process.call("update", update)["applied"], json!([]), "nor does it after a restart");
    let large = format!("# Notes of a long day\n\n{}", "The converter reads each line of the log once. ".repeat(500));
    assert_eq!(process.call("update", json!({"content": large}))["status"], "success");
    let files = read_all(&place.path("data/banks"));
    assert!(files.contains(said) && files.contains("converter reads each line"), "a large update is written at once");
    process.kill();

    let shown = place.document(&["bank", "show"]);
    assert!(shown["files"]["projectbrief.md"].as_str().unwrap().contains("logs of ships"), "{shown}");
    let listed = place.document(&["bank", "list"]);
    assert_eq!(listed["banks"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn conversations_have_the_bank_of_their_kind_and_what_is_wrong_is_said() {
    let place = place_with_banks("");
    let mut process = McpProcess::initialized(&place, &[]);
    let chat = process.call("activate", json!({"conversation_type": "chat"}));
    assert_eq!((&chat["bank_info"]["type"], &chat["bank_info"]["id"]), (&json!("global"), &json!("default")));
    let plan = process.call("activate", json!({"conversation_type": "planning", "project_name": "My App"}));
    assert_eq!((&plan["bank_info"]["type"], &plan["bank_info"]["id"]), (&json!("project"), &json!("my-app")));
    let said = "- Blocked: the certificate of the test server ran out.";
    let updated = process.call("update", json!({"content": said, "bank": "global:default"}));
    assert_eq!(updated["status"], "success", "{updated}");
    for (arguments, field) in [
        (json!({"conversation_type": "poetry"}), "conversation_type"),
        (json!({"conversation_type": "project"}), "project_name"),
        (json!({"conversation_type": "chat", "files": ["../x.md"]}), "files"),
        (json!({"conversation_type": "chat", "files": ["no.md"]}), "no.md"),
    ] {
        let refused = process.call_failing("activate", arguments);
        assert!(refused["message"].as_str().unwrap().contains(field), "{refused}");
    }
    for (content, bank) in [("   ", "global:default"), ("text", "team:x"), ("text", "project:../x")] {
        let refused = process.call_failing("update", json!({"content": content, "bank": bank}));
        assert_eq!(refused["code"], "invalid_argument", "{refused}");
    }
    let refused = process.call_failing("update", json!({"content": "text", "bank": "global:other"}));
    assert_eq!(refused["code"], "not_found", "{refused}");
    process.kill();
}

#[test]
fn a_workspace_that_is_deleted_takes_its_bank_with_it_and_a_backup_has_it() {
    let place = place_with_banks("");
    place.document(&["bank", "update", "We decided to use SQLite because it needs no server."]);
    assert!(read_all(&place.path("data/banks")).contains("SQLite"), "a command writes what it leaves");
    place.run(&["bank", "update", "I prefer short answers.", "--bank", "global:default"]).ok();
    let backup = place.path("backup");
    place.run(&["backup", "create", backup.to_str().unwrap()]).ok();
    assert!(read_all(&backup.join("bank/banks")).contains("SQLite"));
    place.run(&["backup", "verify", backup.to_str().unwrap()]).ok();
    let root = place.path("project");
    let deleted = place.run(&["workspace", "delete", root.to_str().unwrap(), "--yes"]).ok().stdout;
    assert!(deleted.contains("6 files of its memory bank"), "{deleted}");
    let left = read_all(&place.path("data/banks"));
    assert!(!left.contains("SQLite") && left.contains("short answers"), "{left}");
    assert!(!read_all(&place.path("data/bank-records")).contains("SQLite"));
}

#[test]
fn a_path_that_is_not_of_the_session_is_named_by_its_argument() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "mcp.toolsets = ['banks']\nllm.provider = 'none'\n");
    std::fs::create_dir_all(place.path("other")).unwrap();
    let mut process = McpProcess::initialized(&place, &[]);
    process.call("activate", json!({"conversation_type": "coding"}));
    let other = json!({"conversation_type": "coding", "current_path": place.path("other")});
    let refused = process.call_failing("activate", other);
    let (message, hint) = (refused["message"].as_str().unwrap(), refused["hint"].as_str().unwrap());
    assert!(
        message.starts_with("current_path: ") && message.contains("is not the workspace of this session"),
        "{refused}"
    );
    assert!(!hint.contains("`workspace`"), "{refused}");
    process.end();
}
