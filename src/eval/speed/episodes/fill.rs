//! Stores the patterns by the call that an import uses, and the episodes with their vectors, in batches of one commit
//! each, with all upkeep that comes of it.

use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{Batch, Record};
use reasoning_bank_actors::system::SystemHandle;
use tokio::sync::mpsc;

use super::report::FilledEpisodes;
use crate::eval::speed::fill::{batch_deadline, opened};
use crate::eval::speed::process::disk_bytes;
use crate::eval::speed::synthetic::Synthetic;
use crate::eval::{EvalError, retrieval};
use crate::process_memory;

const BATCH: u32 = 2_048;

struct MadeBatch {
    records: Batch,
    episodes: u64,
    body_bytes: u64,
}

/// Stores the patterns and does the upkeep that this causes.
pub(crate) async fn patterns(bank: &Synthetic, count: u32, system: &SystemHandle) -> Result<(), EvalError> {
    let (embedder, now) = (Synthetic::fingerprint().to_string(), Timestamp::now());
    for first in (0..count).step_by(BATCH as usize) {
        let batch = (first..count.min(first + BATCH)).map(|number| bank.pattern(number, now, &embedder)).collect();
        system.memories.restore(batch, batch_deadline()).await?;
    }
    Ok(retrieval::finish_upkeep(system).await?)
}

/// Stores the episodes; `done` is told how many. While one batch is stored, another is made up.
pub(crate) async fn fill(
    bank: Synthetic,
    system: &SystemHandle,
    data_dir: &Path,
    done: impl Fn(u64),
) -> Result<FilledEpisodes, EvalError> {
    let rows = bank.rows();
    opened(system).await?;
    let (send, mut receive) = mpsc::channel::<MadeBatch>(1);
    let making = tokio::task::spawn_blocking(move || {
        let now = Timestamp::now();
        for first in (0..rows).step_by(BATCH as usize) {
            if send.blocking_send(made(&bank, first..rows.min(first + BATCH), now)).is_err() {
                return;
            }
        }
    });
    let (begun, mut stored, mut body_bytes) = (Instant::now(), 0, 0);
    while let Some(batch) = receive.recv().await {
        system.store.commit(batch.records, batch_deadline()).await?;
        stored += batch.episodes;
        body_bytes += batch.body_bytes;
        done(stored);
    }
    making.await.map_err(Error::internal)?;
    let seconds = begun.elapsed().as_secs_f64();
    let upkeep_begun = Instant::now();
    retrieval::finish_upkeep(system).await?;
    let upkeep_seconds = upkeep_begun.elapsed().as_secs_f64();
    let a_row = |tables: &[&str]| -> Result<f64, EvalError> {
        let mut bytes = 0;
        for table in tables {
            let place = data_dir.join("lance").join(format!("{table}.lance"));
            bytes += disk_bytes(&place).map_err(|error| EvalError::Part(format!("{}: {error}", place.display())))?;
        }
        Ok(bytes as f64 / f64::from(rows))
    };
    Ok(FilledEpisodes {
        per_second: stored as f64 / seconds,
        upkeep_seconds,
        rss_peak_bytes: process_memory::read().peak,
        body_bytes: body_bytes as f64 / f64::from(rows),
        disk_bytes: a_row(&["traces", "episode_state"])?,
        vector_disk_bytes: a_row(&["episode_vectors"])?,
    })
}

fn made(bank: &Synthetic, numbers: std::ops::Range<u32>, now: Timestamp) -> MadeBatch {
    let embedder = Synthetic::fingerprint().to_string();
    let mut batch = MadeBatch { records: Batch::new(), episodes: numbers.len() as u64, body_bytes: 0 };
    for number in numbers {
        let episode = bank.episode(number, now, &embedder);
        batch.body_bytes += serde_json::to_string(&episode.trace).map_or(0, |body| body.len() as u64);
        batch.records.push(Record::Trace(episode.trace));
        batch.records.push(Record::EpisodeVectors(episode.vectors));
    }
    batch
}
