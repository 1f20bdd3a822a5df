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
use reasoning_bank_domain::system::health::CheckStatus;
use serde_json::json;

use crate::remedies;

/// A probe may take this long.
const PROBE_DEADLINE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(super) struct Readiness {
    pub(super) system: SystemHandle,
    /// The server was asked to end, and takes no new work.
    pub(super) draining: Arc<AtomicBool>,
}

/// Answers that the process runs.
pub(super) async fn alive() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Answers whether requests would be served, and what prevents it. A part that is degraded does not.
pub(super) async fn ready(State(own): State<Readiness>) -> Response {
    let health = own.system.health(remedies::of, Deadline::after(PROBE_DEADLINE)).await;
    let failed = health.checks.iter().filter(|check| check.status == CheckStatus::Fail);
    let mut reasons: Vec<&str> = failed.map(|check| check.name.as_str()).collect();
    if own.draining.load(Ordering::Relaxed) {
        reasons.push("draining");
    }
    let status = if reasons.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let said = if reasons.is_empty() { "ready" } else { "unready" };
    (status, Json(json!({"status": said, "reasons": reasons}))).into_response()
}
