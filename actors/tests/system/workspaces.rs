//! Tests of workspaces as a whole, and of another process that changes them meanwhile.

use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::memories::{FeedbackRequest, RecordRequest, RetrieveRequest};
use reasoning_bank_actors::ports::{EraseScope, MemoryStore, Record, StoreError, StoreReads, Visible};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemSettings;
use reasoning_bank_actors::workspaces::{RootName, WorkspaceRef};
use reasoning_bank_domain::learning::job::{Job, Work};
use reasoning_bank_domain::memory::observation::Feedback;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{Memory, Scope};
use reasoning_bank_domain::note::Code;
use reasoning_bank_domain::prompt::Purpose;
use reasoning_bank_domain::solve::task::Progress;
use tokio::sync::watch;

use crate::support::*;

const ROOT: &str = "/home/me/project";
const NEW_ROOT: &str = "/home/me/moved";

fn root(root: &str) -> WorkspaceRef {
    WorkspaceRef::Root(root.into())
}

async fn found(world: &World, workspace: WorkspaceRef) -> usize {
    let request = RetrieveRequest::new("backoff", workspace, 5);
    world.handle.memories.retrieve(request, soon()).await.unwrap().memories.len()
}

#[tokio::test(start_paused = true)]
async fn they_are_listed_by_name_once_written_to_and_shown_with_what_they_hold() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    assert!(workspaces.list(soon()).await.unwrap().is_empty());
    let fresh = workspaces.show(&project(), soon()).await.unwrap();
    assert_eq!((fresh.registered, fresh.memories, fresh.traces), (false, 0, 0));
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    world.recorded(RecordRequest { workspace: elsewhere(), ..lesson("Other", "thing") }).await;
    world.handle.agents.solve(task("x y z", 1), elsewhere(), call()).await.unwrap();
    let names: Vec<String> = workspaces.list(soon()).await.unwrap().into_iter().map(|w| w.name).collect();
    assert_eq!(names, ["other", "project"]);
    let shown = workspaces.show(&elsewhere(), soon()).await.unwrap();
    assert_eq!((shown.registered, shown.memories, shown.traces), (true, 2, 1));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_moved_workspace_is_found_at_its_new_root_and_leaves_the_old_one_empty() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    let id = world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let moved = workspaces.move_root(&project(), NEW_ROOT, soon()).await.unwrap();
    assert_eq!((moved.id.clone(), moved.root.as_str(), moved.revision), (WorkspaceId::of_root(ROOT), NEW_ROOT, 1));
    assert_eq!((found(&world, root(NEW_ROOT)).await, found(&world, project()).await), (1, 0));
    world.handle.memories.get(id, &root(NEW_ROOT), soon()).await.unwrap();

    let stranger = world.recorded(lesson("Another project", "at the old path")).await;
    let at_old = workspaces.resolve(&project(), soon()).await.unwrap();
    assert!(at_old.registered);
    assert_ne!(at_old.workspace.id, moved.id, "the old path is a workspace of its own now");
    let error = world.handle.memories.get(stranger, &root(NEW_ROOT), soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::NotFound);

    let error = workspaces.move_root(&root(NEW_ROOT), ROOT, soon()).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().contains(at_old.workspace.id.as_str()), "{error}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_empty_workspace_gives_way_to_one_that_is_moved_there() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    for name in ["one", "two", "three"] {
        workspaces.rename(&root(NEW_ROOT), name, soon()).await.unwrap();
    }
    let moved = workspaces.move_root(&project(), NEW_ROOT, soon()).await.unwrap();
    assert_eq!(found(&world, root(NEW_ROOT)).await, 1);
    let left = workspaces.list(soon()).await.unwrap();
    let roots: Vec<(&WorkspaceId, &str)> = left.iter().map(|w| (&w.id, w.root.as_str())).collect();
    assert_eq!(roots, [(&moved.id, NEW_ROOT), (&WorkspaceId::of_root(NEW_ROOT), "")]);
    let gave_way = WorkspaceRef::Id(WorkspaceId::of_root(NEW_ROOT));
    for name in ["four", "five"] {
        workspaces.rename(&gave_way, name, soon()).await.unwrap();
    }
    assert_eq!(found(&world, root(NEW_ROOT)).await, 1, "it never takes the directory back");
    // A memory that somebody wrote to it when it was looked at is there.
    world.recorded(RecordRequest { workspace: gave_way.clone(), ..lesson("Written meanwhile", "with backoff") }).await;
    assert_eq!(found(&world, gave_way).await, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_workspace_that_holds_only_a_job_does_not_give_way() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let there = workspaces.rename(&root(NEW_ROOT), "there", soon()).await.unwrap();
    let work = Work::Capture { question: "how?".into(), answer: "so".into(), session_id: None };
    let job = Job::queued(there.id.clone(), work, Timestamp::now());
    world.store.commit(vec![Record::Job(job)], soon()).await.unwrap();
    assert_eq!(workspaces.show(&root(NEW_ROOT), soon()).await.unwrap().jobs, 1);
    let error = workspaces.move_root(&project(), NEW_ROOT, soon()).await.unwrap_err();
    assert!(error.to_string().contains(there.id.as_str()), "{error}");
    assert_eq!(workspaces.show(&root(NEW_ROOT), soon()).await.unwrap().workspace.id, there.id);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_workspace_is_gone_with_all_that_is_its_own() {
    let world = world(good_model()).await;
    let (workspaces, memories) = (&world.handle.workspaces, &world.handle.memories);
    world.share_a_team().await;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let shared = world.recorded(RecordRequest { scope: Scope::Team, ..lesson("Shared backoff", "for all") }).await;
    world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap();
    let erased = workspaces.delete(&project(), soon()).await.unwrap();
    assert_eq!((erased.memories, erased.traces), (2, 1));
    assert_eq!(found(&world, project()).await, 0);
    assert_eq!(workspaces.list(soon()).await.unwrap().len(), 1);
    memories.get(shared, &elsewhere(), soon()).await.unwrap();
    assert_eq!(workspaces.delete(&project(), soon()).await.unwrap_err().code(), Code::WorkspaceUnknown);
    world.recorded(lesson("Again", "from the start with backoff")).await;
    assert_eq!(found(&world, project()).await, 1, "it can be written to again");
    let embedded = world.embedder.calls();
    found(&world, project()).await;
    assert_eq!(world.embedder.calls(), embedded, "what was asked before is not embedded again");
    memories.delete(shared, &elsewhere(), soon()).await.unwrap();
    found(&world, project()).await;
    assert_eq!(world.embedder.calls(), embedded + 1, "but after an erasure");
    assert_eq!(workspaces.list(soon()).await.unwrap().len(), 2);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_solve_that_still_runs_does_not_bring_a_deleted_workspace_back() {
    let model = good_model();
    let world = world(model.clone()).await;
    let workspaces = &world.handle.workspaces;
    for made_again in [false, true] {
        world.recorded(lesson("Retry with backoff", "double the delay")).await;
        let held = model.hold(Purpose::Judge);
        let (progress, mut seen) = watch::channel(Progress::default());
        let call = SolveOptions { progress: Some(progress), ..call() };
        let solve = world.handle.agents.solve(task(&format!("x y {made_again}"), 1), project(), call);
        let delete = async {
            // Drafted and evaluated.
            seen.wait_for(|progress| progress.completed == 2).await.unwrap();
            workspaces.delete(&project(), soon()).await.unwrap();
            if made_again {
                world.recorded(lesson("Close files", "before renaming them")).await;
            }
            held.release();
        };
        let (report, ()) = tokio::join!(solve, delete);
        let report = report.unwrap();
        assert!(report.trace_id.is_none() && report.learnings.is_empty() && !report.solution.is_empty());
        assert!(
            report.warnings.iter().any(|warning| warning.to_string().starts_with("workspace_unknown: ")),
            "{report:?}"
        );
        assert_eq!(workspaces.list(soon()).await.unwrap().len(), usize::from(made_again));
        assert_eq!(world.memories().await.len(), usize::from(made_again));
        assert!(world.signals().await.is_empty());
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn old_traces_are_purged_and_what_was_learned_stays() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    let report = world.handle.agents.solve(task("x y z", 1), project(), call()).await.unwrap();
    world.handle.agents.solve(task("x y z", 1), elsewhere(), call()).await.unwrap();
    let before_all: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(workspaces.purge_traces(&project(), before_all, soon()).await.unwrap().traces, 0);
    let erased = workspaces.purge_traces(&project(), Timestamp::now(), soon()).await.unwrap();
    assert_eq!((erased.traces, erased.memories), (1, 0));
    let memories = &world.handle.memories;
    memories.get(report.learnings[0].id, &project(), soon()).await.unwrap();
    assert_eq!(memories.traces(&elsewhere(), 5, None, soon()).await.unwrap().traces.len(), 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_name_and_a_team_are_checked_and_kept() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    assert_eq!(workspaces.rename(&project(), " shop ", soon()).await.unwrap().name, "shop");
    let trusted = workspaces.trust(&project(), Some("blue".into()), Some("acme".into()), soon()).await.unwrap();
    assert_eq!((trusted.team.as_deref(), trusted.org.as_deref(), trusted.revision), (Some("blue"), Some("acme"), 2));
    let same = workspaces.trust(&project(), Some("blue".into()), Some("acme".into()), soon()).await.unwrap();
    assert_eq!(same.revision, 2, "nothing is different");
    for bad in ["", "  ", "two\nlines", &"x".repeat(121)] {
        let error = workspaces.rename(&project(), bad, soon()).await.unwrap_err();
        assert!(error.to_string().starts_with("name"), "{error}");
        let error = workspaces.trust(&project(), Some(bad.into()), None, soon()).await.unwrap_err();
        assert!(error.to_string().starts_with("team"), "{error}");
    }
    let unknown = WorkspaceRef::Id(WorkspaceId::of_root("/nowhere"));
    assert_eq!(workspaces.rename(&unknown, "x", soon()).await.unwrap_err().code(), Code::WorkspaceUnknown);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_configured_team_counts_and_is_never_stored() {
    let configured = RootName { root: ROOT.into(), name: None, team: Some("blue".into()), org: None };
    let settings = SystemSettings { root_name: Some(configured), ..SystemSettings::default() };
    let world = world_with(good_model(), settings).await;
    let workspaces = &world.handle.workspaces;
    world.recorded(RecordRequest { scope: Scope::Team, ..lesson("Retry with backoff", "double the delay") }).await;
    assert_eq!(found(&world, project()).await, 1);
    assert_eq!(workspaces.resolve(&project(), soon()).await.unwrap().workspace.team.as_deref(), Some("blue"));
    assert_eq!(workspaces.resolve(&elsewhere(), soon()).await.unwrap().workspace.team, None);
    assert_eq!(stored(&world).await[0].team, None);
    workspaces.trust(&project(), Some("red".into()), None, soon()).await.unwrap();
    assert_eq!(workspaces.resolve(&project(), soon()).await.unwrap().workspace.team.as_deref(), Some("red"));
    assert_eq!(found(&world, project()).await, 0);
    world.stop().await;
}

async fn stored(world: &World) -> Vec<Workspace> {
    world.store.workspaces(soon()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_another_process_does_to_a_workspace_is_seen() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let own = stored(&world).await.remove(0);
    let other_process = |workspace: Workspace| {
        let store = &world.store;
        async move { store.commit(vec![Record::Workspace(workspace)], soon()).await.unwrap() }
    };
    other_process(Workspace { root: NEW_ROOT.into(), revision: 1, ..own.clone() }).await;
    assert_eq!(found(&world, root(NEW_ROOT)).await, 1, "a root that is not known is looked up");
    tokio::time::advance(Duration::from_secs(3)).await;
    assert_eq!(found(&world, project()).await, 0, "what is known is not believed for long");
    other_process(Workspace { team: Some("blue".into()), root: NEW_ROOT.into(), revision: 2, ..own }).await;
    tokio::time::advance(Duration::from_secs(3)).await;
    assert_eq!(workspaces.resolve(&root(NEW_ROOT), soon()).await.unwrap().workspace.team.as_deref(), Some("blue"));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changes_at_the_same_time_are_all_made() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    let first = workspaces.rename(&project(), "first", soon()).await.unwrap();
    let named = WorkspaceRef::Id(first.id);
    let (a, b, c) = tokio::join!(
        workspaces.rename(&named, "shop", soon()),
        workspaces.trust(&named, Some("blue".into()), None, soon()),
        workspaces.move_root(&named, NEW_ROOT, soon()),
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok(), "{a:?} {b:?} {c:?}");
    let all = workspaces.list(soon()).await.unwrap();
    let [workspace] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((workspace.name.as_str(), workspace.team.as_deref()), ("shop", Some("blue")));
    assert_eq!((&workspace.id, workspace.root.as_str()), (&WorkspaceId::of_root(ROOT), NEW_ROOT));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_written_to_a_workspace_that_another_process_deleted_has_a_workspace() {
    let world = world(good_model()).await;
    let deleted = || world.store.erase(EraseScope::Workspace(WorkspaceId::of_root(ROOT)), soon());
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    deleted().await.unwrap();
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    assert_eq!(stored(&world).await.len(), 1, "recorded");
    deleted().await.unwrap();
    let learnings = vec![learning("Cap the pause", "at a minute")];
    world.feedback(FeedbackRequest { learnings, ..feedback_on(vec![], Feedback::default()) }).await;
    assert_eq!(stored(&world).await.len(), 1, "reported");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn while_the_store_does_not_answer_nobody_is_told_that_a_workspace_is_new() {
    let world = world(good_model()).await;
    let workspaces = &world.handle.workspaces;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    world.store.fail_with(Some(StoreError::Failed("the disk is gone".into())));
    tokio::time::advance(Duration::from_secs(3)).await;
    let known = workspaces.resolve(&project(), soon()).await.unwrap();
    assert!(known.registered, "what was known before is believed");
    let unknown = WorkspaceRef::Id(WorkspaceId::of_root("/nowhere"));
    for workspace in [elsewhere(), unknown] {
        assert_eq!(workspaces.resolve(&workspace, soon()).await.unwrap_err().code(), Code::StoreUnavailable);
    }
    assert_eq!(workspaces.list(soon()).await.unwrap_err().code(), Code::StoreUnavailable);
    assert_eq!(workspaces.delete(&project(), soon()).await.unwrap_err().code(), Code::StoreUnavailable);
    let report = world.handle.agents.solve(task("x y z", 1), elsewhere(), call()).await.unwrap();
    assert!(report.trace_id.is_none() && !report.solution.is_empty(), "a task is solved all the same");
    world.store.fail_with(None);
    let late = workspaces.list(Deadline::after(Duration::ZERO)).await.unwrap_err();
    assert_eq!(late.code(), Code::DeadlineExceeded);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_may_ask_for_the_same_new_workspace_at_once() {
    let world = world(good_model()).await;
    let new = root("/home/me/new");
    let deadline = Deadline::after(Duration::from_secs(5));
    let asked = (0..200).map(|_| world.handle.workspaces.resolve(&new, deadline));
    let project = WorkspaceId::of_root("/home/me/new");
    for resolved in futures::future::join_all(asked).await {
        assert_eq!(resolved.unwrap().workspace.id, project);
    }
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_move_outlives_a_registry_and_a_store_that_die() {
    let world = world(good_model()).await;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let mut events = world.handle.events.subscribe();
    let workspaces = world.handle.workspaces.clone();
    let moving = tokio::spawn(async move { workspaces.move_root(&project(), NEW_ROOT, soon()).await });
    assert!(world.handle.faults("store").kill().await);
    restarted(&mut events, "store").await;
    moving.await.unwrap().unwrap();
    assert!(world.handle.faults("workspaces").kill().await);
    restarted(&mut events, "workspaces").await;
    assert_eq!(found(&world, root(NEW_ROOT)).await, 1);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_memory_is_never_visible_to_anyone_whom_its_scope_does_not_name() {
    let world = world(good_model()).await;
    world.recorded(lesson("Retry with backoff", "double the delay")).await;
    let some = world.memories().await.remove(0);
    world.stop().await;
    let workspace = |name: Option<&str>| name.map(WorkspaceId::of_root);
    let group = |name: Option<&str>| name.map(str::to_owned);
    const NAMES: [Option<&str>; 3] = [None, Some("a"), Some("b")];
    let each = || NAMES.into_iter().flat_map(|a| NAMES.into_iter().flat_map(move |b| NAMES.map(|c| (a, b, c))));
    for (of, team, org) in each() {
        let visible = Visible { workspace: workspace(of), team: group(team), org: group(org) };
        for (own, own_team, own_org) in each().filter(|(own, ..)| own.is_some()) {
            for scope in [Scope::Project, Scope::Team, Scope::Org] {
                let workspace_id = workspace(own).unwrap();
                let memory = Memory { workspace_id, scope, team: group(own_team), org: group(own_org), ..some.clone() };
                let named = match scope {
                    Scope::Project => of == own,
                    Scope::Team => team.is_some() && team == own_team,
                    Scope::Org => org.is_some() && org == own_org,
                };
                assert_eq!(visible.contains(&memory), named, "{visible:?} {scope:?} {own:?} {own_team:?} {own_org:?}");
            }
        }
    }
}
