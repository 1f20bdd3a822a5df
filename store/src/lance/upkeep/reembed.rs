//! Another embedder for a data directory: all vectors are made again beside the old ones, which are searched all the
//! while, and one switch puts the new ones in their place. The table of the new vectors is in
//! `vectors/next_passages.rs`. The one process that makes them holds `DIR/lance/.reembed.lock`.
//!
//! The progress of the work needs no record: the passages are missing that the one table has and the other has not.
//! Work that breaks off before the switch goes on from there; a switch that breaks off is finished by whoever writes
//! next.

use std::collections::HashSet;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Array, ArrayRef, RecordBatch};
use lancedb::Table;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{Chunk, Embedder, StoreError};
use reasoning_bank_actors::runtime::Deadline;

use super::publish::lock_to_publish;
use crate::files::{open_lock, try_lock};
use crate::lance::commit::erasures::Erasures;
use crate::lance::commit::journal;
use crate::lance::errors::{failed, unusable};
use crate::lance::layout::Layout;
use crate::lance::repair::pending::finish_pending;
use crate::lance::shared::SharedStore;
use crate::lance::tables::{TableName, compaction, filter, indexes, read, rows};
use crate::lance::threads::blocking;
use crate::lance::vectors::next_passages;

/// The number of passages that are embedded at once.
const SLICE: usize = 512;
/// The number of passages that are written at once: a fragment is full from the start, and there are few versions.
const WRITTEN_AT_ONCE: usize = 8_192;
/// The most passages that are made while the lock is held, which takes a second or two as a rule.
const AT_THE_SWITCH: usize = 64;
/// Making them while the lock is held takes no longer than this, because others wait.
const TIMEOUT_AT_THE_SWITCH: Duration = Duration::from_secs(30);
const ROWS_COMPARED: usize = 1_000;
const EMBEDDING_TIMEOUT: Duration = Duration::from_secs(600);
/// Others write for milliseconds; a process that writes for longer is doing upkeep.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes the vectors of all passages again and puts them in the place of the old ones. `progress` is told how many
/// passages are done, and of how many. Afterwards this instance, as every other one of the old embedder, is refused.
pub(in crate::lance) async fn reembed(
    shared: &SharedStore,
    embedder: &dyn Embedder,
    progress: impl Fn(u64, u64),
) -> Result<u64, Error> {
    let _alone = alone(&shared.layout)?;
    let to = embedder.fingerprint();
    let next = next_passages::open(&shared.layout, to).await?;
    let mut left_for_the_switch = AT_THE_SWITCH;
    loop {
        let (missing, all) = missing(shared, &next).await?;
        let mut done = all - missing.len();
        progress(done as u64, all as u64);
        if missing.len() <= left_for_the_switch {
            index(shared, &next).await?;
            if let Some(passages) = finish(shared, &next, embedder).await? {
                return Ok(passages);
            }
            // None is left, however few there are: they may have taken too long.
            left_for_the_switch = 0;
            continue;
        }
        for ids in missing.chunks(WRITTEN_AT_ONCE) {
            let (mut made, mut broke_off) = (Vec::new(), None);
            for ids in ids.chunks(SLICE) {
                match made_again(shared, ids, embedder).await {
                    Ok(batches) => made.extend(batches),
                    Err(error) => {
                        broke_off = Some(error);
                        break;
                    }
                }
                done += ids.len();
                progress(done as u64, all as u64);
            }
            add(shared, &next, made).await?;
            if let Some(error) = broke_off {
                return Err(error);
            }
        }
        left_for_the_switch = AT_THE_SWITCH;
    }
}

/// Adds passages to the new table. Batches with a passage that was changed or erased meanwhile are left out, and the
/// rest of them comes in the next round.
async fn add(shared: &SharedStore, next: &Table, mut made: Vec<RecordBatch>) -> Result<(), StoreError> {
    let guard = shared.lock.acquire(Deadline::after(LOCK_TIMEOUT)).await?;
    finish_pending(shared, &guard).await?;
    let ids = rows::text_column(&made, "id").map(str::to_owned).collect();
    let stored = read::present(&shared.tables.passages, ids).await?;
    made.retain(|batch| rows::text_column(std::slice::from_ref(batch), "id").all(|id| stored.contains(id)));
    if made.is_empty() {
        return Ok(());
    }
    next.add(made).execute().await.map_err(failed)?;
    compaction::prune_all(next).await
}

/// Makes the indexes of the new table, each piece without the lock. A piece that an erasure comes between is made
/// again.
async fn index(shared: &SharedStore, next: &Table) -> Result<(), StoreError> {
    loop {
        let erasures = Erasures::read(&shared.layout).await?;
        let Some(prepared) = indexes::prepare(TableName::Passages, next).await.transpose() else { return Ok(()) };
        if let Some(_guard) = lock_to_publish(shared, next, &erasures).await? {
            prepared?.publish().await?;
        }
    }
}

/// Makes the last passages and the switch, under the lock. `None` where there are more than can be made there, or where
/// making them takes too long.
async fn finish(shared: &SharedStore, next: &Table, embedder: &dyn Embedder) -> Result<Option<u64>, Error> {
    let guard = shared.lock.acquire(Deadline::after(LOCK_TIMEOUT)).await?;
    finish_pending(shared, &guard).await?;
    let (missing, all) = missing(shared, next).await?;
    if missing.len() > AT_THE_SWITCH {
        return Ok(None);
    }
    if !missing.is_empty() {
        let made = tokio::time::timeout(TIMEOUT_AT_THE_SWITCH, made_again(shared, &missing, embedder));
        let Ok(made) = made.await else { return Ok(None) };
        next.add(made?).execute().await.map_err(failed)?;
    }
    let (present, stored) = (ids(next).await?, ids(&shared.tables.passages).await?);
    let stale: Vec<String> = present.difference(&stored).cloned().collect();
    for stale in stale.chunks(ROWS_COMPARED) {
        next.delete(&filter::one_of("id", stale.iter().cloned())).await.map_err(failed)?;
    }
    // The content of the journals is in the tables, and has vectors of the old embedder.
    shared.checkpoints.sync_tables().await?;
    let (layout, own, to) = (shared.layout.clone(), shared.journal.clone(), embedder.fingerprint().clone());
    blocking(move || {
        journal::scrub(&layout, &own).map_err(failed)?;
        next_passages::switch(&layout, &to)
    })
    .await??;
    Ok(Some(all as u64))
}

/// Takes the right to make new vectors, which ends when the file is dropped.
fn alone(layout: &Layout) -> Result<File, StoreError> {
    let path = layout.reembed_lock();
    let file = open_lock(&path).map_err(|error| unusable(&path, &error))?;
    match try_lock(&file).map_err(failed)? {
        true => Ok(file),
        false => Err(StoreError::Failed("another process is making the vectors again".into())),
    }
}

/// The passages that have no new vectors yet, and how many there are in all.
async fn missing(shared: &SharedStore, next: &Table) -> Result<(Vec<String>, usize), StoreError> {
    let (all, done) = (ids(&shared.tables.passages).await?, ids(next).await?);
    let mut missing: Vec<String> = all.difference(&done).cloned().collect();
    // They are in the order in which they were written: neighbours are read together.
    missing.sort_unstable();
    Ok((missing, all.len()))
}

async fn ids(table: &Table) -> Result<HashSet<String>, StoreError> {
    let found = read::select(table, None, &["id"]).await?;
    Ok(rows::text_column(&found, "id").map(str::to_owned).collect())
}

/// These passages as they are, with new vectors.
async fn made_again(shared: &SharedStore, ids: &[String], embedder: &dyn Embedder) -> Result<Vec<RecordBatch>, Error> {
    let dims = embedder.fingerprint().dims;
    let (schema, columns) = (TableName::Passages.schema(dims), next_passages::columns(dims));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let found = read::select_these(&shared.tables.passages, "id", ids.to_vec(), &columns).await?;
    let mut made = Vec::with_capacity(found.len());
    for batch in found {
        let texts = rows::text_column(std::slice::from_ref(&batch), "text").map(str::to_owned).collect();
        let chunks = embedder.embed_documents(texts, Deadline::after(EMBEDDING_TIMEOUT)).await?;
        let first = rows::first_of_their_text(&batch);
        let former = batch.column_by_name("vector");
        // The end of a very long text had no vector and gets none; a text whose embedder had failed does.
        let wanted = |row: usize| first[row] || former.is_some_and(|vectors| vectors.is_valid(row));
        let vectors: Vec<Option<Vec<f32>>> =
            chunks.into_iter().enumerate().map(|(row, chunks)| mean(chunks).filter(|_| wanted(row))).collect();
        let vectors = rows::vectors(vectors.iter().map(Option::as_deref), dims)?;
        let column = |name: &str| match name {
            "vector" => Some(Arc::clone(&vectors)),
            other => batch.column_by_name(other).cloned(),
        };
        let all: Option<Vec<ArrayRef>> = columns.iter().map(|name| column(name)).collect();
        let all = all.ok_or_else(|| StoreError::Failed("the passages lack a column".into()))?;
        made.push(RecordBatch::try_new(Arc::clone(&schema), all).map_err(failed)?);
    }
    Ok(made)
}

/// The vector of a passage. One that does not fit the window of the new embedder has the mean of its pieces, of length
/// one.
fn mean(chunks: Vec<Chunk>) -> Option<Vec<f32>> {
    let mut vectors = chunks.into_iter().filter_map(|chunk| chunk.vector).peekable();
    let mut sum = vectors.next()?;
    if vectors.peek().is_none() {
        return Some(sum);
    }
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    let norm = sum.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.iter_mut().for_each(|x| *x /= norm);
    Some(sum)
}
