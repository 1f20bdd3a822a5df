//! A client that hands in secrets in every argument of every tool, and in lines that are no message.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::command_with_key;
use super::corpus::{Planted, everything, exchange};
use super::seen::Seen;
use crate::mcp_process::McpProcess;
use crate::support::Place;

pub(super) fn work(place: &Place, corpus: &[Planted], seen: &mut Seen) {
    let mut process = McpProcess::spawn(command_with_key(place, &["mcp"]));
    process.initialize();
    let memory = record_lessons(&mut process, corpus, seen);
    send_wrong_arguments(&mut process, corpus, seen);
    search_and_solve(&mut process, &memory, corpus, seen);
    report_and_update(&mut process, &memory, corpus, seen);
    distil_sessions(&mut process, corpus, seen);
    capture_exchanges(&mut process, corpus, seen);
    send_what_is_no_call(&mut process, corpus, seen);
    let ended = process.end();
    assert!(ended.status.success());
    seen.add("stderr of mcp", ended.stderr);
}

/// Returns the id of the last memory. Embedding a lesson takes most of the time, so eight texts go into each.
fn record_lessons(process: &mut McpProcess, corpus: &[Planted], seen: &mut Seen) -> Value {
    let mut created = 0;
    let mut id = Value::Null;
    for part in corpus.chunks(8) {
        let text = |at: usize| part[at % part.len()].text.as_str();
        let short = |at: usize, most: usize| if text(at).chars().count() <= most { text(at) } else { "long" };
        let lesson = json!({
            "title": short(0, 120), "description": short(1, 400), "content": everything(part), "task": text(2),
            "pattern_tags": [short(0, 100), short(1, 100), short(2, 100)],
            "domain_category": short(1, 120), "difficulty_level": short(2, 120),
            "error_context": {
                "error_type": text(0), "failure_pattern": text(1), "corrective_guidance": text(2),
                "error_message": text(0), "stack_trace": everything(part), "task_domain": text(1),
            },
        });
        let answer = process.request("tools/call", json!({"name": "record_memory", "arguments": lesson}));
        if answer["result"]["isError"] == false {
            created += 1;
            id = answer["result"]["structuredContent"]["id"].clone();
        }
        seen.add("the reply of record_memory", answer.to_string());
    }
    assert_eq!(created, corpus.len().div_ceil(8));
    id
}

fn send_wrong_arguments(process: &mut McpProcess, corpus: &[Planted], seen: &mut Seen) {
    for Planted { text, .. } in corpus {
        for wrong in [
            json!({"query": "q", "n_results": text}),
            json!({"query": "q", (text.as_str()): 1}),
            json!({"query": "q", "workspace": text}),
        ] {
            let answer = process.request("tools/call", json!({"name": "retrieve_memories", "arguments": wrong}));
            seen.add(format!("the reply to {wrong}"), answer.to_string());
        }
    }
}

fn search_and_solve(process: &mut McpProcess, memory: &Value, corpus: &[Planted], seen: &mut Seen) {
    let everything = everything(corpus);
    let domain = &corpus.iter().find(|planted| planted.text.starts_with("API_KEY=")).unwrap().text;
    let search = json!({
        "query": everything, "detail": "full", "n_results": 50, "domain": domain, "error_signature": everything,
    });
    for (tool, arguments) in [
        ("retrieve_memories", search),
        ("solve_coding_task", json!({"task": everything, "matts_k": 3, "domain": domain})),
        ("solve_coding_task", json!({"task": format!("Log in with {}", corpus[0].text), "matts_k": 1})),
        ("get_memory_genealogy", json!({"memory_id": memory})),
        ("get_statistics", json!({})),
    ] {
        let answer = process.request("tools/call", json!({"name": tool, "arguments": arguments}));
        if tool == "solve_coding_task" {
            assert_eq!(answer["result"]["structuredContent"]["outcome"], "success", "{answer}");
            let report = &answer["result"]["structuredContent"];
            assert_eq!(report["learnings"][0]["title"], "Read credentials at run time", "{answer}");
            assert!(report["warnings"].to_string().contains("has_secret"), "{answer}");
        }
        seen.add(format!("the reply of {tool}"), answer.to_string());
    }
}

/// Reports and updates with as much of the corpus at a time as a comment takes.
fn report_and_update(process: &mut McpProcess, memory: &Value, corpus: &[Planted], seen: &mut Seen) {
    for (n, part) in corpus.chunks(12).enumerate() {
        let text = everything(part);
        let learning = json!({"title": "Keep it out", "description": "When logging.", "content": text});
        let evidence = json!({"kind": "tests", "passed": true, "detail": text});
        let report = json!({
            "memory_ids": [memory], "helpful": true, "comment": text, "evidence": evidence, "learnings": [learning],
        });
        let update = json!({"memory_id": memory, "content": text});
        let (tool, arguments) = if n % 2 == 0 { ("report_outcome", report) } else { ("update_memory", update) };
        let answer = process.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        seen.add(format!("the reply of {tool}"), answer.to_string());
    }
}

fn distil_sessions(process: &mut McpProcess, corpus: &[Planted], seen: &mut Seen) {
    let everything = everything(corpus);
    for transcript in [everything.clone(), json!({"role": "user", "content": everything}).to_string()] {
        distil(process, &corpus[0].text, &transcript, seen);
    }
}

/// Hands in a session and waits until nothing more comes of it.
fn distil(process: &mut McpProcess, session: &str, transcript: &str, seen: &mut Seen) {
    let session = json!({"session_id": session, "transcript": transcript, "outcome": "mixed"});
    let queued = process.request("tools/call", json!({"name": "distill_session", "arguments": session}));
    seen.add("the reply of distill_session", queued.to_string());
    let id = &queued["result"]["structuredContent"]["job_id"];
    let begun = Instant::now();
    loop {
        let job = process.call("get_job", json!({"job_id": id}));
        if job["state"] == "done" || job["state"] == "failed" {
            return seen.add("the reply of get_job", job.to_string());
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{job}");
    }
}

/// A lesson whose pieces make up something like a secret is refused; most are captured.
fn capture_exchanges(process: &mut McpProcess, corpus: &[Planted], seen: &mut Seen) {
    let mut captured = 0;
    for part in corpus.chunks(12) {
        let [question, answer] = exchange(part);
        let answer = process.call("capture_exchange", json!({"question": question, "answer": answer}));
        captured += usize::from(answer["captured"] == true);
        seen.add("the reply of capture_exchange", answer.to_string());
    }
    assert!(captured > corpus.len() / 24, "{captured}");
}

fn send_what_is_no_call(process: &mut McpProcess, corpus: &[Planted], seen: &mut Seen) {
    let everything = everything(corpus);
    process.write(format!("{}\n", everything.replace('\n', " ")).as_bytes());
    seen.add("the reply to an unknown tool", process.request("tools/call", json!({"name": everything})).to_string());
    seen.add("the reply to an unknown method", process.request(&everything, json!({})).to_string());
}
