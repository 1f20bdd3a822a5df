//! Tests of writing in bulk what exists already, and of searching as if a part of it did not.

use std::collections::HashSet;

use reasoning_bank_actors::memories::{Restorable, RetrieveRequest};
use reasoning_bank_actors::ports::{EmbedderState, Passage, StoreReads};
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::workspaces::{RootName, WorkspaceRef};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Memory, Status};
use uuid::Uuid;

use crate::support::*;

/// A memory as it is stored, with its passages.
async fn stored(world: &World, id: MemoryId) -> (Memory, Vec<Passage>) {
    let memory = world.store.get(vec![id], soon()).await.unwrap().remove(0).memory;
    (memory, world.passages(id).await)
}

/// Returns a memory that another bank recorded, with its passages.
async fn sample() -> (Memory, Vec<Passage>) {
    let world = world(good_model()).await;
    let id = world.handle.memories.record(lesson("Bound retries", "at most three"), soon()).await.unwrap().id;
    let sample = stored(&world, id).await;
    world.stop().await;
    sample
}

#[tokio::test(start_paused = true)]
async fn what_is_restored_stays_as_it_is_and_is_written_once() {
    let (memory, passages) = sample().await;
    let memory = Memory { revision: 7, status: Status::Archived, pinned: true, ..memory };
    let twin = Memory { id: Uuid::now_v7().into(), ..memory.clone() };
    let world = world(good_model()).await;
    let things: Vec<Restorable> = [&memory, &twin, &memory]
        .map(|memory| Restorable::Memory { memory: memory.clone(), passages: passages.clone() })
        .into();
    let restore = async || world.handle.memories.restore(things.clone(), soon()).await.unwrap();
    assert_eq!(restore().await, [true, true, false]);
    assert_eq!(restore().await, [false, false, false]);
    for memory in [memory, twin] {
        assert_eq!(stored(&world, memory.id).await, (memory, passages.clone()));
    }
    assert_eq!(world.embedder.calls(), 0);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn vectors_that_do_not_fit_are_made_anew() {
    let (memory, passages) = sample().await;
    let change = |change: fn(&mut Passage)| {
        let mut passages = passages.clone();
        passages.iter_mut().for_each(change);
        passages
    };
    let broken = [
        (Some("other/64/0000000000000000".to_owned()), passages.clone()),
        (None, passages.clone()),
        (memory.embedder.clone(), Vec::new()),
        (memory.embedder.clone(), change(|passage| passage.text.push_str(" and more"))),
        (memory.embedder.clone(), change(|passage| passage.vector = None)),
        (memory.embedder.clone(), change(|passage| passage.vector = Some(vec![1.0]))),
        (memory.embedder.clone(), change(|passage| passage.vector = Some(vec![f32::INFINITY; 64]))),
    ];
    for (embedder, broken) in broken {
        let world = world(good_model()).await;
        let restored = Memory { embedder, ..memory.clone() };
        let thing = Restorable::Memory { memory: restored, passages: broken };
        world.handle.memories.restore(vec![thing], soon()).await.unwrap();
        assert_eq!(stored(&world, memory.id).await, (memory.clone(), passages.clone()));
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn without_an_embedder_it_is_found_by_its_words() {
    let (memory, _) = sample().await;
    let world = world(good_model()).await;
    world.embedder.set_state(EmbedderState::Failed("no model".into()));
    let thing = Restorable::Memory { memory: memory.clone(), passages: Vec::new() };
    world.handle.memories.restore(vec![thing], soon()).await.unwrap();
    assert_eq!(stored(&world, memory.id).await.0.embedder, None);
    let found = world.handle.memories.retrieve(RetrieveRequest::new("retries", project(), 5), soon()).await.unwrap();
    assert_eq!(found.memories[0].memory.id, memory.id);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_excepted_takes_no_place_in_the_answer() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let mut ids = Vec::new();
    for n in ["one", "two", "three"] {
        let content = format!("retry with backoff, variant {n} of a kind that is {}", n.repeat(3));
        ids.push(memories.record(lesson(&format!("Retry {n}"), &content), soon()).await.unwrap().id);
    }
    let request = || RetrieveRequest::new("retry backoff", project(), 2);
    let first: Vec<MemoryId> =
        memories.retrieve(request(), soon()).await.unwrap().memories.iter().map(|found| found.memory.id).collect();
    let except = HashSet::from([first[0]]);
    let found = memories.retrieve_except(request(), &except, soon()).await.unwrap();
    let found: HashSet<MemoryId> = found.memories.iter().map(|found| found.memory.id).collect();
    assert_eq!(found, ids.into_iter().filter(|id| *id != first[0]).collect());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_workspace_that_is_restored_takes_nothing_from_those_that_are_here() {
    let world = world(good_model()).await;
    let own = world.handle.workspaces.rename(&project(), "shop", soon()).await.unwrap();
    let at = |root: &str, id: &str| Workspace {
        id: id.parse().unwrap(),
        revision: 9,
        team: Some("blue".into()),
        org: Some("acme".into()),
        ..Workspace::of_root(root, own.created_at)
    };
    let same = Workspace { id: own.id.clone(), ..at("/elsewhere", "0000000000000001") };
    let shadow = at(&own.root, "00000000000000aa");
    let free = at("/free", "00000000000000bb");
    let second = at("/free", "00000000000000cc");
    let things: Vec<Restorable> = [&same, &shadow, &free, &second].map(|w| Restorable::Workspace(w.clone())).into();
    for _ in 0..2 {
        world.handle.memories.restore(things.clone(), soon()).await.unwrap();
        let mut list = world.handle.workspaces.list(soon()).await.unwrap();
        list.sort_by(|a, b| a.id.cmp(&b.id));
        let without_root = |w: &Workspace| Workspace { root: String::new(), ..w.clone() };
        let mut expected = [own.clone(), without_root(&shadow), free.clone(), without_root(&second)];
        expected.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!(list, expected);
    }
    assert_eq!(world.handle.workspaces.resolve(&project(), soon()).await.unwrap().workspace, own);
    let named = WorkspaceRef::Id(shadow.id);
    assert!(world.handle.workspaces.resolve(&named, soon()).await.unwrap().registered);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_configured_team_is_not_stored_with_what_is_restored() {
    let configured = RootName { root: "/home/me/project".into(), team: Some("blue".into()), ..RootName::default() };
    let settings = SystemSettings { root_name: Some(configured), ..SystemSettings::default() };
    let world = world_with(good_model(), settings).await;
    let here = world.handle.workspaces.resolve(&project(), soon()).await.unwrap().workspace;
    assert_eq!(here.team.as_deref(), Some("blue"));
    world.handle.memories.restore(vec![Restorable::Workspace(here)], soon()).await.unwrap();
    let stored = world.store.workspaces(soon()).await.unwrap();
    assert_eq!(stored.iter().map(|w| w.team.clone()).collect::<Vec<_>>(), [None]);
    world.stop().await;
}
