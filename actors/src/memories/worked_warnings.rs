//! Warnings that worked: after a session was shown them, the command that had failed succeeded.

use reasoning_bank_domain::memory::Scope;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::signal::{Signal, SignalKind, id_of_vote};

use super::{MemoriesHandle, WorkspaceRef};
use crate::error::Error;
use crate::ports::Record;
use crate::runtime::Deadline;

/// The comment of the signals.
const REASON: &str = "the command that had failed succeeded after the warning was shown";

impl MemoriesHandle {
    /// Confirms the warnings that a session was shown for a command which succeeded afterwards. A session confirms each
    /// of them once, however often this is called. Memories that are gone are left out, and so are those of a team or
    /// an organisation: nobody said that this session may write about them. Returns how many were confirmed.
    pub async fn worked(
        &self,
        ids: Vec<MemoryId>,
        session: &str,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<usize, Error> {
        let resolved = self.workspaces.resolve(workspace, deadline).await?;
        if !resolved.registered {
            return Ok(0);
        }
        let (workspace, now) = (&resolved.workspace, self.clock.now());
        let rows = self.readable(ids, workspace, deadline).await?;
        let own = rows.into_iter().map(|row| row.memory).filter(|memory| memory.scope == Scope::Project);
        let signal = |id: MemoryId| Signal {
            session: Some(session.to_owned()),
            comment: Some(REASON.to_owned()),
            ..Signal::new(
                id_of_vote(session, id, SignalKind::Confirmed),
                id,
                workspace.id.clone(),
                SignalKind::Confirmed,
                now,
            )
        };
        let batch: Vec<Record> = own.map(|memory| Record::Signal(signal(memory.id))).collect();
        let confirmed = batch.len();
        if confirmed > 0 {
            self.workspaces.still_there(&resolved, deadline).await?;
            self.store.commit(batch, deadline).await?;
        }
        Ok(confirmed)
    }
}
