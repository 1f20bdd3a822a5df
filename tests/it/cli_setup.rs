//! Tests of `setup` through the real binary, on the files of clients as people have them.

mod again;
mod plugins;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::Place;

const CLAUDE: &str = "home/.claude.json";

/// Every file, link and directory below the home and the configuration, with what is in it and its permissions.
fn tree(place: &Place) -> BTreeMap<String, String> {
    fn visit(path: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(path).into_iter().flatten() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let mode = metadata.permissions().mode();
            let what = if metadata.is_symlink() {
                format!("link to {}", fs::read_link(&path).unwrap().display())
            } else if metadata.is_dir() {
                visit(&path, found);
                "directory".to_owned()
            } else {
                format!("{mode:o} {}", fs::read_to_string(&path).unwrap())
            };
            found.insert(path.display().to_string(), what);
        }
    }
    let mut found = BTreeMap::new();
    for top in ["home", "config", "project", "xdg-data/reasoning-bank-setup"] {
        visit(&place.path(top), &mut found);
    }
    found
}

/// A home in which ten clients are used, with files as their owners write them.
fn lived_in() -> Place {
    let place = Place::with_instant_model();
    place.write(CLAUDE, "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}}\n}");
    let codex = "model = \"o\" # mine\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n";
    place.write("home/.codex/config.toml", codex);
    place.write("home/dotfiles/gemini.json", "\u{feff}{\n\t// a note\n\t\"theme\": \"dark\", /* why */\n}\n");
    place.write("home/.gemini/projects.json", "{}");
    let linked = place.path("home/.gemini/settings.json");
    std::os::unix::fs::symlink("../dotfiles/gemini.json", linked).unwrap();
    place.write("config/opencode/opencode.jsonc", "{ \"model\": \"m\" /* inline */ }\n");
    place.write("home/.cursor/mcp.json", "");
    fs::create_dir_all(place.path("config/Code/User")).unwrap();
    fs::create_dir_all(place.path("home/.codeium/windsurf")).unwrap();
    fs::create_dir_all(place.path("home/.cline")).unwrap();
    place.write("config/zed/settings.json", "// Zed settings\n{\n  \"vim_mode\": true,\n}\n");
    place.write("config/goose/config.yaml", "GOOSE_MODEL: m # why\nextensions:\n  developer:\n    enabled: true\n");
    fs::set_permissions(place.path(CLAUDE), fs::Permissions::from_mode(0o600)).unwrap();
    place
}

/// The arguments of a server, whose bank the environment of the tests names.
fn in_data(place: &Place, arguments: &[&str]) -> Vec<String> {
    let directory = ["--data-dir".to_owned(), place.path("data").display().to_string()];
    directory.into_iter().chain(arguments.iter().map(|&argument| argument.to_owned())).collect()
}

fn changes(report: &Value) -> Vec<&str> {
    report["files"].as_array().unwrap().iter().map(|file| file["change"].as_str().unwrap()).collect()
}

#[test]
fn ten_clients_are_found_and_set_up_and_taken_back_to_the_byte() {
    let place = lived_in();
    let before = tree(&place);
    let report = place.document(&["setup", "--yes", "--instructions"]);
    assert_eq!(report["clients"].as_array().unwrap().len(), 10);
    assert_eq!(report["tools"], 6);
    // Cursor, VS Code, Windsurf and Cline have no instructions of the user, and no project is written into.
    let left_out = report["left_out"].as_array().unwrap();
    assert_eq!(left_out.len(), 5, "{report}");
    let hooks = "no hooks are written for Claude Code, Codex, Gemini CLI, Cursor: with --with-hooks";
    assert!(left_out.iter().any(|sentence| sentence.as_str().unwrap().starts_with(hooks)), "{report}");
    let is_of_project = |file: &Value| Path::new(file["path"].as_str().unwrap()).starts_with(place.path("project"));
    assert!(!report["files"].as_array().unwrap().iter().any(is_of_project), "{report}");
    assert_eq!(fs::metadata(place.path(CLAUDE)).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::symlink_metadata(place.path("home/.gemini/settings.json")).unwrap().is_symlink());
    let claude: Value = serde_json::from_str(&fs::read_to_string(place.path(CLAUDE)).unwrap()).unwrap();
    let binary = place.path("xdg-data/reasoning-bank-setup/bin/reasoning-bank");
    let server = json!({ "type": "stdio", "command": binary, "args": in_data(&place, &["--llm", "none", "mcp"]) });
    assert_eq!(claude["mcpServers"], json!({ "other": { "command": "x" }, "reasoning-bank": server }));

    let after = tree_without_binary(&place);
    let again = place.document(&["setup", "--yes", "--instructions"]);
    assert!(changes(&again).iter().all(|&change| change == "unchanged"), "{again}");
    assert_eq!(tree_without_binary(&place), after);

    let taken = place.document(&["setup", "--uninstall", "--yes"]);
    assert!(changes(&taken).iter().all(|&change| change != "unchanged"), "{taken}");
    assert_eq!(tree(&place), before);
    assert_eq!(place.document(&["setup", "--uninstall", "--yes"])["files"], json!([]));
    assert_eq!(tree(&place), before);
}

fn tree_without_binary(place: &Place) -> BTreeMap<String, String> {
    let binary = place.path("xdg-data/reasoning-bank-setup/bin");
    // The copy is no text.
    let aside = place.path("binary-aside");
    fs::rename(&binary, &aside).unwrap();
    let found = tree(place);
    fs::rename(&aside, &binary).unwrap();
    found
}

#[test]
fn of_a_file_that_was_changed_since_the_own_entries_alone_are_taken_out() {
    let place = Place::with_instant_model();
    place.run(&["setup", "claude-code", "codex", "--yes"]).ok();
    let text = fs::read_to_string(place.path(CLAUDE)).unwrap();
    place.write(CLAUDE, &text.replacen('{', "{\n  \"numStartups\": 1, // since", 1));
    let taken = place.document(&["setup", "claude-code", "--uninstall", "--yes"]);
    assert_eq!(changes(&taken), ["changed"]);
    assert_eq!(fs::read_to_string(place.path(CLAUDE)).unwrap(), "{\n  \"numStartups\": 1 // since\n}\n");
    // The other client is as it was.
    assert!(fs::read_to_string(place.path("home/.codex/config.toml")).unwrap().contains("reasoning-bank"));
    place.run(&["setup", "--uninstall", "--yes"]).ok();
    assert!(!place.path("home/.codex").exists() && !place.path("xdg-data/reasoning-bank-setup").exists());
}

#[test]
fn what_cannot_be_written_or_read_is_told_before_anything_is_written() {
    let twice = "{ \"mcpServers\": {}, \"mcpServers\": {} }";
    let no_map = "{ \"mcpServers\": [] }";
    for (text, mode) in [("{}", 0o444), ("{ \"mcpServers\": ", 0o644), (no_map, 0o644), (twice, 0o644)] {
        let place = Place::with_instant_model();
        place.write("home/.cursor/mcp.json", text);
        fs::set_permissions(place.path("home/.cursor/mcp.json"), fs::Permissions::from_mode(mode)).unwrap();
        let before = tree(&place);
        let ran = place.run(&["setup", "claude-code", "cursor", "--yes"]).exits(2);
        assert!(ran.stderr.contains(".cursor/mcp.json") && ran.stderr.contains("hint:"), "{}", ran.stderr);
        assert_eq!(tree(&place), before);
    }
}

#[test]
fn without_consent_and_in_a_dry_run_nothing_is_written() {
    let place = lived_in();
    let before = tree(&place);
    let shown = place.run(&["setup", "--dry-run"]).ok();
    assert!(shown.stdout.contains("+++") && shown.stdout.contains("would be changed"), "{}", shown.stdout);
    assert_eq!(tree(&place), before);
    let asked = place.run(&["setup"]).exits(2);
    assert!(asked.stderr.contains("--yes agrees"), "{}", asked.stderr);
    assert_eq!(tree(&place), before);
}

#[test]
fn a_server_of_a_team_is_reached_over_the_bridge_and_the_token_is_never_written() {
    let place = Place::with_instant_model();
    let url = "https://bank.example.org/mcp";
    let arguments = ["--json", "setup", "gemini-cli", "codex", "--yes", "--http", url, "--token-env", "TEAM_TOKEN"];
    let report = place.run(&arguments).ok().json();
    assert_eq!(report["not_checked"], "TEAM_TOKEN is not set here");
    let gemini: Value =
        serde_json::from_str(&fs::read_to_string(place.path("home/.gemini/settings.json")).unwrap()).unwrap();
    let server = &gemini["mcpServers"]["reasoning-bank"];
    assert_eq!(server["args"], json!(["mcp", "--server", url, "--token-env", "TEAM_TOKEN"]));
    assert_eq!(server["env"], json!({ "TEAM_TOKEN": "$TEAM_TOKEN" }));
    let codex = fs::read_to_string(place.path("home/.codex/config.toml")).unwrap();
    assert!(codex.contains("env_vars = [\"TEAM_TOKEN\"]"), "{codex}");
}

#[test]
fn hooks_are_written_where_they_are_asked_for_and_taken_back_with_the_server() {
    let place = Place::with_instant_model();
    let own = r#"{ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": "mine" }] }] } }"#;
    place.write("home/.claude/settings.json", own);
    let before = tree(&place);
    place.run(&["setup", "claude-code", "--with-hooks", "--yes"]).ok();
    let settings: Value =
        serde_json::from_str(&fs::read_to_string(place.path("home/.claude/settings.json")).unwrap()).unwrap();
    assert_eq!(settings["hooks"]["SessionStart"][0]["hooks"][0]["command"], "mine");
    let hook = &settings["hooks"]["PostToolUseFailure"][0]["hooks"][0];
    let check = |name: &str| {
        let checks = place.run(&["--llm", "none", "--json", "doctor"]).ok().json()["checks"].clone();
        checks.as_array().unwrap().iter().find(|check| check["name"] == name).unwrap().clone()
    };
    assert_eq!((&check("hooks")["status"], &check("servers")["status"]), (&json!("ok"), &json!("ok")));
    let (binary, aside) = (hook["command"].as_str().unwrap(), place.path("aside"));
    fs::rename(binary, &aside).unwrap();
    for gone in [check("hooks"), check("servers")] {
        assert_eq!(gone["status"], "warn", "{gone}");
        assert!(gone["detail"].as_str().unwrap().contains(binary), "{gone}");
    }
    fs::rename(&aside, binary).unwrap();
    assert_eq!(hook["args"], json!(["--data-dir", place.path("data"), "hook", "claude-code", "PostToolUseFailure"]));
    let again = place.document(&["setup", "claude-code", "--with-hooks", "--yes"]);
    assert!(changes(&again).iter().all(|&change| change == "unchanged"), "{again}");
    place.run(&["setup", "--uninstall", "--yes"]).ok();
    assert_eq!(tree(&place), before);
}

#[test]
fn hooks_follow_the_server_to_another_data_directory() {
    let place = Place::with_instant_model();
    place.run(&["setup", "claude-code", "--with-hooks", "--yes"]).ok();
    let other = place.path("other");
    place.run(&["--data-dir", other.to_str().unwrap(), "setup", "claude-code", "--yes"]).ok();
    let settings = fs::read_to_string(place.path("home/.claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let groups = settings["hooks"].as_object().unwrap();
    assert_eq!(groups.len(), 6, "{settings}");
    for group in groups.values() {
        assert_eq!(group[0]["hooks"][0]["args"][1], json!(other), "{group}");
        assert_eq!(group.as_array().unwrap().len(), 1, "{group}");
    }
}

#[test]
fn hooks_of_clients_that_run_a_shell_are_one_line_and_stand_beside_the_server_where_that_is_one_file() {
    let place = Place::with_instant_model();
    place.write("home/.gemini/settings.json", "{\n  // mine\n  \"ui\": {}\n}\n");
    let before = tree(&place);
    place.run(&["setup", "codex", "gemini-cli", "--with-hooks", "--yes"]).ok();
    let arguments = format!("--data-dir {} hook codex PostToolUse", place.path("data").display());
    let codex: Value =
        serde_json::from_str(&fs::read_to_string(place.path("home/.codex/hooks.json")).unwrap()).unwrap();
    assert_eq!(codex.as_object().unwrap().keys().collect::<Vec<_>>(), ["hooks"], "Codex refuses any other key");
    let hook = &codex["hooks"]["PostToolUse"][0]["hooks"][0];
    let written = hook["command"].as_str().unwrap();
    assert!(written.starts_with('/') && written.ends_with(&arguments), "{written}");
    let gemini = fs::read_to_string(place.path("home/.gemini/settings.json")).unwrap();
    assert!(gemini.contains("// mine") && gemini.contains("mcpServers"), "{gemini}");
    assert!(gemini.contains("hook gemini-cli BeforeAgent") && gemini.contains("\"timeout\": 5000"), "{gemini}");
    assert!(gemini.contains("hook gemini-cli SessionEnd"), "{gemini}");
    let again = place.document(&["setup", "codex", "gemini-cli", "--with-hooks", "--yes"]);
    assert!(changes(&again).iter().all(|&change| change == "unchanged"), "{again}");
    place.run(&["setup", "--uninstall", "--yes"]).ok();
    assert_eq!(tree(&place), before);
}

#[test]
fn cursor_gets_its_hooks_in_a_file_with_a_version_and_keeps_those_of_others() {
    let place = Place::with_instant_model();
    place.write("home/.cursor/mcp.json", "{}\n");
    let before = tree(&place);
    let hooks = || -> Value {
        serde_json::from_str(&fs::read_to_string(place.path("home/.cursor/hooks.json")).unwrap()).unwrap()
    };
    place.run(&["setup", "cursor", "--with-hooks", "--yes"]).ok();
    assert_eq!(hooks()["version"], 1);
    let hook = &hooks()["hooks"]["sessionStart"][0];
    assert!(hook["command"].as_str().unwrap().ends_with("hook cursor sessionStart"), "{hook}");
    let hook = &hooks()["hooks"]["postToolUse"][0];
    assert!(hook["command"].as_str().unwrap().ends_with("hook cursor postToolUse"), "{hook}");
    assert_eq!(hook["matcher"], "Shell", "other tools run no commands");
    let again = place.document(&["setup", "cursor", "--with-hooks", "--yes"]);
    assert!(changes(&again).iter().all(|&change| change == "unchanged"), "{again}");
    place.run(&["setup", "--uninstall", "--yes"]).ok();
    assert_eq!(tree(&place), before);

    let others = json!({ "version": 1, "hooks": { "stop": [{ "command": "mine" }] } });
    place.write("home/.cursor/hooks.json", &others.to_string());
    place.run(&["setup", "cursor", "--with-hooks", "--yes"]).ok();
    let mut changed = hooks();
    changed["hooks"]["afterFileEdit"] = json!([{ "command": "mine too" }]);
    place.write("home/.cursor/hooks.json", &changed.to_string());
    place.run(&["setup", "cursor", "--uninstall", "--yes"]).ok();
    let left = json!({
        "version": 1, "hooks": { "stop": [{ "command": "mine" }], "afterFileEdit": [{ "command": "mine too" }] },
    });
    assert_eq!(hooks(), left);
}

#[test]
fn hooks_that_a_client_cannot_have_are_told() {
    let place = Place::with_instant_model();
    place.write("home/.claude.json", "{}\n");
    let before = tree(&place);
    for arguments in [&["setup", "zed"][..], &["setup", "codex", "--scope", "project"], &["setup", "zed", "goose"]] {
        let ran = place.run(&[arguments, &["--with-hooks", "--yes"]].concat()).exits(2);
        assert!(
            ran.stderr.contains("error: --with-hooks: ") && ran.stderr.contains("hint: leave out"),
            "{}",
            ran.stderr
        );
        assert_eq!(tree(&place), before);
    }
    let report = place.document(&["setup", "claude-code", "zed", "--with-hooks", "--yes"]);
    assert_eq!(report["left_out"], json!(["no hooks are written: Zed has no hooks that are supported"]));
    assert!(place.path("config/zed/settings.json").exists() && place.path("home/.claude/settings.json").exists());
    // Clients that were found are set up, also where none of them has hooks.
    let place = Place::with_instant_model();
    place.write("config/goose/config.yaml", "");
    let shown = place.run(&["setup", "--with-hooks", "--yes"]).ok();
    assert!(shown.stdout.contains("no hooks are written: Goose has no hooks"), "{}", shown.stdout);
}

#[test]
fn instructions_are_written_into_a_project_only_where_that_is_asked_for() {
    let place = Place::with_instant_model();
    let ran = place.run(&["setup", "cursor", "--instructions", "--yes"]).exits(2);
    assert!(ran.stderr.contains("error: --instructions: Cursor documents no file"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--scope project"), "{}", ran.stderr);
    assert!(!place.path("project/AGENTS.md").exists() && !place.path("home/.cursor").exists());
    place.run(&["setup", "zed", "--instructions", "--yes"]).ok();
    assert!(fs::read_to_string(place.path("config/zed/AGENTS.md")).unwrap().contains("retrieve_memories"));
    place.run(&["setup", "cursor", "--instructions", "--scope", "project", "--yes"]).ok();
    assert!(fs::read_to_string(place.path("project/AGENTS.md")).unwrap().contains("retrieve_memories"));
}

#[test]
fn doctor_misses_no_key_once_the_clients_are_set_up_without_one() {
    let place = Place::with_instant_model();
    assert!(place.run(&["doctor"]).exits(1).stdout.contains("fail  key"));
    place.run(&["setup", "claude-code", "opencode", "--yes"]).ok();
    let key = place.document(&["doctor"])["checks"][1].clone();
    assert_eq!((&key["name"], &key["status"]), (&json!("key"), &json!("ok")));
    assert!(key["detail"].as_str().unwrap().contains("Claude Code, OpenCode"), "{key}");
}

#[test]
fn a_key_is_named_and_never_written() {
    let place = Place::with_instant_model();
    let mut command = place.command(&["--json", "setup", "codex", "--dry-run"]);
    let ran = crate::support::Ran::of(command.env("OPENROUTER_API_KEY", "sk-or-v1-0123456789abcdef").output().unwrap());
    let report = ran.ok().json();
    let diff = report["files"][0]["diff"].as_str().unwrap();
    let arguments = json!(in_data(&place, &["mcp"])).to_string().replace(',', ", ");
    assert!(
        diff.contains(&format!("args = {arguments}")) && diff.contains("env_vars = [\"OPENROUTER_API_KEY\"]"),
        "{diff}"
    );
    assert!(!diff.contains("sk-or"), "{diff}");
}

#[test]
fn clients_that_are_not_there_are_named_and_a_project_has_files_of_its_own() {
    let place = Place::with_instant_model();
    let ran = place.run(&["setup", "--yes"]).exits(2);
    assert!(ran.stderr.contains("no client is found") && ran.stderr.contains("claude-code"), "{}", ran.stderr);
    place.run(&["setup", "goose", "--scope", "project", "--yes"]).exits(2);
    fs::create_dir_all(place.path("home/.codeium/windsurf")).unwrap();
    let found = place.run(&["setup", "--scope", "project", "--yes"]).exits(2);
    assert!(found.stderr.contains("Windsurf has no configuration file of a project"), "{}", found.stderr);
    fs::create_dir_all(place.path("home/.cursor")).unwrap();
    let left_out = place.document(&["setup", "--scope", "project", "--dry-run"])["left_out"].to_string();
    assert!(left_out.contains("no server is written: Windsurf"), "{left_out}");
    let report = place.document(&["setup", "claude-code", "vscode", "--scope", "project", "--dry-run"]);
    let paths: Vec<_> = report["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, [json!(place.path("project/.mcp.json")), json!(place.path("project/.vscode/mcp.json"))]);
}

#[test]
fn a_secret_in_an_argument_is_refused_and_an_entry_by_hand_is_left_alone() {
    let place = Place::with_instant_model();
    let with = |url: &str, name: &str| {
        let arguments = ["--json", "setup", "codex", "--yes", "--http", url, "--token-env", name];
        place.run(&arguments).exits(2).json()["error"]["message"].to_string()
    };
    assert!(with("https://me:hunter2@bank.example.org/mcp", "TEAM_TOKEN").contains("--http"));
    assert!(with("https://bank.example.org/mcp?key=hunter2", "TEAM_TOKEN").contains("--http"));
    assert!(with("http://bank.example.org/mcp", "TEAM_TOKEN").contains("--http: is not encrypted"));
    assert!(with("https://bank.example.org/", "TEAM_TOKEN").contains("--http: does not end in /mcp"));
    assert!(with("https://bank.example.org/mcp", "not a name").contains("--token-env"));
    assert!(!place.path("home/.codex").exists());

    let by_hand = "{\"mcpServers\": {\"reasoning-bank\": {\"command\": \"/my/own/wrapper\"}}}\n";
    place.write(CLAUDE, by_hand);
    assert_eq!(place.document(&["setup", "--uninstall", "--yes"])["files"], json!([]));
    assert_eq!(fs::read_to_string(place.path(CLAUDE)).unwrap(), by_hand);
}

#[test]
fn without_a_receipt_only_what_is_certainly_ours_is_taken_out() {
    let place = Place::with_instant_model();
    let before = tree(&place);
    place.run(&["setup", "claude-code", "codex", "--with-hooks", "--instructions", "--yes"]).ok();
    fs::remove_dir_all(place.path("xdg-data/reasoning-bank-setup")).unwrap();
    let told = place.document(&["setup", "--uninstall", "--yes"]);
    assert_eq!(told["files"], json!([]));
    assert!(told["left_out"].to_string().contains("`reasoning-bank setup claude-code --uninstall`"), "{told}");
    let taken = place.document(&["setup", "claude-code", "codex", "--uninstall", "--yes"]);
    assert_eq!(taken["left_out"], Value::Null, "{taken}");
    let left = tree(&place);
    let named = left.iter().filter(|(path, _)| !before.contains_key(*path));
    assert!(named.into_iter().all(|(_, text)| !text.contains("reasoning-bank")), "{left:?}");

    let by_hand = "{\"mcpServers\": {\"reasoning-bank\": {\"command\": \"/my/own/wrapper\"}}}\n";
    place.write(CLAUDE, by_hand);
    let told = place.run(&["setup", "claude-code", "--uninstall", "--yes"]).ok().stdout;
    assert!(told.contains(".claude.json stays, because it does not start `reasoning-bank mcp`"), "{told}");
    assert_eq!(fs::read_to_string(place.path(CLAUDE)).unwrap(), by_hand);
}

#[test]
fn a_project_is_taken_back_alone() {
    let place = Place::with_instant_model();
    place.run(&["setup", "claude-code", "--yes"]).ok();
    place.run(&["setup", "claude-code", "--yes", "--scope", "project"]).ok();
    assert!(place.path("project/.mcp.json").exists());
    place.run(&["setup", "--uninstall", "--yes", "--scope", "project"]).ok();
    assert!(!place.path("project/.mcp.json").exists());
    assert!(fs::read_to_string(place.path(CLAUDE)).unwrap().contains("reasoning-bank"));
}
