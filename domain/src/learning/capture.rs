//! Capture: what of a conversation is worth keeping, by rules alone. The rules decide whether an exchange holds
//! reusable knowledge, and make the lesson of it. `transcript` reads the exchanges, and `distill` makes lessons with a
//! model.
//!
//! The answer is taken apart into sentences and code. What is no knowledge is set aside: greetings, reports of work
//! done, announcements, questions back, refusals, output of programs. What remains must still be enough by itself.
//!
//! `blocks` cuts an answer into pieces, `classify` tells what a sentence does by the cues of `words`, and `analysis` is
//! the answer with both. `assess` decides whether an exchange is worth keeping. `extract` makes the lesson, `describe`
//! its title, and `draft` the memory that is compared with the bank. `user_rules` makes a lesson of what the question
//! itself states as a rule (`rule_sentences`), and `rule_changes` tells what a later message makes of it.

mod analysis;
mod assess;
mod blocks;
mod classify;
mod describe;
mod draft;
mod extract;
mod rule_changes;
mod rule_sentences;
mod user_rules;
mod words;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::evidence::confidence::prior;
use crate::learning::lesson::{Lesson, overrides_instructions};
use crate::learning::transcript::{Exchange, Format};
use crate::memory::ids::{MemoryId, SignalId, derived};
use crate::memory::workspace::WorkspaceId;
use crate::memory::{ErrorContext, Memory, MemoryOutcome, NewMemory, SourceType, Trust, normalised};
use crate::prompt::names_a_fence;
use crate::safety::secrets::{Removed, Scrub, scrub};
use crate::text::shortened;

pub use assess::{Assessment, Traits, assess};
pub(crate) use blocks::sentences;
pub use draft::{Draft, novelties};
pub(crate) use rule_changes::taken_back;
pub use user_rules::rule_of;
pub(crate) use user_rules::rules_in;

/// The most characters of a question as the task that a memory was learned from.
const TASK_MAX_CHARS: usize = 2_000;

/// The least that an exchange must have to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// The least length of the answer in characters. A character of Chinese, Japanese or Korean counts double, here and
    /// in the question.
    pub min_answer_length: usize,
    pub min_question_length: usize,
    /// True where an answer must have a code block.
    pub require_code_blocks: bool,
    /// True where an answer must explain something.
    pub require_explanations: bool,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            min_answer_length: 100,
            min_question_length: 10,
            require_code_blocks: false,
            require_explanations: false,
        }
    }
}

/// The reason why an exchange was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureRefusal {
    QuestionTooShort,
    AnswerTooShort,
    NoCodeBlock,
    NoExplanation,
    /// The answer has neither code, nor an explanation, nor steps.
    NothingToLearn,
    Chat,
    Refusal,
    ClarifyingQuestion,
    StatusReport,
    Narration,
    Plan,
    Output,
    OneOff,
    RestatesQuestion,
    TooThin,
    /// The next message takes the answer back.
    TakenBack,
    /// Something was changed, and a check of that failed to the end.
    ChecksFailed,
    /// The lesson made of it is not a valid one.
    Invalid,
}

impl CaptureRefusal {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::QuestionTooShort => "question_too_short",
            Self::AnswerTooShort => "answer_too_short",
            Self::NoCodeBlock => "no_code_block",
            Self::NoExplanation => "no_explanation",
            Self::NothingToLearn => "nothing_to_learn",
            Self::Chat => "chat",
            Self::Refusal => "refusal",
            Self::ClarifyingQuestion => "clarifying_question",
            Self::StatusReport => "status_report",
            Self::Narration => "narration",
            Self::Plan => "plan",
            Self::Output => "output",
            Self::OneOff => "one_off",
            Self::RestatesQuestion => "restates_question",
            Self::TooThin => "too_thin",
            Self::TakenBack => "taken_back",
            Self::ChecksFailed => "checks_failed",
            Self::Invalid => "invalid",
        }
    }

    fn because(self) -> &'static str {
        match self {
            Self::QuestionTooShort => "the question is shorter than passive.min_question_length",
            Self::AnswerTooShort => {
                "the answer is shorter than passive.min_answer_length, and no rule for later is stated"
            }
            Self::NoCodeBlock => "the answer has no code block, and passive.require_code_blocks is set",
            Self::NoExplanation => "the answer explains nothing, and passive.require_explanations is set",
            Self::NothingToLearn => "the answer has neither code, nor an explanation, nor steps",
            Self::Chat => "it is small talk",
            Self::Refusal => "the answer declines",
            Self::ClarifyingQuestion => "the answer asks back",
            Self::StatusReport => "the answer reports what was done",
            Self::Narration => "the answer announces what is about to be done",
            Self::Plan => "it is a plan without substance",
            Self::Output => "it is output of a program",
            Self::OneOff => "it fits this one occasion only",
            Self::RestatesQuestion => "the answer says little more than the question",
            Self::TooThin => "too little of the answer would help with another task",
            Self::TakenBack => "what was said later takes the answer back",
            Self::ChecksFailed => "a check of what was done failed",
            Self::Invalid => "no valid lesson could be made of it",
        }
    }
}

impl fmt::Display for CaptureRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.as_str(), self.because())
    }
}

/// The novelty of a lesson: it says whether a bank has the lesson already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    New,
    /// It says the same as another memory, and counts as evidence for that one.
    Confirms,
    /// This very exchange was learned before.
    Known,
}

/// The outcome for an exchange that was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureOutcome {
    Kept(Traits, Novelty),
    /// It is worth keeping, and a model draws the lessons in the background.
    Queued(Traits),
    Refused(CaptureRefusal),
    /// Capturing is switched off.
    Off,
}

impl CaptureOutcome {
    /// Tells whether the bank holds more than before, or is about to.
    pub fn is_captured(self) -> bool {
        matches!(self, Self::Kept(_, Novelty::New | Novelty::Confirms) | Self::Queued(_))
    }
}

impl fmt::Display for CaptureOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(Traits { rule: true, .. }, Novelty::New) => f.write_str("kept: the question states a rule"),
            Self::Kept(traits, Novelty::New) => write!(f, "kept: the answer has {traits}"),
            Self::Kept(_, Novelty::Confirms) => f.write_str("confirmed: a memory says the same already"),
            Self::Kept(_, Novelty::Known) => f.write_str("known: this exchange was learned before"),
            Self::Queued(traits) => write!(f, "queued for a model: the answer has {traits}"),
            Self::Refused(refused) => refused.fmt(f),
            Self::Off => f.write_str("off: passive.enabled is false"),
        }
    }
}

/// The answer to an exchange that was offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub outcome: CaptureOutcome,
    /// The memory that it became, that it confirms, or that it became before.
    pub id: Option<MemoryId>,
    /// The counts of what was taken out of its texts.
    pub removed: Removed,
}

/// The origin of exchanges: what the memories made of them have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureOrigin {
    pub workspace_id: WorkspaceId,
    pub trust: Trust,
}

/// Returns how far the answers of a file in this format are trusted.
pub fn trust_of(format: Format) -> Trust {
    match format {
        Format::Notes => Trust::Tool,
        Format::Messages | Format::ClaudeCode | Format::Codex | Format::GeminiCli | Format::Chat => Trust::Model,
    }
}

/// Removes secrets and invisible characters from an exchange. Returns the exchange, and how many there were.
pub fn scrubbed(mut exchange: Exchange) -> (Exchange, Removed) {
    let removed = exchange.question.scrub() + exchange.answer.scrub() + exchange.session.scrub();
    let removed = removed + exchange.asked_first.scrub() + exchange.said_next.scrub();
    (exchange, removed)
}

/// The ids (UUIDv8) that follow from an exchange as it was said, and from its workspace. They are the same however
/// often the exchange is seen, and with or without what was said before it. One is the id of the memory made of it. The
/// other is the id of the signal where the exchange only confirms another memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureIds {
    pub memory: MemoryId,
    pub confirmation: SignalId,
}

impl CaptureIds {
    pub fn of(exchange: &Exchange, workspace: &WorkspaceId) -> Self {
        let texts = [normalised(&exchange.question), normalised(&exchange.answer)];
        let id = |kind: &str| -> Uuid {
            derived(&[kind.as_bytes(), workspace.as_str().as_bytes(), texts[0].as_bytes(), texts[1].as_bytes()])
        };
        Self { memory: id("captured").into(), confirmation: id("captured again").into() }
    }

    /// Returns the ids of the rule that the question states. It is the same rule whatever was answered, and one of
    /// another session confirms it.
    pub(crate) fn of_rule(exchange: &Exchange, workspace: &WorkspaceId) -> Self {
        let (said, session) = (normalised(&exchange.question), exchange.session.as_deref().unwrap_or_default());
        let id = |kind: &str| -> Uuid {
            derived(&[kind.as_bytes(), workspace.as_str().as_bytes(), session.as_bytes(), said.as_bytes()])
        };
        Self { memory: id("rule").into(), confirmation: id("rule again").into() }
    }
}

/// Returns the lesson that rules find in an exchange which is worth keeping (see [`assess()`]).
pub fn lesson_of(exchange: &Exchange) -> Lesson {
    extract::extract(exchange).lesson
}

/// Makes the memory of an exchange which is worth keeping (see [`assess()`]), by rules. The exchange has been
/// [`scrubbed`]. Markers of its secrets may stay in the memory, because the people who talked knew what stood there.
///
/// # Errors
///
/// [`CaptureRefusal::Invalid`] where the lesson is not a valid one, has a secret, would break the fence around
/// quoted text in a prompt, or tells its reader to ignore instructions.
pub fn memory_of(
    exchange: &Exchange,
    id: MemoryId,
    origin: &CaptureOrigin,
    at: Timestamp,
) -> Result<Memory, CaptureRefusal> {
    let extract::ExtractedLesson { lesson, error_message } = extract::extract(exchange);
    fit(as_memory(lesson, error_message, exchange, id, origin, at))
}

/// Makes the memory of the rule that the question of an exchange states. None where it states none, or the memory is
/// not a valid one. The exchange has been [`scrubbed`].
fn rule_memory_of(exchange: &Exchange, id: MemoryId, origin: &CaptureOrigin, at: Timestamp) -> Option<Memory> {
    let alone = user_rules::of_rule_alone(exchange);
    fit(as_memory(rule_of(exchange)?, None, &alone, id, origin, at)).ok()
}

fn fit(memory: Memory) -> Result<Memory, CaptureRefusal> {
    memory.validate().map_err(|_invalid| CaptureRefusal::Invalid)?;
    let text = memory.format_for_prompt();
    if names_a_fence(&text) || overrides_instructions(&text) || scrub(&text).redactions > 0 {
        return Err(CaptureRefusal::Invalid);
    }
    Ok(memory)
}

fn as_memory(
    lesson: Lesson,
    error_message: Option<String>,
    exchange: &Exchange,
    id: MemoryId,
    origin: &CaptureOrigin,
    at: Timestamp,
) -> Memory {
    let domain = lesson.domain_category;
    let outcome = if lesson.error_context.is_some() { MemoryOutcome::Failure } else { MemoryOutcome::Success };
    Memory {
        error_context: lesson.error_context.map(|error| ErrorContext {
            error_type: error.error_type,
            failure_pattern: error.failure_pattern,
            corrective_guidance: error.corrective_guidance,
            error_message,
            stack_trace: None,
            task_domain: domain.clone(),
        }),
        task: shortened(&exchange.whole_question(), TASK_MAX_CHARS),
        source_session: exchange.session.clone(),
        valid_from: exchange.at.filter(|said| *said < at),
        pattern_tags: lesson.pattern_tags,
        domain_category: domain,
        ..Memory::new(NewMemory {
            id,
            title: lesson.title,
            description: lesson.description,
            content: lesson.content,
            outcome,
            workspace_id: origin.workspace_id.clone(),
            source_type: SourceType::PassiveLearning,
            trust: origin.trust,
            prior: prior(SourceType::PassiveLearning, None),
            at,
        })
    }
}

#[cfg(test)]
mod tests;
