//! The answers to those who watch the server. They say nothing about what is in the bank, and need no token.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::tokens::TokenRegistry;

/// An answer of the store is believed for this long.
const FRESH: Duration = Duration::from_secs(1);
/// A probe may take this long.
const PROBE_DEADLINE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(super) struct Readiness {
    system: SystemHandle,
    tokens: Arc<TokenRegistry>,
    /// The server was asked to end, and takes no new work.
    draining: Arc<AtomicBool>,
    /// The time when the store was last asked, with true where it answered.
    known: Arc<Mutex<Option<(Instant, bool)>>>,
}

impl Readiness {
    pub(super) fn new(system: SystemHandle, tokens: Arc<TokenRegistry>, draining: Arc<AtomicBool>) -> Self {
        Self { system, tokens, draining, known: Arc::default() }
    }

    /// Says whether the store answers a small question. All who ask within a second share one: probes need no token.
    async fn store_answers(&self) -> bool {
        let mut known = self.known.lock().await;
        if let Some((at, answers)) = *known
            && at.elapsed() < FRESH
        {
            return answers;
        }
        let answers = self.system.workspaces.list(Deadline::after(PROBE_DEADLINE)).await.is_ok();
        *known = Some((Instant::now(), answers));
        answers
    }
}

/// Answers that the process runs.
pub(super) async fn alive() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Answers whether requests would be served, and what prevents it.
pub(super) async fn ready(State(own): State<Readiness>) -> Response {
    let mut reasons = Vec::new();
    if !own.store_answers().await {
        reasons.push("store");
    }
    if own.tokens.has_tokens().is_err() {
        reasons.push("tokens");
    }
    if own.draining.load(Ordering::Relaxed) {
        reasons.push("draining");
    }
    let status = if reasons.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let said = if reasons.is_empty() { "ready" } else { "unready" };
    (status, Json(json!({"status": said, "reasons": reasons}))).into_response()
}
