//! Another embedder for a data directory: all vectors are made again beside the old ones, which are searched all the
//! while, and one switch puts the new ones in their place. Not here: the embedder.
//!
//! ```text
//! DIR/lance/passages-next.lance  passages with vectors of the new embedder, as far as they are made
//! DIR/lance/reembed.json         which embedder that is, and whether the switch has begun
//! DIR/lance/.reembed.lock        held by the one process that makes them
//! ```
//!
//! How far it is needs no record: what is missing are the passages that the one table has and the other has not. What
//! breaks off before the switch goes on from there; what breaks off within it is finished by whoever writes next.

use std::collections::HashSet;
use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Array, ArrayRef, RecordBatch};
use lance::dataset::builder::DatasetBuilder;
use lancedb::Table;
use lancedb::expr::DfExpr;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::ports::{Chunk, Embedder, Fingerprint, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use serde::{Deserialize, Serialize};

use super::erasures::Erasures;
use super::format::{self, Layout, Stamp, unusable};
use super::tables::{self, TableName};
use super::{Shared, blocking, checkpoint, commit, failed, filter, indexes, journal, read, recovery, rows, upkeep};
use crate::store::files::write_synced;

const NEXT: &str = "passages-next";
const FORMER: &str = "passages-former";
/// Passages that are embedded at once.
const SLICE: usize = 512;
/// Passages that are written at once: a fragment that is full from the start, and few versions.
const WRITTEN_AT_ONCE: usize = 8_192;
/// So few are made while the lock is held, a second or two as a rule,
const AT_THE_SWITCH: usize = 64;
/// and for no longer than this: others wait.
const PATIENCE_AT_THE_SWITCH: Duration = Duration::from_secs(30);
const ROWS_COMPARED: usize = 1_000;
const EMBEDDING_PATIENCE: Duration = Duration::from_secs(600);
/// Others write for milliseconds; who writes for longer is doing upkeep.
const LOCK_PATIENCE: Duration = Duration::from_secs(60);

#[derive(PartialEq, Serialize, Deserialize)]
struct State {
    to: Stamp,
    switching: bool,
}

/// Makes the vectors of all passages again and puts them in the place of the old ones. `progress` is told how many
/// passages are done, and of how many. Afterwards this instance, as every other one of the old embedder, is refused.
pub(super) async fn reembed(
    shared: &Shared,
    embedder: &dyn Embedder,
    progress: impl Fn(u64, u64),
) -> Result<u64, Error> {
    let _alone = alone(&shared.layout)?;
    let to = embedder.fingerprint();
    let next = open_next(shared, to).await?;
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
            // However few they are: they may have taken too long.
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

/// Leaves out batches with a passage that was changed or erased meanwhile: the rest of them comes in the next round.
async fn add(shared: &Shared, next: &Table, mut made: Vec<RecordBatch>) -> Result<(), StoreError> {
    let guard = shared.lock.acquire(Deadline::after(LOCK_PATIENCE)).await?;
    commit::settle(shared, &guard).await?;
    let ids = rows::text_column(&made, "id").map(str::to_owned).collect();
    let stored = read::present(&shared.tables.passages, ids).await?;
    made.retain(|batch| rows::text_column(std::slice::from_ref(batch), "id").all(|id| stored.contains(id)));
    if made.is_empty() {
        return Ok(());
    }
    next.add(made).execute().await.map_err(failed)?;
    upkeep::prune_all(next).await
}

/// Makes the indexes of the new table, each piece without the lock. What an erasure comes between is made again.
async fn index(shared: &Shared, next: &Table) -> Result<(), StoreError> {
    loop {
        let erasures = Erasures::read(&shared.layout).await?;
        let Some(prepared) = indexes::prepare(TableName::Passages, next).await.transpose() else { return Ok(()) };
        if let Some(_guard) = upkeep::lock_to_publish(shared, next, &erasures).await? {
            prepared?.publish().await?;
        }
    }
}

/// The last passages and the switch, under the lock. None where there are more than can be made there, or where making
/// them takes too long.
async fn finish(shared: &Shared, next: &Table, embedder: &dyn Embedder) -> Result<Option<u64>, Error> {
    let guard = shared.lock.acquire(Deadline::after(LOCK_PATIENCE)).await?;
    commit::settle(shared, &guard).await?;
    let (missing, all) = missing(shared, next).await?;
    if missing.len() > AT_THE_SWITCH {
        return Ok(None);
    }
    if !missing.is_empty() {
        let made = tokio::time::timeout(PATIENCE_AT_THE_SWITCH, made_again(shared, &missing, embedder));
        let Ok(made) = made.await else { return Ok(None) };
        next.add(made?).execute().await.map_err(failed)?;
    }
    let (present, stored) = (ids(next).await?, ids(&shared.tables.passages).await?);
    let stale: Vec<String> = present.difference(&stored).cloned().collect();
    for stale in stale.chunks(ROWS_COMPARED) {
        next.delete(&filter::one_of("id", stale.iter().cloned())).await.map_err(failed)?;
    }
    // What the journals hold is in the tables, and has vectors of the old embedder.
    checkpoint::sync_tables(shared).await?;
    let (layout, own, to) = (shared.layout.clone(), shared.journal.clone(), Stamp::from(embedder.fingerprint()));
    blocking(move || {
        journal::scrub(&layout, &own).map_err(failed)?;
        State { to, switching: true }.write(&layout)?;
        finish_switch(&layout)
    })
    .await??;
    Ok(Some(all as u64))
}

pub(super) fn is_switching(layout: &Layout) -> Result<bool, StoreError> {
    Ok(State::read(layout)?.is_some_and(|state| state.switching))
}

/// Finishes a switch that was begun. The write lock must be held.
pub(super) fn finish_switch(layout: &Layout) -> Result<(), StoreError> {
    let Some(State { to, switching: true }) = State::read(layout)? else { return Ok(()) };
    let (passages, next, former) =
        (layout.table(TableName::Passages.as_str()), layout.table(NEXT), layout.table(FORMER));
    // First: who reads after the tables were exchanged sees whose they are.
    to.write(layout)?;
    let exchange = || {
        if next.try_exists()? {
            if passages.try_exists()? {
                remove(&former)?;
                fs::rename(&passages, &former)?;
            }
            fs::rename(&next, &passages)?;
            fs::File::open(layout.tables())?.sync_all()?;
        }
        remove(&former)?;
        fs::remove_file(layout.reembed())
    };
    exchange().map_err(|error| unusable(&passages, &error))?;
    tracing::info!("the vectors are those of another embedder now");
    Ok(())
}

/// What is erased is also erased from the vectors that are being made.
pub(super) async fn erase(layout: &Layout, condition: &DfExpr) -> Result<(), StoreError> {
    if !layout.table(NEXT).try_exists().map_err(failed)? {
        return Ok(());
    }
    let Some(next) = open_whole(layout).await? else {
        let dir = layout.table(NEXT);
        return blocking(move || remove(&dir)).await?.map_err(failed);
    };
    next.delete(condition).await.map_err(failed)?;
    upkeep::drop_deleted_rows(&next).await?;
    indexes::forget_removed_rows(TableName::Passages, &next).await?;
    upkeep::prune_all(&next).await
}

/// The right to make new vectors, until it is dropped.
fn alone(layout: &Layout) -> Result<fs::File, StoreError> {
    let path = layout.reembed_lock();
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(|error| unusable(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Failed("another process is making the vectors again".into())),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// The table that was begun for this embedder, if it is whole, else a new one.
async fn open_next(shared: &Shared, to: &Fingerprint) -> Result<Table, StoreError> {
    let layout = &shared.layout;
    let wanted = State { to: to.into(), switching: false };
    if State::read(layout)?.as_ref() == Some(&wanted)
        && let Some(next) = open_whole(layout).await?
        && next.schema().await.map_err(failed)?.fields().iter().map(|field| field.name()).eq(columns(to.dims).iter())
    {
        return Ok(next);
    }
    let of_files = layout.clone();
    blocking(move || {
        remove(&of_files.table(NEXT)).map_err(failed)?;
        wanted.write(&of_files)
    })
    .await??;
    tables::create(&tables::connect(layout).await?, TableName::Passages, NEXT, to.dims).await
}

/// None where there is none, or where a loss of power has damaged it: it is not synced before the switch.
async fn open_whole(layout: &Layout) -> Result<Option<Table>, StoreError> {
    let dir = layout.table(NEXT);
    let Ok(dataset) = DatasetBuilder::from_uri(dir.to_string_lossy()).load().await else { return Ok(None) };
    if recovery::broken_file(&dir, &dataset)?.is_some() {
        return Ok(None);
    }
    Ok(tables::connect(layout).await?.open_table(NEXT).execute().await.ok())
}

/// The passages that have no new vectors yet, and how many there are in all.
async fn missing(shared: &Shared, next: &Table) -> Result<(Vec<String>, usize), StoreError> {
    let (all, done) = (ids(&shared.tables.passages).await?, ids(next).await?);
    let mut missing: Vec<String> = all.difference(&done).cloned().collect();
    // In the order in which they were written: neighbours are read together.
    missing.sort_unstable();
    Ok((missing, all.len()))
}

async fn ids(table: &Table) -> Result<HashSet<String>, StoreError> {
    let found = read::select(table, None, &["id"]).await?;
    Ok(rows::text_column(&found, "id").map(str::to_owned).collect())
}

/// These passages as they are, with new vectors.
async fn made_again(shared: &Shared, ids: &[String], embedder: &dyn Embedder) -> Result<Vec<RecordBatch>, Error> {
    let dims = embedder.fingerprint().dims;
    let (schema, columns) = (TableName::Passages.schema(dims), columns(dims));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let found = read::select_these(&shared.tables.passages, "id", ids.to_vec(), &columns).await?;
    let mut made = Vec::with_capacity(found.len());
    for batch in found {
        let texts = rows::text_column(std::slice::from_ref(&batch), "text").map(str::to_owned).collect();
        let chunks = embedder.embed_documents(texts, Deadline::after(EMBEDDING_PATIENCE)).await?;
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

fn columns(dims: usize) -> Vec<String> {
    TableName::Passages.schema(dims).fields().iter().map(|field| field.name().clone()).collect()
}

/// A passage that does not fit the window of the new embedder has the mean of its pieces, of length one.
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

impl State {
    fn read(layout: &Layout) -> Result<Option<Self>, StoreError> {
        let path = layout.reembed();
        let Some(text) = format::read_if_exists(&path)? else { return Ok(None) };
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|error| StoreError::Unusable(format!("{} cannot be read: {error}", path.display())))
    }

    fn write(&self, layout: &Layout) -> Result<(), StoreError> {
        let json = serde_json::to_vec(self).map_err(failed)?;
        write_synced(&layout.reembed(), &json).map_err(|error| unusable(&layout.reembed(), &error))
    }
}

fn remove(dir: &std::path::Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
