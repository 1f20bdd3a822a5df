//! Tests of `workspace` and its commands, through the real binary on a real store.

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};
use crate::terminal::on_terminal;

const LESSON: &[&str] = &["memory", "record", "--title", "t", "--description", "d", "--content", "c"];

/// Makes a place with a home that is no repository, and a lesson in `project`.
fn place() -> Place {
    let place = Place::new();
    place.run(LESSON).ok();
    place
}

fn repository(place: &Place, name: &str) {
    for part in ["objects", "refs"] {
        std::fs::create_dir_all(place.path(name).join(".git").join(part)).unwrap();
    }
    place.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
}

#[test]
fn workspaces_are_listed_and_shown_with_what_they_hold() {
    let place = place();
    let listed = place.document(&["workspace", "list"]);
    let project = place.path("project").display().to_string();
    assert_eq!(listed["workspaces"][0]["root"], project.as_str());
    assert_eq!(listed["workspaces"][0]["current"], true);
    let shown = place.document(&["workspace", "show"]);
    assert_eq!((&shown["memories"], &shown["registered"]), (&1.into(), &true.into()));
    assert_eq!(shown["origin"], "current directory");
    assert_eq!(shown["id"], listed["workspaces"][0]["id"]);

    let text = place.run(&["workspace", "show"]).ok().stdout;
    assert!(text.contains(&project) && text.contains("current directory"), "{text}");
    assert!(place.run(&["workspace", "list"]).ok().stdout.contains("1 workspace"));
    let unknown = place.run(&["--json", "workspace", "show", "--workspace", "0123456789abcdef"]).exits(2);
    assert_eq!(unknown.json()["error"]["code"], "workspace_unknown");
}

#[test]
fn the_default_counts_where_neither_a_flag_nor_a_repository_says_which() {
    let place = place();
    std::fs::create_dir_all(place.path("notes")).unwrap();
    let notes = place.path("notes").display().to_string();
    repository(&place, "repository");
    let origin_in = |directory: &str, arguments: &[&str]| {
        let mut command = place.command(&[&["--json", "workspace", "show"], arguments].concat());
        let shown = Ran::of(command.current_dir(place.path(directory)).output().unwrap()).ok().json();
        (shown["root"].as_str().unwrap().to_owned(), shown["origin"].as_str().unwrap().to_owned())
    };
    let switched = place.document(&["workspace", "switch", "../notes"]);
    assert_eq!(switched["root"], notes.as_str());
    let (root, origin) = origin_in("project", &[]);
    assert_eq!(root, notes);
    assert!(origin.starts_with("default in ") && origin.contains("default_workspace"), "{origin}");
    let (root, origin) = origin_in("repository", &[]);
    assert_eq!(
        (root, origin.as_str()),
        (place.path("repository").display().to_string(), "repository of the current directory")
    );
    let (root, origin) = origin_in("project", &["--workspace", "."]);
    assert_eq!((root, origin.as_str()), (place.path("project").display().to_string(), "flag --workspace"));

    place.run(LESSON).ok();
    assert_eq!(place.document(&["workspace", "show"])["memories"], 1);
    let config = place.document(&["config", "show"]);
    assert!(config["workspace"]["origin"].as_str().unwrap().starts_with("default in "), "{config}");

    place.run(&["workspace", "switch", "../nowhere"]).exits(2);
    let unknown = place.run(&["--json", "workspace", "switch", "0123456789abcdef"]).exits(2);
    assert_eq!(unknown.json()["error"]["code"], "workspace_unknown");
}

#[test]
fn a_workspace_without_a_directory_is_named_where_its_path_would_stand() {
    let place = place();
    let id = "00000000000000aa";
    let mut line = place.document(&["memory", "export"])[0].clone();
    line["id"] = "01890a5d-ac96-774b-bcce-b302099a8057".into();
    line["workspace_id"] = id.into();
    line["workspace"]["id"] = id.into();
    line["workspace"]["name"] = "second".into();
    place.run_with_stdin(&["memory", "import", "--trusted-backup", "-"], &line.to_string()).ok();

    let switched = place.run(&["workspace", "switch", id]).ok().stdout;
    assert_eq!(switched, format!("outside of any repository, second ({id}) is meant from now on\n"));
    let shown = place.run(&["workspace", "show"]).ok().stdout;
    assert!(shown.contains("none: another workspace has its directory"), "{shown}");
}

#[test]
fn a_moved_directory_keeps_its_memories_once_it_is_said() {
    let place = place();
    let id = place.document(&["workspace", "show"])["id"].clone();
    std::fs::rename(place.path("project"), place.path("moved")).unwrap();
    std::fs::create_dir_all(place.path("project")).unwrap();
    let old = place.path("project").display().to_string();
    std::fs::remove_dir(place.path("project")).unwrap();
    let at = |arguments: &[&str]| {
        let mut command = place.command(&[&["--json"], arguments].concat());
        Ran::of(command.current_dir(place.path("moved")).output().unwrap())
    };
    assert_eq!(at(&["workspace", "show"]).ok().json()["registered"], false);
    assert_eq!(at(&["workspace", "move", &old, "missing"]).exits(2).json()["error"]["code"], "invalid_argument");
    let moved = at(&["workspace", "move", &old, "."]).ok().json();
    assert_eq!((&moved["id"], &moved["root"]), (&id, &place.path("moved").display().to_string().into()));
    let shown = at(&["workspace", "show"]).ok().json();
    assert_eq!((&shown["id"], &shown["memories"]), (&id, &1.into()));
    assert_eq!(at(&["workspace", "move", &old, "."]).exits(2).json()["error"]["code"], "workspace_unknown");
}

#[test]
fn what_a_checkout_proposes_counts_after_it_is_trusted_and_not_before() {
    let place = place();
    place.write("project/.reasoning-bank.toml", "[workspace]\nteam = 'web'\norg = 'acme'\n");
    let shown = place.document(&["workspace", "show"]);
    assert_eq!((&shown["team"], &shown["proposal"]["team"]), (&Value::Null, &"web".into()));
    let team = [LESSON, &["--scope", "team"]].concat();
    let denied = place.run(&[&["--json"], &team[..]].concat()).exits(2);
    assert_eq!(denied.json()["error"]["code"], "scope_denied");
    let id = shown["id"].as_str().unwrap();
    for more in [&[][..], &["--workspace", id]] {
        place.run(LESSON).ok();
        let found = place.document(&[&["memory", "search", "c"], more].concat());
        let notes = found["notes"].to_string();
        assert!(
            found["partial"] == true && notes.contains("team \\\"web") && notes.contains("workspace trust"),
            "{notes}"
        );
    }
    let text = place.run(&["config", "show"]).ok().stdout;
    assert!(text.contains("proposed by") && text.contains("workspace.team = \"\""), "{text}");

    let not_asked = place.run(&["workspace", "trust", "."]).exits(2);
    assert!(not_asked.stderr.contains("--yes") && not_asked.stderr.contains("web"), "{}", not_asked.stderr);
    let (code, shown) = on_terminal(place.command(&["workspace", "trust", "."]), "n\n");
    assert!(code == Some(1) && shown.contains("team web (now none)"), "{shown}");
    assert_eq!(place.document(&["workspace", "show"])["team"], Value::Null);
    let (code, shown) = on_terminal(place.command(&["workspace", "trust", "."]), "y\n");
    assert!(code == Some(0) && shown.contains("organisation acme"), "{shown}");
    assert_eq!(place.document(&["workspace", "show"])["team"], "web");
    assert_eq!(place.document(&["memory", "search", "c"])["partial"], false);
    place.run(&team).ok();

    place.write("project/.reasoning-bank.toml", "");
    let revoked = place.document(&["workspace", "trust", ".", "--yes"]);
    assert_eq!((&revoked["team"], &revoked["org"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_client_is_told_of_a_scope_that_its_project_proposes_and_nobody_has_agreed_to() {
    let place = place();
    place.write("config/reasoning-bank/config.toml", "mcp.toolsets = ['core', 'workspace']\n");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let mut asked = |workspace: &str| {
        let arguments = json!({"query": "c", "workspace": workspace});
        let answer = process.request("tools/call", json!({"name": "retrieve_memories", "arguments": arguments}));
        answer["result"]["structuredContent"].clone()
    };
    assert_eq!(asked(".")["partial"], false);
    // Another fault of the file makes no difference.
    place.write("project/.reasoning-bank.toml", "[workspace]\norg = 'acme'\n[llm]\nmodel = 'mine'\n");
    place.write("other/.reasoning-bank.toml", "[workspace]\nteam = 'web'\n");
    for (workspace, named) in [(".", "organisation \"acme\""), ("../other", "team \"web\"")] {
        let found = asked(workspace);
        let told = found["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().contains(named));
        assert!(told && found["partial"] == true, "{found}");
    }
}

#[test]
fn the_users_own_configuration_gives_a_workspace_its_team() {
    let place = place();
    place.write("config/reasoning-bank/config.toml", "workspace.team = 'web'\n");
    assert_eq!(place.document(&["workspace", "show"])["team"], "web");
    place.run(&[LESSON, &["--scope", "team", "--title", "other"][..2]].concat()).ok();
}

#[test]
fn what_destroys_asks_and_without_a_terminal_needs_to_be_told() {
    let place = place();
    place.write("config/reasoning-bank/config.toml", "[llm]\nprovider = 'simulated'\nsimulated.latency_ms = 0\n");
    place.run(&["solve", "--matts-k", "1", "Write a sort"]).ok();
    for arguments in [&["workspace", "purge-traces"][..], &["workspace", "delete", "."]] {
        let refused = place.run(&[&["--json"], arguments].concat()).exits(2);
        assert_eq!(refused.json()["error"]["code"], "invalid_argument");
        assert!(refused.stderr.contains("hint: --yes"), "{}", refused.stderr);
        let (code, shown) = on_terminal(place.command(arguments), "\n");
        assert!(code == Some(1) && shown.contains("[y/N]") && shown.contains("nothing was changed"), "{shown}");
    }
    assert_eq!(place.document(&["workspace", "purge-traces", "--older-than", "1", "--yes"])["removed"]["traces"], 0);
    let (code, shown) = on_terminal(place.command(&["workspace", "purge-traces"]), "yes\n");
    assert!(code == Some(0) && shown.contains("1 trace, which is an episode as well"), "{shown}");
    assert_ne!(place.document(&["workspace", "show"])["memories"], 0);

    let deleted = place.document(&["workspace", "delete", ".", "--yes"]);
    assert!(deleted["removed"]["memories"].as_u64().unwrap() > 0, "{deleted}");
    assert_eq!(place.document(&["workspace", "list"])["workspaces"].as_array().unwrap().len(), 0);
    let gone = place.run(&["--json", "workspace", "delete", ".", "--yes"]).exits(2);
    assert_eq!(gone.json()["error"]["code"], "workspace_unknown");
}

#[test]
fn a_workspace_goes_with_its_promoted_copies_where_that_is_asked_for() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "workspace.team = 'blue'\nworkspace.share = false\n");
    let promoted_one = || {
        let id = place.document(LESSON)["id"].as_str().unwrap().to_owned();
        place.document(&["memory", "promote", &id])["id"].as_str().unwrap().to_owned()
    };
    let first = promoted_one();
    let kept = place.document(&["workspace", "delete", ".", "--yes"]);
    assert_eq!((&kept["removed"]["memories"], &kept["promoted_kept"]), (&1.into(), &1.into()), "{kept}");
    assert_eq!(place.document(&["memory", "get", &first])["scope"], "team");
    place.run(&["memory", "delete", &first, "--yes"]).ok();

    let second = promoted_one();
    let (code, shown) = on_terminal(place.command(&["workspace", "delete", ".", "--with-promoted"]), "\n");
    assert!(code == Some(1) && shown.contains("promoted copies: 1"), "{shown}");
    let gone = place.document(&["workspace", "delete", ".", "--with-promoted", "--yes"]);
    assert_eq!((&gone["removed"]["memories"], &gone["promoted_kept"]), (&2.into(), &0.into()), "{gone}");
    place.run(&["memory", "get", &second]).exits(1);
}

#[test]
fn promoted_copies_go_from_another_directory_and_after_an_edit_too() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "workspace.team = 'blue'\nworkspace.share = false\n");
    let id = place.document(LESSON)["id"].as_str().unwrap().to_owned();
    let copy = place.document(&["memory", "promote", &id])["id"].clone();
    place.document(&["memory", "update", &id, "--content", "said in other words"]);
    std::fs::create_dir(place.path("other")).unwrap();
    let [project, other] = ["project", "other"].map(|name| place.path(name).display().to_string());
    let delete = ["workspace", "delete", &project, "--with-promoted", "--yes", "--workspace", &other];
    let gone = place.document(&delete);
    let taken = json!([{"id": copy, "title": "t", "scope": "team", "owner": "blue"}]);
    assert_eq!((&gone["promoted_removed"], &gone["promoted_kept"]), (&taken, &0.into()), "{gone}");
    place.run(&["memory", "get", copy.as_str().unwrap(), "--workspace", &other]).exits(1);
}
