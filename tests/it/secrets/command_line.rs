//! Secrets in what a user types, sets, hands in and restores.

use serde_json::{Value, json};

use super::corpus::{Planted, everything, exchange};
use super::seen::Seen;
use super::{KEY, run_with_key};
use crate::support::{Place, Ran};

pub(super) fn work(place: &Place, corpus: &[Planted], seen: &mut Seen) {
    type_secrets(place, corpus, seen);
    set_secrets_in_the_environment(place, &corpus[0].text, seen);
    learn_from_a_transcript(place, corpus, seen);
}

fn type_secrets(place: &Place, corpus: &[Planted], seen: &mut Seen) {
    let everything = everything(corpus);
    let secret = &corpus[0].text;
    let verify = format!("printf '%s' '{}'; exit 1", everything.replace('\'', r"'\''"));
    for arguments in [
        &["solve", "--matts-k", "1", "--verify", &verify, &everything][..],
        &["memory", "record", "--title", secret, "--description", secret, "--content", &everything],
        &["memory", "search", &everything, "--explain"],
        &["memory", "search", &everything, "--json"],
        &["config", "show"],
        &["--json", "config", "show"],
        &["doctor"],
        &["--llm", secret, "config", "show"],
        &["--workspace", secret, "memory", "search", "q"],
        &["--json", "--workspace", secret, "memory", "search", "q"],
        &["--config", secret, "config", "show"],
        &["memory", "get", secret],
        &["--json", "memory", "get", secret],
        &["memory", secret],
        &[secret],
    ] {
        seen.ran(&format!("{arguments:?}"), &run_with_key(place, arguments));
    }
}

fn set_secrets_in_the_environment(place: &Place, secret: &str, seen: &mut Seen) {
    for (variable, value) in [
        ("REASONING_BANK__LOG__LEVEL", secret),
        ("REASONING_BANK__LOG__FORMAT", secret),
        ("REASONING_BANK__LOG__FILE", "/dev/null/password=hunter2hunter2"),
        ("REASONING_BANK__MATTS__K", secret),
        ("REASONING_BANK__LLM__BASE_URL", "https://deploy:hunter2@git.example.com/"),
        ("REASONING_BANK__LLM__API_KEY", secret),
    ] {
        for arguments in [&["config", "show"][..], &["--json", "memory", "search", "q"]] {
            let mut command = place.command(arguments);
            command.env("OPENROUTER_API_KEY", KEY).env(variable, value);
            seen.ran(variable, &Ran::of(command.output().unwrap()));
        }
    }
}

/// The exchanges are others than those that a client captures.
fn learn_from_a_transcript(place: &Place, corpus: &[Planted], seen: &mut Seen) {
    let messages = corpus.chunks(7).flat_map(|part| {
        let [question, answer] = exchange(part);
        [json!({"role": "user", "content": question}), json!({"role": "assistant", "content": answer})]
    });
    let transcript: String = messages.map(|message| format!("{message}\n")).collect();
    let file = place.write("transcripts/session.jsonl", &transcript);
    let learned = run_with_key(place, &["learn", "--json", file.to_str().unwrap()]).ok();
    assert!(learned.json()["files"][0]["kept"].as_u64().unwrap() > 0, "{learned:?}");
    seen.ran("learn", &learned);
}

/// Imports an export that others have written into, and uses what came of it.
pub(super) fn restore(place: &Place, corpus: &[Planted], exported: &str, seen: &mut Seen) {
    let everything = everything(corpus);
    let lines = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut memory = lines.clone().find(|line| line["kind"] == "memory").unwrap();
    // The first line has it, and that may be any: some ids are hashes.
    memory["workspace"] = lines.clone().find(|line| line["workspace"].is_object()).unwrap()["workspace"].take();
    memory["id"] = json!("01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11");
    memory["content"] = json!(everything);
    memory["source_session"] = json!(corpus[0].text);
    memory["workspace"]["name"] = json!(corpus[0].text);
    memory["workspace"]["root"] = json!("/elsewhere");
    let vote = json!({
        "kind": "signal", "memory_id": memory["id"], "workspace_id": memory["workspace_id"], "signal": "helpful",
        "at": "2026-01-01T00:00:00Z",
    });
    let mut signal = lines.clone().find(|line| line["kind"] == "signal").unwrap_or(vote);
    signal["id"] = json!("01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d12");
    signal["comment"] = json!(everything);
    let mut trace = lines.clone().find(|line| line["kind"] == "trace").unwrap();
    trace["trace_id"] = json!("01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d13");
    trace["task"] = json!(everything);
    let file = place.write("restored.jsonl", &format!("{memory}\n{signal}\n{trace}\n"));
    let restored = run_with_key(place, &["memory", "import", "--trusted-backup", file.to_str().unwrap()]);
    seen.ran("import", &restored);
    restored.ok();
    let id = memory["id"].as_str().unwrap();
    for arguments in [
        &["memory", "feedback", id, "--helpful", "--comment", &corpus[0].text][..],
        &["memory", "update", id, "--title", &corpus[0].text],
        &["memory", "export", "--all"],
        &["trace", "list", "--json"],
        &["trace", "show", "01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d13"],
        &["workspace", "list"],
        &["workspace", "switch", &corpus[0].text],
        &["stats"],
    ] {
        seen.ran(&format!("{arguments:?}"), &run_with_key(place, arguments));
    }
}
