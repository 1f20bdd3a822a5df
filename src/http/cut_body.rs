//! The body of an answer that is a stream, and whose token or server ends in its middle. A part of an answer must not
//! look like the whole of it, so its connection is closed without the end of a body.

use std::time::Duration;

use axum::body::Body;
use futures::{StreamExt, stream};

/// A stream has this long to end by itself, and to say why, once its token or the server has ended.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(300);

/// The error that a body ends with when it is cut.
#[derive(Debug, thiserror::Error)]
#[error("the answer was cut, because its token or the server has ended")]
struct CutBody;

/// Passes a body on until `over`. `is_news` says that it is a list of news without an end of its own, which may stop at
/// any place; any other body is broken off then. Its rest is dropped, which tells whoever writes it that the client is
/// gone.
pub(super) fn until(body: Body, over: impl Future<Output = ()> + Send + 'static, is_news: bool) -> Body {
    let open = Some((body.into_data_stream(), Box::pin(over)));
    Body::from_stream(stream::unfold(open, move |open| async move {
        let (mut data, mut over) = open?;
        tokio::select! {
            biased;
            () = &mut over => (!is_news).then(|| (Err(axum::Error::new(CutBody)), None)),
            part = data.next() => Some((part?, Some((data, over)))),
        }
    }))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::{Bytes, to_bytes};
    use tokio_util::sync::CancellationToken;

    use super::*;

    /// A body of one part and no end.
    fn endless() -> Body {
        let part = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"part"))]);
        Body::from_stream(part.chain(stream::pending()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_cut_ends_with_an_error_unless_it_is_news() {
        for (is_news, is_whole) in [(true, true), (false, false)] {
            let end = CancellationToken::new();
            let body = until(endless(), end.clone().cancelled_owned(), is_news);
            let (read, ()) = tokio::join!(to_bytes(body, 100), async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                end.cancel();
            });
            assert_eq!(read.is_ok(), is_whole);
            assert!(read.is_err() || read.is_ok_and(|read| read == "part"));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_ends_by_itself_is_whole() {
        let read = to_bytes(until(Body::from("whole"), std::future::pending(), false), 100).await;
        assert_eq!(read.unwrap(), "whole");
    }
}
