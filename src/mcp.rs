//! The Model Context Protocol edge: the tools that agents call, over stdio and HTTP. One handler serves both the
//! handshake revisions up to 2025-11-25 and the stateless 2026-07-28. Only this module knows rmcp.
//!
//! `tools` has a file for each tool, `calls` is what a tool may use of the server, and `arguments` and `schema` are its
//! form. `server` is the handler, `options` what it is started with; `session`, `transport`, `lines` and `head` carry
//! its messages over stdio, and `http` over HTTP; `caller` is who sent them, and `client` with what. `bridge` takes a
//! client over stdio to a server over HTTP.

mod arguments;
mod binding;
mod bridge;
mod caller;
mod calls;
mod client;
mod failure;
mod head;
mod http;
mod lines;
mod open_questions;
mod options;
mod progress;
mod schema;
mod server;
mod session;
#[cfg(test)]
mod test_client;
#[cfg(test)]
mod tests;
mod tools;
mod transport;

pub(crate) use arguments::read_arguments;
pub use bridge::{BridgeError, BridgeOptions};
pub(crate) use caller::{EndedBy, RequestEnd, SESSION_HEADER, WORKSPACE_HEADER};
pub(crate) use client::RequestKey;
pub(crate) use failure::failure_document;
pub(crate) use http::{HttpRoute, HttpSessions, MAX_BODY_BYTES, PATH, http_route, is_stateless, listens};
pub use options::{McpOptions, ToolDefaults};
pub(crate) use schema::{SchemaReader, of_answer as answer_schema, of_arguments as arguments_schema};
pub(crate) use server::{ArrivedImport, DescribedTool, ScriptCall, Server};
pub use session::SessionError;
pub(crate) use tools::page_size;

use reasoning_bank_actors::system::SystemHandle;
use tokio_util::sync::CancellationToken;

/// Serves the client at the other end of stdin and stdout until it closes its end, or until `end` is cancelled, which
/// counts as the same. It answers at once: nothing waits for the store, the embedding model or the language model
/// before a call needs them.
pub async fn serve_stdio(
    system: SystemHandle,
    options: McpOptions,
    end: CancellationToken,
) -> Result<(), SessionError> {
    let (read, write) = rmcp::transport::stdio_pipes();
    session::run(Server::stdio(system, options), read, write, end).await
}

/// Connects the client at the other end of stdin and stdout to a server over HTTP, until it closes its end or `end` is
/// cancelled.
///
/// # Errors
/// No connection can be made at all, or the streams fail. What a server refuses is answered to the client.
pub async fn bridge_stdio(options: BridgeOptions, end: CancellationToken) -> Result<(), BridgeError> {
    let (read, write) = rmcp::transport::stdio_pipes();
    bridge::run(options, read, write, end).await
}
