//! The ids of what everybody may send to be imported. A file may name ids of another team, and must not tell its sender
//! whether they exist. So what the workspace does not have yet is stored as a copy, with an id that follows from the
//! workspace and from the id in the file: the same import again finds it, and nobody else's id is looked up.

use std::collections::HashSet;

use reasoning_bank_actors::error::Error;
use reasoning_bank_actors::memories::Restorable;
use reasoning_bank_actors::runtime::Deadline;
use reasoning_bank_actors::store::StoreHandle;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId, copied};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use uuid::Uuid;

use super::{BATCH_THINGS, REQUEST_TIMEOUT};

/// The ids of the things in a file, and those under which a workspace has them.
#[derive(Debug)]
pub(super) struct CopyIds {
    workspace: WorkspaceId,
    memories: Vec<MemoryId>,
    traces: Vec<TraceId>,
    /// The things that the workspace has under the ids of the file, because the file was exported from it.
    own: HashSet<Uuid>,
}

impl CopyIds {
    /// Knows nothing yet of what the workspace has.
    pub(super) fn new(workspace: WorkspaceId, memories: Vec<MemoryId>, traces: Vec<TraceId>) -> Self {
        Self { workspace, memories, traces, own: HashSet::new() }
    }

    /// Looks which of the things the workspace has.
    pub(super) async fn look_up(&mut self, store: &StoreHandle) -> Result<(), Error> {
        for ids in self.memories.chunks(BATCH_THINGS) {
            let rows = store.get(ids.to_vec(), Deadline::after(REQUEST_TIMEOUT)).await?;
            let own = rows.into_iter().filter(|row| row.memory.workspace_id == self.workspace);
            self.own.extend(own.map(|row| row.memory.id.uuid()));
        }
        for id in &self.traces {
            let own = store.trace(*id, Some(self.workspace.clone()), Deadline::after(REQUEST_TIMEOUT)).await?;
            self.own.extend(own.map(|trace| trace.trace_id.uuid()));
        }
        Ok(())
    }

    fn id(&self, id: Uuid) -> Uuid {
        if self.own.contains(&id) { id } else { copied(id, &self.workspace) }
    }

    /// Gives a thing, and the memories and episodes that it names, the ids that they have in the workspace.
    pub(super) fn rename(&self, thing: &mut Restorable) {
        match thing {
            Restorable::Memory { memory, .. } => {
                let id = |id: &mut MemoryId| *id = self.id(id.uuid()).into();
                id(&mut memory.id);
                memory.derived_from.iter_mut().for_each(id);
                memory.parent_memory_id.iter_mut().for_each(id);
            }
            Restorable::Trace { trace, state } => {
                let id = |id: &mut TraceId| *id = self.id(id.uuid()).into();
                id(&mut trace.trace_id);
                trace.parent_trace_id.iter_mut().for_each(id);
                if let Some(parts) = trace.episode.as_deref_mut() {
                    let failures = parts.reflection.failures_analyzed.iter_mut();
                    failures.filter_map(|failure| failure.resolved_by.as_mut()).for_each(id);
                    let variations = parts.consolidated.iter_mut().flat_map(|told| &mut told.variations);
                    variations.for_each(|variation| id(&mut variation.episode_id));
                }
                if let Some(state) = state {
                    id(&mut state.episode_id);
                    state.referenced_by.iter_mut().for_each(id);
                }
            }
            Restorable::Workspace(_) | Restorable::Signal(_) | Restorable::Job(_) => {}
        }
    }
}
