//! One call finds what helps with a task: the patterns that apply, the memories and the episodes that are about it, in
//! one text. `recovery` does the same for an error, and `learn` takes what came of the task. This is no actor: it
//! combines memories and episodes. The only state that it holds is what this process has shown lately.

mod learn;
mod recovery;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use reasoning_bank_domain::context::{
    BUDGET_DEFAULT, BUDGET_MAX, BUDGET_MIN, ContextForTask, ContextMap, EPISODE_SIMILARITY, EPISODES_MAX, FoundForTask,
    FoundSection, KNOWLEDGE_MAX, ShownContext, WARNINGS_MAX, sections_about, task_features,
};
use reasoning_bank_domain::episode::Strategy;
use reasoning_bank_domain::memory::ids::{ContextId, TraceId};
use reasoning_bank_domain::memory::pattern::{FeatureValue, PatternStage};
use reasoning_bank_domain::memory::trace::TASK_MAX_CHARS;
use reasoning_bank_domain::memory::workspace::{ProposedScopes, WorkspaceId};
use reasoning_bank_domain::memory::{check_range, check_text, gist};
use reasoning_bank_domain::pattern::finding::PatternQuestion;
use tokio::sync::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use crate::banks::BanksHandle;
use crate::embedding_cache::CachedEmbedder;
use crate::episodes::{EpisodeQuery, EpisodesHandle};
use crate::error::Error;
use crate::memories::{MemoriesHandle, RetrieveRequest};
use crate::ports::BankLocation;
use crate::runtime::Deadline;
use crate::store::KeyedWrite;
use crate::workspaces::{Resolved, WorkspaceRef, WorkspacesHandle};

pub use learn::{GivenContext, LearnEpisode};
pub use recovery::RecoveryRequest;

/// The most contexts that this process remembers. They are fewer where their tasks are long.
const CONTEXTS_MAX: u64 = 1_024;
/// The least bytes that a context counts for in what all of them may take together.
const CONTEXT_BYTES: u32 = 32 * 1_024;
/// The time after which a context is forgotten.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of patterns that are looked at for those that are about the task.
const PATTERNS_LOOKED_AT: usize = 50;

/// A question for what helps with a task.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRequest {
    pub task: String,
    pub workspace: WorkspaceRef,
    pub domain: Option<String>,
    pub task_type: Option<String>,
    /// The other features that are known of the task, by name.
    pub context: ContextMap,
    /// The most tokens of the text, in 100..=20,000.
    pub budget_tokens: usize,
    /// The team and the organisation that the checkout proposes.
    pub proposed: ProposedScopes,
    /// The task gets its vector within this time, or is searched by its words alone, which the answer says. None: the
    /// first half of the caller's time.
    pub embedding_timeout: Option<Duration>,
    /// The work tree of the caller, in which an adopted folder of the memory bank is looked for. None stands for the
    /// root of the workspace.
    pub work_tree: Option<PathBuf>,
}

impl ContextRequest {
    pub fn new(task: impl Into<String>, workspace: WorkspaceRef) -> Self {
        Self {
            task: task.into(),
            workspace,
            domain: None,
            task_type: None,
            context: ContextMap::new(),
            budget_tokens: BUDGET_DEFAULT,
            proposed: ProposedScopes::default(),
            embedding_timeout: None,
            work_tree: None,
        }
    }
}

/// A context that was shown, and the episode that came of it.
struct RememberedContext {
    shown: ShownContext,
    /// The workspace as it was then.
    begun: Resolved,
    /// Whoever learns from the context has this, so that one episode comes of it.
    episode: Arc<Mutex<Option<TraceId>>>,
}

#[derive(Clone)]
pub struct ContextHandle {
    workspaces: WorkspacesHandle,
    memories: MemoriesHandle,
    episodes: EpisodesHandle,
    embedder: CachedEmbedder,
    banks: BanksHandle,
    /// A candidate may be shown where validated patterns leave a place.
    tries_candidates: bool,
    /// A context belongs to its workspace: under any other its id is unknown.
    remembered: Cache<(WorkspaceId, ContextId), Arc<RememberedContext>>,
}

impl ContextHandle {
    pub(crate) fn new(
        workspaces: WorkspacesHandle,
        memories: MemoriesHandle,
        episodes: EpisodesHandle,
        embedder: CachedEmbedder,
        banks: BanksHandle,
        tries_candidates: bool,
    ) -> Self {
        let weight = |_: &(WorkspaceId, ContextId), context: &Arc<RememberedContext>| {
            u32::try_from(context.shown.bytes()).unwrap_or(u32::MAX).max(CONTEXT_BYTES)
        };
        let remembered = Cache::builder()
            .max_capacity(CONTEXTS_MAX * u64::from(CONTEXT_BYTES))
            .weigher(weight)
            .time_to_live(KEPT_FOR)
            .build();
        Self { workspaces, memories, episodes, embedder, banks, tries_candidates, remembered }
    }

    /// Makes a handle that carries out this request of a client: its first commit stores the request as well.
    #[must_use]
    pub fn carrying_out(&self, write: KeyedWrite) -> Self {
        Self {
            memories: self.memories.carrying_out(write.clone()),
            episodes: self.episodes.carrying_out(write),
            ..self.clone()
        }
    }

    /// Finds what helps with a task. The task is embedded once; then everything is searched at the same time.
    pub async fn for_task(&self, request: ContextRequest, deadline: Deadline) -> Result<ContextForTask, Error> {
        let started = Instant::now();
        check_text("task", &request.task, TASK_MAX_CHARS)?;
        check_range("budget_tokens", request.budget_tokens, BUDGET_MIN..=BUDGET_MAX)?;
        let in_context = match request.context.get("task_type") {
            Some(FeatureValue::Text(kind)) => Some(kind.clone()),
            _ => None,
        };
        let told_kind = request.task_type.clone().or(in_context);
        let features = task_features(&request.task, request.domain, request.task_type, request.context)?;
        let begun = self.workspaces.resolve(&request.workspace, deadline).await?;
        let query = gist(&request.task);
        let timeout = self.embedded(&query, &begun.workspace.id, request.embedding_timeout, deadline).await;
        let question =
            PatternQuestion { features: features.clone(), limit: PATTERNS_LOOKED_AT, ..PatternQuestion::default() };
        let of_memories = RetrieveRequest {
            domain: features.domain.clone(),
            error_signature: features.error_signature.clone(),
            proposed: request.proposed,
            embedding_timeout: timeout,
            ..RetrieveRequest::new(query.clone(), request.workspace.clone(), KNOWLEDGE_MAX + WARNINGS_MAX)
        };
        let of_episodes = EpisodeQuery {
            domain: features.domain.clone(),
            min_similarity: EPISODE_SIMILARITY,
            embedding_timeout: timeout,
            ..EpisodeQuery::new(request.workspace.clone(), Strategy::Semantic, Some(query), EPISODES_MAX)
        };
        let unproven = PatternQuestion { stages: vec![PatternStage::Candidate], ..question.clone() };
        let candidates = async {
            match self.tries_candidates {
                true => self.memories.suggested_patterns(&request.workspace, &unproven, deadline).await,
                false => Ok(Vec::new()),
            }
        };
        let (patterns, candidates, (memories, mut notes), episodes) = futures::try_join!(
            self.memories.suggested_patterns(&request.workspace, &question, deadline),
            candidates,
            self.memories.recall(of_memories, deadline),
            self.episodes.search(of_episodes, deadline),
        )?;
        notes.extend(episodes.notes);
        let BankLocation { key, checkout } = BankLocation::of_workspace(&begun.workspace);
        let place = BankLocation { key, checkout: request.work_tree.or(checkout) };
        let sections = self.sections(&request.task, &place, deadline).await;
        let (task, episodes) = (request.task.clone(), episodes.hits);
        let found = FoundForTask { task, patterns, candidates, memories, episodes, sections, notes };
        let mut answer = ContextForTask::new(Uuid::now_v7().into(), found, &features, request.budget_tokens);
        let shown = ShownContext::of(&answer, &request.task, features.domain.as_deref(), told_kind.as_deref());
        self.remember(shown.with_features(&features), begun).await;
        answer.took_ms = started.elapsed().as_millis() as u64;
        Ok(answer)
    }

    /// Finds the sections of the workspace's memory bank that are about a task. A bank that cannot be read keeps nobody
    /// waiting.
    async fn sections(&self, task: &str, place: &BankLocation, deadline: Deadline) -> Vec<FoundSection> {
        match self.banks.texts(place, deadline.halfway()).await {
            Ok((texts, is_adopted)) => sections_about(task, &texts, is_adopted),
            Err(error) => {
                tracing::warn!(%error, "the memory bank of the workspace cannot be read");
                Vec::new()
            }
        }
    }

    /// Has a text embedded, so that the searches find its vector in the cache. Returns how long each of them may wait
    /// for it: not at all where this waited in vain.
    async fn embedded(
        &self,
        query: &str,
        workspace: &WorkspaceId,
        timeout: Option<Duration>,
        deadline: Deadline,
    ) -> Option<Duration> {
        let half = deadline.halfway();
        let until = timeout.map_or(half, |timeout| half.at_most(timeout));
        let embedded = self.embedder.of(workspace).embed_query(query.to_owned(), until).await;
        embedded.is_err().then_some(Duration::ZERO)
    }

    async fn remember(&self, shown: ShownContext, begun: Resolved) {
        let key = (begun.workspace.id.clone(), shown.context_id);
        let episode = Arc::default();
        self.remembered.insert(key, Arc::new(RememberedContext { shown, begun, episode })).await;
    }
}
