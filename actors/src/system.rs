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
use crate::consolidation::{ConsolidationHandle, ConsolidationServices, PatternModel};
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
use crate::runtime::{ChildSpec, ChildStatus, Deadline, Ended, Events, Stopped, SupervisorArgs, SupervisorHandle};
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

impl SystemParts {
    fn has_model(&self) -> bool {
        self.provider != NO_MODEL
    }

    /// Tells whether a model may be asked about sessions and exchanges without anybody asking for it.
    fn may_spend(&self) -> bool {
        let SystemSettings { solve, distiller, .. } = &self.settings;
        let (budget, output) = (solve.limits.prompt_token_budget, solve.max_output_tokens);
        self.has_model() && distill::affords(budget, output, distiller.daily_token_cap)
    }
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
        let handles = Handles::new(&parts);
        let children = handles.children(&parts);
        let events = handles.base.events.clone();
        let args = SupervisorArgs::new("root", children, RestartLimits::default(), events);
        let supervisor = SupervisorHandle::start(args).await.map_err(Error::internal)?;
        Ok(Self { handle: handles.of_system(parts.provider, supervisor) })
    }

    pub fn handle(&self) -> SystemHandle {
        self.handle.clone()
    }

    /// Stops in order. It admits no new tasks, and lets running ones go on to their end, or until `grace` is over. Then
    /// it stops the actors, from the last of `Handles::children` to the first, which is the store.
    pub async fn stop(self, grace: Duration) -> ShutdownReport {
        let begun = Instant::now();
        let cancelled_tasks = self.handle.agents.quiesce(Deadline::after(grace)).await;
        let actors = self.handle.supervisor.stop_in_order(&[], grace).await.unwrap_or_default();
        ShutdownReport { cancelled_tasks, actors, elapsed: begun.elapsed() }
    }
}

/// The parts that all others use.
struct Base {
    events: Events,
    meters: Meters,
    embeddings: EmbeddingCache,
    embedder: CachedEmbedder,
    store: StoreHandle,
    cache: CacheHandle,
    workspaces: WorkspacesHandle,
    usage: UsageHandle,
}

impl Base {
    fn new(parts: &SystemParts) -> Self {
        let (embeddings, meters) = (EmbeddingCache::new(), Meters::new());
        let metered = Arc::new(MeteredEmbedder::new(Arc::clone(&parts.embedder), meters.clone()));
        let store = StoreHandle::new(embeddings.clone());
        let workspaces = WorkspacesHandle::new(store.clone(), parts.settings.root_name.clone(), parts.clock.clone());
        Self {
            events: Events::default(),
            embedder: CachedEmbedder::new(metered, embeddings.clone()),
            cache: CacheHandle::new(parts.settings.cache),
            usage: UsageHandle::new(),
            meters,
            embeddings,
            store,
            workspaces,
        }
    }
}

/// The handles of all parts. Nothing runs behind them before their children are started.
struct Handles {
    base: Base,
    breaker: Arc<Breaker>,
    /// The model for work that nobody asked for. None where there is no model.
    budgeted: Option<BudgetedModel>,
    dependencies: AgentDependencies,
    agents: AgentsHandle,
    memories: MemoriesHandle,
    episodes: EpisodesHandle,
    consolidation: ConsolidationHandle,
    context: ContextHandle,
    distiller: DistillerHandle,
    learner: LearnerHandle,
    working: WorkingHandle,
    banks: BanksHandle,
    backups: Option<BackupsHandle>,
    activity: ClientActivity,
}

impl Handles {
    fn new(parts: &SystemParts) -> Self {
        let (base, settings, clock) = (Base::new(parts), &parts.settings, &parts.clock);
        let Decorated { model, once, breaker } = decorated(parts, &base.cache, &base.meters);
        let cap = settings.distiller.daily_token_cap;
        let account = Arc::clone(&parts.account);
        let budgeted = parts.has_model().then(|| BudgetedModel::new(once, account, cap, clock.clone()));
        let memories = memories(parts, &base);
        let episodes = episodes(parts, &base, &memories);
        let dependencies = dependencies(parts, model, &memories);
        let distiller =
            DistillerHandle::new(base.store.clone(), base.workspaces.clone(), clock.clone(), parts.may_spend());
        let with_model = (settings.learner.llm && parts.may_spend()).then(|| distiller.clone());
        let banks = banks(parts, budgeted.clone());
        let (workspaces, embedder) = (&base.workspaces, &base.embedder);
        Self {
            breaker,
            agents: AgentsHandle::new(&dependencies, workspaces.clone(), base.events.clone(), base.meters.clone()),
            consolidation: consolidation(parts, &base, &memories, budgeted.clone()),
            context: ContextHandle::new(
                workspaces.clone(),
                memories.clone(),
                episodes.clone(),
                embedder.clone(),
                banks.clone(),
                settings.tries_candidates,
            ),
            learner: LearnerHandle::new(workspaces.clone(), settings.learner, with_model),
            working: WorkingHandle::new(Arc::clone(&parts.working), episodes.clone(), clock.clone()),
            backups: parts.backups.is_some().then(BackupsHandle::new),
            activity: ClientActivity::new(),
            budgeted,
            dependencies,
            memories,
            episodes,
            distiller,
            banks,
            base,
        }
    }

    /// Returns the actors in the order of their start. They are stopped in the opposite order, so each stands behind
    /// those that it needs to the end.
    fn children(&self, parts: &SystemParts) -> Vec<ChildSpec> {
        let (base, clock, AgentDependencies { model, matts, judge, .. }) =
            (&self.base, &parts.clock, &self.dependencies);
        let mut children = vec![
            base.store.child(Arc::clone(&parts.store)),
            base.cache.child(),
            base.workspaces.child(),
            matts.child(Arc::clone(model)),
            judge.child(Arc::clone(model)),
            base.usage.child(base.store.clone(), base.workspaces.clone(), clock.clone()),
            self.banks.child(),
            self.working.child(parts.background.is_some()),
        ];
        children.extend(parts.background.clone().map(|lease| self.distiller_child(parts, lease)));
        let schedule = parts.settings.consolidation;
        let is_scheduled = schedule != ConsolidationSchedule::Off;
        children.extend(is_scheduled.then(|| self.consolidation.child(schedule, self.activity.clone())));
        let backups = self.backups.as_ref().zip(parts.backups.clone());
        children.extend(backups.map(|(handle, backups)| handle.child(backups, clock.clone())));
        children.push(self.learner.child(self.memories.clone(), clock.clone()));
        children.push(self.agents.child(self.dependencies.clone()));
        children
    }

    fn distiller_child(&self, parts: &SystemParts, lease: Arc<dyn Lease>) -> ChildSpec {
        let solve = &parts.settings.solve;
        self.distiller.child(DistillerArgs {
            store: self.base.store.clone(),
            memories: self.memories.clone(),
            episodes: self.episodes.clone(),
            events: self.base.events.clone(),
            model: self.budgeted.clone(),
            lease,
            clock: parts.clock.clone(),
            pace: self.distiller.pace(),
            prompts: Arc::clone(&solve.prompts),
            prompt_token_budget: solve.limits.prompt_token_budget,
            max_output_tokens: solve.max_output_tokens,
        })
    }

    fn of_system(self, provider: String, supervisor: SupervisorHandle) -> SystemHandle {
        let Base { events, meters, embeddings, embedder, store, cache, workspaces, usage } = self.base;
        SystemHandle {
            agents: self.agents,
            memories: self.memories,
            episodes: self.episodes,
            consolidation: self.consolidation,
            context: self.context,
            distiller: self.distiller,
            learner: self.learner,
            store,
            workspaces,
            cache,
            usage,
            working: self.working,
            banks: self.banks,
            backups: self.backups,
            events,
            activity: self.activity,
            started: Instant::now(),
            embedder,
            embeddings,
            meters,
            breaker: self.breaker,
            provider,
            supervisor,
        }
    }
}

fn memories(parts: &SystemParts, base: &Base) -> MemoriesHandle {
    MemoriesHandle::new(
        base.store.clone(),
        base.workspaces.clone(),
        base.embedder.clone(),
        parts.settings.retrieval.clone(),
        parts.settings.promotes_by_itself,
        parts.clock.clone(),
        base.meters.clone(),
    )
}

fn episodes(parts: &SystemParts, base: &Base, memories: &MemoriesHandle) -> EpisodesHandle {
    let services = EpisodeServices {
        store: base.store.clone(),
        workspaces: base.workspaces.clone(),
        embedder: base.embedder.clone(),
        usage: base.usage.clone(),
        memories: memories.clone(),
        artefacts: Arc::clone(&parts.artefacts),
    };
    EpisodesHandle::new(services, parts.settings.episodes, parts.clock.clone())
}

fn consolidation(
    parts: &SystemParts,
    base: &Base,
    memories: &MemoriesHandle,
    model: Option<BudgetedModel>,
) -> ConsolidationHandle {
    let services = ConsolidationServices {
        store: base.store.clone(),
        workspaces: base.workspaces.clone(),
        memories: memories.clone(),
        embedder: base.embedder.clone(),
        lease: Arc::clone(&parts.consolidation),
        model: PatternModel::new(model, &parts.settings.solve),
    };
    ConsolidationHandle::new(services, parts.settings.episodes, parts.clock.clone())
}

fn dependencies(parts: &SystemParts, model: Arc<dyn LanguageModel>, memories: &MemoriesHandle) -> AgentDependencies {
    let SystemSettings { solve, pool, .. } = &parts.settings;
    // The pools take as many calls as the admitted tasks can ask for.
    let calls = solve.concurrency * *K_RANGE.end() as usize;
    AgentDependencies {
        model,
        matts: MattsHandle::new(pool.matts_workers, calls),
        judge: JudgeHandle::new(pool.judge_concurrency, calls),
        memories: memories.clone(),
        clock: parts.clock.clone(),
        settings: solve.clone(),
    }
}

fn banks(parts: &SystemParts, model: Option<BudgetedModel>) -> BanksHandle {
    let SystemSettings { banks, solve, .. } = &parts.settings;
    let model = model.map(|model| Arc::new(LanguageBankModel::new(model, solve)) as Arc<dyn BankModel>);
    BanksHandle::new(Arc::clone(&parts.banks), banks.clone(), model, parts.clock.clone())
}

/// Puts everything around the provider's model. The limit of requests is inside the retries, so that each request that
/// goes out counts.
fn decorated(parts: &SystemParts, cache: &CacheHandle, meters: &Meters) -> Decorated {
    let SystemParts { settings, provider, .. } = parts;
    let scrubbed = Arc::new(ScrubbedModel::new(Arc::clone(&parts.model)));
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
        Arc::new(CachedModel::new(model, cache.clone(), provider.clone(), effort)) as Arc<dyn LanguageModel>
    };
    Decorated { model: cached(retried), once: cached(Arc::clone(&guarded) as Arc<_>), breaker: guarded }
}

struct Decorated {
    model: Arc<dyn LanguageModel>,
    /// The model without retries. It is for work that sets aside what a call may cost, and that comes again by itself.
    once: Arc<dyn LanguageModel>,
    breaker: Arc<Breaker>,
}
