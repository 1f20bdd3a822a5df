//! Reads by id or condition, and the evidence that signals add up to. Pages are in `pages`. Reads take no lock: each
//! works on the newest version of its table, whoever wrote it.

use std::collections::{BTreeMap, HashMap, HashSet};

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lancedb::Table;
use lancedb::expr::DfExpr;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use reasoning_bank_actors::ports::{MemoryRow, Passage, StoreError, Visible};
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::handles::Tables;
use super::{filter, rows};
use crate::lance::errors::failed;

/// The largest number of values that a condition compares with: planning a long list takes longer than reading the rows
/// again.
const COMPARED_AT_ONCE: usize = 1_000;
/// The number of ids from which on all ids of the table are read: looking up this many by their index takes as long as
/// reading all ids of a million rows.
const IDS_WORTH_READING_ALL: usize = 2_000;

/// Runs a read, and once more on the newest version when it fails: files of an older version may have been compacted
/// away by another process meanwhile.
pub(in crate::lance) async fn with_retry<T, F>(table: &Table, read: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = lancedb::Result<T>>,
{
    match read().await {
        Ok(value) => Ok(value),
        Err(error) => {
            tracing::debug!(table = table.name(), %error, "a read failed; once more on the newest version");
            table.checkout_latest().await.map_err(failed)?;
            read().await.map_err(failed)
        }
    }
}

/// Reads these columns of all rows for which the condition holds.
pub(in crate::lance) async fn select(
    table: &Table,
    condition: Option<DfExpr>,
    columns: &[&str],
) -> Result<Vec<RecordBatch>, StoreError> {
    with_retry(table, || async {
        let mut query = table.query().select(Select::columns(columns));
        if let Some(condition) = &condition {
            query = query.only_if_expr(condition.clone());
        }
        query.execute().await?.try_collect().await
    })
    .await
}

/// Reads all columns of all rows for which the condition holds.
pub(in crate::lance) async fn select_all(table: &Table, condition: DfExpr) -> Result<Vec<RecordBatch>, StoreError> {
    with_retry(table, || async { table.query().only_if_expr(condition.clone()).execute().await?.try_collect().await })
        .await
}

/// Reads these columns of all rows whose `key` is one of these values.
pub(in crate::lance) async fn select_these(
    table: &Table,
    key: &str,
    values: Vec<String>,
    columns: &[&str],
) -> Result<Vec<RecordBatch>, StoreError> {
    let mut found = Vec::new();
    for values in values.chunks(COMPARED_AT_ONCE) {
        let these = filter::one_of(key, values.iter().cloned());
        found.extend(select(table, Some(these), columns).await?);
    }
    Ok(found)
}

/// Returns those of these ids that are in the table.
pub(in crate::lance) async fn present(table: &Table, ids: Vec<String>) -> Result<HashSet<String>, StoreError> {
    if ids.len() < IDS_WORTH_READING_ALL {
        let found = select_these(table, "id", ids, &["id"]).await?;
        return Ok(rows::text_column(&found, "id").map(str::to_owned).collect());
    }
    let asked: HashSet<String> = ids.into_iter().collect();
    with_retry(table, || async {
        let mut all = table.query().select(Select::columns(&["id"])).execute().await?;
        let mut present = HashSet::new();
        while let Some(batch) = all.try_next().await? {
            let ids = rows::text_column(std::slice::from_ref(&batch), "id");
            present.extend(ids.filter(|id| asked.contains(*id)).map(str::to_owned));
        }
        Ok(present)
    })
    .await
}

/// Returns those of these ids that belong to memories, traces, signals or jobs.
pub(in crate::lance) async fn existing(tables: &Tables, ids: &[Uuid]) -> Result<HashSet<Uuid>, StoreError> {
    let ids: Vec<String> = ids.iter().map(Uuid::to_string).collect();
    let (memories, traces, signals, jobs) = tokio::try_join!(
        present(&tables.memories, ids.clone()),
        present(&tables.traces, ids.clone()),
        present(&tables.signals, ids.clone()),
        present(&tables.jobs, ids.clone()),
    )?;
    memories.iter().chain(&traces).chain(&signals).chain(&jobs).map(|id| id.parse().map_err(failed)).collect()
}

/// Reads the records of all rows for which the condition holds.
pub(in crate::lance) async fn records<T: DeserializeOwned + Send>(
    table: &Table,
    condition: Option<DfExpr>,
) -> Result<Vec<T>, StoreError> {
    rows::decode_bodies(&select(table, condition, &["body"]).await?)
}

pub(in crate::lance) async fn record<T: DeserializeOwned + Send>(
    table: &Table,
    id: &str,
    of: Option<&WorkspaceId>,
) -> Result<Option<T>, StoreError> {
    let of = of.map(|workspace| filter::equals("workspace", workspace.as_str()));
    Ok(records(table, filter::all([Some(filter::equals("id", id)), of])).await?.pop())
}

/// Adds up the signals of each of these memories; memories without signals are left out.
pub(in crate::lance) async fn evidence(
    tables: &Tables,
    ids: &[MemoryId],
) -> Result<HashMap<MemoryId, Evidence>, StoreError> {
    let mut evidence: HashMap<MemoryId, Evidence> = HashMap::new();
    let found = select_these(&tables.signals, "memory_id", texts(ids), &["body"]).await?;
    for signal in rows::decode_bodies::<Signal>(&found)? {
        evidence.entry(signal.memory_id).or_default().add(signal.kind, signal.at);
    }
    Ok(evidence)
}

pub(in crate::lance) async fn memories(tables: &Tables, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
    rows::decode_bodies(&select_these(&tables.memories, "id", texts(ids), &["body"]).await?)
}

async fn visible_memories(tables: &Tables, ids: &[MemoryId], visible: &Visible) -> Result<Vec<Memory>, StoreError> {
    let Some(readable) = filter::readable(visible) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for ids in texts(ids).chunks(COMPARED_AT_ONCE) {
        let these = filter::one_of("id", ids.iter().cloned()).and(readable.clone());
        found.extend(rows::decode_bodies(&select(&tables.memories, Some(these), &["body"]).await?)?);
    }
    Ok(found)
}

/// Reads the passages of each of these memories; those that have none, or are unknown, are left out.
pub(in crate::lance) async fn passages(
    tables: &Tables,
    of: &[MemoryId],
) -> Result<BTreeMap<MemoryId, Vec<Passage>>, StoreError> {
    let columns = ["id", "memory_id", "kind", "n", "text", "vector"];
    rows::decode_passages(&select_these(&tables.passages, "memory_id", texts(of), &columns).await?)
}

pub(in crate::lance) fn texts(ids: &[MemoryId]) -> Vec<String> {
    ids.iter().map(MemoryId::to_string).collect()
}

pub(in crate::lance) async fn with_evidence(
    tables: &Tables,
    memories: Vec<Memory>,
) -> Result<Vec<MemoryRow>, StoreError> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let mut evidence = evidence(tables, &ids).await?;
    let row = |memory: Memory| MemoryRow { evidence: evidence.remove(&memory.id).unwrap_or_default(), memory };
    Ok(memories.into_iter().map(row).collect())
}

/// Reads the memories with these ids and their evidence, in no order. Unknown ids are left out, and so are memories
/// that may not be shown.
pub(in crate::lance) async fn get(
    tables: &Tables,
    ids: &[MemoryId],
    visible: Option<&Visible>,
) -> Result<impl Iterator<Item = (MemoryId, MemoryRow)>, StoreError> {
    let (memories, mut evidence) = match visible {
        None => tokio::try_join!(memories(tables, ids), evidence(tables, ids))?,
        Some(visible) => {
            let memories = visible_memories(tables, ids, visible).await?;
            let shown: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
            let evidence = evidence(tables, &shown).await?;
            (memories, evidence)
        }
    };
    Ok(memories.into_iter().map(move |memory| {
        let evidence = evidence.remove(&memory.id).unwrap_or_default();
        (memory.id, MemoryRow { memory, evidence })
    }))
}
