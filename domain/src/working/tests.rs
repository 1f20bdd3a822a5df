use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).unwrap()
}

fn words(n: usize) -> String {
    "measure then change one thing ".repeat(n.div_ceil(5))
}

fn result(subtask: &str, output: impl Into<Value>) -> Operation {
    Operation::AddIntermediate { subtask: subtask.into(), output: output.into() }
}

fn set(scope: ValueScope, key: &str, kind: WorkingValueKind, value: Value) -> Operation {
    Operation::Set(SetValue { key: key.into(), scope, kind, value })
}

fn step(id: &str, depends_on: &[&str]) -> PlannedSubtask {
    PlannedSubtask {
        id: id.into(),
        title: format!("Do {id}"),
        depends_on: depends_on.iter().map(|id| (*id).into()).collect(),
    }
}

fn working(operations: &[Operation]) -> WorkingMemory {
    let mut memory = WorkingMemory::new("It runs shell commands.", at(0));
    for operation in operations {
        memory.apply(operation, at(1)).unwrap();
    }
    memory
}

#[test]
fn what_an_agent_needs_to_go_on_is_shown_first() {
    let task = TaskContext {
        description: "Make the importer ten times faster".into(),
        goals: vec!["a batch is read once".into()],
        success_criteria: vec!["`make bench` says so".into()],
        constraints: vec![Constraint { text: "no new dependency".into(), critical: true }],
        plan: vec![step("profile", &[]), step("batch", &["profile"])],
    };
    let state = ExecutionState {
        phase: "execution".into(),
        current: Some("batch".into()),
        completed: vec!["profile".into()],
        failed: vec![],
    };
    let memory = working(&[
        Operation::LoadTask(task),
        result("profile", "90 % of the time is in parse()"),
        Operation::PushState { state: Some(state), note: Some("parse() first".into()) },
        set(ValueScope::Task, "files", WorkingValueKind::Accumulator, json!(["src/import.rs"])),
        Operation::Retrieve(vec![("memory 42".into(), "Read a file once".into())]),
    ]);
    let shown = memory.context(TOTAL_TOKENS);
    assert_eq!(
        shown.text,
        "## System\nIt runs shell commands.\n## Task\n- always: no new dependency\nMake the importer ten times faster\n- goal: a batch is read once\n- done when: `make bench` says so\n- step profile: Do profile\n- step batch: Do batch (needs profile)\n## State\n- phase: execution\n- in work: batch Do batch\n- done: profile\n- execution [state:2]: parse() first\n## Results and values\n- task.files [value:3]: [\"src/import.rs\"]\n- profile [result:1]: 90 % of the time is in parse()\n## Retrieved\n- memory 42 [retrieved:4]: Read a file once\n"
    );
    assert_eq!(shown.not_shown, 0);
}

#[test]
fn a_small_budget_shows_the_critical_constraints_and_as_much_of_the_task_as_others_leave() {
    let constraint = |text: &str, critical| Constraint { text: text.into(), critical };
    let task = TaskContext {
        description: "Port the heat meter. ".repeat(60),
        constraints: vec![constraint("no heap after init", false), constraint("never erase a unit", true)],
        plan: (0..25).map(|n| step(&format!("driver {n}"), &[])).collect(),
        ..TaskContext::default()
    };
    let memory = working(&[Operation::LoadTask(task), result("driver 0", "ported")]);
    for budget in [200, 400, 1_000, 3_000] {
        let shown = memory.context(budget);
        assert!(shown.text.contains("- always: never erase a unit\n"), "{budget}: {}", shown.text);
        assert!(shown.text.contains("[result:1]: ported") && shown.tokens <= budget, "{budget}: {}", shown.tokens);
        assert_eq!(shown.text.contains("truncated"), budget < 1_000, "{budget}: {} tokens", shown.tokens);
    }
}

#[test]
fn a_result_for_which_there_is_no_room_is_shown_as_a_line() {
    let results = (0..12).map(|n| result(&format!("s{n}"), format!("{n}: {}", words(200))));
    let shown = working(&results.collect::<Vec<_>>()).context(1_500);
    assert_eq!((shown.not_shown, shown.text.matches("[result:").count()), (0, 12), "{}", shown.text);
    assert!(shown.tokens <= 1_500, "{}", shown.tokens);
}

#[test]
fn old_results_become_a_line_and_their_reference_leads_to_the_whole() {
    let task = TaskContext { plan: vec![step("last", &["s0"])], ..TaskContext::default() };
    let mut operations = vec![Operation::LoadTask(task)];
    operations.extend((0..12).map(|n| result(&format!("s{n}"), format!("{n}: {}", words(2_500)))));
    let mut memory = working(&operations[..1]);
    for operation in &operations[1..] {
        let warned = memory.apply(operation, at(1)).unwrap().warnings;
        assert!(warned.is_empty() || memory.entries().len() > 7, "{warned:?}");
    }
    let forms: Vec<EntryForm> = memory.entries().iter().map(|entry| entry.form).collect();
    // A planned step needs the result of s0, so it is not among the first to go.
    assert!(forms[1..6].iter().all(|form| *form == EntryForm::Line), "{forms:?}");
    assert_eq!(*forms.last().unwrap(), EntryForm::Whole);
    let shown = memory.context(TOTAL_TOKENS);
    assert!(shown.tokens <= TOTAL_TOKENS && shown.text.contains("s1 [result:2]: 1: measure"), "{}", shown.tokens);
    let old = memory.resolve("[result:2]".parse().unwrap()).unwrap();
    assert_eq!(*old.text, *format!("1: {}", words(2_500)));
}

#[test]
fn a_result_that_is_too_long_is_shown_with_its_head_and_its_tail() {
    let memory = working(&[result("build", format!("HEAD {} TAIL", words(9_000)))]);
    let shown = memory.context(TOTAL_TOKENS);
    assert!(shown.text.contains("HEAD measure") && shown.text.contains("TAIL"), "{}", shown.text);
    assert!(shown.tokens < 4_200, "{}", shown.tokens);
}

#[test]
fn the_tokens_that_are_told_are_those_that_are_shown_and_small_values_are_shown_whole() {
    let mut memory = working(&[]);
    let value = |n: usize| set(ValueScope::Task, &format!("port_{n}"), WorkingValueKind::Intermediate, json!(n));
    for n in 0..MAX_ENTRIES {
        let is_used_up = !memory.apply(&value(n), at(1)).unwrap().warnings.is_empty();
        if n % 400 != 0 && !is_used_up {
            continue;
        }
        let (told, shown) = (memory.tokens(), memory.context(TOTAL_TOKENS));
        assert!(shown.tokens <= told && told - shown.tokens <= 60, "{n}: {told} and {}", shown.tokens);
        assert!(!shown.text.contains('…'), "{}", shown.text);
        assert_eq!(shown.not_shown, usize::from(is_used_up));
        if is_used_up {
            assert!(n > 1_000 && told > TOTAL_TOKENS - 20, "{n}: {told}");
            return;
        }
    }
    panic!("the budget was never used up: {}", memory.tokens());
}

#[test]
fn what_steers_a_subtask_ends_with_it() {
    let mut memory = working(&[
        set(ValueScope::Execution, "tries", WorkingValueKind::ControlFlow, json!(2)),
        set(ValueScope::Execution, "file", WorkingValueKind::Intermediate, json!("a.rs")),
        set(ValueScope::Global, "branch", WorkingValueKind::ControlFlow, json!("fix")),
    ]);
    let next = ExecutionState { current: Some("next".into()), ..ExecutionState::default() };
    memory.apply(&Operation::PushState { state: Some(next), note: None }, at(2)).unwrap();
    assert!(memory.value(ValueScope::Execution, "tries").is_none());
    assert_eq!(&*memory.value(ValueScope::Execution, "file").unwrap().text, "a.rs");
    assert!(memory.value(ValueScope::Global, "branch").is_some(), "it steers the whole task");
}

#[test]
fn a_task_that_is_full_still_takes_what_adds_nothing() {
    let value = |n: usize| set(ValueScope::Task, &format!("k{n}"), WorkingValueKind::Task, json!(n));
    let all: Vec<Operation> = (0..MAX_ENTRIES).map(value).collect();
    let mut memory = working(&all);
    let full = memory.apply(&value(MAX_ENTRIES), at(9)).unwrap_err().to_string();
    assert!(full.starts_with("the task holds"), "{full}");
    memory.apply(&value(3), at(9)).unwrap();
    let next = ExecutionState { current: Some("next".into()), ..ExecutionState::default() };
    memory.apply(&Operation::PushState { state: Some(next.clone()), note: None }, at(9)).unwrap();
    assert_eq!((memory.entries().len(), memory.execution()), (MAX_ENTRIES, &next));
    assert!(memory.apply(&Operation::PushState { state: None, note: Some("n".into()) }, at(9)).is_err());
}

#[test]
fn a_new_plan_takes_along_what_is_known_of_steps_that_it_does_not_have() {
    let task = |ids: &[&str]| {
        let plan = ids.iter().map(|id| step(id, &[])).collect();
        Operation::LoadTask(TaskContext { description: "d".into(), plan, ..TaskContext::default() })
    };
    let failed = |id: &str| FailedSubtask { id: id.into(), error: "no disk".into() };
    let state = ExecutionState {
        phase: "execution".into(),
        current: Some("c".into()),
        completed: vec!["a".into(), "b".into()],
        failed: vec![failed("a"), failed("d")],
    };
    let mut memory = working(&[
        task(&["a", "b", "c", "d"]),
        Operation::PushState { state: Some(state.clone()), note: None },
        set(ValueScope::Execution, "tries", WorkingValueKind::ControlFlow, json!(2)),
    ]);
    memory.apply(&task(&["b", "c", "d"]), at(2)).unwrap();
    let kept = ExecutionState { completed: vec!["b".into()], failed: vec![failed("d")], ..state };
    assert_eq!((memory.execution(), memory.value(ValueScope::Execution, "tries").is_some()), (&kept, true));
    memory.apply(&task(&["new"]), at(3)).unwrap();
    assert_eq!(*memory.execution(), ExecutionState { phase: "execution".into(), ..ExecutionState::default() });
    assert!(memory.value(ValueScope::Execution, "tries").is_none());
    assert!(!memory.context(TOTAL_TOKENS).text.contains("in work"));
}

#[test]
fn what_is_not_possible_says_why_and_changes_nothing() {
    let mut memory = working(&[result("a", "b")]);
    let before = memory.clone();
    let refused =
        |memory: &mut WorkingMemory, operation: &Operation| memory.apply(operation, at(9)).unwrap_err().to_string();
    let large = set(ValueScope::Task, "k", WorkingValueKind::Task, json!("x".repeat(VALUE_MAX_BYTES + 1)));
    assert_eq!(refused(&mut memory, &large), "value: has 65537 bytes; at most 65536 are allowed");
    assert_eq!(
        refused(&mut memory, &set(ValueScope::Task, " ", WorkingValueKind::Task, json!(1))),
        "key: is missing or blank"
    );
    assert_eq!(refused(&mut memory, &Operation::Restore(3)), "there is no snapshot 3");
    assert_eq!(refused(&mut memory, &Operation::Read("result:9".parse().unwrap())), "there is no result:9");
    assert_eq!(memory, before);
    assert_eq!(
        "result".parse::<Reference>().unwrap_err().to_string(),
        "a reference has the form result:7, and \"result\" has not"
    );
}

#[test]
fn a_reference_means_one_thing_before_and_after_a_restore() {
    let mut memory = working(&[result("a", "first"), Operation::Snapshot, result("b", "second")]);
    let second: Reference = "result:2".parse().unwrap();
    assert_eq!(&*memory.resolve(second).unwrap().text, "second");
    assert_eq!(memory.apply(&Operation::Restore(1), at(2)).unwrap().added, []);
    assert_eq!(memory.resolve(second), None);
    let added = memory.apply(&result("c", "third"), at(3)).unwrap().added;
    assert_eq!(added, ["result:3".parse().unwrap()]);
    assert_eq!(memory.resolve(second), None);
    assert_eq!(&*memory.resolve("result:1".parse().unwrap()).unwrap().text, "first");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z ]{1,40}", 2 => (1usize..3_000).prop_map(words), 1 => "\\PC{0,300}", 1 => "[漢字かな]{1,2000}"]
}

fn name() -> impl Strategy<Value = String> {
    "[a-e]"
}

fn operation() -> impl Strategy<Value = Operation> {
    let scope = prop::sample::select(&ValueScope::ALL[..]);
    let kind = prop_oneof![
        Just(WorkingValueKind::Task),
        Just(WorkingValueKind::Accumulator),
        Just(WorkingValueKind::Metadata)
    ];
    let steps = prop::collection::vec((name(), prop::collection::vec(name(), 0..3)), 0..5);
    prop_oneof![
        1 => (text(), prop::collection::vec(text(), 0..3), steps).prop_map(|(description, goals, steps)| {
            let plan = steps.into_iter().map(|(id, depends_on)| PlannedSubtask { title: format!("do {id}"), id, depends_on }).collect();
            Operation::LoadTask(TaskContext { description, goals, plan, ..TaskContext::default() })
        }),
        4 => (scope, name(), kind, text()).prop_map(|(scope, key, kind, text)| set(scope, &key, kind, json!(text))),
        3 => (name(), prop::option::of(text())).prop_map(|(current, note)| {
            let state = ExecutionState { phase: "p".into(), current: Some(current), ..ExecutionState::default() };
            Operation::PushState { state: Some(state), note }
        }),
        6 => (name(), text()).prop_map(|(subtask, text)| result(&subtask, text)),
        2 => prop::collection::vec(("memory [0-9]", text()), 0..4).prop_map(Operation::Retrieve),
        1 => Just(Operation::Prune),
        1 => Just(Operation::Snapshot),
    ]
}

/// Returns the number of sequences of operations to try: 256, or as many as the environment asks for.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn every_invariant_holds_after_every_operation(operations in prop::collection::vec(operation(), 1..30)) {
        let mut memory = WorkingMemory::new("tools", at(0));
        let mut set_values = std::collections::BTreeMap::new();
        let (mut results, mut snapshots) = (Vec::new(), Vec::new());
        // Rendering takes most of the time, and changes nothing.
        let rendered = [operations.len() / 2, operations.len() - 1];
        for (n, operation) in operations.iter().enumerate() {
            memory.apply(operation, at(n as i64)).unwrap();
            match operation {
                Operation::Set(SetValue { scope, key, value, .. }) => { set_values.insert((*scope, key.clone()), value.clone()); }
                Operation::AddIntermediate { output, .. } => {
                    let newest = memory.entries().iter().rfind(|entry| matches!(entry.kind, EntryKind::Result { .. })).unwrap();
                    results.push((newest.reference(), output.clone()));
                }
                Operation::Snapshot => {
                    let id = memory.snapshots().last().unwrap().0;
                    snapshots.push((id, memory.state.clone()));
                }
                _ => {}
            }
            prop_assert!(memory.tokens() <= TOTAL_TOKENS);
            for budget in [TOTAL_TOKENS, 3_000].into_iter().filter(|_| rendered.contains(&n)) {
                let shown = memory.context(budget);
                prop_assert!(shown.tokens <= budget.min(memory.tokens()), "{} of {budget}", shown.tokens);
                for (at, _) in shown.text.match_indices("[result:") {
                    let reference: Reference = shown.text[at..].split_inclusive(']').next().unwrap().parse().unwrap();
                    prop_assert!(memory.resolve(reference).is_some(), "{reference}");
                }
                if let Some(hot) = memory.state.hot() {
                    let newest = memory.entries().iter().find(|entry| entry.id == hot).unwrap();
                    let named = format!("[{}]", newest.reference());
                    prop_assert!(shown.text.contains(&named), "{named}");
                }
            }
            for ((scope, key), value) in &set_values {
                let held = memory.value(*scope, key).unwrap();
                prop_assert_eq!(&*held.text, value.as_str().unwrap());
            }
            for (reference, output) in &results {
                prop_assert_eq!(&*memory.resolve(*reference).unwrap().text, output.as_str().unwrap());
            }
        }
        for (id, state) in snapshots.iter().rev().take(MAX_SNAPSHOTS) {
            let mut restored = memory.clone();
            restored.apply(&Operation::Restore(*id), at(99)).unwrap();
            let expected = TaskState { next_entry: memory.state.next_entry, ..state.clone() };
            prop_assert_eq!(&restored.state, &expected);
        }
        let stored: Vec<Operation> = operations.iter().map(|of| serde_json::from_str(&serde_json::to_string(of).unwrap()).unwrap()).collect();
        let mut again = WorkingMemory::new("tools", at(0));
        for (n, operation) in stored.iter().enumerate() {
            again.apply(operation, at(n as i64)).unwrap();
        }
        prop_assert_eq!(again, memory);
    }
}
