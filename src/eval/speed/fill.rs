//! Stores a bank that is made up: in batches, as an import does, and with all upkeep that comes of it.

use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::system::SystemHandle;
use tokio::sync::mpsc;

use super::report::Filled;
use super::synthetic::Synthetic;
use crate::eval::report::Ingest;
use crate::eval::{EvalError, retrieval};
use crate::process_memory;

/// An import writes this many memories at once.
const BATCH: u32 = 8_192;
/// While one batch is stored, another is prepared.
const BATCHES_AT_ONCE: usize = 2;
const BATCH_TIMEOUT: Duration = Duration::from_secs(600);

/// Stores the memories; `done` is told how many. The time begins when the first batch is made up. Making the others is
/// a small part of it, on another thread.
pub(crate) async fn fill(bank: Synthetic, system: &SystemHandle, done: impl Fn(u64)) -> Result<Filled, EvalError> {
    let rows = bank.rows();
    opened(system).await?;
    let (send, mut receive) = mpsc::channel::<Vec<Restorable>>(1);
    let making = tokio::task::spawn_blocking(move || {
        let embedder = Synthetic::fingerprint().to_string();
        for first in (0..rows).step_by(BATCH as usize) {
            let batch = (first..rows.min(first + BATCH)).map(|number| bank.memory(number, &embedder)).collect();
            if send.blocking_send(batch).is_err() {
                return;
            }
        }
    });
    let first = receive.recv().await;
    let begun = Instant::now();
    let stored = stream::iter(first)
        .chain(stream::poll_fn(|context| receive.poll_recv(context)))
        .map(async |batch| {
            let new = system.memories.restore(batch, Deadline::after(BATCH_TIMEOUT)).await?;
            Ok::<_, Error>(new.into_iter().filter(|is_new| *is_new).count() as u64)
        })
        .buffered(BATCHES_AT_ONCE)
        .try_fold(0, |sum, new| {
            done(sum + new);
            std::future::ready(Ok(sum + new))
        })
        .await?;
    making.await.map_err(Error::internal)?;
    let took = begun.elapsed();
    let upkeep_begun = Instant::now();
    retrieval::finish_upkeep(system).await?;
    let upkeep_seconds = upkeep_begun.elapsed().as_secs_f64();
    let summary = system.store.summary(batch_deadline()).await?;
    let ingest = Ingest { seconds: took.as_secs_f64(), per_second: stored as f64 / took.as_secs_f64(), upkeep_seconds };
    Ok(Filled {
        ingest,
        rss_peak_bytes: process_memory::read().peak,
        fragments: summary.fragments,
        index_lag_rows: summary.index_lag_rows,
    })
}

/// Returns when the store answers.
pub(super) async fn opened(system: &SystemHandle) -> Result<(), Error> {
    system.store.backlog(batch_deadline()).await.map(drop)
}

pub(super) fn batch_deadline() -> Deadline {
    Deadline::after(BATCH_TIMEOUT)
}
