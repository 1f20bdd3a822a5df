//! The session of one client, from its first message to the end of its input, over any pair of streams. The tools are
//! the matter of `server`.

use std::io;
use std::time::Duration;

use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::transport::LineTransport;

/// Answers are written for this long to a client that has closed its end and may have stopped reading.
const WRITE_GRACE: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the client's streams failed: {0}")]
    Stream(#[from] io::Error),
    #[error("the session ended in an error: {0}")]
    Failed(String),
}

/// Serves a client. It returns at the end of the input, or when `end` is cancelled, once requests in flight are
/// answered (rmcp waits 5 s for them, then cancels them).
pub(super) async fn run<H, R, W>(handler: H, read: R, write: W, end: CancellationToken) -> Result<(), SessionError>
where
    H: ServerHandler + Clone,
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (transport, writing) = LineTransport::new(read, write, end);
    let writing = tokio::spawn(writing);
    let result = talk(handler, transport).await;
    match tokio::time::timeout(WRITE_GRACE, writing).await {
        Ok(Ok(written)) => written?,
        Ok(Err(panicked)) => return Err(SessionError::Failed(panicked.to_string())),
        Err(_elapsed) => tracing::warn!("the client does not read its last answers"),
    }
    result
}

async fn talk<H, R>(handler: H, transport: LineTransport<R>) -> Result<(), SessionError>
where
    H: ServerHandler + Clone,
    R: AsyncRead + Unpin + Send + 'static,
{
    loop {
        // rmcp gives up on anything but a request before the handshake, such as a late cancellation of a probe.
        // A client that goes on is served all the same.
        return match handler.clone().serve(transport.clone()).await {
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(ServerInitializeError::TransportError { error, .. }) => Err(SessionError::Failed(error.to_string())),
            Err(_) => {
                tracing::warn!("ignored a message that came before the handshake");
                continue;
            }
            Ok(session) => {
                drop(transport);
                match session.waiting().await {
                    Ok(QuitReason::JoinError(error)) | Err(error) => Err(SessionError::Failed(error.to_string())),
                    Ok(_) => Ok(()),
                }
            }
        };
    }
}

#[cfg(test)]
mod tests;
