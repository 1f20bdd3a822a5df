//! Reads by id, and the evidence that signals add up to. Pages are in `scan`. No lock: every read works on the newest
//! version of each table, whoever wrote it.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lancedb::Table;
use lancedb::expr::DfExpr;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use reasoning_bank_actors::ports::{MemoryRow, StoreError};
use reasoning_bank_domain::confidence::{Evidence, Signal};
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::workspace::{Workspace, WorkspaceId};
use serde::de::DeserializeOwned;

use super::tables::Tables;
use super::{failed, filter, rows};

/// Runs a read, and once more on the newest version when it fails: files of an older version may have been compacted
/// away by another process meanwhile.
pub(super) async fn with_retry<T, F>(table: &Table, read: impl Fn() -> F) -> Result<T, StoreError>
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

/// The columns of all rows for which the condition holds.
pub(super) async fn select(
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

pub(super) async fn records<T: DeserializeOwned>(
    table: &Table,
    condition: Option<DfExpr>,
) -> Result<Vec<T>, StoreError> {
    rows::decode_bodies(&select(table, condition, &["body"]).await?)
}

/// What the signals of each of these memories add up to; those without signals are missing.
pub(super) async fn evidence(tables: &Tables, ids: &[MemoryId]) -> Result<HashMap<MemoryId, Evidence>, StoreError> {
    let mut evidence: HashMap<MemoryId, Evidence> = HashMap::new();
    if ids.is_empty() {
        return Ok(evidence);
    }
    let of_these = filter::one_of("memory_id", ids.iter().map(MemoryId::to_string));
    for signal in records::<Signal>(&tables.signals, Some(of_these)).await? {
        evidence.entry(signal.memory_id).or_default().add(signal.kind, signal.at);
    }
    Ok(evidence)
}

pub(super) async fn memories(tables: &Tables, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let these = filter::one_of("id", ids.iter().map(MemoryId::to_string));
    records(&tables.memories, Some(these)).await
}

pub(super) async fn workspaces(
    tables: &Tables,
    ids: impl IntoIterator<Item = &WorkspaceId>,
) -> Result<Vec<Workspace>, StoreError> {
    let ids: Vec<String> = ids.into_iter().map(WorkspaceId::to_string).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    records(&tables.workspaces, Some(filter::one_of("id", ids))).await
}

pub(super) async fn with_evidence(tables: &Tables, memories: Vec<Memory>) -> Result<Vec<MemoryRow>, StoreError> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let mut evidence = evidence(tables, &ids).await?;
    let row = |memory: Memory| MemoryRow { evidence: evidence.remove(&memory.id).unwrap_or_default(), memory };
    Ok(memories.into_iter().map(row).collect())
}

pub(super) async fn get(tables: &Tables, ids: Vec<MemoryId>) -> Result<Vec<MemoryRow>, StoreError> {
    let (memories, mut evidence) = tokio::try_join!(memories(tables, &ids), evidence(tables, &ids))?;
    let mut found: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
    let row = |id: &MemoryId| {
        Some(MemoryRow { memory: found.remove(id)?, evidence: evidence.remove(id).unwrap_or_default() })
    };
    Ok(ids.iter().filter_map(row).collect())
}
