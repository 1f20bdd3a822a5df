use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::episode::{Artefact, Episode, EpisodeState, LifecycleRules, MadeEpisode};
use crate::memory::samples::{now, strategy, trace};
use crate::memory::trace::{Trace, TraceSource};
use crate::working::{Constraint, FailedSubtask, Operation, SetValue, TaskContext, ValueScope, WorkingInvalid};

fn end(status: EpisodeStatus) -> TaskEnd {
    TaskEnd { status, ..TaskEnd::unknown() }
}

fn result(subtask: &str, output: &str) -> Operation {
    Operation::AddIntermediate { subtask: subtask.into(), output: output.into() }
}

fn set(key: &str, kind: WorkingValueKind, value: serde_json::Value) -> Operation {
    Operation::Set(SetValue { key: key.into(), scope: ValueScope::Task, kind, value })
}

fn step(id: &str, title: &str, depends_on: &[&str]) -> PlannedSubtask {
    PlannedSubtask {
        id: id.into(),
        title: title.into(),
        depends_on: depends_on.iter().map(|id| (*id).into()).collect(),
    }
}

fn working(operations: &[Operation]) -> WorkingMemory {
    let begun = now() - jiff::SignedDuration::from_secs(90);
    let mut memory = WorkingMemory::new("It runs shell commands.", begun);
    operations.iter().for_each(|operation| {
        memory.apply(operation, now()).unwrap();
    });
    memory
}

fn kept(memory: &WorkingMemory, end: &TaskEnd) -> Trace {
    made(memory, end).trace
}

fn made(memory: &WorkingMemory, end: &TaskEnd) -> MadeEpisode {
    let episode = memory.episode(end, now());
    episode.into_trace(trace(1), TraceSource::Reported, strategy(1).workspace_id, None, now()).unwrap()
}

/// Returns the execution as it is read again, with the long texts that are kept beside it.
fn read_again(made: &MadeEpisode) -> Execution {
    let state = EpisodeState::of(&made.trace);
    let mut episode = Episode::new(&made.trace, &state, LifecycleRules::default(), now());
    let text = |artefact: &Artefact| String::from_utf8(artefact.content.clone()).unwrap();
    let contents = made.artefacts.iter().map(|artefact| (artefact.reference.sha256.clone(), text(artefact))).collect();
    episode.restore_texts(&contents);
    episode.execution
}

#[test]
fn the_episode_says_what_was_to_be_done_and_what_was_done() {
    let task = TaskContext {
        description: "Make the importer faster".into(),
        goals: vec!["a batch is read once".into(), " ".into()],
        success_criteria: vec!["`make bench` says so".into()],
        constraints: vec![Constraint { text: "no new dependency".into(), critical: true }],
        plan: vec![step("profile", "Find the slow part", &[]), step("mend", "", &["profile", "nothing"])],
    };
    let state = ExecutionState {
        phase: "execution".into(),
        current: Some("mend".into()),
        completed: vec!["profile".into()],
        failed: vec![FailedSubtask { id: "mend".into(), error: "KeyError: 'batch'".into() }],
    };
    let memory = working(&[
        Operation::LoadTask(task),
        result("profile", "parse() takes all the time"),
        set("tokens", WorkingValueKind::Metadata, json!(1_200)),
        Operation::Retrieve(vec![("memory 42".into(), "Read a file once".into())]),
        Operation::PushState { state: Some(state.clone()), note: Some("only parse() matters".into()) },
        result("mend", "it still reads twice"),
    ]);
    let episode = memory.episode(&end(EpisodeStatus::Failure), now());
    assert_eq!(
        (episode.task.original_input.as_str(), episode.outcome.status),
        ("Make the importer faster", EpisodeStatus::Failure)
    );
    assert_eq!(episode.task.parts.parsed_goals, ["a batch is read once"]);
    assert_eq!(episode.task.parts.context.as_deref(), Some("Done when:\n`make bench` says so"));
    let plan: Vec<_> = episode.execution.plan.iter().map(|step| (step.title.as_str(), step.depends_on.len())).collect();
    assert_eq!(plan, [("Find the slow part", 0), ("mend", 1)]);
    let usage = episode.execution.resource_usage;
    assert_eq!((episode.execution.duration_s, usage.tokens), (Some(90.0), Some(1_200)));
    assert_eq!(episode.reflection.failures_analyzed[0].error, "KeyError: 'batch'");
    let done: Vec<_> = episode.execution.trace.iter().map(|entry| (entry.action.as_str(), entry.succeeded)).collect();
    let expected = [
        ("result:1", Some(true)),
        ("value:2", None),
        ("retrieved:3", None),
        ("state:4", None),
        ("result:5", Some(false)),
        ("close", None),
    ];
    assert_eq!(done, expected);

    let read = TaskEpisode::of(&episode.execution).unwrap();
    let at = |reference: &str| read.resolve(reference.parse().unwrap()).unwrap().into_owned();
    assert_eq!(at("[result:1]"), "parse() takes all the time");
    assert_eq!(at("retrieved:3"), "(a copy of memory 42)");
    assert_eq!(read.resolve("result:9".parse().unwrap()), None);
    assert_eq!((read.results(), read.left_out(), read.shortened(), read.state()), (2, 0, 0, &state));
    assert_eq!(TaskEpisode::of(&Execution::default()), None);
    kept(&memory, &end(EpisodeStatus::Failure));
}

#[test]
fn a_task_without_words_has_an_episode_and_a_closed_task_stays_as_it_is() {
    let mut memory = working(&[]);
    assert_eq!(kept(&memory, &TaskEnd::unknown()).task, UNNAMED);
    memory.apply(&Operation::Close(TaskEnd::unknown()), now()).unwrap();
    for operation in [result("a", "b"), Operation::Close(TaskEnd::unknown()), Operation::Prune] {
        assert_eq!(memory.apply(&operation, now()).unwrap_err(), WorkingInvalid::Closed);
    }
}

#[test]
fn what_is_too_large_is_shortened_to_one_length_and_says_so() {
    let large: String = "seek \"and\" find\n".repeat(4_000);
    let operations: Vec<Operation> =
        (0..200).map(|n| result(&format!("s{n}"), if n % 2 == 0 { &large } else { "found" })).collect();
    let memory = working(&operations);
    let execution = read_again(&made(&memory, &TaskEnd::unknown()));
    let read = TaskEpisode::of(&execution).unwrap();
    assert_eq!((read.results(), read.left_out(), read.shortened()), (200, 0, 100));
    assert_eq!(read.resolve("result:2".parse().unwrap()).unwrap(), "found");
    let cut = read.resolve("result:1".parse().unwrap()).unwrap();
    assert!(cut.starts_with("seek") && cut.ends_with("find\n") && cut.contains("[shortened]"), "{cut}");
    assert!(cut.len() > 4_000, "{}", cut.len());
}

#[test]
fn of_too_many_entries_results_stay_and_the_newest() {
    let mut operations: Vec<Operation> =
        (0..1_200).map(|n| set(&format!("k{n}"), WorkingValueKind::Task, json!(n))).collect();
    operations.insert(0, result("first", "found"));
    let execution = working(&operations).episode(&TaskEnd::unknown(), now()).execution;
    let read = TaskEpisode::of(&execution).unwrap();
    assert_eq!((execution.trace.len(), read.results(), read.left_out()), (EntryBounds::TRACE, 1, 202));
    assert_eq!(read.resolve("value:1201".parse().unwrap()).unwrap(), "1199");
}

fn text(bytes: usize) -> impl Strategy<Value = String> {
    let word =
        prop_oneof!["[a-z]{1,9} ", Just("\"\\\n ".to_owned()), Just("漢字 ".to_owned()), Just("\u{1} ".to_owned())];
    (word, 0..=bytes).prop_map(|(word, bytes)| word.repeat(bytes / word.len()))
}

#[test]
fn steps_whose_ids_are_too_long_to_differ_are_one_step() {
    let long = |end: &str| format!("{}{end}", "s".repeat(190));
    let plan = vec![step(&long("1"), "one", &[]), step(&long("2"), "two", &[&long("1")])];
    let task = TaskContext { plan, ..TaskContext::default() };
    let kept = kept(&working(&[Operation::LoadTask(task)]), &TaskEnd::unknown());
    let plan = kept.episode.unwrap().execution.plan;
    assert_eq!(plan.iter().map(|step| (&*step.title, step.depends_on.len())).collect::<Vec<_>>(), [("one", 0)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn the_episode_of_any_task_is_within_the_bounds(
        description in text(100_000),
        lists in prop::collection::vec(text(600), 0..200),
        plan in prop::collection::vec((text(200), text(300)), 0..200),
        results in prop::collection::vec(text(60_000), 0..6),
        errors in prop::collection::vec(text(500), 0..120),
        output in text(60_000),
    ) {
        let id = |n: usize, id: &str| format!("{n}{}", id.chars().take(190).collect::<String>());
        let task = TaskContext {
            description,
            goals: lists.clone(),
            success_criteria: lists.clone(),
            constraints: lists.into_iter().map(|text| Constraint { text, critical: false }).collect(),
            plan: plan.into_iter().enumerate().map(|(n, (of, title))| step(&id(n, &of), &title, &["0"])).collect(),
        };
        let failed = errors.into_iter().map(|error| FailedSubtask { id: "a".into(), error }).collect();
        let state = ExecutionState { failed, ..ExecutionState::default() };
        let mut operations = vec![Operation::LoadTask(task), Operation::PushState { state: Some(state), note: None }];
        operations.extend(results.iter().map(|text| result("s", text)));
        let mut memory = WorkingMemory::new("", now());
        operations.iter().for_each(|operation| {
            // An operation that is refused changes nothing.
            let _ = memory.apply(operation, now());
        });
        let end = TaskEnd { output: Some(output.clone()), insights: vec![output; 1], ..TaskEnd::unknown() };
        let execution = read_again(&made(&memory, &end));
        prop_assert!(TaskEpisode::of(&execution).is_some());
    }
}
