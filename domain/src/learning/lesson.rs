//! Lessons: what a model learned from attempts, before it is a memory, and how lessons become memories with a
//! genealogy. `validate` decides which of them are fit to keep, `likeness` what one of them is to a memory that is
//! there, and `batch` what becomes of several that are stored together. `echo` finds what only repeats the prompt, and
//! `injection` what tells its reader to ignore instructions. `printed_error` has the error that a check printed, and
//! `wording` tells which words may differ.

mod batch;
mod echo;
mod injection;
mod likeness;
mod printed_error;
mod validate;
mod wording;

use std::collections::HashSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::confidence::prior;
use crate::memory::ids::{MemoryId, TraceId};
use crate::memory::signature::mentioned;
use crate::memory::trace::Outcome;
use crate::memory::workspace::WorkspaceId;
use crate::memory::{
    ErrorContext, LABEL_MAX_CHARS, LESSON_CONTENT_MAX_CHARS, Memory, MemoryOutcome, NewMemory, SourceType, TAGS_MAX,
    Trust,
};
use crate::note::{Code, Note};
use crate::retrieval::prompt_memories::PromptMemories;
use crate::safety::secrets::Scrub;

pub use batch::{LINKED_COSINE, LessonBatch, LessonPlacement, MemoryChange};
pub(crate) use echo::InstructionRuns;
pub use echo::LessonContext;
pub(crate) use injection::overrides_instructions;
pub(crate) use likeness::cosine;
pub use likeness::{is_repeat, statement_key};
pub use printed_error::PrintedError;
pub use validate::{AcceptedLessons, LessonRefusal, accept};
pub(crate) use wording::Wordings;

/// The most lessons from one judged solution.
pub const MAX_FROM_ONE: usize = 3;
/// The most lessons from a contrast of several attempts.
pub const MAX_FROM_CONTRAST: usize = 5;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct LessonError {
    pub error_type: String,
    pub failure_pattern: String,
    pub corrective_guidance: String,
}

/// One item a model answers with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Lesson {
    pub title: String,
    /// One sentence: when to use it, when not.
    pub description: String,
    pub content: String,
    #[serde(default)]
    pub pattern_tags: Vec<String>,
    #[serde(default)]
    pub domain_category: Option<String>,
    #[serde(default)]
    pub difficulty_level: Option<String>,
    /// Only for a lesson from a failure: what went wrong and what to do instead.
    #[serde(default)]
    pub error_context: Option<LessonError>,
}

/// Makes a warning of a solution that failed, by rules, where no model says what can be learned. The warning says why
/// the solution failed, and what would have made it better. None where nobody said why.
pub fn from_failed_solution(reasons: &str, feedback: &str) -> Option<Lesson> {
    let shortened = |text: &str| text.trim().chars().take(LESSON_CONTENT_MAX_CHARS).collect::<String>();
    let reasons = Some(shortened(reasons)).filter(|text| !text.is_empty())?;
    let advice = match shortened(feedback) {
        text if text.is_empty() => "Rule this out before a solution is handed in.".to_owned(),
        text => text,
    };
    let error_type = mentioned(&reasons).map_or_else(|| "FailedSolution".to_owned(), |error| error.error().to_owned());
    Some(Lesson {
        title: "A solution of a task like this one failed".into(),
        description: "When a similar task is about to be solved.".into(),
        content: reasons.clone(),
        pattern_tags: Vec::new(),
        domain_category: None,
        difficulty_level: None,
        error_context: Some(LessonError { error_type, failure_pattern: reasons, corrective_guidance: advice }),
    })
}

/// The origin of lessons: what all memories of one solve, one session or one exchange have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonOrigin {
    pub task: String,
    pub domain: Option<String>,
    pub workspace_id: WorkspaceId,
    pub source_type: SourceType,
    pub source_session: Option<String>,
    pub trace_id: Option<TraceId>,
    /// The outcome of the task. It is `Partial` for a session with successes and failures.
    pub outcome: Outcome,
    /// The error of a check that failed, as the warnings keep it that it is true of.
    pub printed: PrintedError,
    /// The time at which the lessons were said, where that was before now.
    pub said_at: Option<Timestamp>,
    pub at: Timestamp,
}

impl LessonOrigin {
    /// Tells whether a lesson that the bank has already is confirmed by being learned again. It is not where the task
    /// failed, because what is said again after a failure is no evidence.
    pub fn confirms(&self) -> bool {
        self.outcome != Outcome::Failure
    }
}

impl Lesson {
    /// Makes the memory that a lesson becomes. The memories that were in the prompts are its sources, and the highest
    /// scored of them is its parent.
    pub fn into_memory(self, id: MemoryId, origin: &LessonOrigin, injected: &PromptMemories) -> Memory {
        let sources = injected.ids();
        let domain = tidy(self.domain_category).or_else(|| tidy(origin.domain.clone()));
        let outcome = match (origin.outcome, &self.error_context) {
            (Outcome::Partial, _) | (Outcome::Failure, None) => MemoryOutcome::Mixed,
            (_, Some(_)) => MemoryOutcome::Failure,
            (Outcome::Success, None) => MemoryOutcome::Success,
        };
        let mut memory = Memory {
            error_context: self.error_context.map(|error| ErrorContext {
                error_type: error.error_type,
                failure_pattern: error.failure_pattern,
                corrective_guidance: error.corrective_guidance,
                error_message: None,
                stack_trace: None,
                task_domain: domain.clone(),
            }),
            task: origin.task.clone(),
            source_session: origin.source_session.clone(),
            parent_memory_id: sources.first().copied(),
            derived_from: sources,
            pattern_tags: tags(self.pattern_tags),
            difficulty_level: tidy(self.difficulty_level),
            domain_category: domain,
            valid_from: origin.said_at,
            trace_id: origin.trace_id,
            trace_outcome: origin.trace_id.map(|_| origin.outcome),
            ..Memory::new(NewMemory {
                id,
                title: self.title.trim().to_owned(),
                description: self.description.trim().to_owned(),
                content: self.content.trim().to_owned(),
                outcome,
                workspace_id: origin.workspace_id.clone(),
                source_type: origin.source_type,
                trust: Trust::Model,
                prior: prior(origin.source_type, Some(origin.outcome)),
                at: origin.at,
            })
        };
        injected.iter().for_each(|entry| memory.derive_from(&entry.memory));
        memory
    }
}

/// Makes the memories of lessons of one origin: each valid one once, with a note on each that is not fit. `id` gives
/// the n-th lesson its id.
pub fn memories_of(
    lessons: Vec<Lesson>,
    origin: &LessonOrigin,
    injected: &PromptMemories,
    id: impl Fn(usize) -> MemoryId,
) -> (Vec<Memory>, Vec<Note>) {
    let (mut memories, mut notes, mut seen) = (Vec::<Memory>::new(), Vec::new(), HashSet::new());
    for (n, lesson) in lessons.into_iter().enumerate() {
        let mut memory = lesson.into_memory(id(n), origin, injected);
        memory.scrub();
        match memory.validate() {
            Err(invalid) => notes.push(Note::new(Code::MemoryInvalid, format!("a lesson was not stored: {invalid}"))),
            Ok(()) if overrides_instructions(&memory.format_for_prompt()) => {
                let problem = "a lesson was not stored: it tells its reader to ignore instructions";
                notes.push(Note::new(Code::MemoryInvalid, problem));
            }
            Ok(()) if seen.insert(memory.duplicate_key()) => memories.push(memory),
            Ok(()) => {}
        }
    }
    origin.printed.write_on(memories.iter_mut().filter_map(|memory| memory.error_context.as_mut()));
    (memories, notes)
}

/// Trims a label and cuts it to its bound. None where nothing is left: a model's label is not worth an error.
fn tidy(label: Option<String>) -> Option<String> {
    label.map(|text| text.trim().chars().take(LABEL_MAX_CHARS).collect::<String>()).filter(|text| !text.is_empty())
}

fn tags(tags: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for tag in tags.into_iter().filter_map(|tag| tidy(Some(tag))) {
        if kept.len() < TAGS_MAX && !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    kept
}

#[cfg(test)]
mod tests;
