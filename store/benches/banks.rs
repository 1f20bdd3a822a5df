//! This bench measures how long a memory bank takes to be shown and to be written to, through the actor and on a real
//! disk.
//!
//! Each bank is one of a code project whose files have so many bytes together. `shown from memory` is what `activate`
//! does while nobody has changed a file, `shown after an edit` what it does after a person saved one of them, `shown
//! from disk` what the first one in a process does, and `updated` files one sentence by rules until it is in the
//! journal, synced. A bank of 100 KB has more than the 8,000 tokens that are shown, so that a shorter view is made of
//! it. Leaves out the protocol, fences and the search for secrets.

#![allow(clippy::expect_used, reason = "a bench measures or fails")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use reasoning_bank_actors::banks::{ActivateBank, BankSettings, NoticeReader, UpdateBank};
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::ports::BankLocation;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemHandle, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::parts;
use reasoning_bank_domain::bank::BankKey;
use reasoning_bank_store::BankDirs;
use tokio::runtime::Runtime;

const SIZES_KB: [usize; 2] = [20, 100];
const MAX_TOKENS: usize = 8_000;

fn deadline() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn place() -> BankLocation {
    BankLocation { key: BankKey::global(), checkout: None }
}

async fn show(system: &SystemHandle) {
    let request = ActivateBank {
        place: place(),
        description: None,
        files: Vec::new(),
        offset: 0,
        max_tokens: MAX_TOKENS,
        reader: NoticeReader::Nobody,
    };
    system.banks.activate(request, deadline()).await.expect("a bank");
}

async fn update(system: &SystemHandle, number: u64) {
    let content = format!("I prefer variant {number} of the reports, since it is the shortest of all.");
    let (conversation_id, update_count, reader) = (None, None, NoticeReader::Nobody);
    let request = UpdateBank { place: place(), content, conversation_id, update_count, writer: None, reader };
    system.banks.update(request, deadline()).await.expect("an update");
}

async fn start(data: &Path) -> System {
    let parts = parts(Arc::new(MemStore::new()), NoModel);
    // The bank keeps its length.
    let settings =
        BankSettings { optimize_above_tokens: usize::MAX, optimize_every_days: 0, ..BankSettings::default() };
    let settings = SystemSettings { banks: settings, ..parts.settings };
    let parts = SystemParts { banks: Arc::new(BankDirs::of(data)), settings, ..parts };
    System::start(parts).await.expect("a system")
}

fn banks(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    for size in SIZES_KB {
        let data = tempfile::tempdir().expect("a directory");
        let dir = data.path().join("banks/global/default");
        let system = runtime.block_on(start(data.path()));
        let handle = system.handle();
        runtime.block_on(show(&handle));
        for file in 0..10 {
            let section = |n: usize| {
                format!("## Part {n}\n\n- Service {n} reads queue {file} and writes index {}.\n\n", n * file)
            };
            let mut text = format!("# Notes {file}\n\n");
            let mut n = 0;
            while text.len() < size * 100 {
                text.push_str(&section(n));
                n += 1;
            }
            fs::write(dir.join(format!("notes{file}.md")), text).expect("a file");
        }
        let mut group = criterion.benchmark_group(format!("a memory bank of {size} KB"));
        // Each update makes the bank longer, so that there are not many.
        group.sample_size(30).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        group.bench_function("shown from memory", |bencher| bencher.iter(|| runtime.block_on(show(&handle))));
        group.bench_function("shown from disk", |bencher| {
            bencher.iter_custom(|times| {
                let mut taken = Duration::ZERO;
                for _ in 0..times {
                    let system = runtime.block_on(start(data.path()));
                    let handle = system.handle();
                    let begun = Instant::now();
                    runtime.block_on(show(&handle));
                    taken += begun.elapsed();
                    runtime.block_on(system.stop(Duration::from_secs(5)));
                }
                taken
            });
        });
        let number = AtomicU64::new(0);
        let next = || number.fetch_add(1, Ordering::Relaxed);
        group.bench_function("shown after an edit", |bencher| {
            let edit = || {
                let line = format!("# References\n\nEdit number {} of a person.\n", next());
                fs::write(dir.join("references.md"), line).expect("a file");
            };
            bencher.iter_batched(edit, |()| runtime.block_on(show(&handle)), BatchSize::PerIteration);
        });
        group.bench_function("updated", |bencher| bencher.iter(|| runtime.block_on(update(&handle, next()))));
        group.finish();
        runtime.block_on(system.stop(Duration::from_secs(5)));
    }
}

criterion_group!(benches, banks);
criterion_main!(benches);
