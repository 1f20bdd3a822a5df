//! One client of a daemon: a connection of its own, a token, and where it speaks MCP a session.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::mcp::{PATH, SESSION_HEADER, WORKSPACE_HEADER};

/// Above the deadline of any call that is made here.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// The newest revision with sessions, which most clients speak.
const PROTOCOL_VERSION: &str = "2025-11-25";

/// A request has no answer: whether it was carried out is not known.
#[derive(Debug, thiserror::Error)]
#[error("no answer: {0}")]
pub(super) struct Unanswered(String);

impl Unanswered {
    fn because(error: impl ToString) -> Self {
        Self(error.to_string())
    }
}

/// A connection of HTTP/1.1, which is made again when it is gone.
pub(super) struct HttpClient {
    address: SocketAddr,
    token: String,
    key: String,
    connection: Option<SendRequest<Body>>,
}

pub(super) struct HttpAnswer {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    pub(super) body: Bytes,
}

impl HttpClient {
    /// Makes a client of one workspace, by its key. It connects with its first request.
    pub(super) fn new(address: SocketAddr, token: &str, key: String) -> Self {
        Self { address, token: token.to_owned(), key, connection: None }
    }

    pub(super) async fn get(&mut self, path: &str) -> Result<HttpAnswer, Unanswered> {
        self.send(Method::GET, path, &[], Body::empty()).await
    }

    pub(super) async fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<HttpAnswer, Unanswered> {
        let json = [("content-type", "application/json")];
        self.send(Method::POST, path, &[&json, headers].concat(), Body::from(body.to_string())).await
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Body,
    ) -> Result<HttpAnswer, Unanswered> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.address.to_string())
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(WORKSPACE_HEADER, &self.key);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).map_err(Unanswered::because)?;
        // A connection that failed is not used again: it is put back with the answer.
        let answer = timeout(ANSWER_TIMEOUT, self.exchange(request)).await;
        answer.map_err(Unanswered::because)?
    }

    async fn exchange(&mut self, request: Request<Body>) -> Result<HttpAnswer, Unanswered> {
        let mut connection = match self.connection.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => connect(self.address).await?,
        };
        connection.ready().await.map_err(Unanswered::because)?;
        let answer = connection.send_request(request).await.map_err(Unanswered::because)?;
        let (head, body) = answer.into_parts();
        let body = to_bytes(Body::new(body), MAX_ANSWER_BYTES).await.map_err(Unanswered::because)?;
        self.connection = Some(connection);
        Ok(HttpAnswer { status: head.status, headers: head.headers, body })
    }
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Body>, Unanswered> {
    let stream = TcpStream::connect(address).await.map_err(Unanswered::because)?;
    stream.set_nodelay(true).map_err(Unanswered::because)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(Unanswered::because)?;
    // It ends with the sender, or when the daemon closes it.
    tokio::spawn(connection);
    Ok(sender)
}

/// The answer of a tool.
pub(super) struct ToolAnswer {
    pub(super) document: Value,
    is_error: bool,
}

impl ToolAnswer {
    /// Reads the result of a call from its message.
    pub(super) fn of(message: &Value) -> Result<Self, Unanswered> {
        let result = message.get("result").ok_or_else(|| Unanswered(format!("no result: {message}")))?;
        let document = result.get("structuredContent").cloned().unwrap_or_default();
        Ok(Self { document, is_error: result.get("isError").and_then(Value::as_bool).unwrap_or_default() })
    }

    /// Returns the code of the error that the tool answered with.
    pub(super) fn error_code(&self) -> Option<&str> {
        self.is_error.then(|| self.document["code"].as_str().unwrap_or("none"))
    }
}

/// Makes the message that begins a session.
pub(super) fn initialize() -> Value {
    let client = json!({"name": "reasoning-bank-eval", "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
}

/// Makes the message that ends the handshake.
pub(super) fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// Makes the message that calls a tool.
pub(super) fn tool_call(tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

/// A client of `/mcp`. Its session begins with its first call, and anew after a call that had no answer.
pub(super) struct McpClient {
    http: HttpClient,
    session: Option<String>,
}

impl McpClient {
    pub(super) fn new(http: HttpClient) -> Self {
        Self { http, session: None }
    }

    pub(super) async fn call(&mut self, tool: &str, arguments: &Value) -> Result<ToolAnswer, Unanswered> {
        let session = match self.session.take() {
            Some(session) => session,
            None => self.begin().await?,
        };
        let answer = self.message(&tool_call(tool, arguments), Some(&session)).await?;
        self.session = Some(session);
        ToolAnswer::of(&message(&answer.body)?)
    }

    async fn begin(&mut self) -> Result<String, Unanswered> {
        let answer = self.message(&initialize(), None).await?;
        let session = answer.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok());
        let session = session.ok_or_else(|| Unanswered("no session was begun".into()))?.to_owned();
        self.message(&initialized(), Some(&session)).await?;
        Ok(session)
    }

    async fn message(&mut self, message: &Value, session: Option<&str>) -> Result<HttpAnswer, Unanswered> {
        let mut headers = vec![("accept", "application/json, text/event-stream")];
        if let Some(session) = session {
            headers.extend([(SESSION_HEADER, session), ("mcp-protocol-version", PROTOCOL_VERSION)]);
        }
        let answer = self.http.post(PATH, &headers, message).await?;
        if answer.status.is_success() { Ok(answer) } else { Err(Unanswered(format!("status {}", answer.status))) }
    }
}

/// Reads the message of an answer, which is a document or a stream of events.
fn message(body: &[u8]) -> Result<Value, Unanswered> {
    let text = std::str::from_utf8(body).map_err(Unanswered::because)?;
    let mut events = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let last = events.rfind(|data| data.starts_with('{'));
    serde_json::from_str(last.unwrap_or(text)).map_err(Unanswered::because)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_as_a_document_or_as_the_last_event() {
        let result = json!({"result": {"structuredContent": {"mode": "hybrid"}, "isError": false}});
        let streamed = format!("data:\n\nevent: message\ndata: {{\"method\": \"progress\"}}\n\ndata: {result}\n\n");
        for body in [result.to_string(), streamed] {
            let answer = ToolAnswer::of(&message(body.as_bytes()).unwrap()).unwrap();
            assert_eq!((answer.document["mode"].as_str(), answer.error_code()), (Some("hybrid"), None));
        }
        let failed = json!({"result": {"structuredContent": {"code": "overloaded"}, "isError": true}});
        assert_eq!(ToolAnswer::of(&failed).unwrap().error_code(), Some("overloaded"));
        assert!(ToolAnswer::of(&json!({"error": {"code": -32600}})).is_err());
    }
}
