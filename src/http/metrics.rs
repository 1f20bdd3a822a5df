//! The answer to `/metrics`, who may read it, and the times of requests that it tells of.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use reasoning_bank_domain::access::Permission;

use super::auth::{Authenticator, is_forwarded};
use super::limits::LimitedRequests;
use super::problem::Problem;
use super::sessions::SessionOwners;
use crate::metrics::{Scraper, ServerMetrics};

/// The state of the route of the metrics.
#[derive(Clone)]
pub(super) struct MetricsRoute {
    pub(super) scraper: Scraper,
    pub(super) authenticator: Authenticator,
    pub(super) owners: Arc<SessionOwners>,
    pub(super) readers: MetricsReaders,
    pub(super) limited: LimitedRequests,
}

/// The clients that may read the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricsReaders {
    Everybody,
    /// Whoever asks from this machine, and holders of a token.
    ThisMachine,
    TokenHolders,
}

impl MetricsRoute {
    fn refusal(&self, request: &Request) -> Option<Problem> {
        let is_open = match self.readers {
            MetricsReaders::Everybody => true,
            MetricsReaders::ThisMachine => !is_forwarded(request.headers()),
            MetricsReaders::TokenHolders => false,
        };
        if is_open {
            return None;
        }
        match self.authenticator.principal(request) {
            Ok((used, principal)) if principal.may(Permission::AdminAll) => self.limited.admit(&used).err(),
            Ok(_) => {
                let problem = "the metrics need a token with the permission admin:all";
                let hint = "ask whoever runs the server for such a token";
                Some(Problem::new(StatusCode::FORBIDDEN, "permission_denied", problem, hint))
            }
            Err(problem) => Some(problem),
        }
    }
}

pub(super) async fn metrics(State(own): State<MetricsRoute>, request: Request) -> Response {
    if let Some(problem) = own.refusal(&request) {
        return problem.into_response();
    }
    let text = own.scraper.text(own.owners.open()).await;
    ([(header::CONTENT_TYPE, Scraper::MEDIA_TYPE)], text).into_response()
}

/// Counts every request with its time.
pub(super) async fn timed(State(metrics): State<Arc<ServerMetrics>>, request: Request, next: Next) -> Response {
    let (began, method) = (Instant::now(), request.method().clone());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = route.as_ref().map(MatchedPath::as_str);
    metrics.answered(route, method.as_str(), response.status().as_u16(), began.elapsed());
    response
}
