//! What is written: records, and what became of them.

use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::Workspace;
use serde::{Deserialize, Serialize};

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
///
/// A `Verdict`, a `Revision` and a later `Job` change what is stored. Their revision is one above the stored one. Where
/// another revision, or none, was stored before the batch, the whole batch is refused: as `StoreError::TraceChanged`,
/// `StoreError::Conflict` or `StoreError::JobChanged`. So is a batch with two different changes of the same thing. What
/// is stored already exactly so is no conflict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// Of the records of one workspace the one with the highest revision stays.
    Workspace(Workspace),
    /// A new trace, at whatever revision; changes nothing where it is stored already.
    Trace(Trace),
    /// A trace that is stored, with another verdict or other ids of what was learned.
    Verdict(Trace),
    /// Where an active memory of the same readers says exactly the same ([`Memory::duplicate_key`]), that one is
    /// confirmed by a signal with the id `confirm` and this one is not stored; one that was learned from a trace
    /// confirms by [`Memory::confirmation_id`]. Without `confirm` it is stored in any case.
    Memory {
        memory: Memory,
        passages: Vec<Passage>,
        confirm: Option<SignalId>,
    },
    /// A memory that is stored, changed: the whole of it with all its passages.
    Revision {
        memory: Memory,
        passages: Vec<Passage>,
    },
    Signal(Signal),
    /// Revision 0 is a new job, which changes nothing where it is stored already. Any other changes a stored one.
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
