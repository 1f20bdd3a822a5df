//! Sharing memories more widely.

use reasoning_bank_actors::memories::{FeedbackRequest, RecordRequest, RetrieveRequest, UpdateRequest};
use reasoning_bank_domain::feedback::Verdict;
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::{Changes, Scope, Status};

use crate::support::*;

async fn praised(world: &World, id: MemoryId, session: &str, times: usize) {
    for _ in 0..times {
        let request = FeedbackRequest {
            workspace: project(),
            memory_ids: vec![id],
            trace_id: None,
            verdict: Verdict { helpful: Some(true), ..Verdict::default() },
            learnings: vec![],
            session: Some(session.into()),
        };
        world.handle.memories.feedback(request, soon()).await.unwrap();
    }
}

async fn teamed(world: &World) {
    for workspace in [project(), elsewhere()] {
        world.handle.workspaces.trust(&workspace, Some("blue".into()), None, soon()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_proved_itself_is_proposed_until_it_is_promoted() {
    let world = world(good_model()).await;
    teamed(&world).await;
    let memories = &world.handle.memories;
    let proven = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    world.recorded(lesson("Close files", "before renaming them")).await;
    praised(&world, proven, "a", 4).await;
    assert!(memories.promotions(&project(), soon()).await.unwrap().proposals.is_empty());
    praised(&world, proven, "b", 1).await;
    let proposals = memories.promotions(&project(), soon()).await.unwrap().proposals;
    assert_eq!(proposals.iter().map(|p| (p.id, p.to, p.sources)).collect::<Vec<_>>(), [(proven, Scope::Team, 2)]);
    assert!(memories.promotions(&elsewhere(), soon()).await.unwrap().proposals.is_empty());

    let promoted = memories.promote(proven, &project(), soon()).await.unwrap();
    assert_eq!((promoted.promoted_from, promoted.scope, promoted.created), (proven, Scope::Team, true));
    let seen = memories.get(promoted.id, &elsewhere(), soon()).await.unwrap();
    assert_eq!((seen.parent_memory_id, seen.scope, seen.evolution_stage), (Some(proven), Scope::Team, 1));
    assert_eq!(world.passages(promoted.id).await, world.passages(proven).await);
    assert!(memories.promotions(&project(), soon()).await.unwrap().proposals.is_empty());
    let again = memories.promote(proven, &project(), soon()).await.unwrap();
    assert_eq!((again.id, again.created), (promoted.id, false));
    let query = RetrieveRequest::new("double the delay", elsewhere(), 5);
    assert_eq!(memories.retrieve(query, soon()).await.unwrap().memories[0].memory.id, promoted.id);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_team_nothing_is_shared() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    praised(&world, id, "a", 4).await;
    praised(&world, id, "b", 4).await;
    let found = memories.promotions(&project(), soon()).await.unwrap();
    assert!(found.proposals.is_empty());
    assert_eq!(found.notes, ["scope_denied: this workspace has no team"]);
    assert_eq!(memories.promote(id, &project(), soon()).await.unwrap_err().code(), "scope_denied");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_person_may_promote_what_is_not_proposed_and_no_more_than_that() {
    let world = world(good_model()).await;
    teamed(&world).await;
    let memories = &world.handle.memories;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    assert!(memories.promote(id, &project(), soon()).await.unwrap().created);
    assert_eq!(memories.promote(id, &elsewhere(), soon()).await.unwrap_err().code(), "not_found");
    let quarantined = world.recorded(lesson("Close files", "before renaming them")).await;
    let changes = Changes { status: Some(Status::Quarantined), ..Changes::default() };
    let update = UpdateRequest { id: quarantined, workspace: project(), changes, if_revision: None };
    memories.update(update, soon()).await.unwrap();
    assert_eq!(memories.promote(quarantined, &project(), soon()).await.unwrap_err().code(), "invalid_argument");
    world.handle.workspaces.trust(&project(), None, Some("acme".into()), soon()).await.unwrap();
    let widest =
        world.recorded(RecordRequest { scope: Scope::Org, ..lesson("Pin versions", "in the lock file") }).await;
    assert_eq!(memories.promote(widest, &project(), soon()).await.unwrap_err().code(), "invalid_argument");
    world.stop().await;
}
