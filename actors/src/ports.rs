//! The ports: what the system needs from outside. They are a store, an embedder, a language model, the time, the lease
//! of the background work, the making of backups, the logs of working memories, the artefacts of episodes, the
//! directories of memory banks, and where a caller has one a check of solutions. The adapters of what lies on the disk
//! are in the package of the store. Those of models, embedders, backups and checks are in the root package, and fakes
//! in `testkit`.

mod account;
mod artefacts;
mod backups;
mod banks;
mod clock;
mod embedder;
mod lease;
mod model;
mod store;
mod verifier;
mod working;

pub use account::TokenAccount;
pub use artefacts::Artefacts;
pub use backups::{BackupLook, Backups};
pub use banks::{
    BankDirectories, BankDirectory, BankFileStamp, BankLocation, BankOnDisk, BankRecord, BankStamp, LeftAlone,
    StagedFile,
};
pub use clock::Clock;
pub use embedder::{Chunk, EmbedError, Embedder, EmbedderState, EmbeddingQueue, Fingerprint};
pub use lease::{Lease, LeaseGuard};
pub use model::{Completion, CompletionReply, FailedCall, LanguageModel, ModelError, Usage};
pub use store::{
    Batch, Committed, Conditions, EpisodeRow, EpisodeSearch, EraseScope, Erased, Held, HistoryFilter, HistoryOf,
    JobFilter, Limitation, Maintained, MemoryCommit, MemoryFilter, MemoryRow, MemoryStore, Page, Passage, PassageKind,
    ReadOnlyCause, Recall, Record, StoreError, StoreFuture, StoreReads, Summary, Visible,
};
pub use verifier::{Verifier, VerifyError};
pub use working::{OpenedLog, WorkingLog, WorkingLogs};
