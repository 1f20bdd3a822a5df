//! The protocol over HTTP, both for the revisions with sessions and for the stateless one. Who asks was found out before
//! a request comes here.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Router;
use reasoning_bank_actors::system::SystemHandle;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::options::McpOptions;
use super::server::Server;
use crate::audit::AuditLog;

/// A message may have this many bytes: a line over stdio may too, and a transcript of the longest kind fits.
const MAX_BODY_BYTES: usize = 8 << 20;

/// The sessions that are open, for whoever bounds and ends them.
#[derive(Clone, Default)]
pub(crate) struct HttpSessions(Arc<LocalSessionManager>);

impl HttpSessions {
    /// Returns the ids of the sessions that have not ended.
    pub(crate) async fn living(&self) -> HashSet<String> {
        self.0.sessions.read().await.keys().map(|id| id.to_string()).collect()
    }

    pub(crate) async fn close(&self, session: &str) {
        if let Err(error) = self.0.close_session(&session.into()).await {
            tracing::debug!(%error, "a session had ended already");
        }
    }
}

/// Makes the route of the protocol. All requests share one server, whose definitions of tools are made once. `stop` ends
/// all sessions.
///
/// Hosts and origins are checked for every path before a request comes here. No store of events is set: with one, a
/// client that goes away would not cancel its call.
pub(crate) fn http_route(
    system: SystemHandle,
    options: McpOptions,
    audit: AuditLog,
    stop: CancellationToken,
) -> (Router, HttpSessions) {
    let (server, sessions) = (Server::http(system, options, audit), HttpSessions::default());
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(stop);
    let service = StreamableHttpService::new(move || Ok(server.clone()), Arc::clone(&sessions.0), config);
    (Router::new().nest_service("/mcp", service), sessions)
}
