//! The whole system: its tree, its handles, its end.

mod health;
mod statistics;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use reasoning_bank_domain::consolidation::ConsolidationSchedule;
use reasoning_bank_domain::episode::LifecycleRules;
use reasoning_bank_domain::learning::distill;
use reasoning_bank_domain::solve::matts::K_RANGE;
use reasoning_bank_domain::system::breaker;
use reasoning_bank_domain::system::restart::RestartLimits;
use tokio::time::Instant;

use crate::activity::ClientActivity;
use crate::agents::{AgentDependencies, AgentsHandle, SolveSettings};
use crate::backups::BackupsHandle;
use crate::banks::{BankModel, BankSettings, BanksHandle, LanguageBankModel};
use crate::cache::{CacheHandle, CacheLimits};
use crate::consolidation::ConsolidationHandle;
use crate::context::ContextHandle;
use crate::distiller::{DistillerArgs, DistillerHandle, DistillerSettings};
use crate::embedding_cache::{CachedEmbedder, EmbeddingCache};
use crate::episodes::{EpisodeServices, EpisodesHandle};
use crate::error::Error;
use crate::judge::JudgeHandle;
use crate::learner::{LearnerHandle, LearnerSettings};
use crate::matts::MattsHandle;
use crate::memories::{MemoriesHandle, RetrievalSettings};
use crate::model::{
    Breaker, BudgetedModel, CachedModel, MeteredModel, RateLimit, RetriedModel, RetryPolicy, ScrubbedModel, TimedModel,
};
use crate::ports::{
    Artefacts, Backups, BankDirectories, Clock, Embedder, Fingerprint, LanguageModel, Lease, TokenAccount, WorkingLogs,
};
use crate::runtime::{ChildStatus, Deadline, Ended, Events, Stopped, SupervisorArgs, SupervisorHandle};
use crate::statistics::{MeteredEmbedder, Meters};
use crate::store::{StoreHandle, StoreOpener};
use crate::usage::UsageHandle;
use crate::working::WorkingHandle;
use crate::workspaces::{RootName, WorkspacesHandle};

pub use crate::statistics::WorkTimes;
pub use statistics::{BankCounts, ProcessStatistics};

/// The name of the provider where there is no language model.
const NO_MODEL: &str = "none";

#[derive(Debug, Clone, PartialEq)]
pub struct SystemSettings {
    pub solve: SolveSettings,
    pub retrieval: RetrievalSettings,
    pub distiller: DistillerSettings,
    pub episodes: LifecycleRules,
    pub banks: BankSettings,
    /// The schedule by which this process runs consolidation by itself.
    pub consolidation: ConsolidationSchedule,
    pub cache: CacheLimits,
    pub retry: RetryPolicy,
    /// The most requests a minute that go out to the provider, retries included. 0 is without limit.
    pub requests_per_minute: u32,
    pub pool: PoolSettings,
    pub learner: LearnerSettings,
    pub root_name: Option<RootName>,
    /// True where a task may be told a pattern that nothing has proven yet.
    pub tries_candidates: bool,
    /// True where a memory is shared more widely as soon as it deserves that. Otherwise it is proposed.
    pub promotes_by_itself: bool,
}

/// The most model calls that run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// The most drafts at once.
    pub matts_workers: usize,
    /// The most evaluations and judgements at once.
    pub judge_concurrency: usize,
}

impl Default for PoolSettings {
    fn default() -> Self {
        Self { matts_workers: 16, judge_concurrency: 16 }
    }
}

/// The parts that the system is given from outside.
pub struct SystemParts {
    pub store: StoreOpener,
    pub embedder: Arc<dyn Embedder>,
    pub model: Arc<dyn LanguageModel>,
    /// The name of the model's provider, or `none` without a model. It is part of the cache key.
    pub provider: String,
    pub settings: SystemSettings,
    pub clock: Clock,
    /// The lease of the bank's background jobs. None: this process leaves them to others.
    pub background: Option<Arc<dyn Lease>>,
    /// The making of backups. None: this process makes none by itself.
    pub backups: Option<Arc<dyn Backups>>,
    pub working: Arc<dyn WorkingLogs>,
    pub artefacts: Arc<dyn Artefacts>,
    pub banks: Arc<dyn BankDirectories>,
    /// The account counts what the bank spends on models without being asked to.
    pub account: Arc<dyn TokenAccount>,
    /// The lease of consolidation, which one process of the bank has at a time.
    pub consolidation: Arc<dyn Lease>,
}

/// The handle that clients of the system hold. It is cheap to clone.
#[derive(Clone)]
pub struct SystemHandle {
    pub agents: AgentsHandle,
    pub memories: MemoriesHandle,
    pub episodes: EpisodesHandle,
    pub consolidation: ConsolidationHandle,
    pub context: ContextHandle,
    pub distiller: DistillerHandle,
    pub learner: LearnerHandle,
    pub store: StoreHandle,
    pub workspaces: WorkspacesHandle,
    pub cache: CacheHandle,
    pub usage: UsageHandle,
    pub working: WorkingHandle,
    pub banks: BanksHandle,
    /// It is none where this process makes no backups.
    pub backups: Option<BackupsHandle>,
    pub events: Events,
    /// The edges note here whom they serve.
    pub activity: ClientActivity,
    started: Instant,
    embedder: CachedEmbedder,
    embeddings: EmbeddingCache,
    meters: Meters,
    breaker: Arc<Breaker>,
    /// The provider of the language model, or `none` without one.
    provider: String,
    pub(crate) supervisor: SupervisorHandle,
}

impl SystemHandle {
    /// Returns the fingerprint of the embedder. What is restored with vectors of another one is embedded anew.
    pub fn embedder_fingerprint(&self) -> &Fingerprint {
        self.embedder.fingerprint()
    }

    /// Reports every actor with its state and restarts.
    pub async fn actors(&self, deadline: Deadline) -> Result<Vec<ChildStatus>, Error> {
        Ok(self.supervisor.observe(deadline).await?)
    }

    /// Returns when the system has ended, by [`System::stop`] or because it gave up.
    pub async fn ended(&self) -> Ended {
        self.supervisor.ended().await
    }
}

pub struct System {
    handle: SystemHandle,
}

/// The report of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShutdownReport {
    /// The number of tasks that had to be cancelled.
    pub cancelled_tasks: usize,
    /// The actors in the order of stopping.
    pub actors: Vec<Stopped>,
    pub elapsed: Duration,
}

impl System {
    /// Starts the system and returns at once. The store opens and the embedding model loads behind it.
    pub async fn start(parts: SystemParts) -> Result<Self, Error> {
        let SystemParts {
            store: opener,
            embedder,
            model,
            provider,
            settings,
            clock,
            background,
            account,
            backups,
            working,
            artefacts,
            banks,
            consolidation,
        } = parts;
        let events = Events::default();
        let embeddings = EmbeddingCache::new();
        let store = StoreHandle::new(embeddings.clone());
        let cache = CacheHandle::new(settings.cache);
        let meters = Meters::new();
        let Decorated { model, once, breaker } = decorated(model, provider.clone(), &settings, &cache, &meters);
        let workspaces = WorkspacesHandle::new(store.clone(), settings.root_name, clock.clone());
        // The pools take as many calls as the admitted tasks can ask for.
        let calls = settings.solve.concurrency * *K_RANGE.end() as usize;
        let matts = MattsHandle::new(settings.pool.matts_workers, calls);
        let judge = JudgeHandle::new(settings.pool.judge_concurrency, calls);
        let metered = Arc::new(MeteredEmbedder::new(embedder, meters.clone()));
        let embedder = CachedEmbedder::new(metered, embeddings.clone());
        let usage = UsageHandle::new();
        let (found, kept) = (embedder.clone(), meters.clone());
        let memories = MemoriesHandle::new(
            store.clone(),
            workspaces.clone(),
            found,
            settings.retrieval,
            settings.promotes_by_itself,
            clock.clone(),
            kept,
        );
        let services = EpisodeServices {
            store: store.clone(),
            workspaces: workspaces.clone(),
            embedder: embedder.clone(),
            usage: usage.clone(),
            memories: memories.clone(),
            artefacts,
        };
        let episodes = EpisodesHandle::new(services, settings.episodes, clock.clone());
        let consolidation = ConsolidationHandle::new(
            store.clone(),
            workspaces.clone(),
            memories.clone(),
            embedder.clone(),
            consolidation,
            settings.episodes,
            clock.clone(),
        );
        let dependencies = AgentDependencies {
            model: Arc::clone(&model),
            matts: matts.clone(),
            judge: judge.clone(),
            memories: memories.clone(),
            clock: clock.clone(),
            settings: settings.solve.clone(),
        };
        let (budget, output) = (settings.solve.limits.prompt_token_budget, settings.solve.max_output_tokens);
        let may_spend = provider != NO_MODEL && distill::affords(budget, output, settings.distiller.daily_token_cap);
        let distiller = DistillerHandle::new(store.clone(), workspaces.clone(), dependencies.clock.clone(), may_spend);
        let with_model = (settings.learner.llm && may_spend).then(|| distiller.clone());
        let learner = LearnerHandle::new(workspaces.clone(), settings.learner, with_model);
        let agents = AgentsHandle::new(&dependencies, workspaces.clone(), events.clone(), meters.clone());
        let working = WorkingHandle::new(working, episodes.clone(), clock.clone());
        let cap = settings.distiller.daily_token_cap;
        let budgeted = (provider != NO_MODEL).then(|| BudgetedModel::new(once, account, cap, clock.clone()));
        let bank_model = budgeted
            .clone()
            .map(|model| Arc::new(LanguageBankModel::new(model, &settings.solve)) as Arc<dyn BankModel>);
        let banks = BanksHandle::new(banks, settings.banks.clone(), bank_model, clock.clone());
        let context = ContextHandle::new(
            workspaces.clone(),
            memories.clone(),
            episodes.clone(),
            embedder.clone(),
            banks.clone(),
            settings.tries_candidates,
        );
        let activity = ClientActivity::new();
        let mut children = vec![
            store.child(opener),
            cache.child(),
            workspaces.child(),
            matts.child(Arc::clone(&model)),
            judge.child(model),
            agents.child(dependencies.clone()),
            learner.child(memories.clone(), clock.clone()),
            usage.child(store.clone(), workspaces.clone(), clock),
            working.child(background.is_some()),
            banks.child(),
        ];
        children.extend(background.map(|lease| {
            distiller.child(DistillerArgs {
                store: store.clone(),
                memories: memories.clone(),
                episodes: episodes.clone(),
                events: events.clone(),
                model: budgeted,
                lease,
                clock: dependencies.clock.clone(),
                pace: distiller.pace(),
                prompts: Arc::clone(&settings.solve.prompts),
                prompt_token_budget: settings.solve.limits.prompt_token_budget,
                max_output_tokens: settings.solve.max_output_tokens,
            })
        }));
        let scheduled = Some(settings.consolidation).filter(|schedule| *schedule != ConsolidationSchedule::Off);
        children.extend(scheduled.map(|schedule| consolidation.child(schedule, activity.clone())));
        let backups = backups.map(|backups| (BackupsHandle::new(), backups));
        children.extend(backups.clone().map(|(handle, backups)| handle.child(backups, dependencies.clock.clone())));
        let backups = backups.map(|(handle, _)| handle);
        let args = SupervisorArgs::new("root", children, RestartLimits::default(), events.clone());
        let supervisor = SupervisorHandle::start(args).await.map_err(Error::internal)?;
        let handle = SystemHandle {
            agents,
            memories,
            episodes,
            consolidation,
            context,
            learner,
            distiller,
            store,
            workspaces,
            cache,
            usage,
            working,
            banks,
            backups,
            events,
            activity,
            started: Instant::now(),
            embedder,
            embeddings,
            meters,
            breaker,
            provider,
            supervisor,
        };
        Ok(Self { handle })
    }

    pub fn handle(&self) -> SystemHandle {
        self.handle.clone()
    }

    /// Stops in order. It admits no new tasks, and lets running ones go on to their end, or until `grace` is over. Then
    /// it stops the actors, the store last.
    pub async fn stop(self, grace: Duration) -> ShutdownReport {
        let begun = Instant::now();
        let cancelled_tasks = self.handle.agents.quiesce(Deadline::after(grace)).await;
        let order = [
            "agents",
            "learner",
            "backups",
            "consolidation",
            "distiller",
            "working",
            "banks",
            "usage",
            "judge",
            "matts",
            "workspaces",
            "cache",
            "store",
        ];
        let actors = self.handle.supervisor.stop_in_order(&order, grace).await.unwrap_or_default();
        ShutdownReport { cancelled_tasks, actors, elapsed: begun.elapsed() }
    }
}

/// Puts everything around the provider's model. The limit of requests is inside the retries, so that each request that
/// goes out counts.
fn decorated(
    provider: Arc<dyn LanguageModel>,
    name: String,
    settings: &SystemSettings,
    cache: &CacheHandle,
    meters: &Meters,
) -> Decorated {
    let scrubbed = Arc::new(ScrubbedModel::new(provider));
    let metered = Arc::new(MeteredModel::new(scrubbed, meters.clone()));
    let timed = Arc::new(TimedModel::new(metered, settings.solve.call_timeout));
    let rate_limit = NonZeroU32::new(settings.requests_per_minute).map(RateLimit::new);
    let limits = breaker::BreakerLimits::default();
    // Calls that hang end late. A window's worth of them, a few at a time, must still be looked at.
    let max_age = limits.max_age.max(settings.solve.call_timeout * 8);
    let guarded = Arc::new(Breaker::new(timed, breaker::BreakerLimits { max_age, ..limits }, rate_limit));
    let retried = Arc::new(RetriedModel::new(Arc::clone(&guarded) as Arc<_>, settings.retry, meters.clone()));
    let cached = |model| {
        let effort = settings.solve.reasoning_effort.clone();
        Arc::new(CachedModel::new(model, cache.clone(), name.clone(), effort)) as Arc<dyn LanguageModel>
    };
    Decorated { model: cached(retried), once: cached(Arc::clone(&guarded) as Arc<_>), breaker: guarded }
}

struct Decorated {
    model: Arc<dyn LanguageModel>,
    /// The model without retries. It is for work that sets aside what a call may cost, and that comes again by itself.
    once: Arc<dyn LanguageModel>,
    breaker: Arc<Breaker>,
}
