//! Following a session: the working memory of its running task is brought up to date from its transcript, and ends when
//! the session does.

use reasoning_bank_domain::memory::ids::{TraceId, WorkingId};
use reasoning_bank_domain::memory::trace::TraceSource;
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use reasoning_bank_domain::safety::secrets::Scrub;
use reasoning_bank_domain::working::{SessionTask, TaskEnd, session_of};

use super::{LOCAL_OWNER, WorkingHandle, WorkingTask};
use crate::error::Error;
use crate::file_io::blocking;
use crate::runtime::Deadline;

impl WorkingHandle {
    /// Brings the working memory of a running task up to date, which is made where there is none. Any process may work
    /// on it afterwards. One that another process has open is its agent's, and one that somebody closed stays closed.
    pub async fn follow(&self, workspace: &WorkspaceId, running: SessionTask, deadline: Deadline) -> Result<(), Error> {
        let task = WorkingTask { workspace: workspace.clone(), owner: LOCAL_OWNER.to_owned(), id: running.id() };
        let (held, is_new) = match self.open_task(&task, deadline).await {
            Ok(found) => found,
            Err(Error::TaskInUse(_)) => return Ok(()),
            Err(Error::NotFound(_)) if self.is_over(&task, deadline).await? => return Ok(()),
            Err(Error::NotFound(_)) => (self.create(&task, String::new(), deadline).await?, true),
            Err(error) => return Err(error),
        };
        let at = self.clock.now();
        let brought = blocking(deadline, move || {
            let mut locked = held.blocking_lock();
            let mut operations = running.operations(locked.memory());
            operations.iter_mut().for_each(|operation| {
                operation.scrub();
            });
            if operations.is_empty() { Ok(()) } else { locked.apply_all(operations, None, at).map(drop) }
        })
        .await;
        self.release_if(is_new, &task.key(), deadline).await?;
        brought
    }

    /// Closes the tasks of a session that were read from its transcript, but for one that goes on. Those that another
    /// process has open stay.
    pub async fn close_followed(
        &self,
        workspace: &WorkspaceId,
        session: &str,
        goes_on: Option<WorkingId>,
        deadline: Deadline,
    ) -> Result<(), Error> {
        for listed in self.list(workspace, LOCAL_OWNER, deadline).await? {
            if session_of(&listed.memory) == Some(session) && Some(listed.id) != goes_on {
                let owner = LOCAL_OWNER.to_owned();
                let task = WorkingTask { workspace: workspace.clone(), owner, id: listed.id };
                self.close(&task, TaskEnd::unknown(), deadline).await?;
            }
        }
        Ok(())
    }

    /// Says whether a task was closed: its episode is there, and was not read from a transcript.
    async fn is_over(&self, task: &WorkingTask, deadline: Deadline) -> Result<bool, Error> {
        let source = self.episodes.source(TraceId::from(task.id.uuid()), &task.workspace, deadline).await?;
        Ok(source.is_some_and(|source| source != TraceSource::Transcript))
    }
}
