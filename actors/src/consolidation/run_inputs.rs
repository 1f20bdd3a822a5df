//! A run reads the patterns of a workspace with their applications, and what is known of its episodes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::SignedDuration;
use reasoning_bank_domain::consolidation::clusters::ClusterCandidate;
use reasoning_bank_domain::consolidation::{ConsolidationRun, RunTrigger};
use reasoning_bank_domain::episode::{EpisodeFilter, EpisodePhase, Visibility};
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::pattern::{PatternApplication, PatternPart};
use reasoning_bank_domain::memory::trace::TraceSource;
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::pattern::evidence::Applied;
use reasoning_bank_domain::pattern::facts::EpisodeFacts;
use reasoning_bank_domain::pattern::mining::MINED_DAYS;
use uuid::Uuid;

use super::{ConsolidationHandle, RUNS_MAX};
use crate::error::Error;
use crate::ports::{EpisodeRow, Page};
use crate::runtime::Deadline;

/// The number of signals or memories that one read takes.
const PAGE: usize = 500;
/// The most episodes that a run looks at, the newest ones.
const EPISODES_MOST: usize = 100_000;

/// A run reads this once. What changes meanwhile counts in the next one.
pub(super) struct RunInputs {
    /// The episodes of the last 180 days that nobody deleted, the newest first.
    pub(super) episodes: Arc<Vec<EpisodeFacts>>,
    /// Those of them that may become one: they are mature, and stand for no others.
    pub(super) mature: Arc<Vec<ClusterCandidate>>,
    /// The patterns and episodes that the run leaves alone.
    pub(super) rejected: HashSet<Uuid>,
    /// The episodes that a model has read to propose patterns.
    pub(super) read: HashSet<TraceId>,
}

/// The patterns of a workspace and what they are judged by.
pub(super) struct AppliedPatterns {
    pub(super) patterns: Vec<(Memory, PatternPart)>,
    applications: BTreeMap<MemoryId, Vec<PatternApplication>>,
    pub(super) episodes: Arc<Vec<EpisodeFacts>>,
    places: HashMap<TraceId, usize>,
}

impl AppliedPatterns {
    /// Returns the applications of a pattern.
    pub(super) fn applications(&self, id: MemoryId) -> &[PatternApplication] {
        self.applications.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Adds applications of a pattern.
    pub(super) fn add(&mut self, id: MemoryId, applications: impl IntoIterator<Item = PatternApplication>) {
        self.applications.entry(id).or_default().extend(applications);
    }

    /// Returns the applications of a pattern with their episodes.
    pub(super) fn applied(&self, id: MemoryId) -> Vec<Applied<'_>> {
        self.with_episodes(self.applications(id))
    }

    /// Returns applications with their episodes.
    pub(super) fn with_episodes<'a>(&'a self, applications: &'a [PatternApplication]) -> Vec<Applied<'a>> {
        let episode = |id: &TraceId| self.places.get(id).and_then(|place| self.episodes.get(*place));
        let with = |application| Applied { application, episode: episode(&application.episode_id) };
        applications.iter().map(with).collect()
    }
}

impl ConsolidationHandle {
    /// Reads the patterns of a workspace, of any stage, with their applications.
    pub(super) async fn book(
        &self,
        workspace: &Workspace,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<AppliedPatterns, Error> {
        let patterns = self.memories.own_patterns(workspace, deadline).await?;
        let mut applications: BTreeMap<MemoryId, Vec<PatternApplication>> = BTreeMap::new();
        for some in patterns.chunks(PAGE) {
            let ids: Vec<MemoryId> = some.iter().map(|(memory, _)| memory.id).collect();
            let mut page = Some(Page::first(PAGE));
            while let Some(asked) = page {
                let signals = self.store.signals_about(ids.clone(), asked.clone(), deadline).await?;
                page = asked.following(&signals, |signal| signal.id.uuid());
                for application in signals.iter().filter_map(|signal| signal.as_application()) {
                    applications.entry(application.pattern_id).or_default().push(application);
                }
            }
        }
        let episodes = Arc::clone(&inputs.episodes);
        let places = episodes.iter().enumerate().map(|(place, episode)| (episode.id, place)).collect();
        Ok(AppliedPatterns { patterns, applications, episodes, places })
    }

    /// Reads what a run needs of a workspace. The bodies of episodes are not kept, because there may be many.
    pub(super) async fn inputs(
        &self,
        trigger: RunTrigger,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<RunInputs, Error> {
        let now = self.clock.now();
        let filter = EpisodeFilter {
            visible: vec![Visibility::Active, Visibility::Archived],
            since: now.checked_sub(SignedDuration::from_hours(24 * MINED_DAYS)).ok(),
            ..EpisodeFilter::of(workspace.id.clone(), self.rules, now)
        };
        let (mut episodes, mut mature) = (Vec::new(), Vec::new());
        let take = |rows: Vec<EpisodeRow>| {
            episodes.extend(rows.iter().map(|row| EpisodeFacts::of_trace(&row.trace)));
            let may_become_one = rows.iter().filter(|row| {
                let is_original = row.trace.source != TraceSource::Consolidated;
                is_original && row.state.phase(self.rules, now) == EpisodePhase::Mature
            });
            mature.extend(may_become_one.map(|row| ClusterCandidate::of(&row.trace)));
        };
        self.store.each_episode(&filter, EPISODES_MOST, deadline, take).await?;
        let runs = self.runs_of(workspace, RUNS_MAX, None, deadline).await?.runs;
        // A run that begins by itself leaves alone what a run that was undone made, changed or read, because somebody
        // did not want that.
        let by_itself = trigger == RunTrigger::Schedule;
        let undone = runs.iter().filter(|run| by_itself && run.undone.is_some());
        let rejected = undone.flat_map(ConsolidationRun::changes).map(|change| change.id).collect();
        let counting = runs.iter().filter(|run| by_itself || run.undone.is_none());
        let read = counting.flat_map(ConsolidationRun::read_by_model).collect();
        Ok(RunInputs { episodes: Arc::new(episodes), mature: Arc::new(mature), rejected, read })
    }

    pub(super) async fn has_episodes(&self, workspace: &Workspace, deadline: Deadline) -> Result<bool, Error> {
        let filter = EpisodeFilter::of(workspace.id.clone(), self.rules, self.clock.now());
        Ok(!self.store.episodes(filter, None, 1, deadline).await?.is_empty())
    }

    /// Writes the titles of what a run changed into its record, as far as it is still there.
    pub(super) async fn titled(
        &self,
        run: ConsolidationRun,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<ConsolidationRun, Error> {
        let ids: Vec<Uuid> = run.changes().map(|change| change.id).collect();
        let mut found = Vec::new();
        for some in ids.chunks(PAGE) {
            let memories = some.iter().map(|id| MemoryId::from(*id)).collect();
            found.extend(self.store.get(memories, deadline).await?);
        }
        let of_workspace = found.into_iter().filter(|row| row.memory.workspace_id == workspace.id);
        let mut titles: HashMap<Uuid, String> =
            of_workspace.map(|row| (row.memory.id.uuid(), row.memory.title)).collect();
        for id in ids.into_iter().filter(|id| !titles.contains_key(id)).collect::<Vec<_>>() {
            let row = self.store.episode(id.into(), Some(workspace.id.clone()), deadline).await?;
            if let Some(row) = row.filter(|row| !row.state.is_deleted()) {
                titles.insert(id, row.trace.short_task());
            }
        }
        Ok(run.with_titles(|id| titles.get(&id).cloned()))
    }
}
