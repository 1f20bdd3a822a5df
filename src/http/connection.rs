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
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_shares::AddressShares;

/// At most this many connections are open. Further clients wait to be accepted.
const MAX_CONNECTIONS: usize = 1_024;
/// One address has at most this many of them, where clients connect themselves. A proxy has all.
const MAX_OF_ADDRESS: usize = MAX_CONNECTIONS / 2;
/// The time after which a client that reads nothing of an answer is taken to be gone.
const WRITE_PAUSE: Duration = Duration::from_secs(30);
/// A client sends the head of a request within this time, and the head is at most this large.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_HEAD_BYTES: usize = 64 << 10;
/// The pause after a connection could not be accepted, which mostly means that the process has too many files open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The bounds that differ for a server behind a proxy, and how long its end may take.
pub(super) struct Bounds {
    /// All connections come from the proxy.
    pub(super) behind_proxy: bool,
    /// Requests in work may end within this time. Then they are cancelled.
    pub(super) drain: Duration,
}

/// Serves connections until `end`. Then it accepts no more; requests in work may end within a bound, after which `stop`
/// cancels them.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
    end: CancellationToken,
    draining: Arc<AtomicBool>,
    stop: CancellationToken,
    Bounds { behind_proxy, drain }: Bounds,
) {
    let (connections, room) = (TaskTracker::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    let shares = Arc::new(AddressShares::new(if behind_proxy { MAX_CONNECTIONS } else { MAX_OF_ADDRESS }));
    let cut = CancellationToken::new();
    loop {
        let accepted = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            biased;
            () = end.cancelled() => break,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, from)) => {
                let Some(share) = shares.take(from.ip()) else {
                    tracing::debug!(%from, "an address has too many connections, and one more was closed");
                    continue;
                };
                let (router, end, cut) = (router.clone(), end.clone(), cut.clone());
                connections.spawn(async move {
                    let _place = (permit, share);
                    tokio::select! {
                        () = cut.cancelled() => {}
                        () = talk(stream, from, router, end) => {}
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    draining.store(true, Ordering::Relaxed);
    drop(listener);
    connections.close();
    if timeout(drain, connections.wait()).await.is_err() {
        tracing::info!(connections = connections.len(), "requests are still in work and are cancelled");
    }
    stop.cancel();
    cut.cancel();
    connections.wait().await;
}

async fn talk(stream: TcpStream, from: SocketAddr, router: Router, end: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_PAUSE));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = end.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %from, "a connection ended early");
    }
}
