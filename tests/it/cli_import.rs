//! Tests of export and import through the real binary: an exported bank is restored to the byte.

use serde_json::{Value, json};

use crate::support::{Place, Ran};

fn export(place: &Place, more: &[&str]) -> String {
    place.run(&[&["memory", "export", "--all"], more].concat()).ok().stdout
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A bank with memories of two workspaces, a trace, evidence, a warning and a lesson that was recorded twice.
fn lived_in() -> Place {
    let place = Place::new();
    let record = |lesson: Value, more: &[&str]| {
        let ran =
            place.run_with_stdin(&[&["--json", "memory", "record", "--file", "-"], more].concat(), &lesson.to_string());
        ran.ok().json()["id"].as_str().unwrap().to_owned()
    };
    let retries = json!({"title": "Bound retries", "description": "A flaky service", "content": "At most three times",
        "pattern_tags": ["network"], "task": "Call the service", "difficulty_level": "easy"});
    let parent = record(retries.clone(), &[]);
    record(retries, &[]);
    record(
        json!({"title": "Grün", "description": "Zeichen\u{1f980}", "content": "Zeile\n\"zwei\"\t\\",
        "parent_memory_id": parent, "domain_category": "text"}),
        &[],
    );
    let elsewhere = place.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    record(
        json!({"title": "Do not retry at once", "description": "A service is down", "content": "It stays down.",
            "error_context": {"error_type": "RetryStorm", "failure_pattern": "no pause", "corrective_guidance": "wait"}}),
        &["--workspace", elsewhere.to_str().unwrap()],
    );
    let solved =
        place.run(&["--llm", "simulated", "--json", "solve", "Find a number in a sorted list by binary search"]);
    assert!(solved.json()["trace_id"].is_string());
    place
}

#[test]
fn a_bank_is_restored_to_the_byte_with_and_without_vectors() {
    let old = lived_in();
    for vectors in [&[][..], &["--vectors"]] {
        let exported = export(&old, vectors);
        let kinds = |kind: &str| lines(&exported).iter().filter(|line| line["kind"] == kind).count();
        assert!(kinds("memory") >= 3 && kinds("trace") == 1 && kinds("signal") >= 1, "{exported}");
        let new = Place::new();
        let file = new.write("bank.jsonl", &exported);
        let imported = new.run(&["--json", "memory", "import", "--trusted-backup", file.to_str().unwrap()]).ok().json();
        assert_eq!(
            imported,
            json!({"imported": {"memories": kinds("memory"), "traces": 1, "signals": kinds("signal")},
                "skipped": 0, "redactions": 0}),
        );
        assert_eq!(export(&new, vectors), exported);

        let again = new.run(&["memory", "import", "--trusted-backup", file.to_str().unwrap()]).ok().stdout;
        let skipped = format!("{} skipped", exported.lines().count());
        assert!(again.contains("imported 0 memories, 0 traces, 0 signals") && again.contains(&skipped), "{again}");
        assert_eq!(export(&new, vectors), exported);
    }
}

#[test]
fn a_restored_memory_is_found_by_meaning_with_the_same_confidence() {
    let old = lived_in();
    let found = |place: &Place| {
        let project = old.path("project");
        let arguments =
            ["--json", "memory", "search", "the server answers 503", "--workspace", project.to_str().unwrap()];
        let found = place.run(&arguments).ok().json();
        assert_eq!(found["mode"], "hybrid");
        let first = found["memories"][0].clone();
        (first["title"].clone(), (first["confidence"].as_f64().unwrap() * 1e6).round())
    };
    for vectors in [&[][..], &["--vectors"]] {
        let new = Place::new();
        new.run_with_stdin(&["memory", "import", "--trusted-backup", "-"], &export(&old, vectors)).ok();
        assert_eq!(found(&new), found(&old));
        assert_eq!(found(&new).0, "Bound retries");
    }
}

#[test]
fn a_workspace_comes_back_with_its_root_and_its_name() {
    let old = Place::new();
    old.write("project/.reasoning-bank.toml", "workspace.name = 'shop'\n");
    let lesson = ["--title", "T", "--description", "D", "--content", "C"];
    old.run(&[&["memory", "record"][..], &lesson].concat()).ok();
    let exported = lines(&export(&old, &[]));
    assert_eq!(exported[0]["workspace"]["name"], "shop");
    assert_eq!(exported[0]["workspace"]["root"], old.path("project").to_str().unwrap());
    let id = exported[0]["workspace_id"].as_str().unwrap();

    let new = Place::new();
    new.run(&["--json", "memory", "search", "T", "--workspace", id]).exits(2);
    new.run_with_stdin(&["memory", "import", "--trusted-backup", "-"], &export(&old, &[])).ok();
    let found = new.run(&["--json", "memory", "search", "T", "--workspace", id]).ok().json();
    assert_eq!(found["memories"].as_array().unwrap().len(), 1);
    assert_eq!(lines(&export(&new, &[])), exported);
}

#[test]
fn an_array_is_read_as_well_whole_or_pretty() {
    let old = lived_in();
    let array = old.run(&["--json", "memory", "export", "--all"]).ok().stdout;
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&array).unwrap()).unwrap();
    for text in [array, pretty] {
        let new = Place::new();
        new.run_with_stdin(&["memory", "import", "--trusted-backup", "-"], &text).ok();
        assert_eq!(export(&new, &[]), export(&old, &[]));
    }
}

#[test]
fn one_bad_line_and_nothing_is_imported() {
    let old = lived_in();
    let mut text = export(&old, &[]);
    text.push_str("{\"kind\":\"memory\",\"title\":\"no id\"}\n{\"kind\":\n");
    let new = Place::new();
    let refused: Ran = new.run_with_stdin(&["--json", "memory", "import", "-"], &text).exits(2);
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "invalid_argument");
    let (message, count) = (error["message"].as_str().unwrap(), text.lines().count());
    assert!(message.contains(&format!("line {}, id: is missing", count - 1)), "{message}");
    assert!(message.contains(&format!("line {count}, kind: EOF")), "{message}");
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
    assert_eq!(export(&new, &[]), "");
    let missing = new.run(&["memory", "import", "nowhere.jsonl"]).exits(2);
    assert!(missing.stderr.contains("nowhere.jsonl cannot be read"), "{}", missing.stderr);
    assert!(missing.stderr.contains("hint: give a file that is there"), "{}", missing.stderr);
}

#[test]
fn vectors_of_another_embedder_are_made_anew() {
    let old = lived_in();
    let exported = export(&old, &["--vectors"]);
    let foreign: String = lines(&exported)
        .into_iter()
        .map(|mut line| {
            if line["kind"] == "memory" {
                line["embedder"] = json!("another/3/0123456789abcdef");
                line["passages"][0]["vector"] = json!([1.0, 0.0, 0.0]);
            }
            format!("{line}\n")
        })
        .collect();
    let new = Place::new();
    new.run_with_stdin(&["memory", "import", "--trusted-backup", "-"], &foreign).ok();
    let restored = lines(&export(&new, &["--vectors"]));
    let memory = restored.iter().find(|line| line["kind"] == "memory").unwrap();
    assert!(memory["embedder"].as_str().unwrap().contains("/384/"));
    assert_eq!(memory["passages"][0]["vector"].as_array().unwrap().len(), 384);
}
