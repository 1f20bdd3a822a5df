//! A hook that finds no server starts one, for the hooks that follow.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{FAILED, failed, warned};
use crate::support::{Place, Ran};

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a hook that may start a server, which ends when nobody has asked for this long.
fn hook(place: &Place, idle_s: u64, event: &str, document: &Value) -> String {
    let mut command = place.command(&["hook", "claude-code", event]);
    command.env("REASONING_BANK__HOOKS__SERVER_IDLE_S", idle_s.to_string());
    Ran::with_stdin(command, &document.to_string()).ok().stdout
}

/// Lists what lies beside the sockets of servers.
fn sockets(place: &Place) -> Vec<PathBuf> {
    let top = place.path("home").parent().unwrap().to_owned();
    let directories = std::fs::read_dir(top).unwrap().flatten().map(|entry| entry.path());
    let mut of_hooks = directories.filter(|path| path.to_string_lossy().contains("/reasoning-bank-"));
    let files = of_hooks.next().into_iter().flat_map(|directory| std::fs::read_dir(directory).unwrap().flatten());
    files.map(|entry| entry.path()).collect()
}

fn servers(place: &Place) -> usize {
    sockets(place).iter().filter(|path| path.extension().is_some_and(|end| end == "sock")).count()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn the_hooks_that_follow_are_answered_by_a_server_that_ends_when_nobody_asks() {
    let place = Place::with_instant_model();
    warned(&place).end();
    let known = failed("LockTimeoutError: schema");
    assert_eq!(servers(&place), 0);
    hook(&place, 5, FAILED, &known);
    wait_until("a server is started", || servers(&place) == 1);
    wait_until("a hook is answered", || hook(&place, 5, FAILED, &known).contains("Stop the web server"));
    assert_eq!(servers(&place), 1, "no second one is started");
    wait_until("the server ends", || servers(&place) == 0);
}

#[test]
fn a_server_that_the_end_of_a_session_starts_learns_from_it() {
    let place = Place::with_instant_model();
    warned(&place).end();
    let line = |role: &str, text: &str| json!({ "type": role, "sessionId": "s", "message": { "role": role, "content": [{ "type": "text", "text": text }] } });
    let question = line("user", "Why does the build of the shop end with a linker error?");
    let answer = line(
        "assistant",
        "The build broke because the linker was missing. Install lld first, because the configuration names it as the \
         linker: run `apt install lld`, then build again.",
    );
    let transcript = place.write("home/session.jsonl", &format!("{question}\n{answer}\n"));
    let event = json!({
        "hook_event_name": "SessionEnd", "session_id": "s", "cwd": place.path("project"), "transcript_path": transcript,
    });
    hook(&place, 5, "SessionEnd", &event);
    let left = || std::fs::read_dir(place.path("data/hook-spool")).unwrap().count();
    wait_until("the server learns", || left() == 0);
    wait_until("the server ends", || servers(&place) == 0);
    assert!(place.document(&["memory", "list"]).to_string().contains("lld"));
}

#[test]
fn no_server_is_started_where_there_is_no_bank_or_the_setting_says_so() {
    let place = Place::with_instant_model();
    let known = failed("LockTimeoutError: schema");
    hook(&place, 5, FAILED, &known);
    assert_eq!(sockets(&place), Vec::<PathBuf>::new(), "there is no bank");
    warned(&place).end();
    hook(&place, 0, FAILED, &known);
    hook(&place, 0, "SessionEnd", &json!({ "hook_event_name": "SessionEnd", "transcript_path": "/nonexistent" }));
    assert_eq!(sockets(&place), Vec::<PathBuf>::new(), "the setting says so");
}
