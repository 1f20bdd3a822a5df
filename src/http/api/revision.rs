//! The revision of a memory as its entity tag. A script that changes a memory says which revision it has read, so that
//! it overwrites nothing that it has not seen (RFC 9110, section 13).

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::Problem;

/// Answers with a memory and its tag.
pub(super) fn tagged(document: Value) -> Response {
    let memory = document.get("memory").unwrap_or(&document);
    let revision = memory.get("revision").and_then(Value::as_u64);
    let tag = revision.and_then(|revision| HeaderValue::from_str(&format!("\"{revision}\"")).ok());
    let mut response = Json(document).into_response();
    if let Some(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Answers with a memory and its tag, or with the tag alone where the script has this revision already.
pub(super) fn unless_known(document: Value, asked: &HeaderMap) -> Response {
    let mut response = tagged(document);
    let known = asked.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
    let tag = response.headers().get(header::ETAG);
    if tag.is_some_and(|tag| known.split(',').any(|known| known.trim().trim_start_matches("W/").as_bytes() == tag)) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = Body::empty();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response
}

/// Says whether a request names the revision that it is about.
pub(super) fn is_conditional(headers: &HeaderMap) -> bool {
    headers.contains_key(header::IF_MATCH)
}

/// Puts the revision of the header If-Match among the arguments.
///
/// # Errors
/// The header is not there, or names no single revision.
pub(super) fn required(headers: &HeaderMap, arguments: &mut Map<String, Value>) -> Result<(), Problem> {
    let Some(header) = headers.get(header::IF_MATCH) else {
        let problem = "the header If-Match is missing";
        let hint = "send If-Match with the ETag of the memory that you have read, such as \"3\"";
        return Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, "invalid_argument", problem, hint));
    };
    let tag = header.to_str().ok().and_then(|tag| tag.trim().strip_prefix('"')?.strip_suffix('"'));
    let Some(revision) = tag.and_then(|tag| tag.parse::<u64>().ok()) else {
        let problem = "If-Match must be the ETag of the memory, a number in quotation marks such as \"3\"";
        return Err(super::invalid(problem));
    };
    if arguments.insert("if_revision".to_owned(), revision.into()).is_some() {
        return Err(super::invalid("if_revision is in the header If-Match, and does not belong anywhere else"));
    }
    Ok(())
}
