//! Tests of trace files: they are there, they fail nothing, and they go with their traces.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use reasoning_bank_actors::ports::{EraseScope, MemoryStore, Record};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_store::{ArtefactFiles, TraceFileOptions, TraceFiles};
use serde_json::Value;

use crate::store_fixtures::*;
use crate::support::{Place, Ran};

struct Kept {
    top: tempfile::TempDir,
    inner: Arc<MemStore>,
}

impl Kept {
    fn new() -> Self {
        Self { top: tempfile::tempdir().unwrap(), inner: Arc::new(MemStore::new()) }
    }

    fn dir(&self) -> PathBuf {
        self.top.path().join("deep/traces")
    }

    fn store(&self, write: bool, retention_days: u32) -> TraceFiles {
        let options = TraceFileOptions { dir: self.dir(), write, retention_days };
        TraceFiles::new(self.inner.clone(), options, ArtefactFiles::of(self.top.path()))
    }

    fn files(&self) -> Vec<String> {
        names(&self.dir())
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn file(trace: &Trace) -> String {
    format!("{}.json", trace.trace_id)
}

/// Makes a trace whose id is as old as the trace is.
fn made_at(created_at: Timestamp, workspace: &WorkspaceId) -> Trace {
    let random = *uuid::Uuid::now_v7().as_bytes();
    let counter = std::array::from_fn(|n| random[n + 6]);
    let id = uuid::Builder::from_unix_timestamp_millis(created_at.as_millisecond() as u64, &counter).into_uuid();
    Trace { trace_id: id.into(), created_at, ..trace(workspace, "task") }
}

async fn commit(store: &TraceFiles, traces: &[&Trace]) {
    let batch = traces.iter().map(|trace| Record::Trace((*trace).clone())).collect();
    store.commit(batch, soon()).await.unwrap();
}

async fn stored(store: &TraceFiles) -> usize {
    store.reads().traces(None, everything(), soon()).await.unwrap().len()
}

#[tokio::test]
async fn every_stored_trace_is_a_file_that_only_its_owner_reads() {
    let kept = Kept::new();
    let store = kept.store(true, 0);
    let traces = [1, 2].map(|n| trace(&workspace("/here"), &format!("task {n}")));
    commit(&store, &[&traces[0], &traces[1]]).await;
    commit(&store, &[&traces[0]]).await;
    let mut expected = traces.each_ref().map(file);
    expected.sort();
    assert_eq!(kept.files(), expected);
    for trace in &traces {
        let path = kept.dir().join(file(trace));
        assert_eq!(serde_json::from_slice::<Trace>(&fs::read(&path).unwrap()).unwrap(), *trace);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(kept.dir()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_file_follows_the_revisions_of_its_trace_and_never_goes_back() {
    let kept = Kept::new();
    let store = kept.store(true, 0);
    let judged = trace(&workspace("/here"), "task");
    let [failed, partial] = [(1, Outcome::Failure), (2, Outcome::Partial)].map(|(revision, outcome)| Trace {
        revision,
        outcome,
        ..judged.clone()
    });
    let written = || serde_json::from_slice::<Value>(&fs::read(kept.dir().join(file(&judged))).unwrap()).unwrap();
    commit(&store, &[&judged]).await;
    assert_eq!((&written()["outcome"], written().get("revision")), (&"success".into(), None));
    let lost = Trace { outcome: Outcome::Success, ..failed.clone() };
    let verdict = async |trace: &Trace| store.commit(vec![Record::Verdict(trace.clone())], soon()).await;
    for (asked, stays) in [(&failed, "failure"), (&lost, "failure"), (&partial, "partial"), (&failed, "partial")] {
        assert_eq!(verdict(asked).await.is_ok(), written()["outcome"] == asked.outcome.as_str(), "{asked:?}");
        assert_eq!(written()["outcome"], stays);
        commit(&store, &[&judged]).await;
        assert_eq!(written()["outcome"], stays);
    }
    assert_eq!(written()["revision"], 2);
    assert_eq!(kept.files(), [file(&judged)]);
}

#[tokio::test]
async fn without_being_asked_for_there_is_no_file() {
    let kept = Kept::new();
    commit(&kept.store(false, 0), &[&trace(&workspace("/here"), "task")]).await;
    assert!(!kept.dir().exists());
}

#[tokio::test]
async fn a_file_that_cannot_be_written_fails_no_commit_and_a_failed_commit_writes_no_file() {
    let kept = Kept::new();
    let store = kept.store(true, 0);
    let refused = trace(&workspace("/here"), "refused");
    kept.inner.fail_with(Some(reasoning_bank_actors::ports::StoreError::TimedOut));
    store.commit(vec![Record::Trace(refused)], soon()).await.unwrap_err();
    kept.inner.fail_with(None);
    assert!(!kept.dir().exists());
    fs::write(kept.top.path().join("deep"), "no directory").unwrap();
    commit(&store, &[&trace(&workspace("/here"), "task")]).await;
    assert_eq!(stored(&store).await, 1);
}

#[tokio::test]
async fn files_go_with_their_traces_also_when_none_are_written_any_more() {
    let kept = Kept::new();
    let [here, there] = [workspace("/here"), workspace("/there")];
    let made = |workspace, hours| made_at(now() + SignedDuration::from_hours(hours), workspace);
    let [old, young, other] = [made(&here, 0), made(&here, 9), made(&there, 0)];
    commit(&kept.store(true, 0), &[&old, &young, &other]).await;
    let foreign = ["notes.txt", "0.json", "0199f0a0-0000-7000-8000-000000000000.json"];
    for name in foreign {
        fs::write(kept.dir().join(name), "{\"trace_id\": \"of something else\"}").unwrap();
    }
    let own = || kept.files().into_iter().filter(|name| !foreign.contains(&name.as_str())).collect::<Vec<_>>();
    let store = kept.store(false, 0);
    let before = now() + SignedDuration::from_hours(1);
    let scope = EraseScope::Traces { workspace: Some(here.clone()), before };
    assert_eq!(store.erase(scope, soon()).await.unwrap().traces, 1);
    let mut expected = [file(&young), file(&other)];
    expected.sort();
    assert_eq!(own(), expected);
    store.erase(EraseScope::Workspace(here), soon()).await.unwrap();
    assert_eq!(own(), [file(&other)]);
    assert_eq!(kept.files().len(), 1 + foreign.len());
    store.erase(EraseScope::Memory(uuid::Uuid::now_v7().into()), soon()).await.unwrap();
    assert_eq!(own(), [file(&other)]);
}

#[tokio::test]
async fn files_that_cannot_be_read_keep_no_row_and_no_other_file() {
    let kept = Kept::new();
    let here = workspace("/here");
    let [old, other] = [0, 1].map(|hours| made_at(now() + SignedDuration::from_hours(hours), &here));
    let store = kept.store(true, 0);
    commit(&store, &[&old, &other]).await;
    let (unreadable, young) = (made_at(now(), &here), made_at(now() + SignedDuration::from_hours(30), &here));
    for directory in [&unreadable, &young] {
        fs::create_dir(kept.dir().join(file(directory))).unwrap();
    }
    let scope = EraseScope::Traces { workspace: None, before: now() + SignedDuration::from_hours(24) };
    let error = store.erase(scope.clone(), soon()).await.unwrap_err();
    assert!(error.to_string().contains("not all trace files"), "{error}");
    assert_eq!(stored(&store).await, 0, "the rows are gone");
    let mut left = [&unreadable, &young].map(file);
    left.sort();
    assert_eq!(kept.files(), left);
    fs::remove_dir(kept.dir().join(file(&unreadable))).unwrap();
    store.erase(scope, soon()).await.expect("what is younger is not read");
}

#[tokio::test]
async fn upkeep_removes_traces_that_were_kept_long_enough() {
    let kept = Kept::new();
    let made = |days: i64| made_at(Timestamp::now() - SignedDuration::from_hours(24 * days), &workspace("/here"));
    let [old, young] = [made(12), made(9)];
    commit(&kept.store(true, 0), &[&old, &young]).await;
    kept.store(true, 0).maintain(soon()).await.unwrap();
    assert_eq!(kept.files().len(), 2);
    let store = kept.store(true, 10);
    store.maintain(soon()).await.unwrap();
    assert_eq!(kept.files(), [file(&young)]);
    assert_eq!(stored(&store).await, 1);
}

#[test]
fn a_solved_task_leaves_its_trace_document_where_the_environment_says() {
    let place = Place::with_instant_model();
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        Ran::of(command.env("REASONING_BANK_TRACES", place.path("traces")).output().unwrap()).ok()
    };
    let solved = run(&["--llm", "simulated", "--json", "solve", "Write a binary search"]);
    assert_eq!(solved.stderr, "", "no warning");
    let id = solved.json()["trace_id"].as_str().unwrap().to_owned();
    let path = place.path("traces").join(format!("{id}.json"));
    let document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(document["trajectory"][0]["action"], "recall");
    assert_eq!(document, run(&["trace", "show", &id, "--json"]).json());
    run(&["workspace", "purge-traces", "--yes"]);
    assert_eq!(names(&place.path("traces")), [""; 0]);
}
