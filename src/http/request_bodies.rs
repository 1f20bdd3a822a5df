//! The bodies of requests. Each is read whole before anything is done with it, within bounds of its size, of the time
//! that it takes, and of the memory that all of them take together. That of an import is put aside on the disk.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use reasoning_bank_domain::note::Code;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::problem::Problem;
use crate::limits::RequestLimits;
use crate::mcp::MAX_BODY_BYTES;

/// A client may pause this long while it sends a body.
const PAUSE: Duration = Duration::from_secs(30);
/// A whole body arrives within this time: the largest one at 70 kB a second.
const WHOLE: Duration = Duration::from_secs(120);
/// A body that is put aside arrives within this time.
const WHOLE_FILE: Duration = Duration::from_secs(1_800);
/// A body of at most this many bytes has room in any case: every connection may send one.
const SMALL_BYTES: usize = 64 << 10;
/// The number of larger bodies that are read at once. Others wait, unread.
const LARGE_AT_ONCE: usize = 16;
/// A body whose place is not free in time is worth another try after this time.
const RETRY: Duration = Duration::from_secs(5);

/// The places for large bodies. Clones share them.
#[derive(Clone)]
pub(super) struct BodyPlaces(Arc<Semaphore>);

/// The places that a large body has while it is read: one of all, and one of its token.
type Place = (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>);

impl BodyPlaces {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(LARGE_AT_ONCE)))
    }

    /// Waits for a place. The place of its token comes first, so that nobody holds a place of all while they wait for
    /// one of their own.
    async fn take(&self, limits: &RequestLimits, until: Instant) -> Result<Place, Problem> {
        let both = async {
            let own = match limits.large_bodies() {
                Some(own) => Some(own.acquire_owned().await.ok()?),
                None => None,
            };
            Some((Arc::clone(&self.0).acquire_owned().await.ok()?, own))
        };
        timeout_at(until, both).await.ok().flatten().ok_or_else(|| {
            let problem = "too many large bodies arrive at once";
            let hint = "send it again in a moment";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, Code::Overloaded.as_str(), problem, hint).retry_after(RETRY)
        })
    }

    /// Reads a body.
    async fn read(&self, limits: &RequestLimits, body: Body) -> Result<Bytes, Problem> {
        let until = Instant::now() + WHOLE;
        let (mut data, mut read, mut place) = (body.into_data_stream(), Vec::new(), None);
        loop {
            let Some(part) = next_part(&mut data, until).await? else { return Ok(read.into()) };
            let bytes = read.len() + part.len();
            if bytes > MAX_BODY_BYTES {
                return Err(too_large(MAX_BODY_BYTES as u64));
            }
            if bytes > SMALL_BYTES && place.is_none() {
                place = Some(self.take(limits, until).await?);
            }
            // Parts are copied together: many small ones would each hold a buffer of their connection.
            read.extend_from_slice(&part);
        }
    }
}

/// Reads the next part of a body, whose client may pause but not for long. None at the end.
async fn next_part(data: &mut BodyDataStream, until: Instant) -> Result<Option<Bytes>, Problem> {
    let next = timeout_at(until.min(Instant::now() + PAUSE), data.next()).await;
    let part = next.map_err(|_elapsed| not_whole())?.transpose();
    part.map_err(|_broken| not_whole())
}

/// Writes a body that may be too large for memory to a file.
pub(super) async fn put_aside(body: Body, file: File, max_bytes: u64) -> Result<File, Problem> {
    let mut file = tokio::fs::File::from_std(file);
    let (mut data, mut bytes) = (body.into_data_stream(), 0);
    let until = Instant::now() + WHOLE_FILE;
    while let Some(part) = next_part(&mut data, until).await? {
        bytes += part.len() as u64;
        if bytes > max_bytes {
            return Err(too_large(max_bytes));
        }
        file.write_all(&part).await.map_err(no_room)?;
    }
    // The last part is written in the background, and only this tells whether it could be.
    file.flush().await.map_err(no_room)?;
    file.rewind().await.map_err(no_room)?;
    Ok(file.into_std().await)
}

fn no_room(error: io::Error) -> Problem {
    let problem = format!("the body cannot be put aside: {error}");
    let hint = "have whoever runs the server look at the space in its data directory, and send it again";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Code::StoreUnavailable.as_str(), problem, hint)
}

fn too_large(max_bytes: u64) -> Problem {
    let problem = format!("the body has more than {max_bytes} bytes");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "invalid_argument", problem, "send less in one request")
}

fn not_whole() -> Problem {
    let (problem, hint) = ("the body did not arrive whole in time", "send it again without long pauses");
    Problem::new(StatusCode::REQUEST_TIMEOUT, "invalid_argument", problem, hint)
}

/// Lets a request on once its body is there.
pub(super) async fn read_whole(State(places): State<BodyPlaces>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let declared = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let limits = parts.extensions.get::<RequestLimits>();
    let body = match (limits, declared) {
        (_, Some(length)) if MAX_BODY_BYTES < length => Err(too_large(MAX_BODY_BYTES as u64)),
        (Some(limits), _) => places.read(limits, body).await,
        (None, _) => {
            tracing::error!("a request came without its limits");
            Err(Problem::internal())
        }
    };
    match body {
        Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::path::Path;

    use futures::stream;
    use reasoning_bank_domain::access::TokenId;

    use super::*;
    use crate::limits::TokenLimits;
    use crate::settings::HttpSection;

    fn limits() -> TokenLimits {
        let defaults: toml::Table = crate::settings::DEFAULTS.parse().unwrap();
        TokenLimits::new(&defaults["http"].clone().try_into::<HttpSection>().unwrap(), Path::new(""))
    }

    fn of_token(limits: &TokenLimits, name: &str) -> RequestLimits {
        limits.request(Some(&TokenId::try_from(name.to_owned()).unwrap()))
    }

    /// A body of this many parts of 1 KiB, with a pause before each.
    fn body(parts: usize, pause: Duration) -> Body {
        Body::from_stream(stream::iter(0..parts).then(move |_| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, Infallible>(Bytes::from(vec![b' '; 1 << 10]))
        }))
    }

    fn status<T>(result: Result<T, Problem>) -> Option<StatusCode> {
        result.err().map(|problem| problem.into_response().status())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_arrives_whole_in_time_or_is_refused() {
        let (places, limits) = (BodyPlaces::new(), limits().request(None));
        let read = async |parts, pause| places.read(&limits, body(parts, pause)).await;
        assert_eq!(read(100, Duration::from_secs(1)).await.ok().map(|body| body.len()), Some(100 << 10));
        assert_eq!(status(read(2, PAUSE + Duration::from_secs(1)).await), Some(StatusCode::REQUEST_TIMEOUT));
        assert_eq!(status(read(1_000, Duration::from_secs(1)).await), Some(StatusCode::REQUEST_TIMEOUT), "by drops");
        let most = MAX_BODY_BYTES >> 10;
        assert_eq!(status(read(most, Duration::ZERO).await), None);
        assert_eq!(status(read(most + 1, Duration::ZERO).await), Some(StatusCode::PAYLOAD_TOO_LARGE));
        assert_eq!(places.0.available_permits(), LARGE_AT_ONCE, "every place is given back");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_body_that_a_full_disk_takes_in_part_is_refused() {
        for parts in [1, 3] {
            let full = File::options().read(true).write(true).open("/dev/full").unwrap();
            let put = put_aside(body(parts, Duration::ZERO), full, u64::MAX).await;
            assert_eq!(status(put), Some(StatusCode::SERVICE_UNAVAILABLE), "{parts} parts");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_token_does_not_take_all_places() {
        let (places, limits) = (BodyPlaces::new(), limits());
        let [ana, ben] = ["0123456789ab", "ba9876543210"].map(|name| of_token(&limits, name));
        let slow = || body(100, Duration::from_secs(1));
        let flood = futures::future::join_all((0..40).map(|_| places.read(&ana, slow())));
        let other = async {
            tokio::time::sleep(Duration::from_secs(90)).await;
            assert!(places.0.available_permits() >= LARGE_AT_ONCE / 2, "{}", places.0.available_permits());
            places.read(&ben, body(100, Duration::ZERO)).await
        };
        let (flood, other) = tokio::join!(flood, other);
        assert!(other.is_ok());
        // Those that got a place late were not whole in time.
        let had_no_place = flood.into_iter().filter_map(status).filter(|it| *it == StatusCode::SERVICE_UNAVAILABLE);
        assert!(had_no_place.count() > 20);
    }
}
