//! The form of every refusal: `{"error": {"code", "message"}}`, with the codes that all answers of the program use.

use std::borrow::Cow;
use std::time::Duration;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

pub(super) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), header: None }
    }

    /// Says that the request came without a valid token. It names no metadata: clients forget a configured token when
    /// they find some.
    pub(super) fn unauthenticated() -> Self {
        let message = "a valid token is needed, in the header Authorization: Bearer rb_…";
        let challenge = (header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Self { header: Some(challenge), ..Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", message) }
    }

    /// Says that something panicked.
    pub(super) fn internal() -> Self {
        let problem = "something went wrong inside; the log says what";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", problem)
    }

    /// Says that the file of tokens cannot be used. The log says why.
    pub(super) fn tokens_unusable() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", "the tokens cannot be read or stored now")
            .retry_after(Duration::from_secs(5))
    }

    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    pub(super) fn retry_after(self, wait: Duration) -> Self {
        Self { header: Some((header::RETRY_AFTER, whole_seconds(wait))), ..self }
    }
}

/// The code of a refusal, for whoever sees the answer on its way out.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProblemCode(pub(super) &'static str);

/// Writes a time to wait as the header Retry-After has it: in whole seconds, and never so few that the next try is refused
/// as well.
pub(super) fn whole_seconds(wait: Duration) -> HeaderValue {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    seconds.max(1).into()
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = json!({"error": {"code": self.code, "message": self.message}});
        let mut response = (self.status, Json(document)).into_response();
        response.extensions_mut().insert(ProblemCode(self.code));
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// Adds what every answer says to browsers: it is no page, and nobody keeps it.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
