//! Tests of lists of memories and traces, page by page.

use std::sync::{Arc, Mutex};

use reasoning_bank_actors::episodes::EpisodeListRequest;
use reasoning_bank_actors::memories::{ListRequest, RecordRequest, UpdateRequest};
use reasoning_bank_actors::ports::{Conditions, MemoryStore, Record};
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::{Changes, Memory, Status};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::retrieval::conditions::TimeRange;
use uuid::Uuid;

use crate::support::*;

fn first(limit: usize) -> ListRequest {
    ListRequest::new(project(), limit)
}

async fn listed(world: &World, request: ListRequest) -> (Vec<MemoryId>, Option<MemoryId>) {
    let listed = world.handle.memories.list(request, soon()).await.unwrap();
    (listed.memories.into_iter().map(|memory| memory.id).collect(), listed.next)
}

#[tokio::test(start_paused = true)]
async fn the_newest_come_first_page_by_page() {
    let world = world(good_model()).await;
    let mut all = Vec::new();
    for n in 0..5 {
        all.insert(0, world.recorded(lesson(&format!("Lesson {n}"), &format!("content{n} word{n}"))).await);
    }
    world.recorded(RecordRequest { workspace: elsewhere(), ..lesson("Foreign", "other") }).await;
    assert_eq!(listed(&world, first(5)).await, (all.clone(), None));
    let (page, next) = listed(&world, first(2)).await;
    assert_eq!((page.as_slice(), next), (&all[..2], Some(all[1])));
    let (page, next) = listed(&world, ListRequest { after: next, ..first(2) }).await;
    assert_eq!((page.as_slice(), next), (&all[2..4], Some(all[3])));
    assert_eq!(listed(&world, ListRequest { after: next, ..first(2) }).await, (vec![all[4]], None));
    let unknown = ListRequest { workspace: elsewhere(), ..first(5) };
    assert_eq!(listed(&world, unknown).await.0.len(), 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_is_narrowed_by_conditions_page_by_page() {
    let world = world(good_model()).await;
    let mut hard = Vec::new();
    for n in 0..6 {
        let lesson = lesson(&format!("Lesson {n}"), &format!("content{n} word{n}"));
        let difficulty_level = Some(if n % 2 == 0 { "hard" } else { "easy" }.to_owned());
        let id = world.recorded(RecordRequest { difficulty_level, ..lesson }).await;
        if n % 2 == 0 {
            hard.insert(0, id);
        }
    }
    let conditions = Conditions { difficulty: Some("Hard".into()), ..Conditions::default() };
    let asked = |limit| ListRequest { conditions: conditions.clone(), ..first(limit) };
    assert_eq!(listed(&world, asked(5)).await, (hard.clone(), None));
    let (page, next) = listed(&world, asked(2)).await;
    assert_eq!((page.as_slice(), next), (&hard[..2], Some(hard[1])));
    assert_eq!(listed(&world, ListRequest { after: next, ..asked(2) }).await, (vec![hard[2]], None));
    let made = |since: Option<&str>, until: Option<&str>| TimeRange {
        since: since.map(Into::into),
        until: until.map(Into::into),
    };
    let recent = ListRequest { made: made(Some("1h"), None), ..asked(5) };
    assert_eq!(listed(&world, recent).await, (hard.clone(), None));
    let before = ListRequest { made: made(None, Some("1h")), ..asked(5) };
    assert_eq!(listed(&world, before).await, (vec![], None));
    let derived = RecordRequest { parent_memory_id: Some(hard[0]), ..lesson("Child", "of its own") };
    let child = world.recorded(derived).await;
    let of_parent = ListRequest { parent: Some(hard[0]), ..first(5) };
    assert_eq!(listed(&world, of_parent.clone()).await, (vec![child], None));
    assert_eq!(listed(&world, ListRequest { conditions, ..of_parent }).await, (vec![], None));
    let wrong = ListRequest { made: made(Some("soon"), None), ..first(5) };
    assert_eq!(world.handle.memories.list(wrong, soon()).await.unwrap_err().code(), Code::InvalidArgument);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn on_a_page_the_time_decides_whatever_the_ids_are() {
    let world = world(good_model()).await;
    let recorded = world.recorded(lesson("Recorded", "alpha beta")).await;
    let template = world.memories().await.remove(0);
    // an id that is a hash sorts after or before all others
    let mut expected = vec![recorded];
    for (id, days) in [(u128::MAX, 2), (1, 1)] {
        let created_at = template.created_at - jiff::SignedDuration::from_hours(24 * days);
        let memory = Memory { id: Uuid::from_u128(id).into(), created_at, ..template.clone() };
        expected.insert(1, memory.id);
        let record = Record::Memory { memory, passages: Vec::new(), confirm: None };
        world.store.commit(vec![record], soon()).await.unwrap();
    }
    assert_eq!(listed(&world, first(5)).await, (expected.clone(), None));
    let (page, next) = listed(&world, first(2)).await;
    let (rest, end) = listed(&world, ListRequest { after: next, ..first(2) }).await;
    assert_eq!((page.len(), rest.len(), end), (2, 1, None));
    assert!(expected.iter().all(|id| page.contains(id) || rest.contains(id)), "every one is on a page");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_status_or_a_parent_narrows_it() {
    let world = world(good_model()).await;
    let parent = world.recorded(lesson("Parent", "alpha beta")).await;
    let mut children = Vec::new();
    for n in 0..3 {
        let child = RecordRequest {
            parent_memory_id: Some(parent),
            ..lesson(&format!("Child {n}"), &format!("content{n} word{n}"))
        };
        children.insert(0, world.recorded(child).await);
    }
    let archive = Changes { status: Some(Status::Archived), ..Changes::default() };
    let update = UpdateRequest { id: children[1], workspace: project(), changes: archive, if_revisions: None };
    world.handle.memories.update(update, soon()).await.unwrap();
    let of_parent = ListRequest { parent: Some(parent), ..first(10) };
    assert_eq!(listed(&world, of_parent.clone()).await, (children.clone(), None));
    let active = ListRequest { status: Some(Status::Active), ..of_parent.clone() };
    assert_eq!(listed(&world, active).await, (vec![children[0], children[2]], None));
    let archived = ListRequest { status: Some(Status::Archived), ..first(1) };
    assert_eq!(listed(&world, archived).await, (vec![children[1]], None));
    let foreign = ListRequest { workspace: elsewhere(), ..of_parent };
    assert_eq!(world.handle.memories.list(foreign, soon()).await.unwrap_err().code(), Code::NotFound);
    for limit in [0, 501] {
        let error = world.handle.memories.list(first(limit), soon()).await.unwrap_err();
        assert!(error.to_string().starts_with("limit"), "{error}");
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn traces_are_read_by_their_workspace_alone() {
    let world = world(good_model()).await;
    let mut solved: Vec<TraceId> = Vec::new();
    for text in ["first task", "second task", "third task"] {
        let report = world.handle.agents.solve(task(text, 1), project(), call()).await.unwrap();
        solved.insert(0, report.trace_id.unwrap());
    }
    let memories = &world.handle.memories;
    let page = memories.traces(&project(), 2, None, soon()).await.unwrap();
    assert_eq!(page.traces.iter().map(|trace| trace.trace_id).collect::<Vec<_>>(), solved[..2]);
    assert_eq!((page.next, page.traces[0].task.as_str()), (Some(solved[1]), "third task"));
    let rest = memories.traces(&project(), 2, page.next, soon()).await.unwrap();
    assert_eq!((rest.traces[0].trace_id, rest.next), (solved[2], None));
    assert_eq!(memories.trace(solved[0], &project(), soon()).await.unwrap().task, "third task");
    assert_eq!(memories.trace(solved[0], &elsewhere(), soon()).await.unwrap_err().code(), Code::NotFound);
    assert!(memories.traces(&elsewhere(), 2, None, soon()).await.unwrap().traces.is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn behind_what_was_purged_meanwhile_no_page_passes_for_the_last_one() {
    let world = world(good_model()).await;
    for text in ["first task", "second task"] {
        world.handle.agents.solve(task(text, 1), project(), call()).await.unwrap();
    }
    let (memories, episodes) = (&world.handle.memories, &world.handle.episodes);
    let last = memories.traces(&project(), 2, None, soon()).await.unwrap().traces[1].trace_id;
    let (asked, reads) = (EpisodeListRequest::new(project(), 2), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&reads);
    world.store.before_each(move |read| {
        noted.lock().unwrap().push(read);
        Ok(())
    });
    let behind = |after| EpisodeListRequest { after: Some(after), ..asked.clone() };
    assert_eq!(memories.traces(&project(), 2, Some(last), soon()).await.unwrap().traces, []);
    assert_eq!(episodes.list(behind(last), soon()).await.unwrap().episodes, []);
    let of_episodes = |read: &&'static str| read.starts_with("episode");
    let order: Vec<&str> = reads.lock().unwrap().iter().copied().filter(of_episodes).collect();
    assert_eq!(order, ["episodes", "episode", "episodes", "episode"], "what is gone after the page is noticed");

    let gone = TraceId::from(Uuid::from_u128(9));
    let traces = memories.traces(&project(), 2, Some(gone), soon()).await.unwrap_err();
    assert_eq!(traces.to_string(), format!("there is no trace {gone} here; list again without `after`"));
    let episodes = episodes.list(behind(gone), soon()).await.unwrap_err();
    assert_eq!((traces.code(), episodes.code()), (Code::NotFound, Code::NotFound));
    world.stop().await;
}
