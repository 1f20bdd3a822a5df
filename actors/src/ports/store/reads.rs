//! The types of what reads are asked for and of what they give.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeState, QuantizedVector};
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::learning::job::JobState;
use reasoning_bank_domain::memory::ids::{MemoryId, RunId};
use reasoning_bank_domain::memory::pattern::PatternStage;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, Scope, Status};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::system::statistics::ResidentStatistics;

/// The workspace, the team and the organisation whose memories a read may show. The server builds this, never a client.
/// A memory is read by those whom its scope names and by nobody else: its workspace, its team or its organisation. With
/// all three unset nothing is visible.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visible {
    pub workspace: Option<WorkspaceId>,
    pub team: Option<String>,
    pub org: Option<String>,
}

impl Visible {
    /// Returns those who read this memory, and nobody else.
    pub fn readers_of(memory: &Memory) -> Self {
        let (scope, owner) = memory.owner();
        let owner_in = |of: Scope| owner.filter(|_| scope == of).map(str::to_owned);
        let workspace = (scope == Scope::Project).then(|| memory.workspace_id.clone());
        Self { workspace, team: owner_in(Scope::Team), org: owner_in(Scope::Org) }
    }

    /// Returns the name of those in a scope whose memories may be shown.
    fn readers(&self, scope: Scope) -> Option<&str> {
        match scope {
            Scope::Project => self.workspace.as_ref().map(WorkspaceId::as_str),
            Scope::Team => self.team.as_deref(),
            Scope::Org => self.org.as_deref(),
        }
    }

    /// Tells whether this memory may be shown.
    pub fn contains(&self, memory: &Memory) -> bool {
        let (scope, owner) = memory.owner();
        owner.is_some() && self.readers(scope) == owner
    }
}

/// A search for candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    pub visible: Visible,
    pub conditions: Conditions,
    /// The search finds superseded memories as well as active ones.
    pub with_superseded: bool,
    /// The words to search for. Where they are absent or blank there is no text list.
    pub text: Option<String>,
    /// The vector to search for. Without it there is no vector list.
    pub vector: Option<Vec<f32>>,
    /// The error that was met. The newest memories that warn of a matching one are candidates as well, whether they are
    /// in a list or not.
    pub signature: Option<Signature>,
    /// The most memories (not passages) in each list. As many are added for their signature.
    pub limit: usize,
}

impl Recall {
    /// Returns the statuses of the memories that the search finds.
    pub fn statuses(&self) -> &'static [Status] {
        if self.with_superseded { &[Status::Active, Status::Superseded] } else { &[Status::Active] }
    }
}

/// A memory as it is stored, with the evidence about it.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    pub memory: Memory,
    pub evidence: Evidence,
}

/// Says which memories a list has: those that fulfil all that is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemoryFilter {
    pub workspace: Option<WorkspaceId>,
    pub status: Option<Status>,
    pub scope: Option<Scope>,
    /// True where only patterns are listed.
    pub patterns_only: bool,
    /// The conditions of a search. Where there are any, memories without passages, which no search finds, are left out.
    pub conditions: Conditions,
}

/// Says which entries of the history a list has.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryFilter {
    pub workspace: WorkspaceId,
    pub of: HistoryOf,
}

/// The subject of a list of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryOf {
    /// The records of all runs.
    Runs,
    /// All that one run did, with its record.
    Run(RunId),
    /// All that happened to one memory.
    Memory(MemoryId),
}

impl HistoryFilter {
    /// Tells whether the list has this entry.
    pub fn holds(&self, entry: &HistoryEntry) -> bool {
        let is_asked_for = match self.of {
            HistoryOf::Runs => entry.run_id.is_some_and(|run| entry.object == run.uuid()),
            HistoryOf::Run(run) => entry.run_id == Some(run),
            HistoryOf::Memory(memory) => entry.is_about(memory),
        };
        entry.workspace_id == self.workspace && is_asked_for
    }
}

/// An episode as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeRow {
    pub trace: Trace,
    pub state: EpisodeState,
}

impl EpisodeRow {
    /// Tells whether it is of this workspace and was not deleted.
    pub fn is_there_in(&self, workspace: &WorkspaceId) -> bool {
        self.trace.metadata.workspace_id == *workspace && !self.state.is_deleted()
    }
}

/// A search for the episodes that are most like something.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeSearch {
    pub filter: EpisodeFilter,
    /// The direction that is asked for, and the embedder that made it. Vectors of others are not compared.
    pub vector: QuantizedVector,
    pub embedder: String,
    /// True where outcomes are compared, false where tasks and whole episodes are.
    pub of_outcome: bool,
    /// The most episodes in the answer.
    pub limit: usize,
}

/// Says which jobs a list has: those that fulfil all that is given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobFilter {
    pub workspace: Option<WorkspaceId>,
    pub state: Option<JobState>,
    /// The jobs are due at this time, compared in microseconds.
    pub due: Option<Timestamp>,
}

/// The part of a list that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The last id of the page before. None for the first page.
    pub after: Option<uuid::Uuid>,
    pub limit: usize,
    /// True where the list goes from the highest id to the lowest. Ids that hold the time of their making then go from
    /// new to old.
    pub newest_first: bool,
}

impl Page {
    /// Makes the first page of `limit`, from the lowest id to the highest.
    pub fn first(limit: usize) -> Self {
        Self { after: None, limit, newest_first: false }
    }

    /// Makes the first page of `limit`, from the highest id to the lowest.
    pub fn newest(limit: usize) -> Self {
        Self { newest_first: true, ..Self::first(limit) }
    }

    /// Makes the page after the one that ended with this id.
    pub fn after(self, last: uuid::Uuid) -> Self {
        Self { after: Some(last), ..self }
    }

    /// Makes the page after this one, on which these were found. None where this one was not full, so that it was the
    /// last.
    pub fn following<T>(&self, found: &[T], id: impl Fn(&T) -> uuid::Uuid) -> Option<Self> {
        let last = found.last().filter(|_| found.len() == self.limit)?;
        Some(self.clone().after(id(last)))
    }
}

/// The amounts that a store holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub traces: BTreeMap<Outcome, u64>,
    pub memories_by_outcome: BTreeMap<MemoryOutcome, u64>,
    pub memories_by_scope: BTreeMap<Scope, u64>,
    pub memories_by_status: BTreeMap<Status, u64>,
    /// The memories that are patterns.
    pub patterns: BTreeMap<PatternStage, u64>,
    /// The episodes that have vectors of the embedder in use.
    pub episodes_with_vectors: u64,
    /// The applications of patterns.
    pub applications: u64,
    /// The runs of consolidation that are recorded.
    pub consolidation_runs: u64,
    /// The start of the last run of consolidation that is still recorded.
    pub last_consolidation: Option<Timestamp>,
    pub jobs: BTreeMap<JobState, u64>,
    /// The rows of all tables.
    pub rows: u64,
    pub fragments: u64,
    pub bytes: u64,
    /// The rows that are searched one by one because no index has them yet.
    pub index_lag_rows: u64,
    /// The parts that this process searches in memory.
    pub resident: ResidentStatistics,
}

/// The amounts that a workspace has of its own. They count memories of every scope and status, and jobs of every state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    pub memories: u64,
    pub traces: u64,
    pub signals: u64,
    pub jobs: u64,
}
