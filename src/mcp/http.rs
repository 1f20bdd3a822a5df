//! The protocol over HTTP, both for the revisions with sessions and for the stateless one. Who asks was found out
//! before a request comes here.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, Method};
use rmcp::ServerHandler;
use rmcp::model::{ConstString, ProtocolVersion, SubscriptionsListenRequestMethod};
use rmcp::transport::common::http_header::{HEADER_MCP_METHOD, HEADER_MCP_PROTOCOL_VERSION};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

/// A message may have this many bytes: a line over stdio may too, and a transcript of the longest kind fits.
pub(crate) const MAX_BODY_BYTES: usize = 8 << 20;

/// A session that nobody uses ends after this time. Most clients do not recover from the end of theirs, and a person
/// may leave one for a day.
const KEEP_ALIVE: Duration = Duration::from_secs(24 * 60 * 60);

/// Says whether a request is of a revision without a handshake, and so belongs to no session. Revisions are dates, and
/// so in the order of their text.
pub(crate) fn is_stateless(headers: &HeaderMap) -> bool {
    let version = headers.get(HEADER_MCP_PROTOCOL_VERSION);
    version.is_some_and(|version| version.as_bytes() >= ProtocolVersion::NO_INITIALIZE.as_str().as_bytes())
}

/// Says whether a request asks for news and for nothing else: for those of its session, or in the revision without a
/// handshake by a method. Such requests name their method in a header, which is held against the body.
pub(crate) fn listens(method: &Method, headers: &HeaderMap) -> bool {
    let named = headers.get(HEADER_MCP_METHOD);
    let names_it = named.is_some_and(|named| named == SubscriptionsListenRequestMethod::VALUE);
    method == Method::GET || (method == Method::POST && is_stateless(headers) && names_it)
}

/// The path of the protocol.
pub(crate) const PATH: &str = "/mcp";

/// The sessions that are open, for whoever bounds and ends them.
#[derive(Clone)]
pub(crate) struct HttpSessions(Arc<LocalSessionManager>);

impl HttpSessions {
    fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(KEEP_ALIVE);
        Self(Arc::new(manager))
    }

    pub(crate) async fn close(&self, session: &str) {
        if let Err(error) = self.0.close_session(&session.into()).await {
            tracing::debug!(%error, "a session had ended already");
        }
    }
}

/// The protocol as a route of a daemon.
pub(crate) struct HttpRoute {
    pub(crate) router: Router,
    pub(crate) sessions: HttpSessions,
    /// Ends all sessions when it is cancelled.
    pub(crate) end_of_sessions: CancellationToken,
}

/// Makes the route of the protocol. All requests share one handler, whose definitions of tools are made once.
///
/// Hosts and origins are checked for every path before a request comes here. No store of events is set: with one, a
/// client that goes away would not cancel its call.
pub(crate) fn http_route(handler: impl ServerHandler + Clone) -> HttpRoute {
    let (sessions, end_of_sessions) = (HttpSessions::new(), CancellationToken::new());
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(end_of_sessions.clone());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&sessions.0), config);
    HttpRoute { router: Router::new().route_service(PATH, service), sessions, end_of_sessions }
}
