//! The header `Idempotency-Key`: a script that had no answer sends the same request again under the same key, and it is
//! carried out once.

use axum::http::{HeaderMap, HeaderName};
use reasoning_bank_domain::access::KeyedRequest;

use super::{Problem, Route, RouteAnswer, invalid};
use crate::mcp::{RequestKey, Server};

pub(super) const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// Says whether requests of a route may have a key: they write, and would write again. A DELETE needs none, because the
/// second one finds nothing to erase.
pub(super) fn takes_key(route: &Route, changes_something: bool) -> bool {
    route.has_body() && changes_something && route.answer != RouteAnswer::Events
}

/// Reads the key of a request. A route that needs none passes over it.
pub(super) fn key(server: &Server, route: &Route, headers: &HeaderMap) -> Result<Option<RequestKey>, Problem> {
    let mut keys = headers.get_all(HEADER).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    if route.answer == RouteAnswer::Events {
        return Err(invalid("a solve has no Idempotency-Key: sent again, it is solved again"));
    }
    if !server.described(route.tool).is_some_and(|tool| takes_key(route, tool.changes_something)) {
        return Ok(None);
    }
    let is_key = |key: &&str| {
        (1..=KeyedRequest::KEY_MAX_BYTES).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let key = key.to_str().ok().filter(is_key);
    let (Some(key), None) = (key, keys.next()) else {
        let most = KeyedRequest::KEY_MAX_BYTES;
        return Err(invalid(format!("Idempotency-Key must be there once, with 1 to {most} visible ASCII characters")));
    };
    Ok(Some(RequestKey { key: key.to_owned(), route: format!("{} {}", route.method, route.path) }))
}
