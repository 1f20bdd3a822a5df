//! Reads in pages: export, lists, genealogy; and what is found or counted by short columns. The ids of a page are found
//! first and its bodies read after, so that a page of a large bank costs little more than one of a small bank.

use std::collections::{BTreeSet, HashMap, HashSet};

use arrow_array::RecordBatch;
use jiff::Timestamp;
use lancedb::Table;
use lancedb::expr::{DfExpr, col, lit};
use reasoning_bank_actors::ports::{Held, HistoryFilter, HistoryOf, JobFilter, MemoryFilter, Page, StoreError};
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use serde::de::DeserializeOwned;

use crate::lance::errors::failed;
use crate::lance::tables::read::{record, select, select_these};
use crate::lance::tables::{Tables, filter, rows};

pub(in crate::lance) async fn memories(
    tables: &Tables,
    filter: &MemoryFilter,
    page: &Page,
) -> Result<Vec<Memory>, StoreError> {
    let MemoryFilter { workspace, status, scope, patterns_only, conditions } = filter;
    let given = filter::all([
        workspace.as_ref().map(of_workspace),
        status.map(|status| filter::equals("status", status.as_str())),
        scope.map(|scope| filter::equals("scope", scope.as_str())),
        patterns_only.then(|| col("stage").is_not_null()),
    ]);
    match filter::holding(conditions) {
        None => page_of(&tables.memories, given, page).await,
        Some(holding) => matching(tables, filter::all([given, Some(holding)]), page).await,
    }
}

/// Reads a page of the records of one workspace, or of all.
pub(in crate::lance) async fn records<T: DeserializeOwned>(
    table: &Table,
    workspace: Option<&WorkspaceId>,
    page: &Page,
) -> Result<Vec<T>, StoreError> {
    page_of(table, workspace.map(of_workspace), page).await
}

pub(in crate::lance) async fn signals_about(
    signals: &Table,
    memories: &[MemoryId],
    page: &Page,
) -> Result<Vec<Signal>, StoreError> {
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let about = filter::one_of("memory_id", memories.iter().map(MemoryId::to_string));
    page_of(signals, Some(about), page).await
}

pub(in crate::lance) async fn held(tables: &Tables, workspace: &WorkspaceId) -> Result<Held, StoreError> {
    let count = async |table| {
        let found = select(table, Some(of_workspace(workspace)), &["id"]).await?;
        Ok::<_, StoreError>(found.iter().map(RecordBatch::num_rows).sum::<usize>() as u64)
    };
    let (memories, traces, signals, jobs) =
        tokio::try_join!(count(&tables.memories), count(&tables.traces), count(&tables.signals), count(&tables.jobs))?;
    Ok(Held { memories, traces, signals, jobs })
}

pub(in crate::lance) async fn jobs(jobs: &Table, filter: &JobFilter, page: &Page) -> Result<Vec<Job>, StoreError> {
    let JobFilter { workspace, state, due } = filter;
    let condition = filter::all([
        workspace.as_ref().map(of_workspace),
        state.map(|state| filter::equals("state", state.as_str())),
        due.map(|due| col("due").lt_eq(lit(due.as_microsecond()))),
    ]);
    page_of(jobs, condition, page).await
}

pub(in crate::lance) async fn history(
    history: &Table,
    filter: &HistoryFilter,
    page: &Page,
) -> Result<Vec<HistoryEntry>, StoreError> {
    let of = match filter.of {
        // the record of a run is about the run
        HistoryOf::Runs => filter::of_runs(),
        HistoryOf::Run(run) => filter::equals("run", run.to_string()),
        HistoryOf::Memory(memory) => filter::equals("object", memory.to_string()),
    };
    page_of(history, Some(of_workspace(&filter.workspace).and(of)), page).await
}

/// Finds the job that has been due longest, by its short columns: one body is read, however many jobs wait. Returns
/// `None` where none is due.
pub(in crate::lance) async fn next_job(jobs: &Table, now: Timestamp) -> Result<Option<Job>, StoreError> {
    let is_due = col("due").lt_eq(lit(now.as_microsecond()));
    let queued = filter::equals("state", JobState::Queued.as_str()).and(is_due);
    let found = select(jobs, Some(queued), &["id", "due", "created"]).await?;
    let times = rows::time_column(&found, "due").zip(rows::time_column(&found, "created"));
    let first = times.zip(rows::text_column(&found, "id")).min();
    match first {
        Some((_, id)) => record(jobs, id, None).await,
        None => Ok(None),
    }
}

fn of_workspace(id: &WorkspaceId) -> DfExpr {
    filter::equals("workspace", id.as_str())
}

/// Returns the condition for what the pages before did not have; `None` for the first page.
fn beyond(page: &Page, id: &str) -> Option<DfExpr> {
    let after = lit(page.after?.to_string());
    Some(if page.newest_first { col(id).lt(after) } else { col(id).gt(after) })
}

/// Reads a page of memories, chosen by what their passages know of them.
async fn matching(tables: &Tables, condition: Option<DfExpr>, page: &Page) -> Result<Vec<Memory>, StoreError> {
    let condition = filter::all([condition, beyond(page, "memory_id")]);
    let found = select(&tables.passages, condition, &["memory_id"]).await?;
    let distinct: BTreeSet<&str> = rows::text_column(&found, "memory_id").collect();
    let ids = cut(distinct.into_iter(), page);
    in_order(&select_these(&tables.memories, "id", ids.clone(), &["id", "body"]).await?, &ids)
}

async fn page_of<T: DeserializeOwned>(
    table: &Table,
    condition: Option<DfExpr>,
    page: &Page,
) -> Result<Vec<T>, StoreError> {
    let found = select(table, filter::all([condition.clone(), beyond(page, "id")]), &["id"]).await?;
    let ids = cut(rows::text_column(&found, "id"), page);
    let (Some(lowest), Some(highest)) = (ids.iter().min(), ids.iter().max()) else { return Ok(Vec::new()) };
    // a range is compared faster than a list of ids
    let between = col("id").gt_eq(lit(lowest.clone())).and(col("id").lt_eq(lit(highest.clone())));
    let found = select(table, filter::all([condition, Some(between)]), &["id", "body"]).await?;
    in_order(&found, &ids)
}

/// Returns the ids of the page, in its order.
fn cut<'a>(ids: impl Iterator<Item = &'a str>, page: &Page) -> Vec<String> {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    if page.newest_first {
        ids.reverse();
    }
    ids.into_iter().take(page.limit).map(str::to_owned).collect()
}

/// Decodes the records with these ids, in this order; those that are gone meanwhile are left out.
fn in_order<T: DeserializeOwned>(found: &[RecordBatch], ids: &[String]) -> Result<Vec<T>, StoreError> {
    let bodies = rows::text_column(found, "id").zip(rows::text_column(found, "body"));
    let bodies: HashMap<&str, &str> = bodies.collect();
    let asked = ids.iter().filter_map(|id| bodies.get(id.as_str()));
    asked.map(|body| serde_json::from_str(body).map_err(failed)).collect()
}

/// Reads a page of the memories that came from these sources, in one pass, however many sources are asked for.
pub(in crate::lance) async fn derived_from(
    memories: &Table,
    sources: &[MemoryId],
    page: &Page,
) -> Result<Vec<Memory>, StoreError> {
    let sources: HashSet<String> = sources.iter().map(MemoryId::to_string).collect();
    let found = with_sources(memories, page).await?;
    let derived = sources_of(&found).filter(|(_, of)| of.iter().any(|source| sources.contains(*source)));
    let ids = cut(derived.map(|(id, _)| id), page);
    in_order(&select_these(memories, "id", ids.clone(), &["id", "body"]).await?, &ids)
}

pub(in crate::lance) async fn lineage(
    memories: &Table,
    page: &Page,
) -> Result<Vec<(MemoryId, Vec<MemoryId>)>, StoreError> {
    let found = with_sources(memories, page).await?;
    let mut edges: Vec<(&str, BTreeSet<&str>)> = sources_of(&found).collect();
    edges.sort_unstable_by_key(|(id, _)| *id);
    if page.newest_first {
        edges.reverse();
    }
    let parse = |id: &str| id.parse::<MemoryId>().map_err(failed);
    let parsed =
        |(id, of): (&str, BTreeSet<&str>)| Ok((parse(id)?, of.into_iter().map(parse).collect::<Result<_, _>>()?));
    edges.into_iter().take(page.limit).map(parsed).collect()
}

/// Finds the memories beyond the last page that came from others. It reads their ids and sources, not their bodies.
async fn with_sources(memories: &Table, page: &Page) -> Result<Vec<RecordBatch>, StoreError> {
    let no_source = rows::list_text::<MemoryId>([]);
    let has_source = col("parent").is_not_null().or(col("derived_from").not_eq(lit(no_source)));
    select(memories, filter::all([Some(has_source), beyond(page, "id")]), &["id", "parent", "derived_from"]).await
}

/// Returns each memory with its parent and its other sources.
fn sources_of(found: &[RecordBatch]) -> impl Iterator<Item = (&str, BTreeSet<&str>)> {
    let parents = rows::text_column(found, "parent").map(|parent| Some(parent).filter(|parent| !parent.is_empty()));
    let sources = parents.zip(rows::text_column(found, "derived_from"));
    let sources = sources.map(|(parent, listed)| parent.into_iter().chain(rows::listed_ids(listed)).collect());
    rows::text_column(found, "id").zip(sources)
}
