//! UsageActor stores which memories clients were shown, and which episodes they read. It stores many of them at once,
//! after the clients have their answers. Usage is no evidence, so what cannot be stored, or was shown in the seconds
//! before a crash, is lost.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::memory::ids::{MemoryId, SignalId, TraceId};
use reasoning_bank_domain::memory::signal::{Signal, SignalKind, id_of_shown};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::system::restart::Restart;

use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::{Clock, Record};
use crate::runtime::{ChildSpec, Deadline, Gate, Permit, Slot, Tasks};
use crate::store::StoreHandle;
use crate::workspaces::{WorkspaceRef, WorkspacesHandle};

/// The most answers that wait to be stored. Further answers are not counted.
const GATE: usize = 1_024;
/// The time that a shown memory waits, so that others are stored with it.
const PAUSE: Duration = Duration::from_secs(2);
/// The number of signals that the actor remembers as stored. Then it forgets them all; the store knows them by their
/// ids in any case.
const NOTED_MAX: usize = 20_000;
/// The most signals, or accesses of episodes, that one commit holds.
const AT_ONCE: usize = 500;
const STORE_LIMIT: Duration = Duration::from_secs(10);
const FINISH_LIMIT: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub struct UsageHandle {
    slot: Slot<UsageMsg>,
    gate: Gate,
}

impl UsageHandle {
    pub(crate) fn new() -> Self {
        Self { slot: Slot::new(), gate: Gate::new(GATE) }
    }

    pub(crate) fn child(&self, store: StoreHandle, workspaces: WorkspacesHandle, clock: Clock) -> ChildSpec {
        let arguments =
            move || UsageArgs { store: store.clone(), workspaces: workspaces.clone(), clock: clock.clone() };
        ChildSpec::actor("usage", Restart::Permanent, &self.slot, move || (UsageActor, arguments())).behind(&self.gate)
    }

    /// Notes that a session was shown these memories. Returns at once.
    pub fn shown(&self, memories: impl IntoIterator<Item = MemoryId>, workspace: &WorkspaceRef, session: &str) {
        let memories = memories.into_iter().collect();
        let shown = ShownMemories { memories, workspace: workspace.clone(), session: session.to_owned() };
        let told = self.gate.enter().and_then(|permit| self.slot.cast(UsageMsg::Shown { shown, permit }));
        if let Err(error) = told {
            tracing::debug!(%error, "what a client was shown is not counted");
        }
    }

    /// Notes that an episode of this workspace was read. Returns at once.
    pub(crate) fn accessed(&self, episode: TraceId, workspace: &WorkspaceId) {
        let workspace = workspace.clone();
        let told =
            self.gate.enter().and_then(|permit| self.slot.cast(UsageMsg::Accessed { episode, workspace, permit }));
        if let Err(error) = told {
            tracing::debug!(%error, "an access of an episode is not counted");
        }
    }
}

pub(crate) enum UsageMsg {
    Shown {
        shown: ShownMemories,
        permit: Permit,
    },
    /// An episode of a workspace was read.
    Accessed {
        episode: TraceId,
        workspace: WorkspaceId,
        permit: Permit,
    },
    Store,
}

/// The memories that one answer showed.
pub(crate) struct ShownMemories {
    memories: Vec<MemoryId>,
    workspace: WorkspaceRef,
    session: String,
}

pub(crate) struct UsageArgs {
    store: StoreHandle,
    workspaces: WorkspacesHandle,
    clock: Clock,
}

pub(crate) struct UsageState {
    args: UsageArgs,
    /// The signals that wait to be stored. A timer is under way while there are any.
    waiting: Vec<UnstoredSignals>,
    /// The episodes that were read since the last storing, with how often, the last time, and places in the gate.
    accessed: HashMap<TraceId, EpisodeAccess>,
    /// This process has stored these signals, or is about to.
    noted: HashSet<SignalId>,
    tasks: Tasks,
}

pub(crate) struct UsageActor;

impl Actor for UsageActor {
    type Msg = UsageMsg;
    type State = UsageState;
    type Arguments = UsageArgs;

    async fn pre_start(&self, _: ActorRef<UsageMsg>, args: UsageArgs) -> Result<UsageState, ActorProcessingErr> {
        let tasks = Tasks::new("usage");
        Ok(UsageState { args, waiting: Vec::new(), accessed: HashMap::new(), noted: HashSet::new(), tasks })
    }

    async fn handle(
        &self,
        myself: ActorRef<UsageMsg>,
        message: UsageMsg,
        state: &mut UsageState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            UsageMsg::Shown { shown, permit } => {
                let was_waiting = state.unstored() > 0;
                state.note(shown, permit);
                if !was_waiting && state.unstored() > 0 {
                    myself.send_after(PAUSE, || UsageMsg::Store);
                }
            }
            UsageMsg::Accessed { episode, workspace, permit } => {
                let was_waiting = state.unstored() > 0;
                let at = state.args.clock.now();
                let access = state.accessed.entry(episode).or_insert_with(|| EpisodeAccess {
                    workspace,
                    count: 0,
                    at,
                    permits: Vec::new(),
                });
                (access.count, access.at) = (access.count + 1, at);
                access.permits.push(permit);
                if !was_waiting {
                    myself.send_after(PAUSE, || UsageMsg::Store);
                }
            }
            UsageMsg::Store => state.store(),
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<UsageMsg>, state: &mut UsageState) -> Result<(), ActorProcessingErr> {
        state.store();
        state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        Ok(())
    }
}

impl UsageState {
    /// Counts the signals and the accesses that are not stored yet.
    fn unstored(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.signals.len()).sum::<usize>() + self.accessed.len()
    }

    /// Begins to store all that waits.
    fn store(&mut self) {
        for work in self.storing() {
            self.tasks.spawn(work);
        }
        let accessed = std::mem::take(&mut self.accessed);
        if !accessed.is_empty() {
            self.tasks.spawn(store_accesses(self.args.store.clone(), accessed));
        }
    }

    fn note(&mut self, shown: ShownMemories, permit: Permit) {
        let ShownMemories { memories, workspace, session } = shown;
        let at = self.args.clock.now();
        if self.noted.len() > NOTED_MAX {
            self.noted.clear();
        }
        let new: Vec<(SignalId, MemoryId)> = memories
            .into_iter()
            .map(|memory| (id_of_shown(memory, &session, at), memory))
            .filter(|(id, _)| self.noted.insert(*id))
            .collect();
        if new.is_empty() {
            return;
        }
        let known = self.waiting.iter().position(|waiting| waiting.workspace == workspace);
        let known = known.unwrap_or_else(|| {
            self.waiting.push(UnstoredSignals { workspace, signals: Vec::new(), permits: Vec::new() });
            self.waiting.len() - 1
        });
        let waiting = &mut self.waiting[known];
        waiting.signals.extend(new.into_iter().map(|(id, memory)| (id, memory, session.clone(), at)));
        waiting.permits.push(permit);
    }

    /// Takes out all that waits, as the work of storing it: one piece of work for each workspace.
    fn storing(&mut self) -> Vec<impl Future<Output = ()> + Send + use<>> {
        let (store, workspaces) = (self.args.store.clone(), self.args.workspaces.clone());
        let all = std::mem::take(&mut self.waiting).into_iter();
        all.map(|waiting| {
            let (store, workspaces) = (store.clone(), workspaces.clone());
            async move {
                if let Err(error) = waiting.store(&store, &workspaces).await {
                    tracing::debug!(code = error.code().as_str(), "what clients were shown is not counted");
                }
            }
        })
        .collect()
    }
}

/// The accesses of an episode: their number, and the time of the last one.
struct EpisodeAccess {
    workspace: WorkspaceId,
    count: u64,
    at: Timestamp,
    /// These places in the gate are given back once the accesses are stored.
    permits: Vec<Permit>,
}

/// Stores the accesses of episodes, many with one commit. One that is gone meanwhile is left out.
async fn store_accesses(store: StoreHandle, accessed: HashMap<TraceId, EpisodeAccess>) {
    let deadline = Deadline::after(STORE_LIMIT);
    let ids: Vec<TraceId> = accessed.keys().copied().collect();
    for some in ids.chunks(AT_ONCE) {
        let stored = retry_on_conflict(async |_tries| {
            let rows = store.episodes_of_ids(some.to_vec(), deadline).await?;
            let next = rows.iter().filter_map(|row| {
                let access = accessed.get(&row.trace.trace_id)?;
                let is_there = row.is_there_in(&access.workspace);
                is_there.then(|| Record::EpisodeState(row.state.accessed(access.count, access.at)))
            });
            let next: Vec<Record> = next.collect();
            if next.is_empty() { Ok(()) } else { store.commit(next, deadline).await.map(drop) }
        });
        if let Err(error) = stored.await {
            tracing::debug!(code = error.code().as_str(), "accesses of episodes are not counted");
        }
    }
}

/// The signals of what sessions were shown in one workspace.
struct UnstoredSignals {
    workspace: WorkspaceRef,
    signals: Vec<(SignalId, MemoryId, String, Timestamp)>,
    /// These places in the gate are given back once the signals are stored.
    permits: Vec<Permit>,
}

impl UnstoredSignals {
    /// Stores the signals of the memories that are still there. Reading does not register a workspace, so one that
    /// nobody has written to gets none.
    async fn store(self, store: &StoreHandle, workspaces: &WorkspacesHandle) -> Result<(), Error> {
        let deadline = Deadline::after(STORE_LIMIT);
        let resolved = workspaces.resolve(&self.workspace, deadline).await?;
        if !resolved.registered {
            return Ok(());
        }
        workspaces.still_there(&resolved, deadline).await?;
        let shown: HashSet<MemoryId> = self.signals.iter().map(|(_, memory, ..)| *memory).collect();
        let rows = store.get(shown.into_iter().collect(), deadline).await?;
        let there: HashSet<MemoryId> = rows.into_iter().map(|row| row.memory.id).collect();
        let signal = |(id, memory_id, session, at)| {
            let workspace = resolved.workspace.id.clone();
            let shown = Signal::new(id, memory_id, workspace, SignalKind::Shown, at);
            Record::Signal(Signal { session: Some(session), ..shown })
        };
        let of_there = self.signals.into_iter().filter(|(_, memory, ..)| there.contains(memory));
        let records: Vec<Record> = of_there.map(signal).collect();
        for batch in records.chunks(AT_ONCE) {
            store.commit(batch.to_vec(), deadline).await?;
        }
        drop(self.permits);
        Ok(())
    }
}
