//! Working memories: they outlive the actor and the process, and belong to one owner and to one process at a time.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use reasoning_bank_actors::episodes::EpisodeListRequest;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::ports::{Lease, LeaseGuard, StoreError};
use reasoning_bank_actors::system::{System, SystemParts};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{ManualClock, MemLogs, parts};
use reasoning_bank_actors::working::{ListedTask, WorkingTask};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::episode::{EpisodeStatus, EpisodeSummary};
use reasoning_bank_domain::memory::ids::{KeyedRequestId, TraceId};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::working::{
    Operation, SetValue, TOTAL_TOKENS, TaskContext, TaskEnd, ValueScope, WorkingValueKind,
};
use serde_json::json;

use super::support::soon;

async fn process(logs: &MemLogs) -> System {
    Bank { logs: logs.clone(), ..Bank::default() }.open(false).await
}

/// The parts of a bank that processes share.
#[derive(Clone, Default)]
struct Bank {
    logs: MemLogs,
    store: Arc<MemStore>,
    clock: ManualClock,
}

impl Bank {
    /// Starts a process, which serves or not.
    async fn open(&self, serves: bool) -> System {
        let parts = SystemParts {
            working: Arc::new(self.logs.clone()),
            clock: self.clock.clock(),
            background: serves.then(|| Arc::new(NeverFree) as Arc<_>),
            ..parts(Arc::clone(&self.store) as Arc<_>, NoModel)
        };
        // A test that starts several has a small stack.
        Box::pin(System::start(parts)).await.unwrap()
    }

    /// Registers the workspace of the tasks, as opening one does.
    async fn register(&self) {
        let system = self.open(false).await;
        let workspace = system.handle().workspaces.resolve(&shop(), soon()).await.unwrap().workspace.registered();
        system.handle().memories.restore(vec![Restorable::Workspace(workspace)], soon()).await.unwrap();
        system.stop(Duration::from_secs(5)).await;
    }
}

async fn episodes(system: &System) -> Vec<EpisodeSummary> {
    system.handle().episodes.list(EpisodeListRequest::new(shop(), 100), soon()).await.unwrap().episodes
}

/// The lease of background jobs, which another process has.
struct NeverFree;

impl Lease for NeverFree {
    fn try_take(&self) -> Option<LeaseGuard> {
        None
    }
}

fn shop() -> WorkspaceRef {
    WorkspaceRef::Root("/shop".into())
}

/// Lets what runs in the background go on until the condition holds.
async fn until(mut condition: impl AsyncFnMut() -> bool) {
    for _ in 0..10_000 {
        if condition().await {
            return;
        }
        tokio::task::spawn_blocking(std::thread::yield_now).await.unwrap();
    }
    panic!("the condition never holds");
}

fn set(key: &str, value: &str) -> Operation {
    Operation::Set(SetValue {
        key: key.into(),
        scope: ValueScope::Task,
        kind: WorkingValueKind::Task,
        value: json!(value),
    })
}

async fn begun(system: &System, owner: &str) -> WorkingTask {
    let working = system.handle().working;
    working.begin(WorkspaceId::of_root("/shop"), owner.into(), "It runs cargo.".into(), soon()).await.unwrap()
}

async fn shown(system: &System, task: &WorkingTask, operations: Vec<Operation>) -> Result<String, Error> {
    let read = |memory: &reasoning_bank_domain::working::WorkingMemory, _| memory.context(TOTAL_TOKENS).text;
    system.handle().working.apply(task, operations, soon(), read).await
}

#[tokio::test]
async fn a_task_whose_log_another_process_removed_is_no_longer_shown() {
    let bank = Bank::default();
    bank.register().await;
    let system = bank.open(false).await;
    let task = begun(&system, "ann").await;
    assert!(shown(&system, &task, Vec::new()).await.is_ok());
    bank.logs.remove_all(&task.workspace);
    let gone = shown(&system, &task, Vec::new()).await.unwrap_err();
    assert!(matches!(gone, Error::NotFound(_)), "{gone}");
}

#[tokio::test]
async fn a_request_with_a_key_begins_one_task_and_is_carried_out_once_over_processes() {
    let bank = Bank::default();
    bank.register().await;
    let [opens, notes] = [1, 2].map(|n| KeyedRequestId::from(uuid::Uuid::from_u128(n)));
    let mut tasks = Vec::new();
    for _process in 0..2 {
        let system = bank.open(false).await;
        let working = system.handle().working;
        for _try in 0..2 {
            let opening = working.carrying_out(opens);
            let task = opening.begin(WorkspaceId::of_root("/shop"), "ann".into(), String::new(), soon()).await.unwrap();
            let note = Operation::PushState { state: None, note: Some("it compiles".into()) };
            working.carrying_out(notes).apply(&task, vec![note], soon(), |_, _| ()).await.unwrap();
            tasks.push(task);
        }
        let text = shown(&system, &tasks[0], Vec::new()).await.unwrap();
        assert_eq!(text.matches("it compiles").count(), 1, "{text}");
        system.stop(Duration::ZERO).await;
    }
    assert!(tasks.iter().all(|task| *task == tasks[0]), "{tasks:?}");
}

#[tokio::test]
async fn a_task_outlives_a_crash_of_the_actor_and_its_process() {
    let bank = Bank::default();
    bank.register().await;
    let logs = bank.logs.clone();
    let system = bank.open(false).await;
    let task = begun(&system, "ann").await;
    let load = Operation::LoadTask(TaskContext { description: "Ship it".into(), ..TaskContext::default() });
    let before = shown(&system, &task, vec![load, set("branch", "main")]).await.unwrap();
    assert!(before.contains("Ship it") && before.contains("task.branch [value:1]: main"), "{before}");
    assert!(system.handle().faults("working").panic().await);
    assert_eq!(shown(&system, &task, Vec::new()).await.unwrap(), before);

    // Another process has to wait until this one has ended.
    let other = bank.open(false).await;
    assert!(matches!(shown(&other, &task, Vec::new()).await, Err(Error::TaskInUse(id)) if id == task.id));
    assert!(other.handle().working.list(&task.workspace, "ann", soon()).await.unwrap().is_empty());
    let all = other.handle().working.list_all(&task.workspace, "ann", soon()).await.unwrap();
    let [elsewhere] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((elsewhere.is_elsewhere, elsewhere.memory.context(TOTAL_TOKENS).text), (true, before.clone()));
    assert!(other.handle().working.list_all(&task.workspace, "eve", soon()).await.unwrap().is_empty());
    system.stop(Duration::from_secs(5)).await;
    assert_eq!(shown(&other, &task, Vec::new()).await.unwrap(), before);
    let listed = other.handle().working.list(&task.workspace, "ann", soon()).await.unwrap();
    assert_eq!(listed.iter().map(|task| task.id).collect::<Vec<_>>(), [task.id]);

    // A process that only looked at the list has taken nothing from others.
    let third = process(&logs).await;
    let listed = third.handle().working.list(&task.workspace, "ann", soon()).await.unwrap();
    assert!(listed.is_empty(), "the other process works on it");
    other.handle().working.close(&task, TaskEnd::unknown(), soon()).await.unwrap();
    assert!(matches!(shown(&other, &task, Vec::new()).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn a_list_reads_the_tasks_of_other_processes_only_where_it_shows_them_and_leaves_out_what_it_cannot_read() {
    let logs = MemLogs::default();
    let (first, second) = (process(&logs).await, process(&logs).await);
    let (elsewhere, own) = (begun(&first, "ann").await, begun(&second, "ann").await);
    let working = second.handle().working;
    let ids = |listed: Vec<ListedTask>| listed.into_iter().map(|task| task.id).collect::<Vec<_>>();
    assert_eq!(ids(working.list(&own.workspace, "ann", soon()).await.unwrap()), [own.id]);
    assert_eq!(logs.reads(), 0);
    let all = ids(working.list_all(&own.workspace, "ann", soon()).await.unwrap());
    assert!(all.len() == 2 && all.contains(&elsewhere.id), "{all:?}");
    logs.refuse_reads(true);
    assert_eq!(ids(working.list_all(&own.workspace, "ann", soon()).await.unwrap()), [own.id]);
}

#[tokio::test]
async fn a_log_that_hangs_keeps_nobody_waiting_but_those_who_ask_for_its_task() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let (hanging, other) = (begun(&system, "ann").await, begun(&system, "ann").await);
    system.stop(Duration::from_secs(5)).await;
    let system = process(&logs).await;
    let hang = logs.hang(&hanging.workspace, hanging.id);
    let asked = || shown(&system, &hanging, Vec::new());
    let (first, second, ()) = tokio::join!(asked(), asked(), async {
        assert!(shown(&system, &other, Vec::new()).await.is_ok());
        drop(hang);
    });
    assert!(first.is_ok() && first == second, "one opening answers both: {first:?}, {second:?}");
}

#[tokio::test]
async fn who_lists_tasks_takes_none_from_other_processes() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let task = begun(&system, "ann").await;
    system.stop(Duration::from_secs(5)).await;
    let (first, second) = (process(&logs).await, process(&logs).await);
    for owner in ["ann", "bob"] {
        let listed = first.handle().working.list(&task.workspace, owner, soon()).await.unwrap();
        assert_eq!(listed.len(), usize::from(owner == "ann"));
        assert!(shown(&first, &WorkingTask { owner: "bob".into(), ..task.clone() }, Vec::new()).await.is_err());
    }
    assert!(shown(&second, &task, Vec::new()).await.is_ok());
}

#[tokio::test]
async fn nobody_but_its_owner_knows_of_a_task() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let task = begun(&system, "ann").await;
    let foreign = WorkingTask { owner: "bob".into(), ..task.clone() };
    let elsewhere = WorkingTask { workspace: WorkspaceId::of_root("/bank"), ..task.clone() };
    for other in [foreign, elsewhere] {
        assert!(matches!(shown(&system, &other, vec![set("a", "b")]).await, Err(Error::NotFound(_))));
    }
    assert!(system.handle().working.list(&task.workspace, "bob", soon()).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_operation_that_is_not_possible_changes_nothing_and_no_secret_is_kept() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let task = begun(&system, "ann").await;
    let secret = format!("sk-or-v1-{}", "ab12".repeat(16));
    let kept = shown(&system, &task, vec![set("key", &secret)]).await.unwrap();
    assert!(!kept.contains(&secret) && kept.contains("task.key"), "{kept}");
    let before = logs.lines();
    let refused = shown(&system, &task, vec![Operation::Restore(7)]).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no snapshot 7");
    let refused = shown(&system, &task, vec![set("other", "1"), set("more", "2"), set(" ", "3")]).await.unwrap_err();
    assert_eq!(refused.to_string(), "set[2].key: is missing or blank");
    assert_eq!(logs.lines(), before, "no part of what is not possible as a whole is kept");
    assert_eq!(shown(&system, &task, Vec::new()).await.unwrap(), kept);
}

#[tokio::test]
async fn a_task_that_was_not_used_for_long_comes_back_from_its_log() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let first = begun(&system, "ann").await;
    let before = shown(&system, &first, vec![set("branch", "main")]).await.unwrap();
    for _ in 0..1_030 {
        begun(&system, "ann").await;
    }
    assert_eq!(shown(&system, &first, Vec::new()).await.unwrap(), before);
}

#[tokio::test]
async fn a_task_is_closed_once_wherever_that_is_cut_off() {
    let bank = Bank::default();
    bank.register().await;
    let failed = TaskEnd { status: EpisodeStatus::Failure, ..TaskEnd::unknown() };
    // Before its episode is stored, and before its log is removed.
    for cut_off in ["store", "log"] {
        let system = bank.open(false).await;
        let task = begun(&system, "ann").await;
        shown(&system, &task, vec![set("branch", cut_off)]).await.unwrap();
        if cut_off == "store" {
            bank.store.fail_with(Some(StoreError::Unusable("the disk is full".into())));
        }
        bank.logs.keep_removed(cut_off == "log");
        system.handle().working.close(&task, failed.clone(), soon()).await.unwrap_err();
        // Nothing is added to a task that is being closed.
        shown(&system, &task, vec![set("branch", "other")]).await.unwrap_err();
        system.stop(Duration::from_secs(5)).await;
        bank.store.fail_with(None);
        bank.logs.keep_removed(false);
        assert!(bank.logs.lines().0 > 0);

        let next = bank.open(false).await;
        assert!(next.handle().working.list(&task.workspace, "ann", soon()).await.unwrap().is_empty());
        assert_eq!(bank.logs.lines(), (0, 0));
        let again = next.handle().working.close(&task, TaskEnd::unknown(), soon()).await;
        assert!(matches!(again, Err(Error::NotFound(_))));
        let episode = next.handle().episodes.get(TraceId::from(task.id.uuid()), &shop(), soon()).await.unwrap();
        assert_eq!(episode.outcome.status, EpisodeStatus::Failure);
        assert_eq!(episode.execution.trace[0].output.as_deref(), Some(cut_off));
        assert_eq!(episodes(&next).await.len(), if cut_off == "store" { 1 } else { 2 });
        next.stop(Duration::from_secs(5)).await;
    }
}

#[tokio::test]
async fn two_tasks_of_the_same_words_are_two_episodes() {
    let bank = Bank::default();
    bank.register().await;
    let system = bank.open(false).await;
    for branch in ["main", "next"] {
        let task = begun(&system, "ann").await;
        shown(&system, &task, vec![set("branch", branch)]).await.unwrap();
        let end = TaskEnd { session: Some("s".into()), ..TaskEnd::unknown() };
        system.handle().working.close(&task, end, soon()).await.unwrap();
    }
    assert_eq!(episodes(&system).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_nobody_touches_for_two_weeks_is_closed_by_a_process_that_serves() {
    let bank = Bank::default();
    bank.register().await;
    let (first, owner) = (bank.open(false).await, bank.open(false).await);
    let (old, held) = (begun(&first, "ann").await, begun(&owner, "ann").await);
    let touched = begun(&first, "bob").await;
    shown(&first, &old, vec![set("branch", "main")]).await.unwrap();
    bank.clock.advance(SignedDuration::from_hours(24 * 13));
    shown(&first, &touched, vec![set("branch", "main")]).await.unwrap();
    first.stop(Duration::from_secs(5)).await;

    let serving = bank.open(true).await;
    let mut minutes = 0;
    until(async || {
        tokio::time::advance(Duration::from_secs(60)).await;
        minutes += 1;
        minutes == 130
    })
    .await;
    assert_eq!(episodes(&serving).await.len(), 0, "after 13 days");
    bank.clock.advance(SignedDuration::from_hours(24));
    until(async || {
        tokio::time::advance(Duration::from_secs(60)).await;
        episodes(&serving).await.len() == 1
    })
    .await;
    let episode = &episodes(&serving).await[0];
    assert_eq!((episode.episode_id.uuid(), episode.status), (old.id.uuid(), EpisodeStatus::Partial));
    assert!(matches!(shown(&serving, &old, Vec::new()).await, Err(Error::NotFound(_))));
    assert!(matches!(shown(&serving, &held, Vec::new()).await, Err(Error::TaskInUse(_))), "another process has it");
    assert!(shown(&serving, &touched, Vec::new()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_was_answered_is_on_the_disk_within_five_seconds_and_when_the_process_ends() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let task = begun(&system, "ann").await;
    let begun = tokio::time::Instant::now();
    shown(&system, &task, vec![set("a", "1"), set("b", "2")]).await.unwrap();
    assert_eq!(logs.lines(), (3, 1));
    // The actor has heard of it when it answers the next request.
    shown(&system, &task, Vec::new()).await.unwrap();
    tokio::time::advance(Duration::from_secs(2)).await;
    shown(&system, &task, vec![set("c", "3")]).await.unwrap();
    tokio::time::advance(Duration::from_millis(2_001)).await;
    until(async || logs.lines() == (4, 4)).await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // The next operation starts the time anew.
    shown(&system, &task, vec![set("d", "4")]).await.unwrap();
    shown(&system, &task, Vec::new()).await.unwrap();
    tokio::time::advance(Duration::from_millis(4_001)).await;
    until(async || logs.lines() == (5, 5)).await;
    shown(&system, &task, vec![set("e", "5")]).await.unwrap();
    assert_eq!(logs.lines(), (6, 5));
    system.stop(Duration::from_secs(5)).await;
    until(async || logs.lines() == (6, 6)).await;
}
