//! The store port: what a store does, whatever the backend. `records` holds what is written, `reads` what is asked for
//! and found, `admin` what is done to a store as a whole. The contract is `tests/it/store_contract.rs` of the root
//! package, which runs over every adapter.

mod admin;
mod reads;
mod records;

use futures::future::BoxFuture;
use reasoning_bank_domain::memory::ids::{JobId, MemoryId, TraceId};
use reasoning_bank_domain::retrieval::candidates::Candidates;
pub use reasoning_bank_domain::retrieval::conditions::Conditions;

pub use self::admin::{EraseScope, Erased, Limitation, Maintained, ReadOnlyCause};
pub use self::reads::{Filter, Held, MemoryRow, Page, Recall, Scanned, Summary, Visible};
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
