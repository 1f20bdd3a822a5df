//! What reads are asked for and what they give.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::learning::job::JobState;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::memory::trace::Outcome;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, Scope, Status};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::system::statistics::ResidentStatistics;

/// Whose memories may be read: always built by the server, never by a client. A memory is read by those whom its scope
/// names and by nobody else: its workspace, its team or its organisation. With all three unset nothing is visible.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visible {
    pub workspace: Option<WorkspaceId>,
    pub team: Option<String>,
    pub org: Option<String>,
}

impl Visible {
    pub fn contains(&self, memory: &Memory) -> bool {
        match memory.scope {
            Scope::Project => self.workspace.as_ref() == Some(&memory.workspace_id),
            Scope::Team => self.team.is_some() && self.team == memory.team,
            Scope::Org => self.org.is_some() && self.org == memory.org,
        }
    }
}

/// A search for candidates: active memories, and superseded ones where they are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    pub visible: Visible,
    pub conditions: Conditions,
    pub with_superseded: bool,
    /// None or blank: no text list.
    pub text: Option<String>,
    /// None: no vector list.
    pub vector: Option<Vec<f32>>,
    /// The newest memories that warn of an error that matches are candidates as well, whether they are in a list or
    /// not.
    pub signature: Option<Signature>,
    /// Memories (not passages) that each list returns at most, and that are added for their signature.
    pub limit: usize,
}

impl Recall {
    /// The statuses of what it finds.
    pub fn statuses(&self) -> &'static [Status] {
        if self.with_superseded { &[Status::Active, Status::Superseded] } else { &[Status::Active] }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    pub memory: Memory,
    pub evidence: Evidence,
}

/// Which memories are listed: those of which all that is given holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemoryFilter {
    pub workspace: Option<WorkspaceId>,
    pub status: Option<Status>,
    pub scope: Option<Scope>,
    /// Where there are any, memories without passages, which no search finds, are left out.
    pub conditions: Conditions,
}

/// Which jobs are listed: those of which all that is given holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobFilter {
    pub workspace: Option<WorkspaceId>,
    pub state: Option<JobState>,
    /// Only those that are due at this time, compared in microseconds.
    pub due: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The last id of the page before.
    pub after: Option<uuid::Uuid>,
    pub limit: usize,
    /// From the highest id to the lowest, which for ids that hold the time of their making is from new to old.
    pub newest_first: bool,
}

impl Page {
    /// The first `limit` in id order.
    pub fn first(limit: usize) -> Self {
        Self { after: None, limit, newest_first: false }
    }

    /// The last `limit`, from the highest id to the lowest.
    pub fn newest(limit: usize) -> Self {
        Self { newest_first: true, ..Self::first(limit) }
    }

    /// The page after the one that ended with this id.
    pub fn after(self, last: uuid::Uuid) -> Self {
        Self { after: Some(last), ..self }
    }
}

/// How much a store holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    pub traces: BTreeMap<Outcome, u64>,
    pub memories_by_outcome: BTreeMap<MemoryOutcome, u64>,
    pub memories_by_scope: BTreeMap<Scope, u64>,
    pub memories_by_status: BTreeMap<Status, u64>,
    pub jobs: BTreeMap<JobState, u64>,
    /// Of all tables.
    pub rows: u64,
    pub fragments: u64,
    pub bytes: u64,
    /// Rows that are searched one by one because no index has them yet.
    pub index_lag_rows: u64,
    /// Of this process.
    pub resident: ResidentStatistics,
}

/// How much is a workspace's own: memories of every scope and status, jobs of every state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    pub memories: u64,
    pub traces: u64,
    pub signals: u64,
    pub jobs: u64,
}
