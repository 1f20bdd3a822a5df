//! Habits that no compiler checks, read off the sources: each has brought down a system built on ractor.

use std::fs;
use std::path::{Path, PathBuf};

fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                sources.push((path, text.chars().filter(|c| !c.is_whitespace()).collect()));
            }
        }
    }
    assert!(sources.len() > 10);
    sources
}

/// Returns what follows each call of `name(..)` in text without spaces.
fn after_calls<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let after = |(begin, _)| {
        let arguments = &text[begin + name.len()..];
        let mut open = 0;
        let end = arguments.find(|c| {
            open += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            open == 0
        })?;
        arguments.get(end + 1..)
    };
    text.match_indices(name).filter_map(after).collect()
}

#[test]
fn no_actor_ends_because_a_caller_did_not_wait_for_its_reply() {
    for (path, text) in sources() {
        for port in ["reply.send", "answer.send"] {
            let fatal = after_calls(&text, port).into_iter().any(|rest| rest.starts_with('?'));
            assert!(!fatal, "{}: `{port}(..)?` ends the actor; write `let _ = {port}(..)`", path.display());
        }
    }
}

#[test]
fn no_actor_has_a_name_of_ractor() {
    for (path, text) in sources() {
        for call in ["spawn(Some(", "spawn_linked(Some("] {
            assert!(!text.contains(call), "{}: names are global and freed late", path.display());
        }
    }
}

#[test]
fn no_actor_has_code_for_tests() {
    for (path, text) in sources() {
        let finds_actors = path.ends_with("lib.rs") || path.components().any(|part| part.as_os_str() == "runtime");
        let for_tests = text.contains(r#"feature="testkit""#);
        assert!(finds_actors || !for_tests, "{}: crash it from outside, see `testkit::Faults`", path.display());
    }
}

#[test]
fn no_timer_fills_a_mailbox() {
    for (path, text) in sources() {
        assert!(!text.contains("send_interval("), "{}: arm the next tick when one is handled", path.display());
    }
}

#[test]
fn panics_unwind_in_every_profile() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let manifest: String = fs::read_to_string(workspace).unwrap().split_whitespace().collect();
    assert!(!manifest.contains("panic=\"abort\""), "supervision catches panics");
}

#[test]
fn the_check_for_fatal_replies_sees_through_nested_calls() {
    let rest = after_calls("let_=reply.send(a(b(1),2))?;reply.send(3);", "reply.send");
    assert_eq!(rest, ["?;reply.send(3);", ";"]);
}
