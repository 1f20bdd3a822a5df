//! CacheActor: owns the lifetime and the statistics of the cache of model answers. Its handle reads the cache directly;
//! a restart begins with an empty one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::future::BoxFuture;
use moka::future::Cache;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::restart::Restart;

use crate::ports::{CompletionReply, ModelError};
use crate::runtime::{ChildSpec, Slot};

pub(crate) type CacheKey = [u8; 32];

/// `max_entries` 0 turns the cache off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheSettings {
    pub max_entries: u64,
    pub ttl: Duration,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { max_entries: 100, ttl: Duration::from_secs(3600) }
    }
}

/// Counts since the start of the process; a restart of the actor does not reset them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStatistics {
    pub hits: u64,
    pub misses: u64,
    /// Calls that are never cached.
    pub bypassed: u64,
    pub entries: u64,
    /// Input and output tokens that hits did not spend again.
    pub saved_tokens: u64,
}

#[derive(Default)]
struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    bypassed: AtomicU64,
    saved_tokens: AtomicU64,
}

#[derive(Clone)]
pub struct CacheHandle {
    settings: CacheSettings,
    slot: Slot<CacheMsg>,
    cache: Arc<ArcSwap<Cache<CacheKey, CompletionReply>>>,
    counters: Arc<Counters>,
}

impl CacheHandle {
    pub(crate) fn new(settings: CacheSettings) -> Self {
        let cache = Arc::new(ArcSwap::from_pointee(empty(settings)));
        Self { settings, slot: Slot::new(), cache, counters: Arc::default() }
    }

    pub(crate) fn child(&self) -> ChildSpec {
        let handle = self.clone();
        ChildSpec::actor("cache", Restart::Permanent, &self.slot, move || (CacheActor, handle.clone()))
    }

    #[cfg(feature = "testkit")]
    pub fn faults(&self) -> crate::testkit::Faults {
        crate::testkit::Faults::of(&self.slot)
    }

    pub fn statistics(&self) -> CacheStatistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheStatistics {
            hits: count(&self.counters.hits),
            misses: count(&self.counters.misses),
            bypassed: count(&self.counters.bypassed),
            entries: self.cache.load().entry_count(),
            saved_tokens: count(&self.counters.saved_tokens),
        }
    }

    /// For an answer that is not worth keeping.
    pub(crate) async fn forget(&self, key: &CacheKey) {
        self.cache.load_full().invalidate(key).await;
    }

    pub(crate) fn bypassed(&self) {
        self.counters.bypassed.fetch_add(1, Ordering::Relaxed);
    }

    /// The cached answer, or that of `ask`, made once for all who ask for it now. Errors are not kept.
    pub(crate) async fn get_or_ask(
        &self,
        key: CacheKey,
        ask: BoxFuture<'_, Result<CompletionReply, ModelError>>,
    ) -> Result<CompletionReply, ModelError> {
        if self.settings.max_entries == 0 {
            self.bypassed();
            return ask.await;
        }
        let cache = Arc::clone(&self.cache.load());
        let mut asked = false;
        let answer = cache
            .try_get_with(key, async {
                asked = true;
                ask.await
            })
            .await;
        match answer {
            Ok(reply) if asked => {
                self.counters.misses.fetch_add(1, Ordering::Relaxed);
                Ok(reply)
            }
            Ok(reply) => {
                self.counters.hits.fetch_add(1, Ordering::Relaxed);
                let saved = reply.usage.input_tokens + reply.usage.output_tokens;
                self.counters.saved_tokens.fetch_add(saved, Ordering::Relaxed);
                Ok(CompletionReply { cached: true, ..reply })
            }
            Err(error) => {
                self.counters.misses.fetch_add(1, Ordering::Relaxed);
                Err(Arc::unwrap_or_clone(error))
            }
        }
    }
}

fn empty(settings: CacheSettings) -> Cache<CacheKey, CompletionReply> {
    Cache::builder().max_capacity(settings.max_entries).time_to_live(settings.ttl).build()
}

pub(crate) struct CacheActor;

pub(crate) enum CacheMsg {
    #[cfg(feature = "testkit")]
    Panic,
}

#[cfg(feature = "testkit")]
impl crate::testkit::Panics for CacheMsg {
    fn panic() -> Self {
        Self::Panic
    }
}

impl Actor for CacheActor {
    type Msg = CacheMsg;
    type State = ();
    type Arguments = CacheHandle;

    async fn pre_start(&self, _: ActorRef<Self::Msg>, handle: CacheHandle) -> Result<(), ActorProcessingErr> {
        handle.cache.store(Arc::new(empty(handle.settings)));
        Ok(())
    }

    async fn handle(&self, _: ActorRef<Self::Msg>, message: CacheMsg, (): &mut ()) -> Result<(), ActorProcessingErr> {
        match message {
            #[cfg(feature = "testkit")]
            CacheMsg::Panic => crate::testkit::panic_on_request(),
        }
    }
}
