//! The time that the store takes for the candidates of a query and the bodies of ten of them, of 1,000 and 10,000
//! memories with a vector each, searched in memory and from the tables; and for a durable commit of one memory and of
//! 256.
//!
//! The bank and its queries are those that `eval speed` makes up. The bench leaves out everything above the store:
//! embedding, fusion, scores, actors. Larger banks, memory, disk and the first query of a process are `eval speed`'s.

#![allow(clippy::expect_used, clippy::panic, reason = "a bench fails")]

#[path = "../../src/eval/speed/synthetic.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "not all of it is needed here")]
mod synthetic;

use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::ports::{Batch, MemoryStore, Record, StoreReads};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_store::{LanceStore, Options, use_all_cores};
use synthetic::{Synthetic, SyntheticQuery};
use tokio::runtime::Runtime;

const SIZES: [u32; 2] = [1_000, 10_000];
const BATCH: u32 = 2_048;
const QUERIES: u32 = 200;
const LIMIT: usize = 50;
const RESULTS: usize = 10;
const COMMITS: [u32; 2] = [1, 256];
const RESIDENT_BYTES: usize = 256 << 20;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

fn main() {
    // SAFETY: nothing has started a thread yet.
    unsafe { use_all_cores() };
    let mut criterion = Criterion::default().measurement_time(Duration::from_secs(5)).configure_from_args();
    let runtime = Runtime::new().expect("a runtime");
    for rows in SIZES {
        let place = tempfile::tempdir().expect("a directory");
        let bank = Synthetic::new(rows, 1);
        runtime.block_on(fill(place.path(), &bank));
        for (name, resident_bytes) in [("query in memory", RESIDENT_BYTES), ("query from tables", 0)] {
            let store = runtime.block_on(open(place.path(), resident_bytes));
            let queries: Vec<SyntheticQuery> = (0..QUERIES).map(|number| bank.query(number)).collect();
            runtime.block_on(warm(&store, &queries, resident_bytes > 0));
            let mut next = queries.iter().cycle();
            criterion.bench_with_input(BenchmarkId::new(name, rows), &store, |bench, store| {
                bench.to_async(&runtime).iter_batched(
                    || next.next().expect("endless"),
                    |query| ask(store, query),
                    BatchSize::SmallInput,
                );
            });
        }
    }
    commits(&mut criterion, &runtime);
}

fn commits(criterion: &mut Criterion, runtime: &Runtime) {
    let place = tempfile::tempdir().expect("a directory");
    let bank = Synthetic::new(SIZES[0], 1);
    let store = runtime.block_on(open(place.path(), RESIDENT_BYTES));
    let mut stored = 0;
    let mut group = criterion.benchmark_group("commit");
    for memories in COMMITS {
        group.throughput(Throughput::Elements(u64::from(memories)));
        group.bench_with_input(BenchmarkId::from_parameter(memories), &memories, |bench, memories| {
            bench.to_async(runtime).iter_batched(
                || {
                    stored += memories;
                    batch(&bank, stored - memories..stored)
                },
                async |batch| store.commit(batch, request_deadline()).await.expect("a commit"),
                BatchSize::SmallInput,
            );
        });
    }
}

async fn open(directory: &Path, resident_bytes: usize) -> LanceStore {
    let options = Options { resident_bytes, ..Options::default() };
    LanceStore::open(directory, &Synthetic::fingerprint(), options).await.expect("a store")
}

async fn fill(directory: &Path, bank: &Synthetic) {
    let store = open(directory, 0).await;
    for first in (0..bank.rows()).step_by(BATCH as usize) {
        let batch = batch(bank, first..bank.rows().min(first + BATCH));
        store.commit(batch, request_deadline()).await.expect("a commit");
    }
    while store.maintain(request_deadline()).await.expect("upkeep").more {}
    store.close(request_deadline()).await.expect("closed");
}

fn batch(bank: &Synthetic, numbers: Range<u32>) -> Batch {
    let embedder = Synthetic::fingerprint().to_string();
    let record = |number| match bank.memory(number, &embedder) {
        Restorable::Memory { memory, passages } => Record::Memory { memory, passages, confirm: None },
        other => panic!("{other:?} is no memory"),
    };
    numbers.map(record).collect()
}

/// Asks the queries until memory answers, or once where tables are to answer.
async fn warm(store: &LanceStore, queries: &[SyntheticQuery], in_memory: bool) {
    for query in queries.iter().cycle() {
        ask(store, query).await;
        if !in_memory || store.resident().answered > 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn ask(store: &LanceStore, query: &SyntheticQuery) {
    let found = store.candidates(query.recall(LIMIT), request_deadline()).await.expect("candidates");
    let ids = found.facts.iter().take(RESULTS).map(|(facts, _)| facts.id).collect();
    black_box(store.get(ids, request_deadline()).await.expect("bodies"));
}

fn request_deadline() -> Deadline {
    Deadline::after(REQUEST_TIMEOUT)
}
