//! Hooks do no harm: whatever is wrong with the bank or its server, they end in time, with success, and say nothing.

use std::fs::File;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{FAILED, answered, failed, hook, warned};
use crate::support::Place;

/// The hook itself gives up after 0.1 s. The rest is the start of the process, on a machine that may be busy.
const BUDGET: Duration = Duration::from_secs(1);
const TRIES: usize = 5;

/// The events of a session, each with what a client says of it.
fn events(place: &Place) -> Vec<(&'static str, String)> {
    let of = |name: &'static str, more: serde_json::Value| {
        let mut event = json!({ "hook_event_name": name, "session_id": "s", "cwd": place.path("project") });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (name, event.to_string())
    };
    let command = json!({ "command": "make" });
    vec![
        of("SessionStart", json!({ "source": "startup" })),
        of("UserPromptSubmit", json!({ "prompt": "Why does the migration fail with the schema lock?" })),
        of(FAILED, json!({ "tool_name": "Bash", "tool_input": command, "error": "LockTimeoutError: schema" })),
        of("PostToolUse", json!({ "tool_name": "Bash", "tool_input": command, "tool_response": { "stdout": "" } })),
        of("PreCompact", json!({ "trigger": "auto" })),
        of("Stop", json!({ "stop_hook_active": false })),
        of("SessionEnd", json!({ "transcript_path": "/nonexistent" })),
    ]
}

/// Runs the hook of each event a few times. Every run has to succeed, and the fastest one has to be in time.
fn each_is_silent_and_in_time(place: &Place, case: &str) {
    for (event, document) in events(place) {
        let fastest = (0..TRIES).map(|_| {
            let begun = Instant::now();
            assert_eq!(hook(place, "claude-code", event, &document).stdout, "", "{case}: {event}");
            begun.elapsed()
        });
        let fastest = fastest.min().unwrap();
        assert!(fastest < BUDGET, "{case}: {event} took {fastest:?}");
    }
}

#[test]
fn a_server_that_hangs_keeps_no_agent_from_its_work() {
    let place = Place::with_instant_model();
    let server = warned(&place);
    answered(&place, FAILED, &failed("LockTimeoutError: schema"));
    let send = |signal: &str| {
        assert!(Command::new("kill").args(["-s", signal, &server.id().to_string()]).status().unwrap().success());
    };
    send("STOP");
    each_is_silent_and_in_time(&place, "the server is stopped");
    send("CONT");
    server.end();
}

#[test]
fn a_bank_of_a_newer_format_is_left_alone() {
    let place = Place::with_instant_model();
    warned(&place).end();
    place.write("data/format_version", "9999\n");
    each_is_silent_and_in_time(&place, "the format is newer");
    assert_eq!(std::fs::read_to_string(place.path("data/format_version")).unwrap(), "9999\n");
}

#[test]
fn a_lock_that_somebody_holds_is_not_waited_for() {
    let place = Place::with_instant_model();
    let server = warned(&place);
    let lock = File::open(place.path("data/lance/.write.lock")).unwrap();
    lock.lock().unwrap();
    answered(&place, FAILED, &failed("LockTimeoutError: schema"));
    for (event, document) in events(&place) {
        let begun = (0..TRIES).map(|_| {
            let begun = Instant::now();
            hook(&place, "claude-code", event, &document);
            begun.elapsed()
        });
        assert!(begun.min().unwrap() < BUDGET, "{event}");
    }
    drop(lock);
    server.end();
}

#[test]
fn ten_megabytes_of_output_are_in_time() {
    let place = Place::with_instant_model();
    let _server = warned(&place);
    let long = failed(&"LockTimeoutError: schema\n".repeat(400_000)).to_string();
    let fastest = (0..TRIES).map(|_| {
        let begun = Instant::now();
        let answer = hook(&place, "claude-code", FAILED, &long).stdout;
        assert!(answer.is_empty() || serde_json::from_str::<serde_json::Value>(&answer).is_ok(), "{answer}");
        begun.elapsed()
    });
    let fastest = fastest.min().unwrap();
    assert!(fastest < BUDGET, "{fastest:?}");
}
