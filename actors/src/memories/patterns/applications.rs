//! The applications of a pattern with the traces that they were in, and what follows from them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use reasoning_bank_domain::episode::EpisodeFilter;
use reasoning_bank_domain::memory::Memory;
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};
use reasoning_bank_domain::memory::pattern::{PatternApplication, PatternPart};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::pattern::document::{PatternChanged, PatternDocument};
use reasoning_bank_domain::pattern::evidence::{Applied, PatternEvidence, comparable, window_start};
use reasoning_bank_domain::pattern::facts::EpisodeFacts;
use reasoning_bank_domain::pattern::stages;

use crate::error::Error;
use crate::memories::MemoriesHandle;
use crate::ports::{EpisodeRow, MemoryRow, Page, Record};
use crate::runtime::Deadline;

/// The number of signals that one read takes.
const PAGE: usize = 500;
/// The most applications of a pattern that are looked at.
const APPLICATIONS_MOST: usize = 20_000;
/// The most episodes of one type of task that patterns are compared with, the newest ones.
const COMPARED_MOST: usize = 5_000;

/// Applications with what is known of their episodes.
pub(super) struct JudgedApplications {
    applications: Vec<PatternApplication>,
    episodes: BTreeMap<TraceId, EpisodeFacts>,
}

impl JudgedApplications {
    /// Returns the applications of one of the patterns.
    pub(super) fn of(&self, pattern: MemoryId) -> Vec<Applied<'_>> {
        let with = |application: &'_ PatternApplication| self.episodes.get(&application.episode_id);
        let own = self.applications.iter().filter(|application| application.pattern_id == pattern);
        own.map(|application| Applied { application, episode: with(application) }).collect()
    }

    /// Adds an application. Returns false where it is there.
    pub(super) fn add(&mut self, application: PatternApplication, episode: EpisodeFacts) -> bool {
        if self.applications.iter().any(|known| known.id == application.id) {
            return false;
        }
        self.episodes.insert(episode.id, episode);
        self.applications.push(application);
        true
    }
}

impl MemoriesHandle {
    /// Reads a memory that is a pattern, with its part. Any other is not found.
    pub(super) async fn readable_pattern(
        &self,
        id: MemoryId,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<(Memory, PatternPart), Error> {
        let row = self.readable(vec![id], workspace, deadline).await?.pop();
        let pattern = row.and_then(|MemoryRow { memory, .. }| Some((memory.pattern.as_deref()?.clone(), memory)));
        let (part, memory) = pattern.ok_or_else(|| Error::NotFound(format!("pattern {id} here")))?;
        Ok((memory, part))
    }

    /// Reads the applications of patterns.
    pub(super) async fn applications(
        &self,
        ids: &[MemoryId],
        deadline: Deadline,
    ) -> Result<Vec<PatternApplication>, Error> {
        let (mut applications, mut page) = (Vec::new(), Some(Page::newest(PAGE)));
        let most = APPLICATIONS_MOST * ids.len();
        while let Some(asked) = page.filter(|_| applications.len() < most) {
            let signals = self.store.signals_about(ids.to_vec(), asked.clone(), deadline).await?;
            page = asked.following(&signals, |signal| signal.id.uuid());
            applications.extend(signals.iter().filter_map(|signal| signal.as_application()));
        }
        Ok(applications)
    }

    /// Reads the applications of a pattern with their episodes. Of an episode that was deleted only its application
    /// tells how it ended.
    pub(super) async fn judged(&self, id: MemoryId, deadline: Deadline) -> Result<JudgedApplications, Error> {
        self.judged_since(&[id], Timestamp::MIN, deadline).await
    }

    /// Reads the applications of patterns, and the episodes of those since a time.
    pub(super) async fn judged_since(
        &self,
        ids: &[MemoryId],
        since: Timestamp,
        deadline: Deadline,
    ) -> Result<JudgedApplications, Error> {
        let applications = self.applications(ids, deadline).await?;
        self.with_episodes(applications, since, deadline).await
    }

    /// Reads the episodes of those of these applications that were made since a time.
    pub(super) async fn with_episodes(
        &self,
        applications: Vec<PatternApplication>,
        since: Timestamp,
        deadline: Deadline,
    ) -> Result<JudgedApplications, Error> {
        let mut told = BTreeMap::new();
        for application in applications.iter().filter(|application| application.at >= since) {
            // The session that reported the application is the one that it counts for.
            let of = (application.workspace_id.clone(), application.session.clone());
            told.entry(application.episode_id).or_insert(of);
        }
        let mut episodes = BTreeMap::new();
        let asked: Vec<TraceId> = told.keys().copied().collect();
        for ids in asked.chunks(PAGE) {
            for row in self.store.episodes_of_ids(ids.to_vec(), deadline).await? {
                let id = row.trace.trace_id;
                let Some((workspace, session)) = told.remove(&id) else { continue };
                if row.is_there_in(&workspace) {
                    episodes.insert(id, EpisodeFacts { session, ..EpisodeFacts::of_trace(&row.trace) });
                }
            }
        }
        Ok(JudgedApplications { applications, episodes })
    }

    /// Reads the episodes of a workspace that these applications may be compared with: those of the same types of task,
    /// the newest first.
    pub(super) async fn compared_with(
        &self,
        judged: &JudgedApplications,
        workspace: &Workspace,
        deadline: Deadline,
    ) -> Result<Vec<EpisodeFacts>, Error> {
        let now = self.clock.now();
        let types: BTreeSet<&str> = judged.episodes.values().map(|episode| episode.task_type.as_str()).collect();
        let mut others: Vec<EpisodeFacts> = Vec::new();
        for task_type in types {
            let filter = EpisodeFilter {
                task_type: Some(task_type.to_owned()),
                since: Some(window_start(now)),
                ..EpisodeFilter::of_any_age(workspace.id.clone(), now)
            };
            let take = |rows: Vec<EpisodeRow>| others.extend(rows.iter().map(|row| EpisodeFacts::of_trace(&row.trace)));
            self.store.each_episode(&filter, COMPARED_MOST, deadline, take).await?;
        }
        Ok(others)
    }

    /// Looks at the applications of a pattern and stores what follows, together with a batch.
    pub(super) async fn review(
        &self,
        memory: &Memory,
        part: &PatternPart,
        judged: &JudgedApplications,
        workspace: &Workspace,
        batch: Vec<Record>,
        deadline: Deadline,
    ) -> Result<PatternChanged, Error> {
        let now = self.clock.now();
        let others = self.compared_with(judged, workspace, deadline).await?;
        let applied = judged.of(memory.id);
        let comparable = comparable(part, &applied, &others, now);
        let reviewed = stages::review(part, &applied, &comparable, now);
        let why = match &reviewed.change {
            Some(change) => change.reason.clone(),
            None => match PatternEvidence::of(&applied, &comparable, now).verdict() {
                Ok(()) => "nothing speaks for another stage now".to_owned(),
                Err(why) => why.to_string(),
            },
        };
        let stored = self.store_part(memory, memory.clone(), reviewed.part, batch, deadline).await?;
        let pattern = PatternDocument::new(&stored.0, &stored.1, &applied, now);
        Ok(PatternChanged { pattern, application_id: None, stage_before: part.stage, why })
    }
}
