//! Requests that were refused, in the audit log: those without a valid token, and those under a foreign name. Anybody
//! can send any number of them, so only some of each minute have a line of their own, and one line counts the others.

use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::auth::bearer;
use super::problem::ProblemCode;
use crate::audit::{AuditEntry, AuditLog};

/// The number of refusals in a minute that have a line each.
const LINES: u64 = 60;
const MINUTE: Duration = Duration::from_secs(60);
/// These refusals are noted.
const NOTED: [&str; 2] = ["unauthenticated", "host_denied"];
const ACTION: &str = "request";

#[derive(Clone)]
pub(super) struct RefusalNotes {
    audit: AuditLog,
    /// The refusals since the minute began. It ends by itself.
    counted: Arc<Mutex<u64>>,
}

impl RefusalNotes {
    pub(super) fn new(audit: AuditLog) -> Self {
        Self { audit, counted: Arc::default() }
    }

    fn count(&self) -> u64 {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted += 1;
        *counted
    }

    /// Writes a line, or counts the refusal where there were enough of them.
    fn note(&self, code: &'static str, token: Option<String>) {
        let count = self.count();
        if count == 1 {
            let own = self.clone();
            tokio::spawn(async move {
                tokio::time::sleep(MINUTE).await;
                own.end_minute().await;
            });
        }
        if count <= LINES {
            let ids = token.into_iter().collect();
            // A full queue is no reason to keep anybody waiting who was refused.
            self.audit.append_if_room(AuditEntry { ids, outcome: code, ..AuditEntry::about(ACTION) });
        }
    }

    /// Writes the line about those that have none, and begins to count anew.
    pub(super) async fn end_minute(&self) {
        let counted = std::mem::take(&mut *self.counted.lock().unwrap_or_else(PoisonError::into_inner));
        let more = NonZeroU64::new(counted.saturating_sub(LINES));
        if more.is_some() {
            self.audit.append(AuditEntry { outcome: "refused", more, ..AuditEntry::about(ACTION) }).await;
        }
    }
}

/// Notes the refusals among all answers. The log has the public part of the token that was sent.
pub(super) async fn note(State(own): State<RefusalNotes>, request: Request, next: Next) -> Response {
    let sent = bearer(request.headers());
    let response = next.run(request).await;
    if let Some(ProblemCode(code)) = response.extensions().get()
        && NOTED.contains(code)
    {
        own.note(code, sent.map(|token| token.id().to_string()));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_flood_of_refusals_is_counted_in_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let notes = RefusalNotes::new(AuditLog::open(dir.path()).unwrap());
        (0..LINES + 40).for_each(|_| notes.note("unauthenticated", None));
        notes.end_minute().await;
        notes.audit.sync().await;
        let file = std::fs::read_dir(dir.path().join("audit")).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(text.lines().count() as u64, LINES + 1);
        let last = text.lines().last().unwrap();
        assert!(last.contains(r#""outcome":"refused","more":40"#), "{last}");
        notes.note("host_denied", None);
        notes.audit.sync().await;
    }
}
