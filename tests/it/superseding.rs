//! Tests of newer memories in the place of older ones, as a client and a person at the command line see it.

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn lesson(content: &str) -> Value {
    json!({"title": "Port of the payment service", "description": "When the payment service is called.",
           "content": content})
}

fn ids(found: &Value) -> Vec<&str> {
    found["memories"].as_array().unwrap().iter().map(|memory| memory["id"].as_str().unwrap()).collect()
}

#[test]
fn an_update_is_stored_linked_shown_first_and_undone() {
    let place = Place::new();
    let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
    let old = process.call("record_memory", lesson("The payment service listens on port 8080."));
    let new = process.call("record_memory", lesson("The payment service listens on port 9090."));
    assert_eq!((&new["status"], &new["updates"]), (&json!("created"), &json!([old["id"]])), "{new}");
    let query = json!({"query": "Which port does the payment service listen on?"});
    let found = process.call("retrieve_memories", query.clone());
    let (old, new) = (old["id"].as_str().unwrap(), new["id"].as_str().unwrap());
    assert_eq!(ids(&found), [new, old]);
    assert_eq!(found["memories"][1]["outdated_by"], new, "{found}");

    let third = json!({"supersedes": [new, old], "title": "Port of the payment service",
                       "description": "When the payment service is called.",
                       "content": "The payment service has no fixed port; ask the registry."});
    let third = process.call("record_memory", third);
    let superseded: Vec<&str> =
        third["superseded"].as_array().unwrap().iter().map(|replaced| replaced["id"].as_str().unwrap()).collect();
    assert_eq!(superseded, [new, old], "{third}");
    let third = third["id"].as_str().unwrap();
    assert_eq!(ids(&process.call("retrieve_memories", query.clone())), [third]);
    let with_superseded =
        json!({"query": "Which port does the payment service listen on?", "include_superseded": true});
    let found = process.call("retrieve_memories", with_superseded);
    assert_eq!(ids(&found).len(), 3, "{found}");
    assert_eq!((ids(&found)[0], &found["memories"][1]["superseded_by"]), (third, &json!(third)), "{found}");
    process.end();

    let shown = place.run(&["memory", "get", old]).ok();
    assert!(shown.stdout.contains(&format!("superseded by {third}")), "{}", shown.stdout);
    let exported = place.run(&["memory", "export"]).ok();
    assert!(exported.stdout.contains(r#""signal":"superseded""#), "{}", exported.stdout);
    let back = place.run(&["memory", "supersede", new, "--undo"]).ok();
    assert!(back.stdout.contains("active"), "{}", back.stdout);
    let search = |arguments: &[&str]| {
        place.run(&[&["memory", "search", "port of the payment service"], arguments].concat()).ok()
    };
    assert!(search(&[]).stdout.contains(new) && !search(&[]).stdout.contains(old));
    assert!(search(&["--include-superseded"]).stdout.contains(old));
    let again = place.run(&["memory", "supersede", new, "--by", third]).ok();
    assert!(again.stdout.contains(&format!("is superseded by {third}")), "{}", again.stdout);
    let refused = place.run(&["memory", "supersede", new, "--by", old]);
    assert!(refused.code != Some(0) && refused.stderr.contains("superseded"), "{}", refused.stderr);
}

#[test]
fn what_rules_found_waits_for_somebody_to_decide() {
    let place = Place::new();
    let record = |content: &str, more: &[&str]| {
        let lesson =
            ["memory", "record", "--title", "Day of releases", "--description", "When one releases.", "--content"];
        let recorded = place.run(&[&lesson[..], &[content, "--json"], more].concat()).ok();
        serde_json::from_str::<Value>(&recorded.stdout).unwrap()
    };
    let new = record("Releases are cut on Monday.", &[]);
    let old = record("Releases are cut on Friday.", &["--valid-from", "2w"]);
    let (old, new) = (old["id"].as_str().unwrap(), new["id"].as_str().unwrap());
    let told = place.run(&["maintain"]).ok();
    assert!(told.stdout.contains("1 memory was found to be outdated"), "{}", told.stdout);
    assert!(told.stdout.contains(old) && told.stdout.contains(new), "{}", told.stdout);
    place.run(&["memory", "supersede", old, "--undo"]).ok();
    let told = place.run(&["maintain"]).ok();
    assert!(!told.stdout.contains("outdated"), "{}", told.stdout);
}
