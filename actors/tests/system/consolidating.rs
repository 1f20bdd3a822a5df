//! Consolidation: patterns are found in what happened, stand the test or do not, and every run can be taken back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_actors::consolidation::RunRequest;
use reasoning_bank_actors::context::RecoveryRequest;
use reasoning_bank_actors::episodes::{EpisodeQuery, RecordEpisode};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::{RecordRequest, RetrieveRequest, UpdateRequest};
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::ports::{Lease, MemoryFilter, Page, StoreError, StoreReads};
use reasoning_bank_actors::system::{System, SystemHandle, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{ManualClock, MemLease, parts};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::consolidation::{
    ChangeKind, ConsolidationRun, ConsolidationSchedule, RunTrigger, StageName,
};
use reasoning_bank_domain::episode::{EpisodePhase, EpisodeStatus, NewEpisode, Strategy};
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::pattern::{PatternCategory, PatternStage};
use reasoning_bank_domain::memory::trace::TraceEntry;
use reasoning_bank_domain::memory::{Changes, Memory};
use uuid::Uuid;

use crate::support::*;

struct Consolidated {
    system: System,
    bank: SystemHandle,
    store: Arc<MemStore>,
    clock: ManualClock,
    lease: MemLease,
}

async fn started(schedule: ConsolidationSchedule) -> Consolidated {
    let (store, clock, lease) = (Arc::new(MemStore::new()), ManualClock::default(), MemLease::default());
    let parts = SystemParts {
        settings: SystemSettings { consolidation: schedule, ..SystemSettings::default() },
        clock: clock.clock(),
        consolidation: Arc::new(lease.clone()),
        ..parts(Arc::clone(&store) as Arc<_>, NoModel)
    };
    let system = System::start(parts).await.unwrap();
    Consolidated { bank: system.handle(), system, store, clock, lease }
}

fn here() -> WorkspaceRef {
    WorkspaceRef::Root("/here".into())
}

/// Makes an episode: its domain, the tools that it called, and whether it succeeded.
fn told(n: usize, domain: &str, tools: &[&str], succeeded: bool) -> NewEpisode {
    let status = if succeeded { EpisodeStatus::Success } else { EpisodeStatus::Failure };
    let mut episode = NewEpisode::new(format!("Fix the bug number {n} of the {domain} pager"), status);
    let call =
        |tool: &&str| TraceEntry { action: "call".into(), tool: Some((*tool).to_owned()), ..TraceEntry::default() };
    episode.execution.trace = tools.iter().map(call).collect();
    episode.metadata.domain = Some(domain.to_owned());
    episode
}

impl Consolidated {
    async fn record(&self, episode: NewEpisode, session: &str) -> TraceId {
        self.clock.advance(SignedDuration::from_mins(11));
        let request = RecordEpisode { episode, workspace: here(), session: Some(session.to_owned()) };
        self.bank.episodes.record(request, soon()).await.unwrap().episode.episode_id
    }

    async fn run(&self, apply: bool) -> ConsolidationRun {
        let request = RunRequest { workspace: here(), trigger: RunTrigger::Person, apply };
        self.bank.consolidation.run(request, soon()).await.unwrap()
    }

    async fn undo(&self, run: &ConsolidationRun) -> ConsolidationRun {
        self.bank.consolidation.undo(run.run_id, &here(), soon()).await.unwrap()
    }

    /// Returns all memories, without the fields that change with every write.
    async fn memories(&self) -> Vec<Memory> {
        let rows = self.store.memories(MemoryFilter::default(), Page::first(1_000), soon()).await.unwrap();
        let at = self.clock.clock().now();
        rows.into_iter().map(|row| Memory { revision: 0, updated_at: at, ..row.memory }).collect()
    }

    async fn stage(&self, id: MemoryId) -> (PatternStage, u32) {
        let pattern = self.bank.memories.pattern(id, &here(), soon()).await.unwrap();
        (pattern.lifecycle.status, pattern.version)
    }

    /// Records eight tasks that succeed with the same two tools, eight others of which two do.
    async fn history(&self) {
        for n in 0..8 {
            self.record(told(n, "cli", &["rg", "cargo test"], true), &format!("session {n}")).await;
            self.record(told(100 + n, "cli", &["sed"], n < 2), &format!("session {n}")).await;
        }
    }
}

fn changed(run: &ConsolidationRun, kind: ChangeKind) -> Vec<MemoryId> {
    run.changes().filter(|change| change.change == kind).map(|change| change.id.into()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_pattern_is_found_validated_reviewed_and_refined_and_each_run_can_be_undone() {
    let world = started(ConsolidationSchedule::Off).await;
    world.history().await;
    let planned = world.run(false).await;
    assert!(!planned.applied && world.memories().await.is_empty(), "a plan changes nothing");
    let first = world.run(true).await;
    assert_eq!(changed(&first, ChangeKind::Proposed), changed(&planned, ChangeKind::Proposed));
    let proposed = changed(&first, ChangeKind::Proposed);
    let mut pattern = None;
    for id in &proposed {
        let document = world.bank.memories.pattern(*id, &here(), soon()).await.unwrap();
        assert_eq!(document.lifecycle.status, PatternStage::Candidate);
        if document.category == PatternCategory::ToolSelection {
            pattern = Some(*id);
        }
    }
    let pattern = pattern.expect("a selection of tools");
    assert_eq!(changed(&world.run(true).await, ChangeKind::Proposed), [], "a second run finds nothing new");

    for n in 0..5 {
        assert_eq!(world.stage(pattern).await, (PatternStage::Candidate, 1), "after {n} applications");
        world.record(told(200 + n, "cli", &["rg", "cargo test"], true), &format!("later {n}")).await;
    }
    assert_eq!(world.stage(pattern).await, (PatternStage::Validated, 1), "observed, and reported by nobody");

    for n in 0..6 {
        world.record(told(300 + n, "web", &["rg", "cargo test"], false), &format!("web {n}")).await;
    }
    assert_eq!(world.stage(pattern).await.0, PatternStage::UnderReview);
    let before = world.memories().await;
    let refining = world.run(true).await;
    assert_eq!(changed(&refining, ChangeKind::Refined), [pattern]);
    assert_eq!(world.stage(pattern).await, (PatternStage::Validated, 2));
    let refined = world.bank.memories.pattern(pattern, &here(), soon()).await.unwrap();
    let conditions = refined.applicability.context_conditions.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(conditions, ["domain is cli"]);

    let undone = world.undo(&refining).await.undone.unwrap();
    assert_eq!(undone.skipped, []);
    assert_eq!(world.memories().await, before, "exactly what it was");
    assert_eq!(world.undo(&refining).await.undone, Some(undone), "once is enough");

    // what the first run made was changed since, except for what nobody touched
    let undone = world.undo(&first).await.undone.unwrap();
    assert!(undone.skipped.iter().any(|skipped| skipped.id == pattern.uuid()), "{undone:?}");
    let runs = world.bank.consolidation.runs(&here(), soon()).await.unwrap();
    assert_eq!((runs.len(), runs.iter().filter(|run| run.undone.is_some()).count()), (3, 2));
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_recovery_that_came_twice_is_proposed_and_gone_when_the_run_is_undone() {
    let world = started(ConsolidationSchedule::Off).await;
    for n in 0..2 {
        let mut episode = told(n, "python", &["python", "pip install", "python"], true);
        episode.execution.trace[0].succeeded = Some(false);
        episode.execution.trace[0].output = Some("ModuleNotFoundError: No module named 'yaml'".into());
        let failure =
            serde_json::json!({"error": "ModuleNotFoundError: No module named 'yaml'", "resolution": "pip install"});
        episode.reflection.failures_analyzed = vec![serde_json::from_value(failure).unwrap()];
        world.record(episode, &format!("session {n}")).await;
    }
    let run = world.run(true).await;
    let mut categories = Vec::new();
    for id in changed(&run, ChangeKind::Proposed) {
        categories.push(world.bank.memories.pattern(id, &here(), soon()).await.unwrap().category);
    }
    assert!(categories.contains(&PatternCategory::Recovery) && categories.contains(&PatternCategory::Failure));
    let undone = world.undo(&run).await.undone.unwrap();
    assert_eq!((undone.taken_back, undone.skipped.len()), (categories.len() as u64, 0));
    assert_eq!(world.memories().await, []);
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn episodes_that_tell_the_same_become_one_and_come_back() {
    let world = started(ConsolidationSchedule::Off).await;
    let mut originals = Vec::new();
    for n in 0..4 {
        let same = NewEpisode::new("Fix the pager of the terminal", EpisodeStatus::Success);
        originals.push(world.record(same, &format!("session {n}")).await);
    }
    world.clock.advance(DAY * 40);
    let phase = async |id: TraceId| {
        let row = world.store.episode(id, None, soon()).await.unwrap().unwrap();
        (row.state.phase(Default::default(), world.clock.clock().now()), row.state.referenced_by.len())
    };
    let run = world.run(true).await;
    let made: TraceId = changed(&run, ChangeKind::Consolidated)[0].uuid().into();
    assert_eq!(changed(&run, ChangeKind::Archived).len(), 4);
    for id in &originals {
        assert_eq!(phase(*id).await, (EpisodePhase::Archived, 1));
    }
    let one = world.store.trace(made, None, soon()).await.unwrap().unwrap();
    assert_eq!(one.episode.unwrap().consolidated.unwrap().num_instances, 4);
    let of_session = EpisodeQuery::new(here(), Strategy::Structured, None, 5);
    let of_session = EpisodeQuery { session: Some("session 3".into()), ..of_session };
    let found = world.bank.episodes.search(of_session, soon()).await.unwrap().hits;
    assert_eq!(found.iter().map(|hit| hit.episode.episode_id).collect::<Vec<_>>(), [made]);

    let undone = world.undo(&run).await.undone.unwrap();
    assert_eq!((undone.taken_back, undone.skipped.len()), (5, 0));
    assert_eq!(world.store.trace(made, None, soon()).await.unwrap(), None);
    for id in &originals {
        assert_eq!(phase(*id).await, (EpisodePhase::Mature, 0));
    }

    let run = world.run(true).await;
    assert_eq!(changed(&run, ChangeKind::Consolidated)[0].uuid(), made.uuid(), "the same episodes have the same id");
    world.bank.episodes.erase(originals[0], &here(), soon()).await.unwrap();
    assert_eq!(world.store.trace(made, None, soon()).await.unwrap(), None, "it told what was erased");
    for id in &originals[1..] {
        assert_eq!(phase(*id).await, (EpisodePhase::Mature, 0), "the others come back");
    }
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn what_resolved_an_error_is_known_after_its_episodes_became_one() {
    let world = started(ConsolidationSchedule::Off).await;
    for n in 0..3 {
        let mut same = NewEpisode::new("Let the gateway take large uploads", EpisodeStatus::Success);
        let failure = serde_json::json!({
            "error": "the gateway gives no answer to an upload for half a minute",
            "resolution": "raise the proxy timeout",
        });
        same.reflection.failures_analyzed = vec![serde_json::from_value(failure).unwrap()];
        world.record(same, &format!("session {n}")).await;
    }
    world.clock.advance(DAY * 40);
    let run = world.run(true).await;
    let made: TraceId = changed(&run, ChangeKind::Consolidated)[0].uuid().into();
    let asked = RecoveryRequest::new("the gateway gives no answer to an upload", here());
    let advice = world.bank.context.recovery(asked, soon()).await.unwrap();
    let found: Vec<TraceId> = advice.similar_failures.iter().map(|one| one.episode_id).collect();
    assert_eq!(found, [made], "{advice:?}");
    assert!(advice.rendered.contains("Resolved by: raise the proxy timeout"), "{}", advice.rendered);
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn memories_that_say_the_same_become_one_and_come_back() {
    let world = started(ConsolidationSchedule::Off).await;
    let said = async |content: &str, task: &str| {
        world.clock.advance(SignedDuration::from_mins(1));
        let request =
            RecordRequest { task: Some(task.into()), workspace: here(), ..lesson("Calls to the bank", content) };
        world.bank.memories.record(request, soon()).await.unwrap().id
    };
    let first = said("Retry the call when it times out.", "Keep the billing client alive").await;
    // An edited text is not compared with what is there.
    let other = said("Ask the operator.", "Nightly report of the warehouse fails").await;
    let changes = Changes { content: Some("When it times out, retry the call".into()), ..Changes::default() };
    let edited = UpdateRequest { id: other, workspace: here(), changes, if_revisions: None };
    world.bank.memories.update(edited, soon()).await.unwrap();
    let apart = said("Retry the call when it is refused.", "Reach the other host").await;
    let before = world.memories().await;
    let planned = world.run(false).await;
    assert_eq!(world.memories().await, before, "a plan changes nothing");
    let run = world.run(true).await;
    for run in [&planned, &run] {
        assert_eq!(
            (changed(run, ChangeKind::Extended), changed(run, ChangeKind::Superseded)),
            (vec![first], vec![other])
        );
    }
    let of = async |id: MemoryId| world.bank.memories.get(id, &here(), soon()).await.unwrap();
    assert_eq!(of(other).await.superseded_by, Some(first));
    let query = RetrieveRequest::new("Nightly report of the warehouse fails", here(), 5);
    let found = world.bank.memories.retrieve(query, soon()).await.unwrap();
    assert_eq!(ids(&found).first(), Some(&first), "it is found by the task of the other");
    assert_eq!(changed(&world.run(true).await, ChangeKind::Superseded), [], "once is enough");
    assert_eq!(world.memories().await.len(), 3, "nothing is lost");

    let undone = world.undo(&run).await.undone.unwrap();
    assert_eq!((undone.taken_back, undone.skipped), (2, vec![]));
    assert_eq!(world.memories().await, before, "exactly what it was");
    let again = world.run(true).await;
    assert_eq!(changed(&again, ChangeKind::Superseded), [other], "whoever asks for it again gets it");
    world.bank.memories.delete(other, &here(), soon()).await.unwrap();
    let alone: Vec<Memory> = before.into_iter().filter(|memory| memory.id != other).collect();
    assert_eq!(world.memories().await, alone, "what is erased leaves no task with the other one");
    assert!(alone.iter().any(|memory| memory.id == apart));
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_project_that_has_no_records_yet_needs_no_run() {
    let world = started(ConsolidationSchedule::Off).await;
    for apply in [false, true] {
        let request = RunRequest { workspace: here(), trigger: RunTrigger::Person, apply };
        let run = world.bank.consolidation.run(request, soon()).await.unwrap();
        assert!(run.is_over() && run.changes().next().is_none(), "{run:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_process_runs_at_a_time_and_a_run_of_elsewhere_is_not_found() {
    let world = started(ConsolidationSchedule::Off).await;
    world.history().await;
    let run = world.run(true).await;
    let other = WorkspaceRef::Root("/there".into());
    let missing = world.bank.consolidation.undo(run.run_id, &other, soon()).await.unwrap_err();
    assert!(matches!(missing, Error::NotFound(_)), "{missing}");
    let held = world.lease.try_take();
    let request = RunRequest { workspace: here(), trigger: RunTrigger::Person, apply: true };
    let busy = world.bank.consolidation.run(request, soon()).await.unwrap_err();
    assert_eq!((&busy, busy.code()), (&Error::ConsolidationRunning, reasoning_bank_domain::note::Code::Conflict));
    drop(held);
    world.run(true).await;
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_due_waits_for_a_minute_in_which_nobody_is_served() {
    let world = started(ConsolidationSchedule::Weekly).await;
    world.history().await;
    let runs = async || world.bank.consolidation.runs(&here(), soon()).await.unwrap().len();
    let served = world.bank.activity.begin();
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(runs().await, 0, "somebody is served");
    drop(served);
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(runs().await, 1);
    world.clock.advance(DAY * 8);
    let _served = world.bank.activity.begin();
    tokio::time::sleep(Duration::from_secs(23 * 3_600)).await;
    assert_eq!(runs().await, 1);
    tokio::time::sleep(Duration::from_secs(2 * 3_600)).await;
    assert_eq!(runs().await, 2, "after a day it waits no longer");
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_due_begins_by_itself() {
    let world = started(ConsolidationSchedule::Weekly).await;
    world.history().await;
    let runs = async || world.bank.consolidation.runs(&here(), soon()).await.unwrap();
    // The time of the test is paused, so that an hour takes no longer than what happens in it.
    let after_an_hour = async || {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        runs().await
    };
    let first = after_an_hour().await;
    assert_eq!(first.iter().map(|run| run.trigger).collect::<Vec<_>>(), [RunTrigger::Schedule]);
    assert_eq!(after_an_hour().await.len(), 1, "a week is not over");
    world.clock.advance(DAY * 8);
    assert_eq!(after_an_hour().await.len(), 2);
    world.system.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cut_off_goes_on_under_the_key_of_its_request() {
    let world = started(ConsolidationSchedule::Off).await;
    world.history().await;
    let run = async |key: u128| {
        let request = RunRequest { workspace: here(), trigger: RunTrigger::Schedule, apply: true };
        world.bank.consolidation.carrying_out(Uuid::from_u128(key).into()).run(request, soon()).await
    };
    let commits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&commits);
    world.store.before_each(move |operation| match operation {
        "commit" if counted.fetch_add(1, Ordering::Relaxed) >= 3 => Err(StoreError::Unusable("no space left".into())),
        _ => Ok(()),
    });
    run(1).await.unwrap_err();
    world.store.fail_with(None);
    let cut_off = world.bank.consolidation.runs(&here(), soon()).await.unwrap().remove(0);
    assert_eq!((cut_off.stages.len(), cut_off.ended_at), (3, None));

    let whole = run(1).await.unwrap();
    let stages: Vec<StageName> = whole.stages.iter().map(|report| report.stage).collect();
    assert_eq!((whole.run_id, stages.as_slice()), (cut_off.run_id, &StageName::OF_EVERY_RUN[..]));
    assert_eq!(changed(&cut_off, ChangeKind::Proposed), changed(&whole, ChangeKind::Proposed));
    let before = world.memories().await;
    assert_eq!(run(1).await.unwrap().run_id, whole.run_id, "nothing is left to do");
    assert_eq!(
        (world.memories().await, world.bank.consolidation.runs(&here(), soon()).await.unwrap().len()),
        (before, 1)
    );
    assert_ne!(run(2).await.unwrap().run_id, whole.run_id, "another request is another run");
}
