//! Turns settings into a running bank: it chooses the store, the embedder and the language model, and starts the system
//! on them.

mod backups;
mod reading;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use reasoning_bank_actors::agents::SolveSettings;
use reasoning_bank_actors::cache::CacheLimits;
use reasoning_bank_actors::distiller::DistillerSettings;
use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::learner::LearnerSettings;
use reasoning_bank_actors::memories::RetrievalSettings;
use reasoning_bank_actors::model::{NoModel, RetryPolicy, Simulated, SimulatedBehaviour, SimulatedLatency};
use reasoning_bank_actors::ports::{
    Clock, Embedder, EmbedderState, Fingerprint, LanguageModel, MemoryStore, StoreError,
};
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::store::StoreOpener;
use reasoning_bank_actors::system::{PoolSettings, ShutdownReport, System, SystemHandle, SystemParts, SystemSettings};
use reasoning_bank_actors::workspaces::RootName;
use reasoning_bank_domain::consolidation::ConsolidationSchedule;
use reasoning_bank_domain::solve::agent_loop::RunLimits;
use tokio::sync::Mutex;

use self::backups::ScheduledBackups;
pub(crate) use self::reading::reading_system;
use crate::llm::{Api, Client, ClientError, Connection, HttpModel, KeyCheck, Models};
use crate::settings::{self, LlmSection, Loaded, Provider, Settings};
use reasoning_bank_store::data_dir;
use reasoning_bank_store::{
    ArtefactFiles, BackgroundLock, BankDirs, LanceStore, Options, ResidentUse, TokenAccountFile, TraceFileOptions,
    TraceFiles, WorkingFiles,
};

/// The store has this long for its last checkpoint.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// A bank: a running system over the data directory.
pub struct Bank {
    system: System,
    store: Opened,
    embedder: Arc<dyn Embedder>,
}

/// The store, once it is open. A restarted StoreActor gets the same one, whose commits may still be under way.
type Opened = Arc<Mutex<Option<Arc<LanceStore>>>>;

impl Bank {
    /// Starts a bank and returns at once: the store opens and the embedding model loads behind it. With
    /// `in_background`, it also works off the jobs that wait, unless another process does.
    pub async fn start(
        settings: &Settings,
        root_name: Option<RootName>,
        model: Arc<dyn LanguageModel>,
        embedder: Arc<dyn Embedder>,
        in_background: bool,
    ) -> Result<Self, Error> {
        let store = Opened::default();
        let consolidation = if in_background { settings.consolidation.schedule } else { ConsolidationSchedule::Off };
        let parts = SystemParts {
            store: opener(Arc::clone(&store), settings, embedder.fingerprint().clone()),
            embedder: Arc::clone(&embedder),
            model,
            provider: settings.llm.provider.as_str().to_owned(),
            settings: SystemSettings { root_name, consolidation, ..system_settings(settings) },
            clock: Clock::system(),
            working: Arc::new(WorkingFiles::of(&settings.data_dir)),
            artefacts: Arc::new(ArtefactFiles::of(&settings.data_dir)),
            banks: Arc::new(BankDirs::of(&settings.data_dir)),
            consolidation: Arc::new(BackgroundLock::of_consolidation(&settings.data_dir)),
            account: Arc::new(TokenAccountFile::of(&settings.data_dir)),
            background: in_background.then(|| Arc::new(BackgroundLock::of(&settings.data_dir)) as Arc<_>),
            backups: settings
                .backup
                .schedule()
                .filter(|_| in_background)
                .map(|schedule| Arc::new(ScheduledBackups::new(Arc::clone(&store), schedule)) as Arc<_>),
        };
        Ok(Self { system: System::start(parts).await?, store, embedder })
    }

    pub fn handle(&self) -> SystemHandle {
        self.system.handle()
    }

    /// Tells how much of the store is searched in memory. It is nothing before the store is open.
    pub async fn resident(&self) -> ResidentUse {
        self.store.lock().await.as_ref().map(|store| store.resident()).unwrap_or_default()
    }

    /// Returns when the embedding model is loaded or has failed, at the latest after `limit`. Work that searches once
    /// waits for it, because it would search by words alone otherwise.
    pub async fn embedder_ready(&self, limit: Duration) {
        const LOOK_EVERY: Duration = Duration::from_millis(5);
        let known = async {
            while self.embedder.state() == EmbedderState::Loading {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        let _ = tokio::time::timeout(limit, known).await;
    }

    /// Stops the bank. Running tasks end, or are cancelled after `grace`; the store is closed last.
    pub async fn stop(self, grace: Duration) -> ShutdownReport {
        let report = self.system.stop(grace).await;
        if let Some(store) = self.store.lock().await.take()
            && let Err(error) = store.close(Deadline::after(CLOSE_LIMIT)).await
        {
            tracing::warn!(%error, "the store was not closed cleanly; the journal is replayed at the next start");
        }
        report
    }
}

fn opener(opened: Opened, settings: &Settings, fingerprint: Fingerprint) -> StoreOpener {
    let (dir, trace_files) = (settings.data_dir.clone(), trace_files(settings));
    let options = Options { resident_bytes: settings.retrieval.resident_mb << 20, ..Options::default() };
    Arc::new(move || {
        let (opened, dir, fingerprint) = (Arc::clone(&opened), dir.clone(), fingerprint.clone());
        let (trace_files, options) = (trace_files.clone(), options.clone());
        async move {
            let mut opened = opened.lock().await;
            let store = match &*opened {
                Some(store) => Arc::clone(store),
                None => Arc::new(LanceStore::open(&dir, &fingerprint, options).await?),
            };
            *opened = Some(Arc::clone(&store));
            Ok::<Arc<dyn MemoryStore>, StoreError>(Arc::new(TraceFiles::new(
                store,
                trace_files,
                ArtefactFiles::of(&dir),
            )))
        }
        .boxed()
    })
}

fn trace_files(settings: &Settings) -> TraceFileOptions {
    let traces = &settings.traces;
    let dir =
        if traces.dir.as_os_str().is_empty() { settings.data_dir.join(data_dir::TRACES) } else { traces.dir.clone() };
    TraceFileOptions { dir, write: traces.files, retention_days: traces.retention_days }
}

/// The language model that is configured, and a check of its key where the provider can be asked.
pub struct ChosenModel {
    pub model: Arc<dyn LanguageModel>,
    pub key_check: Option<KeyCheck>,
}

impl ChosenModel {
    /// Chooses the model of the settings.
    ///
    /// # Errors
    /// No connections can be made at all on this machine.
    pub fn of(loaded: &Loaded) -> Result<Self, ClientError> {
        let llm = &loaded.settings.llm;
        let api = match llm.provider {
            Provider::Openrouter => Api::Openrouter,
            Provider::Responses => Api::Responses,
            Provider::Chat => Api::Chat,
            Provider::Simulated => return Ok(Self { model: Arc::new(simulated(&llm.simulated)), key_check: None }),
            Provider::None => return Ok(Self::none()),
        };
        let Some(base_url) = llm.endpoint() else { return Ok(Self::none()) };
        let client = Client::new(Connection {
            base_url,
            key: loaded.api_key.as_ref().map(|key| key.secret.clone()),
            attributed: api == Api::Openrouter,
        })?;
        let key_check = (api == Api::Openrouter).then(|| KeyCheck::new(client.clone()));
        let model = Arc::new(HttpModel::new(client, api, models(llm), &llm.effort));
        Ok(Self { model, key_check })
    }

    pub fn none() -> Self {
        Self { model: Arc::new(NoModel), key_check: None }
    }
}

fn simulated(settings: &settings::SimulatedSection) -> Simulated {
    Simulated::new(SimulatedBehaviour {
        seed: settings.seed,
        latency: SimulatedLatency { base: Duration::from_millis(settings.latency_ms), jitter: settings.jitter },
        failure_rate: settings.failure_rate,
    })
}

fn models(llm: &LlmSection) -> Models {
    let or_main = |name: &str| if name.trim().is_empty() { llm.model.clone() } else { name.trim().to_owned() };
    Models {
        main: llm.model.clone(),
        evaluate: or_main(&llm.models.evaluate),
        judge: or_main(&llm.models.judge),
        extract: or_main(&llm.models.extract),
        capture: or_main(&llm.models.capture),
    }
}

fn system_settings(settings: &Settings) -> SystemSettings {
    let (llm, agent, retrieval) = (&settings.llm, &settings.agent, &settings.retrieval);
    SystemSettings {
        solve: SolveSettings {
            limits: RunLimits {
                max_iterations: agent.max_iterations,
                success_threshold: agent.success_threshold,
                prompt_token_budget: agent.prompt_token_budget,
                total_token_budget: agent.total_token_budget,
            },
            max_output_tokens: llm.max_output_tokens,
            call_timeout: Duration::from_secs(llm.timeout_s),
            reasoning_effort: llm.effort.clone(),
            concurrency: agent.concurrency,
            prompts: Arc::clone(&llm.prompts),
        },
        retrieval: RetrievalSettings {
            profile: retrieval.profile,
            weights: (&retrieval.weights).into(),
            half_life_days: retrieval.half_life_days,
            min_relevance: retrieval.min_relevance,
            relevance_floor: retrieval.relevance_floor,
            n_results: retrieval.n_results,
        },
        episodes: (&settings.episodes).into(),
        banks: (&settings.banks).into(),
        consolidation: ConsolidationSchedule::Off,
        distiller: DistillerSettings { daily_token_cap: settings.background.daily_token_cap },
        cache: CacheLimits { max_entries: llm.cache.max_entries, ttl: Duration::from_secs(llm.cache.ttl_s) },
        retry: RetryPolicy {
            max_retries: llm.retry.max_retries,
            base_delay: Duration::from_millis(llm.retry.base_delay_ms),
        },
        requests_per_minute: llm.requests_per_minute,
        tries_candidates: settings.patterns.trial,
        promotes_by_itself: settings.promotion.automatic,
        learner: LearnerSettings {
            enabled: settings.passive.enabled,
            thresholds: (&settings.passive).into(),
            llm: settings.passive.llm,
        },
        pool: PoolSettings { matts_workers: settings.matts.workers, judge_concurrency: settings.judge.concurrency },
        root_name: None,
    }
}

#[cfg(test)]
mod tests;
