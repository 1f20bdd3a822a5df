//! Tests of warnings whose command succeeded after they were shown.

use reasoning_bank_actors::ports::EraseScope;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};

use crate::support::*;

async fn confirmed(world: &World, id: MemoryId) -> usize {
    let of = |signal: &Signal| signal.memory_id == id && signal.kind == SignalKind::Confirmed;
    world.signals().await.iter().filter(|signal| of(signal)).count()
}

#[tokio::test(start_paused = true)]
async fn a_session_confirms_a_warning_once_and_that_never_counts_for_sharing() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let id = world.recorded(warning("LockTimeout", None, lesson("Take the lock", "before the migration"))).await;
    let before = memories.get(id, &project(), soon()).await.unwrap().confidence;
    for session in ["one", "one", "two", "three", "four", "five", "six"] {
        assert_eq!(memories.worked(vec![id], session, &project(), soon()).await.unwrap(), 1);
    }
    assert_eq!(confirmed(&world, id).await, 6);
    let after = memories.get(id, &project(), soon()).await.unwrap().confidence;
    assert!(after > before && after > 0.9, "{before} {after}");
    assert!(memories.promotions(&project(), soon()).await.unwrap().proposals.is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_gone_or_of_a_team_or_of_another_project_is_not_confirmed() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let own = world.recorded(warning("LockTimeout", None, lesson("Take the lock", "before the migration"))).await;
    let shared = memories.promote(own, &project(), soon()).await.unwrap().id;
    assert_eq!(memories.worked(vec![shared], "one", &project(), soon()).await.unwrap(), 0);
    assert_eq!(memories.worked(vec![own], "one", &elsewhere(), soon()).await.unwrap(), 0);
    world.handle.store.erase(EraseScope::Memory(own), soon()).await.unwrap();
    assert_eq!(memories.worked(vec![own], "one", &project(), soon()).await.unwrap(), 0);
    assert_eq!(confirmed(&world, own).await + confirmed(&world, shared).await, 0);
    world.stop().await;
}
