//! What reads are asked for and what they give.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, Scope, Status};
use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::system::statistics::ResidentStatistics;

use super::records::Passage;

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
    /// The newest memories that warn of an error that matches are candidates as well, whether they are in a list or not.
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

/// What a scan walks through, in id order. Workspaces and passages come whole, whatever the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// `None`: of every workspace. Status `None`: whatever its status.
    Memories {
        workspace: Option<WorkspaceId>,
        status: Option<Status>,
        scope: Option<Scope>,
    },
    /// Memories of one workspace of which the conditions hold; those without passages, which no search finds, are left
    /// out. Status `None`: whatever its status.
    Matching {
        workspace: WorkspaceId,
        status: Option<Status>,
        conditions: Conditions,
    },
    /// Memories that name one of these as parent or source.
    DerivedFrom(Vec<MemoryId>),
    /// Which memories came from which, of all workspaces.
    Lineage,
    Traces {
        workspace: Option<WorkspaceId>,
    },
    Trace(TraceId),
    Signals {
        workspace: Option<WorkspaceId>,
    },
    /// The signals about these memories, of whatever workspace.
    SignalsOf(Vec<MemoryId>),
    /// How much one workspace holds.
    Held(WorkspaceId),
    Workspaces,
    /// The passages of these memories: needed to copy their vectors.
    Passages(Vec<MemoryId>),
    /// Which of these are ids of memories, traces or signals that are stored, whatever the page.
    Stored(Vec<uuid::Uuid>),
    /// Some memories that were stored without vectors, of all workspaces: at most as many as the page has, the first ones.
    WithoutVectors,
    Job(JobId),
    /// `state` None: whatever its state; `due`: only those that are due at this time, compared in microseconds.
    Jobs {
        workspace: Option<WorkspaceId>,
        state: Option<JobState>,
        due: Option<Timestamp>,
    },
    /// Of the jobs that are queued and due at this time the one that was due first, then the one that was made first, then
    /// the one with the lowest id; times are compared in microseconds. At most one, whatever the page.
    NextJob {
        now: Timestamp,
    },
    /// How many jobs there are, of all workspaces together, and nothing else: no look at bodies, files or indexes.
    Backlog,
    /// How much there is, of all workspaces together.
    Summary,
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

#[derive(Debug, Clone, PartialEq)]
pub enum Scanned {
    Memories(Vec<MemoryRow>),
    Traces(Vec<Trace>),
    Signals(Vec<Signal>),
    Workspaces(Vec<Workspace>),
    /// By memory; those that have none, or are unknown, are left out.
    Passages(BTreeMap<MemoryId, Vec<Passage>>),
    /// Memories that have a parent or sources, and those, each once; whether they are stored or not.
    Lineage(Vec<(MemoryId, Vec<MemoryId>)>),
    /// In no order.
    Stored(Vec<uuid::Uuid>),
    Jobs(Vec<Job>),
    /// States without jobs are left out.
    Backlog(BTreeMap<JobState, u64>),
    Held(Held),
    Summary(Summary),
}
