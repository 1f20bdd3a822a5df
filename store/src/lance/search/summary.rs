//! Counts of short columns, never of bodies, and what the tables take up on disk.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use reasoning_bank_actors::ports::{StoreError, Summary};
use reasoning_bank_domain::learning::job::JobState;
use reasoning_bank_domain::memory::signal::SignalKind;
use reasoning_bank_domain::system::statistics::ResidentStatistics;
use serde::Deserialize;
use serde::de::value::{Error as ParseError, StrDeserializer};

use crate::files::unless_gone;
use crate::lance::errors::failed;
use crate::lance::resident::ResidentUse;
use crate::lance::shared::SharedStore;
use crate::lance::tables::{TableName, Tables, filter, indexes, read, rows};
use crate::lance::threads::blocking;

pub(in crate::lance) async fn summary(shared: &SharedStore, tables: &Tables) -> Result<Summary, StoreError> {
    let dir = shared.layout.tables();
    let ResidentUse { indexes: kept, bytes, answered, .. } = shared.resident.in_use();
    let own_vectors = filter::equals("embedder", shared.fingerprint.to_string());
    let applied = filter::equals("kind", SignalKind::Applied.as_str());
    let (traces, memories, vectors, applications, runs, jobs) = tokio::try_join!(
        read::select(&tables.traces, None, &["outcome"]),
        read::select(&tables.memories, None, &["outcome", "scope", "status", "stage"]),
        read::select(&tables.episode_vectors, Some(own_vectors), &["id"]),
        read::select(&tables.signals, Some(applied), &["id"]),
        read::select(&tables.history, Some(filter::of_runs()), &["at"]),
        backlog(tables),
    )?;
    let mut summary = Summary {
        traces: counts(&traces, "outcome")?,
        memories_by_outcome: counts(&memories, "outcome")?,
        memories_by_scope: counts(&memories, "scope")?,
        memories_by_status: counts(&memories, "status")?,
        patterns: counts(&memories, "stage")?,
        episodes_with_vectors: rows::text_column(&vectors, "id").count() as u64,
        applications: rows::text_column(&applications, "id").count() as u64,
        consolidation_runs: runs.iter().map(|batch| batch.num_rows() as u64).sum(),
        last_consolidation: rows::optional_times(&runs, "at").flatten().max(),
        jobs,
        index_lag_rows: indexes::lag(TableName::Passages, &tables.passages).await?,
        bytes: blocking(move || size_of(&dir)).await?.map_err(failed)?,
        resident: ResidentStatistics { shelves: kept as u64, bytes: bytes as u64, searches: answered },
        ..Summary::default()
    };
    for (_, table) in tables.each() {
        summary.rows += read::with_retry(table, || table.count_rows(None)).await? as u64;
        if let Some(table) = table.as_native() {
            summary.fragments += table.count_fragments().await.map_err(failed)? as u64;
        }
    }
    Ok(summary)
}

/// Counts the jobs in each state.
pub(in crate::lance) async fn backlog(tables: &Tables) -> Result<BTreeMap<JobState, u64>, StoreError> {
    counts(&read::select(&tables.jobs, None, &["state"]).await?, "state")
}

/// Counts how often each word stands in a column. Rows without one are left out.
fn counts<T: for<'de> Deserialize<'de> + Ord>(
    batches: &[RecordBatch],
    column: &'static str,
) -> Result<BTreeMap<T, u64>, StoreError> {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for word in rows::text_column(batches, column).filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    let parsed = |(word, count)| Ok((T::deserialize(StrDeserializer::<ParseError>::new(word)).map_err(failed)?, count));
    counts.into_iter().map(parsed).collect()
}

/// Returns the bytes of all files below a path, those of old versions included as long as they are there.
fn size_of(path: &Path) -> io::Result<u64> {
    let Some(entries) = unless_gone(fs::read_dir(path))? else { return Ok(0) };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        bytes += match unless_gone(entry.metadata())? {
            Some(metadata) if metadata.is_dir() => size_of(&entry.path())?,
            Some(metadata) => metadata.len(),
            None => 0,
        };
    }
    Ok(bytes)
}
