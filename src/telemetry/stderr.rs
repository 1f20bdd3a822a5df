//! A stderr that never holds up who logs. A client of a server may leave stderr unread: once the pipe is full, a write
//! would block, and with it the server. So lines wait in a bounded queue for a thread of its own; while the queue is
//! full, lines are dropped and counted.

use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

const WAITING_LINES: usize = 1024;

static QUEUE: OnceLock<SyncSender<Item>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);

enum Item {
    Line(Vec<u8>),
    /// The item is answered when everything before it is written.
    Flush(SyncSender<()>),
}

/// Makes writers that take a line each.
pub(super) struct QueuedStderr {
    queue: SyncSender<Item>,
}

impl QueuedStderr {
    /// Starts the thread that writes.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(super) fn start() -> io::Result<Self> {
        let (queue, items) = sync_channel(WAITING_LINES);
        std::thread::Builder::new().name("log".into()).spawn(move || write(&items))?;
        let _ = QUEUE.set(queue.clone());
        Ok(Self { queue })
    }
}

fn write(items: &Receiver<Item>) {
    for item in items {
        // A stderr that is closed is nobody's to complain to.
        match item {
            Item::Line(line) => drop(io::stderr().write_all(&line)),
            Item::Flush(done) => drop(done.send(())),
        }
        let dropped = DROPPED.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            let _ = writeln!(io::stderr(), "WARN {dropped} lines of the log were dropped: stderr was not read");
        }
    }
}

/// Waits until what was logged is written, at the latest after `limit`.
pub(super) fn flush(limit: Duration) {
    let Some(queue) = QUEUE.get() else { return };
    let (done, written) = sync_channel(1);
    if queue.try_send(Item::Flush(done)).is_ok() {
        let _ = written.recv_timeout(limit);
    }
}

impl<'a> MakeWriter<'a> for QueuedStderr {
    type Writer = QueuedWriter<'a>;

    fn make_writer(&'a self) -> QueuedWriter<'a> {
        QueuedWriter(&self.queue)
    }
}

pub(super) struct QueuedWriter<'a>(&'a SyncSender<Item>);

impl Write for QueuedWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.try_send(Item::Line(line.to_vec())).is_err() {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
