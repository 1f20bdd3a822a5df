//! The signals that ask the process to end, or to read its configuration again.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Takes over SIGTERM and SIGINT. The future that is returned ends when one of them comes; from the call on, neither
/// ends the process by itself.
pub(super) fn asked_to_end() -> io::Result<impl Future<Output = &'static str> + Send + 'static> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    })
}

/// Takes over SIGHUP, which ends the process no longer.
pub(super) fn asked_to_reload() -> io::Result<Signal> {
    signal(SignalKind::hangup())
}
