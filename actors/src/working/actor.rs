//! The actor of working memory: it has the tasks at hand, opens the logs of others, and sees to it that what was
//! appended gets to the disk.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use reasoning_bank_domain::memory::ids::WorkingId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::WorkingHandle;
use super::loaded_task::LoadedTask;
use crate::error::Error;
use crate::file_io::{Openings, unusable};
use crate::ports::{OpenedLog, WorkingLogs};
use crate::runtime::{Deadline, MessageTimer, Panicked, Tasks};

/// The most tasks that this process has at hand. The one that was not used for longest goes first.
const AT_HAND: usize = 1_024;
/// The time after which an appended line is synced. So it is on the disk within five seconds.
const SYNC_AFTER: Duration = Duration::from_secs(4);
/// Tasks that nobody touches any more are looked for this often.
const LOOK_EVERY: Duration = Duration::from_secs(3_600);
/// A task that is being closed in the background is closed within this time when the process ends, or by the next one.
const FINISH_LIMIT: Duration = Duration::from_secs(3);

pub(super) type TaskKey = (WorkspaceId, WorkingId);
pub(super) type SharedTask = Arc<Mutex<LoadedTask>>;

type TaskReply = RpcReplyPort<Result<Option<(SharedTask, bool)>, Error>>;

pub(crate) enum WorkingMsg {
    Begun {
        key: TaskKey,
        held: SharedTask,
        reply: RpcReplyPort<()>,
    },
    /// The answer also says whether the task came from its log just now.
    Get {
        key: TaskKey,
        reply: TaskReply,
    },
    /// The log of a task was read. There is no task where it has none.
    Opened {
        key: TaskKey,
        held: Result<Option<SharedTask>, Error>,
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
    /// Something was appended to the log of a task, and is not on the disk.
    Unsynced(SharedTask),
    Sync,
    /// The logs of these tasks could not be synced.
    Synced(Result<Vec<SharedTask>, Panicked>),
    /// There may be tasks that nobody touches any more.
    Look,
    Looked,
}

pub(crate) struct WorkingArgs {
    pub(super) logs: Arc<dyn WorkingLogs>,
    /// None where this process leaves the tasks that nobody touches any more to others.
    pub(super) closes_untouched: Option<WorkingHandle>,
}

pub(crate) struct WorkingState {
    args: WorkingArgs,
    /// The tasks at hand, each with the number of its last use.
    at_hand: HashMap<TaskKey, (SharedTask, u64)>,
    uses: u64,
    openings: Openings<TaskKey, Option<SharedTask>>,
    unsynced: Vec<SharedTask>,
    stop: CancellationToken,
    tasks: Tasks,
    /// The timers end with the state.
    next_sync: Option<MessageTimer<WorkingMsg>>,
    next_look: Option<MessageTimer<WorkingMsg>>,
}

pub(crate) struct WorkingActor;

impl Actor for WorkingActor {
    type Msg = WorkingMsg;
    type State = WorkingState;
    type Arguments = WorkingArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<WorkingMsg>,
        args: WorkingArgs,
    ) -> Result<WorkingState, ActorProcessingErr> {
        if args.closes_untouched.is_some() {
            myself.send_message(WorkingMsg::Look)?;
        }
        Ok(WorkingState {
            args,
            at_hand: HashMap::new(),
            uses: 0,
            openings: Openings::default(),
            unsynced: Vec::new(),
            stop: CancellationToken::new(),
            tasks: Tasks::new("working"),
            next_sync: None,
            next_look: None,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<WorkingMsg>,
        message: WorkingMsg,
        state: &mut WorkingState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WorkingMsg::Begun { key, held, reply } => {
                state.keep(key, held);
                let _ = reply.send(());
            }
            WorkingMsg::Get { key, reply } => {
                state.get(&myself, &key, reply);
            }
            WorkingMsg::Opened { key, held } => {
                state.openings.ended(&key);
                if let Ok(Some(held)) = held {
                    state.keep(key, held);
                }
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
            WorkingMsg::Unsynced(held) => state.sync_soon(&myself, [held]),
            WorkingMsg::Sync => {
                state.next_sync = None;
                let unsynced = std::mem::take(&mut state.unsynced);
                state.tasks.pipe(&myself, synced(unsynced), WorkingMsg::Synced);
            }
            WorkingMsg::Synced(failed) => state.sync_soon(&myself, failed.unwrap_or_default()),
            WorkingMsg::Look => {
                state.next_look = None;
                if let Some(handle) = state.args.closes_untouched.clone() {
                    let stop = state.stop.clone();
                    let work = async move {
                        stop.run_until_cancelled(handle.close_untouched()).await;
                    };
                    state.tasks.pipe(&myself, work, |_ended| WorkingMsg::Looked);
                }
            }
            WorkingMsg::Looked => {
                state.next_look = Some(MessageTimer::after(LOOK_EVERY, &myself, || WorkingMsg::Look));
            }
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<WorkingMsg>, state: &mut WorkingState) -> Result<(), ActorProcessingErr> {
        state.stop.cancel();
        state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        Ok(())
    }
}

/// Syncs the logs of tasks, and returns the tasks for which that failed.
async fn synced(tasks: Vec<SharedTask>) -> Vec<SharedTask> {
    let sync = move || {
        let failed = |held: &SharedTask| {
            let synced = held.blocking_lock().sync();
            synced.inspect_err(|error| tracing::warn!(%error, "the log of a task could not be synced")).is_err()
        };
        tasks.into_iter().filter(failed).collect()
    };
    tokio::task::spawn_blocking(sync).await.unwrap_or_default()
}

impl WorkingState {
    fn sync_soon(&mut self, myself: &ActorRef<WorkingMsg>, tasks: impl IntoIterator<Item = SharedTask>) {
        self.unsynced.extend(tasks);
        if self.next_sync.is_none() && !self.unsynced.is_empty() {
            self.next_sync = Some(MessageTimer::after(SYNC_AFTER, myself, || WorkingMsg::Sync));
        }
    }

    /// Answers with a task, from its log where it is not at hand. A log is opened once for all who ask meanwhile, so
    /// that nobody meets a lock of this process.
    fn get(&mut self, myself: &ActorRef<WorkingMsg>, key: &TaskKey, reply: TaskReply) {
        self.uses += 1;
        if let Some((held, used)) = self.at_hand.get_mut(key) {
            *used = self.uses;
            let _ = reply.send(Ok(Some((Arc::clone(held), false))));
            return;
        }
        let logs = Arc::clone(&self.args.logs);
        let open = move |(workspace, id): TaskKey| match logs.open(&workspace, id).map_err(unusable)? {
            OpenedLog::Opened(log, lines) => Ok(LoadedTask::read(log, &lines)?.map(|task| Arc::new(Mutex::new(task)))),
            OpenedLog::InUse => Err(Error::TaskInUse(id)),
            OpenedLog::Missing => Ok(None),
        };
        let opening = self.openings.join(key, myself, open, |key, held| WorkingMsg::Opened { key, held });
        self.tasks.spawn(async move {
            let _ = reply.send(opening.await.map(|held| held.map(|held| (held, true))));
        });
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
