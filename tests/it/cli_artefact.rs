//! Tests of artefacts of episodes through the real binary: they are kept beside the body, read again, backed up, and
//! gone with their episodes.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn record(place: &Place, task: &str, more: &[&str]) -> String {
    let recorded = place
        .document(&[&["--llm", "none", "episode", "record", "--status", "success", "--task", task][..], more].concat());
    recorded["episode_id"].as_str().unwrap_or_else(|| panic!("{recorded}")).to_owned()
}

fn refused(place: &Place, arguments: &[&str]) -> String {
    place.run(&[&["--json"][..], arguments].concat()).json()["error"].to_string()
}

/// The files of artefacts, of all workspaces.
fn files(place: &Place) -> Vec<PathBuf> {
    fn below(dir: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
    }
    below(&place.path("data/artefacts"))
}

/// The contents, without the names of the episodes.
fn contents(place: &Place) -> usize {
    files(place).iter().filter(|path| path.extension().is_some_and(|end| end == "zst")).count()
}

#[test]
fn a_file_is_kept_with_its_episode_and_printed_again() {
    let place = Place::new();
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    place.write("project/build.log", &format!("step 1\npush with {token}\nstep 3\n"));
    fs::write(place.path("project/core"), [0xff, 0xfe, 0]).unwrap();
    let id = record(&place, "Build it", &["--artefact", "build.log", "--artefact", "core", "--binary"]);
    let printed = place.run(&["episode", "artefact", &id, "build.log"]).ok().stdout;
    assert!(printed.starts_with("step 1\npush with [REDACTED:") && printed.ends_with("step 3\n"), "{printed}");
    let shown = place.document(&["episode", "get", &id])["artefacts"].clone();
    assert_eq!((&shown[0]["name"], &shown[0]["media_type"]), (&json!("build.log"), &json!("text/plain")));
    assert_eq!((&shown[1]["name"], &shown[1]["bytes"]), (&json!("core"), &json!(3)));
    place.run(&["episode", "artefact", &id, shown[1]["sha256"].as_str().unwrap(), "--out", "again"]).ok();
    assert_eq!(fs::read(place.path("project/again")).unwrap(), [0xff, 0xfe, 0]);
    let all = files(&place).iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>().concat();
    assert!(!String::from_utf8_lossy(&all).contains(token));

    assert!(refused(&place, &["episode", "artefact", &id, "core"]).contains("--out"));
    assert!(refused(&place, &["episode", "artefact", &id, "core", "--out", "again"]).contains("again"));
    assert!(refused(&place, &["episode", "artefact", &id, "other"]).contains("not_found"));
    let unread = refused(&place, &["episode", "record", "--task", "x", "--status", "success", "--artefact", "core"]);
    assert!(unread.contains("--binary"), "{unread}");
}

#[test]
fn a_long_output_is_kept_whole_beside_the_body() {
    let place = Place::new();
    let long: String = (0..4_500).map(|n| format!("line {n} of the output\n")).collect();
    let id = record(&place, "Run the tests", &["--output", &long]);
    let shown = place.document(&["episode", "get", &id]);
    let output = shown["outcome"]["primary_output"].as_str().unwrap();
    let sha256 = shown["artefacts"][0]["sha256"].as_str().unwrap();
    assert!(
        output.len() <= 16 * 1024 && output.contains(&format!("[artefact:{sha256} {} bytes]", long.len())),
        "{output}"
    );
    assert!(output.starts_with("line 0 ") && output.ends_with("line 4499 of the output\n"));
    assert_eq!(place.run(&["episode", "artefact", &id, "outcome.primary_output"]).ok().stdout, long);

    // An agent reads it in parts, and nobody reads it from another workspace.
    place.write("config/reasoning-bank/config.toml", "[mcp]\ntoolsets = ['core', 'episodes']\n");
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let mut read = String::new();
    let mut from = json!(0);
    while from != Value::Null {
        let part = process.call("get_artefact", json!({"episode_id": id, "artefact": sha256, "from": from}));
        read += part["text"].as_str().unwrap();
        from = part["next"].clone();
    }
    assert_eq!(read, long);
    let beyond = json!({"episode_id": id, "artefact": sha256, "from": 10_000_000});
    assert!(process.call_failing("get_artefact", beyond)["message"].to_string().contains("beyond the end"));
    fs::create_dir(place.path("other")).unwrap();
    let foreign = json!({"episode_id": id, "artefact": sha256, "workspace": place.path("other")});
    assert_eq!(process.call_failing("get_artefact", foreign)["code"], "scope_denied");
}

#[test]
fn artefacts_go_with_the_last_episode_that_names_them() {
    let place = Place::new();
    place.write("project/report.md", "# Report\nall is well\n");
    let with = |task: &str| record(&place, task, &["--artefact", "report.md"]);
    let (one, other) = (with("Write the report"), with("Write the report again"));
    assert_eq!((contents(&place), files(&place).len()), (1, 3));
    place.run(&["episode", "delete", &one, "--now", "--yes"]).ok();
    assert_eq!((contents(&place), files(&place).len()), (1, 2));
    let place_of = |id: &str| place.run(&["episode", "artefact", id, "report.md"]).ok().stdout;
    assert_eq!(place_of(&other), "# Report\nall is well\n");
    place.run(&["workspace", "purge-traces", "--older-than", "0", "--yes"]).ok();
    assert_eq!(files(&place), Vec::<PathBuf>::new());

    with("Write it once more");
    let id = place.document(&["workspace", "show"])["id"].as_str().unwrap().to_owned();
    place.run(&["workspace", "delete", &id, "--yes"]).ok();
    assert_eq!(files(&place), Vec::<PathBuf>::new());
}

#[test]
fn a_backup_has_the_artefacts() {
    let place = Place::new();
    place.write("project/report.md", "# Report\n");
    let id = record(&place, "Write the report", &["--artefact", "report.md"]);
    let backup = place.path("kept").display().to_string();
    place.run(&["backup", "create", &backup]).ok();
    fs::remove_dir_all(place.path("data")).unwrap();
    place.run(&["backup", "restore", &backup]).ok();
    assert_eq!(place.run(&["episode", "artefact", &id, "report.md"]).ok().stdout, "# Report\n");
}
