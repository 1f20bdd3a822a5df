//! The record of one run: what each stage looked at, what it changed and what it left.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::memory::ids::{KeyedRequestId, RunId, TraceId};
use crate::memory::pattern::PatternStage;
use crate::memory::workspace::WorkspaceId;
use crate::note::Note;

/// One page of runs, the newest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunPage {
    pub runs: Vec<ConsolidationRun>,
    /// The `after` of the next page. It is absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<RunId>,
}

/// One run of consolidation in a workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConsolidationRun {
    pub run_id: RunId,
    pub workspace_id: WorkspaceId,
    pub trigger: RunTrigger,
    /// False where the run only says what it would do.
    pub applied: bool,
    pub started_at: Timestamp,
    /// None while the run goes on, and where its process ended before it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    pub stages: Vec<StageReport>,
    /// The state of the workspace and the bank after the run. None until it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<AfterRun>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<Undone>,
    /// The request with a key that began the run. Where its process ended before the run did, the same request goes on
    /// with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<KeyedRequestId>,
}

/// The state of a workspace and its bank after a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct AfterRun {
    /// The number of the workspace's patterns in each stage.
    pub patterns: BTreeMap<PatternStage, u64>,
    /// The episodes of the last 180 days, those that are archived among them.
    pub episodes: u64,
    /// The bytes of all tables of the bank on disk.
    pub bytes: u64,
    /// The rows of the bank that no index has yet.
    pub index_lag_rows: u64,
}

/// The one who began a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunTrigger {
    Person,
    Schedule,
}

/// The stages of a run, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StageName {
    /// Episodes that tell the same become one.
    Episodes,
    /// Memories that say the same become one.
    Memories,
    /// Candidates for patterns are found in episodes.
    Mining,
    /// Applications are looked for, and patterns go to the stage that theirs speak for.
    Validation,
    /// Patterns under review are refined, similar ones merged and obsolete ones deprecated.
    Refinement,
    /// Tables are compacted and indexes extended.
    Upkeep,
}

impl StageName {
    /// The stages that every run does, in their order. A run that was begun by hand does upkeep after them.
    pub const OF_EVERY_RUN: [Self; 5] =
        [Self::Episodes, Self::Memories, Self::Mining, Self::Validation, Self::Refinement];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Episodes => "episodes",
            Self::Memories => "memories",
            Self::Mining => "mining",
            Self::Validation => "validation",
            Self::Refinement => "refinement",
            Self::Upkeep => "upkeep",
        }
    }
}

/// The report of what one stage did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StageReport {
    pub stage: StageName,
    /// The number of episodes, memories or patterns that it looked at.
    pub looked_at: u64,
    pub changes: Vec<RunChange>,
    /// The number of changes that it leaves to the next run, because a run makes a limited number.
    #[serde(default)]
    pub left: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The episodes that a model read, and what it proposed. None where no model may be asked, and where the run only
    /// plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelReading>,
}

/// The reading of a model that proposes patterns, and what came of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ModelReading {
    /// The number of clusters of episodes that it read.
    pub clusters: u64,
    /// The number of candidates that came of them.
    pub candidates: u64,
    /// The number of patterns that were refused, by the reason.
    #[serde(default)]
    pub refused: BTreeMap<String, u64>,
    /// The tokens that count towards those of the day.
    pub tokens: u64,
    /// The episodes of the clusters. No later run gives them to a model.
    #[serde(default)]
    pub episodes: Vec<TraceId>,
}

impl StageReport {
    /// Makes the report of a stage that looked at the given number of things and has changed nothing yet.
    pub fn of(stage: StageName, looked_at: usize) -> Self {
        Self { stage, looked_at: looked_at as u64, changes: Vec::new(), left: 0, notes: Vec::new(), model: None }
    }
}

/// One change that a run made or would make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunChange {
    /// The memory, the pattern or the episode.
    #[schemars(length(max = 36))]
    pub id: Uuid,
    pub change: ChangeKind,
    /// The title of the memory or the pattern, or the task of the episode. It is looked up when the run is shown, so
    /// that the record of a run has no words of what is erased later.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The reason, in numbers and conditions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// An episode that stands for several others was made.
    Consolidated,
    /// An episode was archived, because another one stands for it.
    Archived,
    /// A memory took in others that say the same.
    Extended,
    /// A memory went out of search, because another one that says the same took it in.
    Superseded,
    /// A pattern was proposed as a candidate.
    Proposed,
    /// A pattern was validated.
    Validated,
    /// A pattern was put under review.
    PutUnderReview,
    /// A pattern became a candidate again.
    Demoted,
    /// A pattern got a further condition, as a new version.
    Refined,
    /// A pattern that stands for two others was made.
    Merged,
    /// A pattern was taken out of use.
    Deprecated,
}

impl ChangeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Consolidated => "consolidated",
            Self::Archived => "archived",
            Self::Extended => "extended",
            Self::Superseded => "superseded",
            Self::Proposed => "proposed",
            Self::Validated => "validated",
            Self::PutUnderReview => "put under review",
            Self::Demoted => "demoted",
            Self::Refined => "refined",
            Self::Merged => "merged",
            Self::Deprecated => "deprecated",
        }
    }
}

/// The result of undoing a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Undone {
    pub at: Timestamp,
    /// The number of changes that were taken back.
    pub taken_back: u64,
    /// The changes that were not taken back.
    pub skipped: Vec<Skipped>,
}

/// A change that was not taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    #[schemars(length(max = 36))]
    pub id: Uuid,
    pub because: SkippedBecause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "lowercase")]
pub enum SkippedBecause {
    #[error("it was changed since")]
    Changed,
    #[error("it was erased since")]
    Erased,
}

impl ConsolidationRun {
    /// Begins a run.
    pub fn begun(
        run_id: RunId,
        workspace_id: WorkspaceId,
        trigger: RunTrigger,
        applied: bool,
        started_at: Timestamp,
    ) -> Self {
        Self {
            run_id,
            workspace_id,
            trigger,
            applied,
            started_at,
            ended_at: None,
            stages: Vec::new(),
            after: None,
            undone: None,
            request_id: None,
        }
    }

    /// Tells whether nothing of the run is left to do.
    pub fn is_over(&self) -> bool {
        self.ended_at.is_some() || self.undone.is_some()
    }

    /// Returns the stages of every run that this one has not done yet, in their order.
    pub fn stages_left(&self) -> impl Iterator<Item = StageName> + use<> {
        let done: Vec<StageName> = self.stages.iter().map(|report| report.stage).collect();
        StageName::OF_EVERY_RUN.into_iter().filter(move |stage| !done.contains(stage))
    }

    /// Tells whether the run did all of its stages. One that only merged two patterns did not.
    pub fn is_complete(&self) -> bool {
        self.ended_at.is_some() && self.stages.iter().any(|stage| stage.stage == StageName::Mining)
    }

    pub fn changes(&self) -> impl Iterator<Item = &RunChange> {
        self.stages.iter().flat_map(|stage| &stage.changes)
    }

    /// Returns the episodes that a model has read in the run.
    pub fn read_by_model(&self) -> impl Iterator<Item = TraceId> {
        self.stages.iter().filter_map(|stage| stage.model.as_ref()).flat_map(|model| model.episodes.iter().copied())
    }

    /// Returns the record as it is stored: without the words of what it is about.
    pub fn without_titles(&self) -> Self {
        let mut stored = self.clone();
        for change in stored.stages.iter_mut().flat_map(|stage| &mut stage.changes) {
            change.title.clear();
        }
        stored
    }

    /// Writes the titles of what the run changed into its record.
    pub fn with_titles(mut self, title: impl Fn(Uuid) -> Option<String>) -> Self {
        for change in self.stages.iter_mut().flat_map(|stage| &mut stage.changes) {
            change.title = title(change.id).unwrap_or_default();
        }
        self
    }
}
