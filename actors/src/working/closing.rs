//! Closing a task: its end is written into its log, its episode is stored under its id, and its log is removed, in this
//! order. Wherever a process ends in between, whoever meets the task next goes on from there, and there is one episode.

use std::time::Duration;

use reasoning_bank_domain::episode::RecordedEpisode;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Execution;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::working::{TaskEnd, WorkingMemory};

use super::actor::{SharedTask, TaskKey, WorkingMsg};
use super::{WorkingHandle, WorkingTask};
use crate::episodes::RecordEpisode;
use crate::error::Error;
use crate::file_io::{blocking, unusable};
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// The time limit for closing one task in the background.
const LIMIT: Duration = Duration::from_secs(60);

/// A task that was closed.
#[derive(Debug, Clone, PartialEq)]
pub struct EndedTask {
    pub recorded: RecordedEpisode,
    /// The work that was done, as the episode tells it.
    pub execution: Execution,
}

impl WorkingHandle {
    /// Closes a task. Its episode has its id. A task that was being closed when a process ended keeps the end that was
    /// named then.
    pub async fn close(&self, task: &WorkingTask, mut end: TaskEnd, deadline: Deadline) -> Result<EndedTask, Error> {
        end.scrub();
        let (held, _) = self.get(task, deadline).await?;
        self.finish(&task.key(), held, end, deadline).await
    }

    /// Closes the tasks of all owners that nobody touched for long and no other process has. One that cannot be closed
    /// is left for the next time.
    pub(super) async fn close_untouched(&self) {
        let (logs, now) = (self.logs.clone(), self.clock.now());
        let Some(since) = WorkingMemory::untouched_since(now) else { return };
        let listed = blocking(Deadline::after(LIMIT), move || logs.unwritten_since(since).map_err(unusable)).await;
        let listed = listed.unwrap_or_else(|error| {
            tracing::warn!(%error, "tasks that nobody touches any more cannot be listed");
            Vec::new()
        });
        for key in listed {
            match self.close_if_untouched(&key, Deadline::after(LIMIT)).await {
                Ok(false) | Err(Error::TaskInUse(_) | Error::NotFound(_)) => {}
                Ok(true) => tracing::info!(task = %key.1, "a task that nobody touched for long is closed"),
                Err(error) => tracing::warn!(%error, "a task that nobody touched for long could not be closed"),
            }
        }
    }

    async fn close_if_untouched(&self, key: &TaskKey, deadline: Deadline) -> Result<bool, Error> {
        let (held, is_new) = self.get_of_anyone(key, deadline).await?;
        let is_over = {
            let held = held.lock().await;
            held.memory().end().is_some() || held.memory().is_untouched(self.clock.now())
        };
        if !is_over {
            drop(held);
            self.release_if(is_new, key, deadline).await?;
            return Ok(false);
        }
        if let Err(error) = self.finish(key, held, TaskEnd::unknown(), deadline).await {
            self.release_if(is_new, key, deadline).await?;
            return Err(error);
        }
        Ok(true)
    }

    /// Closes a task that this process has. Others wait for its lock meanwhile, and are told that it is closed.
    pub(super) async fn finish(
        &self,
        key: &TaskKey,
        held: SharedTask,
        end: TaskEnd,
        deadline: Deadline,
    ) -> Result<EndedTask, Error> {
        let now = self.clock.now();
        let locked = tokio::time::timeout_at(deadline.instant(), held.lock_owned()).await;
        let mut locked = locked.map_err(|_| Error::DeadlineExceeded)?;
        let (mut locked, end, episode) = blocking(deadline, move || {
            let end = locked.close(end, now)?;
            let episode = locked.memory().episode(&end, now);
            Ok((locked, end, episode))
        })
        .await?;
        let execution = episode.execution.clone();
        let request = RecordEpisode { episode, workspace: WorkspaceRef::Id(key.0.clone()), session: end.session };
        let recorded = self.episodes.record_as(TraceId::from(key.1.uuid()), request, deadline).await?;
        blocking(deadline, move || locked.remove_log()).await?;
        self.ask(key, |key, reply| WorkingMsg::Closed { key, reply }, deadline).await?;
        Ok(EndedTask { recorded, execution })
    }
}
