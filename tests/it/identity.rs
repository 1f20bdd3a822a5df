//! Tests of which directory is which workspace: the whole table, with real git through the real binary.

use std::path::Path;

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran, git};

/// Makes repositories of every kind, and a directory that is none.
fn place() -> Place {
    let place = Place::new();
    for directory in ["shop/src/deep", "library", "notes/deep", "forged", "gone"] {
        std::fs::create_dir_all(place.path(directory)).unwrap();
    }
    for repository in ["shop", "library", "gone"] {
        git(&place.path(repository), &["init", "-q", "-b", "main"]);
        git(&place.path(repository), &["commit", "-q", "--allow-empty", "-m", "first"]);
    }
    let shop = place.path("shop");
    git(&shop, &["worktree", "add", "-q", "../tree", "-b", "tree"]);
    git(&shop, &["submodule", "--quiet", "add", "../library", "vendor/library"]);
    git(&place.path("home"), &["clone", "-q", "--bare", "../library", "../bare.git"]);
    git(&place.path("bare.git"), &["worktree", "add", "-q", "../of-bare", "-b", "of-bare"]);
    std::os::unix::fs::symlink(place.path("shop/src"), place.path("link")).unwrap();
    place.write("forged/.git", &format!("gitdir: {}\n", place.path("shop/.git").display()));
    place
}

fn run_in(place: &Place, directory: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = place.command(arguments);
    command.current_dir(place.path(directory)).envs(environment.iter().copied());
    Ran::of(command.output().unwrap())
}

fn document(place: &Place, directory: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Value {
    run_in(place, directory, &[&["--json"], arguments].concat(), environment).ok().json()
}

fn titles(place: &Place, directory: &str, environment: &[(&str, &str)]) -> Vec<String> {
    let listed = document(place, directory, &["memory", "list"], environment);
    let memories = listed["memories"].as_array().unwrap().iter();
    memories.map(|memory| memory["title"].as_str().unwrap().to_owned()).collect()
}

fn record(server: &mut McpProcess, at: &Path, title: &str, scope: &str) -> Value {
    server.request(
        "tools/call",
        json!({"name": "record_memory", "arguments": {
            "title": title, "description": "Whose it is.", "content": format!("The lesson {title}."),
            "workspace": at.to_str().unwrap(), "scope": scope,
        }}),
    )["result"]
        .clone()
}

/// A session may name any workspace, and write to its team.
const OTHERS_TOO: &str = "mcp.toolsets = ['core', 'workspace']\nworkspace.share = true\n";

const BY_PATH: (&str, &str) = ("REASONING_BANK__WORKSPACE__IDENTITY", "path");

#[test]
fn every_directory_is_the_workspace_that_the_table_says() {
    let place = place();
    place.write("config/reasoning-bank/config.toml", OTHERS_TOO);
    let mut server = McpProcess::initialized(&place, &["--llm", "none"]);
    for workspace in ["shop", "shop/vendor/library", "bare.git", "notes", "gone"] {
        let recorded = record(&mut server, &place.path(workspace), &format!("of {workspace}"), "project");
        assert_eq!(recorded["isError"], false, "{recorded}");
    }
    assert!(server.end().status.success());

    let shop = ("shop", &["of shop"][..]);
    let (library, bare) =
        (("shop/vendor/library", &["of shop/vendor/library"][..]), ("bare.git", &["of bare.git"][..]));
    let nobody: &[&str] = &[];
    #[expect(clippy::type_complexity, reason = "it is read as a table")]
    let table: [(&str, &str, &[(&str, &str)], (&str, &[&str])); 17] = [
        ("a repository", "shop", &[], shop),
        ("a subdirectory", "shop/src/deep", &[], shop),
        ("the git directory", "shop/.git", &[], shop),
        ("a work tree", "tree", &[], shop),
        ("a symbolic link to a subdirectory", "link", &[], shop),
        ("below a symbolic link", "link/deep", &[], shop),
        ("a submodule", "shop/vendor/library", &[], library),
        ("the repository a submodule came from", "library", &[], ("library", nobody)),
        ("a bare repository", "bare.git", &[], bare),
        ("inside a bare repository", "bare.git/refs", &[], bare),
        ("a work tree of a bare repository", "of-bare", &[], bare),
        ("no repository", "notes", &[], ("notes", &["of notes"])),
        ("a subdirectory of no repository", "notes/deep", &[], ("notes/deep", nobody)),
        ("a forged link to a repository", "forged", &[], ("forged", nobody)),
        ("a subdirectory that stands for itself", "shop/src", &[BY_PATH], ("shop/src", nobody)),
        ("a work tree that stands for itself", "tree", &[BY_PATH], ("tree", nobody)),
        ("a repository that stands for itself", "shop", &[BY_PATH], shop),
    ];
    for (what, directory, environment, (root, sees)) in table {
        let shown = document(&place, directory, &["workspace", "show"], environment);
        assert_eq!(shown["root"], place.path(root).to_str().unwrap(), "{what}");
        assert_eq!(titles(&place, directory, environment), sees, "{what}");
    }

    std::fs::rename(place.path("gone"), place.path("moved")).unwrap();
    assert_eq!(titles(&place, "moved", &[]), nobody, "a moved directory is a new workspace");
    let old = place.path("gone");
    run_in(&place, "moved", &["workspace", "move", old.to_str().unwrap(), "."], &[]).ok();
    assert_eq!(titles(&place, "moved", &[]), ["of gone"], "until it is said");
}

#[test]
fn a_hostile_checkout_gets_nothing_from_the_team_that_it_names() {
    let place = place();
    place.write("config/reasoning-bank/config.toml", OTHERS_TOO);
    place.write("shop/.reasoning-bank.toml", "[workspace]\nteam = 'web'\n");
    run_in(&place, "shop", &["workspace", "trust", ".", "--yes"], &[]).ok();
    let mut server = McpProcess::initialized(&place, &["--llm", "none"]);
    let shared = record(&mut server, &place.path("shop"), "of the team", "team");
    let id = shared["structuredContent"]["id"].as_str().unwrap().to_owned();

    place.write("notes/.reasoning-bank.toml", "[workspace]\nteam = 'web'\norg = 'web'\n");
    let denied = record(&mut server, &place.path("notes"), "planted", "team");
    assert_eq!(denied["structuredContent"]["code"], "scope_denied", "{denied}");
    assert!(server.end().status.success());
    for scope in [&[][..], &["--n", "50"]] {
        let found = document(&place, "notes", &[&["memory", "search", "the lesson of the team"], scope].concat(), &[]);
        assert_eq!((&found["memories"], &found["partial"]), (&json!([]), &json!(true)), "{found}");
    }
    let own = document(&place, "shop", &["memory", "search", "the lesson of the team"], &[]);
    assert_eq!((&own["memories"][0]["id"], &own["partial"]), (&json!(id), &json!(false)));
    for command in [&["memory", "get", &id][..], &["memory", "delete", &id, "--yes"], &["genealogy", &id]] {
        let ran = run_in(&place, "notes", &[&["--json"], command].concat(), &[]);
        assert_eq!(ran.exits(1).json()["error"]["code"], "not_found", "{command:?}");
    }

    // A key that it may not set at all is an error that names it, and nothing is read or written.
    for (text, key) in [
        ("[workspace]\nteam = 'web'\nidentity = 'path'\n", "workspace.identity"),
        ("data_dir = '/elsewhere'\n", "data_dir"),
        ("[llm]\nbase_url = 'https://evil.example'\n", "llm.base_url"),
        ("[promotion]\nautomatic = true\n", "promotion.automatic"),
    ] {
        place.write("notes/.reasoning-bank.toml", text);
        let refused = run_in(&place, "notes", &["memory", "list"], &[]).exits(2);
        assert!(refused.stderr.contains(key) && refused.stdout.is_empty(), "{}", refused.stderr);
    }
}
