//! Tests of memories and traces that are changed by hand: `memory list|update|feedback|pin|delete|quarantine|promote`,
//! `trace` and `genealogy`.

use crate::support::Place;
use crate::terminal::on_terminal;

fn code(place: &Place, arguments: &[&str], exit: i32) -> String {
    place.run(&[&["--json"], arguments].concat()).exits(exit).json()["error"]["code"].as_str().unwrap().to_owned()
}

/// Records a lesson and answers with its id.
fn lesson(place: &Place, title: &str, more: &[&str]) -> String {
    let own = ["memory", "record", "--title", title, "--description", "When retrying", "--content", title];
    place.document(&[&own, more].concat())["id"].as_str().unwrap().to_owned()
}

const UNKNOWN: &str = "00000000-0000-7000-8000-000000000000";

#[test]
fn memories_are_listed_page_by_page_newest_first() {
    let place = Place::new();
    let ids: Vec<String> =
        ["Bound retries", "Quote all fields", "Close the file"].map(|t| lesson(&place, t, &[])).into();
    let first = place.document(&["memory", "list", "--limit", "2"]);
    assert_eq!(first["memories"].as_array().unwrap().len(), 2);
    assert_eq!(first["memories"][0]["id"], ids[2].as_str());
    let next = first["next"].as_str().unwrap();
    let second = place.document(&["memory", "list", "--limit", "2", "--after", next]);
    assert_eq!(second["memories"][0]["id"], ids[0].as_str());
    assert!(second.get("next").is_none());
    let text = place.run(&["memory", "list", "--limit", "2"]).ok().stdout;
    assert!(text.contains("2 memories") && text.contains(&format!("--after {next}")), "{text}");
    assert_eq!(code(&place, &["memory", "list", "--limit", "0"], 2), "invalid_argument");
    let bad = place.run(&["memory", "list", "--after", "nonsense"]).exits(2).stderr;
    assert!(bad.contains("it is no id; one looks like"), "{bad}");
    assert_eq!(code(&place, &["memory", "list", "--parent", UNKNOWN], 1), "not_found");
}

#[test]
fn a_memory_is_changed_pinned_and_rated() {
    let place = Place::new();
    let id = lesson(&place, "Bound retries", &["--tag", "net", "--domain", "rust"]);
    let changed = place.document(&["memory", "update", &id, "--title", "Bound all retries", "--domain", " "]);
    assert_eq!((&changed["title"], &changed["revision"]), (&"Bound all retries".into(), &2.into()));
    assert!(changed.get("domain_category").is_none() && changed["pattern_tags"][0] == "net", "{changed}");
    let untagged = place.document(&["memory", "update", &id, "--tag", ""]);
    assert_eq!(untagged["pattern_tags"].as_array().unwrap().len(), 0);
    assert_eq!(code(&place, &["memory", "update", &id], 2), "invalid_argument");
    assert_eq!(code(&place, &["memory", "update", &id, "--title", "x", "--if-revision", "1"], 1), "conflict");

    assert_eq!(place.document(&["memory", "pin", &id])["pinned"], true);
    assert!(place.run(&["memory", "list"]).ok().stdout.contains("pinned"));
    assert_eq!(place.document(&["memory", "unpin", &id])["pinned"], false);

    let up = place.document(&["memory", "feedback", &id, "--helpful"]);
    assert!(up["updated"][0]["confidence_after"].as_f64() > up["updated"][0]["confidence_before"].as_f64(), "{up}");
    let down = place.run(&["memory", "feedback", &id, "--not-helpful", "--comment", "it changed"]).ok().stdout;
    assert!(down.contains("->"), "{down}");
    let silent = place.run(&["memory", "feedback", &id]).exits(2).stderr;
    assert!(silent.contains("<--helpful|--not-helpful>") && silent.contains("hint: one of the flags"), "{silent}");
    assert_eq!(code(&place, &["memory", "feedback", &id], 2), "invalid_argument");
    assert_eq!(code(&place, &["memory", "feedback", &id, "--helpful", "--not-helpful"], 2), "invalid_argument");
    assert_eq!(code(&place, &["memory", "pin", UNKNOWN], 1), "not_found");
}

#[test]
fn what_one_person_says_often_is_not_proposed_to_others() {
    let place = Place::new();
    let id = lesson(&place, "Bound retries", &[]);
    (0..6).for_each(|_| drop(place.document(&["memory", "feedback", &id, "--helpful"])));
    assert_eq!(place.document(&["memory", "promote"])["proposals"].as_array().unwrap().len(), 0);
}

#[test]
fn a_quarantined_family_is_not_found_until_it_is_put_back() {
    let place = Place::new();
    let parent = lesson(&place, "Bound retries", &[]);
    let child = lesson(&place, "Add jitter between tries", &["--parent", &parent]);
    let found = |query| place.document(&["memory", "search", query])["memories"].as_array().unwrap().len();
    assert_eq!(found("retry with jitter"), 2);
    let out = place.document(&["memory", "quarantine", &parent, "--descendants"]);
    assert_eq!(out["changed"].as_array().unwrap().len(), 2, "{out}");
    assert_eq!(found("retry with jitter"), 0);
    assert_eq!(place.document(&["memory", "list", "--status", "quarantined"])["memories"].as_array().unwrap().len(), 2);
    let back = place.run(&["memory", "quarantine", &child, "--undo"]).ok().stdout;
    assert!(back.contains(&child) && back.contains("1 memory back in search"), "{back}");
    assert_eq!(found("retry with jitter"), 1);
}

#[test]
fn a_memory_is_deleted_once_that_is_sure() {
    let place = Place::new();
    let id = lesson(&place, "Bound retries", &[]);
    let refused = place.run(&["memory", "delete", &id]).exits(2);
    assert!(refused.stderr.contains("Bound retries") && refused.stderr.contains("hint: --yes"), "{}", refused.stderr);
    let (ended, shown) = on_terminal(place.command(&["memory", "delete", &id]), "no\n");
    assert!(ended == Some(1) && shown.contains("Bound retries"), "{shown}");
    let deleted = place.document(&["memory", "delete", &id, "--yes"]);
    assert_eq!((&deleted["id"], &deleted["removed"]["memories"]), (&id.as_str().into(), &1.into()));
    assert_eq!(code(&place, &["memory", "get", &id], 1), "not_found");
    assert_eq!(code(&place, &["memory", "delete", UNKNOWN, "--yes"], 1), "not_found");
}

#[test]
fn a_memory_is_shared_with_the_team_by_hand_and_proposals_are_listed() {
    let place = Place::new();
    let id = lesson(&place, "Bound retries", &[]);
    assert_eq!(place.document(&["memory", "promote"])["proposals"].as_array().unwrap().len(), 0);
    assert_eq!(code(&place, &["memory", "promote", &id], 2), "scope_denied");
    place.write("config/reasoning-bank/config.toml", "workspace.team = 'web'\n");
    let shared = place.document(&["memory", "promote", &id]);
    assert_eq!((&shared["scope"], &shared["created"]), (&"team".into(), &true.into()));
    assert!(place.run(&["memory", "promote", &id]).ok().stdout.contains("already shared"));
}

#[test]
fn the_tree_of_a_memory_is_text_a_document_and_a_drawing() {
    let place = Place::new();
    let parent = lesson(&place, "Bound retries", &[]);
    let child = lesson(&place, "Add \"jitter\" between tries", &["--parent", &parent]);
    let tree = place.document(&["genealogy", &child]);
    assert_eq!((&tree["memory"]["id"], &tree["ancestors"][0]["id"]), (&child.as_str().into(), &parent.as_str().into()));
    assert_eq!(tree["edges"][0]["kind"], "parent");
    let text = place.run(&["genealogy", &parent]).ok().stdout;
    assert!(text.starts_with("* Bound retries") && text.contains(&child), "{text}");
    assert!(!place.run(&["genealogy", &parent, "--depth", "0"]).ok().stdout.contains(&child));
    assert!(place.run(&["genealogy", &child, "--dot"]).ok().stdout.starts_with("digraph"));
    assert!(place.run(&["genealogy", &child, "--mermaid"]).ok().stdout.starts_with("graph TD"));
    assert_eq!(code(&place, &["genealogy", UNKNOWN], 1), "not_found");
    assert_eq!(code(&place, &["genealogy", &child, "--dot", "--mermaid"], 2), "invalid_argument");
}

#[test]
fn traces_are_listed_and_shown_and_are_the_documents_that_are_exported() {
    let place = Place::new();
    place.write("config/reasoning-bank/config.toml", "[llm]\nprovider = 'simulated'\nsimulated.latency_ms = 0\n");
    let solved = place.document(&["solve", "--matts-k", "2", "Write a binary search"]);
    let id = solved["trace_id"].as_str().unwrap();
    let listed = place.document(&["trace", "list"]);
    assert_eq!(listed["traces"][0]["trace_id"], id);
    let trace = place.document(&["trace", "show", id]);
    assert_eq!((&trace["trace_id"], &trace["outcome"]), (&id.into(), &solved["outcome"]));
    assert_eq!(trace["metadata"]["matts_k"], 2);
    let text = place.run(&["trace", "show", id]).ok().stdout;
    assert!(text.contains("Write a binary search") && text.contains("1. think, attempt 2"), "{text}");
    assert!(text.contains("judge") && text.contains("learned"), "{text}");
    assert!(place.run(&["trace", "list"]).ok().stdout.contains("1 trace"));
    assert_eq!(code(&place, &["trace", "show", UNKNOWN], 1), "not_found");
}

#[test]
fn statistics_count_what_the_bank_holds_whatever_is_reset() {
    let place = Place::new();
    lesson(&place, "Bound retries", &[]);
    for arguments in [&["stats"][..], &["stats", "--reset"]] {
        let counted = place.document(arguments);
        assert_eq!((&counted["memories"]["total"], &counted["traces"]["total"]), (&1.into(), &0.into()), "{counted}");
        assert_eq!(counted["embedder"]["ready"], true);
        assert!(counted["store"]["rows"].as_u64().unwrap() >= 2, "{counted}");
    }
    let text = place.run(&["stats"]).ok().stdout;
    assert!(text.contains("memories   1: 1 success") && text.contains("model      0 calls"), "{text}");
}
