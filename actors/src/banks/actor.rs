//! The actor of memory banks: it has the banks at hand, and sees to it that what is ahead of their files gets there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tokio::sync::Mutex;

use super::BankSettings;
use super::open_bank::OpenBank;
use crate::error::Error;
use crate::file_io::{Openings, blocking};
use crate::ports::{BankDirectories, BankLocation, Clock};
use crate::runtime::{Deadline, MessageTimer, Panicked, Tasks};

/// This process has at most this many banks at hand. The one that was not used for longest goes first, once it is
/// synced.
const AT_HAND: usize = 64;
/// After failures a bank is tried again later and later, at most after this many intervals.
const MAX_BACKOFF: u32 = 16;
/// Writing the files of one bank may take this long.
const SYNC_LIMIT: Duration = Duration::from_secs(30);
/// The files are written within this time when the process ends, or else by the next process.
const FINISH_LIMIT: Duration = Duration::from_secs(4);

pub(super) type SharedBank = Arc<Mutex<OpenBank>>;

pub(crate) enum BanksMsg {
    Get {
        place: BankLocation,
        reply: RpcReplyPort<Result<SharedBank, Error>>,
    },
    /// A bank was read.
    Opened {
        place: BankLocation,
        held: Result<SharedBank, Error>,
    },
    /// Something is ahead of the files of a bank.
    Ahead {
        place: BankLocation,
        /// The number of times in a row that writing them failed.
        failures: u32,
    },
    Sync(BankLocation),
    Synced(Result<(BankLocation, Option<u32>), Panicked>),
}

pub(crate) struct BanksArgs {
    pub(super) files: Arc<dyn BankDirectories>,
    pub(super) settings: BankSettings,
    pub(super) clock: Clock,
}

pub(crate) struct BanksState {
    args: BanksArgs,
    /// The banks at hand, each with the number of its last use.
    at_hand: HashMap<BankLocation, (SharedBank, u64)>,
    uses: u64,
    openings: Openings<BankLocation, SharedBank>,
    /// The timers of the next sync of each bank. They end with the state.
    next_sync: HashMap<BankLocation, MessageTimer<BanksMsg>>,
    tasks: Tasks,
}

pub(crate) struct BanksActor;

impl Actor for BanksActor {
    type Msg = BanksMsg;
    type State = BanksState;
    type Arguments = BanksArgs;

    async fn pre_start(&self, _: ActorRef<BanksMsg>, args: BanksArgs) -> Result<BanksState, ActorProcessingErr> {
        let (at_hand, openings, next_sync) = (HashMap::new(), Openings::default(), HashMap::new());
        Ok(BanksState { args, at_hand, uses: 0, openings, next_sync, tasks: Tasks::new("banks") })
    }

    async fn handle(
        &self,
        myself: ActorRef<BanksMsg>,
        message: BanksMsg,
        state: &mut BanksState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            BanksMsg::Get { place, reply } => state.get(&myself, &place, reply),
            BanksMsg::Opened { place, held } => {
                state.openings.ended(&place);
                if let Ok(held) = held {
                    state.uses += 1;
                    state.at_hand.insert(place, (held, state.uses));
                    state.make_room(&myself);
                }
            }
            BanksMsg::Ahead { place, failures } => state.sync_later(&myself, place, failures),
            BanksMsg::Sync(place) => {
                state.next_sync.remove(&place);
                state.sync(&myself, place);
            }
            BanksMsg::Synced(Ok((place, Some(failures)))) => state.sync_later(&myself, place, failures),
            BanksMsg::Synced(_) => state.make_room(&myself),
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<BanksMsg>, state: &mut BanksState) -> Result<(), ActorProcessingErr> {
        let deadline = Deadline::after(FINISH_LIMIT);
        let banks: Vec<SharedBank> = state.at_hand.drain().map(|(_, (bank, _))| bank).collect();
        for bank in banks {
            let clock = state.args.clock.clone();
            state.tasks.spawn(async move {
                synced(bank, clock).await;
            });
        }
        state.tasks.finish(deadline).await;
        Ok(())
    }
}

/// Writes what is ahead of the files of a bank. Returns how many times in a row that failed. None where nothing is
/// left.
async fn synced(bank: SharedBank, clock: Clock) -> Option<u32> {
    let mut locked = bank.lock_owned().await;
    if !locked.is_ahead() {
        return None;
    }
    let at = clock.now();
    let syncing = blocking(Deadline::after(SYNC_LIMIT), move || {
        let synced = locked.sync(at);
        if let Err(error) = &synced {
            tracing::warn!(%error, bank = %locked.place.key, "the files of a memory bank could not be written");
            locked.failed(error, at);
        }
        Ok(locked.is_ahead().then_some(locked.failures))
    });
    syncing.await.unwrap_or(Some(1))
}

impl BanksState {
    /// Answers with a bank, from the disk where it is not at hand.
    fn get(
        &mut self,
        myself: &ActorRef<BanksMsg>,
        place: &BankLocation,
        reply: RpcReplyPort<Result<SharedBank, Error>>,
    ) {
        self.uses += 1;
        if let Some((held, used)) = self.at_hand.get_mut(place) {
            *used = self.uses;
            let _ = reply.send(Ok(Arc::clone(held)));
            return;
        }
        let (files, dumps) = (Arc::clone(&self.args.files), self.args.settings.dumps);
        let open = move |place| Ok(Arc::new(Mutex::new(OpenBank::open(&*files, place, dumps)?)));
        let opening = self.openings.join(place, myself, open, |place, held| BanksMsg::Opened { place, held });
        self.tasks.spawn(async move {
            let _ = reply.send(opening.await);
        });
    }

    /// Lets banks go that nobody uses, the one that was not used for longest first. One with something ahead is synced
    /// first.
    fn make_room(&mut self, myself: &ActorRef<BanksMsg>) {
        let mut idle: Vec<_> = self
            .at_hand
            .iter()
            .filter(|(_, (held, _))| Arc::strong_count(held) == 1)
            .map(|(place, (_, used))| (*used, place.clone()))
            .collect();
        idle.sort_unstable();
        let surplus = self.at_hand.len().saturating_sub(AT_HAND);
        for (_, place) in idle.into_iter().take(surplus) {
            let Some((held, _)) = self.at_hand.get(&place) else { continue };
            let is_ahead = held.try_lock().is_ok_and(|held| held.is_ahead());
            match is_ahead && !self.next_sync.contains_key(&place) {
                true => self.sync(myself, place),
                false if is_ahead => {}
                false => {
                    self.at_hand.remove(&place);
                }
            }
        }
    }

    fn sync(&mut self, myself: &ActorRef<BanksMsg>, place: BankLocation) {
        let Some((held, _)) = self.at_hand.get(&place) else { return };
        let (held, clock) = (Arc::clone(held), self.args.clock.clone());
        let work = async move {
            let failures = synced(held, clock).await;
            (place, failures)
        };
        self.tasks.pipe(myself, work, BanksMsg::Synced);
    }

    fn sync_later(&mut self, myself: &ActorRef<BanksMsg>, place: BankLocation, failures: u32) {
        let wait = self.args.settings.sync_interval * 2_u32.saturating_pow(failures.saturating_sub(1)).min(MAX_BACKOFF);
        let due = place.clone();
        let timer = || MessageTimer::after(wait, myself, move || BanksMsg::Sync(due));
        self.next_sync.entry(place).or_insert_with(timer);
    }
}
