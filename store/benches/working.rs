//! This bench measures how long an operation of working memory takes, its line in the log included, and how much memory
//! 1,000 open tasks take.
//!
//! Each task has a plan of ten steps, twenty results of 2 KiB and ten values, which is about half of what is shown at
//! most. The operations go round the tasks, one after another, through the actor, as a tool makes them. A value or a
//! result is in the log before it is answered; a state is on the disk as well, and takes what a sync takes there.
//! `context` renders what is at hand with 20,000 tokens. Leaves out the protocol; the temporary directory has the logs.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench that prints what it measured, or fails")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemParts};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::parts;
use reasoning_bank_actors::working::WorkingTask;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::working::{
    ExecutionState, Operation, PlannedSubtask, SetValue, TOTAL_TOKENS, TaskContext, ValueScope, WorkingMemory,
    WorkingValueKind,
};
use reasoning_bank_store::WorkingFiles;
use tokio::runtime::Runtime;

const TASKS: usize = 1_000;
const RESULTS: usize = 20;
const VALUES: usize = 10;
/// The number of operations of each kind that are measured.
const MEASURED: usize = 5_000;
const DEADLINE: Duration = Duration::from_secs(60);

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let place = tempfile::tempdir().expect("a directory");
    runtime.block_on(measure(place.path()));
}

async fn measure(place: &Path) {
    let parts = parts(Arc::new(MemStore::new()), NoModel);
    let working = Arc::new(WorkingFiles::of(place));
    let system = System::start(SystemParts { working, ..parts }).await.expect("a system");
    // The vocabulary of the tokens is loaded once, and is not of the tasks.
    open(&system, 0).await;
    let before = resident_kib();
    let mut tasks = Vec::with_capacity(TASKS);
    for number in 0..TASKS {
        tasks.push(open(&system, number).await);
    }
    let taken = resident_kib().saturating_sub(before);
    println!("{TASKS} open tasks take {} MiB, {} KiB each", taken / 1024, taken / TASKS as u64);

    type Made = fn(usize) -> Vec<Operation>;
    let kinds: [(&str, Made); 4] = [
        ("value", |n| vec![value(n % VALUES)]),
        ("result", |n| vec![result(n)]),
        ("state", |n| vec![state(n)]),
        ("context", |_| Vec::new()),
    ];
    println!("{:>10}   {:>8}   {:>8}   {:>8}", "operation", "p50", "p99", "slowest");
    for (name, made) in kinds {
        let mut times = Vec::with_capacity(MEASURED);
        for n in 0..MEASURED {
            let (task, operations) = (&tasks[n % TASKS], made(n));
            let renders = operations.is_empty();
            let begun = Instant::now();
            let read = move |memory: &WorkingMemory, _| {
                if renders { memory.context(TOTAL_TOKENS).tokens } else { memory.entries().len() }
            };
            let deadline = Deadline::after(DEADLINE);
            system.handle().working.apply(task, operations, deadline, read).await.expect("an answer");
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_micros();
        println!("{name:>10}   {:>5} µs   {:>5} µs   {:>5} µs", at(50), at(99), at(100));
    }
    system.stop(Duration::from_secs(5)).await;
}

async fn open(system: &System, number: usize) -> WorkingTask {
    let working = system.handle().working;
    let workspace = WorkspaceId::of_root("/bench");
    let deadline = || Deadline::after(DEADLINE);
    let begun = working.begin(workspace, "bench".into(), "It runs cargo and git.".into(), deadline());
    let task = begun.await.expect("a task");
    let step = |n: usize| PlannedSubtask { id: format!("s{n}"), title: words(8, n), depends_on: Vec::new() };
    let context = TaskContext {
        description: words(120, number),
        goals: vec![words(12, number)],
        plan: (0..10).map(step).collect(),
        ..TaskContext::default()
    };
    let mut operations = vec![Operation::LoadTask(context)];
    operations.extend((0..RESULTS).map(result));
    operations.extend((0..VALUES).map(value));
    working.apply(&task, operations, deadline(), |_, _| ()).await.expect("a filled task");
    task
}

fn value(n: usize) -> Operation {
    let value = words(40, n).into();
    Operation::Set(SetValue {
        key: format!("k{n}"),
        scope: ValueScope::Task,
        kind: WorkingValueKind::Accumulator,
        value,
    })
}

fn result(n: usize) -> Operation {
    Operation::AddIntermediate { subtask: format!("s{}", n % 10), output: words(340, n).into() }
}

fn state(n: usize) -> Operation {
    let state =
        ExecutionState { phase: "execution".into(), current: Some(format!("s{}", n % 10)), ..Default::default() };
    Operation::PushState { state: Some(state), note: None }
}

/// Makes a text of `count` words, about six bytes each.
fn words(count: usize, seed: usize) -> String {
    const WORDS: [&str; 8] = ["queue", "drains", "before", "worker", "reads", "batch", "twice", "index"];
    (0..count).map(|n| WORDS[(n * 5 + seed * 3 + n / 7) % WORDS.len()]).collect::<Vec<_>>().join(" ")
}

/// Returns how much memory this process has, in KiB, as Linux says.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of the process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok()).expect("its resident memory")
}
