//! The signals that ask the process to end.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// What it returns ends when SIGTERM or SIGINT comes. From the call on, neither ends the process by itself.
pub(super) fn asked_to_end() -> io::Result<impl Future<Output = &'static str> + Send + 'static> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    })
}
