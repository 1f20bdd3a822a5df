//! The writer of an instance is a task of its own, which commits batch after batch as long as something waits. What
//! waits becomes one batch once the write lock is had, so waiting makes batches larger and a crowd of small writes
//! cheap. A caller that goes away leaves no half commit behind. The parts of a commit are in `commit/`.

use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_actors::ports::{Batch, Committed, ReadOnlyCause, StoreError};
use reasoning_bank_actors::runtime::Deadline;

use super::commit::apply::WritePlan;
use super::commit::bulk;
use super::commit::frames::Frame;
use super::commit::resolve::{self, CommitResult};
use super::commit::write_lock::WriteGuard;
use super::errors::{before_deadline, to_answer};
use super::repair::pending::finish_pending;
use super::shared::SharedStore;
use super::tables::rows;
use super::threads::blocking;
use super::upkeep;

/// The pause of the writer between two batches. In it other processes, which retry every millisecond, get their turn.
const TURN: Duration = Duration::from_millis(2);

/// Puts a batch into the queue and waits for what comes of it.
pub(super) async fn commit(
    shared: &Arc<SharedStore>,
    batch: Batch,
    deadline: Deadline,
) -> Result<Committed, StoreError> {
    if batch.is_empty() {
        return Ok(Committed::default());
    }
    // a batch that is refused here spoils no other commit of the same frame
    rows::check(&batch, shared.dims)?;
    before_deadline(deadline, async {
        let place = shared.queue.place().await?;
        let (batch, plan) = bulk::planned(batch, shared.dims).await?;
        let (result, must_serve) = shared.queue.push(batch, plan, to_answer(deadline), place);
        if must_serve {
            tokio::spawn(serve(Arc::clone(shared)));
        }
        result.await.unwrap_or(Err(StoreError::TimedOut))
    })
    .await
}

/// Commits batch after batch until nothing waits.
async fn serve(shared: Arc<SharedStore>) {
    while let Some(deadline) = shared.queue.last_deadline() {
        match shared.lock.acquire_in_turn(deadline).await {
            Err(why @ (StoreError::TimedOut | StoreError::ReadOnly(ReadOnlyCause::LockHeld))) => {
                shared.queue.time_out(&why)
            }
            Err(error) => shared.queue.fail_all(&error),
            Ok(guard) => {
                let commit = tokio::spawn(commit_waiting(Arc::clone(&shared), guard));
                // a panic below is the failure of that batch: its callers hear of it because their channels close
                if let Err(error) = commit.await {
                    tracing::error!(%error, "a commit broke off");
                }
                shared.resident.committed.notify_one();
                upkeep::after_commit(&shared);
            }
        }
        tokio::time::sleep(TURN).await;
    }
}

/// Commits what waits as one batch, answers the callers, and takes a checkpoint where one is due.
async fn commit_waiting(shared: Arc<SharedStore>, guard: WriteGuard) {
    let mut waiting = shared.queue.take();
    let batches: Vec<Batch> = waiting.iter_mut().map(|waiting| std::mem::take(&mut waiting.batch)).collect();
    let plan = if let [alone] = &mut *waiting { alone.plan.take() } else { None };
    match write(&shared, &guard, batches, plan).await {
        Ok(answers) => {
            for (waiting, answer) in waiting.into_iter().zip(answers) {
                waiting.answer(answer);
            }
        }
        Err(error) => {
            tracing::warn!(%error, "a commit failed");
            // its frame may not be in the tables yet, so the journal stays
            return waiting.into_iter().for_each(|waiting| waiting.answer(Err(error.clone())));
        }
    }
    if shared.checkpoints.are_due()
        && let Err(error) = shared.checkpoints.take(&guard).await
    {
        tracing::warn!(%error, "a checkpoint failed; the journal stays");
    }
}

/// Writes the batches. `plan` is the plan for all of them, where there is one already.
async fn write(
    shared: &SharedStore,
    guard: &WriteGuard,
    batches: Vec<Batch>,
    plan: Option<WritePlan>,
) -> Result<Vec<CommitResult>, StoreError> {
    let erasures = finish_pending(shared, guard).await?;
    let asked: usize = batches.iter().map(Vec::len).sum();
    let (answers, batch) = resolve::resolve(&shared.tables, batches).await?;
    if batch.is_empty() {
        return Ok(answers);
    }
    let dims = shared.dims;
    if bulk::is_worth_it(&batch) {
        let plan = match plan.filter(|_| batch.len() == asked) {
            Some(plan) => plan,
            None => blocking(move || WritePlan::new(&batch, dims)).await??,
        };
        shared.upkeep.make_way();
        let SharedStore { layout, tables, checkpoints, resident, .. } = shared;
        bulk::apply(layout, tables, &resident.recent, checkpoints, guard, plan).await?;
        shared.upkeep.make_way();
        return Ok(answers);
    }
    let (plan, frame) = blocking(move || -> Result<_, StoreError> {
        let plan = WritePlan::new(&batch, dims)?;
        Ok((plan, Frame { erasures: erasures.count, batch }.encode()?))
    })
    .await??;
    guard.begin(&shared.journal.name(&shared.layout).await?)?;
    shared.journal.append(frame).await?;
    let written = plan.write(&shared.tables, &shared.resident.recent).await?;
    guard.note_versions(&written.before(&shared.tables).await?)?;
    written.publish(&shared.tables).await?;
    guard.finish()?;
    Ok(answers)
}
