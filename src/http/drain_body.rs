//! The rest of a body that nobody read. A client that is still sending reads no answer: were the connection closed on
//! it, it would see a connection that was reset, and not why it was refused.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use futures::{Stream, StreamExt};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::mcp::MAX_BODY_BYTES;

/// At most this many bytes are read and thrown away, for at most this long. Who sends more may see a reset connection.
const MAX_UNREAD_BYTES: usize = 4 * MAX_BODY_BYTES;
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Answers once the request has arrived whole, within bounds.
pub(super) async fn read_rest(request: Request, next: Next) -> Response {
    // A client that asked whether it may send its body has not sent it yet.
    if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
        return next.run(request).await;
    }
    let (returned, mut rest) = oneshot::channel();
    let request = request.map(|body| {
        let unread = Some(body.into_data_stream());
        Body::from_stream(ReturnedBody { unread, returned: Some(returned) })
    });
    let response = next.run(request).await;
    if let Ok(rest) = rest.try_recv() {
        // The answer goes out whether the rest came or not.
        let _ = timeout(MAX_WAIT, throw_away(rest)).await;
    }
    response
}

async fn throw_away(mut rest: BodyDataStream) {
    let mut bytes = 0;
    while let Some(Ok(chunk)) = rest.next().await {
        bytes += chunk.len();
        if bytes > MAX_UNREAD_BYTES {
            return;
        }
    }
}

/// A body that comes back when its reader drops it before its end.
struct ReturnedBody {
    unread: Option<BodyDataStream>,
    returned: Option<oneshot::Sender<BodyDataStream>>,
}

impl Stream for ReturnedBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(body) = &mut self.unread else { return Poll::Ready(None) };
        let chunk = ready!(body.poll_next_unpin(context));
        if !matches!(chunk, Some(Ok(_))) {
            self.unread = None;
        }
        Poll::Ready(chunk)
    }
}

impl Drop for ReturnedBody {
    fn drop(&mut self) {
        if let (Some(body), Some(returned)) = (self.unread.take(), self.returned.take()) {
            let _ = returned.send(body);
        }
    }
}
