//! The store port: six methods and what does not work for now, whatever the backend. Contract: `tests/it/store_contract.rs` of the root package,
//! which runs over every adapter.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::{fmt, io};

use futures::future::BoxFuture;
use jiff::Timestamp;
use reasoning_bank_domain::evidence::confidence::Evidence;
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, MemoryId, SignalId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::signature::Signature;
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::memory::{Memory, MemoryOutcome, Scope, Status};
use reasoning_bank_domain::retrieval::candidates::Candidates;
pub use reasoning_bank_domain::retrieval::conditions::Conditions;
use reasoning_bank_domain::system::statistics::ResidentStatistics;
use serde::{Deserialize, Serialize};

use crate::runtime::Deadline;

/// What a passage was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageKind {
    /// The task a memory was learned from.
    Task,
    /// Title, description and content.
    Content,
}

/// What is searched: a piece of a memory's text and its vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    pub kind: PassageKind,
    /// Position within its kind, from 0.
    pub n: u32,
    pub text: String,
    /// None while there is no embedder; the passage is then found by its words alone.
    pub vector: Option<Vec<f32>>,
}

/// One thing to be stored. Every record carries its own id; committing the same id again changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// Of the records of one workspace the one with the highest revision stays.
    Workspace(Workspace),
    /// A new trace, at whatever revision; changes nothing where it is stored already.
    Trace(Trace),
    /// A trace that is stored, with another verdict or other ids of what was learned; its revision one above the stored
    /// one. With any other revision stored before the batch, or none, the batch is refused as
    /// [`StoreError::TraceChanged`], and so is one with two different revisions of a trace; what is stored already exactly
    /// so is no conflict.
    Verdict(Trace),
    /// Where an active memory of the same readers says exactly the same ([`Memory::duplicate_key`]), that one is
    /// confirmed by a signal with the id `confirm` and this one is not stored; one that was learned from a trace confirms
    /// by [`Memory::confirmation_id`]. Without `confirm` it is stored in any case.
    Memory {
        memory: Memory,
        passages: Vec<Passage>,
        confirm: Option<SignalId>,
    },
    /// A memory that is stored, changed: the whole of it with all its passages, its revision one above the stored one.
    /// With any other revision stored before the batch, or none, the batch is refused as [`StoreError::Conflict`], and
    /// so is one with two different revisions of a memory; what is stored already exactly so is no conflict.
    Revision {
        memory: Memory,
        passages: Vec<Passage>,
    },
    Signal(Signal),
    /// Revision 0 is a new job, which changes nothing where it is stored already. Any other is one above the stored
    /// one: with any other stored before the batch, or none, the batch is refused as [`StoreError::JobChanged`], and so is
    /// one with two different later revisions of a job; what is stored already exactly so is no conflict.
    Job(Job),
}

pub type Batch = Vec<Record>;

/// What became of the memories of a batch, in their order; revisions are not among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Committed {
    pub memories: Vec<MemoryCommit>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryCommit {
    Created(MemoryId),
    /// The existing memory that says the same.
    Reinforced(MemoryId),
}

impl MemoryCommit {
    pub fn id(self) -> MemoryId {
        match self {
            Self::Created(id) | Self::Reinforced(id) => id,
        }
    }
}

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EraseScope {
    /// The workspace with its traces, its signals, its jobs and its memories of project scope; what it shares with a team
    /// or an organisation stays theirs.
    Workspace(WorkspaceId),
    /// One memory with its passages and signals.
    Memory(MemoryId),
    /// Traces, those of one workspace or of all, made before this time, compared in microseconds; memories learned from
    /// them stay.
    Traces { workspace: Option<WorkspaceId>, before: Timestamp },
    /// Jobs of all workspaces that were over, done or failed, before this time, compared in microseconds.
    Jobs { over_before: Timestamp },
}

/// What was physically removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Erased {
    pub memories: u64,
    pub passages: u64,
    pub traces: u64,
    pub signals: u64,
    pub jobs: u64,
}

impl AddAssign for Erased {
    fn add_assign(&mut self, more: Self) {
        let Self { memories, passages, traces, signals, jobs } = more;
        self.memories += memories;
        self.passages += passages;
        self.traces += traces;
        self.signals += signals;
        self.jobs += jobs;
    }
}

/// What one slice of upkeep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Maintained {
    /// Another process was writing; nothing was done.
    pub busy: bool,
    pub fragments_removed: u64,
    pub versions_removed: u64,
    /// More is left to do.
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The data directory cannot be used: no permission, no space, not a directory.
    #[error("the store cannot be opened: {0}")]
    Unusable(String),
    #[error("the data directory was written by a newer version (format {found}, this version knows {known})")]
    NewerFormat { found: u32, known: u32 },
    #[error("the data directory holds vectors of the embedder {found}, not {expected}")]
    OtherEmbedder { found: String, expected: String },
    /// Another writer held the lock, or the disk was slow, to the deadline. The batch may or may not be stored;
    /// repeating it with the same ids is safe.
    #[error("the store did not finish before the deadline")]
    TimedOut,
    /// The memory was changed or erased since it was read. Nothing of the batch is stored.
    #[error("memory {0} was changed or erased since it was read")]
    Conflict(MemoryId),
    /// The same of a job.
    #[error("job {0} was changed or erased since it was read")]
    JobChanged(JobId),
    /// The same of a trace.
    #[error("trace {0} was changed or erased since it was read")]
    TraceChanged(TraceId),
    /// What is there can be read; nothing can be written until the cause is gone, and then without a new start.
    #[error("the store can be read but not written to: {0}")]
    ReadOnly(ReadOnlyCause),
    #[error("the store failed: {0}")]
    Failed(String),
}

/// Why nothing can be written for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOnlyCause {
    DiskFull,
    FileSystem,
    Permission,
    /// Somebody held the write lock all the while. Nothing of the write was done.
    LockHeld,
}

impl ReadOnlyCause {
    /// None where that is no reason not to write.
    pub fn of(error: io::ErrorKind) -> Option<Self> {
        match error {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Some(Self::DiskFull)
            }
            io::ErrorKind::ReadOnlyFilesystem => Some(Self::FileSystem),
            io::ErrorKind::PermissionDenied => Some(Self::Permission),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::DiskFull => {
                "free space on the disk of the data directory, or raise the quota; writes then work again by themselves. \
                 One that broke off may be carried out then: look before you repeat it"
            }
            Self::FileSystem => {
                "mount the file system of the data directory writable again (after an error of the disk look at that \
                 first), or name another --data-dir; writes then work again by themselves"
            }
            Self::Permission => {
                "let the user who runs this write to the data directory and all that is in it, or name another \
                 --data-dir; writes then work again by themselves"
            }
            Self::LockHeld => {
                "`fuser -v` on lance/.write.lock in the data directory shows which process holds it: let it go on \
                 (`kill -CONT`) or end it; writes then work again by themselves"
            }
        }
    }
}

impl fmt::Display for ReadOnlyCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskFull => "there is no space left on its disk",
            Self::FileSystem => "its file system is mounted read-only",
            Self::Permission => "this user may not write to its directory",
            Self::LockHeld => "somebody holds its write lock and does not give it back",
        })
    }
}

/// What a store cannot do for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limitation {
    pub cause: ReadOnlyCause,
    /// Journals of earlier processes that could not be replayed: what they alone hold is not shown.
    pub waiting: usize,
}

impl Limitation {
    /// Whether something that is stored may be missing from answers.
    pub fn is_incomplete(&self) -> bool {
        self.waiting > 0
    }
}

impl fmt::Display for Limitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "store_unavailable: memories can be read but nothing can be stored: {}", self.cause)?;
        if self.is_incomplete() {
            write!(
                f,
                "; what an earlier process stored shortly before it broke off may be missing until then (journals that \
                 wait: {})",
                self.waiting
            )?;
        }
        Ok(())
    }
}

pub trait MemoryStore: Send + Sync + 'static {
    /// Durable and visible to every process when it returns; all of the batch or nothing. Idempotent by id.
    fn commit(&self, batch: Batch, deadline: Deadline) -> BoxFuture<'_, Result<Committed, StoreError>>;

    fn candidates(&self, recall: Recall, deadline: Deadline) -> BoxFuture<'_, Result<Candidates, StoreError>>;

    /// In the order of `ids`; unknown ids are left out.
    fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> BoxFuture<'_, Result<Vec<MemoryRow>, StoreError>>;

    fn scan(&self, filter: Filter, page: Page, deadline: Deadline) -> BoxFuture<'_, Result<Scanned, StoreError>>;

    /// Hidden at once, physically gone when it returns.
    fn erase(&self, scope: EraseScope, deadline: Deadline) -> BoxFuture<'_, Result<Erased, StoreError>>;

    /// One bounded slice of upkeep: compaction, index update, pruning of old versions.
    fn maintain(&self, deadline: Deadline) -> BoxFuture<'_, Result<Maintained, StoreError>>;

    /// What it cannot do for now, by what the last request came upon; None: it can do everything.
    fn limitation(&self) -> Option<Limitation> {
        None
    }
}
