//! A bridge for clients that speak the protocol over stdio only: it passes each message on to a server over HTTP, with
//! the token and the project of its user, and each answer back. It reads no more of a message than the transport needs.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use reasoning_bank_domain::memory::workspace::WorkspaceKey;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};
use rmcp::model::ErrorCode;
use rmcp::transport::common::http_header::{
    HEADER_MCP_METHOD, HEADER_MCP_NAME, HEADER_MCP_PROTOCOL_VERSION, HEADER_SESSION_ID,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::bytes::Bytes;
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::WORKSPACE_HEADER;
use super::lines::{InputLine, LineDecoder};
use super::transport::MAX_LINE_BYTES;

/// The place of the revision in a request, for the revision without a handshake.
const VERSION_IN_META: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest call is a solve, for which a day may be allowed. A server says nothing until its answer is there.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(25 * 60 * 60);
/// A notification is taken, not worked on.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(10);
/// At most this many requests are under way. Further ones wait.
const MAX_REQUESTS: usize = 64;
/// Requests under way may end for this long after the client has closed its end.
const GRACE: Duration = Duration::from_secs(5);
/// The code that JSON-RPC leaves to servers for errors of their own.
const SERVER_ERROR: ErrorCode = ErrorCode(-32_000);

/// The server that a bridge leads to.
pub struct BridgeOptions {
    pub url: Url,
    pub token: Option<SecretString>,
    /// The project that all calls are for. Without one, the token or each call says so.
    pub key: Option<WorkspaceKey>,
}

#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    #[error("no connections can be made on this machine: {0}")]
    Setup(#[from] reqwest::Error),
    #[error("the token holds characters that no token has")]
    Token,
    #[error("the key of the workspace holds characters that no header can carry")]
    Key,
    #[error("the client's streams failed: {0}")]
    Stream(#[from] io::Error),
}

/// Passes messages between the client at the other end of `read` and `write` and the server, until the client closes
/// its end or `end` is cancelled.
pub(super) async fn run<R, W>(
    options: BridgeOptions,
    read: R,
    write: W,
    end: CancellationToken,
) -> Result<(), BridgeError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (answers, written) = mpsc::channel(MAX_REQUESTS);
    let bridge = Arc::new(Bridge::new(options, answers)?);
    let writing = tokio::spawn(write_lines(written, write));
    let (requests, room) = (TaskTracker::new(), Arc::new(Semaphore::new(MAX_REQUESTS)));
    let mut lines = FramedRead::new(read, LineDecoder::new(MAX_LINE_BYTES));
    loop {
        let line = tokio::select! {
            () = end.cancelled() => break,
            line = lines.next() => line,
        };
        let message = match line.transpose()? {
            None => break,
            Some(InputLine::Whole(line)) if line.is_empty() => continue,
            Some(InputLine::Whole(line)) => match serde_json::from_slice::<Value>(&line) {
                Ok(message) => message,
                Err(error) => {
                    bridge.fail(&Value::Null, ErrorCode::PARSE_ERROR, format!("not JSON: {error}")).await;
                    continue;
                }
            },
            Some(InputLine::TooLong { bytes }) => {
                let problem = format!("a message of {bytes} bytes is too long; {MAX_LINE_BYTES} are taken");
                bridge.fail(&Value::Null, ErrorCode::INVALID_REQUEST, problem).await;
                continue;
            }
        };
        // The end of the handshake is waited for, because later messages are sent in another way after it.
        if message["method"] == "initialize" || message.get("id").is_none() {
            let passed = tokio::time::timeout(NOTIFICATION_TIMEOUT, bridge.pass_on(message.clone()));
            tokio::select! {
                () = end.cancelled() => break,
                passed = passed => if passed.is_err() {
                    let problem = format!("the server said nothing for {} s", NOTIFICATION_TIMEOUT.as_secs());
                    bridge.fail_request(&message, problem).await;
                },
            }
            continue;
        }
        // An answer of the client, which a request under way may wait for.
        if message.get("method").is_none() {
            let bridge = Arc::clone(&bridge);
            requests.spawn(async move { bridge.pass_on(message).await });
            continue;
        }
        let (bridge, room) = (Arc::clone(&bridge), Arc::clone(&room));
        let cancelled = bridge.open(&message);
        requests.spawn(async move {
            let _permit = room.acquire_owned().await;
            let id = message["id"].clone();
            tokio::select! {
                // Dropping its answer is what tells a server that a request is cancelled.
                () = cancelled.cancelled() => {}
                () = bridge.pass_on(message) => {}
            }
            bridge.close(&id);
        });
    }
    requests.close();
    let _ = tokio::time::timeout(GRACE, requests.wait()).await;
    bridge.end_session().await;
    drop(bridge);
    match tokio::time::timeout(GRACE, writing).await {
        Ok(Ok(written)) => Ok(written?),
        _ => Ok(()),
    }
}

async fn write_lines<W: AsyncWrite + Unpin>(mut lines: mpsc::Receiver<Vec<u8>>, mut write: W) -> io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push(b'\n');
        write.write_all(&line).await?;
        write.flush().await?;
    }
    Ok(())
}

struct Bridge {
    http: Client,
    url: Url,
    answers: mpsc::Sender<Vec<u8>>,
    session: Mutex<BridgeSession>,
    /// The lock of a handshake that is made again.
    greeting: tokio::sync::Mutex<()>,
}

/// The facts of earlier messages that later messages of a client need.
#[derive(Default)]
struct BridgeSession {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The first message of the handshake. A server that was started anew is sent it again.
    initialize: Option<Value>,
    /// The requests under way, by the text of their id.
    open: HashMap<String, CancellationToken>,
}

impl Bridge {
    fn new(options: BridgeOptions, answers: mpsc::Sender<Vec<u8>>) -> Result<Self, BridgeError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(token) = &options.token {
            let bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()));
            let mut bearer = bearer.map_err(|_| BridgeError::Token)?;
            bearer.set_sensitive(true);
            headers.insert(reqwest::header::AUTHORIZATION, bearer);
        }
        if let Some(key) = &options.key {
            let key = HeaderValue::from_bytes(key.as_str().as_bytes()).map_err(|_| BridgeError::Key)?;
            headers.insert(WORKSPACE_HEADER, key);
        }
        let builder = Client::builder();
        // A proxy would read the token of a request that is not encrypted.
        let builder = if options.url.scheme() == "http" { builder.no_proxy() } else { builder };
        let http = builder
            .default_headers(headers)
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { http, url: options.url, answers, session: Mutex::default(), greeting: tokio::sync::Mutex::default() })
    }

    fn with_session<T>(&self, work: impl FnOnce(&mut BridgeSession) -> T) -> T {
        work(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a request as under way. What is returned is cancelled when the client gives the request up.
    fn open(&self, message: &Value) -> CancellationToken {
        let token = CancellationToken::new();
        self.with_session(|session| session.open.insert(message["id"].to_string(), token.clone()));
        token
    }

    fn close(&self, id: &Value) {
        self.with_session(|session| session.open.remove(&id.to_string()));
    }

    /// Sends a message to the server and passes on whatever it answers.
    async fn pass_on(&self, message: Value) {
        if message["method"] == "initialize" {
            self.with_session(|session| {
                *session = BridgeSession { initialize: Some(message.clone()), ..BridgeSession::default() };
            });
        }
        if message["method"] == "notifications/cancelled" {
            let given_up = message["params"]["requestId"].to_string();
            if let Some(open) = self.with_session(|session| session.open.remove(&given_up)) {
                open.cancel();
            }
        }
        let session = self.with_session(|session| session.id.clone());
        let sent = match self.send(&message).await {
            // The server forgot the session, most likely because it was started anew.
            Ok(answer) if answer.status() == StatusCode::NOT_FOUND && session.is_some() => {
                match self.greet_again(session).await {
                    Ok(()) => self.send(&message).await,
                    Err(error) => Err(error),
                }
            }
            sent => sent,
        };
        let passed = match sent {
            Ok(answer) => self.pass_back(&message, answer).await,
            Err(error) => Err(error),
        };
        if let Err(error) = passed {
            let problem = format!("the server at {} does not answer: {}", self.url, reason(&error));
            tracing::warn!("{problem}");
            self.fail_request(&message, problem).await;
        }
    }

    async fn send(&self, message: &Value) -> reqwest::Result<Response> {
        let mut request = self.http.post(self.url.clone()).body(message.to_string());
        let (id, version) = self.with_session(|session| (session.id.clone(), session.version.clone()));
        let named = message.pointer(VERSION_IN_META).and_then(Value::as_str);
        match named.and_then(|version| HeaderValue::from_str(version).ok()) {
            // The stateless revision repeats in headers what a request is about.
            Some(version) => {
                let text = |value: &Value| value.as_str().and_then(|text| HeaderValue::from_str(text).ok());
                request = request.header(HEADER_MCP_PROTOCOL_VERSION, version);
                if let Some(method) = text(&message["method"]) {
                    request = request.header(HEADER_MCP_METHOD, method);
                }
                if let Some(name) = text(&message["params"]["name"]) {
                    request = request.header(HEADER_MCP_NAME, name);
                }
            }
            None => {
                for (name, value) in [(HEADER_SESSION_ID, id), (HEADER_MCP_PROTOCOL_VERSION, version)] {
                    if let Some(value) = value {
                        request = request.header(name, value);
                    }
                }
            }
        }
        request.send().await
    }

    async fn pass_back(&self, message: &Value, mut answer: Response) -> reqwest::Result<()> {
        let is_handshake = message["method"] == "initialize";
        if is_handshake && let Some(id) = answer.headers().get(HEADER_SESSION_ID).cloned() {
            self.with_session(|session| session.id = Some(id));
        }
        let status = answer.status();
        let kind =
            answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
        if kind.starts_with("text/event-stream") && status.is_success() {
            let mut events = SseStream::from_bytes_stream(chunks(answer));
            let mut is_answered = false;
            while let Some(event) = events.next().await {
                let Ok(event) = event else {
                    self.fail_request(message, "the server's stream broke off".to_owned()).await;
                    return Ok(());
                };
                if let Some(data) = event.data.filter(|data| !data.trim().is_empty()) {
                    match serde_json::from_str(&data) {
                        Ok(said) => {
                            is_answered |= is_answer_to(message, &said);
                            self.pass_back_line(is_handshake, &said).await;
                        }
                        Err(_) => tracing::warn!("the server sent something that is no JSON"),
                    }
                }
            }
            if !is_answered {
                self.fail_request(message, "the server ended before its answer was there".to_owned()).await;
            }
            return Ok(());
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if body.len() + chunk.len() > MAX_LINE_BYTES {
                self.fail_request(message, format!("the answer is longer than {MAX_LINE_BYTES} bytes")).await;
                return Ok(());
            }
            body.extend_from_slice(&chunk);
        }
        let said = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        if said.get("jsonrpc").is_some() {
            self.pass_back_line(is_handshake, &said).await;
        } else if !status.is_success() {
            let said = refusal(&said).unwrap_or_else(|| String::from_utf8_lossy(&body).chars().take(200).collect());
            self.fail_request(message, format!("the server refused the message with {status}: {said}")).await;
        }
        Ok(())
    }

    /// Passes one message of the server on to the client, as one line.
    async fn pass_back_line(&self, is_handshake: bool, message: &Value) {
        if is_handshake && let Some(version) = message["result"]["protocolVersion"].as_str() {
            let version = HeaderValue::from_str(version).ok();
            self.with_session(|session| session.version = version);
        }
        let _ = self.answers.send(message.to_string().into_bytes()).await;
    }

    /// Makes the handshake once more, for a client that knows nothing of it. If the session of many requests is gone,
    /// the first one does so.
    async fn greet_again(&self, gone: Option<HeaderValue>) -> reqwest::Result<()> {
        let _turn = self.greeting.lock().await;
        if self.with_session(|session| session.id != gone) {
            return Ok(());
        }
        let Some(initialize) = self.with_session(|session| session.initialize.clone()) else { return Ok(()) };
        let version = self.with_session(|session| session.version.take());
        let greeting = self.http.post(self.url.clone()).body(initialize.to_string()).timeout(NOTIFICATION_TIMEOUT);
        let answer = greeting.send().await?.error_for_status()?;
        let id = answer.headers().get(HEADER_SESSION_ID).cloned();
        let _ = answer.bytes().await?;
        // The same server speaks the revision that was agreed upon.
        self.with_session(|session| (session.id, session.version) = (id, version));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        tracing::info!("the server was started anew; the session goes on");
        Ok(())
    }

    async fn end_session(&self) {
        let Some(id) = self.with_session(|session| session.id.take()) else { return };
        let ended = self.http.delete(self.url.clone()).header(HEADER_SESSION_ID, id).send();
        let _ = tokio::time::timeout(GRACE, ended).await;
    }

    /// Answers a request with an error. A notification or an answer of the client has nobody to tell.
    async fn fail_request(&self, message: &Value, problem: String) {
        if message.get("method").is_some()
            && let Some(id) = message.get("id")
        {
            self.fail(id, SERVER_ERROR, problem).await;
        }
    }

    async fn fail(&self, id: &Value, code: ErrorCode, problem: String) {
        let answer = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": problem}});
        let _ = self.answers.send(answer.to_string().into_bytes()).await;
    }
}

/// Tells whether what the server said is the answer to a message, and not news that comes before it.
fn is_answer_to(message: &Value, said: &Value) -> bool {
    said.get("method").is_none() && said.get("id") == message.get("id")
}

/// Returns what the document of a refusal says: what is wrong, and what can be done.
fn refusal(document: &Value) -> Option<String> {
    let message = document["error"]["message"].as_str()?;
    Some(match document["error"]["hint"].as_str() {
        Some(hint) => format!("{message}; hint: {hint}"),
        None => message.to_owned(),
    })
}

fn chunks(answer: Response) -> impl Stream<Item = reqwest::Result<Bytes>> + Unpin {
    Box::pin(stream::try_unfold(answer, async |mut answer| Ok(answer.chunk().await?.map(|chunk| (chunk, answer)))))
}

/// Says what went wrong at the bottom of an error, without the URL.
fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    cause.to_string()
}
