//! Reads by id and in pages. No lock: every read works on the newest version of each table, whoever wrote it.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use futures::TryStreamExt;
use lancedb::Table;
use lancedb::expr::{DfExpr, col, lit};
use lancedb::query::{ColumnOrdering, ExecutableQuery, QueryBase, Select};
use reasoning_bank_actors::ports::{Filter, MemoryRow, Page, Scanned, StoreError};
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

/// A stretch of a table in id order.
struct Slice {
    after: Option<uuid::Uuid>,
    limit: Option<usize>,
    newest_first: bool,
}

const WHOLE: Slice = Slice { after: None, limit: None, newest_first: false };

/// The columns of all rows for which the condition holds.
pub(super) async fn select(
    table: &Table,
    condition: Option<DfExpr>,
    columns: &[&str],
) -> Result<Vec<RecordBatch>, StoreError> {
    slice(table, condition, columns, &WHOLE).await
}

async fn slice(
    table: &Table,
    condition: Option<DfExpr>,
    columns: &[&str],
    slice: &Slice,
) -> Result<Vec<RecordBatch>, StoreError> {
    let beyond = |id: DfExpr| if slice.newest_first { col("id").lt(id) } else { col("id").gt(id) };
    let after = slice.after.map(|after| beyond(lit(after.to_string())));
    let condition = filter::all([condition, after]);
    with_retry(table, || async {
        let mut query = table.query().select(Select::columns(columns));
        if let Some(condition) = &condition {
            query = query.only_if_expr(condition.clone());
        }
        if let Some(limit) = slice.limit {
            let order =
                if slice.newest_first { ColumnOrdering::desc_nulls_last } else { ColumnOrdering::asc_nulls_first };
            query = query.order_by(Some(vec![order("id".into())])).limit(limit);
        }
        query.execute().await?.try_collect().await
    })
    .await
}

async fn records<T: DeserializeOwned>(
    table: &Table,
    condition: Option<DfExpr>,
    stretch: &Slice,
) -> Result<Vec<T>, StoreError> {
    rows::decode_bodies(&slice(table, condition, &["id", "body"], stretch).await?)
}

/// What the signals of each of these memories add up to; those without signals are missing.
pub(super) async fn evidence(tables: &Tables, ids: &[MemoryId]) -> Result<HashMap<MemoryId, Evidence>, StoreError> {
    let mut evidence: HashMap<MemoryId, Evidence> = HashMap::new();
    if ids.is_empty() {
        return Ok(evidence);
    }
    let of_these = filter::one_of("memory_id", ids.iter().map(MemoryId::to_string));
    for signal in records::<Signal>(&tables.signals, Some(of_these), &WHOLE).await? {
        evidence.entry(signal.memory_id).or_default().add(signal.kind, signal.at);
    }
    Ok(evidence)
}

pub(super) async fn memories(tables: &Tables, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let these = filter::one_of("id", ids.iter().map(MemoryId::to_string));
    records(&tables.memories, Some(these), &WHOLE).await
}

pub(super) async fn workspaces(
    tables: &Tables,
    ids: impl IntoIterator<Item = &WorkspaceId>,
) -> Result<Vec<Workspace>, StoreError> {
    let ids: Vec<String> = ids.into_iter().map(WorkspaceId::to_string).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    records(&tables.workspaces, Some(filter::one_of("id", ids)), &WHOLE).await
}

async fn with_evidence(tables: &Tables, memories: Vec<Memory>) -> Result<Vec<MemoryRow>, StoreError> {
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

pub(super) async fn scan(tables: &Tables, asked: Filter, page: Page) -> Result<Scanned, StoreError> {
    let page = Slice { after: page.after, limit: Some(page.limit), newest_first: page.newest_first };
    let workspace_is = |id: Option<&str>| id.map(|id| filter::equals("workspace", id));
    match asked {
        Filter::Memories { workspace, status, scope } => {
            let condition = filter::all([
                workspace_is(workspace.as_ref().map(|id| id.as_str())),
                status.map(|status| filter::equals("status", status.as_str())),
                scope.map(|scope| filter::equals("scope", scope.as_str())),
            ]);
            let memories = records(&tables.memories, condition, &page).await?;
            Ok(Scanned::Memories(with_evidence(tables, memories).await?))
        }
        Filter::DerivedFrom(ids) => {
            let named = ids.iter().map(|id| filter::has("derived_from", id)).reduce(|a, b| a.or(b));
            let Some(named) = named else { return Ok(Scanned::Memories(Vec::new())) };
            let child = filter::one_of("parent", ids.iter().map(MemoryId::to_string)).or(named);
            let memories = records(&tables.memories, Some(child), &page).await?;
            Ok(Scanned::Memories(with_evidence(tables, memories).await?))
        }
        Filter::Traces { workspace } => {
            let condition = workspace_is(workspace.as_ref().map(|id| id.as_str()));
            Ok(Scanned::Traces(records(&tables.traces, condition, &page).await?))
        }
        Filter::Trace(id) => {
            let condition = filter::equals("id", id.to_string());
            Ok(Scanned::Traces(records(&tables.traces, Some(condition), &WHOLE).await?))
        }
        Filter::Signals { workspace } => {
            let condition = workspace_is(workspace.as_ref().map(|id| id.as_str()));
            Ok(Scanned::Signals(records(&tables.signals, condition, &page).await?))
        }
        Filter::Workspaces => {
            let mut workspaces: Vec<_> = records(&tables.workspaces, None, &WHOLE).await?;
            workspaces.sort_by(|a: &Workspace, b| a.id.cmp(&b.id));
            Ok(Scanned::Workspaces(workspaces))
        }
        Filter::Summary => Err(StoreError::Failed("this store does not count what it holds".into())),
        Filter::Passages(id) => {
            let condition = filter::equals("memory_id", id.to_string());
            let columns = ["id", "kind", "n", "text", "vector"];
            Ok(Scanned::Passages(rows::decode_passages(&select(&tables.passages, Some(condition), &columns).await?)?))
        }
    }
}
