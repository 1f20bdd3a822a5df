//! Whoever knows the id of something that a workspace may not read gets no further with it than with an id that nothing
//! has.

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{FeedbackRequest, ListRequest, RecordRequest, RetrieveRequest, UpdateRequest};
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::{Changes, Memory, Scope};
use uuid::Uuid;

use crate::support::*;

fn helpful_elsewhere(memory_ids: Vec<MemoryId>, trace_id: Option<TraceId>) -> FeedbackRequest {
    FeedbackRequest { workspace: elsewhere(), trace_id, ..feedback_on(memory_ids, helpful()) }
}

/// Every way to name a memory, from elsewhere; what each answers, without the id.
async fn answers(world: &World, id: MemoryId) -> Vec<(&'static str, String)> {
    let (memories, from) = (&world.handle.memories, elsewhere());
    let changes = Changes { title: Some("mine now".into()), ..Changes::default() };
    let update = UpdateRequest { id, workspace: from.clone(), changes, if_revisions: None };
    let list = ListRequest { parent: Some(id), ..ListRequest::new(from.clone(), 10) };
    let child = RecordRequest { workspace: from.clone(), ..lesson("Mine", "derived from what I cannot read") };
    let parent = RecordRequest { parent_memory_id: Some(id), ..child.clone() };
    let derived = RecordRequest { derived_from: vec![id], ..child };
    fn said<T>(what: &'static str, id: MemoryId, answer: Result<T, Error>) -> (&'static str, String) {
        let error = answer.err().unwrap_or_else(|| panic!("{what} got through"));
        (what, format!("{}: {error}", error.code()).replace(&id.to_string(), "ID"))
    }
    vec![
        said("get", id, memories.get(id, &from, soon()).await),
        said("update", id, memories.update(update, soon()).await),
        said("delete", id, memories.delete(id, &from, soon()).await),
        said("quarantine", id, memories.quarantine(id, &from, false, false, soon()).await),
        said("quarantine with descendants", id, memories.quarantine(id, &from, true, false, soon()).await),
        said("promote", id, memories.promote(id, &from, soon()).await),
        said("genealogy", id, memories.genealogy(id, &from, None, soon()).await),
        said("list of its children", id, memories.list(list, soon()).await),
        said("report", id, memories.feedback(helpful_elsewhere(vec![id], None), soon()).await),
        said("parent", id, memories.record(parent, soon()).await),
        said("source", id, memories.record(derived, soon()).await),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_memory_of_somebody_else_is_not_reached_by_its_id_in_any_way() {
    let world = world(good_model()).await;
    let trust = |workspace, team: &str, org: &str| {
        world.handle.workspaces.trust(workspace, Some(team.to_owned()), Some(org.to_owned()), soon())
    };
    let (own, others) = (project(), elsewhere());
    trust(&own, "blue", "acme").await.unwrap();
    trust(&others, "red", "rivals").await.unwrap();
    let mut hidden = Vec::new();
    for (scope, title) in [(Scope::Project, "Retry"), (Scope::Team, "Pin versions"), (Scope::Org, "Close files")] {
        hidden.push(world.recorded(RecordRequest { scope, ..lesson(title, "with care") }).await);
    }
    let (before, signals) = (world.memories().await, world.signals().await);
    let nothing = answers(&world, Uuid::now_v7().into()).await;
    for id in hidden {
        assert_eq!(answers(&world, id).await, nothing);
    }
    assert_eq!((world.memories().await, world.signals().await), (before, signals));
    let found = RetrieveRequest::new("with care", elsewhere(), 10);
    assert!(world.handle.memories.retrieve(found, soon()).await.unwrap().memories.is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_trace_of_somebody_else_is_not_reached_by_its_id() {
    let world = world(good_model()).await;
    world.recorded(lesson("Bisect sorted data", "bisect the sorted range of numbers")).await;
    let asked = task("bisect the sorted range of numbers", 1);
    let trace = world.handle.agents.solve(asked, project(), call()).await.unwrap().trace_id.unwrap();
    let signals = world.signals().await;
    for id in [trace, Uuid::now_v7().into()] {
        let shown = world.handle.memories.trace(id, &elsewhere(), soon()).await.unwrap_err();
        assert_eq!(shown.to_string(), format!("there is no trace {id} here"));
        let reported = world.handle.memories.feedback(helpful_elsewhere(vec![], Some(id)), soon()).await.unwrap_err();
        assert_eq!(reported.to_string(), format!("there is no trace {id} here"));
    }
    assert!(world.handle.memories.traces(&elsewhere(), 10, None, soon()).await.unwrap().traces.is_empty());
    assert_eq!(world.signals().await, signals);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_shared_memory_came_from_stays_with_those_who_may_read_it() {
    let world = world(good_model()).await;
    world.share_a_team().await;
    let memories = &world.handle.memories;
    let own = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let shared = memories.promote(own, &project(), soon()).await.unwrap().id;
    let theirs = RecordRequest { workspace: elsewhere(), parent_memory_id: Some(shared), ..lesson("Jitter", "add it") };
    let child = world.recorded(theirs).await;
    let seen = |at: reasoning_bank_actors::workspaces::WorkspaceRef| async move {
        let tree = memories.genealogy(shared, &at, None, soon()).await.unwrap();
        let all = tree.ancestors.iter().chain(&tree.descendants).map(|member| member.id).collect::<Vec<_>>();
        let edges: Vec<MemoryId> = tree.edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
        (all, edges.contains(&own), edges.contains(&child), tree.tree)
    };
    let (all, with_own, with_child, drawn) = seen(project()).await;
    assert_eq!((all, with_own, with_child), (vec![own], true, false));
    assert!(drawn.contains(&own.to_string()) && !drawn.contains(&child.to_string()), "{drawn}");
    let (all, with_own, with_child, drawn) = seen(elsewhere()).await;
    assert_eq!((all, with_own, with_child), (vec![child], false, true));
    assert!(!drawn.contains(&own.to_string()), "{drawn}");
    assert_eq!(memories.quarantine(shared, &elsewhere(), true, false, soon()).await.unwrap().changed, [shared, child]);
    let untouched: Vec<Memory> = world.memories().await.into_iter().filter(|memory| memory.id == own).collect();
    assert_eq!(untouched[0].revision, 1);
    world.stop().await;
}
