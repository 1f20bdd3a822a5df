//! Tests of reading by id, by conditions and in pages, evidence with it.

use std::collections::BTreeMap;

use reasoning_bank_actors::ports::Held;
use reasoning_bank_domain::memory::MemoryOutcome;
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use uuid::Uuid;

use super::*;

#[rstest]
#[tokio::test]
async fn get_answers_in_the_order_asked_and_leaves_out_what_it_does_not_know(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let stored: Vec<Memory> = (0..5).map(|n| memory(&here, &format!("Title {n}"), "content")).collect();
    add(&opened.store, &stored).await;
    let asked = vec![stored[3].id, Uuid::now_v7().into(), stored[0].id, stored[4].id];
    let rows = opened.store.reads().get(asked, soon()).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.memory.id).collect::<Vec<_>>(), [stored[3].id, stored[0].id, stored[4].id]);
    assert!(opened.store.reads().get(Vec::new(), soon()).await.unwrap().is_empty());
}

#[rstest]
#[tokio::test]
async fn evidence_is_the_fold_of_all_signals_wherever_it_is_read(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let [used, idle] = ["used", "idle"].map(|title| memory(&here, title, "common words"));
    add(store, &[used.clone(), idle.clone()]).await;
    let later = now() + Duration::from_secs(3600);
    let signals = [
        signal(&used, SignalKind::Helpful, later),
        signal(&used, SignalKind::Helpful, now()),
        signal(&used, SignalKind::NotHelpful, later + Duration::from_secs(60)),
        signal(&used, SignalKind::Injected, later + Duration::from_secs(90)),
    ];
    for signal in &signals {
        commit(store, vec![Record::Signal(signal.clone())]).await;
    }
    commit(store, signals.iter().cloned().map(Record::Signal).collect()).await;

    let candidates = store.reads().candidates(by_text(&here, "words"), soon()).await.unwrap();
    let got = store.reads().get(vec![used.id, idle.id], soon()).await.unwrap();
    let listed = store.reads().memories(MemoryFilter::default(), everything(), soon()).await.unwrap();
    let of = |id| candidates.facts.iter().find(|(facts, _)| facts.id == id).unwrap().1.clone();
    for evidence in [of(used.id), got[0].evidence.clone(), listed[0].evidence.clone()] {
        assert_eq!(evidence.count(SignalKind::Helpful), 2);
        assert_eq!(evidence.count(SignalKind::NotHelpful), 1);
        assert_eq!(evidence.usage_count(), 1);
        assert_eq!(evidence.last_used_at, Some(later));
    }
    assert_eq!(of(idle.id), Default::default());
}

#[rstest]
#[tokio::test]
async fn pages_cover_everything_once_and_in_order(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let stored: Vec<Memory> =
        (0..25).map(|n| memory(if n % 5 == 0 { &there } else { &here }, &format!("Title {n}"), "content")).collect();
    add(&opened.store, &stored).await;
    let filter =
        MemoryFilter { workspace: Some(here.clone()), status: Some(Status::Active), ..MemoryFilter::default() };
    let mut seen = Vec::new();
    loop {
        let page = Page { after: seen.last().map(|id: &MemoryId| id.uuid()), ..Page::first(6) };
        let page = memories(&opened.store, filter.clone(), page).await;
        assert!(page.len() <= 6);
        if page.is_empty() {
            break;
        }
        seen.extend(page);
    }
    let expected = sorted(stored.iter().filter(|m| m.workspace_id == here).map(|m| m.id).collect());
    assert_eq!(seen, expected);
    let teams = MemoryFilter { scope: Some(Scope::Team), ..MemoryFilter::default() };
    assert_eq!(memories(&opened.store, teams, everything()).await, []);
}

#[rstest]
#[tokio::test]
async fn memories_are_found_by_conditions_alone_page_by_page(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let numbered = |n: usize| {
        let mut memory = memory(if n.is_multiple_of(7) { &there } else { &here }, &format!("Title {n}"), "content");
        memory.outcome = if n.is_multiple_of(2) { MemoryOutcome::Mixed } else { MemoryOutcome::Success };
        memory.pattern_tags = vec![format!("tag{}", n % 3)];
        memory
    };
    let stored: Vec<Memory> = (0..25).map(numbered).collect();
    add(&opened.store, &stored).await;
    let archived = next(&stored[2], |memory| memory.status = Status::Archived);
    commit(&opened.store, vec![change(&archived, Some([1.0, 0.0, 0.0, 0.0]))]).await;
    let conditions =
        Conditions { outcome: Some(MemoryOutcome::Mixed), tags: vec!["tag2".into()], ..Conditions::default() };
    let filter = |status| MemoryFilter {
        workspace: Some(here.clone()),
        status,
        conditions: conditions.clone(),
        ..MemoryFilter::default()
    };
    let expected = |active: bool| {
        let wanted = stored.iter().filter(|m| m.workspace_id == here && conditions.hold(m));
        let wanted = wanted.filter(|m| !active || m.id != archived.id);
        wanted.rev().map(|memory| memory.id).collect::<Vec<_>>()
    };
    assert!(expected(true).len() >= 2 && expected(false).len() == expected(true).len() + 1);
    for (status, active) in [(None, false), (Some(Status::Active), true)] {
        let (mut seen, mut page) = (Vec::new(), Page::newest(2));
        loop {
            let found = memories(&opened.store, filter(status), page.clone()).await;
            let Some(last) = found.last() else { break };
            assert!(found.len() <= 2);
            page = page.after(last.uuid());
            seen.extend(found);
        }
        assert_eq!(seen, expected(active));
    }
    assert_eq!(memories(&opened.store, filter(Some(Status::Archived)), everything()).await, [archived.id]);
    let anywhere = MemoryFilter { workspace: None, ..filter(None) };
    let everywhere = stored.iter().filter(|memory| conditions.hold(memory)).map(|memory| memory.id).collect();
    assert_eq!(memories(&opened.store, anywhere.clone(), everything()).await, sorted(everywhere));
    let teams = MemoryFilter { scope: Some(Scope::Team), ..anywhere };
    assert_eq!(memories(&opened.store, teams, everything()).await, []);
}

/// Returns all ids, read in pages from new to old.
async fn in_pages_of_4(read: impl AsyncFn(Page) -> Vec<Uuid>) -> Vec<Uuid> {
    let (mut seen, mut page): (Vec<Uuid>, _) = (Vec::new(), Page::newest(4));
    loop {
        let ids = read(page.clone()).await;
        let Some(last) = ids.last() else { return seen };
        assert!(ids.len() <= 4);
        page = page.after(*last);
        seen.extend(ids);
    }
}

#[rstest]
#[tokio::test]
async fn pages_run_from_new_to_old_as_well(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let stored: Vec<Memory> =
        (0..13).map(|n| memory(if n % 4 == 0 { &there } else { &here }, &format!("Title {n}"), "content")).collect();
    // in an order that is none, and in several fragments
    for memory in stored.iter().rev().chain(&stored).skip(5).step_by(3).chain(&stored) {
        let tried = Trace { trace_id: memory.id.uuid().into(), ..trace(&memory.workspace_id, &memory.title) };
        let helped = Signal { id: memory.id.uuid().into(), ..signal(memory, SignalKind::Helpful, now()) };
        commit(store, vec![Record::Trace(tried), record(memory, None), Record::Signal(helped)]).await;
    }
    let expected: Vec<Uuid> =
        stored.iter().rev().filter(|m| m.workspace_id == here).map(|memory| memory.id.uuid()).collect();
    let own = Some(here.clone());
    let filter = MemoryFilter { workspace: own.clone(), ..MemoryFilter::default() };
    let memories = async |page| -> Vec<Uuid> {
        let rows = store.reads().memories(filter.clone(), page, soon()).await.unwrap();
        rows.into_iter().map(|row| row.memory.id.uuid()).collect()
    };
    let traces = async |page| -> Vec<Uuid> {
        let traces = store.reads().traces(own.clone(), page, soon()).await.unwrap();
        traces.into_iter().map(|trace| trace.trace_id.uuid()).collect()
    };
    let signals = async |page| -> Vec<Uuid> {
        let signals = store.reads().signals(own.clone(), page, soon()).await.unwrap();
        signals.into_iter().map(|signal| signal.id.uuid()).collect()
    };
    assert_eq!(in_pages_of_4(memories).await, expected);
    assert_eq!(in_pages_of_4(traces).await, expected);
    assert_eq!(in_pages_of_4(signals).await, expected);
}

#[rstest]
#[tokio::test]
async fn signals_are_found_by_their_memories_and_a_workspace_is_counted(
    #[values(InMemory, Lance, Resident)] backend: Backend,
) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let [a, b, c] = [memory(&here, "A", "1"), memory(&here, "B", "2"), memory(&there, "C", "3")];
    add(store, &[a.clone(), b.clone(), c.clone()]).await;
    let mut signals: Vec<Signal> =
        [&a, &b, &c, &a].map(|memory| signal(memory, SignalKind::Helpful, now())).into_iter().collect();
    // somebody else's, about a memory of here
    signals[3].workspace_id = there.clone();
    let mut batch: Vec<Record> = signals.iter().cloned().map(Record::Signal).collect();
    batch.push(Record::Trace(trace(&here, "task")));
    batch.push(Record::Job(job(&there, "session", now())));
    commit(store, batch).await;
    let about = async |ids: &[MemoryId], page| store.reads().signals_about(ids.to_vec(), page, soon()).await.unwrap();
    let all = [0, 2, 3].map(|n: usize| signals[n].clone());
    assert_eq!(about(&[a.id, c.id], everything()).await, all);
    assert_eq!(about(&[a.id, c.id], Page::first(2)).await, all[..2]);
    assert_eq!(about(&[a.id, c.id], Page::first(2).after(all[1].id.uuid())).await, all[2..]);
    assert_eq!(about(&[], everything()).await, []);
    let held = async |id: &WorkspaceId| store.reads().held(id.clone(), soon()).await.unwrap();
    assert_eq!(held(&here).await, Held { memories: 2, traces: 1, signals: 2, jobs: 0 });
    assert_eq!(held(&there).await, Held { memories: 1, traces: 0, signals: 2, jobs: 1 });
    assert_eq!(held(&workspace("/nowhere")).await, Held::default());
}

#[rstest]
#[tokio::test]
async fn descendants_are_found_by_parent_and_by_source(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let [root, mut child, mut mixed, other] =
        ["root", "child", "mixed", "other"].map(|title| memory(&here, title, "content"));
    child.parent_memory_id = Some(root.id);
    mixed.derived_from = vec![other.id, root.id];
    add(&opened.store, &[&root, &child, &mixed, &other].map(Memory::clone)).await;
    let descendants = async |ids: &[MemoryId], page| {
        let rows = opened.store.reads().derived_from(ids.to_vec(), page, soon()).await.unwrap();
        rows.into_iter().map(|row| row.memory.id).collect::<Vec<_>>()
    };
    assert_eq!(descendants(&[root.id], everything()).await, sorted(vec![child.id, mixed.id]));
    assert_eq!(descendants(&[other.id], everything()).await, [mixed.id]);
    assert_eq!(descendants(&[child.id], everything()).await, []);
    assert_eq!(descendants(&[], everything()).await, []);
    // many at once, each found once, in pages
    let many: Vec<MemoryId> = (0..400).map(|_| Uuid::now_v7().into()).chain([root.id, other.id, child.id]).collect();
    assert_eq!(descendants(&many, everything()).await, sorted(vec![child.id, mixed.id]));
    assert_eq!(descendants(&many, Page::first(1)).await, [child.id]);
    assert_eq!(descendants(&many, Page::first(9).after(child.id.uuid())).await, [mixed.id]);
    assert_eq!(descendants(&many, Page::newest(1)).await, [mixed.id]);
    assert_eq!(descendants(&many, Page::newest(9).after(mixed.id.uuid())).await, [child.id]);
}

#[rstest]
#[tokio::test]
async fn relations_are_read_without_the_memories_they_are_of(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let [here, there] = [workspace("/here"), workspace("/there")];
    let lineage = async |page| store.reads().lineage(page, soon()).await.unwrap();
    assert_eq!(lineage(everything()).await, []);
    let [root, mut child, mut mixed, mut both] =
        ["root", "child", "mixed", "both"].map(|title| memory(&here, title, "content"));
    let gone = MemoryId::from(Uuid::now_v7());
    child.parent_memory_id = Some(root.id);
    (mixed.derived_from, mixed.workspace_id) = (vec![child.id, gone, root.id], there);
    (both.parent_memory_id, both.derived_from) = (Some(child.id), vec![child.id, root.id]);
    both.status = Status::Quarantined;
    add(store, &[&both, &root, &mixed, &child].map(Memory::clone)).await;
    let links = [
        (child.id, vec![root.id]),
        (mixed.id, sorted(vec![root.id, child.id, gone])),
        (both.id, sorted(vec![root.id, child.id])),
    ];
    assert_eq!(lineage(everything()).await, links);
    assert_eq!(lineage(Page::first(2)).await, links[..2]);
    assert_eq!(lineage(Page::first(2).after(mixed.id.uuid())).await, links[2..]);
    assert_eq!(lineage(Page::newest(1)).await, links[2..]);
    assert_eq!(lineage(Page::newest(1).after(mixed.id.uuid())).await, links[..1]);

    let orphaned = next(&child, |memory| memory.parent_memory_id = None);
    commit(store, vec![change(&orphaned, None)]).await;
    assert_eq!(lineage(everything()).await, links[1..]);
}

#[rstest]
#[tokio::test]
async fn passages_are_read_for_many_memories_at_once(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let store = &opened.store;
    let here = workspace("/here");
    let stored: Vec<Memory> = (0..5).map(|n| memory(&here, &format!("Title {n}"), "content")).collect();
    let of = |memory: &Memory, count: u32| {
        let passages =
            (0..count).map(|n| passage(PassageKind::Content, n, &format!("{} {n}", memory.title), [n as f32; DIMS]));
        passages.collect::<Vec<_>>()
    };
    commit(store, stored.iter().zip(0..).map(|(memory, n)| record_with(memory, of(memory, n))).collect()).await;
    let asked = (0..1_500).map(|_| Uuid::now_v7().into()).chain([3, 0, 2].map(|n: usize| stored[n].id)).collect();
    let expected = [3, 2].map(|n: usize| (stored[n].id, of(&stored[n], n as u32)));
    assert_eq!(store.reads().passages(asked, soon()).await.unwrap(), BTreeMap::from(expected));
}

#[rstest]
#[tokio::test]
async fn upkeep_changes_nothing_that_can_be_read(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let here = workspace("/here");
    let stored: Vec<Memory> = (0..12).map(|n| memory(&here, &format!("Title {n}"), "common words")).collect();
    for memory in &stored {
        add(&opened.store, std::slice::from_ref(memory)).await;
    }
    let before = sorted(found_by_text(&opened.store, by_text(&here, "words")).await);
    opened.store.maintain(soon()).await.unwrap();
    assert_eq!(sorted(found_by_text(&opened.store, by_text(&here, "words")).await), before);
    assert_eq!(before.len(), stored.len());
    assert_eq!(all_memories(&opened.store).await, before);
}

#[rstest]
#[tokio::test]
async fn of_many_ids_those_that_are_stored_are_told(#[values(InMemory, Lance, Resident)] backend: Backend) {
    let opened = backend.open().await;
    let kept = memory(&workspace("/here"), "Kept", "content");
    let (helped, tried) = (signal(&kept, SignalKind::Helpful, now()), trace(&workspace("/here"), "the task"));
    let queued = job(&workspace("/here"), "session", now());
    let stored = BTreeSet::from([kept.id.uuid(), helped.id.uuid(), tried.trace_id.uuid(), queued.id.uuid()]);
    let batch = vec![record(&kept, None), Record::Signal(helped), Record::Trace(tried), Record::Job(queued)];
    commit(&opened.store, batch).await;
    let asked: Vec<Uuid> = stored.iter().copied().chain((0..500).map(Uuid::from_u128)).collect();
    let found = opened.store.reads().existing_ids(asked, soon()).await.unwrap();
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), stored);
}
