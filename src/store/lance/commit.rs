//! Commits: what waits becomes one batch once the write lock is had, so that waiting makes batches larger and a crowd of
//! small writes cheap. The work is done by a task of its own: a caller that goes away leaves no half commit behind.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reasoning_bank_actors::ports::{Batch, Committed, ReadOnlyCause, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::apply::Plan;
use super::erasures::Erasures;
use super::frames::Frame;
use super::resolve::{self, Answer};
use super::write_lock::WriteGuard;
use super::{Shared, access, blocking, bulk, checkpoint, erase, failed, format, replay, rows, upkeep, within};

/// Commits that wait; further callers wait for a place, to their deadlines.
const WAITING: usize = 1024;
/// Records of one batch, unless a single commit has more.
const BATCH_RECORDS: usize = 2048;
/// Between two batches of a busy process, so that others that retry every millisecond get their turn.
const TURN: Duration = Duration::from_millis(2);

pub(super) struct Queue {
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// A task is at work that will take what is put into `waiting`.
    served: bool,
}

struct Waiting {
    batch: Batch,
    /// Of all of the batch, where it is large: made while others write.
    plan: Option<Plan>,
    deadline: Deadline,
    reply: oneshot::Sender<Result<Committed, StoreError>>,
    _place: OwnedSemaphorePermit,
}

impl Default for Queue {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(WAITING)), state: Mutex::default() }
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no commit waits or is under way.
    pub(super) fn is_idle(&self) -> bool {
        !self.state().served
    }

    /// Whether the caller must start a task to serve it.
    fn push(&self, waiting: Waiting) -> bool {
        let mut state = self.state();
        state.waiting.push_back(waiting);
        !std::mem::replace(&mut state.served, true)
    }

    /// How long it is worth to wait for the lock; `None`, and no longer served, when nothing waits.
    fn patience(&self) -> Option<Deadline> {
        let mut state = self.state();
        let last = state.waiting.iter().map(|waiting| waiting.deadline).max();
        state.served = last.is_some();
        last
    }

    /// The next batch: commits that somebody still waits for.
    fn take(&self) -> Vec<Waiting> {
        let mut state = self.state();
        let mut taken: Vec<Waiting> = Vec::new();
        let mut records = 0;
        while let Some(next) = state.waiting.front() {
            records += next.batch.len();
            if !taken.is_empty() && records > BATCH_RECORDS {
                break;
            }
            let next = state.waiting.pop_front();
            taken.extend(next.filter(|next| !next.reply.is_closed() && !next.deadline.passed()));
        }
        taken
    }

    /// Those that came while others ran out of time have time left.
    fn time_out(&self, why: &StoreError) {
        let mut state = self.state();
        let waiting = std::mem::take(&mut state.waiting).into_iter();
        let (late, in_time) = waiting.partition::<VecDeque<_>, _>(|waiting| waiting.deadline.passed());
        state.waiting = in_time;
        drop(state);
        reply(late, Err(why.clone()));
    }

    fn fail_all(&self, error: &StoreError) {
        let waiting = std::mem::take(&mut self.state().waiting);
        reply(waiting, Err(error.clone()));
    }
}

fn reply(waiting: impl IntoIterator<Item = Waiting>, answer: Result<Committed, StoreError>) {
    for waiting in waiting {
        // a caller that went away does not want it
        let _ = waiting.reply.send(answer.clone());
    }
}

pub(super) async fn commit(shared: &Arc<Shared>, batch: Batch, deadline: Deadline) -> Result<Committed, StoreError> {
    if batch.is_empty() {
        return Ok(Committed::default());
    }
    // refused here, it spoils no other commit of the same batch
    rows::check(&batch, shared.dims)?;
    within(deadline, async {
        let place = Arc::clone(&shared.queue.places).acquire_owned().await.map_err(failed)?;
        let (batch, plan) = bulk::planned(batch, shared.dims).await?;
        let (reply, answer) = oneshot::channel();
        let deadline = access::to_answer(deadline);
        if shared.queue.push(Waiting { batch, plan, deadline, reply, _place: place }) {
            tokio::spawn(serve(Arc::clone(shared)));
        }
        answer.await.unwrap_or(Err(StoreError::TimedOut))
    })
    .await
}

/// Commits batch after batch until nothing waits.
async fn serve(shared: Arc<Shared>) {
    while let Some(deadline) = shared.queue.patience() {
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
                upkeep::after_commit(&shared);
            }
        }
        tokio::time::sleep(TURN).await;
    }
}

async fn commit_waiting(shared: Arc<Shared>, guard: WriteGuard) {
    let mut waiting = shared.queue.take();
    let batches: Vec<Batch> = waiting.iter_mut().map(|waiting| std::mem::take(&mut waiting.batch)).collect();
    let plan = if let [alone] = &mut *waiting { alone.plan.take() } else { None };
    match write(&shared, &guard, batches, plan).await {
        Ok(answers) => {
            for (waiting, answer) in waiting.into_iter().zip(answers) {
                let _ = waiting.reply.send(answer);
            }
        }
        Err(error) => {
            tracing::warn!(%error, "a commit failed");
            // its frame may not be in the tables yet, so the journal stays
            return reply(waiting, Err(error));
        }
    }
    if checkpoint::due(&shared)
        && let Err(error) = checkpoint::checkpoint(&shared, &guard).await
    {
        tracing::warn!(%error, "a checkpoint failed; the journal stays");
    }
}

/// `plan`: for all of the batches.
async fn write(
    shared: &Shared,
    guard: &WriteGuard,
    batches: Vec<Batch>,
    plan: Option<Plan>,
) -> Result<Vec<Answer>, StoreError> {
    let erasures = settle(shared, guard).await?;
    let asked: usize = batches.iter().map(Vec::len).sum();
    let (answers, batch) = resolve::resolve(&shared.tables, batches).await?;
    if batch.is_empty() {
        return Ok(answers);
    }
    let dims = shared.dims;
    if bulk::is_worth_it(&batch) {
        let plan = match plan.filter(|_| batch.len() == asked) {
            Some(plan) => plan,
            None => blocking(move || Plan::new(&batch, dims)).await??,
        };
        return bulk::apply(shared, guard, plan).await.map(|()| answers);
    }
    let (plan, frame) = blocking(move || -> Result<_, StoreError> {
        let plan = Plan::new(&batch, dims)?;
        Ok((plan, Frame { erasures: erasures.count, batch }.encode()?))
    })
    .await??;
    guard.begin(&shared.journal.name(&shared.layout).await?)?;
    shared.journal.append(frame).await?;
    let written = plan.write(&shared.tables).await?;
    guard.publish(&written.before(&shared.tables).await?)?;
    written.publish(&shared.tables).await?;
    guard.finish()?;
    Ok(answers)
}

/// Before anything is written: finishes what the last holder of the write lock began and could not finish.
pub(super) async fn settle(shared: &Shared, guard: &WriteGuard) -> Result<Erasures, StoreError> {
    format::check_again(&shared.layout, &shared.fingerprint).await?;
    bulk::take_back(&shared.layout).await?;
    let unfinished = guard.unfinished()?;
    if let Some(journal) = &unfinished.journal {
        tracing::info!(journal, "finishing a commit that broke off");
        replay::replay(shared, vec![shared.layout.journals().join(journal)]).await?;
    }
    if !unfinished.is_over() {
        guard.finish()?;
    }
    let erasures = Erasures::read(&shared.layout).await?;
    if erasures.pending.is_some() { erase::finish(shared, guard, erasures).await.map(|(_, e)| e) } else { Ok(erasures) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_those_whose_time_is_over_are_told_so_when_the_lock_was_not_had() {
        let queue = Queue::default();
        let push = |patience| {
            let (reply, answer) = oneshot::channel();
            let place = Arc::clone(&queue.places).try_acquire_owned().unwrap();
            let (batch, plan) = (Batch::new(), None);
            queue.push(Waiting { batch, plan, deadline: Deadline::after(patience), reply, _place: place });
            answer
        };
        let (mut late, mut in_time) = (push(Duration::ZERO), push(Duration::from_secs(60)));
        let held = StoreError::ReadOnly(ReadOnlyCause::LockHeld);
        queue.time_out(&held);
        assert_eq!(late.try_recv().unwrap(), Err(held));
        assert_eq!(in_time.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        assert!(queue.patience().is_some());
    }
}
