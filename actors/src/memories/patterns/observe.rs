//! Applications that nobody reports: rules see in an episode that it followed a pattern.

use std::collections::HashSet;

use futures::FutureExt;
use reasoning_bank_domain::memory::pattern::PatternStage;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceRef};
use reasoning_bank_domain::pattern::facts::EpisodeFacts;
use reasoning_bank_domain::pattern::{observation, stages};

use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::ports::Record;
use crate::runtime::Deadline;

impl MemoriesHandle {
    /// Notes which active patterns of the workspace these new episodes followed, and looks at the patterns whose
    /// applications are tested now. A failure is only logged, because the episodes are stored, and consolidation looks
    /// again.
    pub(crate) async fn observe(&self, episodes: &[Trace], workspace: &Workspace, deadline: Deadline) {
        if let Err(error) = self.try_to_observe(episodes, workspace, deadline).boxed().await {
            tracing::debug!(code = error.code().as_str(), "nobody looked which patterns an episode followed");
        }
    }

    async fn try_to_observe(&self, episodes: &[Trace], workspace: &Workspace, deadline: Deadline) -> Result<(), Error> {
        let told = episodes.iter().map(EpisodeFacts::of_trace);
        let told: Vec<EpisodeFacts> = told.filter(EpisodeFacts::tells_what_was_done).collect();
        if told.is_empty() {
            return Ok(());
        }
        let mut followed = Vec::new();
        let of_workspace = WorkspaceRef::Id(workspace.id.clone());
        let index = self.pattern_index(&of_workspace, deadline).await?;
        for (memory, part) in index.memories() {
            if part.stage == PatternStage::Deprecated || memory.workspace_id != workspace.id {
                continue;
            }
            let new = observation::newly_observed(memory.id, part, memory.created_at, &told, &HashSet::new());
            if !new.is_empty() {
                followed.push((memory.id, part.clone(), new));
            }
        }
        let signals = followed.iter().flat_map(|(_, _, new)| new.iter().cloned());
        let signals: Vec<Record> = signals.map(|application| Record::Signal(application.into())).collect();
        if signals.is_empty() {
            return Ok(());
        }
        self.store.commit(signals, deadline).await?;
        for (id, part, _) in followed {
            if stages::may_be_due(&part, &self.applications(&[id], deadline).await?) {
                self.review_pattern(id, &of_workspace, deadline).await?;
            }
        }
        Ok(())
    }
}
