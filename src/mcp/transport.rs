//! A transport of JSON-RPC messages, one a line, over a reader and a writer. It stands in for rmcp's own line
//! transport, which bounds lines too, but neither says what it dropped nor answers a refused request under its id.
//! Nothing here knows a method.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use reasoning_bank_domain::text::json;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc};
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;

use super::head::MessageHead;
use super::lines::{InputLine, LineDecoder};

/// The longest line that is read, in bytes. A task of 200,000 characters is at most 2.4 MB, even with every one of them
/// escaped.
pub(super) const MAX_LINE_BYTES: usize = 8 << 20;

/// A message may have this many JSON values, those inside of others included: hundreds of times what any call has. A
/// value takes some hundred bytes, and a line has room for four million of them.
pub(super) const MAX_VALUES: usize = 20_000;

/// This many answers may wait for the client to read them. Beyond that nothing more is read from it.
const WAITING_ANSWERS: usize = 64;

/// The client may read nothing of what is written for this long. While answers wait nothing is read, the end of the
/// input neither: without a bound, a client that is gone but whose streams are not would be waited for for ever.
const WRITE_STALL: Duration = Duration::from_secs(30);

const TOO_MANY_VALUES: &str = "the message has more than 20000 JSON values: send less at once";

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// A transport whose clones share the two streams: a session that failed to start leaves them for the next one.
pub(super) struct LineTransport<R> {
    lines: Arc<Mutex<FramedRead<R, LineDecoder>>>,
    out: mpsc::Sender<Vec<u8>>,
    end: CancellationToken,
}

impl<R> Clone for LineTransport<R> {
    fn clone(&self) -> Self {
        Self { lines: Arc::clone(&self.lines), out: self.out.clone(), end: self.end.clone() }
    }
}

impl<R: AsyncRead + Unpin> LineTransport<R> {
    /// Makes a transport and the task that writes what it sends. Cancelling `end` counts as the end of the input. The
    /// task ends when every clone is gone and everything is written, or when the writer fails or stalls for
    /// [`WRITE_STALL`].
    pub(super) fn new<W>(
        read: R,
        write: W,
        end: CancellationToken,
    ) -> (Self, impl Future<Output = io::Result<()>> + use<R, W>)
    where
        W: AsyncWrite + Unpin,
    {
        let (out, waiting) = mpsc::channel(WAITING_ANSWERS);
        let lines = Arc::new(Mutex::new(FramedRead::new(read, LineDecoder::new(MAX_LINE_BYTES))));
        (Self { lines, out, end }, write_lines(write, waiting))
    }
}

async fn write_lines<W: AsyncWrite + Unpin>(mut write: W, mut waiting: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(line) = waiting.recv().await {
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match in_time(write.write(rest)).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => rest = &rest[written..],
            }
        }
        if waiting.is_empty() {
            in_time(write.flush()).await?;
        }
    }
    in_time(write.flush()).await
}

async fn in_time<T>(writing: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let stalled = |_elapsed| io::Error::new(io::ErrorKind::TimedOut, "the client does not read what is written");
    tokio::time::timeout(WRITE_STALL, writing).await.map_err(stalled)?
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = self.out.clone();
        async move { out.send(encode(&message)?).await.map_err(|_closed| io::ErrorKind::BrokenPipe.into()) }
    }

    /// Receives a message. It returns `None` at the end of the input, or when answers can no longer be written. It may
    /// be dropped at any time without loss.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        tokio::select! {
            biased;
            () = self.end.cancelled() => None,
            () = self.out.closed() => None,
            message = self.next() => message,
        }
    }

    /// Does nothing: the streams close with the last clone.
    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> LineTransport<R> {
    /// Reads the next message. It loses nothing when dropped: a place for a refusal is had before the line is read.
    async fn next(&self) -> Option<ClientJsonRpcMessage> {
        let mut lines = self.lines.lock().await;
        loop {
            let place = self.out.reserve().await.ok()?;
            let line = match lines.next().await? {
                Ok(InputLine::Whole(line)) => line,
                Ok(InputLine::TooLong { bytes }) => {
                    tracing::warn!(bytes, max = MAX_LINE_BYTES, "skipped a line of input: it is too long");
                    continue;
                }
                Err(error) => {
                    tracing::error!(%error, "cannot read the input");
                    return None;
                }
            };
            match understand(&line) {
                Incoming::Message(message) => return Some(*message),
                Incoming::Nothing => {}
                Incoming::Refused { id, problem } => {
                    let refusal = ServerJsonRpcMessage::error(ErrorData::invalid_request(problem, None), id);
                    match encode(&refusal) {
                        Ok(line) => place.send(line),
                        Err(error) => tracing::error!(%error, "cannot write a refusal"),
                    }
                }
                Incoming::Unreadable(reason) => {
                    tracing::warn!(bytes = line.len(), reason, "skipped a line of input");
                }
            }
        }
    }
}

fn encode(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// The kinds of lines of the input.
enum Incoming {
    Message(Box<ClientJsonRpcMessage>),
    /// The line is blank, or a malformed notification or answer: JSON-RPC answers neither.
    Nothing,
    /// The line is JSON, but no message. It is answered, under its id where it has one.
    Refused {
        id: Option<RequestId>,
        problem: &'static str,
    },
    /// The line is not JSON. It is not answered: there is no id, and a peer that echoes errors would be answered for
    /// ever.
    Unreadable(&'static str),
}

fn understand(line: &[u8]) -> Incoming {
    let line = line.strip_prefix(UTF8_BOM).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Incoming::Nothing;
    }
    if !json::has_at_most(line, MAX_VALUES) {
        return match serde_json::from_slice::<MessageHead>(line) {
            Ok(MessageHead { id: None, is_call: true }) => Incoming::Nothing,
            Ok(MessageHead { id, .. }) => Incoming::Refused { id, problem: TOO_MANY_VALUES },
            Err(_) => Incoming::Unreadable("it has too many JSON values, and is no message"),
        };
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Incoming::Message(Box::new(message));
    }
    let Ok(text) = std::str::from_utf8(line) else { return Incoming::Unreadable("it is not UTF-8") };
    match serde_json::from_str::<Value>(text) {
        Err(error) if error.is_eof() => Incoming::Unreadable("the JSON in it is incomplete"),
        Err(_) => Incoming::Unreadable("it is not JSON"),
        Ok(Value::Object(object)) => {
            let is_request = object.contains_key("id") && object.contains_key("method");
            let is_answer = object.contains_key("result") || object.contains_key("error");
            if !is_request && (is_answer || object.contains_key("method")) {
                return Incoming::Nothing;
            }
            let id = object.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            Incoming::Refused { id, problem: "not a JSON-RPC 2.0 request" }
        }
        Ok(Value::Array(_)) => {
            Incoming::Refused { id: None, problem: "batches are not supported: send a message a line" }
        }
        Ok(_) => Incoming::Refused { id: None, problem: "not a JSON-RPC 2.0 message" },
    }
}

#[cfg(test)]
mod tests;
