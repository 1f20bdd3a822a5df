//! WorkingActor knows which working memories this process has at hand. `domain::working` says what one is and does. Every
//! operation is in the log of its task before it is answered, so a task outlives its process, and a memory that is not used
//! for long can be dropped: its log makes it again. A log belongs to one process at a time.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::system::restart::Restart;
use reasoning_bank_domain::working::{Operation, WorkingChange, WorkingInvalid, WorkingMemory};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::error::Error;
use crate::ports::{Clock, OpenedLog, StoreError, WorkingLog, WorkingLogs};
use crate::runtime::{ChildSpec, Deadline, Gate, Slot};

/// The actor lets in at most so many requests for a task.
const GATE: usize = 1_024;
/// This process has at most so many tasks at hand. The one that was not used for longest goes first.
const AT_HAND: usize = 1_024;

/// The owner of the tasks of this machine's user, over all of his sessions.
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
}

#[derive(Clone)]
pub struct WorkingHandle {
    slot: Slot<WorkingMsg>,
    gate: Gate,
    logs: Arc<dyn WorkingLogs>,
    clock: Clock,
}

impl WorkingHandle {
    pub(crate) fn new(logs: Arc<dyn WorkingLogs>, clock: Clock) -> Self {
        Self { slot: Slot::new(), gate: Gate::new(GATE), logs, clock }
    }

    pub(crate) fn child(&self) -> ChildSpec {
        let logs = Arc::clone(&self.logs);
        let arguments = move || WorkingArgs { logs: Arc::clone(&logs) };
        ChildSpec::actor("working", Restart::Permanent, &self.slot, move || (WorkingActor, arguments()))
            .behind(&self.gate)
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
        let task = WorkingTask { workspace, owner, id: Uuid::now_v7().into() };
        let (logs, at, begun) = (Arc::clone(&self.logs), self.clock.now(), task.clone());
        let held = blocking(deadline, move || {
            let head = TaskLogHead { owner: begun.owner, system, at };
            let mut log = logs.create(&begun.workspace, begun.id).map_err(unusable)?;
            append(&mut *log, &head, true)?;
            Ok(HeldTask { owner: head.owner, memory: WorkingMemory::new(&head.system, at), log })
        });
        let held = Arc::new(Mutex::new(held.await?));
        self.ask(&task, |key, reply| WorkingMsg::Begun { key, held, reply }, deadline).await?;
        Ok(task)
    }

    /// Carries out operations up to the first that is not possible, and reads the memory afterwards. Each is scrubbed of
    /// secrets.
    ///
    /// # Errors
    /// There is no such task, another process has it, or an operation is not possible.
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
        let (held, at) = (self.held(task, deadline).await?, self.clock.now());
        blocking(deadline, move || {
            let mut held = held.blocking_lock();
            let mut applied = WorkingChange::default();
            for operation in operations {
                applied.extend(held.apply(operation, at)?);
            }
            Ok(read(&held.memory, applied))
        })
        .await
    }

    /// Ends a task and removes its log, once `keep` has kept of it what is to stay.
    pub async fn close<T>(
        &self,
        task: &WorkingTask,
        keep: impl AsyncFnOnce(&WorkingMemory) -> Result<T, Error>,
        deadline: Deadline,
    ) -> Result<T, Error> {
        let held = self.held(task, deadline).await?;
        let memory = held.lock().await.memory.clone();
        let kept = keep(&memory).await?;
        blocking(deadline, move || held.blocking_lock().log.remove().map_err(unusable)).await?;
        self.ask(task, |key, reply| WorkingMsg::Closed { key, reply }, deadline).await?;
        Ok(kept)
    }

    /// Lists the tasks of an owner that are not closed, the one touched last first. Those that another process has are left
    /// out.
    pub async fn list(
        &self,
        workspace: &WorkspaceId,
        owner: &str,
        deadline: Deadline,
    ) -> Result<Vec<ListedTask>, Error> {
        let (logs, of) = (Arc::clone(&self.logs), workspace.clone());
        let ids = blocking(deadline, move || logs.list(&of).map_err(unusable)).await?;
        let mut listed = Vec::new();
        for id in ids {
            let task = WorkingTask { workspace: workspace.clone(), owner: owner.to_owned(), id };
            match self.get(&task, deadline).await {
                Ok((held, is_new)) => {
                    listed.push(ListedTask { id, memory: held.lock().await.memory.clone() });
                    drop(held);
                    self.release_if(is_new, &task, deadline).await?;
                }
                Err(Error::NotFound(_) | Error::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        listed.sort_by_key(|task| std::cmp::Reverse(task.memory.touched_at()));
        Ok(listed)
    }

    async fn held(&self, task: &WorkingTask, deadline: Deadline) -> Result<SharedTask, Error> {
        Ok(self.get(task, deadline).await?.0)
    }

    /// Returns a task, and whether it came from its log just now.
    async fn get(&self, task: &WorkingTask, deadline: Deadline) -> Result<(SharedTask, bool), Error> {
        let missing = || Error::NotFound(format!("task {}", task.id));
        let found = self.ask(task, |key, reply| WorkingMsg::Get { key, reply }, deadline).await??;
        let (held, is_new) = found.ok_or_else(missing)?;
        let is_own = held.lock().await.owner == task.owner;
        if is_own {
            return Ok((held, is_new));
        }
        drop(held);
        self.release_if(is_new, task, deadline).await?;
        Err(missing())
    }

    /// Lets other processes have a task that was only looked at.
    async fn release_if(&self, is_new: bool, task: &WorkingTask, deadline: Deadline) -> Result<(), Error> {
        if is_new {
            self.ask(task, |key, reply| WorkingMsg::Release { key, reply }, deadline).await?;
        }
        Ok(())
    }

    /// Asks the actor about a task.
    async fn ask<T: Send + 'static>(
        &self,
        task: &WorkingTask,
        make: impl FnOnce(TaskKey, RpcReplyPort<T>) -> WorkingMsg,
        deadline: Deadline,
    ) -> Result<T, Error> {
        let _permit = self.gate.enter()?;
        let key = (task.workspace.clone(), task.id);
        Ok(self.slot.call(|reply| make(key, reply), deadline).await?)
    }
}

/// Runs what reads and writes files before the deadline.
async fn blocking<T: Send + 'static>(
    deadline: Deadline,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let working = tokio::task::spawn_blocking(work);
    match tokio::time::timeout_at(deadline.instant(), working).await {
        Ok(done) => done.map_err(Error::internal)?,
        Err(_) => Err(Error::DeadlineExceeded),
    }
}

fn unusable(error: io::Error) -> Error {
    StoreError::Unusable(error.to_string()).into()
}

/// The first line of a log.
#[derive(Debug, Serialize, Deserialize)]
struct TaskLogHead {
    owner: String,
    system: String,
    at: Timestamp,
}

/// Every other line.
#[derive(Debug, Serialize, Deserialize)]
struct LogLine {
    at: Timestamp,
    #[serde(flatten)]
    operation: Operation,
}

/// A task that this process has at hand.
pub(crate) struct HeldTask {
    owner: String,
    memory: WorkingMemory,
    log: Box<dyn WorkingLog>,
}

impl HeldTask {
    /// Makes the memory again from the lines of its log. None where there is no line, since the task was never answered.
    fn read(log: Box<dyn WorkingLog>, lines: &[String]) -> Result<Option<Self>, Error> {
        let Some((head, operations)) = lines.split_first() else { return Ok(None) };
        let head: TaskLogHead = serde_json::from_str(head).map_err(Error::internal)?;
        let mut memory = WorkingMemory::new(&head.system, head.at);
        for line in operations {
            let LogLine { at, operation } = serde_json::from_str(line).map_err(Error::internal)?;
            memory.apply(&operation, at).map_err(Error::internal)?;
        }
        Ok(Some(Self { owner: head.owner, memory, log }))
    }

    fn apply(&mut self, operation: Operation, at: Timestamp) -> Result<WorkingChange, Error> {
        self.memory.check(&operation)?;
        let sync = operation.is_synced();
        let line = LogLine { at, operation };
        append(&mut *self.log, &line, sync)?;
        Ok(self.memory.apply(&line.operation, at)?)
    }
}

fn append(log: &mut dyn WorkingLog, line: &impl Serialize, sync: bool) -> Result<(), Error> {
    let line = serde_json::to_string(line).map_err(Error::internal)?;
    match log.append(&line, sync).map_err(unusable)? {
        true => Ok(()),
        false => Err(Error::NotFound("task with this id".into())),
    }
}

impl From<WorkingInvalid> for Error {
    fn from(invalid: WorkingInvalid) -> Self {
        match invalid {
            WorkingInvalid::Field { field, problem } => Self::invalid(field, problem),
            WorkingInvalid::Full => Self::invalid("task", invalid.to_string()),
            WorkingInvalid::NoReference(reference) => Self::NotFound(reference.to_string()),
            WorkingInvalid::NoSnapshot(id) => Self::NotFound(format!("snapshot {id}")),
        }
    }
}

type TaskKey = (WorkspaceId, WorkingId);
type SharedTask = Arc<Mutex<HeldTask>>;

pub(crate) enum WorkingMsg {
    Begun {
        key: TaskKey,
        held: SharedTask,
        reply: RpcReplyPort<()>,
    },
    /// The answer also says whether the task came from its log just now.
    Get {
        key: TaskKey,
        reply: RpcReplyPort<Result<Option<(SharedTask, bool)>, Error>>,
    },
    /// Nobody here works on the task: other processes may have it.
    Release {
        key: TaskKey,
        reply: RpcReplyPort<()>,
    },
    Closed {
        key: TaskKey,
        reply: RpcReplyPort<()>,
    },
}

pub(crate) struct WorkingArgs {
    logs: Arc<dyn WorkingLogs>,
}

pub(crate) struct WorkingState {
    logs: Arc<dyn WorkingLogs>,
    /// The tasks at hand, each with the number of its last use.
    at_hand: HashMap<TaskKey, (SharedTask, u64)>,
    uses: u64,
}

pub(crate) struct WorkingActor;

impl Actor for WorkingActor {
    type Msg = WorkingMsg;
    type State = WorkingState;
    type Arguments = WorkingArgs;

    async fn pre_start(&self, _: ActorRef<WorkingMsg>, args: WorkingArgs) -> Result<WorkingState, ActorProcessingErr> {
        Ok(WorkingState { logs: args.logs, at_hand: HashMap::new(), uses: 0 })
    }

    async fn handle(
        &self,
        _: ActorRef<WorkingMsg>,
        message: WorkingMsg,
        state: &mut WorkingState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WorkingMsg::Begun { key, held, reply } => {
                state.keep(key, held);
                let _ = reply.send(());
            }
            WorkingMsg::Get { key, reply } => {
                let held = state.get(key).await;
                let _ = reply.send(held);
            }
            WorkingMsg::Release { key, reply } => {
                if state.at_hand.get(&key).is_some_and(|(held, _)| Arc::strong_count(held) == 1) {
                    state.at_hand.remove(&key);
                }
                let _ = reply.send(());
            }
            WorkingMsg::Closed { key, reply } => {
                state.at_hand.remove(&key);
                let _ = reply.send(());
            }
        }
        Ok(())
    }
}

impl WorkingState {
    /// Returns a task, from its log where it is not at hand. The lock of its log is taken in turn with all others, so that
    /// nobody meets a lock of this process.
    async fn get(&mut self, key: TaskKey) -> Result<Option<(SharedTask, bool)>, Error> {
        self.uses += 1;
        if let Some((held, used)) = self.at_hand.get_mut(&key) {
            *used = self.uses;
            return Ok(Some((Arc::clone(held), false)));
        }
        let (logs, (workspace, id)) = (Arc::clone(&self.logs), key.clone());
        let reading = tokio::task::spawn_blocking(move || match logs.open(&workspace, id).map_err(unusable)? {
            OpenedLog::Opened(log, lines) => HeldTask::read(log, &lines),
            OpenedLog::InUse => Err(Error::Conflict(format!("task {id}"))),
            OpenedLog::Missing => Ok(None),
        });
        let Some(held) = reading.await.map_err(Error::internal)?? else { return Ok(None) };
        let held = Arc::new(Mutex::new(held));
        self.keep(key, Arc::clone(&held));
        Ok(Some((held, true)))
    }

    fn keep(&mut self, key: TaskKey, held: SharedTask) {
        if self.at_hand.len() >= AT_HAND {
            let idle = self.at_hand.iter().filter(|(_, (held, _))| Arc::strong_count(held) == 1);
            let oldest = idle.min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.into_iter().for_each(|key| {
                self.at_hand.remove(&key);
            });
        }
        self.uses += 1;
        self.at_hand.insert(key, (held, self.uses));
    }
}
