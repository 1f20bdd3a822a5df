//! The latency of MaTTS: the time that several attempts take, compared with a single one.
//!
//! Measures the wall time of one solve through the whole system of actors (agent, pool, judge, cache) over a simulated
//! model whose every call takes 50 or 400 ms, at an equal number of model rounds: draft, evaluate, judge; no refinement
//! and no learning. Leaves out LanceDB, the embedding model, the network and a real provider: the store is in memory.
//! After the groups it prints the ratio of each mode to the single attempt of the same run.

#![allow(clippy::expect_used, reason = "a bench that cannot go on has failed")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode};
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

const MODES: [(&str, u32, MattsMode); 3] = [
    ("single", 1, MattsMode::Parallel),
    ("parallel-5", 5, MattsMode::Parallel),
    ("sequential-5", 5, MattsMode::Sequential),
];
const LATENCIES_MS: [u64; 2] = [50, 400];

type Totals = BTreeMap<(u64, &'static str), (Duration, u64)>;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let totals = Mutex::new(Totals::new());
    for latency_ms in LATENCIES_MS {
        let mut group = criterion.benchmark_group(format!("solve at {latency_ms} ms a call"));
        group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(5));
        for (name, k, mode) in MODES {
            group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
                let runtime = Runtime::new().expect("a runtime");
                let system = runtime.block_on(system(Duration::from_millis(latency_ms)));
                let mut solved = 0;
                bencher.iter_custom(|times| {
                    let begun = Instant::now();
                    for _ in 0..times {
                        solved += 1;
                        runtime.block_on(solve(&system, k, mode, solved));
                    }
                    let elapsed = begun.elapsed();
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    let entry = totals.entry((latency_ms, name)).or_default();
                    *entry = (entry.0 + elapsed, entry.1 + times);
                    elapsed
                });
                runtime.block_on(system.stop(Duration::from_secs(5)));
            });
        }
        group.finish();
    }
    criterion.final_summary();
    print_ratios(&totals.into_inner().unwrap_or_else(PoisonError::into_inner));
}

#[expect(clippy::print_stdout, reason = "the report of a bench")]
fn print_ratios(totals: &Totals) {
    let mean = |latency_ms, name| totals.get(&(latency_ms, name)).map(|(sum, count)| sum.as_secs_f64() / *count as f64);
    for latency_ms in LATENCIES_MS {
        let Some(single) = mean(latency_ms, "single") else { continue };
        for (name, _, _) in &MODES[1..] {
            if let Some(mean) = mean(latency_ms, name) {
                println!("ratio at {latency_ms:>3} ms: {name:<12} / single = {:.3}", mean / single);
            }
        }
    }
}

async fn system(latency: Duration) -> System {
    let mut settings = SystemSettings::default();
    settings.solve.limits.max_iterations = 1;
    settings.cache.max_entries = 0;
    let simulated =
        SimulatedBehaviour { latency: SimulatedLatency { base: latency, jitter: 0.0 }, ..Default::default() };
    let parts = parts(Arc::new(MemStore::new()), Simulated::new(simulated));
    System::start(SystemParts { settings, ..parts }).await.expect("a system")
}

async fn solve(system: &System, k: u32, mode: MattsMode, number: u64) {
    let task = SolveTask {
        task: format!("write a binary search, variant {number}"),
        use_memory: true,
        k,
        mode,
        store_result: false,
        domain: None,
    };
    let call = SolveOptions::until(Deadline::after(Duration::from_secs(60)));
    let report = system.handle().agents.solve(task, WorkspaceRef::Root("/bench".into()), call).await.expect("a report");
    assert_eq!((report.attempts.len(), report.usage.cache_hits), (k as usize, 0));
}
