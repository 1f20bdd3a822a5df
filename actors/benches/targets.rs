//! This bench measures how long a task takes at a real 2 s a model call, in the worst case: five attempts, three
//! iterations, and what is learned, with memory.
//!
//! Measures the wall time of the first solve of a fresh system, of three later ones, and of each of ten at once,
//! through the whole system of actors over a simulated model whose calls take 2 s. Leaves out LanceDB, the embedding
//! model, the network and a real provider: the store is in memory. Takes about two minutes; a run each, since nothing
//! but the machine varies.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a bench that prints what it measured, or fails")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::model::{Simulated, SimulatedBehaviour, SimulatedLatency};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::parts;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::trace::MattsMode;
use reasoning_bank_domain::solve::task::SolveTask;
use tokio::runtime::Runtime;

const CALL: Duration = Duration::from_secs(2);
const LATER: u64 = 3;
const AT_ONCE: u64 = 10;

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let system = runtime.block_on(system());
    println!("at {CALL:?} a model call, k = 5, three iterations:");
    let first = runtime.block_on(solve(&system, 0));
    println!("the first task:          {:>6.2} s (target 60)", first.as_secs_f64());
    let later = (1..=LATER).map(|number| runtime.block_on(solve(&system, number))).max().expect("a time");
    println!("the slowest of {LATER} later:   {:>6.2} s (target 30)", later.as_secs_f64());
    let numbers = LATER + 1..=LATER + AT_ONCE;
    let at_once = runtime.block_on(join_all(numbers.map(|number| solve(&system, number))));
    let slowest = at_once.into_iter().max().expect("a time");
    println!("the slowest of {AT_ONCE} at once: {:>6.2} s (target 60)", slowest.as_secs_f64());
    runtime.block_on(system.stop(Duration::from_secs(5)));
}

async fn system() -> System {
    let mut settings = SystemSettings::default();
    // The threshold is out of reach, so every iteration is used.
    settings.solve.limits.success_threshold = 1.0;
    settings.cache.max_entries = 0;
    let simulated = SimulatedBehaviour { latency: SimulatedLatency { base: CALL, jitter: 0.0 }, ..Default::default() };
    let parts = parts(Arc::new(MemStore::new()), Simulated::new(simulated));
    System::start(SystemParts { settings, ..parts }).await.expect("a system")
}

async fn solve(system: &System, number: u64) -> Duration {
    let task = SolveTask {
        // The simulated model makes little of such a task: no solution repeats, whatever was learned.
        task: format!("write a binary search, variant {number} [fail]"),
        use_memory: true,
        k: 5,
        mode: MattsMode::Parallel,
        store_result: true,
        domain: None,
    };
    let begun = Instant::now();
    let call = SolveOptions::until(Deadline::after(Duration::from_secs(120)));
    let report = system.handle().agents.solve(task, WorkspaceRef::Root("/bench".into()), call).await.expect("a report");
    assert_eq!((report.attempts.len(), report.iterations, report.loop_detected), (5, 3, false));
    begun.elapsed()
}
