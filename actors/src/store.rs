//! StoreActor opens the store, runs every request on it, and keeps it in shape. Requests that come while it opens wait
//! until their deadlines. A directory that cannot be used is a lasting answer. After a failure to open that passes, the
//! next request opens it again.
//!
//! Every request is idempotent (writes by id), so one that was lost with an actor is asked once more. The reads of the
//! handle are in `reads`.

mod pages;
mod reads;
mod row_counts;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::memory::ids::KeyedRequestId;
use reasoning_bank_domain::system::restart::Restart;
use tokio::time::Instant;
use tracing::Instrument;

use self::row_counts::Rows;
use crate::embedding_cache::EmbeddingCache;
use crate::error::Error;
use crate::ports::{
    Batch, Committed, EraseScope, Erased, Limitation, Maintained, MemoryStore, Record, StoreError, StoreFuture,
};
use crate::runtime::{CallError, ChildSpec, Deadline, Gate, MessageTimer, Panicked, Slot, Tasks, ask_again_if_dropped};
use crate::spans;

/// The most slices of upkeep that are done one after another, each within the second limit.
const SLICES_MAX: usize = 100;
const SLICE_LIMIT: Duration = Duration::from_secs(60);
/// The most requests inside at once. Further ones are refused as overload.
const GATE: usize = 256;
const UPKEEP_EVERY: Duration = Duration::from_secs(60);
const UPKEEP_LIMIT: Duration = Duration::from_secs(20);
const FINISH_LIMIT: Duration = Duration::from_secs(5);

/// Opens the store. It is called again after a restart, and by the next request after a failure that passes. It gives
/// the same store while an earlier one is still in use.
pub type StoreOpener = Arc<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn MemoryStore>, StoreError>> + Send + Sync>;

type Store = Result<Arc<dyn MemoryStore>, StoreError>;
/// A request. It is given the store, or the reason why there is none, and answers its caller.
type Request = Box<dyn FnOnce(Store) -> BoxFuture<'static, ()> + Send>;

/// A request with a key while it is carried out. Clones are of the same request.
#[derive(Debug, Clone)]
pub struct KeyedWrite {
    request: KeyedRequest,
    /// The request as the first commit stored it.
    stored: Arc<OnceLock<KeyedRequest>>,
}

impl KeyedWrite {
    pub fn new(request: KeyedRequest) -> Self {
        Self { request, stored: Arc::default() }
    }

    /// Returns the id of the request, for what is not stored by a commit.
    pub fn id(&self) -> KeyedRequestId {
        self.request.id
    }

    /// Says whether something was committed for the request.
    pub fn is_stored(&self) -> bool {
        self.stored.get().is_some()
    }

    /// Returns the request with its answer, as it is to be stored next.
    pub fn answered(&self, answer: String) -> KeyedRequest {
        let stored = self.stored.get();
        stored.unwrap_or(&self.request).clone().answered(answer, stored.is_some())
    }
}

#[derive(Clone)]
pub struct StoreHandle {
    slot: Slot<StoreMsg>,
    gate: Gate,
    /// The cache is emptied after an erasure, so that nothing of an erased text is kept.
    embeddings: EmbeddingCache,
    /// The request of a client that goes with the first commit of this handle, where it has a key.
    keyed: Option<KeyedWrite>,
    /// The limitation that the last request found.
    limitation: Arc<Mutex<Option<Limitation>>>,
}

impl StoreHandle {
    pub(crate) fn new(embeddings: EmbeddingCache) -> Self {
        Self { slot: Slot::new(), gate: Gate::new(GATE), embeddings, keyed: None, limitation: Arc::default() }
    }

    pub(crate) fn child(&self, opener: StoreOpener) -> ChildSpec {
        ChildSpec::actor("store", Restart::Permanent, &self.slot, move || {
            (StoreActor, StoreArgs { opener: Arc::clone(&opener) })
        })
        .behind(&self.gate)
    }

    /// Returns what the store cannot do for now, as the last request found it. None where it can do everything.
    pub fn limitation(&self) -> Option<Limitation> {
        *self.limitation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a handle whose first commit stores this request as well. So the request is known to be carried out exactly
    /// when what it writes is stored.
    pub(crate) fn carrying_out(&self, write: KeyedWrite) -> Self {
        Self { keyed: Some(write), ..self.clone() }
    }

    /// Commits a batch. It is durable when this returns.
    pub async fn commit(&self, mut batch: Batch, deadline: Deadline) -> Result<Committed, Error> {
        let keyed = self.keyed.as_ref().filter(|keyed| !keyed.is_stored()).map(|keyed| {
            let memories = batch.iter().filter_map(Record::memory_id).collect();
            (keyed, KeyedRequest { memories, ..keyed.request.clone() })
        });
        batch.extend(keyed.iter().map(|(_, request)| Record::Request(request.clone())));
        let committed = self.ask("commit", deadline, move |store| store.commit(batch.clone(), deadline)).await?;
        if let Some((keyed, request)) = keyed {
            let _ = keyed.stored.set(request);
        }
        Ok(committed)
    }

    pub async fn erase(&self, scope: EraseScope, deadline: Deadline) -> Result<Erased, Error> {
        let embeddings = self.embeddings.clone();
        self.ask("erase", deadline, move |store| {
            let (scope, embeddings) = (scope.clone(), embeddings.clone());
            async move {
                // The cache is emptied even where the erasure fails, because that may be finished later.
                let _cleared_after = embeddings.cleared_after();
                store.erase(scope, deadline).await
            }
            .boxed()
        })
        .await
    }

    /// Does one slice of upkeep now, besides those that are done from time to time.
    pub async fn maintain(&self, deadline: Deadline) -> Result<Maintained, Error> {
        self.ask("maintain", deadline, move |store| store.maintain(deadline)).await
    }

    /// Does upkeep slice by slice, until nothing is left to do, another process is writing, or the deadline has passed,
    /// and tells of each slice. A limited number is done, and the store does the rest by itself.
    pub async fn maintain_fully(&self, deadline: Deadline, mut did: impl FnMut(&Maintained)) -> Result<(), Error> {
        for _ in 0..SLICES_MAX {
            if deadline.passed() {
                break;
            }
            let slice = self.maintain(deadline.at_most(SLICE_LIMIT)).await?;
            did(&slice);
            if slice.busy || !slice.more {
                break;
            }
        }
        Ok(())
    }

    /// Runs `work` on the store, and once more where the actor ended before it answered. Both tries share `work` and
    /// all that it holds, because a batch may have thousands of vectors.
    async fn ask<T: Rows + Send + 'static>(
        &self,
        op: &'static str,
        deadline: Deadline,
        work: impl Fn(&dyn MemoryStore) -> StoreFuture<'_, T> + Send + Sync + 'static,
    ) -> Result<T, Error> {
        let (work, permit) = (Arc::new(work), Arc::new(self.gate.enter()?));
        let (span, begun) = (spans::store(op), Instant::now());
        let once = || {
            let (work, permit, span) = (Arc::clone(&work), Arc::clone(&permit), span.clone());
            let limitation = Arc::clone(&self.limitation);
            self.slot.call(
                move |reply| {
                    let request: Request = Box::new(move |store| {
                        async move {
                            // The place is given back with the work, not with its caller.
                            let _permit = permit;
                            if reply.is_closed() || deadline.passed() {
                                return;
                            }
                            let answer = match store {
                                Ok(store) => {
                                    let answer = bounded(deadline, work(&*store)).await;
                                    *limitation.lock().unwrap_or_else(PoisonError::into_inner) = store.limitation();
                                    answer
                                }
                                Err(error) => Err(error),
                            };
                            spans::store_ended(begun, answer.as_ref().map(T::rows));
                            let _ = reply.send(answer);
                        }
                        .instrument(span)
                        .boxed()
                    });
                    StoreMsg::Run(request)
                },
                deadline,
            )
        };
        match ask_again_if_dropped(once).await {
            Ok(answer) => answer.map_err(Error::from),
            Err(CallError::TimedOut | CallError::Unavailable) => Err(StoreError::TimedOut.into()),
            Err(error) => Err(error.into()),
        }
    }
}

async fn bounded<T>(deadline: Deadline, work: StoreFuture<'_, T>) -> Result<T, StoreError> {
    tokio::time::timeout_at(deadline.instant(), work).await.unwrap_or(Err(StoreError::TimedOut))
}

pub(crate) enum StoreMsg {
    Run(Request),
    Opened(Result<Store, Panicked>),
    UpkeepDue,
}

pub(crate) struct StoreArgs {
    opener: StoreOpener,
}

pub(crate) struct StoreState {
    args: StoreArgs,
    /// The open store, or the lasting reason why there is none. None while the store is not open and may yet be.
    store: Option<Store>,
    opening: bool,
    waiting: VecDeque<Request>,
    tasks: Tasks,
    /// The timer ends with the state.
    next_upkeep: Option<MessageTimer<StoreMsg>>,
}

pub(crate) struct StoreActor;

impl Actor for StoreActor {
    type Msg = StoreMsg;
    type State = StoreState;
    type Arguments = StoreArgs;

    async fn pre_start(&self, myself: ActorRef<StoreMsg>, args: StoreArgs) -> Result<StoreState, ActorProcessingErr> {
        let mut state = StoreState {
            args,
            store: None,
            opening: false,
            waiting: VecDeque::new(),
            tasks: Tasks::new("store"),
            next_upkeep: None,
        };
        state.open(&myself);
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<StoreMsg>,
        message: StoreMsg,
        state: &mut StoreState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            StoreMsg::Run(request) => match &state.store {
                Some(store) => state.tasks.spawn(request(store.clone())),
                None => {
                    // The gate bounds how many wait.
                    state.waiting.push_back(request);
                    state.open(&myself);
                }
            },
            StoreMsg::Opened(opened) => {
                let store = opened?;
                state.opening = false;
                match &store {
                    Ok(_) => state.next_upkeep = Some(upkeep_timer(&myself)),
                    Err(error) => tracing::error!(%error, "the store cannot be opened"),
                }
                for request in state.waiting.drain(..) {
                    state.tasks.spawn(request(store.clone()));
                }
                let passing = matches!(store, Err(StoreError::TimedOut | StoreError::Failed(_)));
                state.store = (!passing).then_some(store);
            }
            StoreMsg::UpkeepDue => {
                let Some(Ok(store)) = state.store.clone() else { return Ok(()) };
                state.next_upkeep = Some(upkeep_timer(&myself));
                let upkeep = async move {
                    match store.maintain(Deadline::after(UPKEEP_LIMIT)).await {
                        Ok(done) => tracing::debug!(?done, "upkeep of the store"),
                        Err(StoreError::TimedOut) => tracing::debug!("upkeep of the store goes on"),
                        Err(error) => tracing::warn!(%error, "upkeep of the store failed"),
                    }
                };
                state.tasks.spawn(upkeep.instrument(spans::store("maintain")));
            }
        }
        Ok(())
    }

    async fn post_stop(&self, _: ActorRef<StoreMsg>, state: &mut StoreState) -> Result<(), ActorProcessingErr> {
        let unfinished = state.tasks.finish(Deadline::after(FINISH_LIMIT)).await;
        if unfinished > 0 {
            tracing::warn!(unfinished, "the store stopped with requests unfinished");
        }
        Ok(())
    }
}

impl StoreState {
    fn open(&mut self, myself: &ActorRef<StoreMsg>) {
        if !std::mem::replace(&mut self.opening, true) {
            let opener = Arc::clone(&self.args.opener);
            self.tasks.pipe(myself, async move { opener().await }, StoreMsg::Opened);
        }
    }
}

fn upkeep_timer(myself: &ActorRef<StoreMsg>) -> MessageTimer<StoreMsg> {
    MessageTimer::after(UPKEEP_EVERY, myself, || StoreMsg::UpkeepDue)
}
