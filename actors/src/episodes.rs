//! Episodes as clients use them: `record` stores what a client tells, `search` finds, `read` lists and shows,
//! `lifecycle` archives, deletes, restores and purges, `artefacts` keeps files and long texts beside it, `transcript`
//! stores what transcripts tell, and `vectors` makes what meanings are compared by. This is no actor: it combines the
//! store, the embedder and the rules.

mod artefacts;
mod lifecycle;
mod read;
mod record;
mod search;
mod transcript;
mod vectors;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reasoning_bank_domain::episode::{EpisodeFilter, LifecycleRules};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use tokio::sync::Mutex;

use crate::embedding_cache::CachedEmbedder;
use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::ports::{Artefacts, Clock, EpisodeRow};
use crate::runtime::Deadline;
use crate::store::{KeyedWrite, StoreHandle};
use crate::usage::UsageHandle;
use crate::workspaces::{WorkspaceRef, WorkspacesHandle};

pub use read::{EpisodeListRequest, Shown};
pub use record::RecordEpisode;
pub use search::{EpisodeQuery, MAX_HITS};
pub use transcript::LearnedRequests;

#[derive(Clone)]
pub struct EpisodesHandle {
    store: StoreHandle,
    workspaces: WorkspacesHandle,
    embedder: CachedEmbedder,
    usage: UsageHandle,
    memories: MemoriesHandle,
    artefacts: Arc<dyn Artefacts>,
    rules: LifecycleRules,
    clock: Clock,
    /// True where this process has already looked for episodes without vectors before a search.
    filled: Arc<AtomicBool>,
    /// Held from the search for an episode that says the same until the new one is stored.
    reporting: Arc<Mutex<()>>,
}

/// The parts that the handle combines.
pub(crate) struct EpisodeServices {
    pub(crate) store: StoreHandle,
    pub(crate) workspaces: WorkspacesHandle,
    pub(crate) embedder: CachedEmbedder,
    pub(crate) usage: UsageHandle,
    pub(crate) memories: MemoriesHandle,
    pub(crate) artefacts: Arc<dyn Artefacts>,
}

impl EpisodesHandle {
    pub(crate) fn new(services: EpisodeServices, rules: LifecycleRules, clock: Clock) -> Self {
        let EpisodeServices { store, workspaces, embedder, usage, memories, artefacts } = services;
        Self {
            store,
            workspaces,
            embedder,
            usage,
            memories,
            artefacts,
            rules,
            clock,
            filled: Arc::default(),
            reporting: Arc::default(),
        }
    }

    /// Makes a handle that carries out this request of a client: its first commit stores the request as well.
    #[must_use]
    pub fn carrying_out(&self, write: KeyedWrite) -> Self {
        Self { store: self.store.carrying_out(write), ..self.clone() }
    }

    async fn workspace_of(&self, named: &WorkspaceRef, deadline: Deadline) -> Result<WorkspaceId, Error> {
        Ok(self.workspaces.resolve(named, deadline).await?.workspace.id)
    }

    fn filter(&self, workspace: WorkspaceId) -> EpisodeFilter {
        EpisodeFilter::of(workspace, self.rules, self.clock.now())
    }

    /// Reads an episode of the workspace, deleted or not. Any other is not found.
    async fn own(&self, id: TraceId, workspace: &WorkspaceId, deadline: Deadline) -> Result<EpisodeRow, Error> {
        let own = self.store.episode(id, Some(workspace.clone()), deadline).await?;
        own.ok_or_else(|| not_found(id))
    }
}

fn not_found(id: TraceId) -> Error {
    Error::NotFound(format!("episode {id} here"))
}
