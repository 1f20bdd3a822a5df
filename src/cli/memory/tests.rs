use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::soon;
use reasoning_bank_domain::note::Code;
use serde_json::Value;

use super::*;
use crate::cli::args::{Cli, Command, MemoryCommand};
use crate::cli::testing::{loaded, system, system_over};

fn search_args(line: &[&str]) -> SearchArgs {
    let cli = Cli::try_parse_from(["x", "memory", "search"].iter().chain(line)).unwrap();
    let Command::Memory(MemoryCommand::Search(args)) = cli.command else { panic!("another command") };
    args
}

fn record_args(line: &[&str]) -> RecordArgs {
    let cli = Cli::try_parse_from(["x", "memory", "record"].iter().chain(line)).unwrap();
    let Command::Memory(MemoryCommand::Record(args)) = cli.command else { panic!("another command") };
    *args
}

const STRATEGY: &[&str] =
    &["--title", "Bound retries", "--description", "Calling a service", "--content", "At most three"];
const WARNING: &[&str] = &[
    "--title",
    "Retry storm",
    "--description",
    "Calling a service",
    "--content",
    "It stayed down",
    "--error-type",
    "Overload",
    "--failure-pattern",
    "retried at once",
    "--corrective-guidance",
    "back off",
    "--tag",
    "net",
];

#[tokio::test]
async fn what_was_recorded_is_found_and_shown() {
    let (system, loaded) = (system().await, loaded());
    let handle = system.handle();
    let strategy = record(record_args(STRATEGY), &loaded, &handle, soon()).await.unwrap();
    let warning = record(record_args(WARNING), &loaded, &handle, soon()).await.unwrap();

    let all = search(search_args(&["service"]), &loaded, &handle, soon()).await.unwrap();
    assert_eq!(all.memories.len(), 2);
    let errors = search(search_args(&["service", "--errors-only"]), &loaded, &handle, soon()).await.unwrap();
    let ids: Vec<MemoryId> = errors.memories.iter().map(|entry| entry.memory.id).collect();
    assert_eq!(ids, [warning.id]);
    let tagged = search(search_args(&["service", "--tag", "net", "--n", "1"]), &loaded, &handle, soon()).await;
    assert_eq!(tagged.unwrap().memories[0].memory.id, warning.id);

    assert_eq!(get(strategy.id, &loaded, &handle, soon()).await.unwrap().memory.title, "Bound retries");
    let unknown = get(MemoryId::from(uuid::Uuid::nil()), &loaded, &handle, soon()).await.unwrap_err();
    assert_eq!((unknown.code, unknown.exit.code()), (Code::NotFound, 1));
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn a_file_names_its_workspace_unless_the_flag_does() {
    let (system, mut loaded) = (system().await, loaded());
    let handle = system.handle();
    let place = tempfile::tempdir().unwrap();
    let other = place.path().join("other");
    let file = place.path().join("lesson.json");
    let lesson = serde_json::json!({"title": "t", "description": "d", "content": "c", "workspace": other});
    std::fs::write(&file, lesson.to_string()).unwrap();
    let args = || record_args(&["--file", file.to_str().unwrap()]);

    let there = record(args(), &loaded, &handle, soon()).await.unwrap().id;
    assert_eq!(get(there, &loaded, &handle, soon()).await.unwrap_err().code, Code::NotFound);

    loaded.workspace_is_named = true;
    let here = record(args(), &loaded, &handle, soon()).await.unwrap().id;
    assert_eq!(get(here, &loaded, &handle, soon()).await.unwrap().memory.title, "t");
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn an_incomplete_memory_is_refused_with_all_that_is_missing() {
    let (system, loaded) = (system().await, loaded());
    let refused = record(record_args(&["--title", " "]), &loaded, &system.handle(), soon()).await.unwrap_err();
    assert_eq!((refused.code, refused.exit.code()), (Code::MemoryInvalid, 2));
    for field in ["title", "description", "content"] {
        assert!(refused.message.contains(field), "{}", refused.message);
    }
    system.stop(Duration::from_secs(5)).await;
}

async fn exported(all: bool, vectors: bool, loaded: &Loaded, system: &SystemHandle) -> Vec<Value> {
    let workspace = (!all).then_some(&loaded.workspace);
    let mut out = Vec::new();
    export(workspace, ExportOptions { vectors, jobs: false }, false, system, &mut out).await.unwrap();
    let lines: Vec<Value> = out.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();

    let mut array = Vec::new();
    export(workspace, ExportOptions { vectors, jobs: false }, true, system, &mut array).await.unwrap();
    assert_eq!(serde_json::from_slice::<Vec<Value>>(&array).unwrap(), lines);
    lines
}

#[tokio::test]
async fn an_export_is_in_the_order_of_ids_and_has_vectors_where_asked_for() {
    let (system, mut loaded) = (system().await, loaded());
    let handle = system.handle();
    record(record_args(STRATEGY), &loaded, &handle, soon()).await.unwrap();
    record(record_args(WARNING), &loaded, &handle, soon()).await.unwrap();
    record(record_args(WARNING), &loaded, &handle, soon()).await.unwrap();

    let lines = exported(false, false, &loaded, &handle).await;
    assert!(lines.is_sorted_by_key(|line| line["id"].as_str().unwrap().to_owned()));
    // The id of a signal follows from what it is about, so that it may have any place.
    let (signals, memories): (Vec<&Value>, Vec<&Value>) = lines.iter().partition(|line| line["kind"] == "signal");
    assert_eq!((signals.len(), &signals[0]["signal"]), (1, &Value::from("confirmed")));
    assert!(memories.len() == 2 && memories.iter().all(|line| line["kind"] == "memory"));
    assert!(lines.iter().all(|line| line.get("passages").is_none() && line.get("embedder").is_none()));

    let lines = exported(false, true, &loaded, &handle).await;
    let memory = lines.iter().find(|line| line["kind"] == "memory").unwrap();
    assert!(memory["embedder"].is_string());
    assert!(!memory["passages"][0]["vector"].as_array().unwrap().is_empty());

    loaded.workspace = WorkspaceRef::Root("/elsewhere".into());
    assert_eq!(exported(false, false, &loaded, &handle).await.len(), 0);
    assert_eq!(exported(true, false, &loaded, &handle).await.len(), 3);
    system.stop(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn an_export_of_an_unknown_workspace_is_refused() {
    let system = system().await;
    let unknown = WorkspaceRef::Id("0123456789abcdef".parse().unwrap());
    let mut out = Vec::new();
    let refused =
        export(Some(&unknown), ExportOptions { vectors: false, jobs: false }, true, &system.handle(), &mut out)
            .await
            .unwrap_err();
    assert_eq!((refused.code, refused.exit.code()), (Code::WorkspaceUnknown, 2));
    assert_eq!(out, b"");
    system.stop(Duration::from_secs(5)).await;
}

/// An output that has room for one line.
#[derive(Default)]
struct Full(Vec<u8>);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.is_empty() { self.0.write(bytes) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn an_export_says_whether_it_failed_before_or_after_its_first_line() {
    let store = Arc::new(MemStore::new());
    let (system, loaded) = (system_over(Arc::clone(&store)).await, loaded());
    let handle = system.handle();
    record(record_args(STRATEGY), &loaded, &handle, soon()).await.unwrap();
    record(record_args(WARNING), &loaded, &handle, soon()).await.unwrap();

    let mut out = Full::default();
    let later = export(None, ExportOptions { vectors: true, jobs: false }, true, &handle, &mut out).await.unwrap_err();
    assert!(later.is_after_output, "{later:?}");
    assert!(out.0.starts_with(b"[{"));
    store.fail_with(Some(StoreError::Failed("the disk is gone".into())));
    let mut out = Vec::new();
    let at_once =
        export(None, ExportOptions { vectors: true, jobs: false }, true, &handle, &mut out).await.unwrap_err();
    assert!(!at_once.is_after_output && out.is_empty(), "{at_once:?}");
    system.stop(Duration::from_secs(5)).await;
}
