//! Tests that acknowledged means durable and whole, with processes that are killed while they write, and many that
//! write at once.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::mcp_process::McpProcess;
use crate::support::Place;

fn lesson(number: usize) -> Value {
    let words: Vec<String> = (0..60).map(|word| format!("word{}", (number * 31 + word * 7) % 997)).collect();
    json!({
        "title": format!("Lesson number {number}"),
        "description": format!("When number {number} is asked for."),
        "content": words.join(" "),
        "task": format!("find lesson {number}"),
    })
}

fn number_of(title: &str) -> usize {
    title.rsplit(' ').next().unwrap().parse().unwrap()
}

fn send_record(process: &mut McpProcess, number: usize) {
    let params = json!({"name": "record_memory", "arguments": lesson(number)});
    process.send(&json!({"id": number, "method": "tools/call", "params": params}));
}

/// The memories of every workspace, by id; each id must be there once.
fn exported(place: &Place) -> BTreeMap<String, Value> {
    let ran = place.run(&["memory", "export", "--all"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut memories = BTreeMap::new();
    for memory in lines.filter(|line| line["kind"] == "memory") {
        let id = memory["id"].as_str().unwrap().to_owned();
        assert!(memories.insert(id.clone(), memory).is_none(), "{id} is there twice");
    }
    memories
}

fn assert_whole(memory: &Value, number: usize) {
    let lesson = lesson(number);
    for field in ["title", "description", "content", "task"] {
        assert_eq!(memory[field], lesson[field], "{field} of lesson {number}");
    }
}

#[test]
fn what_was_acknowledged_before_a_kill_is_there_whole_and_once() {
    let place = Place::new();
    let mut acknowledged: BTreeMap<String, usize> = BTreeMap::new();
    let mut next = 1;
    for answers_before_the_kill in [5, 1, 12, 3, 8] {
        let mut process = McpProcess::initialized(&place, &["--llm", "none"]);
        let callers = 4;
        for _ in 0..callers {
            send_record(&mut process, next);
            next += 1;
        }
        for _ in 0..answers_before_the_kill {
            let answer = process.read();
            let recorded = &answer["result"]["structuredContent"];
            assert_eq!(recorded["status"], "created", "{answer}");
            let number = answer["id"].as_u64().unwrap() as usize;
            acknowledged.insert(recorded["id"].as_str().unwrap().to_owned(), number);
            send_record(&mut process, next);
            next += 1;
        }
        process.kill();
    }
    let memories = exported(&place);
    for (id, number) in &acknowledged {
        assert_whole(memories.get(id).unwrap_or_else(|| panic!("lesson {number} was lost")), *number);
    }
    // A memory that was not acknowledged may be there or not, but not in half and not twice.
    let numbers: Vec<usize> = memories.values().map(|memory| number_of(memory["title"].as_str().unwrap())).collect();
    assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len(), "{numbers:?}");
    for memory in memories.values() {
        assert_whole(memory, number_of(memory["title"].as_str().unwrap()));
    }
    let ran = place.run(&["memory", "search", "find lesson 1", "--json"]);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(!found["memories"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn eight_processes_on_one_directory_lose_double_and_leak_nothing() {
    const PROCESSES: usize = 8;
    const WRITES: usize = 6;
    let place = Place::new();
    let workspaces = ["left", "right"].map(|name| {
        let path = place.path(name);
        std::fs::create_dir_all(&path).unwrap();
        path.display().to_string()
    });
    let mut acknowledged: Vec<BTreeMap<String, usize>> = vec![BTreeMap::new(), BTreeMap::new()];
    let written: Vec<(usize, Vec<(String, usize)>)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..PROCESSES)
            .map(|process| {
                let (place, workspace) = (&place, &workspaces[process % 2]);
                scope.spawn(move || {
                    let mut server = McpProcess::initialized(place, &["--llm", "none", "--workspace", workspace]);
                    let ids = (0..WRITES).map(|write| {
                        let number = process * 100 + write;
                        send_record(&mut server, number);
                        let answer = server.read();
                        let id = answer["result"]["structuredContent"]["id"].as_str();
                        (id.unwrap_or_else(|| panic!("{answer}")).to_owned(), number)
                    });
                    (process % 2, ids.collect())
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    for (side, ids) in written {
        acknowledged[side].extend(ids);
    }
    let memories = exported(&place);
    assert_eq!(memories.len(), PROCESSES * WRITES);
    for side in &acknowledged {
        let owners: BTreeSet<&str> = side.keys().map(|id| memories[id]["workspace_id"].as_str().unwrap()).collect();
        assert_eq!(owners.len(), 1, "each side is one workspace");
    }
    for (id, number) in acknowledged.iter().flatten() {
        assert_whole(&memories[id], *number);
    }
    for (side, workspace) in workspaces.iter().enumerate() {
        let ran = place.run(&["--workspace", workspace, "memory", "search", "lesson number", "--n", "50", "--json"]);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let found: Vec<&str> =
            found["memories"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
        assert_eq!(found.len(), PROCESSES * WRITES / 2);
        assert!(
            found.iter().all(|id| acknowledged[side].contains_key(*id)),
            "a memory of the other workspace was found"
        );
    }
}

/// Returns the lines of an import: memories with the vectors of one that was recorded.
fn lines_with_vectors(place: &Place, count: u128) -> Vec<Value> {
    let recorded = place.run_with_stdin(&["--json", "memory", "record", "--file", "-"], &lesson(1).to_string());
    recorded.ok();
    let exported = place.run(&["memory", "export", "--all", "--vectors"]).ok().stdout;
    let mut line: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(line["passages"][0]["vector"].as_array().unwrap().len(), 384);
    let with_id = |n| {
        line["id"] = json!(uuid::Uuid::from_u128(n).to_string());
        line.clone()
    };
    (1..=count).map(with_id).collect()
}

#[test]
fn an_import_that_is_killed_leaves_whole_batches_and_the_next_one_does_the_rest() {
    const LINES: usize = 8_192 + 1_024;
    let made = Place::new();
    let lines = lines_with_vectors(&made, LINES as u128);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let place = Place::new();
    let file = place.write("bank.jsonl", &text);
    let import = ["--json", "memory", "import", "--trusted-backup", file.to_str().unwrap()];
    for run in 1..=2 {
        let mut process = place.command(&import).spawn().unwrap();
        let marker = place.path("data/journal/bulk.json");
        // the marker is there while a batch is written; every run gets one batch further at the most
        while !marker.exists() && process.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        process.kill().unwrap();
        process.wait().unwrap();
        let memories = exported(&place);
        assert!(memories.len() < LINES, "run {run} came to its end");
        assert!(memories.values().all(|memory| memory["content"] == lesson(1)["content"]));
    }
    let whole = exported(&place).len();
    let imported = place.run(&import).ok().json();
    assert_eq!(imported["skipped"], whole);
    assert_eq!(imported["imported"]["memories"], LINES - whole);
    assert_eq!(exported(&place).len(), LINES);
    let with_vectors = place.run(&["memory", "export", "--all", "--vectors"]).ok().stdout;
    let passages = lines[0]["passages"].clone();
    for line in with_vectors.lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["passages"], passages);
    }
}
