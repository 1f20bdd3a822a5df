//! Episodes out of transcripts: one for each request of a user for which something was done, stored once. One of a
//! transcript that went on since is brought up to date.

use std::collections::HashSet;

use reasoning_bank_domain::learning::episodes::{episode_of, grown, may_have_grown};
use reasoning_bank_domain::learning::transcript::UserRequest;
use reasoning_bank_domain::memory::trace::{Outcome, Trace, TraceSource, VerdictSource};
use reasoning_bank_domain::memory::workspace::WorkspaceId;
use uuid::Uuid;

use super::EpisodesHandle;
use crate::conflict::retry_on_conflict;
use crate::error::Error;
use crate::ports::Record;
use crate::runtime::Deadline;
use crate::workspaces::WorkspaceRef;

/// The number of episodes that are stored at once.
const STORED_AT_ONCE: usize = 50;

/// The work that a transcript tells of.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedRequests {
    pub requests: Vec<UserRequest>,
    pub source: TraceSource,
    /// The source of evidence, where it is not the session that the transcript names.
    pub owner: Option<String>,
    /// The outcome of the session, as it was reported. The last request has it where no check decided another one.
    pub outcome: Option<Outcome>,
}

impl EpisodesHandle {
    /// Stores the episodes of a transcript, and returns how many of them are new. Calling again is safe.
    pub async fn learn(
        &self,
        told: LearnedRequests,
        workspace: &WorkspaceRef,
        deadline: Deadline,
    ) -> Result<u64, Error> {
        let LearnedRequests { requests, source, owner, outcome } = told;
        if requests.is_empty() {
            return Ok(0);
        }
        let begun = self.workspaces.resolve(workspace, deadline).await?;
        let (now, workspace) = (self.clock.now(), &begun.workspace);
        let episodes = requests.iter().map(|request| episode_of(request, source, &workspace.id, owner.as_deref(), now));
        let mut episodes: Vec<Trace> = episodes.collect();
        if let Some((last, outcome)) = episodes.last_mut().zip(outcome)
            && last.verdict_source == VerdictSource::None
        {
            last.outcome = outcome;
        }
        let mut seen = HashSet::new();
        episodes.retain(|episode| seen.insert(episode.trace_id));
        let mut known = HashSet::new();
        for episodes in episodes.chunks(STORED_AT_ONCE) {
            let ids: Vec<Uuid> = episodes.iter().map(|episode| episode.trace_id.uuid()).collect();
            known.extend(self.store.existing_ids(ids, deadline).await?);
        }
        let (known, new): (Vec<Trace>, Vec<Trace>) =
            episodes.into_iter().partition(|episode| known.contains(&episode.trace_id.uuid()));
        for episodes in new.chunks(STORED_AT_ONCE) {
            let mut batch = Vec::new();
            for episode in episodes {
                batch.extend(self.vectors_of(episode, 0, deadline.halfway()).await.map(Record::EpisodeVectors));
                batch.push(Record::Trace(episode.clone()));
            }
            self.workspaces.commit_if_there(&begun, &self.store, batch, deadline).await?;
            self.memories.observe(episodes, workspace, deadline).await;
        }
        for episode in may_have_grown(&known) {
            if let Some(grown) = self.bring_up_to_date(episode, &workspace.id, deadline).await? {
                self.memories.observe(&[grown], workspace, deadline).await;
            }
        }
        Ok(new.len() as u64)
    }

    /// Stores what is told of a stored episode, where more was done for its request since. Returns the episode then.
    async fn bring_up_to_date(
        &self,
        told: &Trace,
        workspace: &WorkspaceId,
        deadline: Deadline,
    ) -> Result<Option<Trace>, Error> {
        retry_on_conflict(async |_tries| {
            let stored = self.store.episode(told.trace_id, Some(workspace.clone()), deadline).await?;
            let Some(next) = stored.and_then(|row| grown(&row.trace, told)) else { return Ok(None) };
            let earlier = self.store.episode_vectors(vec![next.trace_id], deadline).await?.pop();
            let outdated = earlier.map(|vectors| vectors.outdated());
            let revision = outdated.as_ref().map_or(0, |vectors| vectors.revision);
            // Where no vectors can be made, the earlier ones go, so that upkeep makes those of what is told now.
            let vectors = self.vectors_of(&next, revision, deadline.halfway()).await.or(outdated);
            let mut batch = vec![Record::Verdict(next.clone())];
            batch.extend(vectors.map(Record::EpisodeVectors));
            self.store.commit(batch, deadline).await?;
            Ok(Some(next))
        })
        .await
    }
}
