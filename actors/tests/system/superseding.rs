//! Tests of newer memories in the place of older ones: said by a caller, found by rules, confirmed by reports, and
//! undone.

use jiff::SignedDuration;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{RecordRequest, RetrieveRequest, SaidBy, UpdateRequest};
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::memory::{Changes, Scope, Status, Trust};
use reasoning_bank_domain::retrieval::responses::{RecordStatus, Recorded, Retrieved};

use crate::support::*;

const OLD: &str = "The payment service listens on port 8080.";
const NEW: &str = "The payment service listens on port 9090.";

fn port(content: &str) -> RecordRequest {
    lesson("Port of the payment service", content)
}

async fn record(world: &World, request: RecordRequest) -> Recorded {
    world.handle.memories.record(request, soon()).await.unwrap()
}

async fn found(world: &World, include_superseded: bool) -> Retrieved {
    let request = RetrieveRequest::new("port of the payment service", project(), 5);
    world.handle.memories.retrieve(RetrieveRequest { include_superseded, ..request }, soon()).await.unwrap()
}

/// Reports that these memories helped. Returns those that are superseded because of that.
async fn helped(world: &World, used: &[MemoryId], session: &str) -> Vec<MemoryId> {
    world.feedback(work_report(session, None, used, helpful())).await.superseded
}

async fn status(world: &World, id: MemoryId) -> (Status, Option<MemoryId>) {
    let memory = world.handle.memories.show(id, &project(), soon()).await.unwrap().memory;
    (memory.status, memory.superseded_by)
}

/// Records two memories that rules link, the newer one recorded by a session.
async fn linked(world: &World) -> (MemoryId, MemoryId) {
    let old = record(world, port(OLD)).await.id;
    let new = record(world, RecordRequest { session: Some("author".into()), ..port(NEW) }).await;
    assert_eq!((new.status, new.updates.as_slice()), (RecordStatus::Created, [old].as_slice()));
    (old, new.id)
}

#[tokio::test(start_paused = true)]
async fn what_is_superseded_leaves_search_and_comes_back() {
    let world = world(good_model()).await;
    let old = record(&world, port(OLD)).await.id;
    let new = record(&world, RecordRequest { supersedes: vec![old], ..port(NEW) }).await;
    assert_eq!((new.superseded[0].id, new.superseded[0].title.as_str()), (old, "Port of the payment service"));
    assert!(new.updates.is_empty(), "what was said needs no rule");
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new.id)));
    assert_eq!(ids(&found(&world, false).await), [new.id]);
    let both = found(&world, true).await;
    assert_eq!(ids(&both), [new.id, old]);
    assert_eq!(both.memories[1].memory.superseded_by, Some(new.id));
    let signals = world.signals().await;
    let said = signals.iter().find(|signal| signal.kind == SignalKind::Superseded).unwrap();
    assert_eq!(said.memory_id, old);

    let back = world.handle.memories.reinstate(old, None, &project(), &SaidBy::Person, soon()).await.unwrap();
    assert_eq!((back.memory.status, back.memory.superseded_by), (Status::Active, None));
    assert_eq!(world.signals().await.last().unwrap().kind, SignalKind::Reinstated);
    let replaces = world.memories().await.into_iter().find(|memory| memory.id == new.id).unwrap().succession.replaces;
    assert_eq!(replaces, [], "the newer one names it no more");
    let shown = found(&world, false).await;
    assert_eq!(shown.memories.len(), 2);
    assert!(shown.memories.iter().all(|entry| entry.outdated_by.is_none()), "an undone pair is never found again");
    assert!(world.signals().await.iter().any(|signal| signal.kind == SignalKind::Reinstated));
    world.stop().await;
}

/// No rule can tell that the words of the second statement take back the first, but its author can.
#[tokio::test(start_paused = true)]
async fn a_record_names_what_it_may_outdate_and_repeated_with_supersedes_it_takes_its_place() {
    let world = world(good_model()).await;
    let old = record(&world, port("A session of the payment service ends after 30 minutes of silence.")).await;
    let new =
        port("A session of the payment service ends after 30 minutes, and nobody can make it any longer by clicking.");
    let first = record(&world, new.clone()).await;
    assert_eq!((first.updates.as_slice(), first.similar.len()), ([].as_slice(), 1));
    assert_eq!((first.similar[0].id, &*first.similar[0].title), (old.id, "Port of the payment service"));
    let again = record(&world, RecordRequest { supersedes: vec![old.id], ..new }).await;
    assert_eq!((again.id, again.status, again.similar.len()), (first.id, RecordStatus::Reinforced, 0));
    assert_eq!(status(&world, old.id).await, (Status::Superseded, Some(first.id)));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn said_again_it_changes_nothing_and_a_bad_pair_is_refused_whole() {
    let world = world(good_model()).await;
    let old = record(&world, port(OLD)).await.id;
    let request = RecordRequest { supersedes: vec![old], ..port(NEW) };
    let new = record(&world, request.clone()).await.id;
    let again = record(&world, request).await;
    assert_eq!((again.id, again.status), (new, RecordStatus::Reinforced));
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new)));

    let count = world.memories().await.len();
    let unknown = MemoryId::from(uuid::Uuid::from_u128(9));
    let refused = RecordRequest { supersedes: vec![new, unknown], ..port("It listens on 7070 now.") };
    let error = world.handle.memories.record(refused, soon()).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(_)), "{error}");
    let itself = world.handle.memories.supersede(new, new, &project(), &SaidBy::Person, soon()).await.unwrap_err();
    assert!(itself.to_string().contains("by: names the memory itself"), "{itself}");
    let by_old = world.handle.memories.supersede(new, old, &project(), &SaidBy::Person, soon()).await.unwrap_err();
    assert!(by_old.to_string().contains("superseded"), "{by_old}");
    assert_eq!((world.memories().await.len(), status(&world, new).await), (count, (Status::Active, None)));
    let third = record(&world, port("It listens on 7070 now.")).await.id;
    let taken = world.handle.memories.supersede(old, third, &project(), &SaidBy::Person, soon()).await.unwrap_err();
    assert!(taken.to_string().contains("superseded by") && taken.to_string().contains("--undo"), "{taken}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_linked_to_a_superseded_memory_is_linked_to_what_superseded_it() {
    for by_hand in [false, true] {
        let world = world(good_model()).await;
        let (oldest, middle) = linked(&world).await;
        let (words, supersedes) = ("Ask the registry where the payment service is.", vec![middle]);
        let newest = if by_hand {
            let newest = record(&world, port(words)).await.id;
            world.handle.memories.supersede(middle, newest, &project(), &SaidBy::Person, soon()).await.unwrap();
            newest
        } else {
            record(&world, RecordRequest { supersedes, ..port(words) }).await.id
        };
        let (links, _) = world.handle.memories.open_links(&project(), 10, soon()).await.unwrap();
        assert_eq!(links.iter().map(|link| (link.older, link.newer)).collect::<Vec<_>>(), [(oldest, newest)]);
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_that_rules_find_is_linked_and_undone_by_hand() {
    let world = world(good_model()).await;
    let (old, new) = linked(&world).await;
    let shown = found(&world, false).await;
    assert_eq!((ids(&shown), shown.memories[1].outdated_by), (vec![new, old], Some(new)));
    let (links, count) = world.handle.memories.open_links(&project(), 10, soon()).await.unwrap();
    assert_eq!((links.len(), count, links[0].older, links[0].newer), (1, 1, old, new));
    let detail = world.handle.memories.show(new, &project(), soon()).await.unwrap();
    assert_eq!(detail.replaces, [old]);

    world.handle.memories.reinstate(old, None, &project(), &SaidBy::Person, soon()).await.unwrap();
    assert!(found(&world, false).await.memories.iter().all(|entry| entry.outdated_by.is_none()));
    assert_eq!(world.handle.memories.open_links(&project(), 10, soon()).await.unwrap(), (vec![], 0));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_newer_one_is_shown_even_where_it_would_have_no_place() {
    let world = world(good_model()).await;
    let (_, new) = linked(&world).await;
    let request = RetrieveRequest::new(OLD, project(), 1);
    let first = world.handle.memories.retrieve(request, soon()).await.unwrap();
    assert_eq!(ids(&first), [new]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn similar_words_of_one_who_is_trusted_less_lower_no_trust() {
    let world = world(good_model()).await;
    let of = |trust, content| RecordRequest { trust, ..port(content) };
    let old = record(&world, of(Trust::User, OLD)).await.id;
    record(&world, of(Trust::Agent, "The payment service listens on port 7070.")).await;
    let new = record(&world, of(Trust::User, NEW)).await;
    let trust = world.handle.memories.show(new.id, &project(), soon()).await.unwrap().memory.trust;
    assert_eq!(trust, Trust::User, "it is the user's own word");
    assert!(new.similar.iter().any(|similar| similar.id == old), "what it may replace is told: {:?}", new.similar);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_on_the_older_one_alone_leaves_neither_with_the_link() {
    let world = world(good_model()).await;
    let (old, new) = linked(&world).await;
    helped(&world, &[old], "another").await;
    assert_eq!(world.handle.memories.open_links(&project(), 10, soon()).await.unwrap().1, 0);
    let named = world.memories().await.into_iter().find(|memory| memory.id == new).unwrap().succession.replaces;
    assert_eq!(named, [], "the newer one does not say that it replaces it");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn reports_decide_about_links() {
    let world = world(good_model()).await;
    let (old, new) = linked(&world).await;
    assert_eq!(helped(&world, &[old, new], "another").await, []);
    assert_eq!(helped(&world, &[new], "author").await, []);
    assert_eq!(status(&world, old).await.0, Status::Active, "both were named, or the author spoke");
    assert_eq!(helped(&world, &[new], "another").await, [old], "the reporter is told");
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new)));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_vouches_for_the_older_one_takes_the_link_away() {
    let world = world(good_model()).await;
    let (old, _) = linked(&world).await;
    helped(&world, &[old], "another").await;
    assert_eq!(world.handle.memories.open_links(&project(), 10, soon()).await.unwrap().1, 0);
    assert!(found(&world, false).await.memories.iter().all(|entry| entry.outdated_by.is_none()));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_says_again_what_was_outdated_says_something_new() {
    let world = world(good_model()).await;
    let (old, new) = linked(&world).await;
    let again = record(&world, port(OLD)).await;
    assert_eq!((again.status, again.updates.as_slice()), (RecordStatus::Created, [new].as_slice()));
    let shown = found(&world, false).await;
    assert_eq!(ids(&shown)[0], again.id);
    let outdated = |id| shown.memories.iter().find(|entry| entry.memory.id == id).and_then(|entry| entry.outdated_by);
    assert_eq!((outdated(new), outdated(old)), (Some(again.id), Some(new)));
    assert_eq!(record(&world, port(OLD)).await.id, again.id, "from then on it is known");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_says_again_what_holds_says_it_after_what_was_said_in_between() {
    let world = world(good_model()).await;
    let said = |content: &str, trust: Trust, age: &str| {
        let valid_from = Some(age.to_owned());
        RecordRequest { trust, valid_from, ..port(content) }
    };
    let old = record(&world, said(OLD, Trust::Agent, "9d")).await.id;
    let new = record(&world, said(NEW, Trust::Model, "5d")).await.id;
    let linked_to = async |id: MemoryId| {
        let stored = world.memories().await.into_iter().find(|memory| memory.id == id).unwrap();
        (stored.linked_to().map(|newer| newer.id), stored.revision)
    };
    assert_eq!(linked_to(new).await, (None, 1), "the word of a model does not outdate that of an agent");
    assert_eq!(record(&world, port(OLD)).await.status, RecordStatus::Reinforced);
    assert_eq!((linked_to(new).await, linked_to(old).await), ((Some(old), 2), (None, 2)));
    assert_eq!(record(&world, port(OLD)).await.status, RecordStatus::Reinforced);
    assert_eq!(linked_to(old).await.1, 2, "nothing was said in between");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_is_outdated_by_what_was_said_since() {
    let world = world(good_model()).await;
    let new = record(&world, port(NEW)).await.id;
    let old = record(&world, RecordRequest { valid_from: Some("3d".into()), ..port(OLD) }).await.id;
    let shown = found(&world, false).await;
    assert_eq!((ids(&shown), shown.memories[1].outdated_by), (vec![new, old], Some(new)));
    helped(&world, &[new], "another").await;
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new)));

    let ahead = (jiff::Timestamp::now() + SignedDuration::from_hours(72)).to_string();
    for (valid_from, problem) in [(ahead.as_str(), "more than a day ahead"), ("soon", "is no time")] {
        let request = RecordRequest { valid_from: Some(valid_from.into()), ..port("It listens on 7070.") };
        let error = world.handle.memories.record(request, soon()).await.unwrap_err().to_string();
        assert!(error.contains("valid_from") && error.contains(problem), "{error}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_status_set_by_hand_undoes_it_and_other_words_end_a_link() {
    let world = world(good_model()).await;
    let (old, new) = linked(&world).await;
    world.handle.memories.supersede(old, new, &project(), &SaidBy::Person, soon()).await.unwrap();
    let update = |id, changes| UpdateRequest { id, workspace: project(), changes, if_revisions: None };
    let active = Changes { status: Some(Status::Active), ..Changes::default() };
    let back = world.handle.memories.update(update(old, active), soon()).await.unwrap();
    assert_eq!((back.memory.status, back.memory.superseded_by), (Status::Active, None));
    assert_eq!(world.signals().await.last().unwrap().kind, SignalKind::Reinstated);

    let third = record(&world, port("The payment service listens on port 7070.")).await;
    assert!(third.updates.is_empty(), "two values that stand beside each other are a list");

    let (older, newer) = ("Releases are cut on Friday.", "Releases are cut on Monday.");
    record(&world, lesson("Day of releases", older)).await;
    let newer = record(&world, lesson("Day of releases", newer)).await;
    assert_eq!(newer.updates.len(), 1);
    let reworded = Changes { content: Some("The calendar has the days.".into()), ..Changes::default() };
    world.handle.memories.update(update(newer.id, reworded), soon()).await.unwrap();
    assert_eq!(world.handle.memories.open_links(&project(), 10, soon()).await.unwrap().1, 0);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_superseded_is_back_when_what_superseded_it_goes() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let (old, new) = linked(&world).await;
    memories.supersede(old, new, &project(), &SaidBy::Person, soon()).await.unwrap();

    let set = |id, status| {
        let changes = Changes { status: Some(status), ..Changes::default() };
        UpdateRequest { id, workspace: project(), changes, if_revisions: None }
    };
    let archived = memories.update(set(new, Status::Archived), soon()).await.unwrap();
    assert_eq!(archived.reinstated, [old]);
    assert_eq!(status(&world, old).await, (Status::Active, None));
    let kinds: Vec<SignalKind> = world.signals().await.iter().map(|signal| signal.kind).collect();
    assert!(kinds.contains(&SignalKind::Reinstated), "{kinds:?}");

    memories.update(set(new, Status::Active), soon()).await.unwrap();
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new)));
    assert_eq!(world.signals().await.last().unwrap().kind, SignalKind::Superseded);
    let quarantined = memories.quarantine(new, &project(), true, false, soon()).await.unwrap();
    assert_eq!((quarantined.changed, quarantined.reinstated), (vec![new], vec![old]));
    assert_eq!(status(&world, old).await, (Status::Active, None));

    memories.quarantine(new, &project(), true, true, soon()).await.unwrap();
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new)));
    let erased = memories.delete(new, &project(), soon()).await.unwrap();
    assert_eq!((erased.removed.memories, erased.reinstated), (1, vec![old]));
    assert_eq!(ids(&found(&world, false).await), [old]);
    let third = record(&world, port(NEW)).await;
    assert_eq!(third.updates, [old], "no dead link is in the way");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_quarantine_of_all_that_came_from_one_and_its_undoing_leave_what_they_superseded_behind_them() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let root = record(&world, lesson("Root", "All that follows is derived from this.")).await.id;
    let from_root = |content| RecordRequest { derived_from: vec![root], ..port(content) };
    let old = record(&world, from_root(OLD)).await.id;
    let new = record(&world, from_root(NEW)).await.id;
    memories.supersede(old, new, &project(), &SaidBy::Person, soon()).await.unwrap();
    let quarantined = memories.quarantine(root, &project(), true, false, soon()).await.unwrap();
    assert_eq!(quarantined.reinstated, []);
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new)));
    assert!(found(&world, false).await.memories.is_empty());
    memories.quarantine(root, &project(), true, true, soon()).await.unwrap();
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(new)));
    assert!(!ids(&found(&world, false).await).contains(&old));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_one_project_tells_the_team_updates_what_another_one_told_it() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let told = |workspace, content| RecordRequest { scope: Scope::Team, workspace, ..port(content) };
    let old = record(&world, told(project(), OLD)).await.id;
    let new = record(&world, told(elsewhere(), NEW)).await;
    assert_eq!(new.updates, [old]);
    let own = record(&world, RecordRequest { workspace: elsewhere(), ..port("It listens on port 7070.") }).await;
    assert!(own.updates.is_empty(), "what a project keeps to itself updates nothing of the team's");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_lesson_that_confirms_one_memory_and_supersedes_another_is_one_commit() {
    let world = world(good_model()).await;
    let old = record(&world, port("Deploys are done by hand.")).await.id;
    let existing = record(&world, port(NEW)).await.id;
    let said = record(&world, RecordRequest { supersedes: vec![old], ..port(NEW) }).await;
    assert_eq!((said.id, said.status), (existing, RecordStatus::Reinforced));
    assert_eq!(status(&world, old).await, (Status::Superseded, Some(existing)));
    let kinds: Vec<SignalKind> = world.signals().await.iter().map(|signal| signal.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == SignalKind::Confirmed).count(), 1);
    let erased = world.handle.memories.delete(existing, &project(), soon()).await.unwrap();
    assert_eq!(erased.reinstated, [old], "the confirmed memory names what it replaces");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn less_trusted_words_are_not_linked_and_shared_ones_only_a_person_replaces() {
    let world = world(good_model()).await;
    let old = record(&world, RecordRequest { trust: Trust::User, ..port(OLD) }).await.id;
    let new = record(&world, RecordRequest { trust: Trust::Model, ..port(NEW) }).await;
    assert!(new.updates.is_empty());
    let shown = found(&world, false).await;
    let entry = shown.memories.iter().find(|entry| entry.memory.id == old).unwrap();
    assert_eq!((entry.outdated_by, entry.contested_by), (None, Some(new.id)));

    world.handle.workspaces.trust(&project(), Some("red".to_owned()), None, soon()).await.unwrap();
    let team =
        record(&world, RecordRequest { scope: Scope::Team, ..lesson("Releases", "cut them on Friday") }).await.id;
    let by_agent = RecordRequest { supersedes: vec![team], ..lesson("Releases", "cut them on Monday") };
    let error = world.handle.memories.record(by_agent.clone(), soon()).await.unwrap_err().to_string();
    assert!(error.contains("supersedes") && error.contains("team"), "{error}");
    let by_person = record(&world, RecordRequest { trust: Trust::User, ..by_agent }).await;
    assert_eq!(status(&world, team).await, (Status::Superseded, Some(by_person.id)));
    world.stop().await;
}
