//! Tests of changed memories in the store on disk: commits that wait together, kills at any point, several writers,
//! upkeep.

use std::collections::BTreeMap;
use std::fs;

use reasoning_bank_actors::ports::{EraseScope, MemoryFilter, MemoryStore, Record, StoreError, StoreReads};
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Memory, Status};
use reasoning_bank_store::LanceStore;
use rstest::rstest;

use crate::store_fixtures::*;
use crate::store_lance::*;

async fn assert_stored(store: &LanceStore, expected: &Memory) {
    let rows = store.memories(MemoryFilter::default(), everything(), soon()).await.unwrap();
    let stored: Vec<&Memory> = rows.iter().map(|row| &row.memory).filter(|memory| memory.id == expected.id).collect();
    assert_eq!(stored, [expected]);
    let passages = store.passages(vec![expected.id], soon()).await.unwrap();
    let Record::Revision { passages: own, .. } = change(expected, Some(AXIS)) else { panic!() };
    assert_eq!(passages, BTreeMap::from([(expected.id, own)]));
}

async fn found(store: &LanceStore, text: &str) -> usize {
    store.candidates(by_text(&workspace("/here"), text), soon()).await.unwrap().text.unwrap().hits.len()
}

fn says(memory: &Memory, content: &str) -> Memory {
    next(memory, |memory| memory.content = content.into())
}

#[tokio::test]
async fn changes_that_wait_together_are_decided_in_order_and_a_refused_one_concerns_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = numbered(2);
    commit_each(&store, &memories).await;
    let second = says(&memories[0], "second");
    let third = says(&second, "third");
    let late = says(&memories[0], "too late");
    let other = says(&memories[1], "other");
    let added = memory(&workspace("/here"), "Added", "third");
    let same = Memory { id: uuid::Uuid::now_v7().into(), revision: 1, ..third.clone() };
    // the lock keeps all of them waiting, so they become one batch
    let lock = fs::File::open(dir.path().join("lance/.write.lock")).unwrap();
    lock.lock().unwrap();
    let asked = [
        vec![change(&second, Some(AXIS))],
        vec![change(&third, Some(AXIS))],
        vec![record(&added, Some(AXIS)), change(&late, Some(AXIS))],
        vec![change(&other, Some(AXIS))],
        vec![record(&same, Some(AXIS))],
    ];
    let waiting = asked.map(|batch| store.commit(batch, soon()));
    let all = futures::future::join_all(waiting);
    let (answers, ()) = tokio::join!(all, async {
        tokio::task::yield_now().await;
        lock.unlock().unwrap();
    });
    let conflicts: Vec<bool> = answers.iter().map(Result::is_err).collect();
    assert_eq!(conflicts, [false, false, true, false, false], "{answers:?}");
    assert_eq!(answers[2], Err(StoreError::Conflict(memories[0].id)));
    assert_eq!(answers[4].as_ref().unwrap().memories[0].id(), third.id, "it says what the third revision says");
    assert_stored(&store, &third).await;
    assert_stored(&store, &other).await;
    assert!(store.get(vec![added.id], soon()).await.unwrap().is_empty());
    drop(store);
    let store = open(dir.path()).await;
    assert_stored(&store, &third).await;
    assert_stored(&store, &other).await;
    assert_eq!((found(&store, "third").await, found(&store, "common").await), (1, 0));
}

#[rstest]
#[case::nothing_of_it_is_in_the_tables(0)]
#[case::the_memory_is(1)]
#[case::the_new_passages_are_too(2)]
#[tokio::test]
async fn a_change_that_broke_off_is_finished_by_whoever_writes_or_opens_next(
    #[case] applied: usize,
    #[values(false, true)] by_opening: bool,
) {
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(2);
    let second = says(&memories[0], "second");
    let store = open(dir.path()).await;
    commit_each(&store, &memories[..1]).await;
    store.close(soon()).await.unwrap();
    // the tables as a kill leaves them: those that were written before it are taken from a store that went on
    let ahead = tempfile::tempdir().unwrap();
    copy(dir.path(), ahead.path());
    let other = open(ahead.path()).await;
    other.commit(vec![change(&second, Some(AXIS))], soon()).await.unwrap();
    drop(other);
    if applied >= 1 {
        replace_table(ahead.path(), dir.path(), "memories");
    }
    if applied >= 2 {
        replace_table(ahead.path(), dir.path(), "passages");
        // the version before the stale ones were removed
        let newest = table_files(dir.path(), "passages", "_versions").remove(0);
        fs::remove_file(newest).unwrap();
    }
    let broken_off = || {
        let name = leave_journal(dir.path(), &frame(&[change(&second, Some(AXIS))]));
        fs::write(dir.path().join("lance/.write.lock"), name).unwrap();
    };
    let store = if by_opening {
        broken_off();
        open(dir.path()).await
    } else {
        let store = open(dir.path()).await;
        broken_off();
        commit_each(&store, &memories[1..]).await;
        store
    };
    assert_stored(&store, &second).await;
    assert_eq!(found(&store, "second").await, 1);
    assert_eq!(found(&store, "common").await, usize::from(!by_opening));
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn replace_table(from: &std::path::Path, to: &std::path::Path, table: &str) {
    let [from, to] = [from, to].map(|dir| dir.join(format!("lance/{table}.lance")));
    fs::remove_dir_all(&to).unwrap();
    copy(&from, &to);
}

#[tokio::test]
async fn journals_are_replayed_in_the_order_of_revisions_however_often() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = numbered(1);
    commit_each(&store, &memories).await;
    let second = says(&memories[0], "second");
    let third = says(&second, "third");
    let hidden = next(&third, |memory| memory.status = Status::Quarantined);
    for revision in [&second, &third] {
        store.commit(vec![change(revision, Some(AXIS))], soon()).await.unwrap();
    }
    store.close(soon()).await.unwrap();
    drop(store);
    let moved = |revision: u64| Record::Workspace(Workspace { revision, ..Workspace::of_root("/here", now()) });
    let tried = trace(&workspace("/here"), "tried again");
    let judged = |revision: u64| Record::Verdict(Trace { revision, ..tried.clone() });
    let later = [frame(&[change(&hidden, Some(AXIS)), moved(3), judged(2)]), frame(&[moved(2), judged(1)])].concat();
    let earlier =
        frame(&[record(&memories[0], Some(AXIS)), change(&second, Some(AXIS)), moved(1), Record::Trace(tried.clone())]);
    for _ in 0..2 {
        leave_journal(dir.path(), &later);
        leave_journal(dir.path(), &earlier);
        let store = open(dir.path()).await;
        assert_stored(&store, &hidden).await;
        assert_eq!((found(&store, "third").await, found(&store, "common").await), (0, 0));
        let workspaces = store.workspaces(soon()).await.unwrap();
        assert_eq!(workspaces.iter().map(|workspace| workspace.revision).collect::<Vec<_>>(), [3]);
        assert_eq!(verdicts(&store, &tried).await, [(2, Outcome::Success)]);
    }
}

async fn verdicts(store: &LanceStore, trace: &Trace) -> Vec<(u64, Outcome)> {
    let mut traces = store.traces(None, everything(), soon()).await.unwrap();
    traces.retain(|stored| stored.trace_id == trace.trace_id);
    assert_eq!(store.trace(trace.trace_id, None, soon()).await.unwrap().as_ref(), traces.first());
    traces.into_iter().map(|trace| (trace.revision, trace.outcome)).collect()
}

#[rstest]
#[case::nothing_of_it_is_in_the_tables(false)]
#[case::the_trace_is(true)]
#[tokio::test]
async fn a_verdict_that_was_being_revised_is_the_new_one_afterwards(
    #[case] applied: bool,
    #[values(false, true)] by_opening: bool,
) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let tried = trace(&workspace("/here"), "task");
    let revised = Trace { revision: 1, outcome: Outcome::Failure, ..tried.clone() };
    store.commit(vec![Record::Trace(tried.clone())], soon()).await.unwrap();
    if applied {
        store.commit(vec![Record::Verdict(revised.clone())], soon()).await.unwrap();
    }
    store.close(soon()).await.unwrap();
    drop(store);
    let broken_off = || {
        let name = leave_journal(dir.path(), &frame(&[Record::Verdict(revised.clone())]));
        fs::write(dir.path().join("lance/.write.lock"), name).unwrap();
    };
    let store = if by_opening {
        broken_off();
        open(dir.path()).await
    } else {
        let store = open(dir.path()).await;
        broken_off();
        commit_each(&store, &numbered(1)).await;
        store
    };
    assert_eq!(verdicts(&store, &tried).await, [(1, Outcome::Failure)]);
    store.maintain(soon()).await.unwrap();
    assert_eq!(verdicts(&store, &tried).await, [(1, Outcome::Failure)]);
}

#[tokio::test]
async fn a_table_that_lost_a_change_gets_it_back_from_the_journals() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let memories = numbered(1);
    commit_each(&store, &memories).await;
    let second = says(&memories[0], "second");
    store.commit(vec![change(&second, Some(AXIS))], soon()).await.unwrap();
    store.close(soon()).await.unwrap();
    drop(store);
    for table in ["memories", "passages"] {
        let newest = table_files(dir.path(), table, "_versions").remove(0);
        fs::OpenOptions::new().write(true).open(newest).unwrap().set_len(0).unwrap();
    }
    let store = open(dir.path()).await;
    assert_stored(&store, &second).await;
    assert_eq!((found(&store, "second").await, found(&store, "common").await), (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_that_change_the_same_memory_at_once_lose_no_change() {
    const WRITERS: usize = 4;
    const EACH: u32 = 5;
    let dir = tempfile::tempdir().unwrap();
    let memories = numbered(1);
    commit_each(&open(dir.path()).await, &memories).await;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (dir, id) = (dir.path().to_owned(), memories[0].id);
        tasks.spawn(async move {
            let store = open(&dir).await;
            let mut changed = 0;
            while changed < EACH {
                let read = store.get(vec![id], soon()).await.unwrap().remove(0).memory;
                let longer = format!("{} more by {writer}", read.content);
                match store.commit(vec![change(&says(&read, &longer), Some(AXIS))], soon()).await {
                    Ok(_) => changed += 1,
                    Err(StoreError::Conflict(conflict)) => assert_eq!(conflict, id),
                    Err(error) => panic!("{error}"),
                }
            }
            store.maintain(soon()).await.unwrap();
        });
    }
    tasks.join_all().await;
    let store = open(dir.path()).await;
    let stored = store.get(vec![memories[0].id], soon()).await.unwrap().remove(0).memory;
    let changes = WRITERS as u32 * EACH;
    assert_eq!(stored.revision, 1 + u64::from(changes));
    for writer in 0..WRITERS {
        assert_eq!(stored.content.matches(&format!("more by {writer}")).count() as u32, EACH);
    }
    assert_stored(&store, &stored).await;
}

#[tokio::test]
async fn a_search_finds_a_memory_all_the_while_it_is_changed() {
    let dir = tempfile::tempdir().unwrap();
    let [writer, reader] = [open(dir.path()).await, open(dir.path()).await];
    let mut current = numbered(1).remove(0);
    let id = current.id;
    commit_each(&writer, std::slice::from_ref(&current)).await;
    let done = std::sync::atomic::AtomicBool::new(false);
    let reading = async {
        let mut searches = 0;
        while !done.load(std::sync::atomic::Ordering::Relaxed) {
            assert_eq!(found(&reader, "title").await, 1, "after {searches} searches");
            assert_eq!(reader.passages(vec![id], soon()).await.unwrap()[&id].len(), 1);
            searches += 1;
        }
    };
    let writing = async {
        for n in 0..10 {
            current = says(&current, &format!("words {n}"));
            writer.commit(vec![change(&current, Some(AXIS))], soon()).await.unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    tokio::join!(reading, writing);
}

#[tokio::test]
async fn earlier_revisions_go_with_upkeep_and_with_the_memory() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path()).await;
    let mut current = numbered(1).remove(0);
    current.content = "xylophonequartz".into();
    commit_each(&store, std::slice::from_ref(&current)).await;
    for n in 0..10 {
        current = says(&current, &format!("harmless {n}"));
        store.commit(vec![change(&current, Some(AXIS))], soon()).await.unwrap();
    }
    store.maintain(soon()).await.unwrap();
    assert_stored(&store, &current).await;
    assert!(holding(dir.path(), "xylophonequartz") > 0, "the journals remember it");
    let erased = store.erase(EraseScope::Memory(current.id), soon()).await.unwrap();
    assert_eq!((erased.memories, erased.passages), (1, 1));
    assert_eq!(holding(dir.path(), "xylophonequartz") + holding(dir.path(), "harmless"), 0);
}
