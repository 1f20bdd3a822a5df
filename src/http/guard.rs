//! The hosts and origins that requests may name. A page in a browser can send requests to servers on its user's
//! machine, under a name of its own that it has moved to this address (DNS rebinding), or across origins. Neither gets
//! through.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::problem::Problem;

/// The names under which the server is reached, in lower case, each with or without a port.
#[derive(Debug)]
pub(super) struct AllowedHosts(HashSet<String>);

impl AllowedHosts {
    pub(super) fn new(address: SocketAddr, configured: &[String]) -> Self {
        let own = ["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        let ip = if address.is_ipv6() { format!("[{}]", address.ip()) } else { address.ip().to_string() };
        let named = configured.iter().map(|host| host.trim().to_ascii_lowercase());
        Self(own.into_iter().chain([ip]).chain(named).collect())
    }

    fn allows(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let Ok(parsed) = authority.parse::<Authority>() else { return false };
        let rest = authority.strip_prefix(parsed.host());
        let has_port = rest.and_then(|rest| rest.strip_prefix(':')).is_some_and(|port| port.parse::<u16>().is_ok());
        let is_whole = has_port || rest == Some("");
        is_whole && (self.0.contains(&authority) || self.0.contains(parsed.host()))
    }

    /// Says why a request with these headers is refused. A target that names a host of its own, as it does for a proxy,
    /// counts beside the header.
    fn problem(&self, uri: &Uri, headers: &HeaderMap) -> Option<Problem> {
        let forbidden = |what, hint| Problem::new(StatusCode::FORBIDDEN, "host_denied", what, hint);
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().unwrap_or_default(),
            (None, _) => uri.authority().map_or("", Authority::as_str),
            (Some(_), Some(_)) => "",
        };
        if !self.allows(host) || uri.authority().is_some_and(|target| !self.allows(target.as_str())) {
            let hint = "have whoever runs the server list the name in http.allowed_hosts";
            return Some(forbidden("this server is not reached under the name in the header Host", hint));
        }
        let origin = headers.get(header::ORIGIN)?;
        let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        let allowed = origin.is_some_and(|origin| {
            matches!(origin.scheme_str(), Some("http" | "https"))
                && origin.authority().is_some_and(|authority| self.allows(authority.as_str()))
        });
        let hint = "send it from a program, without the header Origin, or list its host in http.allowed_hosts";
        (!allowed).then(|| forbidden("pages of other origins may not use this server", hint))
    }
}

pub(super) async fn check(State(allowed): State<Arc<AllowedHosts>>, request: Request, next: Next) -> Response {
    match allowed.problem(request.uri(), request.headers()) {
        Some(problem) => problem.into_response(),
        None => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(host: &[&str], origin: Option<&str>) -> bool {
        let allowed = AllowedHosts::new("127.0.0.1:8787".parse().unwrap(), &["Bank.example.org".into()]);
        let mut headers = HeaderMap::new();
        host.iter().for_each(|host| {
            headers.append(header::HOST, host.parse().unwrap());
        });
        origin.map(|origin| headers.insert(header::ORIGIN, origin.parse().unwrap()));
        allowed.problem(&Uri::from_static("/mcp"), &headers).is_some()
    }

    #[test]
    fn a_target_that_names_a_host_needs_an_allowed_one_as_well() {
        let allowed = AllowedHosts::new("127.0.0.1:8787".parse().unwrap(), &[]);
        let headers = HeaderMap::from_iter([(header::HOST, "localhost".parse().unwrap())]);
        let is_refused = |uri: &'static str| allowed.problem(&Uri::from_static(uri), &headers).is_some();
        assert!(!is_refused("http://127.0.0.1:8787/mcp"));
        assert!(is_refused("http://evil.example/mcp"));
    }

    #[test]
    fn the_server_answers_to_its_own_names_alone() {
        for host in ["localhost:8787", "127.0.0.1", "[::1]:8787", "bank.example.org", "BANK.example.org:443"] {
            assert!(!is_refused(&[host], None), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "me@localhost", "", "127.0.0.1:x", "bank.example.org."] {
            assert!(is_refused(&[host], None), "{host}");
        }
        assert!(is_refused(&[], None));
        assert!(is_refused(&["localhost", "localhost"], None), "two hosts are one too many");
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        assert!(!is_refused(&["localhost"], Some("http://localhost:3000")));
        for origin in ["https://evil.example", "null", "file://localhost", "http://", "localhost"] {
            assert!(is_refused(&["localhost"], Some(origin)), "{origin}");
        }
    }
}
