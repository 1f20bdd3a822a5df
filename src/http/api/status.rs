//! The status that a failure of the bank has in HTTP. The document says the rest, in the words of every other edge.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::note::Code;
use serde_json::{Value, json};

use crate::http::problem::whole_seconds;
use crate::mcp::failure_document;

/// Returns the status of a failure. `is_conditional` says that the request named the revision that it is about.
pub(super) fn of(code: Code, is_conditional: bool) -> StatusCode {
    match code {
        Code::InvalidArgument | Code::MemoryInvalid | Code::WorkspaceRequired => StatusCode::UNPROCESSABLE_ENTITY,
        Code::PermissionDenied | Code::ScopeDenied | Code::ConsentRequired | Code::Declined => StatusCode::FORBIDDEN,
        Code::NotFound | Code::WorkspaceUnknown => StatusCode::NOT_FOUND,
        Code::Conflict if is_conditional => StatusCode::PRECONDITION_FAILED,
        Code::Conflict => StatusCode::CONFLICT,
        Code::TokenBudgetExceeded => StatusCode::TOO_MANY_REQUESTS,
        Code::LlmFailed | Code::LlmOutputInvalid | Code::LlmRejectedKey => StatusCode::BAD_GATEWAY,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        // The rest is for the operator, or passes: the server ends, is busy, or cannot reach what it needs.
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Returns the document of a failure, as every refusal of this server has it.
pub(super) fn document(error: &Error) -> Value {
    json!({"error": failure_document(error)})
}

/// The statuses of failures that every route has: of what is no request, of the token, its rights and its limits, of
/// the arguments, and of a server that is busy, ends, or cannot reach what it needs.
const OF_EVERY_ROUTE: [StatusCode; 8] = [
    StatusCode::BAD_REQUEST,
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::UNPROCESSABLE_ENTITY,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::SERVICE_UNAVAILABLE,
];

/// The statuses of failures of every route that is about a workspace or about something in one: it is not there, or it
/// is not found in time.
pub(super) const OF_WORKSPACES: [StatusCode; 2] = [StatusCode::NOT_FOUND, StatusCode::GATEWAY_TIMEOUT];

/// The statuses of failures of every route with a body: the body does not arrive in time, is too large, or is of
/// another type.
pub(super) const OF_BODIES: [StatusCode; 3] =
    [StatusCode::REQUEST_TIMEOUT, StatusCode::PAYLOAD_TOO_LARGE, StatusCode::UNSUPPORTED_MEDIA_TYPE];

/// Describes the answers of a route, as OpenAPI does: the one where all goes well, and its failures. `own` are the
/// statuses that it has beside those of every route.
pub(super) fn responses(mut answer: Value, own: &[StatusCode]) -> Value {
    let failure = json!({"$ref": "#/components/responses/Failure"});
    let request_id = json!({"$ref": "#/components/headers/X-Request-Id"});
    answer["headers"]["X-Request-Id"] = request_id.clone();
    let mut responses = json!({"200": answer, "default": failure});
    for status in OF_EVERY_ROUTE.iter().chain(own) {
        responses[status.as_str()] = match *status {
            StatusCode::NOT_MODIFIED => json!({
                "description": "The caller has it already, as If-None-Match says.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}, "X-Request-Id": request_id},
            }),
            StatusCode::UNAUTHORIZED => json!({"$ref": "#/components/responses/Unauthenticated"}),
            _ => failure.clone(),
        };
    }
    responses
}

pub(super) fn response(error: &Error, is_conditional: bool) -> Response {
    // These are about the key of the request, and say nothing of the revision.
    let is_of_key = matches!(error, Error::RequestInWork | Error::Store(StoreError::CarriedOut(_)));
    let is_conditional = is_conditional && !is_of_key;
    let mut response = (of(error.code(), is_conditional), Json(document(error))).into_response();
    if let Some(wait) = error.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, whole_seconds(wait));
    }
    response
}
