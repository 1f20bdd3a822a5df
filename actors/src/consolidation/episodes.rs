//! The first stage: episodes that tell the same become one, and the originals are archived.

use std::collections::HashMap;
use std::sync::Arc;

use reasoning_bank_domain::consolidation::clusters::{
    ClusterCandidate, INSTANCES_MIN, clusters, consolidated, consolidated_id,
};
use reasoning_bank_domain::consolidation::{ChangeKind, ConsolidationRun, HistoryEntry, StageName};
use reasoning_bank_domain::episode::{EpisodePhase, EpisodeVectors, QuantizedVector};
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::Trace;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::pattern::facts::EpisodeFacts;

use super::ConsolidationHandle;
use super::run_inputs::RunInputs;
use super::stages::{StageOutcome, off_the_runtime};
use crate::error::Error;
use crate::ports::{EpisodeRow, Record};
use crate::runtime::Deadline;

/// The number of episodes that one read takes.
const PAGE: usize = 500;
/// The most clusters that a run merges. The next run does the rest.
const CLUSTERS_MAX: usize = 50;

impl ConsolidationHandle {
    pub(super) async fn merged_episodes(
        &self,
        run: &ConsolidationRun,
        workspace: &Workspace,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<StageOutcome, Error> {
        let now = self.clock.now();
        let mut staged = StageOutcome::of(StageName::Episodes, inputs.mature.len());
        if self.rules.archive_after_days == 0 {
            // Whoever archives none by age wants none archived for another one.
            return Ok(staged);
        }
        let vectors = Arc::new(self.whole_vectors(&inputs.mature, deadline).await?);
        let (candidates, compared) = (Arc::clone(&inputs.mature), Arc::clone(&vectors));
        let found = off_the_runtime(move || clusters(&candidates, &compared)).await?;
        staged.report.left = found.len().saturating_sub(CLUSTERS_MAX) as u64;
        for cluster in found.into_iter().take(CLUSTERS_MAX) {
            let (mut instances, mut states) = (Vec::new(), Vec::new());
            let planned = consolidated_id(&cluster);
            for id in cluster {
                let row = self.store.episode(id, Some(workspace.id.clone()), deadline).await?;
                let may_be_archived = |row: &EpisodeRow| {
                    let is_mature = row.state.phase(self.rules, now) == EpisodePhase::Mature;
                    is_mature && row.state.archived_for(planned, now).is_some()
                };
                if let Some(row) = row.filter(may_be_archived) {
                    instances.push(row.trace);
                    states.push(row.state);
                }
            }
            let ids: Vec<TraceId> = instances.iter().map(|one| one.trace_id).collect();
            let made = consolidated_id(&ids);
            let is_known =
                inputs.rejected.contains(&made.uuid()) || self.store.trace(made, None, deadline).await?.is_some();
            if instances.len() < INSTANCES_MIN || is_known {
                continue;
            }
            let Some(trace) = consolidated(&instances, success_rate(&inputs.episodes, &instances[0])) else {
                continue;
            };
            let why = format!("stands for {} episodes", instances.len());
            staged.note(made.uuid(), ChangeKind::Consolidated, &trace.short_task(), why);
            staged.records.push(Record::History(HistoryEntry::made_episode(run, made, now)));
            let middle = QuantizedVector::middle(ids.iter().filter_map(|id| vectors.get(id)));
            let outcomes = self.own_vectors(ids.clone(), deadline).await?;
            let embedded = EpisodeVectors {
                episode_id: made,
                workspace_id: workspace.id.clone(),
                created_at: trace.created_at,
                revision: 0,
                embedder: self.embedder.fingerprint().to_string(),
                task: middle.clone(),
                outcome: QuantizedVector::middle(outcomes.iter().filter_map(|of| of.outcome.as_ref())),
                whole: middle,
            };
            staged.records.push(Record::Trace(trace));
            staged.records.push(Record::EpisodeVectors(embedded));
            for (instance, state) in instances.iter().zip(states) {
                let Some(state) = state.archived_for(made, now) else { continue };
                staged.note(instance.trace_id.uuid(), ChangeKind::Archived, &instance.short_task(), String::new());
                staged.records.push(Record::History(HistoryEntry::archived_episode(run, instance.trace_id, made, now)));
                staged.records.push(Record::EpisodeState(state));
            }
        }
        Ok(staged)
    }

    /// Reads the vectors of whole episodes. One that tells nothing but its task has that of its task.
    pub(super) async fn whole_vectors(
        &self,
        candidates: &[ClusterCandidate],
        deadline: Deadline,
    ) -> Result<HashMap<TraceId, QuantizedVector>, Error> {
        let mut vectors = HashMap::new();
        for some in candidates.chunks(PAGE) {
            let own = self.own_vectors(some.iter().map(|one| one.id).collect(), deadline).await?;
            vectors.extend(own.into_iter().filter_map(|of| Some((of.episode_id, of.whole.or(of.task)?))));
        }
        Ok(vectors)
    }

    /// Reads the vectors of episodes that the embedder of this process made.
    async fn own_vectors(&self, ids: Vec<TraceId>, deadline: Deadline) -> Result<Vec<EpisodeVectors>, Error> {
        let embedder = self.embedder.fingerprint().to_string();
        let mut found = self.store.episode_vectors(ids, deadline).await?;
        found.retain(|of| of.embedder == embedder);
        Ok(found)
    }
}

/// Returns the share of successes among all episodes of the same domain and type that somebody told. None where all are
/// partial.
fn success_rate(episodes: &[EpisodeFacts], like: &Trace) -> Option<f64> {
    let like = ClusterCandidate::of(like);
    let of_kind = episodes.iter().filter(|one| one.is_original && one.domain == like.domain);
    let decided: Vec<bool> =
        of_kind.filter(|one| one.task_type == like.task_type).filter_map(|one| one.succeeded).collect();
    let successes = decided.iter().filter(|succeeded| **succeeded).count();
    (!decided.is_empty()).then(|| successes as f64 / decided.len() as f64)
}
