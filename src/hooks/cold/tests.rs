use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reasoning_bank_actors::memories::RecordRequest;
use reasoning_bank_actors::ports::Embedder;
use reasoning_bank_actors::system::System;
use reasoning_bank_actors::testkit::{HashEmbedder, Scripted, parts, soon};
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_clients::{AgentClient, HookCall};
use reasoning_bank_domain::memory::{ErrorContext, Scope, SourceType, Trust};
use reasoning_bank_store::{LanceStore, Options};

use super::*;
use crate::settings::{self, SettingSources};

const TIMEOUT: Duration = Duration::from_secs(20);

/// A data directory and a project, which nobody serves.
struct Quiet {
    place: tempfile::TempDir,
    loaded: Loaded,
}

impl Quiet {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let (data, project) = (place.path().join("data"), place.path().join("project"));
        fs::create_dir_all(&data).unwrap();
        fs::create_dir_all(&project).unwrap();
        let sources = SettingSources { directory: project, data_home: Some(data.clone()), ..SettingSources::default() };
        let mut loaded = settings::load(&sources).unwrap();
        loaded.settings.data_dir = data;
        Self { place, loaded }
    }

    fn project(&self) -> PathBuf {
        self.place.path().join("project").canonicalize().unwrap()
    }

    /// Records what a session learned, and ends the bank.
    async fn learned(&self) {
        let fingerprint = HashEmbedder::new().fingerprint().clone();
        let store = LanceStore::open(&self.loaded.settings.data_dir, &fingerprint, Options::default()).await.unwrap();
        let store = Arc::new(store);
        let system = System::start(parts(Arc::clone(&store) as Arc<_>, Scripted::default())).await.unwrap();
        let workspace = WorkspaceRef::Root(self.project().to_str().unwrap().to_owned());
        let warns = ErrorContext {
            error_type: "LockTimeoutError".to_owned(),
            failure_pattern: "The web server held the schema lock.".to_owned(),
            corrective_guidance: "Stop the web server, then run the migration.".to_owned(),
            error_message: None,
            stack_trace: None,
            task_domain: None,
        };
        for error_context in [Some(warns), None] {
            let request = lesson(error_context, workspace.clone());
            system.handle().memories.record(request, soon()).await.unwrap();
        }
        system.stop(TIMEOUT).await;
        store.close(soon()).await.unwrap();
    }

    async fn told(&self, session: &str, event: HookEvent) -> Option<String> {
        let call = HookCall {
            client: AgentClient::ClaudeCode,
            name: "event".to_owned(),
            session: session.to_owned(),
            directory: None,
            event,
        };
        let question = HookQuestion { directory: self.project(), begun_in: None, call };
        let answer = answer_cold(question, &self.loaded, TIMEOUT).await.ok().flatten()?;
        answer.noted.iter().for_each(UnwrittenRecalls::write);
        Some(answer.text)
    }
}

/// A warning, or a strategy that its prompt is about.
fn lesson(error_context: Option<ErrorContext>, workspace: WorkspaceRef) -> RecordRequest {
    let (title, content) = match error_context {
        Some(_) => ("Migrations need the schema lock", "Take the schema lock before the migration starts."),
        None => ("Reports are rendered by the worker queue", "Put the report into the worker queue and wait for it."),
    };
    RecordRequest {
        title: title.to_owned(),
        description: format!("{title}, in every environment."),
        content: content.to_owned(),
        outcome: None,
        error_context,
        pattern_tags: Vec::new(),
        domain_category: None,
        difficulty_level: None,
        parent_memory_id: None,
        derived_from: Vec::new(),
        scope: Scope::Project,
        task: None,
        workspace,
        source_type: SourceType::Explicit,
        trust: Trust::Agent,
        session: None,
        supersedes: Vec::new(),
        valid_from: None,
    }
}

fn failed(error: &str) -> HookEvent {
    HookEvent::ToolFailed { error: error.to_owned(), command: None }
}

/// Every file below a directory with its size, but for those of the recall log.
fn files(dir: &Path) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let own = entries.filter(|path| !path.ends_with("recalls"));
    let mut found: Vec<(PathBuf, u64)> = own
        .flat_map(|path| match fs::metadata(&path).unwrap() {
            found if found.is_dir() => files(&path),
            found => vec![(path, found.len())],
        })
        .collect();
    found.sort();
    found
}

#[tokio::test]
async fn without_a_server_a_failure_that_is_known_brings_its_warning_and_nothing_is_stored() {
    let quiet = Quiet::new();
    quiet.learned().await;
    let before = files(&quiet.loaded.settings.data_dir);
    let text = quiet.told("one", failed("Exit code 1\nLockTimeoutError: schema")).await.unwrap();
    assert!(text.contains("> What to do instead: Stop the web server"), "{text}");
    for other in ["Exit code 1\nKeyError: 'user'", "Exit code 1"] {
        assert_eq!(quiet.told("one", failed(other)).await, None, "{other}");
    }
    let known = quiet.told("one", HookEvent::SessionStarted).await.unwrap();
    assert!(known.contains("2 memories"), "{known}");
    assert_eq!(files(&quiet.loaded.settings.data_dir), before);
}

#[tokio::test]
async fn without_a_server_a_session_is_shown_a_memory_once() {
    let quiet = Quiet::new();
    quiet.learned().await;
    let prompt = || HookEvent::PromptSubmitted {
        prompt: "Render the reports by the worker queue in every environment".to_owned(),
    };
    assert!(quiet.told("one", prompt()).await.unwrap().contains("Reports are rendered"));
    assert_eq!(quiet.told("one", prompt()).await, None);
    assert!(quiet.told("two", prompt()).await.is_some());
}

#[tokio::test]
async fn a_directory_without_a_bank_stays_empty() {
    let quiet = Quiet::new();
    assert_eq!(quiet.told("one", failed("LockTimeoutError: schema")).await, None);
    assert_eq!(files(&quiet.loaded.settings.data_dir), []);
}
