//! The tree around a memory, over a store.

use std::time::Duration;

use reasoning_bank_actors::memories::RecordRequest;
use reasoning_bank_actors::ports::{Batch, MemoryStore, Record};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::genealogy::{EdgeKind, MAX_NODES, Node};
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::{Memory, Scope};

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
    assert_eq!(memories.genealogy(middle, &elsewhere(), None, soon()).await.unwrap_err().code(), "not_found");
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
    for workspace in [project(), elsewhere()] {
        world.handle.workspaces.trust(&workspace, Some("blue".into()), None, soon()).await.unwrap();
    }
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

/// Memories that were not recorded one by one.
async fn import(world: &World, relations: &[(u128, Option<u128>)]) {
    world.recorded(lesson("Template", "alpha")).await;
    let template = world.memories().await.remove(0);
    let memory = |(n, parent): &(u128, Option<u128>)| Record::Memory {
        memory: Memory {
            id: uuid::Uuid::from_u128(*n).into(),
            parent_memory_id: parent.map(|parent| uuid::Uuid::from_u128(parent).into()),
            ..template.clone()
        },
        passages: vec![],
        confirm: None,
    };
    let batch: Batch = relations.iter().map(memory).collect();
    world.store.commit(batch, soon()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_circle_in_what_is_stored_ends() {
    let world = world(good_model()).await;
    import(&world, &[(1, Some(3)), (2, Some(1)), (3, Some(2)), (4, Some(4))]).await;
    let memories = &world.handle.memories;
    let tree = memories.genealogy(uuid::Uuid::from_u128(1).into(), &project(), None, soon()).await.unwrap();
    assert_eq!((tree.nodes().count(), tree.edges.len()), (3, 3));
    let own = memories.genealogy(uuid::Uuid::from_u128(4).into(), &project(), None, soon()).await.unwrap();
    assert_eq!((own.nodes().count(), own.edges.len()), (1, 0));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_tree_that_is_too_large_is_cut() {
    let world = world(good_model()).await;
    let many: Vec<(u128, Option<u128>)> = (1..=MAX_NODES as u128 + 5).map(|n| (n, (n > 1).then_some(1))).collect();
    import(&world, &many).await;
    let root = uuid::Uuid::from_u128(1).into();
    let tree = world.handle.memories.genealogy(root, &project(), None, soon()).await.unwrap();
    assert_eq!((tree.nodes().count(), tree.truncated), (MAX_NODES, true));
    let late = Deadline::after(Duration::ZERO);
    let error = world.handle.memories.genealogy(root, &project(), None, late).await.unwrap_err();
    assert_eq!(error.code(), "deadline_exceeded");
    world.stop().await;
}
