//! The revision of a memory as its entity tag. A script that changes a memory says which revision it has read, so that
//! it overwrites nothing that it has not seen (RFC 9110, section 13).

use std::collections::BTreeSet;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use super::Problem;

/// The argument with the revision that a memory has to have, which stands in the header here.
pub(super) const ARGUMENT: &str = "if_revision";
/// A request names at most this many revisions.
const MOST: usize = 8;

/// The tags that a header of a condition names.
enum Condition {
    /// `*`: whichever there is.
    Any,
    Tags(Vec<EntityTag>),
    Unreadable,
}

struct EntityTag {
    is_weak: bool,
    opaque: String,
}

impl EntityTag {
    fn is_of(&self, revision: u64) -> bool {
        self.opaque == revision.to_string()
    }

    /// Returns the revision that a tag of ours names. A weak one names none for sure.
    fn revision(&self) -> Option<u64> {
        let revision = self.opaque.parse().ok()?;
        (!self.is_weak && self.is_of(revision)).then_some(revision)
    }
}

impl Condition {
    /// Reads a header, which may be there several times.
    fn of(headers: &HeaderMap, name: HeaderName) -> Option<Self> {
        let lines = headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        let lines: Vec<_> = lines.collect();
        let text = (!lines.is_empty()).then(|| lines.join(", "))?;
        Some(match text.trim() {
            "*" => Self::Any,
            text => tags(text).map_or(Self::Unreadable, Self::Tags),
        })
    }
}

/// Reads a list of tags. A tag is a text in quotation marks, and weak with `W/` before it.
fn tags(mut text: &str) -> Option<Vec<EntityTag>> {
    let mut tags = Vec::new();
    loop {
        text = text.trim_start_matches([' ', '\t', ',']);
        if text.is_empty() {
            return (!tags.is_empty()).then_some(tags);
        }
        let weak = text.strip_prefix("W/");
        let (opaque, rest) = weak.unwrap_or(text).strip_prefix('"')?.split_once('"')?;
        tags.push(EntityTag { is_weak: weak.is_some(), opaque: opaque.to_owned() });
        text = rest.trim_start_matches([' ', '\t']);
        if !text.is_empty() && !text.starts_with(',') {
            return None;
        }
    }
}

fn revision_of(document: &Value) -> Option<u64> {
    document.get("memory").unwrap_or(document).get("revision").and_then(Value::as_u64)
}

/// Answers with a memory and its tag.
pub(super) fn tagged(document: Value) -> Response {
    let revision = revision_of(&document);
    let tag = revision.and_then(|revision| HeaderValue::from_str(&format!("\"{revision}\"")).ok());
    let mut response = Json(document).into_response();
    if let Some(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Answers with a memory and its tag, or with the tag alone where the script has this revision already.
pub(super) fn unless_known(document: Value, asked: &HeaderMap) -> Response {
    let is_known = revision_of(&document).is_some_and(|revision| match Condition::of(asked, header::IF_NONE_MATCH) {
        Some(Condition::Any) => true,
        Some(Condition::Tags(tags)) => tags.iter().any(|tag| tag.is_of(revision)),
        Some(Condition::Unreadable) | None => false,
    });
    let mut response = tagged(document);
    if is_known {
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

/// Returns the revisions of which the memory has to have one. None where any will do. A list without any means no
/// memory: the header names no tag of ours.
///
/// # Errors
/// The header is not there, or is no list of tags. The revision is among the arguments as well.
pub(super) fn required(headers: &HeaderMap, arguments: &Map<String, Value>) -> Result<Option<Vec<u64>>, Problem> {
    let wanted = wanted(headers)?;
    match arguments.contains_key(ARGUMENT) {
        true => Err(super::invalid("if_revision is in the header If-Match, and does not belong anywhere else")),
        false => Ok(wanted),
    }
}

fn wanted(headers: &HeaderMap) -> Result<Option<Vec<u64>>, Problem> {
    match Condition::of(headers, header::IF_MATCH) {
        None => {
            let problem = "the header If-Match is missing";
            let hint = "send If-Match with the ETag of the memory that you have read, such as \"3\"";
            Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, "invalid_argument", problem, hint))
        }
        Some(Condition::Any) => Ok(None),
        Some(Condition::Tags(tags)) if tags.len() <= MOST => {
            let revisions: BTreeSet<u64> = tags.iter().filter_map(EntityTag::revision).collect();
            Ok(Some(revisions.into_iter().collect()))
        }
        Some(Condition::Tags(_)) => Err(super::invalid(format!("If-Match names more than {MOST} tags"))),
        Some(Condition::Unreadable) => {
            let problem = "If-Match must be the ETag of the memory, a number in quotation marks such as \"3\"";
            Err(super::invalid(problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn headers(name: HeaderName, lines: &[&str]) -> HeaderMap {
        lines.iter().map(|line| (name.clone(), line.parse().unwrap())).collect()
    }

    #[test]
    fn if_match_names_the_revisions_that_a_memory_may_have() {
        let wanted = |lines: &[&str]| wanted(&headers(header::IF_MATCH, lines)).map_err(|problem| problem.document());
        for (lines, revisions) in [
            (&["\"3\""][..], Some(vec![3])),
            (&["*"], None),
            (&["\"2\", \"1\", \"2\""], Some(vec![1, 2])),
            (&["\"1\"", "W/\"2\",\"4\""], Some(vec![1, 4])),
            (&["\"abc\""], Some(vec![])),
            (&["W/\"1\""], Some(vec![])),
            (&["\"a,b\", \"03\", \"99999999999999999999\""], Some(vec![])),
        ] {
            assert_eq!(wanted(lines), Ok(revisions), "{lines:?}");
        }
        for bad in ["3", "\"3", "\"3\" \"4\"", "w/\"3\"", ""] {
            assert!(wanted(&[bad]).is_err(), "{bad:?}");
        }
        assert!(wanted(&[]).is_err());
        assert!(wanted(&["\"1\"", "\"2\"", "\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\""]).is_err());
    }

    #[test]
    fn if_none_match_knows_a_revision_by_any_of_its_tags() {
        let status = |lines: &[&str]| {
            unless_known(json!({"revision": 3}), &headers(header::IF_NONE_MATCH, lines)).status().as_u16()
        };
        for known in [&["*"][..], &["\"3\""], &["W/\"3\""], &["\"1\", \"3\""], &["\"1\"", "\"3\""]] {
            assert_eq!(status(known), 304, "{known:?}");
        }
        for unknown in [&[][..], &["\"4\""], &["3"], &["\"*\""]] {
            assert_eq!(status(unknown), 200, "{unknown:?}");
        }
    }
}
