//! Tests of commits of many records, which go past the journal. They are there whole or not at all, whatever breaks
//! off, and are found by the indexes that a table of their size gets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use reasoning_bank_actors::ports::{MemoryCommit, MemoryFilter, MemoryStore, Page, Record, StoreReads};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_store::LanceStore;
use rstest::rstest;

use crate::store_fixtures::*;
use crate::store_lance::{AXIS, commit_each, full_batch};

/// A number of records that is more than a journal is used for.
const MANY: usize = 1_500;
const TABLES: [&str; 6] = ["workspaces", "traces", "memories", "passages", "signals", "jobs"];

fn numbered(of: &str, count: usize) -> Vec<Memory> {
    (0..count).map(|n| memory(&workspace("/here"), &format!("{of} {n}"), "common words")).collect()
}

fn imported(memories: &[Memory]) -> Vec<Record> {
    let stored = memories.iter().map(|memory| as_it_is(memory, Some(AXIS)));
    stored.chain(memories.iter().map(|memory| Record::Signal(signal(memory, SignalKind::Helpful, now())))).collect()
}

fn journal_bytes(dir: &Path) -> u64 {
    let files = fs::read_dir(dir.join("journal")).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn marker(dir: &Path) -> std::path::PathBuf {
    dir.join("journal/bulk.json")
}

/// The manifests of a table by their versions.
fn manifests(dir: &Path, table: &str) -> BTreeMap<u64, std::path::PathBuf> {
    let files = fs::read_dir(dir.join(format!("lance/{table}.lance/_versions"))).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let version = |path: &Path| Some(u64::MAX - path.file_stem()?.to_str()?.parse::<u64>().ok()?);
    paths.filter_map(|path| Some((version(&path)?, path))).collect()
}

fn versions(dir: &Path) -> BTreeMap<&'static str, u64> {
    TABLES.into_iter().map(|table| (table, *manifests(dir, table).last_key_value().unwrap().0)).collect()
}

async fn stored(store: &LanceStore) -> Vec<MemoryId> {
    let rows = store.memories(MemoryFilter::default(), Page::first(100_000), soon()).await.unwrap();
    rows.into_iter().map(|row| row.memory.id).collect()
}

async fn passages_of(store: &LanceStore, memories: &[Memory]) -> usize {
    let ids = memories.iter().map(|memory| memory.id).collect();
    store.passages(ids, soon()).await.unwrap().len()
}

#[tokio::test]
async fn many_records_at_once_are_whole_durable_and_stored_once() {
    let dir = tempfile::tempdir().unwrap();
    let (first, memories) = (numbered("First", 1), numbered("Many", MANY));
    let store = open(dir.path()).await;
    commit_each(&store, &first).await;
    let frames = journal_bytes(dir.path());
    let batch = imported(&memories);
    for _ in 0..2 {
        let committed = store.commit(batch.clone(), soon()).await.unwrap();
        assert_eq!(committed.memories.len(), MANY);
        assert!(committed.memories.iter().zip(&memories).all(|(c, m)| *c == MemoryCommit::Created(m.id)));
        assert_eq!(journal_bytes(dir.path()), frames, "it went past the journal");
        assert!(!marker(dir.path()).exists());
    }
    drop(store);
    let store = open(dir.path()).await;
    assert_eq!(stored(&store).await, ids_of(&[first, memories.clone()].concat()));
    assert_eq!(passages_of(&store, &memories).await, MANY);
    let rows = store.get(ids_of(&memories), soon()).await.unwrap();
    assert!(
        rows.len() == MANY && rows.iter().all(|row| row.evidence.count(SignalKind::Helpful) == 1),
        "{} rows",
        rows.len()
    );
}

#[tokio::test]
async fn what_is_stored_is_not_stored_again_among_many_others() {
    let dir = tempfile::tempdir().unwrap();
    let (known, new) = (numbered("Known", 3), numbered("Many", MANY));
    let store = open(dir.path()).await;
    commit_each(&store, &known).await;
    let all = [known, new].concat();
    let committed = store.commit(imported(&all), soon()).await.unwrap();
    assert_eq!(committed.memories, all.iter().map(|memory| MemoryCommit::Created(memory.id)).collect::<Vec<_>>());
    assert_eq!(stored(&store).await, ids_of(&all));
    assert_eq!(passages_of(&store, &all).await, all.len());
}

/// A kill leaves the marker, and the tables as far as they came.
#[rstest]
#[tokio::test]
async fn many_records_that_broke_off_are_taken_back_and_all_before_them_stays(
    #[values("workspaces", "memories", "passages", "signals")] last_written: &str,
) {
    let dir = tempfile::tempdir().unwrap();
    let (first, memories, after) = (numbered("First", 3), numbered("Many", MANY), numbered("After", 1));
    let store = open(dir.path()).await;
    commit_each(&store, &first).await;
    let before = versions(dir.path());
    store.commit(imported(&memories), soon()).await.unwrap();
    drop(store);
    fs::write(marker(dir.path()), serde_json::to_vec(&before).unwrap()).unwrap();
    for table in TABLES.iter().skip_while(|table| **table != last_written).skip(1) {
        for path in manifests(dir.path(), table).split_off(&(before[table] + 1)).values() {
            fs::remove_file(path).unwrap();
        }
    }
    let store = open(dir.path()).await;
    assert_taken_back(dir.path(), &store, &first, &memories, &after).await;
}

#[tokio::test]
async fn a_writer_that_lives_on_takes_back_what_another_one_left() {
    let dir = tempfile::tempdir().unwrap();
    let (first, memories, after) = (numbered("First", 3), numbered("Many", MANY), numbered("After", 1));
    let (store, other) = (open(dir.path()).await, open(dir.path()).await);
    commit_each(&store, &first).await;
    let before = versions(dir.path());
    other.commit(imported(&memories), soon()).await.unwrap();
    assert_eq!(stored(&store).await.len(), first.len() + MANY);
    fs::write(marker(dir.path()), serde_json::to_vec(&before).unwrap()).unwrap();
    assert_taken_back(dir.path(), &store, &first, &memories, &after).await;
    assert_eq!(stored(&other).await.len(), first.len() + 1 + MANY);
}

async fn assert_taken_back(dir: &Path, store: &LanceStore, first: &[Memory], many: &[Memory], after: &[Memory]) {
    commit_each(store, after).await;
    assert!(!marker(dir).exists());
    let expected = [first, after].concat();
    assert_eq!(stored(store).await, ids_of(&expected));
    assert_eq!(passages_of(store, many).await, 0);
    assert_eq!(passages_of(store, &expected).await, expected.len());
    store.commit(imported(many), soon()).await.unwrap();
    assert_eq!(stored(store).await, ids_of(&[&expected, many].concat()));
    assert_eq!(passages_of(store, many).await, MANY);
}

#[tokio::test]
async fn a_large_bank_is_read_changed_and_confirmed_through_its_indexes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = numbered("Many", 10_500);
    store.commit(imported(&memories), soon()).await.unwrap();
    let mut slices = 0;
    while store.maintain(soon()).await.unwrap().more {
        slices += 1;
        assert!(slices < 20, "upkeep comes to no end");
    }
    for (table, indexes) in [("memories", 3), ("signals", 2), ("passages", 8)] {
        let directories = fs::read_dir(dir.path().join(format!("lance/{table}.lance/_indices"))).unwrap().count();
        assert!(directories >= indexes, "{directories} indexes of {table}");
    }
    let summary = store.summary(soon()).await.unwrap();
    assert_eq!(summary.index_lag_rows, 0);

    // some rows are in the indexes, some are not yet
    let late = numbered("Late", 2);
    commit_each(&store, &late).await;
    for memory in [&memories[7], &memories[10_499], &late[0]] {
        let changed = next(memory, |memory| memory.content = "changed words".into());
        store.commit(vec![change(&changed, Some(AXIS))], soon()).await.unwrap();
        let rows = store.get(vec![memory.id], soon()).await.unwrap();
        assert_eq!(rows.iter().map(|row| &row.memory).collect::<Vec<_>>(), [&changed]);
        assert_eq!(passages_of(&store, std::slice::from_ref(memory)).await, 1);
        let stale = store.commit(vec![change(&changed, None), change(memory, None)], soon()).await;
        assert!(stale.is_err(), "two revisions of one memory");
    }
    let twin = Memory { id: uuid::Uuid::now_v7().into(), ..memories[42].clone() };
    let committed = store.commit(vec![record(&twin, Some(AXIS))], soon()).await.unwrap();
    assert_eq!(committed.memories, [MemoryCommit::Reinforced(memories[42].id)]);
    let rows = store.get(vec![memories[42].id], soon()).await.unwrap();
    assert_eq!(rows[0].evidence.count(SignalKind::Helpful), 1);
    assert_eq!(rows[0].evidence.count(SignalKind::Confirmed), 1);
    let again = store.commit(full_batch(&memories[3])[1..2].to_vec(), soon()).await.unwrap();
    assert_eq!(again.memories, [MemoryCommit::Created(memories[3].id)]);
    assert_eq!(stored(&store).await.len(), memories.len() + late.len());
}
