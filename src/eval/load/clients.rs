//! Many clients at once, each of which calls a tool, thinks, and calls again. What each call took and became is kept.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::client::{HttpClient, McpClient};
use super::traffic::{CallKind, LoadLesson, drawn, key, new_query, repeated_query};

/// The number of the first lesson of the clients, and how many numbers each client has for its lessons.
const FIRST_LESSON: u64 = 1_000_000;
const LESSONS_OF_A_CLIENT: u64 = 100_000;

pub(super) struct CallSample {
    pub(super) kind: CallKind,
    pub(super) begun: Instant,
    pub(super) took: Duration,
    pub(super) outcome: LoadOutcome,
}

impl CallSample {
    /// Says whether the daemon did what it was asked for.
    pub(super) fn is_answered(&self) -> bool {
        !matches!(self.outcome, LoadOutcome::Overloaded | LoadOutcome::Failed(_))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LoadOutcome {
    /// A query was answered by words and by meaning.
    Hybrid,
    /// A query was answered by words alone.
    ByWords,
    /// The lesson with this number is stored.
    Stored(u64),
    /// The daemon said that it has too much to do.
    Overloaded,
    /// Anything else, as the client saw it.
    Failed(String),
}

/// Clients at work. They end with [`Self::end`], or are dropped.
pub(super) struct LoadClients {
    tasks: JoinSet<Vec<CallSample>>,
    end: CancellationToken,
}

impl LoadClients {
    /// Starts a client for each token. The first call of each comes within the time that it thinks. The numbers of the
    /// clients count from `first`: no two clients with the same number ask or record the same things.
    pub(super) fn start(address: SocketAddr, tokens: &[String], first: u64, think: Duration) -> Self {
        let (mut tasks, end) = (JoinSet::new(), CancellationToken::new());
        for (number, token) in (first..).zip(tokens) {
            let client = McpClient::new(HttpClient::new(address, token, key(number)));
            tasks.spawn(work(client, number, think, end.clone()));
        }
        Self { tasks, end }
    }

    /// Lets every client end after its present call, and returns all calls.
    pub(super) async fn end(self) -> Vec<CallSample> {
        self.end.cancel();
        self.tasks.join_all().await.into_iter().flatten().collect()
    }
}

async fn work(mut client: McpClient, number: u64, think: Duration, end: CancellationToken) -> Vec<CallSample> {
    let part = |purpose: &str, call: u64| drawn((purpose, number, call), 1_000) as f64 / 1_000.0;
    let mut samples = Vec::new();
    let mut pause = think.mul_f64(part("begin", 0));
    for call in 0.. {
        tokio::select! {
            () = end.cancelled() => break,
            () = sleep(pause) => {}
        }
        let (kind, begun) = (CallKind::of(number, call), Instant::now());
        let outcome = perform(&mut client, kind, number, call).await;
        samples.push(CallSample { kind, begun, took: begun.elapsed(), outcome });
        pause = think.mul_f64(0.5 + part("think", call));
    }
    samples
}

async fn perform(client: &mut McpClient, kind: CallKind, number: u64, call: u64) -> LoadOutcome {
    let lesson = FIRST_LESSON + number * LESSONS_OF_A_CLIENT + call;
    let (tool, arguments) = match kind {
        CallKind::Record => ("record_memory", LoadLesson::of(lesson).arguments()),
        CallKind::NewQuery => ("retrieve_memories", json!({"query": new_query(number, call)})),
        CallKind::RepeatedQuery => ("retrieve_memories", json!({"query": repeated_query(number, call)})),
    };
    match client.call(tool, &arguments).await {
        Err(error) => LoadOutcome::Failed(error.to_string()),
        Ok(answer) => match (answer.error_code(), kind, answer.document["mode"].as_str()) {
            (Some("overloaded"), ..) => LoadOutcome::Overloaded,
            (Some(_), ..) => LoadOutcome::Failed(answer.document.to_string()),
            (None, CallKind::Record, _) => LoadOutcome::Stored(lesson),
            (None, _, Some("hybrid")) => LoadOutcome::Hybrid,
            (None, ..) => LoadOutcome::ByWords,
        },
    }
}
