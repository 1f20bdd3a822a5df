//! WorkingActor knows which working memories this process has at hand. `domain::working` says what one is and does.
//! Every operation is in the log of its task before it is answered, so a task outlives its process, and a memory that
//! is not used for long can be dropped: its log makes it again. A log belongs to one process at a time.
//!
//! `loaded_task` is a task with its log, `actor` has the tasks at hand and sees to it that their logs get to the disk,
//! `closing` makes an episode of a task and removes its log, and `following` reads the task of a session from its
//! transcript.

mod actor;
mod closing;
mod following;
mod loaded_task;

use std::sync::Arc;

use jiff::Timestamp;
use ractor::RpcReplyPort;
use reasoning_bank_domain::memory::ids::{KeyedRequestId, WorkingId};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::system::restart::Restart;
use reasoning_bank_domain::working::{Operation, WorkingChange, WorkingInvalid, WorkingMemory};
use tokio::sync::Mutex;
use uuid::Uuid;

use self::actor::{SharedTask, TaskKey, WorkingActor, WorkingArgs, WorkingMsg};
use self::loaded_task::LoadedTask;
use crate::episodes::EpisodesHandle;
use crate::error::Error;
use crate::file_io::{blocking, unusable};
use crate::ports::{Clock, WorkingLogs};
use crate::runtime::{ChildSpec, Deadline, Gate, Slot};

pub use closing::EndedTask;

/// The most requests for tasks that the actor lets in.
const GATE: usize = 1_024;

/// The owner of the tasks of this machine's user, over all sessions.
pub const LOCAL_OWNER: &str = "local";

/// The task that a request is about. Whoever is not its owner is told that there is none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WorkingTask {
    pub workspace: WorkspaceId,
    pub owner: String,
    pub id: WorkingId,
}

/// A task whose log is there.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTask {
    pub id: WorkingId,
    pub memory: WorkingMemory,
    /// Another process has it open: it is shown as its log is now, and only that process can change it.
    pub is_elsewhere: bool,
}

#[derive(Clone)]
pub struct WorkingHandle {
    slot: Slot<WorkingMsg>,
    gate: Gate,
    logs: Arc<dyn WorkingLogs>,
    episodes: EpisodesHandle,
    clock: Clock,
    /// The request of a client that this handle carries out, where it has a key.
    request: Option<KeyedRequestId>,
}

impl WorkingHandle {
    pub(crate) fn new(logs: Arc<dyn WorkingLogs>, episodes: EpisodesHandle, clock: Clock) -> Self {
        Self { slot: Slot::new(), gate: Gate::new(GATE), logs, episodes, clock, request: None }
    }

    /// Makes a handle whose task or operations are stored with this request. The same request again begins no other
    /// task, and carries out none of them.
    pub fn carrying_out(&self, request: KeyedRequestId) -> Self {
        Self { request: Some(request), ..self.clone() }
    }

    /// Describes the actor. With `closes_untouched` it closes the tasks that nobody touches any more.
    pub(crate) fn child(&self, closes_untouched: bool) -> ChildSpec {
        let handle = self.clone();
        let arguments = move || WorkingArgs {
            logs: Arc::clone(&handle.logs),
            closes_untouched: closes_untouched.then(|| handle.clone()),
        };
        ChildSpec::actor("working", Restart::Permanent, &self.slot, move || (WorkingActor, arguments()))
            .behind(&self.gate)
    }

    /// Checks the first operation of a task that is to begin, scrubbed of secrets, so that no task is begun for
    /// nothing.
    pub fn checked(&self, mut first: Operation) -> Result<Operation, Error> {
        first.scrub();
        WorkingMemory::check_new(&first, self.clock.now())?;
        Ok(first)
    }

    /// Begins a task. `system` is what is always true of the agent.
    pub async fn begin(
        &self,
        workspace: WorkspaceId,
        owner: String,
        mut system: String,
        deadline: Deadline,
    ) -> Result<WorkingTask, Error> {
        system.scrub();
        let id = self.request.map_or_else(|| Uuid::now_v7().into(), WorkingId::begun_by);
        let task = WorkingTask { workspace, owner, id };
        if self.request.is_none() || !self.is_there(&task, deadline).await? {
            self.create(&task, system, deadline).await?;
        }
        Ok(task)
    }

    async fn is_there(&self, task: &WorkingTask, deadline: Deadline) -> Result<bool, Error> {
        match self.get(task, deadline).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes the log of a task that is not there.
    async fn create(&self, task: &WorkingTask, system: String, deadline: Deadline) -> Result<SharedTask, Error> {
        let (logs, at, begun) = (Arc::clone(&self.logs), self.clock.now(), task.clone());
        let held = blocking(deadline, move || {
            let log = logs.create(&begun.workspace, begun.id).map_err(unusable)?;
            LoadedTask::begin(log, begun.owner, system, at)
        });
        let held = Arc::new(Mutex::new(held.await?));
        let kept = Arc::clone(&held);
        self.ask(&task.key(), |key, reply| WorkingMsg::Begun { key, held: kept, reply }, deadline).await?;
        Ok(held)
    }

    /// Carries out operations, and reads the memory afterwards. Each is scrubbed of secrets.
    ///
    /// # Errors
    /// There is no such task, another process has it, or an operation is not possible, and then none is carried out.
    pub async fn apply<T: Send + 'static>(
        &self,
        task: &WorkingTask,
        mut operations: Vec<Operation>,
        deadline: Deadline,
        read: impl FnOnce(&WorkingMemory, WorkingChange) -> T + Send + 'static,
    ) -> Result<T, Error> {
        operations.iter_mut().for_each(|operation| {
            operation.scrub();
        });
        let (held, at, slot) = (self.open_task(task, deadline).await?.0, self.clock.now(), self.slot.clone());
        let request = self.request;
        blocking(deadline, move || {
            let mut locked = held.blocking_lock();
            let was_synced = locked.is_synced();
            let applied = locked.apply_all(operations, request, at);
            if was_synced && !locked.is_synced() {
                // A task whose actor is gone goes as well, and syncs its log then.
                let _ = slot.cast(WorkingMsg::Unsynced(Arc::clone(&held)));
            }
            Ok(read(locked.memory(), applied?))
        })
        .await
    }

    /// Counts the tasks of all workspaces and owners that are not closed.
    pub(crate) async fn count(&self, deadline: Deadline) -> Result<u64, Error> {
        let logs = Arc::clone(&self.logs);
        let all = blocking(deadline, move || logs.unwritten_since(Timestamp::MAX).map_err(unusable)).await?;
        Ok(all.len() as u64)
    }

    /// Lists the tasks of an owner that can be worked on here, the one touched last first.
    pub async fn list(
        &self,
        workspace: &WorkspaceId,
        owner: &str,
        deadline: Deadline,
    ) -> Result<Vec<ListedTask>, Error> {
        self.listed(workspace, owner, false, deadline).await
    }

    /// Lists the tasks of an owner that are not closed, with those that another process has open, the one touched last
    /// first. One of another process whose log cannot be read is left out.
    pub async fn list_all(
        &self,
        workspace: &WorkspaceId,
        owner: &str,
        deadline: Deadline,
    ) -> Result<Vec<ListedTask>, Error> {
        self.listed(workspace, owner, true, deadline).await
    }

    /// Lists the tasks of an owner. The logs of other processes are read only where their tasks are shown.
    async fn listed(
        &self,
        workspace: &WorkspaceId,
        owner: &str,
        shows_elsewhere: bool,
        deadline: Deadline,
    ) -> Result<Vec<ListedTask>, Error> {
        let (logs, of) = (Arc::clone(&self.logs), workspace.clone());
        let ids = blocking(deadline, move || logs.list(&of).map_err(unusable)).await?;
        let mut listed = Vec::new();
        for id in ids {
            let task = WorkingTask { workspace: workspace.clone(), owner: owner.to_owned(), id };
            let (held, is_new) = match self.get(&task, deadline).await {
                Ok(found) => found,
                Err(Error::NotFound(_)) => continue,
                Err(Error::TaskInUse(_)) if shows_elsewhere => {
                    match self.listed_elsewhere(&task, deadline).await {
                        Ok(elsewhere) => listed.extend(elsewhere),
                        Err(error) => tracing::warn!(%error, task = %id, "a task of another process is not listed"),
                    }
                    continue;
                }
                Err(Error::TaskInUse(_)) => continue,
                // A deadline that is over concerns all of them, and a log that cannot be read concerns one.
                Err(error) if deadline.passed() => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, task = %id, "a task whose log cannot be read is not listed");
                    continue;
                }
            };
            let memory = held.lock().await.memory().clone();
            if let Some(end) = memory.end().cloned() {
                // It is no open task, whether it can be closed now or not.
                if let Err(error) = self.finish(&task.key(), held, end, deadline).await {
                    tracing::debug!(%error, "a task that was being closed stays as it is");
                }
                continue;
            }
            listed.push(ListedTask { id, memory, is_elsewhere: false });
            drop(held);
            self.release_if(is_new, &task.key(), deadline).await?;
        }
        listed.sort_by_key(|task| std::cmp::Reverse(task.memory.touched_at()));
        Ok(listed)
    }

    /// Reads a task that another process has open. None where it is closed by now, or has another owner.
    async fn listed_elsewhere(&self, task: &WorkingTask, deadline: Deadline) -> Result<Option<ListedTask>, Error> {
        let (logs, (workspace, id)) = (Arc::clone(&self.logs), task.key());
        let read = blocking(deadline, move || match logs.read(&workspace, id).map_err(unusable)? {
            Some(lines) => LoadedTask::read_lines(&lines),
            None => Ok(None),
        });
        let own = read.await?.filter(|read| read.owner == task.owner && read.memory.end().is_none());
        Ok(own.map(|read| ListedTask { id, memory: read.memory, is_elsewhere: true }))
    }

    /// Returns a task that is open, and whether it came from its log just now. One that was being closed when its
    /// process ended is closed.
    async fn open_task(&self, task: &WorkingTask, deadline: Deadline) -> Result<(SharedTask, bool), Error> {
        let (held, is_new) = self.get(task, deadline).await?;
        let end = held.lock().await.memory().end().cloned();
        match end {
            None => Ok((held, is_new)),
            Some(end) => {
                self.finish(&task.key(), held, end, deadline).await?;
                Err(WorkingInvalid::Closed.into())
            }
        }
    }

    /// Returns a task of its owner, open or closed, and whether it came from its log just now.
    async fn get(&self, task: &WorkingTask, deadline: Deadline) -> Result<(SharedTask, bool), Error> {
        let (held, is_new) = self.get_of_anyone(&task.key(), deadline).await?;
        let is_own = held.lock().await.owner() == task.owner;
        if is_own {
            return Ok((held, is_new));
        }
        drop(held);
        self.release_if(is_new, &task.key(), deadline).await?;
        Err(missing(task.id))
    }

    async fn get_of_anyone(&self, key: &TaskKey, deadline: Deadline) -> Result<(SharedTask, bool), Error> {
        let found = self.ask(key, |key, reply| WorkingMsg::Get { key, reply }, deadline).await??;
        found.ok_or_else(|| missing(key.1))
    }

    /// Lets other processes have a task that was only looked at.
    async fn release_if(&self, is_new: bool, key: &TaskKey, deadline: Deadline) -> Result<(), Error> {
        if is_new {
            self.ask(key, |key, reply| WorkingMsg::Release { key, reply }, deadline).await?;
        }
        Ok(())
    }

    /// Asks the actor about a task.
    async fn ask<T: Send + 'static>(
        &self,
        key: &TaskKey,
        make: impl FnOnce(TaskKey, RpcReplyPort<T>) -> WorkingMsg,
        deadline: Deadline,
    ) -> Result<T, Error> {
        let _permit = self.gate.enter()?;
        let key = key.clone();
        Ok(self.slot.call(|reply| make(key, reply), deadline).await?)
    }
}

impl WorkingTask {
    fn key(&self) -> TaskKey {
        (self.workspace.clone(), self.id)
    }
}

fn missing(id: WorkingId) -> Error {
    Error::NotFound(format!("open task {id}; one that was closed is the episode with the same id"))
}

impl From<WorkingInvalid> for Error {
    fn from(invalid: WorkingInvalid) -> Self {
        match invalid {
            WorkingInvalid::Field { field, problem } => Self::invalid(field, problem),
            WorkingInvalid::Full => Self::invalid("task", invalid.to_string()),
            WorkingInvalid::NoReference(reference) => Self::NotFound(reference.to_string()),
            WorkingInvalid::Closed => Self::NotFound("open task with this id; it is closed".into()),
            WorkingInvalid::NoSnapshot(id) => Self::NotFound(format!("snapshot {id}")),
        }
    }
}
