//! The folder of a bank is moved within its repository, and not every checkout has it.

use std::process::Command;

use serde_json::json;

use super::*;
use crate::support::{Ran, git};

const SAID: &str = "We decided to use SQLite because it needs no server.";

fn repository() -> Place {
    let place = place_with_banks("");
    place.write("project/memory-bank/progress.md", "# Progress\n\n## Done\n\n- The parser of logs.\n");
    let project = place.path("project");
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "Begin"]);
    place.run(&["bank", "adopt", "memory-bank"]).ok();
    place
}

#[test]
fn a_folder_that_was_moved_is_told_of_and_nothing_is_lost_until_it_is_adopted_again() {
    let place = repository();
    let project = place.path("project");
    let mut process = McpProcess::initialized(&place, &[]);
    let coding = json!({"conversation_type": "coding"});
    process.call("activate", coding.clone());
    git(&project, &["mv", "memory-bank", "mb"]);
    git(&project, &["commit", "-qm", "Move the bank"]);
    let moved = process.call("activate", coding.clone());
    assert!(text_of(&moved).contains("The parser of logs."), "{moved}");
    assert!(moved["previous_errors"].to_string().contains("run `bank adopt NEW_FOLDER`"), "{moved}");
    let updated = process.call("update", json!({"content": SAID}));
    assert_eq!((&updated["status"], &updated["applied"][0]["target_file"]), (&json!("success"), &json!("progress.md")));
    assert!(updated["previous_errors"].to_string().contains("waits for the folder"), "{updated}");
    assert!(!project.join("memory-bank").exists(), "nothing is made that nobody asked for");

    let adopted = place.document(&["bank", "adopt", "mb"]);
    assert_eq!(adopted["notices"], json!([]), "{adopted}");
    let again = process.call("activate", coding);
    assert!(text_of(&again).contains("The parser of logs.") && text_of(&again).contains(SAID), "{again}");
    process.end();
    assert!(read_all(&project.join("mb")).contains(SAID));
    assert!(!project.join("memory-bank").exists());
}

#[test]
fn a_work_tree_that_has_the_former_folder_goes_on_with_it() {
    let place = repository();
    let (project, tree) = (place.path("project"), place.path("tree"));
    git(&project, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "feature"]);
    git(&project, &["mv", "memory-bank", "docs-bank"]);
    git(&project, &["commit", "-qm", "Move the bank"]);
    place.run(&["bank", "adopt", "docs-bank"]).ok();
    let in_tree = |arguments: &[&str]| {
        let mut command: Command = place.command(&[&["--json"], arguments].concat());
        Ran::of(command.current_dir(&tree).output().unwrap()).ok().json()
    };
    let shown = in_tree(&["bank", "show"]);
    assert!(shown["directory"].as_str().unwrap().ends_with("tree/memory-bank"), "{shown}");
    assert!(shown["files"]["progress.md"].as_str().unwrap().contains("The parser of logs."), "{shown}");
    in_tree(&["bank", "update", SAID]);
    assert!(read_all(&tree.join("memory-bank")).contains(SAID));
    assert!(!tree.join("docs-bank").exists() && !read_all(&project.join("docs-bank")).contains(SAID));
}

#[test]
fn what_helps_with_a_task_is_read_in_the_work_tree_of_the_caller() {
    let place = repository();
    let (project, tree) = (place.path("project"), place.path("tree"));
    git(&project, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "feature"]);
    let patterns = |choice: &str| format!("# System patterns\n\n## Decisions\n\n- The orders are kept in {choice}.\n");
    place.write("project/memory-bank/systemPatterns.md", &patterns("SQLite"));
    place.write("tree/memory-bank/systemPatterns.md", &patterns("Postgres"));
    let mut command = place.command(&["mcp"]);
    command.current_dir(&tree);
    let mut process = McpProcess::spawn(command);
    process.initialize();
    let context = process.call("get_context_for_task", json!({"task": "Change where the orders are kept"}));
    let text = context["rendered"].as_str().unwrap();
    assert!(text.contains("kept in Postgres") && !text.contains("kept in SQLite"), "{context}");
    process.end();
}
