//! The first stage: episodes that tell the same become one, and the originals are archived.

use std::collections::HashMap;

use reasoning_bank_domain::consolidation::clusters::{
    ClusterCandidate, INSTANCES_MIN, clusters, consolidated, consolidated_id,
};
use reasoning_bank_domain::consolidation::{ChangeKind, ConsolidationRun, HistoryEntry, StageName};
use reasoning_bank_domain::episode::QuantizedVector;
use reasoning_bank_domain::memory::ids::TraceId;
use reasoning_bank_domain::memory::trace::{Outcome, Trace};
use reasoning_bank_domain::memory::workspace::Workspace;

use super::ConsolidationHandle;
use super::book::RecordedEpisodes;
use super::stages::Staged;
use crate::error::Error;
use crate::ports::Record;
use crate::runtime::Deadline;

/// So many episodes are read at once.
const PAGE: usize = 500;
/// The most clusters that a run merges. The next run does the rest.
const CLUSTERS_MAX: usize = 100;
/// The most characters of a task in a report.
const TASK_CHARS: usize = 200;

impl ConsolidationHandle {
    pub(super) async fn merged_episodes(
        &self,
        run: &ConsolidationRun,
        workspace: &Workspace,
        recorded: &RecordedEpisodes,
        deadline: Deadline,
    ) -> Result<Staged, Error> {
        let now = self.clock.now();
        let candidates = &recorded.mature;
        let vectors = self.whole_vectors(candidates, deadline).await?;
        let mut staged = Staged::of(StageName::Episodes, candidates.len());
        let found = clusters(candidates, &vectors);
        staged.report.left = found.len().saturating_sub(CLUSTERS_MAX) as u64;
        for cluster in found.into_iter().take(CLUSTERS_MAX) {
            let (mut instances, mut states) = (Vec::new(), Vec::new());
            for id in cluster {
                let row = self.store.episode(id, Some(workspace.id.clone()), deadline).await?;
                if let Some(row) = row {
                    instances.push(row.trace);
                    states.push(row.state);
                }
            }
            let ids: Vec<TraceId> = instances.iter().map(|one| one.trace_id).collect();
            let made = consolidated_id(&ids);
            if instances.len() < INSTANCES_MIN || self.store.trace(made, None, deadline).await?.is_some() {
                continue;
            }
            let rate = success_rate(candidates, &instances[0]);
            let Some(trace) = consolidated(&instances, rate, now) else { continue };
            let title = |trace: &Trace| -> String { trace.task.chars().take(TASK_CHARS).collect() };
            let why = format!("stands for {} episodes", instances.len());
            staged.note(made.uuid(), ChangeKind::Consolidated, &title(&trace), why);
            staged.records.push(Record::History(HistoryEntry::made_episode(run, made, now)));
            staged.records.push(Record::Trace(trace));
            for (instance, state) in instances.iter().zip(states) {
                let Some(state) = state.archived_for(made, now) else { continue };
                staged.note(instance.trace_id.uuid(), ChangeKind::Archived, &title(instance), String::new());
                staged.records.push(Record::History(HistoryEntry::archived_episode(run, instance.trace_id, made, now)));
                staged.records.push(Record::EpisodeState(state));
            }
        }
        Ok(staged)
    }

    /// Reads the vectors of whole episodes. One that tells nothing but its task has that of its task.
    async fn whole_vectors(
        &self,
        candidates: &[ClusterCandidate],
        deadline: Deadline,
    ) -> Result<HashMap<TraceId, QuantizedVector>, Error> {
        let embedder = self.embedder.fingerprint().to_string();
        let mut vectors = HashMap::new();
        for some in candidates.chunks(PAGE) {
            let ids = some.iter().map(|one| one.id).collect();
            let found = self.store.episode_vectors(ids, embedder.clone(), deadline).await?;
            vectors.extend(found.into_iter().filter_map(|of| Some((of.episode_id, of.whole.or(of.task)?))));
        }
        Ok(vectors)
    }
}

/// Returns the share of successes among the episodes of the same domain and type. None where all are partial.
fn success_rate(candidates: &[ClusterCandidate], like: &Trace) -> Option<f64> {
    let like = ClusterCandidate::of(like);
    let of_kind = candidates.iter().filter(|one| one.domain == like.domain && one.task_type == like.task_type);
    let decided: Vec<bool> =
        of_kind.filter(|one| one.outcome != Outcome::Partial).map(|one| one.outcome == Outcome::Success).collect();
    let successes = decided.iter().filter(|succeeded| **succeeded).count();
    (!decided.is_empty()).then(|| successes as f64 / decided.len() as f64)
}
