use serde_json::{Value, json};

use super::*;
use crate::working::{FailedSubtask, SetValue, VALUE_MAX_BYTES, ValueScope, WorkingValueKind};

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

/// A task with a plan, each step with the steps that it needs.
fn task(plan: &[(&str, &[&str])]) -> Operation {
    let step = |(id, needs): &(&str, &[&str])| PlannedSubtask {
        id: (*id).into(),
        title: format!("Do {id}"),
        depends_on: needs.iter().map(|id| (*id).into()).collect(),
    };
    let plan = plan.iter().map(step).collect();
    Operation::LoadTask(TaskContext { description: "Ship it".into(), plan, ..TaskContext::default() })
}

fn refused_task(plan: &[(&str, &[&str])]) -> String {
    WorkingMemory::check_new(&task(plan), now()).unwrap_err().to_string()
}

#[test]
fn a_plan_that_cannot_be_worked_off_is_refused() {
    assert_eq!(
        refused_task(&[("a", &[]), ("b", &["a", "x"])]),
        r#"task.plan[1].depends_on[1]: "x" is no step of the plan; name one of "a", "b", or add the step to task.plan"#
    );
    assert_eq!(
        refused_task(&[("a", &[]), ("b", &[]), ("a", &[])]),
        r#"task.plan[2].id: "a" is the id of plan[0] too; give each step its own id"#
    );
    assert_eq!(refused_task(&[("a", &["a"])]), r#"task.plan[0].depends_on[0]: "a" is the step itself; leave it out"#);
    assert_eq!(
        refused_task(&[("a", &[]), ("b", &["a", "d"]), ("c", &["b"]), ("d", &["c"]), ("e", &["d"])]),
        r#"task.plan[1].depends_on: makes a circle, in which no step can begin: "b" needs "d" needs "c" needs "b"; take one of these ids out"#
    );
    let long = "x".repeat(150);
    assert!(
        refused_task(&[("a", &[&long])]).starts_with(&format!("task.plan[0].depends_on[0]: {:?}… is", &long[..60]))
    );
    let many: Vec<String> = (0..200).map(|n| format!("s{n}")).collect();
    let needs: Vec<Vec<&str>> = (0..200).map(|n| many[n + 1..].iter().map(|id| &**id).collect()).collect();
    let large: Vec<(&str, &[&str])> = many.iter().zip(&needs).map(|(id, needs)| (&**id, &**needs)).collect();
    WorkingMemory::check_new(&task(&large), now()).unwrap();
}

#[test]
fn a_task_says_what_it_is() {
    for description in ["", " \n"] {
        let nameless = TaskContext { description: description.into(), ..TaskContext::default() };
        let refused = WorkingMemory::check_new(&Operation::LoadTask(nameless), now()).unwrap_err().to_string();
        assert_eq!(refused, "task.description: is missing or blank; say what the task is");
    }
}

#[test]
fn a_state_names_steps_of_the_plan() {
    let state = |current: Option<&str>, completed: &[&str], failed: &[&str]| Operation::PushState {
        state: Some(ExecutionState {
            phase: "execution".into(),
            current: current.map(Into::into),
            completed: completed.iter().map(|id| (*id).into()).collect(),
            failed: failed.iter().map(|id| FailedSubtask { id: (*id).into(), error: "boom".into() }).collect(),
        }),
        note: None,
    };
    let mut memory = WorkingMemory::new("", now());
    memory.check_all(&[state(Some("any"), &["other"], &[])], now()).unwrap();
    memory.apply(&task(&[("a", &[]), ("b", &["a"])]), now()).unwrap();
    memory.check_all(&[state(Some("b"), &["a"], &[])], now()).unwrap();
    let problem = r#""x" is no step of the plan; name one of "a", "b", or add the step to task.plan"#;
    for (wrong, field) in [
        (state(Some("x"), &[], &[]), "state.current"),
        (state(None, &["a", "x"], &[]), "state.completed[1]"),
        (state(None, &[], &["x"]), "state.failed[0].id"),
    ] {
        assert_eq!(refused(&memory, std::slice::from_ref(&wrong)), format!("{field}: {problem}"));
        memory.check_all(&[task(&[("x", &[]), ("a", &[])]), wrong], now()).unwrap();
    }
}

#[test]
fn a_log_with_a_plan_of_before_is_read_as_it_was() {
    let mut memory = WorkingMemory::new("", now());
    memory.apply(&task(&[("a", &["a", "x"])]), now()).unwrap();
    memory.check_all(&[set("k", json!(1)), Operation::Snapshot], now()).unwrap();
}
