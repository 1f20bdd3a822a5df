//! Tests of changing, quarantining and deleting memories.

use std::time::Duration;

use reasoning_bank_actors::memories::{RecordRequest, RetrieveRequest, UpdateRequest};
use reasoning_bank_actors::ports::{EmbedderState, MemoryStore, Record, StoreReads};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::{Changes, Memory, Scope, Status};
use reasoning_bank_domain::note::Code;

use crate::support::*;

fn update(id: MemoryId, changes: Changes) -> UpdateRequest {
    UpdateRequest { id, workspace: project(), changes, if_revisions: None }
}

fn retitled(title: &str) -> Changes {
    Changes { title: Some(title.into()), ..Changes::default() }
}

fn with_status(status: Status) -> Changes {
    Changes { status: Some(status), ..Changes::default() }
}

async fn found(world: &World, query: &str) -> Vec<MemoryId> {
    let request = RetrieveRequest::new(query, project(), 10);
    let found = world.handle.memories.retrieve(request, soon()).await.unwrap();
    found.memories.into_iter().map(|found| found.memory.id).collect()
}

#[tokio::test(start_paused = true)]
async fn a_changed_text_is_a_new_revision_and_is_searched_as_it_now_reads() {
    let world = world(good_model()).await;
    let task = Some("rename a directory".into());
    let id = world.recorded(RecordRequest { task, ..lesson("Retry with backoff", "double the delay") }).await;
    let before = world.passages(id).await;
    let changes = Changes { content: Some("close every handle, then rename".into()), ..retitled("Close first") };
    let view = world.handle.memories.update(update(id, changes), soon()).await.unwrap().memory;
    assert_eq!((view.id, view.revision, view.title.as_str()), (id, 2, "Close first"));
    assert!(view.updated_at > view.created_at);
    let after = world.passages(id).await;
    assert_eq!(after.iter().map(|p| p.kind).collect::<Vec<_>>(), before.iter().map(|p| p.kind).collect::<Vec<_>>());
    assert_eq!(after[0], before[0], "the task is the same");
    assert_ne!(after[1].vector, before[1].vector);
    assert_eq!(world.handle.memories.get(id, &project(), soon()).await.unwrap(), view);
    assert_eq!(found(&world, "close every handle").await, [id]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_leaves_the_text_as_it_is_needs_no_embedder() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let before = world.passages(id).await;
    world.embedder.set_state(EmbedderState::Loading);
    let changes = Changes {
        pinned: Some(true),
        pattern_tags: Some(vec!["retry".into()]),
        domain_category: Some("http".into()),
        difficulty_level: Some("easy".into()),
        ..Changes::default()
    };
    let view = world.handle.memories.update(update(id, changes.clone()), soon()).await.unwrap().memory;
    assert_eq!((view.revision, view.pinned, view.domain_category.as_deref()), (2, true, Some("http")));
    assert_eq!(world.passages(id).await, before);
    let again = world.handle.memories.update(update(id, changes), soon()).await.unwrap().memory;
    assert_eq!(again.revision, 2, "nothing is different");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_text_that_cannot_be_embedded_for_good_is_found_by_its_words() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    world.embedder.set_state(EmbedderState::Failed("no such file".into()));
    world.handle.memories.update(update(id, retitled("Jitter the pause")), soon()).await.unwrap();
    assert!(world.passages(id).await.iter().all(|passage| passage.vector.is_none()));
    assert_eq!(world.memories().await[0].embedder, None);
    assert_eq!(found(&world, "jitter").await, [id]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn secrets_do_not_come_in_by_a_change() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let changes = Changes { content: Some(format!("use {key}")), ..Changes::default() };
    let view = world.handle.memories.update(update(id, changes), soon()).await.unwrap().memory;
    assert!(view.content.contains("[REDACTED:") && !view.content.contains(&key), "{}", view.content);
    assert!(world.passages(id).await.iter().all(|passage| !passage.text.contains(&key)));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_makes_a_memory_invalid_names_all_that_is_wrong() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let changes = Changes { title: Some(" ".into()), description: Some("x".repeat(401)), ..Changes::default() };
    let error = world.handle.memories.update(update(id, changes), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::MemoryInvalid);
    assert!(error.to_string().contains("title") && error.to_string().contains("description"), "{error}");
    let error = world.handle.memories.update(update(id, Changes::default()), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(
        error.to_string(),
        "changes: there are none; give at least one of title, description, content, pattern_tags, domain_category, \
         difficulty_level, status, pinned"
    );
    assert_eq!(world.handle.memories.get(id, &project(), soon()).await.unwrap().revision, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_meant_for_another_revision_is_a_conflict() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let for_one_of =
        |wanted: &[u64], title| UpdateRequest { if_revisions: Some(wanted.to_vec()), ..update(id, retitled(title)) };
    assert_eq!(world.handle.memories.update(for_one_of(&[1], "One"), soon()).await.unwrap().memory.revision, 2);
    for stale in [&[1][..], &[1, 3], &[]] {
        let error = world.handle.memories.update(for_one_of(stale, "Other"), soon()).await.unwrap_err();
        assert_eq!((error.code(), error.retryable()), (Code::Conflict, true), "{stale:?}");
    }
    assert_eq!(world.handle.memories.get(id, &project(), soon()).await.unwrap().title, "One");
    assert_eq!(world.handle.memories.update(for_one_of(&[1, 2], "Two"), soon()).await.unwrap().memory.revision, 3);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changes_at_the_same_time_are_all_made() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let memories = &world.handle.memories;
    let pin = Changes { pinned: Some(true), ..Changes::default() };
    let tag = Changes { pattern_tags: Some(vec!["retry".into()]), ..Changes::default() };
    let (a, b, c) = tokio::join!(
        memories.update(update(id, pin), soon()),
        memories.update(update(id, tag), soon()),
        memories.update(update(id, retitled("Jitter")), soon()),
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok(), "{a:?} {b:?} {c:?}");
    let view = memories.get(id, &project(), soon()).await.unwrap();
    assert_eq!((view.revision, view.pinned, view.title.as_str()), (4, true, "Jitter"));
    assert_eq!(view.pattern_tags, ["retry"]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_memory_is_gone() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let kept = world.recorded(lesson("Close files", "before renaming them")).await;
    let erased = world.handle.memories.delete(id, &project(), soon()).await.unwrap();
    assert_eq!(erased.removed.memories, 1);
    assert_eq!(world.handle.memories.get(id, &project(), soon()).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(world.handle.memories.delete(id, &project(), soon()).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(found(&world, "backoff delay renaming").await, [kept]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn another_workspace_can_neither_change_nor_delete() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let memories = &world.handle.memories;
    let foreign = UpdateRequest { workspace: elsewhere(), ..update(id, retitled("Mine now")) };
    assert_eq!(memories.update(foreign, soon()).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(memories.delete(id, &elsewhere(), soon()).await.unwrap_err().code(), Code::NotFound);
    for descendants in [false, true] {
        let error = memories.quarantine(id, &elsewhere(), descendants, false, soon()).await.unwrap_err();
        assert_eq!(error.code(), Code::NotFound);
    }
    let view = memories.get(id, &project(), soon()).await.unwrap();
    assert_eq!((view.title.as_str(), view.revision, view.status), ("Retry with backoff", 1, Status::Active));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn those_who_read_a_team_may_change_what_it_shares() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    world.share_a_team().await;
    let id = world.recorded(RecordRequest { scope: Scope::Team, ..lesson("Retry", "double the delay") }).await;
    let by_a_neighbour = UpdateRequest { workspace: elsewhere(), ..update(id, retitled("Retry, with jitter")) };
    assert_eq!(world.handle.memories.update(by_a_neighbour, soon()).await.unwrap().memory.revision, 2);
    workspaces.trust(&elsewhere(), None, None, soon()).await.unwrap();
    let error = world.handle.memories.delete(id, &elsewhere(), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn quarantine_takes_a_memory_and_what_came_from_it_out_of_search_and_back() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let child_of =
        |parent, title: &str, content: &str| RecordRequest { parent_memory_id: Some(parent), ..lesson(title, content) };
    let root = world.recorded(lesson("Root", "alpha beta")).await;
    let child = world.recorded(child_of(root, "Child", "gamma delta")).await;
    let grandchild = world.recorded(child_of(child, "Grandchild", "epsilon zeta")).await;
    let other = world.recorded(lesson("Other", "eta theta")).await;
    let archived = world.recorded(child_of(child, "Archived", "iota kappa")).await;
    memories.update(update(archived, with_status(Status::Archived)), soon()).await.unwrap();

    let alone = memories.quarantine(root, &project(), false, false, soon()).await.unwrap();
    assert_eq!(alone.changed, [root]);
    let all = memories.quarantine(root, &project(), true, false, soon()).await.unwrap();
    assert_eq!((all.changed, all.truncated), (vec![child, grandchild], false), "the others are out of search already");
    assert_eq!(found(&world, "alpha gamma epsilon eta").await, [other]);

    memories.update(update(grandchild, with_status(Status::Superseded)), soon()).await.unwrap();
    let undone = memories.quarantine(root, &project(), true, true, soon()).await.unwrap();
    assert_eq!(undone.changed, [root, child], "only what is quarantined is undone");
    let status = |id| async move { memories.get(id, &project(), soon()).await.unwrap().status };
    assert_eq!((status(root).await, status(grandchild).await), (Status::Active, Status::Superseded));
    assert_eq!(status(archived).await, Status::Archived, "it does not come back to life");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn to_take_a_quarantine_back_is_its_exact_reverse() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    let child_of =
        |parent, title: &str, content: &str| RecordRequest { parent_memory_id: Some(parent), ..lesson(title, content) };
    let root = world.recorded(lesson("Root", "alpha beta")).await;
    let bad = world.recorded(child_of(root, "Bad for itself", "gamma delta")).await;
    let by_status = world.recorded(child_of(root, "Bad by its status", "epsilon zeta")).await;
    let grandchild = world.recorded(child_of(bad, "Grandchild", "eta theta")).await;
    memories.quarantine(bad, &project(), false, false, soon()).await.unwrap();
    memories.update(update(by_status, with_status(Status::Quarantined)), soon()).await.unwrap();
    let family = async |id, undo| memories.quarantine(id, &project(), true, undo, soon()).await.unwrap().changed;
    assert_eq!(family(root, false).await, [root, grandchild]);
    assert_eq!(family(root, true).await, [root, grandchild]);
    assert_eq!(found(&world, "alpha gamma epsilon eta").await.len(), 2, "the others were out of search before");

    assert_eq!(family(root, false).await, [root, grandchild]);
    assert_eq!(family(bad, false).await, [], "all of it is out of search");
    assert_eq!(family(root, true).await, [root], "it is for another one, too");
    assert_eq!(family(bad, true).await, [bad, grandchild]);
    assert_eq!(family(by_status, true).await, [by_status]);

    assert_eq!(family(root, false).await.len(), 4);
    assert_eq!(family(bad, true).await, [bad, grandchild], "a branch may come back before the rest");
    assert_eq!(family(root, true).await, [root, by_status]);
    assert!(world.memories().await.iter().all(|memory| memory.quarantined_for.is_empty()));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_quarantine_goes_on_over_what_may_not_be_read_and_says_that_there_is_such() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    world.share_a_team().await;
    let shared = RecordRequest { scope: Scope::Team, ..lesson("Retry", "double the delay") };
    let shared = world.recorded(shared).await;
    let theirs = RecordRequest { workspace: elsewhere(), ..lesson("Retry thrice", "then give the error back") };
    let theirs = world.recorded(RecordRequest { parent_memory_id: Some(shared), ..theirs }).await;
    let copy = memories.promote(theirs, &elsewhere(), soon()).await.unwrap().id;
    let quarantined = memories.quarantine(shared, &project(), true, false, soon()).await.unwrap();
    assert_eq!(
        (quarantined.changed, quarantined.truncated, quarantined.out_of_reach),
        (vec![shared, copy], false, true)
    );
    assert_eq!(memories.get(theirs, &elsewhere(), soon()).await.unwrap().status, Status::Active);

    let by_them = memories.quarantine(shared, &elsewhere(), true, false, soon()).await.unwrap();
    assert_eq!((by_them.changed, by_them.out_of_reach), (vec![theirs], false));
    let undone = memories.quarantine(shared, &project(), true, true, soon()).await.unwrap();
    assert_eq!((undone.changed, undone.out_of_reach), (vec![shared, copy], true));
    let undone = memories.quarantine(shared, &elsewhere(), true, true, soon()).await.unwrap();
    assert_eq!((undone.changed, undone.out_of_reach), (vec![theirs], false));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_outlives_a_store_that_dies_on_the_way() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let memories = world.handle.memories.clone();
    world.embedder.set_state(EmbedderState::Loading);
    let updating = tokio::spawn(async move { memories.update(update(id, retitled("Jitter")), soon()).await });
    let mut events = world.handle.events.subscribe();
    assert!(world.handle.faults("store").kill().await);
    restarted(&mut events, "store").await;
    world.embedder.set_state(EmbedderState::Ready);
    let view = updating.await.unwrap().unwrap().memory;
    assert_eq!((view.title.as_str(), view.revision), ("Jitter", 2));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_changed_after_the_deadline() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let passed = Deadline::after(Duration::ZERO);
    let error = world.handle.memories.update(update(id, retitled("Late")), passed).await.unwrap_err();
    assert_eq!(error.code(), Code::DeadlineExceeded);
    assert_eq!(world.handle.memories.get(id, &project(), soon()).await.unwrap().title, "Retry with backoff");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_the_embedder_is_too_slow_for_is_made_without_vectors() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    world.embedder.set_state(EmbedderState::Loading);
    let soon_over = Deadline::after(Duration::from_millis(50));
    let changed = world.handle.memories.update(update(id, retitled("Jitter")), soon_over).await.unwrap().memory;
    assert_eq!((changed.title.as_str(), changed.revision), ("Jitter", 2));
    assert!(world.passages(id).await.iter().all(|passage| passage.vector.is_none()));
    world.embedder.set_state(EmbedderState::Ready);
    assert_eq!(world.handle.memories.fill_vectors(soon()).await.unwrap(), 1);
    assert!(world.passages(id).await.iter().all(|passage| passage.vector.is_some()));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_memory_at_the_last_revision_of_earlier_versions_is_changed_quarantined_and_deleted() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let stored: Memory = world.memories().await.remove(0);
    let passages = world.passages(id).await;
    world.handle.memories.delete(id, &project(), soon()).await.unwrap();
    let last = Memory { revision: u64::from(u32::MAX), evolution_stage: u32::MAX, ..stored };
    world.store.commit(vec![Record::Memory { memory: last, passages, confirm: None }], soon()).await.unwrap();
    let changed = world.handle.memories.update(update(id, retitled("Jitter")), soon()).await.unwrap().memory;
    assert_eq!((changed.title.as_str(), changed.revision), ("Jitter", 4_294_967_296));
    let quarantined = world.handle.memories.quarantine(id, &project(), true, false, soon()).await.unwrap();
    assert_eq!(quarantined.changed, [id]);
    world.handle.memories.quarantine(id, &project(), true, true, soon()).await.unwrap();
    let child = RecordRequest { parent_memory_id: Some(id), ..lesson("Child", "of the last stage") };
    let child = world.recorded(child).await;
    assert_eq!(world.store.get(vec![child], soon()).await.unwrap()[0].memory.evolution_stage, u32::MAX);
    world.handle.memories.delete(id, &project(), soon()).await.unwrap();
    assert_eq!(world.handle.memories.get(id, &project(), soon()).await.unwrap_err().code(), Code::NotFound);
    world.stop().await;
}

/// A commit behind the back of the one who changes.
#[tokio::test(start_paused = true)]
async fn a_memory_erased_while_it_is_changed_is_not_found() {
    let world = world(good_model()).await;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let stale: Memory = world.memories().await.remove(0);
    world.handle.memories.delete(id, &project(), soon()).await.unwrap();
    let revision = Record::Revision { memory: Memory { revision: 2, ..stale }, passages: vec![] };
    assert!(world.store.commit(vec![revision], soon()).await.is_err());
    let error = world.handle.memories.update(update(id, retitled("Gone")), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    let nowhere = WorkspaceRef::Id("0123456789abcdef".parse().unwrap());
    let request = UpdateRequest { workspace: nowhere, ..update(id, retitled("Gone")) };
    assert_eq!(world.handle.memories.update(request, soon()).await.unwrap_err().code(), Code::WorkspaceUnknown);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn passages_that_are_not_of_the_text_are_made_anew_and_never_handed_on() {
    let world = world(good_model()).await;
    let memories = &world.handle.memories;
    world.handle.workspaces.trust(&project(), Some("blue".into()), None, soon()).await.unwrap();
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let old = world.passages(id).await;
    // Between two reads another process changes the text.
    let torn = async |content: &str| {
        let memory = world.memories().await.into_iter().find(|memory| memory.id == id).unwrap();
        let memory = Memory { content: content.into(), revision: memory.revision + 1, ..memory };
        let revision = Record::Revision { memory, passages: old.clone() };
        world.store.commit(vec![revision], soon()).await.unwrap();
    };
    let texts = async |id| world.passages(id).await.into_iter().map(|p| p.text).collect::<String>();
    torn("close every handle").await;
    memories.update(update(id, Changes { pinned: Some(true), ..Changes::default() }), soon()).await.unwrap();
    assert!(texts(id).await.ends_with("close every handle"));
    torn("then rename").await;
    memories.quarantine(id, &project(), false, false, soon()).await.unwrap();
    memories.quarantine(id, &project(), false, true, soon()).await.unwrap();
    assert!(texts(id).await.ends_with("then rename"));
    torn("wait for the lock").await;
    let copy = memories.promote(id, &project(), soon()).await.unwrap().id;
    assert!(texts(copy).await.ends_with("wait for the lock"));
    world.stop().await;
}
