//! Erasing: rows, index terms, old versions, journals. What is asked for is written down first, so that an erasure that
//! breaks off is finished by whoever writes next.

use std::sync::Arc;

use lancedb::Table;
use lancedb::expr::{DfExpr, col, lit};
use reasoning_bank_actors::ports::{EraseScope, Erased, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_domain::job::JobState;
use reasoning_bank_domain::memory::Scope;

use super::journal::{self, Erasures};
use super::tables::{TableName, Tables};
use super::write_lock::WriteGuard;
use super::{Shared, blocking, checkpoint, commit, failed, filter, read, tables, upkeep, within};

/// Goes on to the end by itself when the deadline passes.
pub(super) async fn erase(shared: &Arc<Shared>, scope: EraseScope, deadline: Deadline) -> Result<Erased, StoreError> {
    let shared = Arc::clone(shared);
    let work = tokio::spawn(async move {
        let mut guard = shared.lock.acquire(deadline).await?;
        let mut erasures = commit::settle(&shared, &mut guard).await?;
        if matches!(scope, EraseScope::Traces { .. } | EraseScope::Jobs { .. })
            && nothing_of(&shared.tables, &scope).await?
        {
            return Ok(Erased::default());
        }
        erasures.count += 1;
        erasures.pending = Some(scope);
        erasures.write(&shared.layout).await?;
        finish(&shared, &guard, erasures).await.map(|(erased, _)| erased)
    });
    within(deadline, async { work.await.map_err(failed)? }).await
}

/// Carries out the erasure that is pending.
pub(super) async fn finish(
    shared: &Shared,
    _guard: &WriteGuard,
    mut erasures: Erasures,
) -> Result<(Erased, Erasures), StoreError> {
    let Some(scope) = &erasures.pending else { return Ok((Erased::default(), erasures)) };
    let erased = delete_rows(&shared.tables, scope).await?;
    let concerned = || shared.tables.each().filter(|(name, _)| condition(scope, *name).is_some());
    for (name, table) in concerned() {
        upkeep::drop_deleted_rows(table).await?;
        if name == TableName::Passages {
            tables::rebuild_indexes(table).await?;
        }
    }
    checkpoint::sync_tables(shared).await?;
    let (layout, own) = (shared.layout.clone(), shared.journal.clone());
    blocking(move || {
        journal::scrub(&layout, &own)?;
        remove_dir(&layout.set_aside())
    })
    .await?
    .map_err(failed)?;
    for (_, table) in concerned() {
        upkeep::prune_all(table).await?;
    }
    erasures.pending = None;
    erasures.write(&shared.layout).await?;
    Ok((erased, erasures))
}

/// Which rows of a table go; `None` where none do.
fn condition(scope: &EraseScope, table: TableName) -> Option<DfExpr> {
    match scope {
        EraseScope::Memory(id) => match table {
            TableName::Memories => Some(filter::equals("id", id.to_string())),
            TableName::Passages | TableName::Signals => Some(filter::equals("memory_id", id.to_string())),
            TableName::Traces | TableName::Workspaces | TableName::Jobs => None,
        },
        EraseScope::Workspace(id) => Some(match table {
            TableName::Memories | TableName::Passages => {
                filter::equals("workspace", id.as_str()).and(filter::equals("scope", Scope::Project.as_str()))
            }
            TableName::Traces | TableName::Signals | TableName::Jobs => filter::equals("workspace", id.as_str()),
            TableName::Workspaces => filter::equals("id", id.as_str()),
        }),
        EraseScope::Traces { workspace, before } => match table {
            TableName::Traces => filter::all([
                Some(col("created").lt(lit(before.as_microsecond()))),
                workspace.as_ref().map(|id| filter::equals("workspace", id.as_str())),
            ]),
            _ => None,
        },
        EraseScope::Jobs { over_before } => match table {
            TableName::Jobs => {
                let over = [JobState::Done, JobState::Failed].map(|state| state.as_str().to_owned());
                Some(filter::one_of("state", over).and(col("updated").lt(lit(over_before.as_microsecond()))))
            }
            _ => None,
        },
    }
}

/// Whether no row is concerned: then there is nothing to rewrite and no journal to empty.
async fn nothing_of(tables: &Tables, scope: &EraseScope) -> Result<bool, StoreError> {
    for (name, table) in tables.each() {
        if let Some(condition) = condition(scope, name)
            && read::select(table, Some(condition), &["id"]).await?.iter().any(|batch| batch.num_rows() > 0)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

async fn delete_rows(tables: &Tables, scope: &EraseScope) -> Result<Erased, StoreError> {
    let delete = |table: TableName| delete(tables.get(table), condition(scope, table));
    // a passage without its memory is never shown, so the memories go first
    Ok(Erased {
        memories: delete(TableName::Memories).await?,
        passages: delete(TableName::Passages).await?,
        traces: delete(TableName::Traces).await?,
        signals: {
            delete(TableName::Workspaces).await?;
            delete(TableName::Signals).await?
        },
        jobs: delete(TableName::Jobs).await?,
    })
}

async fn delete(table: &Table, condition: Option<DfExpr>) -> Result<u64, StoreError> {
    match condition {
        Some(condition) => Ok(table.delete(&condition).await.map_err(failed)?.num_deleted_rows),
        None => Ok(0),
    }
}

fn remove_dir(dir: &std::path::Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
