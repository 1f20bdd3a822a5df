//! Erasing. What is asked for is written down first, under the write lock, and then carried out (`repair/erasure.rs`),
//! so that an erasure that breaks off is finished by whoever writes next.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use reasoning_bank_actors::ports::{EraseScope, Erased, StoreError};
use reasoning_bank_actors::runtime::Deadline;

use super::commit::erasures::Erasures;
use super::commit::write_lock::WriteGuard;
use super::errors::{before_deadline, failed, to_answer};
use super::repair::erasure;
use super::repair::pending::finish_pending;
use super::shared::SharedStore;
use super::tables::{TableName, read, rows};

/// Erases what is in the scope. The work goes on to its end by itself when the deadline passes.
pub(super) async fn erase(
    shared: &Arc<SharedStore>,
    scope: EraseScope,
    deadline: Deadline,
) -> Result<Erased, StoreError> {
    let shared = Arc::clone(shared);
    let work = tokio::spawn(async move {
        let guard = shared.lock.acquire_in_turn(to_answer(deadline)).await?;
        let erasures = finish_pending(&shared, &guard).await?;
        let may_be_of_nothing = matches!(
            scope,
            EraseScope::Traces { .. } | EraseScope::Episodes(_) | EraseScope::Jobs { .. } | EraseScope::Requests { .. }
        );
        if may_be_of_nothing && erasure::nothing_of(shared.tables.each(), &scope).await? {
            return Ok(Erased::default());
        }
        begin(&shared, &guard, erasures, scope).await
    });
    before_deadline(deadline, async { work.await.map_err(failed)? }).await
}

/// Writes the erasure down and carries it out.
async fn begin(
    shared: &SharedStore,
    guard: &WriteGuard,
    mut erasures: Erasures,
    scope: EraseScope,
) -> Result<Erased, StoreError> {
    erasures.count += 1;
    erasures.pending = Some(scope);
    erasures.write(&shared.layout).await?;
    erasure::finish(shared, guard, erasures).await.map(|(erased, _)| erased)
}

/// Erases the jobs of workspaces that a process of an earlier version has erased: it knows nothing of jobs. Where
/// anything else is left of a workspace, the workspace was not erased, and only its registration was lost.
pub(super) async fn finish_for_earlier_versions(shared: &SharedStore, guard: &WriteGuard) -> Result<(), StoreError> {
    let tables = &shared.tables;
    let (jobs, registered) = tokio::try_join!(
        read::select(&tables.jobs, None, &["workspace"]),
        read::select(&tables.workspaces, None, &["id"]),
    )?;
    let registered: HashSet<&str> = rows::text_column(&registered, "id").collect();
    let of_none: BTreeSet<&str> =
        rows::text_column(&jobs, "workspace").filter(|workspace| !registered.contains(workspace)).collect();
    for workspace in of_none {
        let scope = EraseScope::Workspace(workspace.parse().map_err(failed)?);
        let others = tables.each().filter(|(name, _)| *name != TableName::Jobs);
        if erasure::nothing_of(others, &scope).await? {
            let erasures = finish_pending(shared, guard).await?;
            let erased = begin(shared, guard, erasures, scope).await?;
            tracing::info!(
                workspace,
                jobs = erased.jobs,
                "jobs of a workspace that was erased were left; they are gone"
            );
        }
    }
    Ok(())
}
