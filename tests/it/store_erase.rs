//! Tests of erasures in company: of upkeep that is making files of what is erased, and of indexes that hold it. Those
//! of a quiet store are in `store_lance`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reasoning_bank_actors::ports::{EraseScope, MemoryStore, StoreReads};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_store::{LanceStore, Options};
use uuid::Uuid;

use crate::store_fixtures::*;
use crate::store_lance::*;
use crate::support::in_five_minutes;

const SECRET: &str = "xylophonequartz";

fn doomed() -> Memory {
    memory(&workspace("/here"), "Doomed", &format!("gauge of {SECRET}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_upkeep_is_about_to_publish_goes_with_an_erasure() {
    let dir = tempfile::tempdir().unwrap();
    let [store, other_process] = [open(dir.path()).await, open(dir.path()).await];
    let (doomed, others) = (doomed(), numbered(20));
    for memory in others.iter().chain([&doomed]) {
        store.commit(vec![as_it_is(memory, Some(AXIS))], soon()).await.unwrap();
    }
    assert!(holding(&dir.path().join("lance"), SECRET) > 0, "otherwise this test shows nothing");

    let lock = fs::File::open(dir.path().join("lance/.write.lock")).unwrap();
    lock.lock().unwrap();
    let published = table_files(dir.path(), "memories", "data").len();
    let upkeep = store.clone();
    let upkeep = tokio::spawn(async move { upkeep.maintain(soon()).await });
    let rewritten = async {
        while table_files(dir.path(), "memories", "data").len() == published {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), rewritten).await.unwrap();
    let scope = EraseScope::Memory(doomed.id);
    let erasure = tokio::spawn(async move { other_process.erase(scope, soon()).await });
    // The outcome is the same, whichever of the two gets the lock first.
    lock.unlock().unwrap();
    assert_eq!(erasure.await.unwrap().unwrap().memories, 1);
    // It may have found a version gone that it was about to read.
    let _ = upkeep.await.unwrap();
    assert_eq!(holding(dir.path(), SECRET), 0);

    assert!(!store.maintain(soon()).await.unwrap().busy);
    let all: Vec<_> = others.iter().chain([&doomed]).map(|memory| memory.id).collect();
    assert_eq!(store.get(all, soon()).await.unwrap().len(), others.len());
    assert_eq!(holding(dir.path(), SECRET), 0);
}

#[tokio::test]
async fn what_upkeep_left_behind_when_it_was_killed_goes_with_the_next_slice() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let doomed = doomed();
    store.commit(vec![as_it_is(&doomed, Some(AXIS))], soon()).await.unwrap();
    let [written] = &table_files(dir.path(), "memories", "data")[..] else { panic!("several data files") };
    let written = fs::read(written).unwrap();
    store.erase(EraseScope::Memory(doomed.id), soon()).await.unwrap();
    assert_eq!(holding(dir.path(), SECRET), 0);

    // It had read the memory before the erasure and wrote these after it.
    let (memories, passages) = (dir.path().join("lance/memories.lance"), dir.path().join("lance/passages.lance"));
    let left = [memories.join("data/left.lance"), passages.join(format!("_indices/{}/left.lance", Uuid::now_v7()))];
    for file in &left {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &written).unwrap();
    }
    assert_eq!(holding(dir.path(), SECRET), left.len());
    store.maintain(soon()).await.unwrap();
    assert_eq!(holding(dir.path(), SECRET), 0);
}

/// A vector of its own for each of some thousand.
fn direction(n: u16) -> [f32; DIMS] {
    let angle = f32::from(n) / 2_000.0;
    [angle.cos(), angle.sin(), 0.1, 0.0]
}

fn gauges(count: usize) -> Vec<Memory> {
    (0..count).map(|n| memory(&workspace("/here"), &format!("Title {n}"), "gauge")).collect()
}

/// A store that searches its tables, with these memories and the indexes that they are worth.
async fn indexed(dir: &Path, memories: &[Memory]) -> LanceStore {
    let store = open_with(dir, Options { resident_bytes: 0, ..Options::default() }).await;
    let records = (0..).zip(memories).map(|(n, memory)| as_it_is(memory, Some(direction(n))));
    store.commit(records.collect(), in_five_minutes()).await.unwrap();
    maintain(&store).await;
    store
}

async fn maintain(store: &LanceStore) {
    while store.maintain(in_five_minutes()).await.unwrap().more {}
}

/// The indexes of the passages, and how many rows each of them lacks.
async fn lacking(dir: &Path) -> BTreeMap<String, usize> {
    let lance = lancedb::connect(dir.join("lance").to_str().unwrap()).execute().await.unwrap();
    let passages = lance.open_table("passages").execute().await.unwrap();
    let mut lacking = BTreeMap::new();
    for index in passages.list_indices().await.unwrap() {
        let stats = passages.index_stats(&index.name).await.unwrap().unwrap();
        lacking.insert(index.name, stats.num_unindexed_rows);
    }
    lacking
}

/// Asserts that an erased memory is found neither by words nor by its vector, while others are.
async fn assert_not_found(store: &LanceStore, erased: &Memory, near: [f32; DIMS]) {
    let here = workspace("/here");
    let named = store.candidates(by_text(&here, SECRET), soon()).await.unwrap();
    assert!(ids(&named.text).is_empty());
    for search in [by_text(&here, "gauge"), by_vector(&here, near)] {
        let found = store.candidates(search, soon()).await.unwrap();
        let found = ids(found.text.as_ref().map_or(&found.vector, |_| &found.text));
        assert!(found.len() == 50 && !found.contains(&erased.id), "{found:?}");
    }
}

#[tokio::test]
async fn the_indexes_of_a_large_bank_outlive_an_erasure_without_what_was_erased() {
    const DOOMED: u16 = 5_000;
    let dir = tempfile::tempdir().unwrap();
    let mut memories = gauges(10_200);
    memories[usize::from(DOOMED)] = doomed();
    let erased = &memories[usize::from(DOOMED)];
    let store = indexed(dir.path(), &memories).await;
    let before = lacking(dir.path()).await;
    for index in ["passages_terms", "passages_vector", "passages_status", "passages_memory"] {
        assert_eq!(before[index], 0, "{index}");
    }
    let found = store.candidates(by_vector(&workspace("/here"), direction(DOOMED)), soon()).await.unwrap();
    assert!(ids(&found.vector).contains(&erased.id));
    let files = table_files(dir.path(), "passages", "_indices");

    store.erase(EraseScope::Memory(erased.id), in_five_minutes()).await.unwrap();
    assert_eq!(lacking(dir.path()).await, before);
    // There was one fragment, so all had something of it.
    let left: Vec<PathBuf> = files.into_iter().filter(|file| file.exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(holding(dir.path(), SECRET), 0);
    assert_not_found(&store, erased, direction(DOOMED)).await;
}

#[tokio::test]
async fn indexes_that_would_keep_what_was_erased_are_dropped_and_made_again() {
    const DOOMED: u16 = 5_000;
    let dir = tempfile::tempdir().unwrap();
    let others = gauges(5_200);
    let store = open_with(dir.path(), Options { resident_bytes: 0, ..Options::default() }).await;
    let erased = doomed();
    // A fragment of its own: once it is gone compaction has nothing to rewrite.
    store.commit(vec![as_it_is(&erased, Some(direction(DOOMED)))], soon()).await.unwrap();
    store.close(soon()).await.unwrap();
    let store = indexed(dir.path(), &others).await;
    assert!(holding(&dir.path().join("lance"), SECRET) > 0, "otherwise this test shows nothing");
    let files = table_files(dir.path(), "passages", "_indices");
    assert_eq!(lacking(dir.path()).await["passages_vector"], 0);

    store.erase(EraseScope::Memory(erased.id), in_five_minutes()).await.unwrap();
    assert_eq!(lacking(dir.path()).await, BTreeMap::from([("passages_terms".to_owned(), 0)]));
    assert!(files.iter().all(|file| !file.exists()));
    assert_eq!(holding(dir.path(), SECRET), 0);
    assert_not_found(&store, &erased, direction(DOOMED)).await;
    maintain(&store).await;
    assert_eq!(lacking(dir.path()).await["passages_vector"], 0);
    assert_not_found(&store, &erased, direction(DOOMED)).await;
}
