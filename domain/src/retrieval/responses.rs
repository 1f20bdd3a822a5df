//! The documents that clients read about memories: answers of retrieve and record.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::confidence::{Evidence, confidence};
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::trace::Outcome;
use crate::memory::workspace::WorkspaceId;
use crate::memory::{
    ErrorContext, Facts, Memory, MemoryOutcome, Scope, SourceType, Status, Successor, Trust, tells_of_failure,
};
use crate::note::{Code, Note};
use crate::retrieval::ranking::{Cut, Ranked, Ranking};
use crate::retrieval::recalled::Recalled;
use crate::retrieval::score::Why;
use crate::text::shortened;

/// The most characters that are shown of a memory that is similar to a recorded one.
const SIMILAR_MAX_CHARS: usize = 300;

/// A memory as a client reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryView {
    pub id: MemoryId,
    pub title: String,
    pub description: String,
    pub content: String,
    pub outcome: MemoryOutcome,
    /// True exactly when an error_context is present.
    pub warning: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_context: Option<ErrorContext>,
    pub scope: Scope,
    pub workspace_id: WorkspaceId,
    pub source_type: SourceType,
    pub trust: Trust,
    pub status: Status,
    /// The newer memory that took its place. The schemas for models leave it out, because every client pays for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-program" = true))]
    pub superseded_by: Option<MemoryId>,
    pub revision: u64,
    pub pinned: bool,
    /// The confidence from evidence and age, in 0..1.
    pub confidence: f64,
    pub usage_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_memory_id: Option<MemoryId>,
    pub derived_from: Vec<MemoryId>,
    pub evolution_stage: u32,
    pub pattern_tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty_level: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_category: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_outcome: Option<Outcome>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

impl MemoryView {
    pub fn new(memory: Memory, evidence: &Evidence, now: Timestamp) -> Self {
        let confidence = confidence(&Facts::from(&memory), evidence, now);
        Self {
            id: memory.id,
            warning: memory.is_warning(),
            superseded_by: memory.superseded_by(),
            title: memory.title,
            description: memory.description,
            content: memory.content,
            outcome: memory.outcome,
            error_context: memory.error_context,
            scope: memory.scope,
            workspace_id: memory.workspace_id,
            source_type: memory.source_type,
            trust: memory.trust,
            status: memory.status,
            revision: memory.revision,
            pinned: memory.pinned,
            confidence,
            usage_count: evidence.usage_count(),
            parent_memory_id: memory.parent_memory_id,
            derived_from: memory.derived_from,
            evolution_stage: memory.evolution_stage,
            pattern_tags: memory.pattern_tags,
            difficulty_level: memory.difficulty_level,
            domain_category: memory.domain_category,
            trace_id: memory.trace_id,
            trace_outcome: memory.trace_outcome,
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            last_used_at: evidence.last_used_at,
        }
    }

    /// Tells whether the memory is one of what failed, as [`Memory::is_of_failure`] does.
    pub fn is_of_failure(&self) -> bool {
        tells_of_failure(self.warning, self.outcome, self.trace_outcome)
    }
}

/// A memory with all that is known of where it comes from and whom it is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDetail {
    #[serde(flatten)]
    pub memory: MemoryView,
    /// The task it was learned from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
    /// The tasks that confirmed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_tasks: Vec<String>,
    /// The same in the words of lessons that confirmed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_session: Option<String>,
    /// The time at which its words were said, where that was before they were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-program" = true))]
    pub valid_from: Option<Timestamp>,
    /// The newer memory that was found to update it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-program" = true))]
    pub outdated_by: Option<Successor>,
    /// The older memories that it replaces, or was found to update.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub replaces: Vec<MemoryId>,
}

impl MemoryDetail {
    pub fn new(memory: Memory, evidence: &Evidence, now: Timestamp) -> Self {
        Self {
            task: memory.task.clone(),
            further_tasks: memory.further_tasks.clone(),
            wordings: memory.wordings.clone(),
            team: memory.team.clone(),
            org: memory.org.clone(),
            source_session: memory.source_session.clone(),
            valid_from: memory.valid_from,
            outdated_by: memory.linked_to(),
            replaces: memory.succession.replaces.clone(),
            memory: MemoryView::new(memory, evidence, now),
        }
    }
}

/// A memory that was found, with its scores, each in 0..1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecalledView {
    #[serde(flatten)]
    pub memory: MemoryView,
    /// The likelihood that it is about what was asked.
    pub relevance: f64,
    /// Its relevance is below what an answer needs by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub below_threshold: bool,
    /// Its relevance is far below that of the best, so that an answer leaves it out by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub far_below_best: bool,
    pub similarity_score: f64,
    pub recency_score: f64,
    pub error_score: f64,
    pub base_score: f64,
    pub composite_score: f64,
    pub why: Why,
    /// The newest memory of this answer that says something else of the same thing, and stands before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated_by: Option<MemoryId>,
    /// The newest memory of this answer that contradicts it, and is of lower trust or of another owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contested_by: Option<MemoryId>,
}

impl RecalledView {
    /// Makes the view of a memory that was found. `threshold` is the relevance that an answer needs by default.
    pub fn new(recalled: Recalled, threshold: f64, now: Timestamp) -> Self {
        let score = recalled.score;
        Self {
            memory: MemoryView::new(recalled.memory, &recalled.evidence, now),
            relevance: recalled.relevance,
            below_threshold: recalled.relevance < threshold,
            far_below_best: matches!(recalled.spared, Some(Cut::FarBelowBest { .. })),
            similarity_score: score.similarity,
            recency_score: score.recency,
            error_score: score.error_context,
            base_score: score.base,
            composite_score: score.composite,
            why: score.why,
            outdated_by: recalled.outdated_by,
            contested_by: recalled.contested_by,
        }
    }
}

/// A candidate of a search: its place in the answer, or the rule that kept it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateView {
    pub id: MemoryId,
    /// The title. It is absent where the memory is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub warning: bool,
    pub scope: Scope,
    /// The place in the answer, from 1. It is absent where a rule cut the candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// The rule that cuts it where the caller asks for no relevance of its own. Absent where this answer keeps to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spared: Option<Cut>,
    pub confidence: f64,
    /// The likelihood that the memory is about what was asked.
    pub relevance: f64,
    pub similarity_score: f64,
    pub base_score: f64,
    pub composite_score: f64,
    pub why: Why,
}

impl CandidateView {
    /// Makes the view of every candidate, in the order of the ranking.
    pub fn all_of<'a>(ranking: &Ranking, body: impl Fn(MemoryId) -> Option<&'a Memory>) -> Vec<Self> {
        let mut kept = 0;
        let view = |entry: &Ranked| {
            kept += usize::from(entry.cut.is_none());
            let Ranked { facts, score, relevance, cut, spared, .. } = entry;
            Self {
                id: facts.id,
                title: body(facts.id).map(|memory| memory.title.clone()),
                warning: facts.signature.is_some(),
                scope: facts.scope,
                rank: cut.is_none().then_some(kept),
                cut: *cut,
                spared: *spared,
                confidence: score.confidence,
                relevance: *relevance,
                similarity_score: score.similarity,
                base_score: score.base,
                composite_score: score.composite,
                why: score.why.clone(),
            }
        };
        ranking.entries.iter().map(view).collect()
    }
}

/// An answer with everything that was considered for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    #[serde(flatten)]
    pub retrieved: Retrieved,
    /// The domain that counted for scores: the one asked for, else that of most of the best candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The candidates in the order of the ranking.
    pub candidates: Vec<CandidateView>,
}

/// The lists that an answer rests on: both, words alone, or vectors alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    Hybrid,
    Keyword,
    Vector,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Retrieved {
    /// The memories with the best first. None is a normal answer.
    pub memories: Vec<RecalledView>,
    pub mode: SearchMode,
    /// True where a scope that should have been read could not be.
    pub partial: bool,
    pub notes: Vec<Note>,
    pub took_ms: u64,
}

impl Retrieved {
    pub fn nothing_is_relevant(&self) -> bool {
        self.notes.iter().any(|note| note.code == Some(Code::NothingRelevant))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RecordStatus {
    Created,
    /// The same lesson was there already; `id` is its id. It has been confirmed, unless the same source had confirmed
    /// it before.
    Reinforced,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    pub id: MemoryId,
    pub status: RecordStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<MemoryId>,
    /// The number of secrets that were replaced.
    pub redactions: u32,
    /// The number of characters that nobody sees and that were dropped, because they carry nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_characters: u32,
    /// The confidence in the memory, in 0..1.
    pub confidence: f64,
    /// The memories that it took the place of, as was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub superseded: Vec<Replaced>,
    /// The older memories that it was found to update. They stay in search, behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub updates: Vec<MemoryId>,
    /// The nearest older memories that it neither supersedes nor was found to update, at most 3. Whoever recorded it
    /// can tell whether one of them is outdated: recording the same again with `supersedes` says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-program" = true))]
    pub similar: Vec<SimilarMemory>,
}

/// A memory that is similar to one that was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimilarMemory {
    pub id: MemoryId,
    pub title: String,
    /// Its content, of at most 300 characters. A longer one ends in "…".
    pub content: String,
}

impl From<&Memory> for SimilarMemory {
    fn from(memory: &Memory) -> Self {
        Self { id: memory.id, title: memory.title.clone(), content: shortened(&memory.content, SIMILAR_MAX_CHARS) }
    }
}

/// A memory that a newer one took the place of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replaced {
    pub id: MemoryId,
    pub title: String,
    /// Its copies that a team or the organisation reads. They stay as they are: a person decides about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<MemoryId>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A pair that rules linked, and that nobody has decided about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenLink {
    pub older: MemoryId,
    pub older_title: String,
    pub newer: MemoryId,
    pub newer_title: String,
    /// The confidence of the rule, in 0..=1.
    pub confidence: f64,
}

/// One page of memories, newest first within it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MemoryPage {
    pub memories: Vec<MemoryView>,
    /// The `after` of the next page. It is absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<MemoryId>,
}

/// The answer to a quarantine: the memories whose status was changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Quarantined {
    pub changed: Vec<MemoryId>,
    /// True where there are more descendants than could be changed in one go.
    pub truncated: bool,
    /// True where there are descendants that the workspace may not read. They stay as they are.
    pub out_of_reach: bool,
    /// Memories that were superseded by them and so are back in search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reinstated: Vec<MemoryId>,
}

/// A memory as a change left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Updated {
    #[serde(flatten)]
    pub memory: MemoryView,
    /// Memories that were superseded by it and are back in search, as it is out of search now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reinstated: Vec<MemoryId>,
}
