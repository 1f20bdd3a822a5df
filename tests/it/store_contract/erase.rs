//! Erasing: what goes, what stays, and that it does.

use super::*;

#[rstest]
#[tokio::test]
async fn an_erased_memory_is_gone_with_passages_and_signals_and_can_be_stored_again(
    #[values(InMemory, Lance)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let [doomed, spared] = ["doomed", "spared"].map(|title| memory(&here, title, "common words"));
    add(store, &[doomed.clone(), spared.clone()]).await;
    let signals = [&doomed, &doomed, &spared].map(|m| Record::Signal(signal(m, SignalKind::Helpful, now())));
    commit(store, signals.to_vec()).await;

    let erased = store.erase(EraseScope::Memory(doomed.id), soon()).await.unwrap();
    assert_eq!((erased.memories, erased.passages, erased.signals, erased.traces), (1, 1, 2, 0));
    assert_eq!(memories(store, ALL, everything()).await, [spared.id]);
    assert_eq!(found_by_text(store, by_text(&here, "words doomed")).await, [spared.id]);
    assert_eq!(store.get(vec![spared.id], soon()).await.unwrap()[0].evidence.count(SignalKind::Helpful), 1);
    assert_eq!(store.erase(EraseScope::Memory(doomed.id), soon()).await.unwrap(), Default::default());

    add(store, std::slice::from_ref(&doomed)).await;
    assert_eq!(found_by_text(store, by_text(&here, "doomed")).await, [doomed.id]);
    assert_eq!(store.get(vec![doomed.id], soon()).await.unwrap()[0].evidence, Default::default());
}

#[rstest]
#[tokio::test]
async fn an_erased_workspace_leaves_only_what_it_shares(#[values(InMemory, Lance)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let own: Vec<Memory> = (0..3).map(|n| memory(&here, &format!("own {n}"), "common words")).collect();
    let mut shared = memory(&here, "shared", "common words");
    (shared.scope, shared.team) = (Scope::Team, Some("red".into()));
    let foreign = memory(&there, "foreign", "common words");
    add(store, &own).await;
    add(store, &[shared.clone(), foreign.clone()]).await;
    let kept_trace = trace(&there, "task");
    let batch = vec![
        workspace_record("/here"),
        workspace_record("/there"),
        Record::Trace(trace(&here, "task")),
        Record::Trace(kept_trace.clone()),
        Record::Signal(signal(&own[0], SignalKind::Helpful, now())),
        Record::Signal(signal(&foreign, SignalKind::Helpful, now())),
    ];
    commit(store, batch).await;

    let erased = store.erase(EraseScope::Workspace(here.clone()), soon()).await.unwrap();
    assert_eq!((erased.memories, erased.passages, erased.traces, erased.signals), (3, 3, 1, 1));
    let left: BTreeSet<MemoryId> = memories(store, ALL, everything()).await.into_iter().collect();
    assert_eq!(left, BTreeSet::from([shared.id, foreign.id]));
    assert_eq!(found_by_text(store, by_text(&here, "words")).await, []);
    let scan = async |filter| store.scan(filter, everything(), soon()).await.unwrap();
    assert_eq!(scan(Filter::Traces { workspace: None }).await, Scanned::Traces(vec![kept_trace]));
    let Scanned::Workspaces(workspaces) = scan(Filter::Workspaces).await else { panic!("no workspaces") };
    assert_eq!(workspaces.iter().map(|w| w.id.clone()).collect::<Vec<_>>(), [there]);
}
