//! Tests of changed memories, traces and workspaces, and of memories that are stored as they are.

use std::collections::BTreeMap;

use reasoning_bank_domain::memory::trace::{Outcome, Trace};

use super::*;

const EAST: [f32; DIMS] = [1.0, 0.0, 0.0, 0.0];
const NORTH: [f32; DIMS] = [0.0, 1.0, 0.0, 0.0];

async fn stored(store: &Arc<dyn MemoryStore>, id: MemoryId) -> Option<Memory> {
    store.reads().get(vec![id], soon()).await.unwrap().pop().map(|row| row.memory)
}

async fn passages(store: &Arc<dyn MemoryStore>, id: MemoryId) -> Vec<Passage> {
    store.reads().passages(vec![id], soon()).await.unwrap().remove(&id).unwrap_or_default()
}

#[rstest]
#[tokio::test]
async fn a_changed_memory_is_found_by_what_it_says_now_and_by_nothing_else(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let other = memory(&here, "Other", "gauge");
    let first = memory(&here, "Retries", "obsolete advice");
    let old = vec![
        passage(PassageKind::Task, 0, "the obsolete task", EAST),
        passage(PassageKind::Content, 0, "obsolete advice", EAST),
        passage(PassageKind::Content, 1, "more obsolete advice", EAST),
    ];
    let helped = signal(&first, SignalKind::Helpful, now());
    commit(store, vec![record(&other, Some(EAST)), record_with(&first, old), Record::Signal(helped)]).await;

    let second = next(&first, |memory| memory.content = "fresh advice".into());
    let new = vec![passage(PassageKind::Content, 0, "fresh advice", NORTH)];
    let change = Record::Revision { memory: second.clone(), passages: new.clone() };
    assert_eq!(commit(store, vec![change.clone()]).await, Committed::default());

    assert_eq!(stored(store, first.id).await, Some(second.clone()));
    assert_eq!(passages(store, first.id).await, new);
    assert_eq!(found_by_text(store, by_text(&here, "obsolete")).await, []);
    assert_eq!(found_by_text(store, by_text(&here, "fresh")).await, [first.id]);
    let by_vector = store.reads().candidates(by_vector(&here, NORTH), soon()).await.unwrap().vector.unwrap();
    let scores: Vec<(MemoryId, i32)> = by_vector.hits.iter().map(|(id, cosine)| (*id, cosine.round() as i32)).collect();
    assert_eq!(scores, [(first.id, 1), (other.id, 0)]);
    assert_eq!(all_memories(store).await, sorted(vec![first.id, other.id]));
    let row = &store.reads().get(vec![first.id], soon()).await.unwrap()[0];
    assert_eq!(row.evidence.count(SignalKind::Helpful), 1, "evidence is about the memory, not about its words");

    commit(store, vec![change]).await;
    assert_eq!((stored(store, first.id).await, passages(store, first.id).await), (Some(second), new));
}

#[rstest]
#[tokio::test]
async fn a_status_takes_a_memory_out_of_search_and_back(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let mut current = memory(&here, "Title", "common words");
    add(store, std::slice::from_ref(&current)).await;
    let both = || Recall { text: Some("words".into()), ..by_vector(&here, EAST) };
    let states = [Status::Quarantined, Status::Active, Status::Superseded, Status::Archived, Status::Active];
    for (status, revision) in states.into_iter().zip(2..) {
        current = next(&current, |memory| memory.status = status);
        commit(store, vec![change(&current, Some(EAST))]).await;
        let found = store.reads().candidates(both(), soon()).await.unwrap();
        let expected = if status == Status::Active { vec![current.id] } else { Vec::new() };
        assert_eq!((ids(&found.text), ids(&found.vector)), (expected.clone(), expected), "{status:?}");
        assert_eq!(stored(store, current.id).await.unwrap().revision, revision);
        let of_status = MemoryFilter { status: Some(status), ..MemoryFilter::default() };
        assert_eq!(memories(store, of_status, everything()).await, [current.id]);
    }
}

#[rstest]
#[tokio::test]
async fn a_change_of_what_is_not_stored_so_is_refused_with_its_whole_batch(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let first = memory(&here, "Title", "common words");
    add(store, std::slice::from_ref(&first)).await;
    let second = next(&first, |memory| memory.pinned = true);
    commit(store, vec![change(&second, Some(EAST))]).await;

    let [mine, yours] = ["mine", "yours"].map(|text| next(&second, |memory| memory.content = text.into()));
    let stale = next(&first, |memory| memory.content = "of the first".into());
    let ahead = next(&next(&second, |_| ()), |_| ());
    let unknown = memory(&here, "Unknown", "never stored");
    let created_beside = memory(&here, "Beside", "created in the same batch");
    let others = [
        vec![change(&stale, Some(EAST))],
        vec![change(&ahead, Some(EAST))],
        vec![change(&next(&unknown, |_| ()), Some(EAST))],
        vec![change(&mine, Some(EAST)), change(&yours, Some(EAST))],
        vec![record(&created_beside, None), change(&next(&created_beside, |_| ()), Some(EAST))],
    ];
    for (n, refused) in others.into_iter().enumerate() {
        let Some(Record::Revision { memory: asked, .. }) = refused.last() else { panic!() };
        let conflict = Err(StoreError::Conflict(asked.id));
        let beside = memory(&here, &format!("beside {n}"), "must not be stored");
        let around = vec![
            workspace_record("/here"),
            Record::Trace(trace(&here, "task")),
            record(&beside, Some(EAST)),
            Record::Signal(signal(&first, SignalKind::Helpful, now())),
        ];
        assert_eq!(store.commit([around, refused].concat(), soon()).await, conflict, "batch {n}");
    }
    assert_eq!(all_memories(store).await, [first.id]);
    let row = &store.reads().get(vec![first.id], soon()).await.unwrap()[0];
    assert_eq!((&row.memory, row.evidence.count(SignalKind::Helpful)), (&second, 0));
    assert_eq!(store.reads().traces(None, everything(), soon()).await.unwrap(), []);
    assert_eq!(store.reads().workspaces(soon()).await.unwrap(), []);

    store.erase(EraseScope::Memory(first.id), soon()).await.unwrap();
    let erased = store.commit(vec![change(&mine, Some(EAST))], soon()).await;
    assert_eq!(erased, Err(StoreError::Conflict(first.id)));
}

#[rstest]
#[tokio::test]
async fn what_counts_as_the_same_is_what_a_memory_says_now(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let first = memory(&here, "Title", "old words");
    add(store, std::slice::from_ref(&first)).await;
    let second = next(&first, |memory| memory.content = "new words".into());
    commit(store, vec![change(&second, Some(EAST))]).await;
    let [old, new] = ["old words", "new words"].map(|content| memory(&here, "Title", content));
    let committed = commit(store, vec![record(&old, None), record(&new, None)]).await;
    assert_eq!(committed.memories, [MemoryCommit::Created(old.id), MemoryCommit::Reinforced(first.id)]);

    let retired = next(&second, |memory| memory.status = Status::Archived);
    commit(store, vec![change(&retired, Some(EAST))]).await;
    let again = memory(&here, "Title", "new words");
    assert_eq!(commit(store, vec![record(&again, None)]).await.memories, [MemoryCommit::Created(again.id)]);
}

#[rstest]
#[tokio::test]
async fn without_a_confirmation_everything_is_stored_once_whatever_it_says(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let first = memory(&here, "Title", "same words");
    let mut imported = memory(&here, "Title", "same words");
    imported.revision = 4;
    let twin = memory(&here, "Title", "same words");
    add(store, std::slice::from_ref(&first)).await;
    let batch: Vec<Record> = [&imported, &twin, &first].map(|memory| as_it_is(memory, Some(EAST))).to_vec();
    for _ in 0..2 {
        let committed = commit(store, batch.clone()).await.memories;
        assert_eq!(committed, [&imported, &twin, &first].map(|memory| MemoryCommit::Created(memory.id)));
    }
    let all = store.reads().get(vec![first.id, imported.id, twin.id], soon()).await.unwrap();
    assert!(all.iter().all(|row| row.evidence == Default::default()), "{all:?}");
    assert_eq!(all[1].memory, imported);
    let fifth = next(&imported, |memory| memory.content = "other words".into());
    commit(store, vec![change(&fifth, Some(EAST))]).await;
    assert_eq!(stored(store, imported.id).await, Some(fifth));
}

#[rstest]
#[tokio::test]
async fn of_a_workspace_the_highest_revision_stays(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let named =
        |revision: u64, name: &str| Workspace { revision, name: name.into(), ..Workspace::of_root("/here", now()) };
    let names = async || {
        let workspaces = store.reads().workspaces(soon()).await.unwrap();
        workspaces.into_iter().map(|w| w.name).collect::<Vec<_>>()
    };
    commit(store, vec![Record::Workspace(named(0, "registered"))]).await;
    commit(store, vec![Record::Workspace(named(0, "again"))]).await;
    assert_eq!(names().await, ["registered"]);
    commit(store, vec![Record::Workspace(named(2, "moved")), Record::Workspace(named(1, "late"))]).await;
    assert_eq!(names().await, ["moved"]);
    commit(store, vec![Record::Workspace(named(1, "later still")), workspace_record("/there")]).await;
    assert_eq!(names().await.len(), 2);
    assert!(names().await.contains(&"moved".to_owned()));
}

#[rstest]
#[tokio::test]
async fn the_verdict_of_a_trace_is_changed_by_whoever_knows_it_as_it_is_and_is_counted(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let judged = trace(&here, "task");
    let with = |revision: u64, outcome: Outcome| Trace { revision, outcome, ..judged.clone() };
    let (failed, cut) = (with(1, Outcome::Failure), with(2, Outcome::Partial));
    let add = async |trace: &Trace| store.commit(vec![Record::Trace(trace.clone())], soon()).await.unwrap();
    let judge = async |traces: &[&Trace]| {
        let beside = Record::Signal(signal(&memory(&here, "Beside", "words"), SignalKind::Helpful, now()));
        let verdicts = traces.iter().map(|trace| Record::Verdict((*trace).clone()));
        store.commit(std::iter::once(beside).chain(verdicts).collect(), soon()).await.map(drop)
    };
    let refused = Err(StoreError::TraceChanged(judged.trace_id));
    let signals = async || store.reads().signals(None, everything(), soon()).await.unwrap().len();
    let assert_stored = async |expected: &Trace| {
        assert_eq!(store.reads().trace(expected.trace_id, None, soon()).await.unwrap().as_ref(), Some(expected));
        let listed = store.reads().traces(Some(here.clone()), everything(), soon()).await.unwrap();
        assert_eq!(listed, std::slice::from_ref(expected));
        let summary = store.reads().summary(soon()).await.unwrap();
        assert_eq!(summary.traces, BTreeMap::from([(expected.outcome, 1)]));
    };
    assert_eq!(judge(&[&failed]).await, refused, "stored nowhere");
    let in_one = vec![Record::Trace(judged.clone()), Record::Verdict(failed.clone())];
    assert_eq!(store.commit(in_one, soon()).await.map(drop), refused, "not stored before the batch");
    for _ in 0..2 {
        add(&judged).await;
        assert_stored(&judged).await;
    }
    for _ in 0..2 {
        assert_eq!(judge(&[&failed, &failed]).await, Ok(()));
        add(&judged).await;
        assert_stored(&failed).await;
    }
    let known = signals().await;
    for of_another in [with(1, Outcome::Partial), with(3, Outcome::Partial), judged.clone()] {
        assert_eq!(judge(&[&of_another]).await, refused, "{of_another:?}");
    }
    assert_eq!(judge(&[&cut, &with(2, Outcome::Success)]).await, refused, "two at once");
    assert_eq!(signals().await, known, "nothing of a refused batch is stored");
    assert_stored(&failed).await;
    assert_eq!(judge(&[&cut]).await, Ok(()));
    assert_stored(&cut).await;

    let erased = EraseScope::Traces { workspace: Some(here.clone()), before: now() + Duration::from_secs(1) };
    assert_eq!(store.erase(erased, soon()).await.unwrap().traces, 1);
    assert_eq!(judge(&[&with(3, Outcome::Success)]).await, refused, "what is gone does not come back");
    // as a new one it may come at any revision
    add(&failed).await;
    assert_stored(&failed).await;
}
