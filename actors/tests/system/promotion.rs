//! Tests of sharing memories more widely.

use std::sync::Arc;

use futures::FutureExt;
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::memories::{
    FeedbackRequest, PromotedCopies, RecordRequest, RetrieveRequest, SaidBy, UpdateRequest,
};
use reasoning_bank_actors::ports::{EraseScope, MemoryStore, StoreError};
use reasoning_bank_actors::store::StoreOpener;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::access::ClientSession;
use reasoning_bank_domain::evidence::feedback::Reported;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::{Signal, SignalKind};
use reasoning_bank_domain::memory::workspace::SharedWorkspace;
use reasoning_bank_domain::memory::{Changes, Scope, Status};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Purpose;

use crate::support::*;

async fn praised(world: &World, id: MemoryId, session: &str, times: usize) {
    for _ in 0..times {
        report(world, id, session, &project()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_proved_itself_is_proposed_until_it_is_promoted() {
    let world = world(good_model()).await;
    world.share_a_team().await;
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
    assert_eq!(memories.promote(id, &project(), soon()).await.unwrap_err().code(), Code::ScopeDenied);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_person_may_promote_what_is_not_proposed_and_no_more_than_that() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    assert!(memories.promote(id, &project(), soon()).await.unwrap().created);
    assert_eq!(memories.promote(id, &elsewhere(), soon()).await.unwrap_err().code(), Code::NotFound);
    let quarantined = world.recorded(lesson("Close files", "before renaming them")).await;
    let changes = Changes { status: Some(Status::Quarantined), ..Changes::default() };
    let update = UpdateRequest { id: quarantined, workspace: project(), changes, if_revisions: None };
    memories.update(update, soon()).await.unwrap();
    assert_eq!(memories.promote(quarantined, &project(), soon()).await.unwrap_err().code(), Code::InvalidArgument);
    world.handle.workspaces.trust(&project(), None, Some("acme".into()), soon()).await.unwrap();
    let widest =
        world.recorded(RecordRequest { scope: Scope::Org, ..lesson("Pin versions", "in the lock file") }).await;
    assert_eq!(memories.promote(widest, &project(), soon()).await.unwrap_err().code(), Code::InvalidArgument);
    world.stop().await;
}

fn by_itself() -> SystemSettings {
    SystemSettings { promotes_by_itself: true, ..SystemSettings::default() }
}

async fn report(world: &World, id: MemoryId, session: &str, at: &WorkspaceRef) -> Reported {
    let verdict = feedback_on(vec![id], helpful());
    world.feedback(FeedbackRequest { workspace: at.clone(), session: Some(session.into()), ..verdict }).await
}

#[tokio::test(start_paused = true)]
async fn where_it_is_agreed_to_what_has_proved_itself_is_shared_at_once_and_once() {
    let world = world_with(good_model(), by_itself()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let proven = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    for session in ["a", "a", "a", "a"] {
        assert!(report(&world, proven, session, &project()).await.promoted.is_empty());
    }
    let promoted = report(&world, proven, "b", &project()).await.promoted;
    let [made] = promoted.as_slice() else { panic!("{promoted:?}") };
    assert_eq!((made.promoted_from, made.scope, made.created), (proven, Scope::Team, true));
    let seen = memories.get(made.id, &elsewhere(), soon()).await.unwrap();
    assert_eq!((seen.parent_memory_id, seen.scope), (Some(proven), Scope::Team));
    assert_eq!(memories.get(proven, &project(), soon()).await.unwrap().scope, Scope::Project);

    assert!(report(&world, proven, "c", &project()).await.promoted.is_empty(), "it is shared");
    for changes in [
        Changes { content: Some("double the delay, with jitter".into()), ..Changes::default() },
        Changes { status: Some(Status::Quarantined), ..Changes::default() },
    ] {
        let update = UpdateRequest { id: made.id, workspace: project(), changes, if_revisions: None };
        memories.update(update, soon()).await.unwrap();
        assert!(report(&world, proven, "d", &project()).await.promoted.is_empty(), "whatever became of the copy");
    }
    assert_eq!(world.memories().await.len(), 2);
    memories.delete(made.id, &project(), soon()).await.unwrap();
    assert!(report(&world, proven, "e", &project()).await.promoted.is_empty(), "what was deleted stays deleted");
    assert_eq!(world.memories().await.len(), 1);
    assert!(memories.promote(proven, &project(), soon()).await.unwrap().created, "unless somebody asks for it");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_copy_that_proves_itself_goes_on_to_the_organisation_from_where_it_was_shared() {
    let world = world_with(good_model(), by_itself()).await;
    for (workspace, org) in [(project(), "acme"), (elsewhere(), "rivals")] {
        world.handle.workspaces.trust(&workspace, Some("blue".into()), Some(org.into()), soon()).await.unwrap();
    }
    let id = world.recorded(RecordRequest { scope: Scope::Team, ..lesson("Pin versions", "in the lock file") }).await;
    for session in ["a", "b", "c", "d", "e"] {
        assert!(report(&world, id, session, &elsewhere()).await.promoted.is_empty(), "it is not theirs to share");
    }
    let promoted = report(&world, id, "f", &project()).await.promoted;
    assert_eq!(promoted.iter().map(|made| made.scope).collect::<Vec<_>>(), [Scope::Org]);
    let hidden = world.handle.memories.get(promoted[0].id, &elsewhere(), soon()).await;
    assert_eq!(hidden.unwrap_err().code(), Code::NotFound);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_solve_that_moves_confidence_shares_too_and_what_says_the_same_is_confirmed_once() {
    let model = good_model();
    let world = world_with(model.clone(), by_itself()).await;
    world.share_a_team().await;
    let words = ("Bisect sorted data", "bisect the sorted range of numbers");
    let shared = world.recorded(RecordRequest { scope: Scope::Team, ..lesson(words.0, words.1) }).await;
    let own = world.recorded(lesson(words.0, words.1)).await;
    for session in ["a", "a", "b", "b", "c"] {
        assert!(report(&world, own, session, &project()).await.promoted.is_empty(), "the team knows it");
    }
    let confirmed = |signals: Vec<Signal>| {
        signals.iter().filter(|s| s.memory_id == shared && s.kind == SignalKind::Confirmed).count()
    };
    assert_eq!(confirmed(world.signals().await), 1);

    let other = world.recorded(lesson("Guard empty input", "check the sorted list of numbers for no elements")).await;
    for session in ["a", "a", "b", "b"] {
        report(&world, other, session, &project()).await;
    }
    let asked = task("check the sorted list of numbers for no elements", 1);
    world.handle.agents.solve(asked, project(), call()).await.unwrap();
    let copies: Vec<_> = world.memories().await.into_iter().filter(|m| m.parent_memory_id == Some(other)).collect();
    let shared: Vec<_> = copies.iter().filter(|copy| copy.scope == Scope::Team).collect();
    assert_eq!(shared.len(), 1, "{copies:?}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn in_a_shared_workspace_it_takes_two_owners_however_much_one_solves_and_reports() {
    let model = good_model();
    let judged = r#"{"verdict": "success", "score": 0.9, "reasoning": "it works", "learnings": []}"#;
    model.answer(Purpose::Judge, |_| Ok(judged.into()));
    let world = world_with(model, by_itself()).await;
    let shop = SharedWorkspace { key: "shop".parse().unwrap(), team: Some("web".into()), org: None };
    let shop = WorkspaceRef::Shared(shop);
    let words = ("Guard empty input", "check the sorted list of numbers for no elements");
    let proven = world.recorded(RecordRequest { workspace: shop.clone(), ..lesson(words.0, words.1) }).await;
    let solve = async |owner: &str, n: u32| {
        let session = ClientSession { source: owner.into(), conversation: Some(format!("{owner} {n}")) };
        let options = SolveOptions { session: Some(session), ..call() };
        world.handle.agents.solve(task(words.1, 1), shop.clone(), options).await.unwrap()
    };
    let copies = async || world.memories().await.into_iter().filter(|copy| copy.scope == Scope::Team).count();
    for n in 0..4 {
        assert_eq!(solve("ana", n).await.memories_used[0].id, proven);
        let about = format!("task {n}");
        let verdict =
            FeedbackRequest { workspace: shop.clone(), ..work_report("ana", Some(&about), &[proven], helpful()) };
        world.feedback(verdict).await;
    }
    let sources: Vec<_> = world.signals().await.into_iter().map(|signal| signal.session).collect();
    assert!(sources.iter().all(|source| source.as_deref() == Some("ana")), "{sources:?}");
    assert_eq!(copies().await, 0, "all of it is one owner's");
    solve("ben", 0).await;
    assert_eq!(copies().await, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_team_says_already_is_proposed_and_confirmed_once() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let proposed = async || memories.promotions(&project(), soon()).await.unwrap().proposals.len();
    let shared = RecordRequest { scope: Scope::Team, ..lesson("Retry with backoff", "double the delay") };
    let shared = world.recorded(shared).await;
    let own = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    praised(&world, own, "a", 4).await;
    praised(&world, own, "b", 1).await;
    assert_eq!(proposed().await, 1);
    let confirmed = memories.promote(own, &project(), soon()).await.unwrap();
    assert_eq!((confirmed.id, confirmed.created), (shared, false));
    assert_eq!(proposed().await, 0, "the team has it");
    let changes = Changes { content: Some("double the delay, with jitter".into()), ..Changes::default() };
    let update = UpdateRequest { id: own, workspace: project(), changes, if_revisions: None };
    memories.update(update, soon()).await.unwrap();
    assert_eq!(proposed().await, 1, "these are other words");
    world.stop().await;
}

/// The workspace is deleted behind the back of a system that read it a moment ago.
#[tokio::test(start_paused = true)]
async fn a_promotion_does_not_bring_a_deleted_workspace_back() {
    let world = world(good_model()).await;
    world.handle.workspaces.trust(&project(), Some("blue".into()), Some("acme".into()), soon()).await.unwrap();
    let shared = RecordRequest { scope: Scope::Team, ..lesson("Pin versions", "in the lock file") };
    let shared = world.recorded(shared).await;
    let here = world.memories().await[0].workspace_id.clone();
    world.store.erase(EraseScope::Workspace(here), soon()).await.unwrap();
    let error = world.handle.memories.promote(shared, &project(), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::WorkspaceUnknown);
    assert_eq!(world.memories().await.len(), 1);
    assert!(world.handle.workspaces.list(soon()).await.unwrap().is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_promotion_that_fails_or_has_nowhere_to_go_does_not_fail_the_report() {
    let world = world_with(good_model(), by_itself()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    for session in ["a", "a", "b", "b", "c"] {
        assert!(report(&world, id, session, &project()).await.promoted.is_empty(), "there is no team");
    }
    world.share_a_team().await;
    assert_eq!(report(&world, id, "d", &project()).await.promoted.len(), 1, "the next evidence tries it again");
    world.stop().await;

    let store = MemStore::new();
    // It cannot say what was derived from what.
    store.before_each(|op| match op {
        "derived_from" => Err(StoreError::Failed("the disk is gone".into())),
        _ => Ok(()),
    });
    let store: Arc<dyn MemoryStore> = Arc::new(store);
    let opener: StoreOpener = Arc::new(move || {
        let store = Arc::clone(&store);
        async move { Ok(store) }.boxed()
    });
    let world = world_over_with(opener, good_model(), by_itself()).await;
    world.share_a_team().await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    for session in ["a", "a", "b", "b", "c", "d"] {
        let reported = report(&world, id, session, &project()).await;
        assert!(reported.promoted.is_empty() && reported.updated.len() == 1);
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_memory_that_has_nowhere_to_go_does_not_keep_the_others_back() {
    let world = world_with(good_model(), by_itself()).await;
    world.share_a_team().await;
    let shared = |title: &str, content: &str| RecordRequest { scope: Scope::Team, ..lesson(title, content) };
    let first = world.recorded(shared("Pin versions", "in the lock file")).await;
    let own = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let last = world.recorded(shared("Close files", "before renaming them")).await;
    let report = async |session: &str| {
        let all = feedback_on(vec![first, own, last], helpful());
        world.feedback(FeedbackRequest { session: Some(session.into()), ..all }).await.promoted
    };
    for session in ["a", "b", "c", "d"] {
        assert!(report(session).await.is_empty());
    }
    let promoted = report("e").await;
    assert_eq!(promoted.iter().map(|made| (made.promoted_from, made.scope)).collect::<Vec<_>>(), [(own, Scope::Team)]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_workspace_is_deleted_with_the_copies_that_were_made_of_its_memories() {
    let world = world(good_model()).await;
    for workspace in [project(), elsewhere()] {
        world.handle.workspaces.trust(&workspace, Some("blue".into()), Some("acme".into()), soon()).await.unwrap();
    }
    let memories = &world.handle.memories;
    let own = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let team_copy = memories.promote(own, &project(), soon()).await.unwrap().id;
    let org_copy = memories.promote(team_copy, &elsewhere(), soon()).await.unwrap().id;
    let foreign = RecordRequest { workspace: elsewhere(), ..lesson("Close files", "before renaming them") };
    let foreign = world.recorded(foreign).await;
    let foreign_copy = memories.promote(foreign, &elsewhere(), soon()).await.unwrap().id;
    let shared = RecordRequest { scope: Scope::Team, ..lesson("Name things", "after what they are") };
    let shared = world.recorded(shared).await;

    let copies = memories.promoted_copies(&project(), soon()).await.unwrap();
    assert_eq!(within_reach(&copies), [(team_copy, Scope::Team), (org_copy, Scope::Org)]);
    let others = memories.promoted_copies(&elsewhere(), soon()).await.unwrap();
    assert_eq!(within_reach(&others), [(foreign_copy, Scope::Team)]);
    let erased = memories.delete_workspace_with(&copies, &project(), soon()).await.unwrap();
    assert_eq!(erased.removed.memories, 3);
    for gone in [own, team_copy, org_copy] {
        assert_eq!(memories.get(gone, &elsewhere(), soon()).await.unwrap_err().code(), Code::NotFound);
    }
    for there in [foreign_copy, shared] {
        assert!(memories.get(there, &elsewhere(), soon()).await.is_ok());
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_deleted_workspace_superseded_for_its_team_is_back_in_search() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let shared = RecordRequest { scope: Scope::Team, ..lesson("Name things", "after what they are") };
    let shared = world.recorded(shared).await;
    let first = world.recorded(lesson("Name things", "after what they do")).await;
    let second = world.recorded(lesson("Name things", "after what they are for")).await;
    memories.supersede(shared, first, &project(), &SaidBy::Person, soon()).await.unwrap();
    memories.supersede(first, second, &project(), &SaidBy::Person, soon()).await.unwrap();
    let none = PromotedCopies::default();
    let erasure = memories.delete_workspace_with(&none, &project(), soon()).await.unwrap();
    assert_eq!((erasure.removed.memories, &erasure.reinstated[..]), (2, &[shared][..]));
    let back = world.memories().await.into_iter().find(|memory| memory.id == shared).unwrap();
    assert_eq!((back.status, back.succession.is_empty()), (Status::Active, true));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn copies_of_a_team_that_the_workspace_no_longer_reads_are_out_of_its_reach() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let own = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let copy = memories.promote(own, &project(), soon()).await.unwrap().id;
    memories.delete(own, &project(), soon()).await.unwrap();
    let copies = memories.promoted_copies(&project(), soon()).await.unwrap();
    assert_eq!(within_reach(&copies), [(copy, Scope::Team)]);

    world.handle.workspaces.trust(&project(), None, None, soon()).await.unwrap();
    let copies = memories.promoted_copies(&project(), soon()).await.unwrap();
    assert_eq!((copies.within_reach.len(), copies.out_of_reach.len()), (0, 1));
    let copies = copies.in_own_bank();
    let taken: Vec<_> = copies.within_reach.iter().map(|copy| (copy.title.as_str(), copy.owner.as_str())).collect();
    assert_eq!(taken, [("Retry with backoff", "blue")], "the user works in all workspaces of the bank");
    let erased = memories.delete_workspace_with(&copies, &project(), soon()).await.unwrap();
    assert_eq!((erased.removed.memories, world.memories().await.len()), (1, 0));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn copies_go_with_their_workspace_whatever_was_edited_since() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let own = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let edit = async |id, content: &str| {
        let changes = Changes { content: Some(content.into()), ..Changes::default() };
        let update = UpdateRequest { id, workspace: project(), changes, if_revisions: None };
        memories.update(update, soon()).await.unwrap();
    };
    let first = memories.promote(own, &project(), soon()).await.unwrap().id;
    edit(own, "double the delay, with jitter").await;
    let second = memories.promote(own, &project(), soon()).await.unwrap().id;
    edit(own, "double the delay, at most a minute").await;
    edit(first, "triple the delay").await;
    // A memory that the team has from elsewhere is no copy, whatever it was written after.
    let shared = RecordRequest { scope: Scope::Team, ..lesson("Cap the pause", "at a minute") };
    let shared = world.recorded(RecordRequest { parent_memory_id: Some(own), ..shared }).await;

    let copies = memories.promoted_copies(&project(), soon()).await.unwrap();
    assert_eq!(within_reach(&copies), [(first, Scope::Team), (second, Scope::Team)]);
    memories.delete_workspace_with(&copies, &project(), soon()).await.unwrap();
    let left: Vec<_> = world.memories().await.into_iter().map(|memory| memory.id).collect();
    assert_eq!(left, [shared]);
    world.stop().await;
}

/// Returns the ids and the scopes of the copies that are within reach, the oldest first.
fn within_reach(copies: &PromotedCopies) -> Vec<(MemoryId, Scope)> {
    copies.within_reach.iter().map(|copy| (copy.id, copy.scope)).collect()
}
