//! Five hundred tasks against a provider that fails a fifth of all calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

use crate::llm_server::{LlmServer, Reply, good};

const TASKS: usize = 500;
const DEADLINE: Duration = Duration::from_secs(20);

/// Every fifth number on average, in no pattern that calls could fall into step with.
fn is_unlucky(number: u64) -> bool {
    let mut hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (hash ^ (hash >> 31)).is_multiple_of(5)
}

/// A provider that fails in four ways in turn.
fn failing(failures: Arc<AtomicU64>) -> LlmServer {
    let calls = AtomicU64::new(0);
    LlmServer::new(Duration::ZERO, move |asked| {
        if !is_unlucky(calls.fetch_add(1, Ordering::Relaxed)) {
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
