//! Tests of five hundred tasks against a provider that fails a fifth of all calls.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use reasoning_bank::llm::{Api, Client, Connection, HttpModel, Models};
use reasoning_bank_actors::agents::SolveOptions;
use reasoning_bank_actors::model::RetryPolicy;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::{System, SystemParts, SystemSettings};
use reasoning_bank_actors::testkit::memory_store::MemStore;
use reasoning_bank_actors::testkit::parts;
use reasoning_bank_actors::workspaces::WorkspaceRef;
use reasoning_bank_domain::memory::trace::{MattsMode, Outcome};
use reasoning_bank_domain::solve::task::{SolveReport, SolveTask};
use reqwest::Url;
use serde_json::json;

use crate::llm_server::{Asked, LlmServer, Reply, good};

const TASKS: usize = 500;
const DEADLINE: Duration = Duration::from_secs(20);

/// The choice of the calls that fail: every fifth on average. It depends on the call's task, purpose and attempt and on
/// how often that was asked before, never on the order in which tasks happen to run, so that each run has the same bad
/// luck.
#[derive(Default)]
struct Luck {
    asked: Mutex<HashMap<(String, String, u32), u64>>,
}

impl Luck {
    fn fails(&self, asked: &Asked) -> bool {
        let key = (task_of(asked), asked.purpose().to_owned(), asked.attempt());
        let mut counts = self.asked.lock().unwrap();
        let count = counts.entry(key.clone()).or_default();
        *count += 1;
        let mut hasher = DefaultHasher::new();
        (key, *count).hash(&mut hasher);
        hasher.finish().is_multiple_of(5)
    }
}

/// The task that a prompt is about, as `task` names it. Every prompt names one.
fn task_of(asked: &Asked) -> String {
    let input = asked.input();
    let begin = input.find("Task ").unwrap();
    input[begin..].lines().next().unwrap_or_default().to_owned()
}

/// A provider that fails in four ways in turn.
fn failing(failures: Arc<AtomicU64>) -> LlmServer {
    let luck = Luck::default();
    LlmServer::new(Duration::ZERO, move |asked| {
        if !luck.fails(asked) {
            return good(asked);
        }
        match failures.fetch_add(1, Ordering::Relaxed) % 4 {
            0 => Reply::error(500, "internal"),
            1 => Reply::Status(429, vec![("retry-after-ms", "40")], json!({"error": {"message": "slow down"}})),
            2 => Reply::Truncated,
            _ => Reply::Body(json!({"error": {"code": 502, "message": "upstream"}})),
        }
    })
}

async fn system(server: &LlmServer) -> System {
    let base_url = Url::parse(&server.base_url()).unwrap();
    let client = Client::new(Connection { base_url, key: None, attributed: false }).unwrap();
    let settings = SystemSettings {
        retry: RetryPolicy { max_retries: 3, base_delay: Duration::from_millis(10) },
        ..SystemSettings::default()
    };
    let model = HttpModel::new(client, Api::Responses, Models::all("a/model"), "none");
    let parts = parts(Arc::new(MemStore::new()), model);
    System::start(SystemParts { settings, ..parts }).await.unwrap()
}

fn task(number: usize) -> SolveTask {
    SolveTask {
        task: format!("Task {number}"),
        use_memory: true,
        k: 2,
        mode: MattsMode::Parallel,
        store_result: number.is_multiple_of(10),
        domain: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_succeed_although_a_fifth_of_all_calls_fails_and_none_is_late() {
    let failures = Arc::new(AtomicU64::new(0));
    let server = failing(Arc::clone(&failures));
    let system = system(&server).await;
    let agents = system.handle().agents;
    let solved = stream::iter(0..TASKS).map(|number| {
        let agents = agents.clone();
        async move {
            let begun = Instant::now();
            let workspace = WorkspaceRef::Root("/home/me/project".into());
            let solved = agents.solve(task(number), workspace, SolveOptions::until(Deadline::after(DEADLINE))).await;
            (solved, begun.elapsed())
        }
    });
    let solved: Vec<_> = solved.buffer_unordered(16).collect().await;

    let calls = server.asked().len();
    let failed = failures.load(Ordering::Relaxed) as usize;
    assert!(calls >= TASKS * 5 && failed * 100 >= calls * 18, "{failed} of {calls} calls failed");
    let is_success = |report: &SolveReport| report.outcome == Outcome::Success;
    let others: Vec<_> =
        solved.iter().map(|(solved, _)| solved).filter(|solved| !solved.as_ref().is_ok_and(is_success)).collect();
    assert!(others.len() * 1000 <= TASKS * 5, "{} of {TASKS}: {others:?}", others.len());
    let slowest = solved.iter().map(|(_, took)| *took).max().unwrap();
    assert!(slowest <= DEADLINE, "{slowest:?}");
    system.stop(Duration::from_secs(5)).await;
}
