//! The stages of a run. Each reads what is stored, decides by the rules of the domain, and returns what is to be stored
//! together with what takes it back.

use std::collections::HashSet;
use std::sync::Arc;

use futures::FutureExt;
use jiff::Timestamp;
use reasoning_bank_domain::consolidation::{
    ChangeKind, ConsolidationRun, HistoryEntry, RunChange, StageName, StageReport,
};
use reasoning_bank_domain::evidence::confidence::prior;
use reasoning_bank_domain::memory::ids::{MemoryId, SignalId};
use reasoning_bank_domain::memory::pattern::{PatternPart, PatternStage};
use reasoning_bank_domain::memory::workspace::Workspace;
use reasoning_bank_domain::memory::{Memory, Scope, SourceType, Status, Succession};
use reasoning_bank_domain::note::Note;
use reasoning_bank_domain::pattern::evidence::comparable;
use reasoning_bank_domain::pattern::mining::mine;
use reasoning_bank_domain::pattern::{merging, observation, pruning, refinement, stages};
use uuid::Uuid;

use super::ConsolidationHandle;
use super::run_inputs::{AppliedPatterns, RunInputs};
use crate::error::Error;
use crate::memories::{checked, contradicting};
use crate::ports::Record;
use crate::runtime::Deadline;

/// The number of records to store from which on a stage of a run begins no further change. The next run does the rest.
pub(super) const RECORDS_MAX: usize = 5_000;

/// A stage comes to this.
pub(super) struct StageOutcome {
    pub(super) report: StageReport,
    /// The records to store, those of the history among them.
    pub(super) records: Vec<Record>,
}

/// Two patterns that are to become one.
pub(super) struct WantedMerge {
    /// The one whose words are kept comes first.
    pub(super) ids: [MemoryId; 2],
    pub(super) why: String,
    /// True where a person asks for it: then a validated pattern may give way to a candidate.
    pub(super) is_asked_for: bool,
}

impl StageOutcome {
    pub(super) fn of(stage: StageName, looked_at: usize) -> Self {
        Self { report: StageReport::of(stage, looked_at), records: Vec::new() }
    }

    pub(super) fn note(&mut self, id: Uuid, change: ChangeKind, title: &str, why: String) {
        self.report.changes.push(RunChange { id, change, title: title.to_owned(), why });
    }
}

impl ConsolidationHandle {
    pub(super) async fn staged(
        &self,
        stage: StageName,
        run: &ConsolidationRun,
        workspace: &Workspace,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<StageOutcome, Error> {
        // The futures of all stages together would be too large for a stack.
        match stage {
            StageName::Episodes => self.merged_episodes(run, workspace, inputs, deadline).boxed().await,
            StageName::Memories => self.merged_memories(run, workspace, inputs, deadline).boxed().await,
            StageName::Mining => self.mined(run, workspace, inputs, deadline).boxed().await,
            StageName::Validation => self.validated(run, workspace, inputs, deadline).boxed().await,
            StageName::Refinement => self.refined(run, workspace, inputs, deadline).boxed().await,
            StageName::Upkeep => Ok(StageOutcome::of(stage, 0)),
        }
    }

    async fn mined(
        &self,
        run: &ConsolidationRun,
        workspace: &Workspace,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<StageOutcome, Error> {
        let now = self.clock.now();
        let known = self.memories.own_patterns(workspace, deadline).await?;
        let rejected = inputs.rejected.iter().copied().map(MemoryId::from);
        let mut known: HashSet<MemoryId> = known.iter().map(|(memory, _)| memory.id).chain(rejected).collect();
        let mut staged = StageOutcome::of(StageName::Mining, inputs.episodes.len());
        let episodes = Arc::clone(&inputs.episodes);
        let of_rules = known.clone();
        for found in off_the_runtime(move || mine(&episodes, &of_rules, now)).await? {
            let memory = match checked(found.memory(now)) {
                Ok(memory) => memory,
                Err(error) => {
                    staged.report.notes.push(Note::new(error.code(), error.to_string()));
                    continue;
                }
            };
            let (of, successes) = (found.supporting.len(), found.successes);
            let why = if found.p_value < 1.0 {
                format!("{successes} of {of} episodes succeeded, p = {:.1e}", found.p_value)
            } else {
                format!("{of} episodes")
            };
            known.insert(memory.id);
            self.add_candidate(&mut staged, run, memory, why);
        }
        self.propose_by_model(&mut staged, run, workspace, inputs, known, deadline).await?;
        Ok(staged)
    }

    async fn validated(
        &self,
        run: &ConsolidationRun,
        workspace: &Workspace,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<StageOutcome, Error> {
        let now = self.clock.now();
        let mut book = self.book(workspace, inputs, deadline).await?;
        let mut staged = StageOutcome::of(StageName::Validation, book.patterns.len());
        for (memory, part) in std::mem::take(&mut book.patterns) {
            if part.stage == PatternStage::Deprecated || memory.status != Status::Active {
                continue;
            }
            if staged.records.len() >= RECORDS_MAX {
                staged.report.left += 1;
                continue;
            }
            tokio::task::yield_now().await;
            let known: HashSet<SignalId> = book.applications(memory.id).iter().map(|one| one.id).collect();
            let new = observation::newly_observed(memory.id, &part, memory.created_at, book.episodes.iter(), &known);
            staged.records.extend(new.iter().cloned().map(|application| Record::Signal(application.into())));
            book.add(memory.id, new);
            let applied = book.applied(memory.id);
            let reviewed = stages::review(&part, &applied, &comparable(&part, &applied, &book.episodes, now), now);
            let is_changed = self.change(&mut staged, run, &memory, reviewed.part, deadline).await?;
            if let Some(change) = reviewed.change.filter(|_| is_changed) {
                let kind = match change.to {
                    PatternStage::Candidate => ChangeKind::Demoted,
                    PatternStage::Validated => ChangeKind::Validated,
                    PatternStage::UnderReview => ChangeKind::PutUnderReview,
                    PatternStage::Deprecated => ChangeKind::Deprecated,
                };
                staged.note(memory.id.uuid(), kind, &memory.title, change.reason);
            }
        }
        Ok(staged)
    }

    async fn refined(
        &self,
        run: &ConsolidationRun,
        workspace: &Workspace,
        inputs: &RunInputs,
        deadline: Deadline,
    ) -> Result<StageOutcome, Error> {
        let now = self.clock.now();
        let book = self.book(workspace, inputs, deadline).await?;
        let mut staged = StageOutcome::of(StageName::Refinement, book.patterns.len());
        let mut changed: HashSet<MemoryId> = HashSet::new();
        // A memory that is quarantined or superseded counts for nothing, and what a team or an organisation reads is
        // theirs.
        let own: Vec<&(Memory, PatternPart)> = book
            .patterns
            .iter()
            .filter(|(memory, _)| memory.status == Status::Active && memory.scope == Scope::Project)
            .filter(|(memory, _)| !inputs.rejected.contains(&memory.id.uuid()))
            .collect();
        for (memory, part) in own.iter().filter(|(_, part)| part.stage == PatternStage::UnderReview) {
            if staged.records.len() >= RECORDS_MAX {
                staged.report.left += 1;
                continue;
            }
            let applied = book.applied(memory.id);
            let Some(found) = refinement::refinement(part, &applied, now) else { continue };
            let compared = comparable(part, &applied, &book.episodes, now);
            let Some(next) = refinement::refined(part, &found, &applied, &compared, now) else { continue };
            let why = format!("version {}, {}, p = {:.1e}", next.version, found.described(), found.p_value);
            if self.change(&mut staged, run, memory, next, deadline).await? {
                staged.note(memory.id.uuid(), ChangeKind::Refined, &memory.title, why);
                changed.insert(memory.id);
            }
        }
        let mergeable = |(memory, part): &&(Memory, PatternPart)| {
            part.stage != PatternStage::Deprecated && !changed.contains(&memory.id)
        };
        let parts: Vec<(MemoryId, &PatternPart)> =
            own.iter().copied().filter(mergeable).map(|(memory, part)| (memory.id, part)).collect();
        for pair in merging::similar_pairs(&parts) {
            if staged.records.len() >= RECORDS_MAX {
                staged.report.left += 1;
                continue;
            }
            let ids = [pair.better.0, pair.other.0];
            let wanted = WantedMerge { ids, why: format!("likeness {:.2}", pair.likeness), is_asked_for: false };
            if self.merge(&mut staged, run, &book, wanted, deadline).await? {
                changed.extend(ids);
            }
        }
        for (memory, part) in own.iter().filter(|(memory, _)| !changed.contains(&memory.id)) {
            if staged.records.len() >= RECORDS_MAX {
                staged.report.left += 1;
                continue;
            }
            let contradicting = contradicting(memory.id, part, own.iter().copied());
            let Some(reason) = pruning::obsolete_because(part, memory.created_at, &contradicting, now) else {
                continue;
            };
            let next = stages::deprecated(part, &reason.to_string(), None);
            if self.change(&mut staged, run, memory, next, deadline).await? {
                staged.note(memory.id.uuid(), ChangeKind::Deprecated, &memory.title, reason.to_string());
            }
        }
        Ok(staged)
    }

    /// Adds the merge of two patterns to a stage: one that stands for both, and both deprecated for it. Returns false
    /// where there can be none, where there was one and somebody took it out of use, or where a validated pattern would
    /// be lost by it.
    pub(super) async fn merge(
        &self,
        staged: &mut StageOutcome,
        run: &ConsolidationRun,
        book: &AppliedPatterns,
        wanted: WantedMerge,
        deadline: Deadline,
    ) -> Result<bool, Error> {
        let WantedMerge { ids, why, is_asked_for } = wanted;
        let now = self.clock.now();
        let of = |id: MemoryId| book.patterns.iter().find(|(memory, _)| memory.id == id);
        let (Some((better, part)), Some((other, theirs))) = (of(ids[0]), of(ids[1])) else { return Ok(false) };
        let Some(merged) = merging::merged(part, theirs) else { return Ok(false) };
        let id = merging::merged_id(better.id, other.id);
        if of(id).is_some() {
            return Ok(false);
        }
        let applications = ids.iter().flat_map(|id| book.applications(*id).iter().cloned());
        let applications = merging::merged_applications(id, merged.version, applications);
        let applied = book.with_episodes(&applications);
        let reviewed = stages::review(&merged, &applied, &comparable(&merged, &applied, &book.episodes, now), now);
        let is_lost = [part, theirs].iter().any(|part| part.is_validated()) && !reviewed.part.is_validated();
        if is_lost && !is_asked_for {
            return Ok(false);
        }
        let mut memory = checked(merged_memory(better, other, reviewed.part, now))?;
        let mut passages = Vec::new();
        if !memory.is_unproven() {
            (memory, passages) = self.memories.with_these_or_new(memory, Vec::new(), deadline).await;
        }
        staged.records.extend(applications.into_iter().map(|application| Record::Signal(application.into())));
        staged.note(memory.id.uuid(), ChangeKind::Merged, &memory.title, why);
        for (before, part) in [(better, part), (other, theirs)] {
            let next = stages::deprecated(part, "it was merged with a similar one", Some(memory.id));
            if self.change(staged, run, before, next, deadline).await? {
                staged.note(before.id.uuid(), ChangeKind::Deprecated, &before.title, "merged".into());
            }
        }
        staged.records.push(Record::History(HistoryEntry::made_memory(run, &memory, now)));
        staged.records.push(Record::Memory { memory, passages, confirm: None });
        Ok(true)
    }

    /// Adds the change of a pattern to a stage, with what takes it back. Returns false where nothing changes.
    async fn change(
        &self,
        staged: &mut StageOutcome,
        run: &ConsolidationRun,
        before: &Memory,
        part: PatternPart,
        deadline: Deadline,
    ) -> Result<bool, Error> {
        let Some((after, record)) = self.memories.with_part(before, before.clone(), part, deadline).await? else {
            return Ok(false);
        };
        staged.records.push(Record::History(HistoryEntry::changed_memory(run, before, &after, self.clock.now())));
        staged.records.push(record);
        Ok(true)
    }
}

/// Computes something that takes long beside the threads that serve requests.
pub(super) async fn off_the_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)
}

/// Makes the memory of a pattern that stands for two. It names both as what it came from, and is trusted no more than
/// the less trusted one.
fn merged_memory(better: &Memory, other: &Memory, part: PatternPart, now: Timestamp) -> Memory {
    let mut merged = Memory {
        id: merging::merged_id(better.id, other.id),
        revision: 1,
        source_type: SourceType::Consolidated,
        prior: prior(SourceType::Consolidated, None),
        pinned: better.pinned || other.pinned,
        succession: Succession::default(),
        parent_memory_id: None,
        derived_from: Vec::new(),
        created_at: now,
        updated_at: now,
        embedder: None,
        pattern: Some(Box::new(part)),
        ..better.clone()
    };
    [better, other].into_iter().for_each(|source| merged.derive_from(source));
    merged
}
