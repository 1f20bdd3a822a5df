//! Hooks do no harm: whatever is wrong with the bank or its server, they end in time, with success, and say nothing.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{FAILED, answered, failed, hook, warned};
use crate::support::{Place, Ran};

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
    assert_eq!(fs::read_to_string(place.path("data/format_version")).unwrap(), "9999\n");
}

#[test]
fn a_data_directory_that_is_none_or_takes_nothing_is_left_alone() {
    let place = Place::with_instant_model();
    let file = place.write("data", "a file");
    each_is_silent_and_in_time(&place, "the data directory is a file");
    assert_eq!(fs::read_to_string(file).unwrap(), "a file");
    let place = Place::with_instant_model();
    // Nobody makes a file there, root neither.
    symlink("/proc", place.path("data")).unwrap();
    each_is_silent_and_in_time(&place, "the data directory takes no files");
}

#[test]
fn doctor_tells_of_the_hook_that_went_wrong_last_and_of_no_word_of_its_event() {
    let place = Place::with_instant_model();
    warned(&place).end();
    let check = || {
        let checks = place.run(&["--llm", "none", "--json", "doctor"]).ok().json()["checks"].clone();
        checks.as_array().unwrap().iter().find(|check| check["name"] == "hook-log").cloned()
    };
    let ended =
        json!({ "hook_event_name": "SessionEnd", "session_id": "s", "transcript_path": "/nonexistent/hunter2" });
    hook(&place, "claude-code", "SessionEnd", &ended.to_string());
    assert!(check().is_none_or(|check| check["status"] == "ok"), "nothing went wrong");
    // A file lies where the spool has to be.
    fs::remove_dir_all(place.path("data/hook-spool")).unwrap();
    place.write("data/hook-spool", "");
    assert_eq!(hook(&place, "claude-code", "SessionEnd", &ended.to_string()).stdout, "");
    let told = check().unwrap();
    let detail = told["detail"].as_str().unwrap();
    assert_eq!(told["status"], "warn", "{told}");
    assert!(detail.contains("SessionEnd of Claude Code at ") && detail.contains("could not be written"), "{told}");
    let log = fs::read_to_string(place.path("data/hook-log.jsonl")).unwrap();
    assert!(!log.contains("hunter2"), "{log}");
    hook(&place, "claude-code", FAILED, "no event, and hunter2");
    assert!(check().unwrap()["detail"].as_str().unwrap().contains("the event was not readable"));
}

/// The run of a hook.
struct HookRun {
    event: String,
    code: String,
    took: Duration,
    /// What it printed, on stdout and on stderr.
    said: String,
}

/// Runs the hook of each event a few times on a bank in a file system of its own, which is prepared first. None where
/// this user may not mount one.
fn runs_on_a_file_system(place: &Place, prepare: &str) -> Option<Vec<HookRun>> {
    if !Command::new("unshare").args(["-rm", "true"]).status().is_ok_and(|status| status.success()) {
        return None;
    }
    for (event, document) in events(place) {
        place.write(&format!("events/{event}"), &document);
    }
    let script = format!(
        r#"set -e
        mount -t tmpfs -o size=32m tmpfs "$MOUNTED" && cp -a "$DATA/." "$MOUNTED" && {prepare}
        for file in "$EVENTS"/*; do
            for try in 1 2 3 4 5; do
                begun=$(date +%s%N) code=0
                said=$("$BINARY" --data-dir "$MOUNTED" hook claude-code "${{file##*/}}" <"$file" 2>&1) || code=$?
                took=$((($(date +%s%N) - begun) / 1000000))
                printf '%s\t%s\t%s\t%s\n' "${{file##*/}}" "$code" "$took" "$said"
            done
        done"#
    );
    let hook = place.command(&["hook"]);
    let mut command = Command::new("unshare");
    command.args(["-rm", "/bin/sh", "-c", &script]).env_clear().current_dir(place.path("project"));
    command.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    fs::create_dir(place.path("mounted")).unwrap();
    let paths = [("DATA", "data"), ("MOUNTED", "mounted"), ("EVENTS", "events")];
    command.envs(paths.map(|(name, path)| (name, place.path(path))));
    command.env("BINARY", hook.get_program()).env("PATH", OsStr::new("/usr/bin:/bin:/usr/sbin:/sbin"));
    let ran = Ran::of(command.output().unwrap()).ok();
    let runs = ran.stdout.lines().map(|line| {
        let [event, code, took, said] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let took = Duration::from_millis(took.parse().unwrap());
        HookRun { event: event.to_owned(), code: code.to_owned(), took, said: said.to_owned() }
    });
    Some(runs.collect())
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_full_and_a_read_only_file_system_keep_no_agent_from_its_work() {
    let fill = "{ head -c 100000000 /dev/zero >\"$MOUNTED/filler\" 2>/dev/null || true; }";
    for (case, prepare) in [("full", fill), ("read-only", "mount -o remount,ro \"$MOUNTED\"")] {
        let place = Place::with_instant_model();
        warned(&place).end();
        let Some(runs) = runs_on_a_file_system(&place, prepare) else {
            eprintln!("skipped: this user may not mount a file system");
            return;
        };
        for (event, _) in events(&place) {
            let of_event: Vec<&HookRun> = runs.iter().filter(|run| run.event == event).collect();
            assert_eq!(of_event.len(), TRIES, "{case}: {event}");
            // What is known can be read there. All else is answered with nothing, and no run tells of an error.
            let reads = ["SessionStart", "UserPromptSubmit", FAILED].contains(&event);
            for run in &of_event {
                let is_answer = reads && run.said.starts_with('{') && run.said.contains("hookSpecificOutput");
                assert!(
                    run.code == "0" && (run.said.is_empty() || is_answer),
                    "{case}: {event}: {} {}",
                    run.code,
                    run.said
                );
            }
            let fastest = of_event.iter().map(|run| run.took).min().unwrap();
            assert!(fastest < BUDGET, "{case}: {event} took {fastest:?}");
        }
    }
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
