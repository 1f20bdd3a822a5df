//! Tests of `maintain` through the real binary, with real git.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::{Place, Ran, git_at};

fn days_ago(days: i64) -> Timestamp {
    Timestamp::now() - SignedDuration::from_hours(24 * days)
}

/// Runs git in a directory, as if it were `days` days ago.
fn git(directory: &Path, days: i64, arguments: &[&str]) {
    git_at(directory, Some(days_ago(days)), arguments);
}

/// A bank in which a memory was used in a solve twenty days ago; its project is no repository. Returns the memory's id.
fn solved_long_ago() -> (Place, String) {
    let fresh = Place::with_instant_model();
    let text = "Bisect the sorted range of numbers with a half-open range.";
    let lesson = ["--title", "Bisect sorted data", "--description", "When searching.", "--content", text];
    let recorded = fresh.run(&[&["--json", "memory", "record"], &lesson[..]].concat()).ok().json();
    let solved = fresh.run(&["--llm", "simulated", "--json", "solve", "--matts-k", "1", text]).ok().json();
    assert_eq!(solved["memories_used"][0]["id"], recorded["id"]);
    let exported = fresh.run(&["memory", "export", "--all"]).ok().stdout;
    let aged = exported.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["kind"] == "trace" {
            line["created_at"] = json!(days_ago(20).to_string());
        }
        line.to_string() + "\n"
    });
    let file = fresh.write("aged.jsonl", &aged.collect::<String>());
    std::fs::remove_dir_all(fresh.path("data")).unwrap();
    fresh.run(&["memory", "import", "--trusted-backup", file.to_str().unwrap()]).ok();
    (fresh, recorded["id"].as_str().unwrap().to_owned())
}

fn maintain(place: &Place, more: &[&str]) -> Value {
    place.run(&[&["--json", "maintain"], more].concat()).ok().json()
}

fn confidence(place: &Place, id: &str) -> f64 {
    place.run(&["--json", "memory", "get", id]).ok().json()["confidence"].as_f64().unwrap()
}

fn odds(confidence: f64) -> f64 {
    confidence / (1.0 - confidence)
}

#[test]
fn work_that_stands_confirms_what_it_used_and_a_revert_takes_that_back_each_once() {
    let (place, id) = solved_long_ago();
    let project = place.path("project");
    git(&project, 30, &["init", "-q", "-b", "main"]);
    git(&project, 30, &["commit", "-q", "--allow-empty", "-m", "before"]);
    let nothing = maintain(&place, &[]);
    assert_eq!(nothing["stability"]["solves"][0]["standing"], "nothing");
    git(&project, 18, &["switch", "-q", "-c", "work"]);
    std::fs::write(project.join("search.rs"), "half-open").unwrap();
    git(&project, 18, &["add", "."]);
    git(&project, 18, &["commit", "-q", "-m", "Search by halves"]);
    git(&project, 17, &["switch", "-q", "main"]);

    let before = confidence(&place, &id);
    let shown = place.run(&["maintain"]).ok().stdout;
    for part in ["Search by halves", "Bisect sorted data", "stable", "1 signal to be stored", "--apply does it"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(maintain(&place, &[])["stability"]["new_signals"], 1, "showing it changed nothing");
    assert_eq!(confidence(&place, &id), before);

    let done = maintain(&place, &["--apply"]);
    assert_eq!((&done["applied"], &done["stability"]["new_signals"]), (&true.into(), &1.into()));
    assert!(done["upkeep"]["slices"].as_u64().unwrap() >= 1 && done["upkeep"]["more"] == false, "{done}");
    let after = confidence(&place, &id);
    assert!((odds(after) / odds(before) - 7.0 / 3.0).abs() < 1e-6, "{before} {after}");
    assert_eq!(maintain(&place, &["--apply"])["stability"]["new_signals"], 0);
    assert_eq!(confidence(&place, &id), after);

    git(&project, 2, &["switch", "-q", "work"]);
    git(&project, 2, &["revert", "--no-edit", "HEAD"]);
    let shown = place.run(&["maintain", "--apply"]).ok().stdout;
    assert!(shown.contains("was reverted by") && shown.contains("1 signal stored"), "{shown}");
    assert!((confidence(&place, &id) - before).abs() < 1e-9);
    assert_eq!(maintain(&place, &["--apply"])["stability"]["new_signals"], 0);
}

#[test]
fn without_a_repository_or_without_git_it_says_so_and_does_the_rest() {
    let (place, id) = solved_long_ago();
    let before = confidence(&place, &id);
    let none = maintain(&place, &["--apply"]);
    assert!(none["notes"][0].as_str().unwrap().contains("no git repository"), "{none}");
    assert!(none.get("stability").is_none() && none["upkeep"].is_object());

    let project = place.path("project");
    git(&project, 18, &["init", "-q"]);
    git(&project, 18, &["commit", "-q", "--allow-empty", "-m", "work"]);
    let mut command = place.command(&["--json", "maintain", "--apply"]);
    let none = Ran::of(command.env("PATH", place.path("home")).output().unwrap()).ok().json();
    assert!(none["notes"][0].as_str().unwrap().contains("git is not installed"), "{none}");

    // Neither another repository nor another configuration that the environment names is read.
    let mut command = place.command(&["--json", "maintain"]);
    let elsewhere = place.path("home");
    let named = command.env("GIT_DIR", &elsewhere).env("GIT_CONFIG_COUNT", "not a number").output().unwrap();
    assert_eq!(Ran::of(named).ok().json()["stability"]["solves"][0]["standing"], "stable");
    assert_eq!(confidence(&place, &id), before);
}
