//! Holds every request against the limits of its token. On `/mcp` the messages of a session answer for themselves:
//! clients of the protocol take a status that is no success for a server that is gone. A handshake is refused with 503.
//! Anywhere else the answer is 429, and so it is for a token that has more requests open than anybody needs.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use reasoning_bank_domain::note::Code;
use tokio::sync::OwnedSemaphorePermit;

use super::auth::UsedToken;
use super::problem::Problem;
use crate::limits::{RequestLimits, TokenLimits};
use crate::mcp::{self, SESSION_HEADER, is_stateless};
use crate::metrics::{AdmissionRefusal, ServerMetrics};

#[derive(Clone)]
pub(super) struct LimitedRequests {
    pub(super) limits: TokenLimits,
    pub(super) metrics: Arc<ServerMetrics>,
}

impl LimitedRequests {
    /// Counts a request, and refuses it where it is one too many.
    pub(super) fn admit(&self, used: &UsedToken) -> Result<RequestLimits, Problem> {
        self.admit_or(used, StatusCode::TOO_MANY_REQUESTS)
    }

    fn admit_or(&self, used: &UsedToken, status: StatusCode) -> Result<RequestLimits, Problem> {
        let limits = self.limits.request(used.0.as_ref());
        let Some(wait) = limits.wait() else { return Ok(limits) };
        self.metrics.refused(AdmissionRefusal::Rate);
        let problem = "the token asks too often; http.requests_per_second is its limit";
        let hint = "wait for the seconds that Retry-After names, and ask less often";
        Err(Problem::new(status, Code::Overloaded.as_str(), problem, hint).retry_after(wait))
    }
}

/// Lets a request on with what its token may do yet.
pub(super) async fn limit(
    State(own): State<LimitedRequests>,
    Extension(used): Extension<UsedToken>,
    mut request: Request,
    next: Next,
) -> Response {
    let admitted = match request.uri().path() == mcp::PATH {
        true if is_handshake(&request) => own.admit_or(&used, StatusCode::SERVICE_UNAVAILABLE),
        true => Ok(own.limits.request(used.0.as_ref())),
        false => own.admit(&used),
    };
    let limits = match admitted {
        Ok(limits) => limits,
        Err(problem) => return problem.into_response(),
    };
    let open = match limits.open() {
        Ok(open) => open,
        Err(error) => {
            let problem = "the token has too many requests open";
            let hint = "read the answers that are open to their end, or close them";
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, error.code().as_str(), problem, hint);
            return problem.retry_after(error.retry_after().unwrap_or_default()).into_response();
        }
    };
    request.extensions_mut().insert(limits);
    next.run(request).await.map(|body| Body::new(OpenBody { body, _open: open }))
}

/// Says whether a request to the protocol can be nothing but the handshake, which opens a session.
fn is_handshake(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::POST && !headers.contains_key(SESSION_HEADER) && !is_stateless(headers)
}

/// The body of an answer, whose request is open until its end. It says its size where the body knows that.
struct OpenBody {
    body: Body,
    _open: Option<OwnedSemaphorePermit>,
}

impl HttpBody for OpenBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
