//! Tests of erasing: what goes is gone, and the rest stays.

use reasoning_bank_actors::ports::Erased;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::WorkspaceId;

use super::*;

#[rstest]
#[tokio::test]
async fn an_erased_memory_is_gone_with_passages_and_signals_and_can_be_stored_again(
    #[values(InMemory, Lance, Resident)] backend: Backend,
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
    assert_eq!(all_memories(store).await, [spared.id]);
    assert_eq!(found_by_text(store, by_text(&here, "words doomed")).await, [spared.id]);
    assert_eq!(store.reads().get(vec![spared.id], soon()).await.unwrap()[0].evidence.count(SignalKind::Helpful), 1);
    assert_eq!(store.erase(EraseScope::Memory(doomed.id), soon()).await.unwrap(), Default::default());

    add(store, std::slice::from_ref(&doomed)).await;
    assert_eq!(found_by_text(store, by_text(&here, "doomed")).await, [doomed.id]);
    assert_eq!(store.reads().get(vec![doomed.id], soon()).await.unwrap()[0].evidence, Default::default());
}

#[rstest]
#[tokio::test]
async fn an_erased_workspace_leaves_only_what_it_shares(#[values(InMemory, Lance, Resident)] backend: Backend) {
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
    let left: BTreeSet<MemoryId> = all_memories(store).await.into_iter().collect();
    assert_eq!(left, BTreeSet::from([shared.id, foreign.id]));
    assert_eq!(found_by_text(store, by_text(&here, "words")).await, []);
    assert_eq!(store.reads().traces(None, everything(), soon()).await.unwrap(), [kept_trace]);
    let workspaces = store.reads().workspaces(soon()).await.unwrap();
    assert_eq!(workspaces.iter().map(|w| w.id.clone()).collect::<Vec<_>>(), [there]);
}

#[rstest]
#[tokio::test]
async fn traces_go_by_their_age_and_what_was_learned_from_them_stays(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let hours = |hours: i64| now() + jiff::SignedDuration::from_hours(hours);
    let made = |workspace, at| Trace { created_at: hours(at), ..trace(workspace, "task") };
    let [old, exact, young, foreign] = [made(&here, 0), made(&here, 5), made(&here, 9), made(&there, 1)];
    let learned = Memory { trace_id: Some(old.trace_id), ..memory(&here, "learned", "common words") };
    add(store, std::slice::from_ref(&learned)).await;
    let all = [&young, &exact, &old, &foreign].map(|trace| Record::Trace(trace.clone()));
    commit(store, all.to_vec()).await;
    let left = async || store.reads().traces(None, everything(), soon()).await.unwrap();
    let before =
        |workspace: Option<&WorkspaceId>, at| EraseScope::Traces { workspace: workspace.cloned(), before: hours(at) };
    let erase = async |scope| store.erase(scope, soon()).await.unwrap();

    assert_eq!(erase(before(None, 0)).await, Erased::default());
    assert_eq!(left().await.len(), 4);
    let only_traces = |traces| Erased { traces, ..Erased::default() };
    assert_eq!(erase(before(Some(&here), 5)).await, only_traces(1));
    assert_eq!(left().await, [exact, young.clone(), foreign]);
    assert_eq!(erase(before(None, 6)).await, only_traces(2));
    assert_eq!(left().await, [young]);
    assert_eq!(found_by_text(store, by_text(&here, "words")).await, [learned.id]);

    commit(store, vec![Record::Trace(old.clone())]).await;
    assert_eq!(left().await.len(), 2, "what was erased may be stored again");
}
