//! Lines of imports for tests.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_domain::memory::workspace::Workspace;
use serde_json::{Value, json};
use uuid::Uuid;

use super::line::{self, ImportLine, ImportMode, ImportTarget, Taken};

/// A bank with no workspace but the one in use.
pub(crate) fn bank(mode: ImportMode) -> ImportTarget {
    ImportTarget {
        here: Workspace::of_root("/here", Timestamp::UNIX_EPOCH),
        now: "2026-03-01T12:00:00Z".parse().unwrap(),
        mode,
        known: HashMap::new(),
    }
}

pub(crate) fn id(n: u128) -> String {
    Uuid::from_u128(n).to_string()
}

pub(crate) fn lesson(n: u128) -> Value {
    json!({"kind": "memory", "id": id(n), "title": format!("Lesson {n}"), "description": "When", "content": "How"})
}

pub(super) fn line_of(line: Value, bank: &ImportTarget) -> ImportLine {
    line::parse(serde_json::from_value(line).unwrap(), bank).unwrap()
}

/// Reads a line of a backup.
pub(crate) fn parsed(line: Value) -> Restorable {
    match line_of(line, &bank(ImportMode::Backup)).taken {
        Taken::Thing(thing) => thing,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn with(mut line: Value, field: &str, value: Value) -> Value {
    line[field] = value;
    line
}

pub(crate) fn without(mut line: Value, field: &str) -> Value {
    line.as_object_mut().unwrap().remove(field);
    line
}

pub(crate) fn file(place: &tempfile::TempDir, lines: &[Value]) -> PathBuf {
    let path = place.path().join("bank.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    path
}
