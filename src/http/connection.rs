//! Connections: how many there are, how long a client may take to send a request, and how all end.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_shares::{AddressShare, AddressShares};
use super::cut_body::LAST_WORDS;
use super::request_head;

/// At most this many connections are open. Further clients wait to be accepted.
const MAX_CONNECTIONS: usize = 1_024;
/// One address has at most this many of them, where clients connect themselves. A proxy has all.
const MAX_OF_ADDRESS: usize = MAX_CONNECTIONS / 2;
/// The time after which a client that reads nothing of an answer is taken to be gone.
const WRITE_PAUSE: Duration = Duration::from_secs(30);
/// A client sends the head of a request within this time.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted, which mostly means that the process has too many files open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The bounds that differ for a server behind a proxy, and how long its end may take.
pub(super) struct Bounds {
    /// All connections come from the proxy.
    pub(super) behind_proxy: bool,
    /// Requests in work may end within this time. Then they are cancelled.
    pub(super) drain: Duration,
}

/// The answers to requests.
pub(super) struct ConnectionAnswers {
    pub(super) usual: Router,
    /// Those to requests that come while the others end.
    pub(super) late: Router,
}

/// Serves connections until `end`. Then requests in work may end within a bound, after which `stop` cancels them. So may
/// the `work` that goes on though its client is gone. A client that comes meanwhile is told so. Nothing waits for it.
pub(super) async fn serve(
    listener: TcpListener,
    answers: ConnectionAnswers,
    work: TaskTracker,
    end: CancellationToken,
    draining: Arc<AtomicBool>,
    stop: CancellationToken,
    Bounds { behind_proxy, drain }: Bounds,
) {
    let entrance = Entrance {
        listener,
        room: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        shares: Arc::new(AddressShares::new(if behind_proxy { MAX_CONNECTIONS } else { MAX_OF_ADDRESS })),
    };
    let (connections, late) = (TaskTracker::new(), TaskTracker::new());
    let cut = CancellationToken::new();
    loop {
        let arrival = tokio::select! {
            biased;
            () = end.cancelled() => break,
            arrival = entrance.next() => arrival,
        };
        connections.spawn(talk_until(cut.clone(), arrival, answers.usual.clone(), Some(end.clone())));
    }
    draining.store(true, Ordering::Relaxed);
    connections.close();
    work.close();
    let all_over = async || {
        connections.wait().await;
        // Nothing new is begun now.
        work.wait().await;
    };
    let mut drained = pin!(timeout(drain, all_over()));
    let drained = loop {
        tokio::select! {
            biased;
            drained = drained.as_mut() => break drained,
            arrival = entrance.next() => {
                late.spawn(talk_until(cut.clone(), arrival, answers.late.clone(), None));
            }
        }
    };
    drop(entrance);
    if drained.is_err() {
        let (connections, work) = (connections.len(), work.len());
        tracing::info!(connections, work, "requests are still in work and are cancelled");
    }
    stop.cancel();
    // What is cancelled may say so before its connection is closed.
    let _ = timeout(2 * LAST_WORDS, all_over()).await;
    cut.cancel();
    late.close();
    tokio::join!(connections.wait(), late.wait());
}

/// The place where clients come in. A bounded number of them is in.
struct Entrance {
    listener: TcpListener,
    room: Arc<Semaphore>,
    shares: Arc<AddressShares>,
}

/// A client that has come in.
struct Arrival {
    stream: TcpStream,
    from: SocketAddr,
    /// The place that it takes until this is dropped.
    place: (Option<OwnedSemaphorePermit>, AddressShare),
}

impl Entrance {
    /// Waits for the next client, and for room for it.
    async fn next(&self) -> Arrival {
        loop {
            let permit = Arc::clone(&self.room).acquire_owned().await.ok();
            match self.listener.accept().await {
                Ok((stream, from)) => match self.shares.take(from.ip()) {
                    Some(share) => return Arrival { stream, from, place: (permit, share) },
                    None => tracing::debug!(%from, "an address has too many connections, and one more was closed"),
                },
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// Answers a client until it goes, or until `cut`. At `end` its connection takes no more requests. One without an end
/// takes a single request.
async fn talk_until(cut: CancellationToken, arrival: Arrival, router: Router, end: Option<CancellationToken>) {
    let Arrival { stream, from, place: _place } = arrival;
    tokio::select! {
        () = cut.cancelled() => {}
        () = talk(stream, from, router, end) => {}
    }
}

async fn talk(stream: TcpStream, from: SocketAddr, router: Router, end: Option<CancellationToken>) {
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PAUSE));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(request_head::MAX_BYTES)
        .keep_alive(end.is_some())
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let ending = async {
        match &end {
            Some(end) => end.cancelled().await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = ending => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %from, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Serves nobody, with work that goes on for a while and without end, and is told to end. Returns whether the first
    /// was done, the second was cancelled, and how long the end took.
    async fn ended(takes: Duration, drain: Duration) -> (bool, bool, Duration) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (end, stop, work) = (CancellationToken::new(), CancellationToken::new(), TaskTracker::new());
        let stopped = stop.clone();
        let working = work.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => (false, true),
                () = tokio::time::sleep(takes) => (true, false),
            }
        });
        let answers = ConnectionAnswers { usual: Router::new(), late: Router::new() };
        let begun = Instant::now();
        end.cancel();
        serve(listener, answers, work, end, Arc::default(), stop, Bounds { behind_proxy: false, drain }).await;
        let took = begun.elapsed();
        assert!(working.is_finished(), "the server ends after it");
        let (done, cancelled) = working.await.unwrap();
        (done, cancelled, took)
    }

    #[tokio::test]
    async fn work_whose_client_is_gone_is_done_within_the_grace_and_cancelled_after_it() {
        let (done, cancelled, _) = ended(Duration::from_millis(200), Duration::from_secs(60)).await;
        assert!(done && !cancelled);
        let (done, cancelled, took) = ended(Duration::from_secs(600), Duration::from_millis(50)).await;
        assert!(!done && cancelled && took < Duration::from_secs(30), "{took:?}");
    }
}
