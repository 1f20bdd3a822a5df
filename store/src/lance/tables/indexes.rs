//! The indexes of the tables: which there are, from how many rows on, and the work that makes or extends one, in
//! bounded pieces. A piece is prepared on a snapshot, without the write lock, while others search and write; publishing
//! it is one short commit under the lock. What no index has yet is searched row by row. When to do what is decided by
//! `upkeep`.

use std::collections::HashSet;
use std::sync::Arc;

use lance::Dataset;
use lance::dataset::CommitBuilder;
use lance::dataset::transaction::{Operation, Transaction};
use lance::index::optimize::{IndexSegmentResult, commit_optimize_indices, plan_optimize_indices};
use lance::index::vector::VectorIndexParams;
use lance::index::{DatasetIndexExt, DatasetIndexInternalExt, IndexParams, IndexSegment, IntoIndexSegment};
use lance::table::format::{Fragment, IndexMetadata};
use lance_index::IndexType;
use lance_index::metrics::NoOpMetricsCollector;
use lance_index::scalar::{BuiltinIndexType, ScalarIndexParams};
use lance_index::vector::ivf::IvfBuildParams;
use lance_index::vector::sq::builder::SQBuildParams;
use lancedb::index::Index as Lancedb;
use lancedb::index::scalar::FtsIndexBuilder;
use lancedb::table::OptimizeOptions;
use lancedb::{DistanceType, Table};
use reasoning_bank_actors::ports::StoreError;
use serde_json::{Value, json};

use super::dataset::snapshot;
use super::schema::TableName;
use crate::lance::errors::failed;

pub(in crate::lance) const TEXT_INDEX: &str = "passages_terms";
/// Earlier formats have this index in its place, over the texts themselves.
const FORMER_TEXT_INDEX: &str = "passages_text";
const VECTOR_INDEX: &str = "passages_vector";
/// The memory that the build of the whole text index may take, in MB; LanceDB's own default is 2 GiB a worker.
const TEXT_INDEX_BUILD_MB: u64 = 128;

/// A table of this many rows has indexes of its ids and labels. Ten ids among a million rows are found in 2 ms by the
/// index and in 48 ms without; below this many rows the column is read in less than a millisecond.
const ROWS_WORTH_A_KEY: usize = 10_000;
/// A table of this many rows has a vector index. With fewer, comparing with every vector takes a few milliseconds.
const ROWS_WORTH_A_VECTOR_INDEX: usize = 5_000;
/// From this many rows on, vectors are quantised: whole vectors of 384 numbers, 77 MB, do not fit the cache of indexes.
/// Measured at 100,000 rows with a cache of 40 MiB, the quantised index answers in 5 ms and finds 0.99 of the ten best;
/// the exact one takes 33 ms.
const ROWS_WORTH_QUANTISING: usize = 50_000;
/// The smallest number of rows that a partition may have. Its centre is the mean of vectors that were in it: with fewer
/// left, the centre tells what the others were.
const ROWS_THAT_HIDE_ONE: usize = 16;
/// A vector index is trained again when it has grown to this many times the rows that it was trained on.
const GROWTH_WORTH_TRAINING: usize = 2;
/// The number of rows in a page of an index of keys. The default, 4,096, makes a page 200 kB, so a hundred ids that are
/// looked up through a small cache read 20 MB: 48 ms among a million rows, against 10 ms.
const KEY_PAGE_ROWS: u64 = 256;
/// Segments that are not full yet become one when there are this many of them.
const SEGMENTS_WORTH_MERGING: usize = 8;

/// An index, and the column that it is over.
struct Index {
    table: TableName,
    column: &'static str,
    name: &'static str,
    kind: IndexKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndexKind {
    /// The column holds ids, which a read by id looks up.
    Key,
    /// The column holds few values, by which the rows that may be read are told apart.
    Label,
    Text,
    Vector,
}

const fn index(table: TableName, column: &'static str, name: &'static str, kind: IndexKind) -> Index {
    Index { table, column, name, kind }
}

const INDEXES: [Index; 20] = [
    index(TableName::Passages, "terms", TEXT_INDEX, IndexKind::Text),
    index(TableName::Passages, "vector", VECTOR_INDEX, IndexKind::Vector),
    index(TableName::Passages, "workspace", "passages_workspace", IndexKind::Label),
    index(TableName::Passages, "scope", "passages_scope", IndexKind::Label),
    index(TableName::Passages, "team", "passages_team", IndexKind::Label),
    index(TableName::Passages, "org", "passages_org", IndexKind::Label),
    index(TableName::Passages, "status", "passages_status", IndexKind::Label),
    index(TableName::Passages, "memory_id", "passages_memory", IndexKind::Key),
    index(TableName::Memories, "id", "memories_id", IndexKind::Key),
    index(TableName::Memories, "duplicate_key", "memories_duplicate_key", IndexKind::Key),
    // this index says at once that no row lacks the column, see `upgrade`
    index(TableName::Memories, "signature", "memories_signature", IndexKind::Key),
    index(TableName::Traces, "id", "traces_id", IndexKind::Key),
    index(TableName::Signals, "id", "signals_id", IndexKind::Key),
    index(TableName::Signals, "memory_id", "signals_memory", IndexKind::Key),
    index(TableName::Jobs, "id", "jobs_id", IndexKind::Key),
    index(TableName::Requests, "id", "requests_id", IndexKind::Key),
    index(TableName::EpisodeState, "id", "episode_state_id", IndexKind::Key),
    index(TableName::EpisodeVectors, "id", "episode_vectors_id", IndexKind::Key),
    index(TableName::History, "id", "history_id", IndexKind::Key),
    index(TableName::History, "run", "history_run", IndexKind::Key),
];

impl IndexKind {
    fn rows_worth_it(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Vector => ROWS_WORTH_A_VECTOR_INDEX,
            Self::Key | Self::Label => ROWS_WORTH_A_KEY,
        }
    }

    /// Returns how many rows without the index are worth extending it. Words and vectors of a row cost more to compare
    /// than a short value.
    fn lag_worth_it(self) -> usize {
        match self {
            Self::Text | Self::Vector => 256,
            Self::Key | Self::Label => 4_096,
        }
    }

    /// Returns how many rows are indexed at once, which bounds the memory it takes, and how many rows a full segment
    /// has.
    fn bounds(self) -> (u64, u64) {
        match self {
            Self::Text => (1 << 16, 1 << 18),
            Self::Vector => (1 << 16, 1 << 17),
            Self::Key | Self::Label => (1 << 18, 1 << 20),
        }
    }
}

/// The form in which vectors are kept in their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Vectors {
    /// Vectors are kept as they are, and compared exactly within the partitions that are looked at.
    Whole,
    /// Vectors are kept in one byte for each number.
    Quantised,
}

/// Decides how the vectors of this many rows are to be indexed anew. `current` is the form of the present index, and
/// the most rows that one of its segments has. Returns `None` where that index still does.
fn training(rows: usize, current: Option<(Vectors, usize)>) -> Option<Vectors> {
    let wanted = if rows >= ROWS_WORTH_QUANTISING { Vectors::Quantised } else { Vectors::Whole };
    match current {
        Some((Vectors::Quantised, trained)) => {
            (rows / GROWTH_WORTH_TRAINING >= trained && wanted == Vectors::Quantised).then_some(wanted)
        }
        Some((Vectors::Whole, trained)) => {
            (wanted == Vectors::Quantised || rows / GROWTH_WORTH_TRAINING >= trained).then_some(wanted)
        }
        None => Some(wanted),
    }
}

/// The work that is to be done for an index.
enum IndexWork {
    Make(Box<dyn IndexParams>, IndexType),
    Extend(OptimizeOptions),
}

/// A piece of an index that was built and is in no version of the table yet.
pub(in crate::lance) struct Prepared {
    dataset: Dataset,
    index: &'static Index,
    built: Built,
}

enum Built {
    Made(IndexSegment),
    Extended(Box<IndexSegmentResult>, OptimizeOptions),
}

/// Returns the indexes that a table of this many rows has.
fn worth_it(name: TableName, rows: usize) -> impl Iterator<Item = &'static Index> {
    INDEXES.iter().filter(move |index| index.table == name && rows >= index.kind.rows_worth_it())
}

/// Tells whether an index of this table is to be made or extended.
pub(in crate::lance) async fn are_due(name: TableName, table: &Table) -> Result<bool, StoreError> {
    let dataset = snapshot(table).await?;
    for index in worth_it(name, rows_of(dataset.fragments().iter())) {
        if work(&dataset, table, index).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does the next piece of work on a snapshot of the table; returns `None` when all indexes are fresh.
pub(in crate::lance) async fn prepare(name: TableName, table: &Table) -> Result<Option<Prepared>, StoreError> {
    let mut dataset = snapshot(table).await?;
    for index in worth_it(name, rows_of(dataset.fragments().iter())) {
        let built = match work(&dataset, table, index).await? {
            Some(IndexWork::Make(params, kind)) => {
                let columns = [index.column];
                let builder = dataset.create_index_builder(&columns, kind, params.as_ref());
                let made = builder.name(index.name.to_owned()).replace(true).execute_uncommitted().await;
                Built::Made(made.and_then(IntoIndexSegment::into_index_segment).map_err(failed)?)
            }
            Some(IndexWork::Extend(options)) => match extend(&dataset, &options).await? {
                Some(extended) => Built::Extended(Box::new(extended), options),
                None => continue,
            },
            None => continue,
        };
        tracing::debug!(table = table.name(), index = index.name, "an index was built");
        return Ok(Some(Prepared { dataset, index, built }));
    }
    Ok(None)
}

impl Prepared {
    /// Makes the piece a part of the table. The write lock must be held, and nothing may have been erased since it was
    /// prepared. Returns false when the rows were moved meanwhile: then it is to be prepared again.
    pub(in crate::lance) async fn publish(mut self) -> Result<bool, StoreError> {
        let published = match self.built {
            Built::Made(segment) => {
                let (name, column) = (self.index.name, self.index.column);
                self.dataset.commit_existing_index_segments(name, column, vec![segment]).await
            }
            Built::Extended(segment, options) => {
                commit_optimize_indices(&mut self.dataset, vec![*segment], &options).await
            }
        };
        match published {
            Ok(()) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Tells whether somebody else first published what does not go together with this work.
pub(super) fn is_conflict(error: &lance::Error) -> bool {
    matches!(
        error,
        lance::Error::RetryableCommitConflict { .. }
            | lance::Error::CommitConflict { .. }
            | lance::Error::TooMuchWriteContention { .. }
    )
}

/// Returns how many rows each segment of an index has; there are no segments where there is no such index.
async fn segments(dataset: &Dataset, index: &Index) -> Result<Vec<usize>, StoreError> {
    let covered = dataset.indexed_fragments(index.name).await.map_err(failed)?;
    Ok(covered.iter().map(rows_of).collect())
}

async fn unindexed_rows_of(dataset: &Dataset, index: &Index) -> Result<usize, StoreError> {
    Ok(rows_of(&dataset.unindexed_fragments(index.name).await.map_err(failed)?))
}

fn rows_of<'a>(fragments: impl IntoIterator<Item = &'a Fragment>) -> usize {
    fragments.into_iter().filter_map(Fragment::num_rows).sum()
}

async fn work(dataset: &Dataset, table: &Table, index: &Index) -> Result<Option<IndexWork>, StoreError> {
    let segments = segments(dataset, index).await?;
    if let Some((params, kind)) = to_make(dataset, table, index, &segments).await? {
        return Ok(Some(IndexWork::Make(params, kind)));
    }
    let is_there = !segments.is_empty();
    let lags = is_there && unindexed_rows_of(dataset, index).await? >= index.kind.lag_worth_it();
    Ok(lags.then(|| IndexWork::Extend(extension(index, &segments))))
}

/// Returns how to make an index that is missing or no longer good enough; `None` where nothing is to be made.
async fn to_make(
    dataset: &Dataset,
    table: &Table,
    index: &Index,
    segments: &[usize],
) -> Result<Option<(Box<dyn IndexParams>, IndexType)>, StoreError> {
    let scalar = |kind, params: Option<Value>| {
        let scalar = ScalarIndexParams::for_builtin(kind);
        let params = params.iter().fold(scalar, ScalarIndexParams::with_params);
        segments.is_empty().then(|| (Box::new(params) as Box<dyn IndexParams>, IndexType::Scalar))
    };
    Ok(match index.kind {
        // the text index is there from the start
        IndexKind::Text => None,
        IndexKind::Label => scalar(BuiltinIndexType::Bitmap, None),
        IndexKind::Key => scalar(BuiltinIndexType::BTree, Some(json!({ "zone_size": KEY_PAGE_ROWS }))),
        IndexKind::Vector => {
            let current = match segments.iter().max() {
                Some(trained) => current_kind(table, index).await?.map(|kind| (kind, *trained)),
                None => None,
            };
            match training(rows_of(dataset.fragments().iter()), current) {
                Some(wanted) if has_vectors(dataset, index).await? => Some((vector_params(wanted), IndexType::Vector)),
                _ => None,
            }
        }
    })
}

async fn current_kind(table: &Table, index: &Index) -> Result<Option<Vectors>, StoreError> {
    let stats = table.index_stats(index.name).await.map_err(failed)?;
    Ok(stats.map(|stats| match stats.index_type {
        lancedb::index::IndexType::IvfFlat => Vectors::Whole,
        _ => Vectors::Quantised,
    }))
}

/// Tells whether enough passages have vectors: those that were stored without an embedder have none.
async fn has_vectors(dataset: &Dataset, index: &Index) -> Result<bool, StoreError> {
    let present = format!("{} IS NOT NULL", index.column);
    Ok(dataset.count_rows(Some(present)).await.map_err(failed)? >= ROWS_WORTH_A_VECTOR_INDEX)
}

fn vector_params(vectors: Vectors) -> Box<dyn IndexParams> {
    let (metric, ivf) = (DistanceType::Cosine.into(), IvfBuildParams::default());
    Box::new(match vectors {
        Vectors::Whole => VectorIndexParams::with_ivf_flat_params(metric, ivf),
        Vectors::Quantised => VectorIndexParams::with_ivf_sq_params(metric, ivf, SQBuildParams::default()),
    })
}

/// Returns how the rows that the index lacks are added. Segments that are not full become one with them once there are
/// many.
fn extension(index: &Index, segments: &[usize]) -> OptimizeOptions {
    let (at_once, full) = index.kind.bounds();
    let small = segments.iter().filter(|rows| **rows as u64 <= full / 2).count();
    let mut options = OptimizeOptions::default();
    options.index_names = Some(vec![index.name.to_owned()]);
    options.num_indices_to_merge = Some(if small >= SEGMENTS_WORTH_MERGING { segments.len() } else { 0 });
    options.max_rows_per_task = Some(at_once);
    options.max_rows_per_segment = Some(full);
    options
}

/// Builds one more segment, at most a full one; the rest waits for its turn.
async fn extend(dataset: &Dataset, options: &OptimizeOptions) -> Result<Option<IndexSegmentResult>, StoreError> {
    let plan = plan_optimize_indices(dataset, options).await.map_err(failed)?;
    for merge in &plan.merges {
        let mut built = Vec::new();
        for task in plan.tasks.iter().filter(|task| task.group == merge.group) {
            built.extend(task.execute(dataset).await.map_err(failed)?);
        }
        if let Some(segment) = merge.execute(dataset, &built).await.map_err(failed)? {
            return Ok(Some(segment));
        }
    }
    Ok(None)
}

/// Counts the rows of the table that are searched one by one, because the index of their words or vectors does not have
/// them.
pub(in crate::lance) async fn lag(name: TableName, table: &Table) -> Result<u64, StoreError> {
    let dataset = snapshot(table).await?;
    let mut most = 0;
    for index in worth_it(name, rows_of(dataset.fragments().iter())) {
        if matches!(index.kind, IndexKind::Text | IndexKind::Vector) {
            most = most.max(unindexed_rows_of(&dataset, index).await?);
        }
    }
    Ok(most as u64)
}

/// Builds the text index, anew where there is one. A search by text without the index is an error, so it is there from
/// the start.
pub(super) async fn build_text_index(passages: &Table) -> Result<(), StoreError> {
    // the terms are analysed already (`domain/src/text/terms.rs`), as those of a query are
    let analyzer = FtsIndexBuilder::default()
        .base_tokenizer("whitespace".to_owned())
        .max_token_length(None)
        .lower_case(false)
        .stem(false)
        .remove_stop_words(false)
        .ascii_folding(false)
        .memory_limit_mb(TEXT_INDEX_BUILD_MB)
        .num_workers(1);
    let index = passages.create_index(&["terms"], Lancedb::FTS(analyzer)).name(TEXT_INDEX.to_owned()).replace(true);
    index.execute().await.map_err(failed)
}

/// Builds the text index in the place of that of an earlier format. It does nothing where that was done before.
pub(in crate::lance) async fn replace_former_text_index(passages: &Table) -> Result<(), StoreError> {
    let there = snapshot(passages).await?.load_indices().await.map_err(failed)?;
    let has = |name| there.iter().any(|index| index.name == name);
    if !has(TEXT_INDEX) {
        build_text_index(passages).await?;
    }
    if has(FORMER_TEXT_INDEX) {
        passages.drop_index(FORMER_TEXT_INDEX).await.map_err(failed)?;
    }
    Ok(())
}

/// Takes out of the indexes what they still hold of rows that are gone. Where a fragment has deleted rows, compaction
/// writes its segments again without them. Where a fragment has lost all of its rows, compaction only removes it, and
/// segments keep what they have of it, so these are dropped. Upkeep makes them again, and until then their rows are
/// compared one by one. The write lock must be held, and no fragment may have deleted rows.
pub(in crate::lance) async fn forget_removed_rows(name: TableName, table: &Table) -> Result<(), StoreError> {
    let dataset = snapshot(table).await?;
    let whole = dataset.fragments().iter().filter(|fragment| fragment.deletion_file.is_none());
    let whole: HashSet<u64> = whole.map(|fragment| fragment.id).collect();
    let has_no_other = |segment: &IndexMetadata| {
        let covered = segment.fragment_bitmap.as_ref().filter(|covered| !covered.is_empty());
        covered.is_some_and(|covered| covered.iter().all(|fragment| whole.contains(&u64::from(fragment))))
    };
    let there = dataset.load_indices().await.map_err(failed)?;
    let (mut kept, mut dropped): (Vec<_>, Vec<_>) = there.iter().cloned().partition(has_no_other);
    if !centres_hide_rows(&dataset, &kept).await {
        dropped.extend(kept.extract_if(.., |segment| segment.name == VECTOR_INDEX));
    }
    let text_is_kept = kept.iter().any(|segment| segment.name == TEXT_INDEX);
    // the table is never without this index: it is replaced below
    dropped.retain(|segment| text_is_kept || segment.name != TEXT_INDEX);
    if !dropped.is_empty() {
        let removal = Operation::CreateIndex { new_indices: Vec::new(), removed_indices: dropped };
        let removal = Transaction::new(dataset.version_id(), removal, None);
        CommitBuilder::new(Arc::new(dataset)).execute(removal).await.map_err(failed)?;
    }
    if name == TableName::Passages && !text_is_kept {
        build_text_index(table).await?;
    }
    Ok(())
}

/// Tells whether all partitions of the vector index, if there is one among these segments, have enough rows for their
/// centres to hide each of them. It is false where the index cannot be opened.
async fn centres_hide_rows(dataset: &Dataset, segments: &[IndexMetadata]) -> bool {
    let mut rows: Vec<usize> = Vec::new();
    for segment in segments.iter().filter(|segment| segment.name == VECTOR_INDEX) {
        let opened = dataset.open_vector_index("vector", &segment.uuid, &NoOpMetricsCollector).await;
        let Ok(index) = opened else { return false };
        rows.resize(rows.len().max(index.total_partitions()), 0);
        for (n, rows) in rows.iter_mut().enumerate().take(index.total_partitions()) {
            *rows += index.partition_size(n);
        }
    }
    rows.iter().all(|rows| *rows >= ROWS_THAT_HIDE_ONE)
}

/// Builds the text index anew and drops every other one: upkeep makes them again, and until then the rows are compared
/// one by one.
pub(in crate::lance) async fn rebuild(name: TableName, table: &Table) -> Result<(), StoreError> {
    let there = table.list_indices().await.map_err(failed)?;
    for index in INDEXES.iter().filter(|index| index.table == name) {
        if index.kind == IndexKind::Text {
            build_text_index(table).await?;
        } else if there.iter().any(|found| found.name == index.name) {
            table.drop_index(index.name).await.map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_index_is_trained_when_it_is_missing_of_the_wrong_kind_or_has_doubled() {
        let (whole, quantised) = (Vectors::Whole, Vectors::Quantised);
        for (rows, current, expected) in [
            (5_000, None, Some(whole)),
            (9_999, Some((whole, 5_000)), None),
            (10_000, Some((whole, 5_000)), Some(whole)),
            (50_000, None, Some(quantised)),
            (50_000, Some((whole, 49_000)), Some(quantised)),
            (99_999, Some((quantised, 50_000)), None),
            (100_000, Some((quantised, 50_000)), Some(quantised)),
            // rows went: the larger kind is kept
            (40_000, Some((quantised, 60_000)), None),
        ] {
            assert_eq!(training(rows, current), expected, "{rows} rows, {current:?}");
        }
    }

    #[test]
    fn many_small_segments_become_one_and_full_ones_stay() {
        let text = &INDEXES[0];
        let full = text.kind.bounds().1 as usize;
        let merged = |segments: &[usize]| extension(text, segments).num_indices_to_merge;
        assert_eq!(merged(&[300; 7]), Some(0));
        assert_eq!(merged(&[300; 8]), Some(8));
        assert_eq!(merged(&[full; 20]), Some(0));
    }
}
