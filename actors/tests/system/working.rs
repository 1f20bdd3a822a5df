//! Working memories: they outlive the actor and the process, and belong to one owner and to one process at a time.

use std::sync::Arc;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::model::NoModel;
use reasoning_bank_actors::system::{System, SystemParts};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::{MemLogs, parts};
use reasoning_bank_actors::working::WorkingTask;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::working::{Operation, SetValue, TOTAL_TOKENS, TaskContext, ValueScope, WorkingValueKind};
use serde_json::json;

use super::support::soon;

async fn process(logs: &MemLogs) -> System {
    let parts = parts(Arc::new(MemStore::new()), NoModel);
    System::start(SystemParts { working: Arc::new(logs.clone()), ..parts }).await.unwrap()
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
async fn a_task_outlives_a_crash_of_the_actor_and_its_process() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let task = begun(&system, "ann").await;
    let load = Operation::LoadTask(TaskContext { description: "Ship it".into(), ..TaskContext::default() });
    let before = shown(&system, &task, vec![load, set("branch", "main")]).await.unwrap();
    assert!(before.contains("Ship it") && before.contains("task.branch [value:1]: main"), "{before}");
    assert!(system.handle().faults("working").panic().await);
    assert_eq!(shown(&system, &task, Vec::new()).await.unwrap(), before);

    // Another process has to wait until this one has ended.
    let other = process(&logs).await;
    assert!(matches!(shown(&other, &task, Vec::new()).await, Err(Error::Conflict(_))));
    assert!(other.handle().working.list(&task.workspace, "ann", soon()).await.unwrap().is_empty());
    system.stop(std::time::Duration::from_secs(5)).await;
    assert_eq!(shown(&other, &task, Vec::new()).await.unwrap(), before);
    let listed = other.handle().working.list(&task.workspace, "ann", soon()).await.unwrap();
    assert_eq!(listed.iter().map(|task| task.id).collect::<Vec<_>>(), [task.id]);

    // Who only looked at the list has taken nothing from others.
    let third = process(&logs).await;
    let listed = third.handle().working.list(&task.workspace, "ann", soon()).await.unwrap();
    assert!(listed.is_empty(), "the other process works on it");
    other.handle().working.close(&task, async |_| Ok(()), soon()).await.unwrap();
    assert!(matches!(shown(&other, &task, Vec::new()).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn who_lists_tasks_takes_none_from_other_processes() {
    let logs = MemLogs::default();
    let system = process(&logs).await;
    let task = begun(&system, "ann").await;
    system.stop(std::time::Duration::from_secs(5)).await;
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
    let refused = shown(&system, &task, vec![Operation::Restore(7)]).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no snapshot 7");
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
