//! A memory: one reusable lesson. This file says what it consists of, when it is valid and how a model reads it. Scores
//! are in `score`, evidence and confidence in `confidence`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::comparison::{hash_of_parts, indentation, normalised, spaced};
use super::field::{FieldProblem, LABEL_MAX_CHARS, check_count, check_length, check_text};
use super::kinds::{MemoryOutcome, Scope, SourceType, Status, Trust};
use super::label::label_key;
use super::pattern::{PatternPart, PatternStatistics};
use super::search_texts::{FURTHER_TASKS_MAX, GIST_MAX_CHARS, WORDINGS_MAX};
use super::succession::Succession;
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::signature::Signature;
use crate::memory::trace::Outcome;
use crate::memory::workspace::WorkspaceId;
use crate::prompt::one_line;

pub const TITLE_MAX_CHARS: usize = 120;
pub const DESCRIPTION_MAX_CHARS: usize = 400;
/// The longest content that a model extracts. Memories written by hand may be longer, up to [`CONTENT_MAX_CHARS`].
pub const LESSON_CONTENT_MAX_CHARS: usize = 4_000;
pub const CONTENT_MAX_CHARS: usize = 100_000;
pub const STACK_TRACE_MAX_CHARS: usize = 4_000;
pub const TAGS_MAX: usize = 20;
/// The most sources that a memory is recorded with, or gets when it is learned again, so that it does not grow for
/// ever.
pub const SOURCES_MAX: usize = 50;

/// An error and how to correct it. A memory that has one is a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorContext {
    pub error_type: String,
    pub failure_pattern: String,
    pub corrective_guidance: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_domain: Option<String>,
}

impl ErrorContext {
    pub fn signature(&self) -> Signature {
        Signature::of(&self.error_type, self.task_domain.as_deref())
    }
}

/// One reusable lesson, as it is stored. Evidence counts, usage and confidence are folded from signals and are not
/// here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    pub id: MemoryId,
    /// Counts edits, from 1 for a new memory. It has 64 bits because earlier versions stored whatever 32 bits a file
    /// claimed, and each of those must have a next one.
    pub revision: u64,
    pub title: String,
    /// One sentence: when to use it, when not.
    pub description: String,
    pub content: String,
    pub outcome: MemoryOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_context: Option<ErrorContext>,
    /// The task it was learned from. Empty when there was none.
    #[serde(default)]
    pub task: String,
    /// The gists of other tasks that confirmed it. It is found by their words, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_tasks: Vec<String>,
    /// Title, description and content in other words that were said later. It is found by them, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<String>,
    pub workspace_id: WorkspaceId,
    #[serde(default)]
    pub scope: Scope,
    /// The team or organisation that reads it, when the scope is wider than the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org: Option<String>,
    pub source_type: SourceType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_session: Option<String>,
    pub trust: Trust,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_memory_id: Option<MemoryId>,
    #[serde(default)]
    pub derived_from: Vec<MemoryId>,
    #[serde(default)]
    pub evolution_stage: u32,
    #[serde(default)]
    pub pattern_tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difficulty_level: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_category: Option<String>,
    /// The confidence before any evidence, in 0..1.
    pub prior: f64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(default)]
    pub pinned: bool,
    #[serde(default)]
    pub status: Status,
    /// The memories for whose sake it is quarantined, itself or some that it came from. Empty while quarantined means
    /// itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined_for: Vec<MemoryId>,
    /// The time at which its words were said, where that was before they were stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Succession::is_empty")]
    pub succession: Succession,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<TraceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_outcome: Option<Outcome>,
    /// The fingerprint of the embedder that made its vectors. None while it has no vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedder: Option<String>,
    /// The part that makes the memory a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Box<PatternPart>>,
}

/// The fields that every new memory has. Whoever makes the memory sets the rest: `Memory { task, ..Memory::new(…) }`.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    pub id: MemoryId,
    pub title: String,
    pub description: String,
    pub content: String,
    pub outcome: MemoryOutcome,
    pub workspace_id: WorkspaceId,
    pub source_type: SourceType,
    pub trust: Trust,
    pub prior: f64,
    /// The time when the memory is made.
    pub at: Timestamp,
}

/// Tells whether a memory with this outcome, learned from a trace with that one, is of what failed.
pub(crate) fn tells_of_failure(warns: bool, outcome: MemoryOutcome, trace_outcome: Option<Outcome>) -> bool {
    let is_refuted = outcome == MemoryOutcome::Success && trace_outcome == Some(Outcome::Failure);
    warns || outcome == MemoryOutcome::Failure || is_refuted
}

impl Memory {
    /// Makes an active memory of its workspace alone. It is at its first revision and comes from no other memory.
    pub fn new(new: NewMemory) -> Self {
        let NewMemory { id, title, description, content, outcome, workspace_id, source_type, trust, prior, at } = new;
        Self {
            id,
            revision: 1,
            title,
            description,
            content,
            outcome,
            error_context: None,
            task: String::new(),
            further_tasks: Vec::new(),
            wordings: Vec::new(),
            workspace_id,
            scope: Scope::Project,
            team: None,
            org: None,
            source_type,
            source_session: None,
            trust,
            parent_memory_id: None,
            derived_from: Vec::new(),
            evolution_stage: 0,
            pattern_tags: Vec::new(),
            difficulty_level: None,
            domain_category: None,
            prior,
            created_at: at,
            updated_at: at,
            pinned: false,
            status: Status::Active,
            quarantined_for: Vec::new(),
            valid_from: None,
            succession: Succession::default(),
            trace_id: None,
            trace_outcome: None,
            embedder: None,
            pattern: None,
        }
    }

    /// Makes `source` a source of this memory, which is then at least one stage later than it and trusted no more.
    pub fn derive_from(&mut self, source: &Self) {
        if !self.derived_from.contains(&source.id) {
            self.derived_from.push(source.id);
        }
        self.evolution_stage = self.evolution_stage.max(source.next_stage());
        self.trust = self.trust.min(source.trust);
    }

    /// Tells whether this memory is a warning, which is when it says what went wrong.
    pub fn is_warning(&self) -> bool {
        self.error_context.is_some()
    }

    /// Tells whether a model has to read the memory as one of what failed: a warning, or a lesson of a failure that
    /// says no error. What such a lesson tells is either what failed or what to do instead. A lesson that was learned
    /// as from a success is one as long as its trace counts as a failure.
    pub fn is_of_failure(&self) -> bool {
        tells_of_failure(self.is_warning(), self.outcome, self.trace_outcome)
    }

    /// Tells whether the memory is a pattern that is not validated. No search finds it: it has no texts to be searched.
    pub fn is_unproven(&self) -> bool {
        self.pattern.as_ref().is_some_and(|part| !part.is_validated())
    }

    /// Returns this memory as its own next revision, changed at `now`.
    pub fn revised(self, now: Timestamp) -> Self {
        Self { revision: self.revision.saturating_add(1), updated_at: now, ..self }
    }

    /// Tells whether two revisions of a memory are the same but for what is added up by itself: the applications of a
    /// pattern, and which embedder made the vectors.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |memory: &Self| {
            let mut memory = Self { revision: 0, updated_at: memory.created_at, embedder: None, ..memory.clone() };
            if let Some(part) = &mut memory.pattern {
                part.statistics = PatternStatistics::default();
                part.lifecycle.tested_at = 0;
            }
            memory
        };
        said(self) == said(other)
    }

    /// Tells whether this memory is the copy of another one for a wider scope.
    pub fn is_copy(&self) -> bool {
        let parent = self.parent_memory_id;
        self.scope != Scope::Project && parent.is_some_and(|parent| self.derived_from.contains(&parent))
    }

    /// Returns the memories that this one came from: its parent first, which its other sources may name once more.
    pub fn sources(&self) -> impl Iterator<Item = MemoryId> {
        self.parent_memory_id.into_iter().chain(self.derived_from.iter().copied())
    }

    /// Returns the stage of what is learned from this memory. The last possible stage is followed by itself.
    pub fn next_stage(&self) -> u32 {
        self.evolution_stage.saturating_add(1)
    }

    /// Tells whether this is the next revision of what is stored.
    pub fn follows(&self, stored: &Self) -> bool {
        self.id == stored.id && stored.revision.checked_add(1) == Some(self.revision)
    }

    /// Returns the text whose vector stands for the lesson itself.
    pub fn content_text(&self) -> String {
        format!("{}\n{}\n{}", self.title, self.description, self.content)
    }

    /// Returns the kind of error that the memory warns of. None where it is no warning.
    pub fn signature(&self) -> Option<Signature> {
        self.error_context.as_ref().map(ErrorContext::signature)
    }

    /// Returns the owner, who reads the memory: a workspace, a team or an organisation, with its name.
    pub fn owner(&self) -> (Scope, Option<&str>) {
        let name = match self.scope {
            Scope::Project => Some(self.workspace_id.as_str()),
            Scope::Team => self.team.as_deref(),
            Scope::Org => self.org.as_deref(),
        };
        (self.scope, name)
    }

    /// Returns a key that is equal for memories that say exactly the same, also of the error that they warn of, to the
    /// same readers. An outdated memory has a key of its own, because who says the same again says something new.
    pub fn duplicate_key(&self) -> String {
        let (layout, domain) = (indentation(&self.content), self.domain_category.as_deref().map(label_key));
        self.duplicate_key_with([layout.as_deref(), domain.as_deref()])
    }

    /// Returns the [`Self::duplicate_key`] under which a version stored the memory for which domains and indentation
    /// did not count. Memories that differ in these have it in common.
    pub fn former_duplicate_key(&self) -> String {
        self.duplicate_key_with([None, None])
    }

    fn duplicate_key_with(&self, more: [Option<&str>; 2]) -> String {
        let (scope, owner) = self.owner();
        // Keys are stored, so those of a project name it once, as they always did.
        let group = owner.filter(|_| scope != Scope::Project);
        let advice = self.advice(spaced);
        // Two commands may differ in capitals alone.
        let said = [&self.title, &self.description, &self.content].map(|text| spaced(text));
        let texts = said.iter().chain(advice.iter().flatten()).map(String::as_str);
        let outdated = self.linked_to().map(|_| self.id.to_string());
        let more = std::iter::once(outdated.as_deref()).chain(more).flatten();
        let rest = texts.chain([self.outcome.as_str()]).chain(more);
        let readers = [self.workspace_id.as_str(), scope.as_str(), group.unwrap_or_default()];
        self.key(&readers.into_iter().chain(rest).collect::<Vec<_>>())
    }

    /// Returns a key that is equal for memories that say the same about the same kind of error, whoever may read them.
    pub fn text_key(&self) -> String {
        let (description, advice) = (normalised(&self.description), self.advice(normalised));
        let more = std::iter::once(&description).chain(advice.iter().flatten());
        self.key(&more.map(String::as_str).collect::<Vec<_>>())
    }

    /// Returns what a warning says went wrong and what to do instead, each in the `form` that is compared. None where
    /// the memory is no warning.
    pub(crate) fn advice(&self, form: fn(&str) -> String) -> Option<[String; 2]> {
        let error = self.error_context.as_ref()?;
        Some([&error.failure_pattern, &error.corrective_guidance].map(|text| form(text)))
    }

    fn key(&self, more: &[&str]) -> String {
        let (title, content, signature) = (normalised(&self.title), normalised(&self.content), self.signature());
        let pattern = self.pattern.as_ref().map(|part| part.key_text());
        let says = [&*title, &*content].into_iter().chain(signature.as_ref().map(Signature::as_str));
        let says = says.chain(pattern.as_deref());
        hash_of_parts(&more.iter().copied().chain(says).collect::<Vec<_>>())
    }

    /// Returns the first two lines of the text as a model reads it: what kind of memory it is, and when it is of use.
    pub(crate) fn head_for_prompt(&self) -> String {
        let kind = match self.error_context {
            Some(_) => "WARNING from a past failure",
            None if self.is_of_failure() => "NOTE of a past failure",
            None => "STRATEGY",
        };
        format!("{kind}: {}\nWhen: {}\n", one_line(&self.title), one_line(&self.description))
    }

    /// Returns the text as a model reads it. Strategies and warnings look different; both are quoted data, which the
    /// caller fences. A label or a sentence takes one line.
    pub fn format_for_prompt(&self) -> String {
        let told = match &self.error_context {
            None if self.is_of_failure() => format!("Details: {}\n", self.content),
            None => format!("How: {}\n", self.content),
            Some(error) => format!(
                "Error type: {}\nPattern: {}\nGuidance: {}\nDetails: {}\n",
                one_line(&error.error_type),
                error.failure_pattern,
                error.corrective_guidance,
                self.content
            ),
        };
        let mut text = self.head_for_prompt() + &told;
        if !self.pattern_tags.is_empty() {
            text.push_str("Tags: ");
            let tags: Vec<String> = self.pattern_tags.iter().map(|tag| one_line(tag)).collect();
            text.push_str(&tags.join(", "));
            text.push('\n');
        }
        text
    }

    /// Reports everything that is wrong with the memory. White space alone counts as missing.
    pub fn validate(&self) -> Result<(), MemoryInvalid> {
        let (mut problems, mut too_many) = (Vec::new(), Vec::new());
        let mut text = |field: &'static str, value: &str, max: usize, required: bool| {
            let check = if required { check_text } else { check_length };
            problems.extend(check(field, value, max).err());
        };
        text("title", &self.title, TITLE_MAX_CHARS, true);
        text("description", &self.description, DESCRIPTION_MAX_CHARS, true);
        text("content", &self.content, CONTENT_MAX_CHARS, true);
        if let Some(error) = &self.error_context {
            text("error_context.error_type", &error.error_type, LABEL_MAX_CHARS, true);
            text("error_context.failure_pattern", &error.failure_pattern, LESSON_CONTENT_MAX_CHARS, true);
            text("error_context.corrective_guidance", &error.corrective_guidance, LESSON_CONTENT_MAX_CHARS, true);
            let message = error.error_message.as_deref().unwrap_or_default();
            text("error_context.error_message", message, STACK_TRACE_MAX_CHARS, false);
            let stack = error.stack_trace.as_deref().unwrap_or_default();
            text("error_context.stack_trace", stack, STACK_TRACE_MAX_CHARS, false);
            let domain = error.task_domain.as_deref().unwrap_or_default();
            text("error_context.task_domain", domain, LABEL_MAX_CHARS, false);
        }
        text("domain_category", self.domain_category.as_deref().unwrap_or_default(), LABEL_MAX_CHARS, false);
        text("difficulty_level", self.difficulty_level.as_deref().unwrap_or_default(), LABEL_MAX_CHARS, false);
        // Only the first tags are checked one by one where there are far too many.
        for tag in self.pattern_tags.iter().take(10 * TAGS_MAX) {
            text("pattern_tags", tag, LABEL_MAX_CHARS, true);
        }
        for (field, texts, most, max) in [
            ("further_tasks", &self.further_tasks, FURTHER_TASKS_MAX, GIST_MAX_CHARS),
            // Each is a title, a description and a content on lines of their own.
            ("wordings", &self.wordings, WORDINGS_MAX, TITLE_MAX_CHARS + DESCRIPTION_MAX_CHARS + CONTENT_MAX_CHARS + 2),
        ] {
            texts.iter().take(most).for_each(|value| text(field, value, max, true));
            too_many.extend(check_count(field, texts.len(), "items", most).err());
        }
        problems.extend(too_many);
        problems.extend(check_count("pattern_tags", self.pattern_tags.len(), "tags", TAGS_MAX).err());
        if !(self.prior > 0.0 && self.prior < 1.0) {
            problems.push(FieldProblem::new("prior", format!("is {}; it lies between 0 and 1", self.prior)));
        }
        if let Some(part) = &self.pattern {
            problems.extend(part.problems());
            if self.error_context.is_some() {
                let problem = "is not for a pattern, which names its error in its applicability";
                problems.push(FieldProblem::new("error_context", problem));
            }
        }
        if self.sources().any(|source| source == self.id) {
            problems.push(FieldProblem::new("derived_from", "names the memory itself"));
        }
        if problems.is_empty() { Ok(()) } else { Err(MemoryInvalid { problems }) }
    }
}

/// A memory that was learned, as answers name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Learned {
    pub id: MemoryId,
    pub title: String,
}

/// The part of a memory that scoring needs. It is small enough to be read for every candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    pub id: MemoryId,
    pub scope: Scope,
    pub outcome: MemoryOutcome,
    pub signature: Option<Signature>,
    pub domain: Option<String>,
    pub prior: f64,
    pub pinned: bool,
    pub created_at: Timestamp,
    /// The trace that the memory was learned from.
    pub trace_id: Option<TraceId>,
    /// A key of what an active memory that nothing outdates says: its [`Memory::text_key`], outcome and indentation.
    /// Any other memory has a key of its own, so that no answer leaves it out as a repeat.
    pub text_key: String,
}

impl From<&Memory> for Facts {
    fn from(memory: &Memory) -> Self {
        Self {
            id: memory.id,
            scope: memory.scope,
            outcome: memory.outcome,
            signature: memory.signature(),
            domain: memory.domain_category.clone(),
            prior: memory.prior,
            pinned: memory.pinned,
            created_at: memory.created_at,
            trace_id: memory.trace_id,
            // An outdated memory may have the words of the one that holds now.
            text_key: match memory.linked_to() {
                None if memory.status == Status::Active => {
                    let layout = indentation(&memory.content).unwrap_or_default();
                    hash_of_parts(&[&memory.text_key(), memory.outcome.as_str(), &layout])
                }
                _ => hash_of_parts(&[&memory.id.to_string()]),
            },
        }
    }
}

/// The refusal of a memory, with all its missing or bad fields.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the memory is not valid: {}", list(problems))]
pub struct MemoryInvalid {
    pub problems: Vec<FieldProblem>,
}

fn list(problems: &[FieldProblem]) -> String {
    problems.iter().map(|p| format!("{} {}", p.field, p.problem)).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
