//! The store port: what a store does, whatever the backend. `records` holds what is written, `reads` what is asked for
//! and found, `admin` what is done to a store as a whole. The contract is `tests/it/store_contract.rs` of the root
//! package, which runs over every adapter.

mod admin;
mod reads;
mod records;

use std::collections::{BTreeMap, HashSet};

use futures::future::BoxFuture;
use jiff::Timestamp;
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::retrieval::candidates::Candidates;
pub use reasoning_bank_domain::retrieval::conditions::Conditions;
use uuid::Uuid;

pub use self::admin::{EraseScope, Erased, Limitation, Maintained, ReadOnlyCause};
pub use self::reads::{Held, JobFilter, MemoryFilter, MemoryRow, Page, Recall, Summary, Visible};
pub use self::records::{Batch, Committed, MemoryCommit, Passage, PassageKind, Record};
use crate::runtime::Deadline;

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

pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// A store: what changes it, and the way to its reads. A store that is made over another one hands out the reads of
/// that one, so it has no read of its own to keep in step.
pub trait MemoryStore: Send + Sync + 'static {
    fn reads(&self) -> &dyn StoreReads;

    /// Durable and visible to every process when it returns; all of the batch or nothing. Idempotent by id.
    fn commit(&self, batch: Batch, deadline: Deadline) -> StoreFuture<'_, Committed>;

    /// Hidden at once, physically gone when it returns.
    fn erase(&self, scope: EraseScope, deadline: Deadline) -> StoreFuture<'_, Erased>;

    /// One bounded slice of upkeep: compaction, index update, pruning of old versions.
    fn maintain(&self, deadline: Deadline) -> StoreFuture<'_, Maintained>;

    /// What it cannot do for now, by what the last request came upon; None: it can do everything.
    fn limitation(&self) -> Option<Limitation> {
        None
    }
}

/// What can be read. A read sees each commit whole or not at all. Lists that are read in pages are in the order of ids.
pub trait StoreReads: Send + Sync {
    fn candidates(&self, recall: Recall, deadline: Deadline) -> StoreFuture<'_, Candidates>;

    /// In the order of `ids`; unknown ids are left out.
    fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>>;

    fn memories(&self, filter: MemoryFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>>;

    /// Memories that name one of these as parent or source.
    fn derived_from(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>>;

    /// The memories of all workspaces that have a parent or sources, with those. Each source is named once, whether it
    /// is stored or not.
    fn lineage(&self, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<(MemoryId, Vec<MemoryId>)>>;

    /// The passages of these memories, with their vectors. Memories that have none, or are unknown, are left out.
    fn passages(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, BTreeMap<MemoryId, Vec<Passage>>>;

    /// The first memories that were stored without vectors, of all workspaces, `limit` at most.
    fn without_vectors(&self, limit: usize, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryId>>;

    /// Those of `ids` that are ids of stored memories, traces or signals.
    fn existing_ids(&self, ids: Vec<Uuid>, deadline: Deadline) -> StoreFuture<'_, HashSet<Uuid>>;

    /// The traces of one workspace, or of all.
    fn traces(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Trace>>;

    fn trace(&self, id: TraceId, deadline: Deadline) -> StoreFuture<'_, Option<Trace>>;

    /// The signals of one workspace, or of all.
    fn signals(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>>;

    /// The signals about these memories, of whatever workspace.
    fn signals_about(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>>;

    /// All workspaces, in the order of their ids.
    fn workspaces(&self, deadline: Deadline) -> StoreFuture<'_, Vec<Workspace>>;

    fn held(&self, workspace: WorkspaceId, deadline: Deadline) -> StoreFuture<'_, Held>;

    fn jobs(&self, filter: JobFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Job>>;

    fn job(&self, id: JobId, deadline: Deadline) -> StoreFuture<'_, Option<Job>>;

    /// Of the jobs that are queued and due at this time the one that was due first, then the one that was made first,
    /// then the one with the lowest id; times are compared in microseconds.
    fn next_job(&self, now: Timestamp, deadline: Deadline) -> StoreFuture<'_, Option<Job>>;

    /// How many jobs of all workspaces are in each state, and nothing else: no look at bodies, files or indexes. States
    /// without jobs are left out.
    fn backlog(&self, deadline: Deadline) -> StoreFuture<'_, BTreeMap<JobState, u64>>;

    /// How much there is, of all workspaces together.
    fn summary(&self, deadline: Deadline) -> StoreFuture<'_, Summary>;
}
