//! Memories as clients use them. This is no actor: it combines the store, the embedder and the rules. The only state
//! that it holds is what sessions left in this process.
//!
//! Each kind of use has a file. `recall` finds memories, `list` goes through them page by page, and `genealogy` shows
//! where one came from. `record` keeps a lesson that a caller gives, `capture` what was found in conversations, `learn`
//! what a solve or a session leaves, and `restore` what an import brings. `edit` changes and deletes memories,
//! `promote` shares them, `supersede` says which one takes the place of another, and `withdraw` takes out of search
//! what was taken back. `feedback` takes reports, and `stability` judges memories by later commits. `patterns` is all
//! of this for patterns.
//!
//! The other files are parts of these uses. `compare` asks what a lesson is to the memories that are there, and
//! `merge_sources` gives the sources of a lesson to the memory that it confirms. `passages` makes the pieces of text
//! that are searched. `overrule` has what a report changes beside its own votes, and `worked_warnings` notes that a
//! warning helped. `copies` finds what wider scopes have of a workspace, and `duplicates` makes the records of a merge.

mod capture;
mod compare;
mod copies;
mod duplicates;
mod edit;
mod feedback;
mod genealogy;
mod learn;
mod list;
mod merge_sources;
mod overrule;
mod passages;
mod patterns;
mod promote;
mod recall;
mod record;
mod restore;
mod stability;
mod supersede;
mod withdraw;
mod worked_warnings;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::workspace::{ProposedScopes, Workspace};
use reasoning_bank_domain::retrieval::conditions::TimeRange;
use reasoning_bank_domain::retrieval::responses::{MemoryDetail, MemoryView};
use reasoning_bank_domain::retrieval::score::{Profile, ProfileName, Weights};

use crate::embedding_cache::CachedEmbedder;
use crate::error::Error;
use crate::ports::{Clock, Conditions, MemoryRow, Visible};
use crate::runtime::Deadline;
use crate::sessions::Sessions;
use crate::statistics::Meters;
use crate::store::{KeyedWrite, StoreHandle};
use crate::workspaces::{WorkspaceRef, WorkspacesHandle};

pub(crate) use compare::content_vector;
pub use copies::PromotedCopies;
pub use edit::{Erasure, UpdateRequest};
pub(crate) use learn::StoredLessons;
pub use list::ListRequest;
pub use patterns::{NewPattern, PatternQuery};
pub(crate) use patterns::{checked, contradicting};
pub use reasoning_bank_domain::evidence::feedback::{FeedbackRequest, Learning};
pub use reasoning_bank_domain::learning::recording::RecordRequest;
pub use recall::{MAX_QUERY_CHARS, MAX_RESULTS};
pub use restore::{MissingVectors, Restorable};
pub use supersede::SaidBy;

#[derive(Debug, Clone, PartialEq)]
pub struct RetrievalSettings {
    pub profile: ProfileName,
    pub weights: Weights,
    pub half_life_days: f64,
    /// The relevance that a memory needs to be in an answer where the caller does not say, in 0..=1; 0 leaves nothing
    /// out.
    pub min_relevance: f64,
    /// The relevance that a memory needs where nobody asked for it, in 0..=1: in the solver's prompts, and in what a
    /// hook adds to a prompt.
    pub relevance_floor: f64,
    /// The number of memories that a solve retrieves before it chooses which to inject.
    pub n_results: usize,
}

#[derive(Clone)]
pub struct MemoriesHandle {
    store: StoreHandle,
    workspaces: WorkspacesHandle,
    embedder: CachedEmbedder,
    settings: Arc<RetrievalSettings>,
    /// True where a memory is shared more widely as soon as it deserves that, without being asked for.
    promotes_by_itself: bool,
    clock: Clock,
    meters: Meters,
    pub(crate) sessions: Sessions,
}

impl MemoriesHandle {
    pub(crate) fn new(
        store: StoreHandle,
        workspaces: WorkspacesHandle,
        embedder: CachedEmbedder,
        settings: RetrievalSettings,
        promotes_by_itself: bool,
        clock: Clock,
        meters: Meters,
    ) -> Self {
        let (settings, sessions) = (Arc::new(settings), Sessions::new());
        Self { store, workspaces, embedder, settings, promotes_by_itself, clock, meters, sessions }
    }

    /// Makes a handle that carries out this request of a client: its first commit stores the request as well.
    #[must_use]
    pub fn carrying_out(&self, write: KeyedWrite) -> Self {
        Self { store: self.store.carrying_out(write), ..self.clone() }
    }

    /// Returns the relevance that a memory needs where nobody asked for it, in 0..=1.
    pub fn relevance_floor(&self) -> f64 {
        self.settings.relevance_floor
    }

    /// Reads a memory that the workspace may read. Any other is not found.
    pub async fn get(&self, id: MemoryId, workspace: &WorkspaceRef, deadline: Deadline) -> Result<MemoryView, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let MemoryRow { memory, evidence } = self.readable_one(id, &workspace, deadline).await?;
        Ok(MemoryView::new(memory, &evidence, self.clock.now()))
    }

    /// Reads a memory as [`Self::get`] does, with all that is known of it.
    pub async fn show(
        &self,
        id: MemoryId,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<MemoryDetail, Error> {
        let workspace = self.workspaces.resolve(workspace, deadline).await?.workspace;
        let MemoryRow { memory, evidence } = self.readable_one(id, &workspace, deadline).await?;
        Ok(MemoryDetail::new(memory, &evidence, self.clock.now()))
    }

    async fn readable_one(&self, id: MemoryId, workspace: &Workspace, deadline: Deadline) -> Result<MemoryRow, Error> {
        let row = self.readable(vec![id], workspace, deadline).await?.pop();
        row.ok_or_else(|| Error::NotFound(format!("memory {id} here")))
    }

    /// Reads those of `ids` that the workspace may read.
    pub(crate) async fn readable(
        &self,
        ids: Vec<MemoryId>,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Vec<MemoryRow>, Error> {
        self.store.readable(ids, visible(workspace, ScopeFilter::Cascade), deadline).await
    }

    fn profile(&self, name: Option<ProfileName>) -> Profile {
        let settings = &self.settings;
        Profile::new(name.unwrap_or(settings.profile), settings.weights, settings.half_life_days)
    }
}

/// Returns whose memories the workspace may read in these scopes.
fn visible(workspace: &Workspace, scopes: ScopeFilter) -> Visible {
    let project = scopes.includes(Scope::Project).then(|| workspace.id.clone());
    let readers = |scope| workspace.readers(scope).filter(|_| scopes.includes(scope)).map(str::to_owned);
    Visible { workspace: project, team: readers(Scope::Team), org: readers(Scope::Org) }
}

/// Returns the conditions with the range of time, as it is now.
fn with_time_range(conditions: &Conditions, made: &TimeRange, now: Timestamp) -> Result<Conditions, Error> {
    let (since, until) = made.read(now).map_err(|bad| Error::invalid(bad.end, bad.problem))?;
    Ok(Conditions { since, until, ..conditions.clone() })
}

/// The scopes that a query reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeFilter {
    /// The project, the team and the organisation.
    #[default]
    Cascade,
    Project,
    Team,
    Org,
}

impl ScopeFilter {
    fn includes(self, scope: Scope) -> bool {
        match self {
            Self::Cascade => true,
            Self::Project => scope == Scope::Project,
            Self::Team => scope == Scope::Team,
            Self::Org => scope == Scope::Org,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RetrieveRequest {
    pub query: String,
    /// The most memories in the answer, in 1..=50.
    pub n_results: usize,
    pub workspace: WorkspaceRef,
    pub scopes: ScopeFilter,
    /// The team and the organisation that the checkout proposes. The answer names those that nobody has agreed to as
    /// missing.
    pub proposed: ProposedScopes,
    /// Memories of this domain rank higher.
    pub domain: Option<String>,
    /// The answer has only memories that meet these conditions. Their range of time comes from `made`.
    pub conditions: Conditions,
    pub made: TimeRange,
    /// The error that was met, as a signature, an error type or a raw message.
    pub error_signature: Option<String>,
    pub min_confidence: Option<f64>,
    /// True where memories that newer ones took the place of are found, too.
    pub include_superseded: bool,
    /// The least relevance of an answer, in 0..=1; 0 gives what is nearest, however far. None: the configured one.
    pub min_relevance: Option<f64>,
    /// The profile that ranks. None: the configured one.
    pub profile: Option<ProfileName>,
    pub max_tokens: Option<usize>,
    /// The query gets its vector within this time, or is searched by its words alone, which the answer says. None: the
    /// first half of the caller's time.
    pub embedding_timeout: Option<Duration>,
}

impl RetrieveRequest {
    pub fn new(query: impl Into<String>, workspace: WorkspaceRef, n_results: usize) -> Self {
        Self {
            query: query.into(),
            n_results,
            workspace,
            scopes: ScopeFilter::Cascade,
            proposed: ProposedScopes::default(),
            domain: None,
            conditions: Conditions::default(),
            made: TimeRange::default(),
            error_signature: None,
            min_confidence: None,
            include_superseded: false,
            min_relevance: None,
            profile: None,
            max_tokens: None,
            embedding_timeout: None,
        }
    }
}
