//! Applications that nobody reports: rules see in an episode that it followed a pattern.

use std::collections::HashSet;

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_domain::memory::ids::MemoryId;
use reasoning_bank_domain::memory::pattern::{PatternPart, PatternStage};
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::{Workspace, WorkspaceRef};
use reasoning_bank_domain::pattern::evidence::comparable;
use reasoning_bank_domain::pattern::facts::EpisodeFacts;
use reasoning_bank_domain::pattern::{observation, stages};

use super::applications::JudgedApplications;
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::ports::{MemoryRow, Record};
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
        let ids: Vec<MemoryId> = followed.iter().map(|(id, ..)| *id).collect();
        let mut applications = self.applications(&ids, deadline).await?;
        let is_due = |id: MemoryId, part: &PatternPart| {
            stages::may_be_due(part, applications.iter().filter(|application| application.pattern_id == id))
        };
        let due: Vec<MemoryId> =
            followed.iter().filter(|(id, part, _)| is_due(*id, part)).map(|(id, ..)| *id).collect();
        if due.is_empty() {
            return Ok(());
        }
        applications.retain(|application| due.contains(&application.pattern_id));
        let judged = self.with_episodes(applications, Timestamp::MIN, deadline).await?;
        self.review_together(&due, &judged, workspace, deadline).await
    }

    /// Looks at the applications of several patterns, and stores what follows with one commit. What they are compared
    /// with is read once.
    async fn review_together(
        &self,
        ids: &[MemoryId],
        judged: &JudgedApplications,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<(), Error> {
        let others = self.compared_with(judged, workspace, deadline).await?;
        let now = self.clock.now();
        retry_on_conflict(async |_| {
            let mut reviewed = Vec::new();
            for MemoryRow { memory, .. } in self.readable(ids.to_vec(), workspace, deadline).await? {
                let Some(part) = memory.pattern.as_deref() else { continue };
                let applied = judged.of(memory.id);
                let next = stages::review(part, &applied, &comparable(part, &applied, &others, now), now).part;
                let revised = self.with_part(&memory, memory.clone(), next, deadline).await?;
                reviewed.extend(revised.map(|(_, record)| record));
            }
            if reviewed.is_empty() { Ok(()) } else { self.store.commit(reviewed, deadline).await.map(drop) }
        })
        .await
    }
}
