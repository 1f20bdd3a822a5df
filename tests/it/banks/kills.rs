//! Two processes update one bank and are killed again and again, while a person edits its files.

use std::path::Path;

use serde_json::json;

use super::*;

/// The number of rounds where the variable does not say another one.
const ROUNDS: usize = 12;
const UPDATES: usize = 6;

fn said(round: usize, process: usize, n: usize) -> String {
    format!("I prefer variant r{round}p{process}n{n}x of the reports.")
}

/// Puts a line into a file, after one of its blank lines, as a person does who goes on writing in the middle.
fn insert(path: &Path, number: usize, line: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    let places: Vec<usize> = text.match_indices("\n\n").map(|(at, _)| at + 2).collect();
    let at = places[number % places.len()];
    std::fs::write(path, format!("{}{line}\n\n{}", &text[..at], &text[at..])).unwrap();
}

#[test]
fn what_was_acknowledged_outlives_kills_and_no_line_of_a_person_is_lost() {
    let rounds = crate::support::kill_rounds(ROUNDS);
    let place = place_with_banks("banks.sync_interval_s = 1\nbanks.optimize_above_tokens = 1000000\n");
    let dir = place.path("data/banks/global/default");
    let mut acknowledged = Vec::new();
    let mut written = Vec::new();
    for round in 0..rounds {
        let mut processes = [McpProcess::initialized(&place, &[]), McpProcess::initialized(&place, &[])];
        for process in &mut processes {
            let activated = process.call("activate", json!({"conversation_type": "chat"}));
            assert_eq!(activated["status"], "success", "{activated}");
        }
        for n in 0..UPDATES {
            for (number, process) in processes.iter_mut().enumerate() {
                let large = if n % 3 == 2 {
                    format!("\n\n{}", "A filler sentence of round. ".repeat(700))
                } else {
                    String::new()
                };
                let content = format!("{}{large}", said(round, number, n));
                let key = format!("talk-{round}-{number}");
                let update = json!({"content": content, "conversation_id": key, "update_count": n});
                let answer = process.call("update", update);
                assert_eq!(answer["status"], "success", "{answer}");
                acknowledged.push(said(round, number, n));
            }
            let line = format!("a person wrote line r{round}n{n}x");
            insert(&dir.join("preferences.md"), round * 31 + n * 7, &line);
            written.push(line);
        }
        let [one, other] = &mut processes;
        // One is in the middle of an update when it is killed, whatever comes of that.
        let update = json!({"content": said(round, 9, 9), "conversation_id": "cut", "update_count": round});
        one.send(&json!({"id": 900, "method": "tools/call", "params": {"name": "update", "arguments": update}}));
        std::thread::sleep(std::time::Duration::from_micros(300 * round as u64));
        one.kill();
        other.kill();
    }
    let mut last = McpProcess::initialized(&place, &[]);
    last.call("activate", json!({"conversation_type": "chat"}));
    last.end();
    let files = read_all(&dir);
    for text in acknowledged.iter().chain(&written) {
        assert_eq!(files.matches(text.as_str()).count(), 1, "{text}\n{files}");
    }
    for round in 0..rounds {
        assert!(files.matches(&said(round, 9, 9)).count() <= 1, "{round}");
    }
    let hidden = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    assert_eq!(std::fs::read_dir(&dir).unwrap().flatten().filter(hidden).count(), 0, "nothing is left over");
}
