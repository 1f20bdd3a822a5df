//! The queue of commits that wait for the write lock. What waits together becomes one batch.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reasoning_bank_actors::ports::{Batch, StoreError};
use reasoning_bank_actors::runtime::Deadline;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::apply::WritePlan;
use super::resolve::CommitResult;
use crate::lance::errors::failed;

/// The largest number of commits that wait. Further callers wait for a place until their deadlines.
const WAITING: usize = 1024;
/// The largest number of records in a batch, unless a single commit has more.
const BATCH_RECORDS: usize = 2048;

/// The commits that wait, and whether a task takes them out.
pub(in crate::lance) struct Queue {
    places: Arc<Semaphore>,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<WaitingCommit>,
    /// True while a task is at work that will take what is put into `waiting`.
    served: bool,
}

/// A commit that waits, and the channel to its caller.
pub(in crate::lance) struct WaitingCommit {
    pub(in crate::lance) batch: Batch,
    /// The plan for all of the batch, where the batch is large. It is made while others write.
    pub(in crate::lance) plan: Option<WritePlan>,
    deadline: Deadline,
    reply: oneshot::Sender<CommitResult>,
    _place: OwnedSemaphorePermit,
}

impl WaitingCommit {
    pub(in crate::lance) fn answer(self, result: CommitResult) {
        // a caller that went away does not want the result
        let _ = self.reply.send(result);
    }
}

/// The right to wait in the queue.
pub(in crate::lance) struct QueuePlace(OwnedSemaphorePermit);

impl Default for Queue {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(WAITING)), state: Mutex::default() }
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether no commit waits or is under way.
    pub(in crate::lance) fn is_idle(&self) -> bool {
        !self.state().served
    }

    /// Waits until there is a place in the queue.
    pub(in crate::lance) async fn place(&self) -> Result<QueuePlace, StoreError> {
        Arc::clone(&self.places).acquire_owned().await.map(QueuePlace).map_err(failed)
    }

    /// Puts a commit into the queue. Its result comes through the channel; the flag says whether the caller must start
    /// a task that serves the queue.
    pub(in crate::lance) fn push(
        &self,
        batch: Batch,
        plan: Option<WritePlan>,
        deadline: Deadline,
        place: QueuePlace,
    ) -> (oneshot::Receiver<CommitResult>, bool) {
        let (reply, result) = oneshot::channel();
        let mut state = self.state();
        state.waiting.push_back(WaitingCommit { batch, plan, deadline, reply, _place: place.0 });
        (result, !std::mem::replace(&mut state.served, true))
    }

    /// Returns the last deadline of the commits that wait, which is how long it is worth to wait for the lock. Where
    /// none waits, it returns `None`, and the queue is no longer served.
    pub(in crate::lance) fn last_deadline(&self) -> Option<Deadline> {
        let mut state = self.state();
        let last = state.waiting.iter().map(|waiting| waiting.deadline).max();
        state.served = last.is_some();
        last
    }

    /// Takes the next batch: commits that somebody still waits for.
    pub(in crate::lance) fn take(&self) -> Vec<WaitingCommit> {
        let mut state = self.state();
        let mut taken: Vec<WaitingCommit> = Vec::new();
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

    /// Fails the commits whose time is over. Those that came while others ran out of time have time left and stay.
    pub(in crate::lance) fn time_out(&self, why: &StoreError) {
        let mut state = self.state();
        let waiting = std::mem::take(&mut state.waiting).into_iter();
        let (late, in_time) = waiting.partition::<VecDeque<_>, _>(|waiting| waiting.deadline.passed());
        state.waiting = in_time;
        drop(state);
        late.into_iter().for_each(|waiting| waiting.answer(Err(why.clone())));
    }

    /// Fails all commits that wait.
    pub(in crate::lance) fn fail_all(&self, error: &StoreError) {
        let waiting = std::mem::take(&mut self.state().waiting);
        waiting.into_iter().for_each(|waiting| waiting.answer(Err(error.clone())));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reasoning_bank_actors::ports::ReadOnlyCause;

    use super::*;

    #[tokio::test]
    async fn only_those_whose_time_is_over_are_told_so_when_the_lock_was_not_had() {
        let queue = Queue::default();
        let places = (queue.place().await.unwrap(), queue.place().await.unwrap());
        let push = |timeout, place| queue.push(Batch::new(), None, Deadline::after(timeout), place).0;
        let (mut late, mut in_time) = (push(Duration::ZERO, places.0), push(Duration::from_secs(60), places.1));
        let held = StoreError::ReadOnly(ReadOnlyCause::LockHeld);
        queue.time_out(&held);
        assert_eq!(late.try_recv().unwrap(), Err(held));
        assert_eq!(in_time.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        assert!(queue.last_deadline().is_some());
    }
}
