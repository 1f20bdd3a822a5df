//! BackupsActor looks from time to time whether a backup is due, and has it made. Several processes of a bank may do
//! so; one of them makes it. It remembers why the last try failed, until one succeeds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::system::restart::Restart;
use tokio_util::sync::CancellationToken;

use crate::ports::{BackupLook, Backups, Clock};
use crate::runtime::{ChildSpec, Deadline, MessageTimer, Panicked, Slot, Tasks};

/// A backup is cancelled after this time.
const LIMIT: Duration = Duration::from_secs(3_600);
/// The number of looks that pass after a failure before anybody tries again.
const LOOKS_AFTER_A_FAILURE: u32 = 10;
/// A backup that is cancelled has removed what it made within this time.
const FINISH_LIMIT: Duration = Duration::from_secs(3);

#[derive(Clone)]
pub struct BackupsHandle {
    slot: Slot<BackupsMsg>,
    known: Arc<Mutex<BackupsKnown>>,
}

/// The newest backup and the last failure, as far as a look has found them.
#[derive(Default)]
struct BackupsKnown {
    failure: Option<String>,
    newest: Option<Timestamp>,
}

impl BackupsHandle {
    pub(crate) fn new() -> Self {
        Self { slot: Slot::new(), known: Arc::default() }
    }

    pub(crate) fn child(&self, backups: Arc<dyn Backups>, clock: Clock) -> ChildSpec {
        let known = Arc::clone(&self.known);
        let args =
            move || BackupsArgs { backups: Arc::clone(&backups), clock: clock.clone(), known: Arc::clone(&known) };
        ChildSpec::actor("backups", Restart::Transient, &self.slot, move || (BackupsActor, args()))
    }

    /// Returns why the last try to make a backup failed; none where it did not.
    pub fn failure(&self) -> Option<String> {
        locked(&self.known).failure.clone()
    }

    /// Returns the time of the newest backup of the schedule; none where no look has found one.
    pub fn newest(&self) -> Option<Timestamp> {
        locked(&self.known).newest
    }
}

fn locked(known: &Mutex<BackupsKnown>) -> MutexGuard<'_, BackupsKnown> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) enum BackupsMsg {
    Look,
    Looked(Result<Result<BackupLook, String>, Panicked>),
}

pub(crate) struct BackupsArgs {
    backups: Arc<dyn Backups>,
    clock: Clock,
    known: Arc<Mutex<BackupsKnown>>,
}

pub(crate) struct BackupsState {
    args: BackupsArgs,
    stop: CancellationToken,
    tasks: Tasks,
    /// The timer ends with the state.
    next_look: Option<MessageTimer<BackupsMsg>>,
}

pub(crate) struct BackupsActor;

impl Actor for BackupsActor {
    type Msg = BackupsMsg;
    type State = BackupsState;
    type Arguments = BackupsArgs;

    async fn pre_start(
        &self,
        myself: ActorRef<BackupsMsg>,
        args: BackupsArgs,
    ) -> Result<BackupsState, ActorProcessingErr> {
        myself.send_message(BackupsMsg::Look)?;
        Ok(BackupsState { args, stop: CancellationToken::new(), tasks: Tasks::new("backups"), next_look: None })
    }

    async fn handle(
        &self,
        myself: ActorRef<BackupsMsg>,
        message: BackupsMsg,
        state: &mut BackupsState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            BackupsMsg::Look => {
                state.next_look = None;
                let (backups, now) = (Arc::clone(&state.args.backups), state.args.clock.now());
                let cancel = state.stop.child_token();
                let work = async move {
                    let making = backups.make_if_due(now, cancel.clone());
                    tokio::pin!(making);
                    tokio::select! {
                        made = &mut making => made,
                        () = tokio::time::sleep(LIMIT) => {
                            cancel.cancel();
                            making.await
                        }
                    }
                };
                state.tasks.pipe(&myself, work, BackupsMsg::Looked);
            }
            BackupsMsg::Looked(looked) => {
                let looked = looked.unwrap_or_else(|panicked| Err(panicked.to_string()));
                let every = state.args.backups.look_every();
                let wait = if looked.is_ok() { every } else { every * LOOKS_AFTER_A_FAILURE };
                state.args.note(looked);
                state.next_look = Some(MessageTimer::after(wait, &myself, || BackupsMsg::Look));
            }
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<BackupsMsg>, state: &mut BackupsState) -> Result<(), ActorProcessingErr> {
        state.stop.cancel();
        state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        Ok(())
    }
}

impl BackupsArgs {
    fn note(&self, looked: Result<BackupLook, String>) {
        let mut known = locked(&self.known);
        match looked {
            Ok(BackupLook { made, newest }) => {
                if let Some(made) = made {
                    tracing::info!(backup = made, "a backup was made");
                }
                *known = BackupsKnown { failure: None, newest };
            }
            Err(why) => {
                tracing::error!(why, "a backup that is due was not made");
                known.failure = Some(why);
            }
        }
    }
}
