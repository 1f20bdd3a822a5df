//! Tests of patterns by hand, through the real binary on a real store: they are hidden until they are proven.

use serde_json::{Value, json};

use crate::support::Place;

fn pattern(title: &str) -> Value {
    json!({
        "title": title,
        "description": "Debugging in a large repository",
        "explanation": "Look for the zebrafish symbol with ripgrep before any file is opened.",
        "category": "tool_selection",
        "content": {"type": "heuristic", "condition": "A symbol is unknown", "action": {"text": "Use rg", "tools": ["rg"]}},
        "applicability": {
            "problem_types": ["debugging"],
            "context_conditions": [{"feature": "language", "op": "is", "value": "rust"}],
            "anti_conditions": [{"feature": "files", "op": "at_most", "value": 5}],
        },
    })
}

fn add(place: &Place, pattern: &Value) -> Value {
    place.run_with_stdin(&["--json", "pattern", "add", "--file", "-"], &pattern.to_string()).ok().json()
}

fn searched(place: &Place) -> Vec<Value> {
    let found = place.run(&["--json", "memory", "search", "zebrafish ripgrep symbol"]).ok().json();
    found["memories"].as_array().unwrap().iter().map(|memory| memory["id"].clone()).collect()
}

fn suggested(place: &Place, more: &[&str]) -> Value {
    let asked = ["--json", "pattern", "find", "--task-type", "debugging", "--language", "rust"];
    place.run(&[&asked[..], more].concat()).ok().json()
}

#[test]
fn a_pattern_is_found_once_a_person_accepts_it_and_no_more_when_it_is_deprecated() {
    let place = Place::new();
    let added = add(&place, &pattern("Search first"));
    let id = added["pattern_id"].as_str().unwrap();
    assert_eq!(added["is_new"], true);
    assert_eq!(add(&place, &pattern("Search first")), json!({"pattern_id": id, "is_new": false, "redactions": 0}));

    assert_eq!(searched(&place), Vec::<Value>::new());
    let found = suggested(&place, &["--explain"]);
    assert_eq!(found["patterns"], json!([]));
    assert_eq!(found["kept_out"], json!([{"pattern_id": id, "name": "Search first", "why": "its stage is candidate"}]));
    assert_eq!(suggested(&place, &["--stage", "candidate"])["patterns"][0]["pattern_id"], id);
    let few = suggested(&place, &["--stage", "candidate", "--context", "files=3", "--explain"]);
    assert_eq!(few["kept_out"][0]["why"], "anti_conditions: files at_most 5 holds");
    let tested = place.run(&["pattern", "validate", id]).ok().stdout;
    assert!(tested.contains("stays candidate: there are fewer than 5 applications"), "{tested}");

    place.run(&["pattern", "validate", id, "--accept", " "]).exits(2);
    let accepted = place.run(&["--json", "pattern", "validate", id, "--accept", "our way"]).ok().json();
    assert_eq!(accepted["pattern"]["lifecycle"]["validation"]["accepted_because"], "our way");
    assert_eq!(accepted["pattern"]["trust"], "user");
    assert_eq!(searched(&place), [id]);
    assert_eq!(suggested(&place, &[])["patterns"][0]["score"]["match"], 1.0);

    place.run(&["pattern", "deprecate", id, "--reason", "the tool is gone"]).ok();
    assert_eq!(searched(&place), Vec::<Value>::new());
    assert_eq!(suggested(&place, &[])["patterns"], json!([]));
    let shown = place.run(&["pattern", "get", id]).ok().stdout;
    assert!(
        shown.contains("deprecated: the tool is gone") && shown.contains("accepted by a person: our way"),
        "{shown}"
    );
    assert_eq!(
        place.run(&["--json", "pattern", "list", "--stage", "deprecated"]).ok().json()["patterns"][0]["pattern_id"],
        id
    );
}

#[test]
fn an_episode_that_names_its_tools_follows_a_pattern_and_is_counted_as_it_is_listed() {
    let place = Place::new();
    let mut filing = pattern("File the bug");
    let action = json!({"text": "File it", "tools": ["mcp__github__create_issue"]});
    filing["content"] = json!({"type": "heuristic", "condition": "A bug is found", "action": action});
    let added = add(&place, &filing);
    let id = added["pattern_id"].as_str().unwrap();
    let episodes =
        [("success", "mcp__github__create_issue"), ("failure", "github.create_issue"), ("success", "github.close")];
    for (n, (status, tool)) in episodes.into_iter().enumerate() {
        let task = format!("File the bug number {n}");
        let record = ["--llm", "none", "episode", "record", "--task", &task, "--status", status, "--tool", tool];
        place.run(&record).ok();
    }
    let shown = place.run(&["--json", "pattern", "get", id]).ok().json();
    let (evidence, count) = (&shown["evidence"], |list: &Value| list.as_array().map(Vec::len));
    assert_eq!(count(&evidence["supporting_episodes"]), Some(1), "{evidence}");
    assert_eq!(count(&evidence["counter_episodes"]), Some(1), "{evidence}");
    assert_eq!((&evidence["num_applications"], &evidence["success_rate"]), (&json!(2), &json!(0.5)));
    assert_eq!(shown["lifecycle"]["usage_count"], 2);
    let told = place.run(&["pattern", "get", id]).ok().stdout;
    assert!(told.contains("1 of 2 applications succeeded"), "{told}");
    let listed = &place.run(&["--json", "pattern", "list"]).ok().json()["patterns"][0];
    assert_eq!((&listed["num_applications"], &listed["success_rate"]), (&json!(2), &json!(0.5)), "{listed}");
    let told = place.run(&["pattern", "list"]).ok().stdout;
    assert!(told.contains("1 of 2 applications succeeded"), "{told}");
}

#[test]
fn five_applications_that_succeed_validate_a_pattern_and_each_counts_once() {
    let place = Place::with_instant_model();
    let added = add(&place, &pattern("Search first"));
    let id = added["pattern_id"].as_str().unwrap();
    let mut stages = Vec::new();
    for n in 0..5 {
        let task = format!("Write the function number {n}");
        let solved = place.run(&["--llm", "simulated", "--json", "solve", "--matts-k", "1", &task]).ok().json();
        assert_eq!(solved["outcome"], "success");
        let trace = solved["trace_id"].as_str().unwrap();
        for _ in 0..2 {
            let applied = place.run(&["--json", "pattern", "apply", id, trace]).ok().json();
            stages.push(applied["pattern"]["lifecycle"]["status"].clone());
        }
    }
    assert_eq!(stages[..8], vec![json!("candidate"); 8]);
    assert_eq!(stages[8..], [json!("validated"), json!("validated")]);
    let shown = place.run(&["--json", "pattern", "get", id]).ok().json();
    assert_eq!(shown["evidence"]["num_applications"], 5);
    assert_eq!(shown["evidence"]["supporting_episodes"].as_array().unwrap().len(), 5);
    let p = shown["evidence"]["statistical_significance"].as_f64().unwrap();
    assert!((p - 0.03125).abs() < 1e-9, "{p}");
    assert!(searched(&place).contains(&json!(id)));

    let lines = place.run(&["memory", "export"]).ok().stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let exported = lines.iter().find(|line| line["id"] == id).unwrap();
    assert_eq!((&exported["pattern"]["stage"], &exported["pattern"]["version"]), (&json!("validated"), &json!(1)));
    let applications = lines.iter().filter(|line| line["application"]["kind"] == "reported").count();
    assert_eq!(applications, 5);
    place.run(&["pattern", "apply", id, id]).exits(1);
}

#[test]
fn a_bad_pattern_is_refused_with_every_field_that_is_wrong() {
    let place = Place::new();
    let mut bad = pattern(" ");
    bad["applicability"]["context_conditions"][0] = json!({"feature": "branch", "op": "matches", "value": "("});
    let refused = place.run_with_stdin(&["pattern", "add", "--file", "-"], &bad.to_string()).exits(2).stderr;
    for part in ["title is missing", "applicability.context_conditions has a condition on \"branch\"", "unclosed group"]
    {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    let mut unknown = pattern("x");
    unknown["categories"] = json!([]);
    let refused = place.run_with_stdin(&["pattern", "add", "--file", "-"], &unknown.to_string()).exits(2).stderr;
    assert!(refused.contains("categories: unknown; known are"), "{refused}");
    let mut deep = pattern("x");
    deep["content"]["when"] = json!("always");
    let refused = place.run_with_stdin(&["pattern", "add", "--file", "-"], &deep.to_string()).exits(2).stderr;
    assert!(refused.contains("content.when: unknown"), "{refused}");
    place.run(&["pattern", "find", "--context", "files"]).exits(2);
}

#[test]
fn a_change_is_a_version_whose_past_can_be_read_and_similar_patterns_become_one_and_two_again() {
    let place = Place::new();
    let id = |added: Value| added["pattern_id"].as_str().unwrap().to_owned();
    let first = id(add(&place, &pattern("Search first")));
    let changed = json!({"explanation": "Look for the zebrafish symbol with ripgrep, then read."});
    let mut next = pattern("Search first");
    next.as_object_mut().unwrap().extend(changed.as_object().unwrap().clone());
    let update = |id: &str, pattern: &Value| {
        place.run_with_stdin(&["--json", "pattern", "update", id, "--file", "-"], &pattern.to_string())
    };
    let updated = update(&first, &next).ok().json();
    assert_eq!((&updated["pattern"]["version"], &updated["why"]), (&json!(2), &json!("version 2")));
    assert_eq!(update(&first, &next).ok().json()["pattern"]["version"], 2, "it says that already");
    let versions = place.run(&["--json", "pattern", "history", &first]).ok().json();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1);
    assert_eq!(versions["versions"][0]["detailed_explanation"], pattern("Search first")["explanation"]);
    let mut of_another_kind = next.clone();
    of_another_kind["category"] = json!("recovery");
    let refused = update(&first, &of_another_kind);
    assert!(refused.code != Some(0) && refused.stderr.contains("category"), "{}", refused.stderr);

    let mut twin = pattern("Look for it first");
    twin["applicability"]["problem_types"] = json!(["debugging", "refactoring"]);
    let second = id(add(&place, &twin));
    let similar = place.run(&["--json", "pattern", "similar", &first]).ok().json();
    assert_eq!(similar["patterns"][0]["pattern_id"], second);
    let merged = place.run(&["--json", "pattern", "merge", &first, &second]).ok().json();
    let stage = |id: &str| place.run(&["--json", "pattern", "get", id]).ok().json()["lifecycle"]["status"].clone();
    let one = merged["stages"][0]["changes"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!([&one, &first, &second].map(|id| stage(id)), ["candidate", "deprecated", "deprecated"]);
    let text = place.run(&["pattern", "merge", &first, &first]);
    assert!(text.code != Some(0) && text.stderr.contains("twice"), "{}", text.stderr);

    place.run(&["consolidate", "--undo", merged["run_id"].as_str().unwrap()]).ok();
    assert_eq!([&first, &second].map(|id| stage(id)), ["candidate", "candidate"]);
    assert_ne!(place.run(&["pattern", "get", &one]).code, Some(0), "it is gone");
    assert_eq!(place.run(&["--json", "pattern", "prune"]).ok().json()["patterns"], json!([]), "none is old");
}
