//! The store port: what a store does, whatever the backend. `records` holds what is written, `reads` what is asked for
//! and found, `admin` what is done to a store as a whole. The contract is `tests/it/store_contract.rs` of the root
//! package, which runs over every adapter.

mod admin;
mod reads;
mod records;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodeState, EpisodeVectors, ScoreInputs, Visibility};
use reasoning_bank_domain::learning::job::{Job, JobState};
use reasoning_bank_domain::memory::ids::{JobId, KeyedRequestId, MemoryId, TraceId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceId};
use reasoning_bank_domain::pattern::finding::PatternIndex;
use reasoning_bank_domain::retrieval::candidates::Candidates;
pub use reasoning_bank_domain::retrieval::conditions::Conditions;
use uuid::Uuid;

pub use self::admin::{EraseScope, Erased, Limitation, Maintained, ReadOnlyCause};
pub use self::reads::{
    EpisodeRow, EpisodeSearch, Held, HistoryFilter, HistoryOf, JobFilter, MemoryFilter, MemoryRow, Page, Recall,
    Summary, Visible,
};
pub use self::records::{Batch, Committed, MemoryCommit, Passage, PassageKind, Record};
use crate::runtime::Deadline;

/// The reason why a store did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The data directory cannot be used: it is no directory, has no space, or this user may not use it.
    #[error("the store cannot be opened: {0}")]
    Unusable(String),
    /// The data directory has a format that only later versions know.
    #[error("the data directory was written by a newer version (format {found}, this version knows {known})")]
    NewerFormat { found: u32, known: u32 },
    /// Vectors of different embedders cannot be compared, so the store neither searches nor writes.
    #[error("the data directory holds vectors of the embedder {found}, not {expected}")]
    OtherEmbedder { found: String, expected: String },
    /// The deadline passed first: other writers took their turns before, or the disk was slow. A batch may be stored or
    /// not; the caller may repeat it with the same ids.
    #[error("the store did not finish before the deadline")]
    TimedOut,
    /// The memory was changed or erased since it was read. Nothing of the batch is stored.
    #[error("memory {0} was changed or erased since it was read")]
    Conflict(MemoryId),
    /// The job was changed or erased since it was read. Nothing of the batch is stored.
    #[error("job {0} was changed or erased since it was read")]
    JobChanged(JobId),
    /// The trace was changed or erased since it was read. Nothing of the batch is stored.
    #[error("trace {0} was changed or erased since it was read")]
    TraceChanged(TraceId),
    /// Another try with the same key has carried the write out. Nothing of the batch is stored.
    #[error("the request {0} was carried out already")]
    CarriedOut(KeyedRequestId),
    /// Reads work, and writes fail until the cause is gone. Then they work again without a restart.
    #[error("the store can be read but not written to: {0}")]
    ReadOnly(ReadOnlyCause),
    /// The store failed for a reason that the other variants do not name.
    #[error("the store failed: {0}")]
    Failed(String),
}

pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// A store: what changes it, and the way to its reads. A store that is made over another one hands out the reads of
/// that one, so it has no read of its own to keep in step.
pub trait MemoryStore: Send + Sync + 'static {
    /// Gives what can be read of this store.
    fn reads(&self) -> &dyn StoreReads;

    /// Stores all of a batch or nothing. What is stored is durable and visible to every process when this returns. A
    /// batch that is committed again, with the same ids, changes nothing.
    fn commit(&self, batch: Batch, deadline: Deadline) -> StoreFuture<'_, Committed>;

    /// Erases what the scope names. No read finds it from the beginning on, and its bytes are gone when this returns.
    fn erase(&self, scope: EraseScope, deadline: Deadline) -> StoreFuture<'_, Erased>;

    /// Does one bounded slice of upkeep: it compacts, extends indexes and removes old versions.
    fn maintain(&self, deadline: Deadline) -> StoreFuture<'_, Maintained>;

    /// Says what the store cannot do for now, as the last request found. None where it can do everything.
    fn limitation(&self) -> Option<Limitation> {
        None
    }
}

/// The questions that a store answers. A read sees each commit whole or not at all. Lists that are read in pages are in
/// the order of ids.
pub trait StoreReads: Send + Sync {
    /// Finds the candidates of a search.
    fn candidates(&self, recall: Recall, deadline: Deadline) -> StoreFuture<'_, Candidates>;

    /// Reads these memories, in the order of `ids`. Unknown ids are left out.
    fn get(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>>;

    /// Reads those of these memories that may be shown, in the order of `ids`. Others are left out, and take as long as
    /// unknown ids.
    fn readable(&self, ids: Vec<MemoryId>, visible: Visible, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>>;

    /// Lists a page of the memories that the filter lets through.
    fn memories(&self, filter: MemoryFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>>;

    /// Gives the active patterns that may be shown, ready to be searched. What is given is shared with other readers.
    fn patterns(&self, visible: Visible, deadline: Deadline) -> StoreFuture<'_, Arc<PatternIndex>>;

    /// Lists a page of the memories that name one of these as their parent or source.
    fn derived_from(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryRow>>;

    /// Lists a page of the memories of all workspaces that have a parent or sources, with these. Each source is named
    /// once, whether it is stored or not.
    fn lineage(&self, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<(MemoryId, Vec<MemoryId>)>>;

    /// Reads the passages of these memories, with their vectors. Memories that are unknown or have none are left out.
    fn passages(&self, ids: Vec<MemoryId>, deadline: Deadline) -> StoreFuture<'_, BTreeMap<MemoryId, Vec<Passage>>>;

    /// Names the first memories of all workspaces that were stored without vectors, `limit` at most.
    fn without_vectors(&self, limit: usize, deadline: Deadline) -> StoreFuture<'_, Vec<MemoryId>>;

    /// Tells which of these ids are those of stored memories, traces, signals or jobs.
    fn existing_ids(&self, ids: Vec<Uuid>, deadline: Deadline) -> StoreFuture<'_, HashSet<Uuid>>;

    /// Lists a page of the traces of one workspace, or of all.
    fn traces(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Trace>>;

    /// Reads one trace, of one workspace or of any. None where it is unknown or of another workspace, which take the
    /// same time.
    fn trace(&self, id: TraceId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<Trace>>;

    /// Lists the first episodes that the filter lets through, the newest first and of equals the one with the highest
    /// id: at most `limit`, from the one behind `after` on, where that is given. Where `after` is not stored in the
    /// workspace of the filter, there is nothing behind it.
    fn episodes(
        &self,
        filter: EpisodeFilter,
        after: Option<TraceId>,
        limit: usize,
        deadline: Deadline,
    ) -> StoreFuture<'_, Vec<EpisodeRow>>;

    /// Counts the episodes that the filter lets through, by who is shown them.
    fn count_episodes(&self, filter: EpisodeFilter, deadline: Deadline) -> StoreFuture<'_, BTreeMap<Visibility, u64>>;

    /// Reads one episode, of one workspace or of any, whether it is shown or not. None where it is unknown or of
    /// another workspace, which take the same time.
    fn episode(&self, id: TraceId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<EpisodeRow>>;

    /// Finds the episodes that are most like what is asked, with the cosines, the most alike first. Episodes without
    /// vectors of the embedder are left out.
    fn nearest_episodes(&self, search: EpisodeSearch, deadline: Deadline) -> StoreFuture<'_, Vec<(ScoreInputs, f64)>>;

    /// Reads these episodes, in this order, whether they are shown or not. Unknown ones are left out.
    fn episodes_of_ids(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeRow>>;

    /// Lists the newest episodes that the filter lets through and that have no vectors of this embedder, at most
    /// `limit`, each with the revision that its vectors get.
    fn episodes_without_vectors(
        &self,
        filter: EpisodeFilter,
        embedder: String,
        limit: usize,
        deadline: Deadline,
    ) -> StoreFuture<'_, Vec<(Trace, u64)>>;

    /// Reads the states of these episodes. Episodes to which nothing has happened since they were made are left out.
    fn episode_states(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeState>>;

    /// Reads the vectors of these episodes, whichever embedder made them. Episodes without any are left out.
    fn episode_vectors(&self, ids: Vec<TraceId>, deadline: Deadline) -> StoreFuture<'_, Vec<EpisodeVectors>>;

    /// Lists a page of the history.
    fn history(&self, filter: HistoryFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<HistoryEntry>>;

    /// Lists a page of the signals of one workspace, or of all.
    fn signals(&self, of: Option<WorkspaceId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>>;

    /// Lists a page of the signals about these memories, whatever workspace they came from.
    fn signals_about(&self, ids: Vec<MemoryId>, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Signal>>;

    /// Lists all workspaces, in the order of their ids.
    fn workspaces(&self, deadline: Deadline) -> StoreFuture<'_, Vec<Workspace>>;

    /// Counts what a workspace has of its own.
    fn held(&self, workspace: WorkspaceId, deadline: Deadline) -> StoreFuture<'_, Held>;

    /// Lists a page of the jobs that the filter lets through.
    fn jobs(&self, filter: JobFilter, page: Page, deadline: Deadline) -> StoreFuture<'_, Vec<Job>>;

    /// Reads one job, of one workspace or of any. None where it is unknown or of another workspace, which take the same
    /// time.
    fn job(&self, id: JobId, of: Option<WorkspaceId>, deadline: Deadline) -> StoreFuture<'_, Option<Job>>;

    /// Reads what is stored under a key of a client. None where nothing is.
    fn request(&self, id: KeyedRequestId, deadline: Deadline) -> StoreFuture<'_, Option<KeyedRequest>>;

    /// Finds the job to do next: of the jobs that are queued and due at this time, the one that was due first. Of
    /// several it is the one that was made first, then the one with the lowest id. Times are compared in microseconds.
    fn next_job(&self, now: Timestamp, deadline: Deadline) -> StoreFuture<'_, Option<Job>>;

    /// Counts the jobs of all workspaces in each state. States without jobs are left out. It is cheap: no body, file or
    /// index is looked at.
    fn backlog(&self, deadline: Deadline) -> StoreFuture<'_, BTreeMap<JobState, u64>>;

    /// Counts what the store holds of all workspaces together.
    fn summary(&self, deadline: Deadline) -> StoreFuture<'_, Summary>;
}
