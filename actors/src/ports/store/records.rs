//! The types of what is written: records, and what became of them.

use reasoning_bank_domain::access::KeyedRequest;
use reasoning_bank_domain::consolidation::HistoryEntry;
use reasoning_bank_domain::episode::{EpisodeState, EpisodeVectors};
use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::Workspace;
use serde::{Deserialize, Serialize};

/// The text that a passage was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageKind {
    /// It was cut from a task that a memory was learned from.
    Task,
    /// It was cut from a title, a description and a content.
    Content,
}

/// A piece of a memory's text, with its vector: what a search compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    pub kind: PassageKind,
    /// Its position among the passages of its kind, from 0.
    pub n: u32,
    pub text: String,
    /// The vector of the text. It is absent while there is no embedder, and the passage is found by its words alone.
    pub vector: Option<Vec<f32>>,
}

/// One thing to be stored. Every record has an id of its own, and committing the same id again changes nothing.
///
/// A `Verdict`, a `Revision`, an `EpisodeState` and a later `Job` change what is stored. Their revision is one above
/// the stored one. Where another revision, or none, was stored before the batch, the whole batch is refused: as
/// `StoreError::TraceChanged`, `StoreError::Conflict` or `StoreError::JobChanged`. So is a batch with two different
/// changes of the same thing. What is stored already exactly so is no conflict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// A workspace. The record of it with the highest revision stays.
    Workspace(Workspace),
    /// A new trace, at whatever revision. It changes nothing where it is stored already.
    Trace(Trace),
    /// A change of a stored trace: another verdict, other ids of what was learned, or what was done since.
    Verdict(Trace),
    /// A new memory. Where an active memory of the same readers says exactly the same ([`Memory::duplicate_key`]), that
    /// one is confirmed by a signal with the id `confirm`, and this one is not stored. A memory that was learned from a
    /// trace has an id of its own for that ([`Memory::confirmation`]). Without `confirm` it is stored in any case.
    Memory { memory: Memory, passages: Vec<Passage>, confirm: Option<SignalId> },
    /// A change of a stored memory: the whole of it as it is now, with all its passages.
    Revision { memory: Memory, passages: Vec<Passage> },
    /// A new signal.
    Signal(Signal),
    /// A job. Revision 0 is a new job and changes nothing where it is stored already. Any other changes a stored one.
    Job(Job),
    /// A write that its client may send again. It goes with what the write stores. Where another try with the same key
    /// is stored, the whole batch is refused as `StoreError::CarriedOut`. Revision 1 adds an answer to what is stored,
    /// and is left out where that was erased meanwhile.
    Request(KeyedRequest),
    /// A change of what is known of an episode beside its body. An episode without such a record has revision 0. Any
    /// other revision than the next one is refused as `StoreError::TraceChanged`. It is left out where the trace is not
    /// stored.
    #[serde(rename = "episode_state")]
    EpisodeState(EpisodeState),
    /// The vectors of an episode. The record of them with the highest revision stays. They are left out where the trace
    /// is not stored.
    #[serde(rename = "episode_vectors")]
    EpisodeVectors(EpisodeVectors),
    /// The state of something before a run of consolidation changed it, or the record of a run. The record of a run
    /// with the highest revision stays.
    History(HistoryEntry),
}

impl Record {
    /// Returns the memory that the record makes or changes. None for any other record.
    pub fn memory_id(&self) -> Option<MemoryId> {
        match self {
            Self::Memory { memory, .. } | Self::Revision { memory, .. } => Some(memory.id),
            _ => None,
        }
    }
}

/// The records that are committed together.
pub type Batch = Vec<Record>;

/// The outcomes of the new memories of a batch, in their order. Revisions are not among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Committed {
    pub memories: Vec<MemoryCommit>,
}

/// The outcome of a new memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryCommit {
    /// It was stored.
    Created(MemoryId),
    /// It was not stored: this memory, which is there, says the same. It was confirmed, unless the same source had
    /// confirmed it before.
    Reinforced(MemoryId),
}

impl MemoryCommit {
    /// Returns the memory that is stored and says it.
    pub fn id(self) -> MemoryId {
        match self {
            Self::Created(id) | Self::Reinforced(id) => id,
        }
    }
}
