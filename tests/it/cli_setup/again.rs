//! Tests of a set-up that is run again: what an entry said stays, and where the bank is stands in the entry.

use std::fs;

use serde_json::{Value, json};

use super::{CLAUDE, changes, in_data};
use crate::support::{Place, Ran};
use crate::terminal::on_terminal;

/// The arguments of the server of Claude Code.
fn arguments(place: &Place) -> Value {
    let document: Value = serde_json::from_str(&fs::read_to_string(place.path(CLAUDE)).unwrap()).unwrap();
    document["mcpServers"]["reasoning-bank"]["args"].clone()
}

#[test]
fn a_server_of_a_team_stays_when_set_up_is_run_again() {
    let place = Place::with_instant_model();
    let url = "https://bank.example.org/mcp";
    place.run(&["setup", "claude-code", "codex", "--yes", "--http", url, "--token-env", "TEAM_TOKEN"]).ok();
    let bridge = json!(["mcp", "--server", url, "--token-env", "TEAM_TOKEN"]);
    assert_eq!(arguments(&place), bridge);
    let again = place.document(&["setup", "claude-code", "codex", "--yes"]);
    assert!(changes(&again).iter().all(|&change| change == "unchanged"), "{again}");
    assert!(again["left_out"].to_string().contains("Codex keeps its arguments `mcp --server https"), "{again}");
    assert_eq!(again["not_checked"], "TEAM_TOKEN is not set here");
    let hooks = place.run(&["setup", "claude-code", "--with-hooks", "--yes"]).exits(2);
    assert!(hooks.stderr.contains("Claude Code uses a server elsewhere"), "{}", hooks.stderr);
    place.run(&["setup", "claude-code", "--llm", "none", "--yes"]).ok();
    assert_eq!(arguments(&place), json!(in_data(&place, &["--llm", "none", "mcp"])));
}

#[test]
fn another_data_directory_stays_when_set_up_is_run_again() {
    let place = Place::with_instant_model();
    let other = place.path("other").display().to_string();
    place.run(&["--data-dir", &other, "setup", "claude-code", "--with-hooks", "--yes"]).ok();
    let written = json!(["--data-dir", other, "--llm", "none", "mcp"]);
    assert_eq!(arguments(&place), written);
    let again = place.document(&["setup", "claude-code", "--yes"]);
    assert!(changes(&again).iter().all(|&change| change == "unchanged"), "{again}");
    assert_eq!(arguments(&place), written);
    place.run(&["setup", "claude-code", "--yes", "--llm", "simulated"]).ok();
    assert_eq!(arguments(&place), json!(["--data-dir", other, "--llm", "simulated", "mcp"]));
}

#[test]
fn the_server_is_told_where_the_bank_and_the_settings_are() {
    let place = Place::with_instant_model();
    let settings = place.write("home/own.toml", "[llm]\nprovider = 'simulated'\n");
    let set_up = |arguments: &[&str], changes: fn(&mut std::process::Command)| {
        let mut command = place.command(arguments);
        changes(&mut command);
        Ran::of(command.output().unwrap()).ok();
    };
    set_up(&["--config", settings.to_str().unwrap(), "setup", "claude-code", "--yes"], |_| {});
    assert_eq!(arguments(&place), json!(["--config", settings, "--data-dir", place.path("data"), "mcp"]));
    fs::remove_file(place.path(CLAUDE)).unwrap();
    // A client that hands on nothing but the home finds the same bank.
    set_up(&["setup", "claude-code", "--yes"], |command| {
        command.env_remove("REASONING_BANK_DATA").env_remove("XDG_DATA_HOME");
    });
    assert_eq!(arguments(&place), json!(["--llm", "none", "mcp"]));
}

#[test]
fn hooks_that_ask_another_bank_than_the_server_are_told() {
    let place = Place::with_instant_model();
    place.run(&["setup", "claude-code", "--with-hooks", "--yes"]).ok();
    let report = place.document(&["setup", "claude-code", "--yes", "--http", "https://bank.example.org/mcp"]);
    let told = report["left_out"].to_string();
    assert!(told.contains("the hooks of Claude Code still ask the bank of this machine"), "{told}");
}

#[test]
fn on_a_terminal_hooks_are_asked_for_and_written_unless_they_are_declined() {
    for (typed, has_hooks) in [("\ny\n", true), ("n\ny\n", false)] {
        let place = Place::with_instant_model();
        let (code, shown) = on_terminal(place.command(&["setup", "claude-code"]), typed);
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("Let hooks tell the agents of Claude Code unasked what is known? [Y/n]"), "{shown}");
        assert_eq!(place.path("home/.claude/settings.json").exists(), has_hooks, "{shown}");
        assert_eq!(shown.contains("no hooks are written for Claude Code"), !has_hooks, "{shown}");
    }
    let place = Place::with_instant_model();
    let (_, shown) = on_terminal(place.command(&["setup", "zed"]), "y\n");
    assert!(!shown.contains("[Y/n]"), "Zed has no hooks: {shown}");
}

#[test]
fn what_is_lost_or_broken_in_one_file_keeps_no_other_from_being_taken_back() {
    let place = Place::with_instant_model();
    place.write(CLAUDE, "{ \"numStartups\": 3 }\n");
    place.run(&["setup", "claude-code", "codex", "--yes"]).ok();
    fs::remove_dir_all(place.path("xdg-data/reasoning-bank-setup/backups")).unwrap();
    let written = fs::read_to_string(place.path(CLAUDE)).unwrap();
    place.write(CLAUDE, "{ broken");
    place.run(&["setup", "claude-code", "--uninstall", "--yes"]).exits(2);
    let taken = place.document(&["setup", "--uninstall", "--yes"]);
    assert!(taken["left_out"].to_string().contains(".claude.json cannot be read"), "{taken}");
    assert!(!place.path("home/.codex").exists());
    place.write(CLAUDE, &written);
    let taken = place.document(&["setup", "--uninstall", "--yes"]);
    assert!(taken["left_out"].to_string().contains("the backup of"), "{taken}");
    let left = fs::read_to_string(place.path(CLAUDE)).unwrap();
    assert!(left.contains("numStartups") && !left.contains("reasoning-bank"), "{left}");
    assert!(!place.path("xdg-data/reasoning-bank-setup").exists());
}

#[test]
fn new_files_of_a_project_may_be_read_by_others() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_instant_model();
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    place.run(&["setup", "claude-code", "--scope", "project", "--instructions", "--yes"]).ok();
    let others = place.write("project/other.txt", "");
    let usual = fs::metadata(others).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("project/.mcp.json"), mode("project/CLAUDE.md")], [usual, usual]);
    place.run(&["setup", "claude-code", "--yes"]).ok();
    assert_eq!(mode(CLAUDE), 0o600);
}

#[test]
fn doctor_says_where_a_client_runs_an_older_copy_or_has_a_broken_file() {
    let place = Place::with_instant_model();
    place.run(&["setup", "claude-code", "--yes"]).ok();
    let servers = || {
        let checks = place.run(&["--llm", "none", "--json", "doctor"]).ok().json()["checks"].clone();
        checks.as_array().unwrap().iter().find(|check| check["name"] == "servers").unwrap().clone()
    };
    assert_eq!(servers()["status"], "ok");
    let copy = place.path("xdg-data/reasoning-bank-setup/bin/reasoning-bank");
    fs::File::options().write(true).open(&copy).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let older = servers();
    assert_eq!(older["status"], "warn", "{older}");
    assert!(older["detail"].as_str().unwrap().contains("which is an older version"), "{older}");
    place.run(&["setup", "claude-code", "--yes"]).ok();
    assert_eq!(servers()["status"], "ok");
    let written = fs::read_to_string(place.path(CLAUDE)).unwrap();
    place.write(CLAUDE, &format!("{written}}}"));
    let broken = servers();
    assert_eq!(broken["status"], "warn", "{broken}");
    assert!(broken["detail"].as_str().unwrap().contains(".claude.json cannot be read: "), "{broken}");
}

#[test]
fn a_damaged_receipt_is_named_with_what_to_do_about_it() {
    let place = Place::with_instant_model();
    place.run(&["setup", "cursor", "--yes"]).ok();
    let receipt = place.write("xdg-data/reasoning-bank-setup/receipt.json", "");
    let refused = place.run(&["setup", "codex", "--yes"]).exits(2).stderr;
    assert!(refused.contains("receipt.json cannot be read") && refused.contains("move the file away"), "{refused}");
    fs::remove_file(receipt).unwrap();
    place.run(&["setup", "cursor", "--uninstall", "--yes"]).ok();
    assert!(!fs::read_to_string(place.path("home/.cursor/mcp.json")).unwrap_or_default().contains("reasoning-bank"));
}
