//! The revision of a memory as its entity tag. A script that changes a memory says which revision it has read, so that it
//! overwrites nothing that it has not seen (RFC 9110, section 13).

use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::Problem;

/// Answers with a memory and its tag, or with nothing where the script has this revision already.
pub(super) fn tagged(document: Value, asked: &HeaderMap) -> Response {
    let memory = document.get("memory").unwrap_or(&document);
    let Some(revision) = memory.get("revision").and_then(Value::as_u64) else { return Json(document).into_response() };
    let tag = format!("\"{revision}\"");
    let known = asked.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let is_known = known.is_some_and(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag));
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Json(document).into_response(),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
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
        let problem = "send the header If-Match with the ETag of the memory that you have read, such as \"3\"";
        return Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, "invalid_argument", problem));
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
