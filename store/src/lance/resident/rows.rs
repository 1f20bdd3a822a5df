//! Rows of the tables, read as what an owner index takes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use lance::Dataset;
use lance::table::format::Fragment;
use lancedb::expr::DfExpr;
use reasoning_bank_actors::ports::StoreError;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::SignalKind;

use super::table_deltas::TableVersions;
use crate::lance::commit::write_owner::Applying;
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::tables::recent_rows::{ROW_ID, RecentRows};
use crate::lance::tables::{TableName, Tables, Versions, dataset, filter, read, rows};

pub(super) const OF_MEMORIES: &[&str] = &["body", ROW_ID];
pub(super) const ROW_IDS_OF_MEMORIES: &[&str] = &["id", ROW_ID];
pub(super) const OF_PASSAGES: &[&str] = &["id", "memory_id", "terms", "vector"];
pub(super) const OF_SIGNALS: &[&str] = &["memory_id", "kind", "at"];

/// The largest number of times that a snapshot is taken: where one commit follows the other all the while, the last one
/// counts.
const TRIES: usize = 4;
/// The number of rows in a batch. A table is read batch by batch, so that few rows are in memory at once.
const BATCH_ROWS: usize = 1_024;
const BATCHES_AHEAD: usize = 2;
/// The number of bytes that are read before they are looked at; LanceDB's own bound is 2 GiB.
const READ_AHEAD_BYTES: u64 = 64 << 20;

/// The tables that owner indexes are filled from, each at one version.
#[derive(Clone)]
pub(super) struct Snapshot {
    pub(super) memories: Arc<Dataset>,
    pub(super) passages: Arc<Dataset>,
    pub(super) signals: Arc<Dataset>,
}

impl Snapshot {
    /// Takes a snapshot that has every commit whole or not at all.
    pub(super) async fn take(layout: &Layout, tables: &Tables) -> Result<Self, StoreError> {
        let mut tries = 0;
        loop {
            let before = Applying::read(layout).map_err(failed)?;
            let snapshot = Self::at(tables, &before.before).await?;
            tries += 1;
            let is_whole = !before.before.is_empty() || Applying::read(layout).map_err(failed)? == before;
            if is_whole || tries == TRIES {
                return Ok(snapshot);
            }
        }
    }

    /// Opens the tables in the reverse order of a commit, so that what refers to a memory never comes without it.
    async fn at(tables: &Tables, versions: &Versions) -> Result<Self, StoreError> {
        let at = async |name| {
            let newest = dataset::newest(tables.get(name)).await?;
            match versions.get(&name) {
                Some(version) if *version != newest.version_id() => {
                    newest.checkout_version(*version).await.map(Arc::new).map_err(failed)
                }
                _ => Ok(newest),
            }
        };
        let signals = at(TableName::Signals).await?;
        let passages = at(TableName::Passages).await?;
        Ok(Self { memories: at(TableName::Memories).await?, passages, signals })
    }
}

impl From<&Snapshot> for TableVersions {
    fn from(snapshot: &Snapshot) -> Self {
        Self {
            memories: (&*snapshot.memories).into(),
            passages: (&*snapshot.passages).into(),
            signals: (&*snapshot.signals).into(),
        }
    }
}

/// Counts the rows for which the condition holds.
pub(super) async fn count(dataset: &Dataset, condition: Option<DfExpr>) -> Result<usize, StoreError> {
    let mut scanner = dataset.scan();
    scanner.empty_project().map_err(failed)?;
    scanner.with_row_id();
    if let Some(condition) = condition {
        scanner.filter_expr(condition);
    }
    Ok(scanner.count_rows().await.map_err(failed)? as usize)
}

/// Reads these columns of the rows for which the condition holds, of these fragments or of all.
pub(super) async fn read(
    dataset: &Dataset,
    columns: &[&str],
    condition: Option<DfExpr>,
    fragments: Option<Vec<Fragment>>,
) -> Result<BoxStream<'static, Result<RecordBatch, StoreError>>, StoreError> {
    let mut scanner = dataset.scan();
    scanner.project(columns).map_err(failed)?;
    scanner
        .batch_size(BATCH_ROWS)
        .batch_readahead(BATCHES_AHEAD)
        .fragment_readahead(1)
        .io_buffer_size(READ_AHEAD_BYTES);
    if let Some(condition) = condition {
        scanner.filter_expr(condition);
    }
    if let Some(fragments) = fragments {
        scanner.with_fragments(fragments);
    }
    Ok(scanner.try_into_stream().await.map_err(failed)?.map_err(failed).boxed())
}

/// Reads these columns of the rows for which the condition holds, all at once.
pub(super) async fn read_all(
    dataset: &Dataset,
    columns: &[&str],
    condition: Option<DfExpr>,
    fragments: Option<Vec<Fragment>>,
) -> Result<Vec<RecordBatch>, StoreError> {
    if fragments.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    read(dataset, columns, condition, fragments).await?.try_collect().await
}

/// Reads these columns of the rows of these fragments, except where the rows are kept.
pub(super) async fn of_fragments(
    recent: &RecentRows,
    dataset: &Dataset,
    columns: &[&str],
    fragments: Vec<Fragment>,
) -> Result<Vec<RecordBatch>, StoreError> {
    let (mut batches, mut others) = (Vec::new(), Vec::new());
    for fragment in fragments {
        match recent.of(&fragment, columns)? {
            Some(rows) => batches.push(rows),
            None => others.push(fragment),
        }
    }
    batches.extend(read_all(dataset, columns, None, Some(others)).await?);
    Ok(batches)
}

/// Reads the rows about these memories.
pub(super) async fn about(
    dataset: &Dataset,
    columns: &[&str],
    ids: &[MemoryId],
) -> Result<Vec<RecordBatch>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let these = filter::one_of("memory_id", read::texts(ids));
    read_all(dataset, columns, Some(these), None).await
}

/// Decodes the memories of batches, which have the columns [`OF_MEMORIES`], each with its row id.
pub(super) fn memories(batches: &[RecordBatch]) -> Result<Vec<(Memory, u64)>, StoreError> {
    let row_lookup = rows::decode_bodies(batches)?;
    let mut entries = Vec::with_capacity(row_lookup.len());
    for batch in batches {
        entries.extend_from_slice(row_id_column(batch)?);
    }
    Ok(row_lookup.into_iter().zip(entries).collect())
}

/// Returns the row ids of the memories of a batch, which has the columns [`ROW_IDS_OF_MEMORIES`].
pub(super) fn row_ids(batch: &RecordBatch) -> Result<BTreeMap<MemoryId, u64>, StoreError> {
    let ids = rows::text_column(std::slice::from_ref(batch), "id");
    ids.zip(row_id_column(batch)?).map(|(id, row_id)| Ok((id.parse().map_err(failed)?, *row_id))).collect()
}

pub(super) fn row_id_column(batch: &RecordBatch) -> Result<&[u64], StoreError> {
    let row_ids = batch.column_by_name(ROW_ID).and_then(|column| column.as_primitive_opt::<UInt64Type>());
    Ok(row_ids.ok_or_else(|| StoreError::Failed("a row has no row id".into()))?.values())
}

/// The part of a passage that it is found by.
pub(super) struct SearchedPassage<'a> {
    pub(super) memory: MemoryId,
    pub(super) revision: u64,
    pub(super) terms: &'a str,
    pub(super) vector: Option<&'a [f32]>,
}

/// Decodes the passages of a batch, which has the columns [`OF_PASSAGES`].
pub(super) fn passages(batch: &RecordBatch) -> Result<Vec<SearchedPassage<'_>>, StoreError> {
    let missing = || StoreError::Failed("the passages table lacks a column".into());
    let text = |name| batch.column_by_name(name).and_then(|c| c.as_string_opt::<i32>()).ok_or_else(missing);
    let (ids, memories, terms) = (text("id")?, text("memory_id")?, text("terms")?);
    let vectors = batch.column_by_name("vector").and_then(|c| c.as_fixed_size_list_opt()).ok_or_else(missing)?;
    let numbers = vectors.values().as_primitive_opt::<Float32Type>().ok_or_else(missing)?.values();
    let dims = vectors.value_length() as usize;
    (0..batch.num_rows())
        .map(|row| {
            Ok(SearchedPassage {
                memory: memories.value(row).parse().map_err(failed)?,
                revision: rows::revision_of(ids.value(row)),
                terms: if terms.is_valid(row) { terms.value(row) } else { "" },
                vector: vectors.is_valid(row).then(|| numbers.get(row * dims..(row + 1) * dims)).flatten(),
            })
        })
        .collect()
}

/// Decodes the signals of batches, which have the columns [`OF_SIGNALS`].
pub(super) fn signals(batches: &[RecordBatch]) -> Result<Vec<(MemoryId, SignalKind, Timestamp)>, StoreError> {
    let kinds = rows::text_column(batches, "kind").zip(rows::time_column(batches, "at"));
    let signals = rows::text_column(batches, "memory_id").zip(kinds);
    signals
        .map(|(memory, (kind, at))| {
            let kind = SignalKind::ALL.into_iter().find(|known| known.as_str() == kind);
            let kind = kind.ok_or_else(|| StoreError::Failed("a signal is of an unknown kind".into()))?;
            Ok((memory.parse().map_err(failed)?, kind, Timestamp::from_microsecond(at).map_err(failed)?))
        })
        .collect()
}

/// Adds up these signals to the evidence of each memory.
pub(super) fn evidence(batches: &[RecordBatch]) -> Result<HashMap<MemoryId, Evidence>, StoreError> {
    let mut evidence: HashMap<MemoryId, Evidence> = HashMap::new();
    for (memory, kind, at) in signals(batches)? {
        evidence.entry(memory).or_default().add(kind, at);
    }
    Ok(evidence)
}
