//! Writing in bulk what exists already. Ids, times, revisions and statuses stay as they are given, and nothing is
//! compared with what the bank says. This is for imports and for measuring. What is learned goes through `record` and
//! `learn`.

use reasoning_bank_domain::episode::EpisodeState;
use reasoning_bank_domain::learning::job::Job;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::signal::Signal;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::Workspace;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::MemoriesHandle;
use super::passages::{are_passages_of, without_vectors};
use crate::error::Error;
use crate::ports::{Batch, Fingerprint, Passage, Record};
use crate::runtime::Deadline;
use crate::workspaces::Resolved;

/// One thing to be written as it is. Whoever gives it has checked it and removed its secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(clippy::large_enum_variant, reason = "batches are short, and moved rather than copied")]
pub enum Restorable {
    /// A workspace. It is registered where its id is unknown, and at its root where nothing else is.
    Workspace(Workspace),
    /// A trace, and what happened to it as an episode since it was made. None: nothing.
    Trace {
        trace: Trace,
        state: Option<EpisodeState>,
    },
    /// A memory. Its passages count where they are this memory's texts with vectors of the embedder in use. Otherwise
    /// it is embedded anew.
    Memory {
        memory: Memory,
        passages: Vec<Passage>,
    },
    Signal(Signal),
    /// A job. It is still to be done here where it was not over.
    Job(Job),
}

/// Says when the vectors of memories that come without any are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingVectors {
    /// They are made before the memories are stored.
    #[default]
    MadeNow,
    /// Upkeep makes them later. Until then the memories are found by their words.
    LeftToUpkeep,
}

impl Restorable {
    /// Returns the id by which the thing is looked up. None for a workspace, which is looked up by its name.
    fn uuid(&self) -> Option<Uuid> {
        match self {
            Self::Workspace(_) => None,
            Self::Job(job) => Some(job.id.uuid()),
            Self::Trace { trace, .. } => Some(trace.trace_id.uuid()),
            Self::Memory { memory, .. } => Some(memory.id.uuid()),
            Self::Signal(signal) => Some(signal.id.uuid()),
        }
    }
}

impl MemoriesHandle {
    /// Registers a workspace that is not yet: what belongs to no known workspace could not be deleted with one.
    pub async fn register(&self, resolved: &Resolved, deadline: Deadline) -> Result<(), Error> {
        if resolved.registered {
            return Ok(());
        }
        let workspace = Restorable::Workspace(resolved.workspace.clone().registered());
        self.restore(vec![workspace], deadline).await.map(drop)
    }

    /// Writes what is not there yet, all of it or nothing, and says of each thing whether it was new. A workspace
    /// always counts as new.
    pub async fn restore(&self, things: Vec<Restorable>, deadline: Deadline) -> Result<Vec<bool>, Error> {
        self.restore_with(things, MissingVectors::MadeNow, deadline).await
    }

    /// Does the same, and says when the vectors of memories without any are made.
    pub async fn restore_with(
        &self,
        things: Vec<Restorable>,
        vectors: MissingVectors,
        deadline: Deadline,
    ) -> Result<Vec<bool>, Error> {
        let ids: Vec<Uuid> = things.iter().filter_map(Restorable::uuid).collect();
        let mut known = self.store.existing_ids(ids, deadline).await?;
        let is_new = |thing: &Restorable| thing.uuid().is_none_or(|id| known.insert(id));
        let is_new: Vec<bool> = things.iter().map(is_new).collect();
        let new = things.into_iter().zip(&is_new).filter_map(|(thing, is_new)| is_new.then_some(thing));
        let (mut batch, mut unembedded, mut workspaces) = (Batch::new(), Vec::new(), Vec::new());
        for thing in new {
            let record = match thing {
                Restorable::Workspace(workspace) => {
                    workspaces.push(workspace);
                    continue;
                }
                Restorable::Trace { trace, state } => {
                    batch.extend(state.map(Record::EpisodeState));
                    Record::Trace(trace)
                }
                Restorable::Signal(signal) => Record::Signal(signal),
                Restorable::Job(job) => Record::Job(job.restored()),
                Restorable::Memory { memory, passages } => {
                    if !are_vectors_of(&memory, &passages, self.embedder.fingerprint()) {
                        unembedded.push(memory);
                        continue;
                    }
                    Record::Memory { memory, passages, confirm: None }
                }
            };
            batch.push(record);
        }
        let workspaces = self.workspaces.to_restore(workspaces, deadline).await?;
        batch.extend(workspaces.iter().cloned().map(Record::Workspace));
        let embedded = match vectors {
            MissingVectors::MadeNow => self.embedded(unembedded, deadline).await,
            MissingVectors::LeftToUpkeep => unembedded.into_iter().map(without_vectors).collect(),
        };
        batch.extend(embedded.into_iter().map(|(memory, passages)| Record::Memory { memory, passages, confirm: None }));
        if !batch.is_empty() {
            self.store.commit(batch, deadline).await?;
        }
        workspaces.iter().for_each(|workspace| self.workspaces.registered(workspace));
        Ok(is_new)
    }
}

/// Tells whether the passages are what this embedder makes of the memory's texts.
fn are_vectors_of(memory: &Memory, passages: &[Passage], embedder: &Fingerprint) -> bool {
    let is_vector = |vector: &[f32]| vector.len() == embedder.dims && vector.iter().all(|x| x.is_finite());
    // A long text has no vectors at its end.
    let fits = |passage: &Passage| passage.vector.as_deref().map_or(passage.n > 0, is_vector);
    memory.embedder.as_ref() == Some(&embedder.to_string())
        && passages.iter().all(fits)
        && are_passages_of(memory, passages)
}
