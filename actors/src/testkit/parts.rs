//! The parts of a system over a store that is open already: what a test or a bench does not care about is filled in.

use std::sync::Arc;

use futures::FutureExt;
use reasoning_bank_domain::consolidation::ConsolidationSchedule;
use reasoning_bank_domain::episode::LifecycleRules;
use reasoning_bank_domain::retrieval::score::{ProfileName, Weights};

use super::{HashEmbedder, MemAccount, MemArtefacts, MemBanks, MemLease, MemLogs};
use crate::agents::SolveSettings;
use crate::banks::BankSettings;
use crate::cache::CacheLimits;
use crate::distiller::DistillerSettings;
use crate::learner::LearnerSettings;
use crate::memories::RetrievalSettings;
use crate::model::RetryPolicy;
use crate::ports::{Clock, LanguageModel, MemoryStore, StoreError};
use crate::store::StoreOpener;
use crate::system::{PoolSettings, SystemParts, SystemSettings};

/// Makes an opener that gives this store each time it is asked.
pub fn opener_of(store: Arc<dyn MemoryStore>) -> StoreOpener {
    Arc::new(move || {
        let store = Arc::clone(&store);
        async move { Ok::<_, StoreError>(store) }.boxed()
    })
}

/// The settings of a search in tests. An answer leaves nothing out, because what the hash embedder finds alike is no
/// measure of relevance. What holds for users is in `config/default.toml`.
impl Default for RetrievalSettings {
    fn default() -> Self {
        Self {
            profile: ProfileName::Composite,
            weights: Weights::COMPOSITE,
            half_life_days: 30.0,
            min_relevance: 0.0,
            relevance_floor: 0.2,
            n_results: 5,
        }
    }
}

impl Default for SystemSettings {
    fn default() -> Self {
        Self {
            solve: SolveSettings::default(),
            retrieval: RetrievalSettings::default(),
            distiller: DistillerSettings::default(),
            episodes: LifecycleRules::default(),
            banks: BankSettings::default(),
            consolidation: ConsolidationSchedule::Off,
            cache: CacheLimits::default(),
            retry: RetryPolicy::default(),
            requests_per_minute: 0,
            pool: PoolSettings::default(),
            learner: LearnerSettings::default(),
            root_name: None,
            tries_candidates: false,
            promotes_by_itself: false,
        }
    }
}

/// Makes a system over this store and this model, with the hash embedder, the default settings and the time of the
/// machine. It does no background jobs.
pub fn parts(store: Arc<dyn MemoryStore>, model: impl LanguageModel) -> SystemParts {
    SystemParts {
        store: opener_of(store),
        embedder: Arc::new(HashEmbedder::new()),
        model: Arc::new(model),
        provider: "test".into(),
        settings: SystemSettings::default(),
        clock: Clock::system(),
        background: None,
        account: Arc::new(MemAccount::default()),
        backups: None,
        working: Arc::new(MemLogs::default()),
        artefacts: Arc::new(MemArtefacts::default()),
        banks: Arc::new(MemBanks::default()),
        consolidation: Arc::new(MemLease::default()),
    }
}
