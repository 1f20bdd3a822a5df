//! Tests of hooks and servers that got different environments: they find each other all the same.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{PROMPT, warned};
use crate::mcp_process::McpProcess;
use crate::support::{Place, Ran};

/// A bank whose prompts a server alone can answer, because no log says what a session was shown.
fn bank() -> Place {
    let place = Place::with_instant_model();
    place.write("config/reasoning-bank/config.toml", "recall_log.enabled = false\nllm.provider = 'none'\n");
    warned(&place).end();
    place
}

fn server(place: &Place, runtime: &Path) -> McpProcess {
    let mut command = place.command(&["mcp"]);
    command.env("XDG_RUNTIME_DIR", runtime);
    let mut server = McpProcess::spawn(command);
    server.initialize();
    server
}

/// Tells whether a prompt is answered by a hook. Each session is told of a memory once.
fn is_answered(place: &Place, runtime: Option<&Path>) -> bool {
    let asked = |session: usize| {
        let prompt = "Why does the migration fail while the web server holds the schema lock?";
        let event: Value = json!({ "hook_event_name": PROMPT, "session_id": session.to_string(), "prompt": prompt });
        let mut command = place.command(&["hook", "claude-code", PROMPT]);
        if let Some(runtime) = runtime {
            command.env("XDG_RUNTIME_DIR", runtime);
        }
        !Ran::with_stdin(command, &event.to_string()).ok().stdout.is_empty()
    };
    (0..200).any(asked)
}

fn runtime(place: &Place) -> PathBuf {
    let runtime = place.path("runtime");
    fs::create_dir_all(&runtime).unwrap();
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    runtime
}

#[test]
fn a_server_without_the_directory_of_the_session_is_found_by_a_hook_with_it() {
    let place = bank();
    let runtime = runtime(&place);
    let server = McpProcess::initialized(&place, &[]);
    assert!(is_answered(&place, Some(&runtime)));
    server.end();
    let server = self::server(&place, &runtime);
    assert!(is_answered(&place, Some(&runtime)));
    assert_eq!(fs::read_dir(runtime.join("reasoning-bank")).unwrap().count(), 1);
    server.end();
}

#[test]
fn a_directory_of_the_session_that_is_not_there_keeps_no_hook_from_its_server() {
    let place = bank();
    let gone = place.path("gone");
    let server = server(&place, &gone);
    assert!(is_answered(&place, Some(&gone)));
    assert!(is_answered(&place, None));
    server.end();
    assert!(!gone.exists());
}
