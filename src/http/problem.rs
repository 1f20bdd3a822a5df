//! The form of every refusal: `{"error": {"code", "message", "hint", "retryable"}}`, with the codes that all answers of
//! the program use.

use std::borrow::Cow;
use std::time::Duration;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::mcp::EndedBy;

const NO_SESSION: &str = "there is no such session";
const NEW_SESSION: &str = "begin a new session with initialize";
const LOG_SAYS: &str = "try again, and look into the log of the server";

pub(super) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    hint: Cow<'static, str>,
    header: Option<Box<(HeaderName, HeaderValue)>>,
    wait: Option<Duration>,
}

impl Problem {
    /// Makes a refusal, with what can be done about it as the hint.
    pub(super) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { status, code, message: message.into(), hint: hint.into(), header: None, wait: None }
    }

    /// Says that the request came without a valid token. It names no metadata: clients forget a configured token when
    /// they find some.
    pub(super) fn unauthenticated() -> Self {
        let message = "a valid token is needed, in the header Authorization: Bearer rb_…";
        let hint = "ask whoever runs the server for a token, which `reasoning-bank token create` makes there; one that was \
                    revoked or has expired is good no more";
        let challenge = (header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        let refusal = Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", message, hint);
        Self { header: Some(Box::new(challenge)), ..refusal }
    }

    /// Says that a path does not take the method.
    pub(super) fn no_method(hint: &'static str) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_argument", "no such method here", hint)
    }

    /// Says that a session of the protocol is not there, or is somebody else's.
    pub(super) fn no_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", NO_SESSION, NEW_SESSION)
    }

    /// Says that something panicked.
    pub(super) fn internal() -> Self {
        let problem = "something went wrong inside; the log says what";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", problem, LOG_SAYS)
    }

    /// Says that the file of tokens cannot be used. The log says why.
    pub(super) fn tokens_unusable() -> Self {
        let (code, problem) = ("store_unavailable", "the tokens cannot be read or stored now");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, problem, LOG_SAYS).retry_after(Duration::from_secs(5))
    }

    /// Says that the server ends.
    pub(super) fn ending() -> Self {
        let hint = "send it again once the server is there again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "cancelled", "the server ends", hint)
            .retry_after(Duration::from_secs(5))
    }

    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the document of the refusal, which says as that of a tool error whether to try again and when.
    pub(super) fn document(&self) -> Value {
        let retryable = [
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ];
        let mut error = json!({
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
            "retryable": retryable.contains(&self.status),
        });
        if let Some(wait) = self.wait {
            error["retry_after_ms"] = json!(u64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX));
        }
        json!({"error": error})
    }

    pub(super) fn retry_after(self, wait: Duration) -> Self {
        Self { header: Some(Box::new((header::RETRY_AFTER, whole_seconds(wait)))), wait: Some(wait), ..self }
    }
}

/// The code of a refusal, for whoever sees the answer on its way out.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProblemCode(pub(super) &'static str);

/// Writes a time to wait as the header Retry-After has it: in whole seconds, rounded up so that the next try is not
/// refused as well.
pub(super) fn whole_seconds(wait: Duration) -> HeaderValue {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    seconds.max(1).into()
}

impl From<EndedBy> for Problem {
    fn from(by: EndedBy) -> Self {
        match by {
            EndedBy::Token => Self::unauthenticated(),
            EndedBy::Server => Self::ending(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.document())).into_response();
        response.extensions_mut().insert(ProblemCode(self.code));
        if let Some((name, value)) = self.header.map(|header| *header) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// The message of the protocol where a session ended while a request was on its way to it.
const SESSION_ENDED: &str = "Session service terminated";

/// The beginning of the message of the protocol where the body is no message.
const UNREADABLE_BODY: &str = "fail to deserialize request body";

/// Turns a refusal of the protocol, which is plain text, into the document that every other refusal has. Its status and
/// its headers stay: clients go by them. A session that ended meanwhile is not found, as it is a moment later.
pub(super) async fn documented(response: Response) -> Response {
    const LONGEST: usize = 4 << 10;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !(status.is_client_error() || status.is_server_error()) || !(kind.is_empty() || kind.starts_with("text/plain")) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let said = to_bytes(body, LONGEST).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    // The protocol answers a body that it cannot read as if its media type were wrong.
    let status = if said.starts_with(UNREADABLE_BODY) { StatusCode::BAD_REQUEST } else { status };
    let has_ended = status.is_server_error() && said.contains(SESSION_ENDED);
    let (status, said) = if has_ended { (StatusCode::NOT_FOUND, NO_SESSION.to_owned()) } else { (status, said) };
    let message = if said.is_empty() { status.canonical_reason().unwrap_or_default().to_owned() } else { said };
    let (code, hint) = match status {
        StatusCode::NOT_FOUND => ("not_found", NEW_SESSION),
        StatusCode::METHOD_NOT_ALLOWED => ("invalid_argument", "send messages with POST"),
        StatusCode::NOT_ACCEPTABLE => {
            ("invalid_argument", "send the header Accept: application/json, text/event-stream")
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ("invalid_argument", "send the header Content-Type: application/json"),
        _ if status.is_client_error() => {
            let hint =
                "send one JSON-RPC message as the body, and in its headers what the revision of the protocol wants";
            ("invalid_argument", hint)
        }
        _ => ("internal", LOG_SAYS),
    };
    let mut document = Problem::new(status, code, message, hint).into_response();
    parts.headers.remove(header::CONTENT_TYPE);
    parts.headers.remove(header::CONTENT_LENGTH);
    document.headers_mut().extend(parts.headers);
    document
}

/// Adds what every answer says to browsers: it is no page, and nobody keeps it.
pub(super) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_whether_and_when_to_try_again() {
        let ending = Problem::ending().document();
        assert_eq!((&ending["error"]["retryable"], &ending["error"]["retry_after_ms"]), (&json!(true), &json!(5_000)));
        let wrong = Problem::unauthenticated().document();
        assert_eq!((&wrong["error"]["retryable"], wrong["error"].get("retry_after_ms")), (&json!(false), None));
    }
}
