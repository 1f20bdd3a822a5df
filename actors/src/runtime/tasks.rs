//! Work that a handler starts and does not wait for, because handlers never await network or disk. The set lives in the
//! actor's state, so it ends with the actor, killed or not. The gate in front of the actor bounds how many run at once.
//! Work runs in the span it was started in.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt;
use ractor::{ActorRef, Message};
use tokio::task::JoinSet;
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::Deadline;

/// The work panicked, with this message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the work panicked: {0}")]
pub struct Panicked(pub String);

pub struct Tasks {
    owner: &'static str,
    running: JoinSet<()>,
    panicked: Arc<AtomicU64>,
}

impl Tasks {
    /// Makes an empty set. `owner` names the actor in the log.
    pub fn new(owner: &'static str) -> Self {
        Self { owner, running: JoinSet::new(), panicked: Arc::default() }
    }

    /// Starts `work` and does not wait for it. A panic is logged and counted when it happens. It drops a reply port
    /// inside `work`, so the caller there is answered.
    pub fn spawn(&mut self, work: impl Future<Output = ()> + Send + 'static) {
        while self.running.try_join_next().is_some() {}
        // The work of a handler may be large. It would be copied again and again on the stack on the way to the
        // runtime.
        let reported = caught(self.owner, Arc::clone(&self.panicked), work.boxed());
        let reported = async move {
            let _ = reported.await;
        };
        self.running.spawn(reported.in_current_span());
    }

    /// Starts `work` as [`Tasks::spawn`] does, and drops it at its await point when `cancel` fires.
    pub fn spawn_until(&mut self, cancel: CancellationToken, work: impl Future<Output = ()> + Send + 'static) {
        self.spawn(async move {
            let _ = cancel.run_until_cancelled_owned(work).await;
        });
    }

    /// Starts `work` as [`Tasks::spawn`] does. Its outcome, a panic included, comes back to the actor as a message. An
    /// actor that is draining takes none any more, so whoever waits for the work is answered from within it.
    pub fn pipe<T: Send + 'static, M: Message>(
        &mut self,
        to: &ActorRef<M>,
        work: impl Future<Output = T> + Send + 'static,
        wrap: impl FnOnce(Result<T, Panicked>) -> M + Send + 'static,
    ) {
        let to = to.clone();
        let caught = caught(self.owner, Arc::clone(&self.panicked), work.boxed());
        self.spawn(async move {
            let _ = to.send_message(wrap(caught.await));
        });
    }

    /// Counts the pieces of work that have not ended.
    pub fn running(&mut self) -> usize {
        while self.running.try_join_next().is_some() {}
        self.running.len()
    }

    pub fn panicked(&self) -> u64 {
        self.panicked.load(Ordering::Relaxed)
    }

    /// Waits for the work until the deadline, and then aborts the rest. It is for `post_stop`, because draining an
    /// actor waits for its messages and not for what they started. Returns how many pieces of work had to be aborted.
    pub async fn finish(&mut self, deadline: Deadline) -> usize {
        let all_ended = async { while self.running.join_next().await.is_some() {} };
        if timeout_at(deadline.instant(), all_ended).await.is_ok() {
            return 0;
        }
        let unfinished = self.running();
        self.running.shutdown().await;
        unfinished
    }
}

async fn caught<T>(owner: &'static str, count: Arc<AtomicU64>, work: impl Future<Output = T>) -> Result<T, Panicked> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|payload| {
        count.fetch_add(1, Ordering::Relaxed);
        let panicked = Panicked(message_of(payload.as_ref()));
        tracing::error!(owner, error = %panicked, "work of an actor panicked");
        panicked
    })
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
