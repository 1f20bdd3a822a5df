//! Carries out an erasure that was written down: removes rows, index terms, old versions, and what journals hold. An
//! erasure that breaks off is finished by whoever writes next.

use std::collections::HashSet;
use std::{fs, io};

use jiff::Timestamp;
use lancedb::Table;
use lancedb::expr::{DfExpr, col, lit};
use reasoning_bank_actors::ports::{BankDirectories, EraseScope, Erased, Record, StoreError};
use reasoning_bank_domain::bank::BankKey;
use reasoning_bank_domain::learning::job::JobState;
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};

use super::orphans::replay_orphans;
use crate::banks::BankDirs;
use crate::files::unless_gone;
use crate::lance::commit::erasure_log;
use crate::lance::commit::erasures::Erasures;
use crate::lance::commit::journal::{self, JournalSlot};
use crate::lance::commit::write_lock::WriteGuard;
use crate::lance::errors::failed;
use crate::lance::layout::Layout;
use crate::lance::shared::SharedStore;
use crate::lance::snapshot_place;
use crate::lance::tables::{TableName, Tables, compaction, filter, indexes, read, rows, set_aside};
use crate::lance::threads::blocking;
use crate::lance::vectors::next_passages;

/// Returns the table that an erasure by age is about, and the time before which its rows go. What was set aside because
/// of damage goes only where it is as old. Returns `None` where somebody asked for the erasure: then nothing is to be
/// left.
fn by_age(scope: &EraseScope) -> Option<(TableName, Timestamp)> {
    match scope {
        EraseScope::Jobs { over_before } => Some((TableName::Jobs, *over_before)),
        EraseScope::Requests { before } => Some((TableName::Requests, *before)),
        EraseScope::History { before } => Some((TableName::History, *before)),
        EraseScope::Traces { workspace: None, before } => Some((TableName::Traces, *before)),
        EraseScope::Traces { workspace: Some(_), .. }
        | EraseScope::Episodes(_)
        | EraseScope::Workspace(_)
        | EraseScope::Memory(_)
        | EraseScope::Memories(_) => None,
    }
}

/// Removes what is erased from journals, history, the logs of working memories, the memory bank of a workspace and
/// `set-aside/`. `jobs` are the jobs that are still there.
fn remove_from_files(layout: &Layout, own: &JournalSlot, scope: &EraseScope, jobs: &HashSet<String>) -> io::Result<()> {
    match by_age(scope) {
        Some((table, before)) => {
            // earlier revisions of a job that is gone, which were not over, go as well
            let is_gone = |record: &Record| match (table, record) {
                (TableName::Jobs, Record::Job(job)) => !jobs.contains(&job.id.to_string()),
                _ => scope.covers(record),
            };
            journal::remove_records(layout, own, is_gone)?;
            set_aside::remove_older(&layout.set_aside(), table, before)
        }
        None => {
            journal::scrub(layout, own)?;
            if let EraseScope::Workspace(workspace) = scope {
                for dir in layout.beside(workspace) {
                    unless_gone(fs::remove_dir_all(dir))?;
                }
                BankDirs::of(layout.root()).remove(&BankKey::code(workspace))?;
            }
            set_aside::remove_all(&layout.set_aside())
        }
    }
}

/// Carries out the erasure that is pending.
pub(in crate::lance) async fn finish(
    shared: &SharedStore,
    guard: &WriteGuard,
    mut erasures: Erasures,
) -> Result<(Erased, Erasures), StoreError> {
    let Some(scope) = &erasures.pending else { return Ok((Erased::default(), erasures)) };
    replay_orphans(shared, guard).await?;
    let erased = delete_rows(&shared.tables, scope).await?;
    if condition(scope, TableName::Memories).is_some() {
        shared.resident.forget();
        shared.resident.patterns.forget().await;
    }
    if condition(scope, TableName::Traces).is_some() {
        shared.resident.episodes.forget().await;
    }
    let concerned = || shared.tables.each().filter(|(name, _)| condition(scope, *name).is_some());
    for (name, table) in concerned() {
        compaction::drop_deleted_rows(table).await?;
        indexes::forget_removed_rows(name, table).await?;
        if name == TableName::Passages
            && let Some(condition) = condition(scope, name)
        {
            next_passages::erase(&shared.layout, &condition).await?;
        }
    }
    shared.checkpoints.sync_tables().await?;
    let jobs = read::select(&shared.tables.jobs, None, &["id"]).await?;
    let jobs: HashSet<String> = rows::text_column(&jobs, "id").map(str::to_owned).collect();
    let (layout, own, of) = (shared.layout.clone(), shared.journal.clone(), scope.clone());
    let remove = move || {
        snapshot_place::remove_left_over(&layout)?;
        remove_from_files(&layout, &own, &of, &jobs)
    };
    blocking(remove).await?.map_err(failed)?;
    for (_, table) in concerned() {
        compaction::prune_all(table).await?;
    }
    // what goes by its age goes again by itself, wherever a backup is restored
    if by_age(scope).is_none() {
        let (layout, of) = (shared.layout.clone(), scope.clone());
        blocking(move || erasure_log::append(&layout, &of)).await?.map_err(failed)?;
    }
    erasures.pending = None;
    erasures.write(&shared.layout).await?;
    Ok((erased, erasures))
}

/// Returns the condition for the rows of a table that go; `None` where none do.
fn condition(scope: &EraseScope, table: TableName) -> Option<DfExpr> {
    match scope {
        EraseScope::Memory(id) => of_memories(std::slice::from_ref(id), table),
        EraseScope::Memories(ids) => of_memories(ids, table),
        EraseScope::Workspace(id) => Some(match table {
            TableName::Memories | TableName::Passages => {
                filter::equals("workspace", id.as_str()).and(filter::equals("scope", Scope::Project.as_str()))
            }
            TableName::Traces
            | TableName::Signals
            | TableName::Jobs
            | TableName::Requests
            | TableName::EpisodeState
            | TableName::EpisodeVectors
            | TableName::History => filter::equals("workspace", id.as_str()),
            TableName::Workspaces => filter::equals("id", id.as_str()),
        }),
        EraseScope::Episodes(ids) => match table {
            TableName::Traces | TableName::EpisodeState | TableName::EpisodeVectors => {
                Some(filter::one_of("id", ids.iter().map(TraceId::to_string)))
            }
            TableName::History => Some(filter::one_of("object", ids.iter().map(TraceId::to_string))),
            _ => None,
        },
        EraseScope::Traces { workspace, before } => match table {
            TableName::Traces | TableName::EpisodeState | TableName::EpisodeVectors => filter::all([
                Some(col("created").lt(lit(before.as_microsecond()))),
                workspace.as_ref().map(|id| filter::equals("workspace", id.as_str())),
            ]),
            _ => None,
        },
        EraseScope::Requests { before } => match table {
            TableName::Requests => Some(col("at").lt(lit(before.as_microsecond()))),
            _ => None,
        },
        EraseScope::History { before } => match table {
            TableName::History => Some(col("at").lt(lit(before.as_microsecond())).and(col("run").not_eq(lit("")))),
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

fn of_memories(ids: &[MemoryId], table: TableName) -> Option<DfExpr> {
    let named = |column: &str| Some(filter::one_of(column, ids.iter().map(MemoryId::to_string)));
    match table {
        TableName::Memories => named("id"),
        TableName::Passages | TableName::Signals => named("memory_id"),
        TableName::Requests => ids.iter().map(|id| filter::mentions("body", id.to_string())).reduce(DfExpr::or),
        TableName::History => named("object"),
        TableName::Traces
        | TableName::Workspaces
        | TableName::Jobs
        | TableName::EpisodeState
        | TableName::EpisodeVectors => None,
    }
}

/// Tells whether the erasure concerns no row of these tables. Where it concerns no row of any table, there is nothing
/// to rewrite and no journal to empty.
pub(in crate::lance) async fn nothing_of(
    tables: impl Iterator<Item = (TableName, &Table)>,
    scope: &EraseScope,
) -> Result<bool, StoreError> {
    for (name, table) in tables {
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
            delete(TableName::Requests).await?;
            delete(TableName::EpisodeState).await?;
            delete(TableName::EpisodeVectors).await?;
            delete(TableName::History).await?;
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
