//! The commands of `bank` as people type them.

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
