//! The commands of `bank` as people type them.

use serde_json::json;

use super::*;

#[test]
fn an_update_is_read_from_stdin_where_it_is_a_dash() {
    let place = place_with_banks("");
    let said = "We decided to use SQLite because it needs no server.";
    let updated = place.run_with_stdin(&["--json", "bank", "update", "-"], said).ok().json();
    assert_eq!(updated["applied"][0]["section"], "System patterns > Decisions", "{updated}");
    let shown = place.document(&["bank", "show"]);
    assert!(shown["files"]["systemPatterns.md"].as_str().unwrap().contains(said), "{shown}");
    let dash = place.run_with_stdin(&["bank", "update", "-"], "  \n").exits(2).stderr;
    assert!(dash.contains("content"), "{dash}");
}

#[test]
fn a_command_tells_of_what_happened_once_and_not_of_what_is_over() {
    let place = place_with_banks("");
    place.write("project/notes/progress.md", "# Progress\n\n## Done\n");
    let big = place.write("project/notes/big.md", &"A line of a very long file.\n".repeat(10_000));
    place.write("project/notes/README.MD", "# Read me\n");
    let adopted = place.document(&["bank", "adopt", "notes"])["notices"].to_string();
    assert!(adopted.contains("big.md has more than 256 KiB") && adopted.contains("README.MD"), "{adopted}");
    let told = || place.document(&["bank", "activate", "code"])["previous_errors"].to_string();
    assert_eq!(told(), "[]", "it was told");
    std::fs::remove_file(big).unwrap();
    let other = told();
    assert!(other.contains("README.MD") && !other.contains("big.md"), "what is left alone is another set: {other}");
    assert_eq!(told(), "[]");
    std::fs::remove_file(place.path("project/notes/README.MD")).unwrap();
    let mut process = McpProcess::initialized(&place, &[]);
    let activated = process.call("activate", json!({"conversation_type": "code"}));
    assert_eq!(activated["previous_errors"], json!([]), "nothing is left alone any more");
    process.end();

    let entry = |n: u32| format!("- Finished part {n} of the importer, which reads the queue of ships by now.\n");
    let long: String = (1..=700).map(entry).collect();
    place.write("project/notes/progress.md", &format!("# Progress\n\n## Done\n\n{long}"));
    assert!(told().contains("is not made shorter by itself in a checkout: run `bank optimize`"));
    place.document(&["bank", "optimize"]);
    let version = place.document(&["bank", "history"])["versions"][0]["version"].as_str().unwrap().to_owned();
    place.run(&["bank", "restore", &version]).ok();
    let after = told();
    assert!(!after.contains("was made shorter"), "it is as it was: {after}");
}

#[test]
fn a_conversation_needs_no_number_and_a_file_is_shown_with_its_own_tokens() {
    let place = place_with_banks("");
    place.document(&["bank", "update", "I prefer short answers.", "--conversation-id", "talk"]);
    place.run(&["bank", "update", "I prefer tabs.", "--update-count", "1"]).exits(2);
    let shown = place.document(&["bank", "show", "--file", "progress.md"]);
    let (own, all) = (shown["shown_tokens"].as_u64().unwrap(), shown["tokens"].as_u64().unwrap());
    assert!(0 < own && own < all, "{shown}");
    let text = place.run(&["bank", "show", "--file", "progress.md"]).ok().stdout;
    assert!(text.contains(&format!("1 file, {own} of {all} tokens, in ")), "{text}");
    let text = place.run(&["bank", "show"]).ok().stdout;
    assert!(text.contains(&format!(" files, {all} tokens, in ")), "{text}");
}
