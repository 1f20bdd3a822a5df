//! Tests of tables that a power loss or a bad disk damaged: readable rows are kept, and rows in the journals come back.

use std::fs;
use std::path::{Path, PathBuf};

use reasoning_bank_actors::ports::{EraseScope, MemoryFilter, MemoryStore, StoreReads};
use reasoning_bank_store::{LanceStore, Options};
use rstest::rstest;
use uuid::Uuid;

use crate::store_fixtures::*;
use crate::store_lance::*;

const TABLES: [&str; 5] = ["memories", "passages", "traces", "signals", "jobs"];

fn newest(mut files: Vec<PathBuf>) -> PathBuf {
    files.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    files.pop().unwrap()
}

fn cut(path: &Path, bytes: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    assert!(file.metadata().unwrap().len() > bytes);
    file.set_len(bytes).unwrap();
}

#[rstest]
#[case::never(false)]
#[case::just_before(true)]
#[tokio::test]
async fn torn_manifests_and_short_data_files_are_repaired_at_open(#[case] checkpoint: bool) {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(5);
    let store = open(dir.path()).await;
    commit_each(&store, &memories).await;
    if checkpoint {
        store.close(soon()).await.unwrap();
    }
    drop(store);
    for table in TABLES {
        cut(&newest(table_files(dir.path(), table, "_versions")), 0);
    }
    assert_whole(&open(dir.path()).await, &memories).await;
    for table in TABLES {
        let file = newest(table_files(dir.path(), table, "data"));
        cut(&file, fs::metadata(&file).unwrap().len() / 2);
    }
    assert_whole(&open(dir.path()).await, &memories).await;
    assert_whole(&open(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn a_table_of_which_no_version_is_whole_keeps_what_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(20);
    let (lost, kept) = memories.split_at(16);
    let store = open(dir.path()).await;
    commit_each(&store, lost).await;
    // leaves one fragment, one version and no journal
    store.erase(EraseScope::Memory(Uuid::now_v7().into()), soon()).await.unwrap();
    let [compacted] = &table_files(dir.path(), "memories", "data")[..] else { panic!("several data files") };
    commit_each(&store, kept).await;
    drop(store);
    cut(compacted, 10);
    let store = open(dir.path()).await;
    let rows = store.memories(MemoryFilter::default(), everything(), soon()).await.unwrap();
    assert_eq!(rows.into_iter().map(|row| row.memory).collect::<Vec<_>>(), kept);
    let found = store.candidates(by_text(&workspace("/here"), "words"), soon()).await.unwrap();
    assert_eq!(sorted(ids(&found.text)), sorted(kept.iter().map(|memory| memory.id).collect()));
    commit_each(&store, lost).await;
    assert_eq!(store.get(memories.iter().map(|memory| memory.id).collect(), soon()).await.unwrap().len(), 20);
}

#[rstest]
#[case::zeros(0)]
#[case::ones(0xff)]
#[case::text(b'a')]
#[tokio::test]
async fn a_manifest_with_an_intact_end_that_makes_no_sense_is_set_aside(#[case] byte: u8) {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(2);
    let store = open(dir.path()).await;
    commit_each(&store, &memories).await;
    drop(store);
    for table in TABLES {
        let manifest = newest(table_files(dir.path(), table, "_versions"));
        let length = fs::metadata(&manifest).unwrap().len() as usize;
        fs::write(&manifest, [vec![byte; length - 4], b"LANC".to_vec()].concat()).unwrap();
    }
    assert_whole(&open(dir.path()).await, &memories).await;
}

#[tokio::test]
async fn a_repair_that_broke_off_is_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(3);
    let store = open(dir.path()).await;
    commit_each(&store, &memories).await;
    store.close(soon()).await.unwrap();
    drop(store);
    cut(&newest(table_files(dir.path(), "memories", "_versions")), 0);
    let [history, away] = ["journal/history.log", "history"].map(|name| dir.path().join(name));
    fs::rename(&history, &away).unwrap();
    fs::create_dir(&history).unwrap();
    let options = Options::default();
    assert!(LanceStore::open(dir.path(), &fingerprint(), options).await.is_err(), "the history cannot be read");
    fs::remove_dir(&history).unwrap();
    fs::rename(&away, &history).unwrap();
    assert_whole(&open(dir.path()).await, &memories).await;
    assert!(!dir.path().join("repairing").exists());
}

#[tokio::test]
async fn a_replacement_is_taken_only_when_the_old_table_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(2);
    let store = open(dir.path()).await;
    commit_each(&store, &memories).await;
    store.close(soon()).await.unwrap();
    drop(store);
    let [table, replacement] =
        ["passages", "passages-replacement"].map(|name| dir.path().join(format!("lance/{name}.lance")));
    fs::create_dir(&replacement).unwrap();
    fs::write(replacement.join("half"), "half").unwrap();
    assert_whole(&open(dir.path()).await, &memories).await;
    assert!(!replacement.exists());
    fs::rename(&table, &replacement).unwrap();
    assert_whole(&open(dir.path()).await, &memories).await;
    assert!(!replacement.exists());
}

#[tokio::test]
async fn a_damaged_index_is_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(300);
    let store = open(dir.path()).await;
    let batch = memories.iter().flat_map(full_batch).collect();
    store.commit(batch, soon()).await.unwrap();
    store.maintain(soon()).await.unwrap();
    store.close(soon()).await.unwrap();
    drop(store);
    let indexes = table_files(dir.path(), "passages", "_indices");
    assert!(!indexes.is_empty());
    for file in indexes {
        let length = fs::metadata(&file).unwrap().len();
        cut(&file, length / 2);
    }
    assert_whole(&open(dir.path()).await, &memories).await;
}
