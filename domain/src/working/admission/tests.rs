use serde_json::{Value, json};

use super::*;
use crate::working::{SetValue, VALUE_MAX_BYTES, ValueScope, WorkingValueKind};

fn now() -> Timestamp {
    Timestamp::from_second(1_790_000_000).unwrap()
}

fn set(key: &str, value: Value) -> Operation {
    Operation::Set(SetValue { key: key.into(), scope: ValueScope::Task, kind: WorkingValueKind::Task, value })
}

fn result(subtask: &str) -> Operation {
    Operation::AddIntermediate { subtask: subtask.into(), output: json!("done") }
}

fn refused(memory: &WorkingMemory, operations: &[Operation]) -> String {
    memory.check_all(operations, now()).unwrap_err().to_string()
}

#[test]
fn the_operation_that_is_not_possible_is_named_by_its_place() {
    let memory = WorkingMemory::new("", now());
    let large = json!("x".repeat(VALUE_MAX_BYTES + 1));
    let operations = [set("a", json!(1)), set("b", large), result("profile")];
    assert_eq!(refused(&memory, &operations), "set[1].value: has 65537 bytes; at most 65536 are allowed");
    let operations = [set("a", json!(1)), result("profile"), result(" ")];
    assert_eq!(refused(&memory, &operations), "results[1].subtask: is missing or blank");
}

#[test]
fn an_operation_is_held_against_what_those_before_it_leave() {
    let memory = WorkingMemory::new("", now());
    let many: Vec<Operation> = (0..=crate::working::MAX_ENTRIES).map(|n| set(&format!("k{n}"), json!(n))).collect();
    assert_eq!(refused(&memory, &many), "set[2000]: the task holds 2000 entries or 16 MiB, and no more");
    memory.check_all(&[Operation::Snapshot, Operation::Restore(1)], now()).unwrap();
    assert_eq!(refused(&memory, &[Operation::Restore(1), Operation::Snapshot]), "there is no snapshot 1");
}
