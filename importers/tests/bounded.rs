//! However much a source holds, few of its records are in memory at once: each is given before the next one is read.

use std::fs::{self, File};
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use reasoning_bank_importers::{ImportSource, SourceEntry, read};
use rusqlite::Connection;
use serde_json::json;

const OBSERVATIONS: u64 = 100_000;
/// The records of a pipe that were written and not given yet. A full pipe and the buffer of the reader hold fewer.
const AT_ONCE: u64 = 1_000;
/// The text of an observation in the database.
const TEXT_BYTES: u64 = 1_000;
/// The memory that the reading of a database may take: that of its cache, and a fraction of what it holds.
const DATABASE_MEMORY_KIB: u64 = 16 << 10;

#[test]
fn a_hundred_thousand_observations_of_a_graph_are_given_while_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("memory.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let written = AtomicU64::new(0);
    let (mut given, mut most) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut file = File::options().write(true).open(&pipe).unwrap();
            for number in 0..OBSERVATIONS {
                let observation = format!("The module {number} of the shop is built by the worker of its own team");
                let entity = json!({
                    "type": "entity", "name": number.to_string(), "entityType": "module", "observations": [observation],
                });
                file.write_all(format!("{entity}\n").as_bytes()).unwrap();
                written.fetch_add(1, Ordering::SeqCst);
            }
        });
        read(ImportSource::ServerMemory, &pipe, |entry| {
            assert!(matches!(entry, SourceEntry::Item(_)), "{entry:?}");
            given += 1;
            most = most.max(written.load(Ordering::SeqCst).saturating_sub(given));
            Ok(())
        })
        .unwrap();
    });
    assert_eq!(given, OBSERVATIONS);
    assert!(most <= AT_ONCE, "{most} records were written and not given");
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
fn a_database_of_a_hundred_thousand_observations_is_never_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("claude-mem.db");
    let statements = format!(
        "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT, \
         narrative TEXT, content_hash TEXT);
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {OBSERVATIONS})
         INSERT INTO observations SELECT n, 's', 'shop', 'decision', 'Decision ' || n, hex(zeroblob({TEXT_BYTES} / 2)), 'h' || n
         FROM numbers;"
    );
    Connection::open(&file).unwrap().execute_batch(&statements).unwrap();
    let Some(before) = peak_kib() else {
        eprintln!("skipped: this system does not tell how much memory a process had");
        return;
    };
    let mut given = 0;
    read(ImportSource::ClaudeMem, &file, |_| {
        given += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(given, OBSERVATIONS);
    let grown = peak_kib().unwrap() - before;
    assert!(grown < DATABASE_MEMORY_KIB, "{grown} KiB more for {} KiB of text", (OBSERVATIONS * TEXT_BYTES) >> 10);
}

/// Returns the most memory that this process had so far.
fn peak_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
