//! Texts that only look like a secret stay as they are, on every way in and out.

use serde_json::{Value, json};

use super::command_with_key;
use super::corpus::lookalikes;
use super::leaky_provider::Provider;
use crate::mcp_process::McpProcess;
use crate::support::Place;

#[test]
fn what_only_looks_like_a_secret_comes_through_every_way_unchanged() {
    let lookalikes = lookalikes();
    assert!(lookalikes.len() >= 60, "{}", lookalikes.len());
    let everything = lookalikes.join("\n\n");
    let provider = Provider::start(everything.clone());
    let place = place(&provider);
    let mut process = McpProcess::spawn(command_with_key(&place, &["mcp"]));
    process.initialize();

    let last = lessons_are_read_as_they_were_recorded(&mut process, &lookalikes);
    a_change_is_answered_as_it_was_given(&mut process, &last, &everything);
    nothing_that_is_found_is_redacted(&mut process, &everything);
    a_solve_repeats_what_the_model_said(&mut process, &everything);
    assert!(process.end().status.success());

    the_model_was_asked_with(&provider, &everything);
    let exported = place.run(&["memory", "export", "--all"]).ok().stdout;
    the_export_holds(&exported, &everything);
    a_restored_bank_exports_the_same(&place, &exported);
}

fn place(provider: &Provider) -> Place {
    let place = Place::new();
    let settings = format!(
        "[llm]\nbase_url = {:?}\n[llm.retry]\nmax_retries = 3\nbase_delay_ms = 1\n[mcp]\ntoolsets = [\"all\"]\n",
        provider.uri()
    );
    place.write("config/reasoning-bank/config.toml", &settings);
    place
}

/// Returns the start of a text, as far as it fits into `bytes` bytes.
fn start_of(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Returns the id of the last memory.
fn lessons_are_read_as_they_were_recorded(process: &mut McpProcess, lookalikes: &[String]) -> Value {
    let mut id = Value::Null;
    for (n, part) in lookalikes.chunks(15).enumerate() {
        let text = part.join("\n\n");
        let is_short = |text: &&String, most| text.chars().count() <= most && !text.contains('\n');
        // A part may have none that is short enough.
        let short = |most: usize| part.iter().chain(lookalikes).find(|text| is_short(text, most)).unwrap();
        let lesson = json!({
            "title": format!("Lesson {n}"), "description": short(400), "content": text, "task": text,
            "pattern_tags": [short(100)], "domain_category": short(100),
        });
        let recorded = process.call("record_memory", lesson.clone());
        assert_eq!(recorded["redactions"], 0, "{recorded}");
        id = recorded["id"].clone();
        let read = process.call("get_memory", json!({"memory_id": id}));
        for field in ["description", "content", "pattern_tags", "domain_category"] {
            assert_eq!(read[field], lesson[field], "{field}");
        }
        let comment = start_of(&text, 1_900);
        process.call("report_outcome", json!({"memory_ids": [id], "helpful": true, "comment": comment}));
    }
    id
}

fn a_change_is_answered_as_it_was_given(process: &mut McpProcess, memory: &Value, everything: &str) {
    let content = start_of(everything, 3_900);
    let updated = process.call("update_memory", json!({"memory_id": memory, "content": content}));
    assert_eq!(updated["content"].as_str().unwrap(), content);
}

fn nothing_that_is_found_is_redacted(process: &mut McpProcess, everything: &str) {
    let found = process.call("retrieve_memories", json!({"query": everything, "n_results": 50}));
    assert!(!found.to_string().contains("[REDACTED:"), "{found}");
}

fn a_solve_repeats_what_the_model_said(process: &mut McpProcess, everything: &str) {
    let solved = process.call("solve_coding_task", json!({"task": everything, "matts_k": 1}));
    assert!(solved["solution"].as_str().unwrap().ends_with(everything), "{solved}");
}

fn the_model_was_asked_with(provider: &Provider, everything: &str) {
    let asked: Vec<String> = provider
        .requests()
        .iter()
        .filter_map(|request| serde_json::from_slice::<Value>(&request.body).ok())
        .map(|request| request["input"].to_string())
        .collect();
    let escaped = serde_json::to_string(everything).unwrap();
    assert!(asked.iter().any(|input| input.contains(escaped.trim_matches('"'))), "{asked:?}");
}

fn the_export_holds(exported: &str, everything: &str) {
    let things: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind = |kind: &'static str| things.iter().filter(move |thing| thing["kind"] == kind);
    assert_eq!(of_kind("trace").next().unwrap()["task"], everything);
    let comments: String = of_kind("signal").filter_map(|signal| signal["comment"].as_str()).collect();
    // The other texts that the model's lessons hold are a secret of their own.
    let given = of_kind("memory").filter(|memory| memory["source_type"] == "explicit").map(Value::to_string);
    assert!(!(given.collect::<String>() + &comments).contains("[REDACTED:"), "{comments}");
}

/// Asserts that a restored bank exports the same, but for the lines that hold a redacted secret of the model.
fn a_restored_bank_exports_the_same(place: &Place, exported: &str) {
    let clean: String =
        exported.lines().filter(|line| !line.contains("[REDACTED:")).map(|line| format!("{line}\n")).collect();
    let file = place.write("exported.jsonl", &clean);
    let restored = Place::new();
    let imported =
        restored.run(&["--json", "memory", "import", "--trusted-backup", file.to_str().unwrap()]).ok().json();
    assert_eq!(imported["redactions"], 0, "{imported}");
    assert_eq!(restored.run(&["memory", "export", "--all"]).ok().stdout, clean);
}
