//! The history: entries of runs, which are listed by run, erased with what they are about, and forgotten in time.

use jiff::SignedDuration;
use reasoning_bank_actors::ports::{HistoryFilter, HistoryOf};
use reasoning_bank_domain::consolidation::{ConsolidationRun, HistoryEntry, RunTrigger};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use uuid::Uuid;

use super::*;

fn run(workspace: &WorkspaceId) -> ConsolidationRun {
    ConsolidationRun::begun(Uuid::now_v7().into(), workspace.clone(), RunTrigger::Person, true, now())
}

fn entry(entry: &HistoryEntry) -> Record {
    Record::History(entry.clone())
}

async fn history(store: &Arc<dyn MemoryStore>, of: HistoryOf) -> Vec<HistoryEntry> {
    let filter = HistoryFilter { workspace: workspace("/here"), of };
    let mut found = store.reads().history(filter, everything(), soon()).await.unwrap();
    found.sort_by_key(|entry| entry.object);
    found
}

async fn listed(store: &Arc<dyn MemoryStore>, run: Option<&ConsolidationRun>) -> Vec<HistoryEntry> {
    history(store, run.map_or(HistoryOf::Runs, |run| HistoryOf::Run(run.run_id))).await
}

#[rstest]
#[tokio::test]
async fn the_history_is_listed_by_run_and_goes_with_what_it_is_about(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let [kept, erased] = [memory(&here, "Kept", "1"), memory(&here, "Erased", "2")];
    let (first, second, other) = (run(&here), run(&here), run(&workspace("/there")));
    let changed = HistoryEntry::changed_memory(&first, &kept, &next(&kept, |_| ()), now());
    let doomed = HistoryEntry::changed_memory(&first, &erased, &next(&erased, |_| ()), now());
    let head = HistoryEntry::of_run(&first, 0);
    let all = [&changed, &doomed, &head, &HistoryEntry::of_run(&second, 0), &HistoryEntry::of_run(&other, 0)];
    commit(store, all.map(entry).to_vec()).await;
    commit(store, vec![entry(&head)]).await;

    let runs = listed(store, None).await;
    assert_eq!(runs.iter().filter_map(|entry| entry.run_id).collect::<Vec<_>>(), [first.run_id, second.run_id]);
    let mut expected = [changed.clone(), doomed, head];
    expected.sort_by_key(|entry| entry.object);
    assert_eq!(listed(store, Some(&first)).await, expected);
    assert_eq!(listed(store, Some(&other)).await, [], "it is of another workspace");

    let ended = HistoryEntry::of_run(&ConsolidationRun { ended_at: Some(now()), ..first.clone() }, 1);
    commit(store, vec![entry(&ended), entry(&HistoryEntry::of_run(&first, 0))]).await;
    assert_eq!(listed(store, None).await[0], ended, "the latest record of a run stays");

    add(store, &[erased.clone(), memory(&here, "Other", "3")]).await;
    store.erase(EraseScope::Memories(vec![erased.id]), soon()).await.unwrap();
    assert_eq!(all_memories(store).await.len(), 1);
    let mut left = [changed, ended];
    left.sort_by_key(|entry| entry.object);
    assert_eq!(listed(store, Some(&first)).await, left);
    store.erase(EraseScope::History { before: now() }, soon()).await.unwrap();
    assert_eq!(listed(store, None).await.len(), 2);
    let later = now().checked_add(SignedDuration::from_secs(1)).unwrap();
    let version = HistoryEntry::earlier_version(&kept, &next(&kept, |_| ()), now());
    commit(store, vec![entry(&version)]).await;
    store.erase(EraseScope::History { before: later }, soon()).await.unwrap();
    assert_eq!(listed(store, None).await, []);
    assert_eq!(history(store, HistoryOf::Memory(kept.id)).await, [version], "what a person changed is kept");

    commit(store, vec![entry(&HistoryEntry::of_run(&second, 0))]).await;
    store.erase(EraseScope::Workspace(here), soon()).await.unwrap();
    assert_eq!(listed(store, None).await, []);
}

/// Reads the patterns that a search of the workspace, and of the team `red`, finds, with their titles.
async fn patterns_of(store: &Arc<dyn MemoryStore>, workspace: &WorkspaceId) -> Vec<(MemoryId, String)> {
    let visible = Visible { workspace: Some(workspace.clone()), team: Some("red".into()), org: None };
    let index = store.reads().patterns(visible, soon()).await.unwrap();
    index.memories().map(|(memory, _)| (memory.id, memory.title.clone())).collect()
}

#[rstest]
#[tokio::test]
async fn patterns_are_given_as_they_are_to_those_who_may_read_them(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = ["/here", "/there"].map(workspace);
    let [own, other] = [(&here, "Own"), (&there, "Other")].map(|(of, title)| pattern(of, title));
    let shared = Memory { scope: Scope::Team, team: Some("red".into()), ..pattern(&there, "Shared") };
    let plain = memory(&here, "Plain", "words");
    add(store, &[own.clone(), other.clone(), shared.clone(), plain.clone()]).await;
    let named = |of: &[&Memory]| {
        let mut named: Vec<(MemoryId, String)> = of.iter().map(|of| (of.id, of.title.clone())).collect();
        named.sort_unstable();
        named
    };
    assert_eq!(patterns_of(store, &here).await, named(&[&own, &shared]));
    assert_eq!(patterns_of(store, &there).await, named(&[&other, &shared]));

    // A memory that is no pattern changes nothing, though it is taken out of the same file.
    commit(store, vec![change(&next(&plain, |memory| memory.title = "Plainer".into()), None)]).await;
    assert_eq!(patterns_of(store, &here).await, named(&[&own, &shared]));
    let renamed = next(&own, |memory| memory.title = "Renamed".into());
    let more = pattern(&here, "More");
    commit(store, vec![change(&renamed, None), record(&more, None)]).await;
    assert_eq!(patterns_of(store, &here).await, named(&[&renamed, &shared, &more]));
    let hidden = next(&renamed, |memory| memory.status = Status::Quarantined);
    commit(store, vec![change(&hidden, None)]).await;
    assert_eq!(patterns_of(store, &here).await, named(&[&shared, &more]));
    while store.maintain(soon()).await.unwrap().more {}
    assert_eq!(patterns_of(store, &here).await, named(&[&shared, &more]), "after upkeep");

    store.erase(EraseScope::Memory(shared.id), soon()).await.unwrap();
    assert_eq!(patterns_of(store, &here).await, named(&[&more]));
    store.erase(EraseScope::Workspace(here.clone()), soon()).await.unwrap();
    assert_eq!(patterns_of(store, &here).await, []);
    assert_eq!(patterns_of(store, &there).await, named(&[&other]));
}

#[rstest]
#[tokio::test]
async fn patterns_are_listed_alone_where_they_are_asked_for(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let pattern = pattern(&here, "Pattern");
    add(store, &[memory(&here, "Plain", "1"), pattern.clone()]).await;
    let filter = MemoryFilter { patterns_only: true, ..MemoryFilter::default() };
    assert_eq!(memories(store, filter, everything()).await, [pattern.id]);
}
