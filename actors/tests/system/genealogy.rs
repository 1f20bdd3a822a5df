//! The tree around a memory, over a store.

use std::time::Duration;

use reasoning_bank_actors::memories::RecordRequest;
use reasoning_bank_actors::ports::{Batch, MemoryStore, Record};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::evidence::genealogy::{EdgeKind, MAX_NODES, Node};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, Scope, Status, Trust};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::retrieval::responses::RecordStatus;
use rstest::rstest;

use crate::support::*;

fn ids(nodes: &[Node]) -> Vec<MemoryId> {
    nodes.iter().map(|node| node.id).collect()
}

fn child_of(parent: MemoryId, n: usize) -> RecordRequest {
    RecordRequest { parent_memory_id: Some(parent), ..lesson(&format!("Lesson {n}"), &format!("content{n} word{n}")) }
}

#[tokio::test(start_paused = true)]
async fn it_shows_where_a_memory_came_from_and_what_came_of_it() {
    let world = world(good_model()).await;
    let root = world.recorded(lesson("Root", "alpha")).await;
    let side = world.recorded(lesson("Side", "beta")).await;
    let both = RecordRequest { derived_from: vec![side], ..child_of(root, 1) };
    let middle = world.recorded(both).await;
    let leaf = world.recorded(child_of(middle, 2)).await;
    let memories = &world.handle.memories;
    let tree = memories.genealogy(middle, &project(), None, soon()).await.unwrap();
    assert_eq!((ids(&tree.ancestors), ids(&tree.descendants)), (vec![root, side], vec![leaf]));
    assert!(!tree.truncated);
    assert_eq!(tree.edges.iter().filter(|edge| edge.kind == EdgeKind::Parent).count(), 2);
    assert_eq!(tree.tree.lines().count(), 5, "{}", tree.tree);
    assert_eq!(memories.genealogy(middle, &elsewhere(), None, soon()).await.unwrap_err().code(), Code::NotFound);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_depth_cuts_it_and_says_so_only_where_there_is_more() {
    let world = world(good_model()).await;
    let mut line = vec![world.recorded(lesson("Lesson 0", "content0 word0")).await];
    for n in 1..7 {
        line.push(world.recorded(child_of(line[n - 1], n)).await);
    }
    let memories = &world.handle.memories;
    let near = memories.genealogy(line[3], &project(), Some(1), soon()).await.unwrap();
    assert_eq!((ids(&near.ancestors), ids(&near.descendants)), (vec![line[2]], vec![line[4]]));
    assert!(near.truncated);
    let whole = memories.genealogy(line[3], &project(), Some(3), soon()).await.unwrap();
    assert_eq!((whole.ancestors.len(), whole.descendants.len(), whole.truncated), (3, 3, false));
    let alone = memories.genealogy(line[3], &project(), Some(0), soon()).await.unwrap();
    assert_eq!((alone.ancestors.len(), alone.descendants.len(), alone.truncated), (0, 0, true));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_workspace_cannot_read_is_not_in_it() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let private = world.recorded(lesson("Private", "alpha")).await;
    let shared = RecordRequest { scope: Scope::Team, ..child_of(private, 1) };
    let shared = world.recorded(shared).await;
    world.recorded(child_of(shared, 2)).await;
    let seen = world.handle.memories.genealogy(shared, &elsewhere(), None, soon()).await.unwrap();
    assert!(seen.ancestors.is_empty() && seen.descendants.is_empty() && seen.edges.is_empty(), "{}", seen.tree);
    let own = world.handle.memories.genealogy(shared, &project(), None, soon()).await.unwrap();
    assert_eq!((own.ancestors.len(), own.descendants.len()), (1, 1));
    world.stop().await;
}

fn numbered(n: u128) -> MemoryId {
    uuid::Uuid::from_u128(n).into()
}

/// Imports memories with relations, each with the memory that it came from.
async fn import(world: &World, relations: &[(u128, Option<u128>)]) {
    let relations = relations.iter().map(|(n, parent)| (*n, parent.map(numbered), Vec::new()));
    import_all(world, relations, |_| {}).await;
}

async fn import_all(
    world: &World,
    relations: impl Iterator<Item = (u128, Option<MemoryId>, Vec<MemoryId>)>,
    change: impl Fn(&mut Memory),
) {
    let template = world.recorded(lesson("Template", "alpha")).await;
    let passages = world.passages(template).await;
    let template = world.memories().await.remove(0);
    let memory = |(n, parent_memory_id, derived_from)| {
        let mut memory = Memory { id: numbered(n), parent_memory_id, derived_from, ..template.clone() };
        change(&mut memory);
        Record::Memory { memory, passages: passages.clone(), confirm: None }
    };
    let batch: Batch = relations.map(memory).collect();
    world.store.commit(batch, soon()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_leads_nowhere() {
    let world = world(good_model()).await;
    // 2 belongs to somebody else; 3 came from it and, a step further away, from 5
    let relations = [(1, None), (2, Some(1)), (4, Some(1)), (5, Some(4)), (3, Some(2)), (6, Some(2)), (7, Some(3))];
    let relations = relations.map(|(n, parent): (u128, Option<u128>)| {
        (n, parent.map(numbered), if n == 3 { vec![numbered(5)] } else { Vec::new() })
    });
    let hide = |memory: &mut Memory| {
        if memory.id == numbered(2) {
            memory.workspace_id = WorkspaceId::of_root("/home/me/other");
        }
    };
    import_all(&world, relations.into_iter(), hide).await;
    let tree = async |n, depth| world.handle.memories.genealogy(numbered(n), &project(), depth, soon()).await.unwrap();
    let whole = tree(1, None).await;
    assert_eq!((ids(&whole.descendants), whole.truncated), ([4, 5, 3, 7].map(numbered).to_vec(), false));
    let near = tree(1, Some(2)).await;
    assert_eq!((ids(&near.descendants), near.truncated), ([4, 5].map(numbered).to_vec(), true));
    let up = tree(7, None).await;
    assert_eq!((ids(&up.ancestors), up.truncated), ([3, 5, 4, 1].map(numbered).to_vec(), false));
    assert_eq!(tree(6, None).await.nodes().count(), 1);
    world.stop().await;
}

/// Each came from the one before.
fn line(n: u128) -> Option<u128> {
    n.checked_sub(1).filter(|parent| *parent > 0)
}

fn all_of_the_first(n: u128) -> Option<u128> {
    (n > 1).then_some(1)
}

/// A hundred of the first, and a hundred of each of them.
fn in_two_levels(n: u128) -> Option<u128> {
    (n > 1).then(|| if n <= 101 { 1 } else { n % 100 + 2 })
}

#[rstest]
#[case::a_line(line, &[(1, 10_000), (5_000, 10_000), (10_000, 10_000)])]
#[case::a_fan(all_of_the_first, &[(1, 10_000), (5_000, 2), (10_000, 2)])]
#[case::a_tree(in_two_levels, &[(1, 10_000), (50, 101), (10_000, 3)])]
#[tokio::test]
async fn ten_thousand_come_whole_and_soon_whomever_is_asked_for(
    #[case] parent: fn(u128) -> Option<u128>,
    #[case] lines: &[(u128, usize)],
) {
    let world = world(good_model()).await;
    let relations: Vec<(u128, Option<u128>)> = (1..=MAX_NODES as u128).map(|n| (n, parent(n))).collect();
    import(&world, &relations).await;
    for (n, own_line) in lines {
        let tree = world.handle.memories.genealogy(numbered(*n), &project(), None, soon()).await.unwrap();
        assert_eq!((tree.nodes().count(), tree.truncated), (MAX_NODES, false), "of {n}");
        assert_eq!(1 + tree.ancestors.len() + tree.descendants.len(), *own_line, "of {n}");
        assert_eq!((tree.edges.len(), tree.tree.lines().count()), (MAX_NODES - 1, MAX_NODES), "of {n}");
        assert!(tree.dot().lines().count() > 2 * MAX_NODES && tree.mermaid().lines().count() > 2 * (MAX_NODES - 1));
    }
    world.stop().await;
}

#[tokio::test]
async fn ten_thousand_descendants_are_quarantined_and_taken_back() {
    let world = world(good_model()).await;
    let relations: Vec<(u128, Option<u128>)> = (1..=MAX_NODES as u128).map(|n| (n, line(n))).collect();
    import(&world, &relations).await;
    for (undo, status) in [(false, Status::Quarantined), (true, Status::Active)] {
        let memories = &world.handle.memories;
        let changed = memories.quarantine(numbered(2), &project(), true, undo, soon()).await.unwrap();
        assert_eq!((changed.changed.len(), changed.truncated), (MAX_NODES - 1, false));
        assert_eq!(changed.changed[..2], [numbered(2), numbered(3)]);
        let stored = world.memories().await;
        // beside them the first, and the one that all were made like
        let expected = if undo { MAX_NODES + 1 } else { MAX_NODES - 1 };
        assert_eq!(stored.iter().filter(|memory| memory.status == status).count(), expected);
        assert_eq!(world.passages(numbered(7)).await, world.passages(numbered(1)).await);
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_circle_in_what_is_stored_ends() {
    let world = world(good_model()).await;
    import(&world, &[(1, Some(3)), (2, Some(1)), (3, Some(2)), (4, Some(4))]).await;
    let memories = &world.handle.memories;
    let tree = memories.genealogy(numbered(1), &project(), None, soon()).await.unwrap();
    assert_eq!((tree.nodes().count(), tree.edges.len()), (3, 3));
    let own = memories.genealogy(numbered(4), &project(), None, soon()).await.unwrap();
    assert_eq!((own.nodes().count(), own.edges.len()), (1, 0));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_is_too_large_is_cut() {
    let world = world(good_model()).await;
    let many: Vec<(u128, Option<u128>)> = (1..=MAX_NODES as u128 + 5).map(|n| (n, (n > 1).then_some(1))).collect();
    import(&world, &many).await;
    let root = numbered(1);
    let tree = world.handle.memories.genealogy(root, &project(), None, soon()).await.unwrap();
    assert_eq!((tree.nodes().count(), tree.truncated), (MAX_NODES, true));
    let late = Deadline::after(Duration::ZERO);
    let error = world.handle.memories.genealogy(root, &project(), None, late).await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lesson_that_is_learned_again_brings_its_sources_along() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let words = "double the delay after each failed attempt and add jitter";
    let known = world.recorded(lesson("Retry with backoff", words)).await;
    let source = world.recorded(lesson("Close files", "before renaming them")).await;
    let from_model = RecordRequest { trust: Trust::Model, ..lesson("Sort first", "then compare neighbours only") };
    let less_trusted = world.recorded(from_model).await;
    let again = |derived_from: Vec<MemoryId>| RecordRequest { derived_from, ..lesson("Retry with backoff", words) };
    let confirmed = memories.record(again(vec![known, source, less_trusted]), soon()).await.unwrap();
    assert_eq!((confirmed.id, confirmed.status), (known, RecordStatus::Reinforced));
    let view = memories.get(known, &project(), soon()).await.unwrap();
    assert_eq!((&view.derived_from, view.evolution_stage, view.trust), (&vec![source], 1, Trust::Agent));

    let child =
        world.recorded(RecordRequest { derived_from: vec![known], ..lesson("Cap the pause", "at a minute") }).await;
    memories.record(again(vec![child, source]), soon()).await.unwrap();
    let after = memories.get(known, &project(), soon()).await.unwrap();
    assert_eq!(after.derived_from, [source], "what came from it does not become its source");
    let tree = memories.genealogy(child, &project(), None, soon()).await.unwrap();
    assert_eq!(tree.ancestors.len(), 2);
    world.stop().await;
}
