//! CacheActor: owns the cache of model answers, which is lost when the actor ends. Its handle reads the cache directly
//! while there is one; without it every question is asked. A restart begins with an empty one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use moka::future::Cache;
use moka::policy::EvictionPolicy;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use reasoning_bank_domain::solve::task::add_cost;
use reasoning_bank_domain::system::restart::Restart;
use reasoning_bank_domain::system::statistics::CacheStatistics;

use crate::ports::{CompletionReply, FailedCall, Usage};
use crate::runtime::{ChildSpec, Slot};

pub(crate) type CacheKey = [u8; 32];

/// An answer counts as one entry for each of these, so that few large ones do not take more memory than many usual
/// ones.
const LARGE_BYTES: usize = 64 * 1024;

/// The limits of the cache. A limit of 0 turns the cache off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Large answers count as several.
    pub max_entries: u64,
    pub ttl: Duration,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { max_entries: 100, ttl: Duration::from_secs(3600) }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct CacheCounters {
    hits: u64,
    misses: u64,
    bypassed: u64,
    saved_tokens: u64,
    saved_cost_usd: Option<f64>,
}

impl CacheCounters {
    fn hit(&mut self, saved: &Usage) {
        self.hits += 1;
        let tokens = saved.input_tokens.saturating_add(saved.output_tokens);
        self.saved_tokens = self.saved_tokens.saturating_add(tokens);
        add_cost(&mut self.saved_cost_usd, saved.cost_usd);
    }
}

/// An answer or a failure that ends a flight and is not kept.
enum Uncacheable {
    Failed(FailedCall),
    /// An answer that another call of the same question should not get.
    Answered(CompletionReply),
}

type Answers = Cache<CacheKey, CompletionReply>;

#[derive(Clone)]
pub struct CacheHandle {
    settings: CacheLimits,
    slot: Slot<CacheMsg>,
    /// The cache of the actor; there is none while the actor does not run.
    published: Arc<ArcSwapOption<Answers>>,
    /// The counts since the start of the process or the last reset. A restart of the actor does not touch them.
    counters: Arc<Mutex<CacheCounters>>,
}

impl CacheHandle {
    pub(crate) fn new(settings: CacheLimits) -> Self {
        Self { settings, slot: Slot::new(), published: Arc::default(), counters: Arc::default() }
    }

    pub(crate) fn child(&self) -> ChildSpec {
        let args = self.args();
        ChildSpec::actor("cache", Restart::Permanent, &self.slot, move || (CacheActor, args.clone()))
    }

    pub(crate) fn args(&self) -> CacheArgs {
        CacheArgs { settings: self.settings, published: Arc::clone(&self.published) }
    }

    pub async fn statistics(&self) -> CacheStatistics {
        let cache = self.published.load_full();
        if let Some(cache) = &cache {
            // Evictions are put off until there are enough of them, or one asks for it.
            cache.run_pending_tasks().await;
        }
        let CacheCounters { hits, misses, bypassed, saved_tokens, saved_cost_usd } = *self.counters();
        let asked = hits + misses;
        CacheStatistics {
            hits,
            misses,
            bypassed,
            hit_rate: if asked == 0 { 0.0 } else { hits as f64 / asked as f64 },
            entries: cache.map_or(0, |cache| cache.entry_count()),
            saved_tokens,
            saved_cost_usd,
        }
    }

    /// Begins the counters anew. The entries stay.
    pub(crate) fn reset_statistics(&self) {
        *self.counters() = CacheCounters::default();
    }

    pub(crate) fn is_off(&self) -> bool {
        self.settings.max_entries == 0 || self.settings.ttl.is_zero()
    }

    pub(crate) fn bypassed(&self) {
        self.counters().bypassed += 1;
    }

    /// Returns the cached answer, or that of `ask`, which is made once for all who ask for it now. Errors are not kept,
    /// and of answers only those that are `worth_keeping`. A caller that waited for one that is not kept gets it all
    /// the same.
    pub(crate) async fn get_or_ask(
        &self,
        key: CacheKey,
        ask: impl Future<Output = Result<CompletionReply, FailedCall>>,
        worth_keeping: impl Fn(&CompletionReply) -> bool,
    ) -> Result<CompletionReply, FailedCall> {
        let Some(cache) = self.published.load_full() else {
            self.bypassed();
            return ask.await;
        };
        let mut asked = false;
        let flight = async {
            asked = true;
            self.counters().misses += 1;
            match ask.await {
                Ok(reply) if worth_keeping(&reply) => Ok(reply),
                Ok(reply) => Err(Uncacheable::Answered(reply)),
                Err(error) => Err(Uncacheable::Failed(error)),
            }
        };
        let reply = match cache.try_get_with(key, flight).await {
            Ok(reply) => reply,
            Err(unkept) => match &*unkept {
                Uncacheable::Answered(reply) => reply.clone(),
                Uncacheable::Failed(failed) if asked => return Err(failed.clone()),
                // Only the caller that asked is charged for a call that failed.
                Uncacheable::Failed(failed) => return Err(failed.error.clone().into()),
            },
        };
        if asked {
            return Ok(reply);
        }
        self.counters().hit(&reply.usage);
        Ok(CompletionReply { cached: true, ..reply })
    }

    fn counters(&self) -> MutexGuard<'_, CacheCounters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn empty(settings: CacheLimits) -> Answers {
    Cache::builder()
        .max_capacity(settings.max_entries)
        .weigher(|_, reply: &CompletionReply| u32::try_from(reply.text.len() / LARGE_BYTES).unwrap_or(u32::MAX).max(1))
        .eviction_policy(EvictionPolicy::lru())
        .time_to_live(settings.ttl)
        .build()
}

/// The actor is sent nothing: it only owns the cache.
pub(crate) enum CacheMsg {}

#[derive(Clone)]
pub(crate) struct CacheArgs {
    settings: CacheLimits,
    published: Arc<ArcSwapOption<Answers>>,
}

/// The cache itself. Its handles have it for as long as this is not dropped, and the calls they have begun.
pub(crate) struct CacheState {
    answers: Arc<Answers>,
    published: Arc<ArcSwapOption<Answers>>,
}

pub(crate) struct CacheActor;

impl Actor for CacheActor {
    type Msg = CacheMsg;
    type State = CacheState;
    type Arguments = CacheArgs;

    async fn pre_start(&self, _: ActorRef<CacheMsg>, args: CacheArgs) -> Result<CacheState, ActorProcessingErr> {
        Ok(CacheState::begin(args))
    }
}

impl CacheState {
    pub(crate) fn begin(args: CacheArgs) -> Self {
        let answers = Arc::new(empty(args.settings));
        args.published.store(Some(Arc::clone(&answers)));
        Self { answers, published: args.published }
    }
}

impl Drop for CacheState {
    fn drop(&mut self) {
        // The cache of the actor's next incarnation may be published already.
        let own =
            |current: &Option<Arc<Answers>>| current.clone().filter(|current| !Arc::ptr_eq(current, &self.answers));
        self.published.rcu(own);
    }
}
