//! Transcripts: the text of a file becomes exchanges, each a question with its answer. The kind of a file shows in its
//! content, never in its name. `capture` decides which exchanges are worth keeping.
//!
//! `markdown` reads a chat or notes, in which `fences` finds the code. Files of messages are read record by record
//! (`record`): `formats` has the form of Claude Code and plain messages, `codex` that of Codex, and `gemini` that of
//! Gemini CLI. `conversation` makes exchanges of who said what, without what programs write into it (`context`), and
//! `activity` keeps what was done for each request, and `todo_list` what was planned.

mod activity;
mod codex;
mod context;
mod conversation;
mod fences;
mod formats;
mod gemini;
mod markdown;
mod record;
mod todo_list;

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use activity::{ToolCall, UserRequest};
pub(crate) use fences::{FenceLine, Fences};
pub use todo_list::RequestPlan;
pub(crate) use todo_list::keeps_plan;

use crate::text::json;
use activity::Activity;
use conversation::{Conversation, Turn};
use record::TranscriptRecord;

/// The largest file; whoever reads a file refuses a larger one.
pub const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;
/// The longest question. The rest of a longer one is cut off, and counted.
pub const MAX_QUESTION_CHARS: usize = 20_000;
/// The longest answer. A longer one is read in parts, each as an answer to the same question.
pub const MAX_ANSWER_CHARS: usize = 200_000;
/// The most exchanges of one file. Further ones are counted.
pub const MAX_EXCHANGES: usize = 10_000;
/// The number of JSON values that a file of any length may have. Each [`BYTES_A_VALUE`] of its bytes allow one more.
const VALUES_OF_ANY: usize = 200_000;
const BYTES_A_VALUE: usize = 16;
/// The most unreadable lines that are named.
const MAX_NAMED_LINES: usize = 20;
const MAX_SESSION_CHARS: usize = 200;

/// A question and all that was said in answer to it, without tool calls, their results, and thoughts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    pub question: String,
    pub answer: String,
    /// The session it comes from, where the file names one.
    pub session: Option<String>,
    /// What was asked first, where the question is an objection to another answer.
    pub asked_first: Option<String>,
    /// What was said next, where nobody answered that.
    pub said_next: Option<String>,
    /// The time of the answer, where the file tells it.
    pub at: Option<Timestamp>,
}

impl Exchange {
    /// Returns all that the answer answers: what was asked first, and the question.
    pub fn whole_question(&self) -> Cow<'_, str> {
        match &self.asked_first {
            Some(first) => format!("{first}\n\n{}", self.question).into(),
            None => self.question.as_str().into(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Messages with a role and content, as JSON Lines, one list, or an object with a list.
    Messages,
    /// A session file of Claude Code.
    ClaudeCode,
    /// A rollout file of Codex.
    Codex,
    /// A session file of Gemini CLI.
    GeminiCli,
    /// Markdown in which speakers are named.
    Chat,
    /// Markdown with headings: each heading is a question, and what stands below it is the answer.
    Notes,
}

/// The content of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    pub format: Format,
    /// The exchanges in the order of the file.
    pub exchanges: Vec<Exchange>,
    /// The requests for which tools were called, in the order of the file.
    pub requests: Vec<UserRequest>,
    pub unreadable: Unreadable,
    /// The number of exchanges beyond [`MAX_EXCHANGES`].
    pub left_out: usize,
    /// The number of characters of questions beyond [`MAX_QUESTION_CHARS`].
    pub cut_characters: usize,
}

impl Transcript {
    /// Returns the session that its last exchange comes from, where the file names it.
    pub fn session(&self) -> Option<&str> {
        self.exchanges.last()?.session.as_deref()
    }

    /// Writes what was said as messages, JSON Lines, without tool calls and their results. Of a longer conversation the
    /// last exchanges stay that have at most so many characters together.
    pub fn messages(&self, max_chars: usize) -> String {
        let written = |exchange: &Exchange| {
            let message =
                |role: &str, content: &str| format!("{}\n", serde_json::json!({"role": role, "content": content}));
            message("user", &exchange.question) + &message("assistant", &exchange.answer)
        };
        let mut left = max_chars;
        let mut kept: Vec<String> = Vec::new();
        for exchange in self.exchanges.iter().rev() {
            let lines = written(exchange);
            let Some(rest) = left.checked_sub(lines.chars().count()) else { break };
            left = rest;
            kept.push(lines);
        }
        kept.into_iter().rev().collect()
    }
}

/// The lines that are not what the rest of the file is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Unreadable {
    pub lines: usize,
    /// The numbers of the first of them, from 1.
    pub first: Vec<usize>,
}

impl Unreadable {
    fn note(&mut self, line: usize) {
        self.lines += 1;
        if self.first.len() < MAX_NAMED_LINES {
            self.first.push(line);
        }
    }
}

/// The reason why nothing at all could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    #[error("the file is empty")]
    Empty,
    #[error("the file is not text in UTF-8")]
    NotText,
    #[error("none of its {lines} lines is a message; the first that is not JSON is line {first}")]
    NoMessages { lines: usize, first: usize },
    #[error("it has far more JSON values than a transcript of its length has")]
    TooManyValues,
    #[error("it is neither a transcript nor notes: no messages, no speakers, no headings")]
    Unrecognised,
}

/// Reads what a file holds. A broken line is counted and named, and the others are read.
///
/// # Errors
///
/// The file holds nothing that could be read.
pub fn read(bytes: &[u8]) -> Result<Transcript, TranscriptError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(TranscriptError::Empty);
    }
    if looks_like_json(bytes) {
        return from_json(bytes);
    }
    let text = str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(TranscriptError::NotText)?;
    let (format, conversations) = markdown::read(text).ok_or(TranscriptError::Unrecognised)?;
    Ok(collected(format, conversations, Vec::new(), Unreadable::default()))
}

/// Tells whether a file is JSON: it begins as JSON does, or at least half of its first lines are objects. So a file
/// with a broken first line is not taken for a note.
fn looks_like_json(bytes: &[u8]) -> bool {
    const LOOKED_AT: usize = 50;
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => return true,
        // A file with too many values is refused with that reason.
        Some(b'[') if !is_readable(bytes) || serde_json::from_slice::<Vec<Value>>(bytes).is_ok() => return true,
        _ => {}
    }
    let (mut objects, mut others) = (0, 0);
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(LOOKED_AT) {
        match is_readable(line).then(|| serde_json::from_slice::<Value>(line)) {
            Some(Ok(Value::Object(_))) => objects += 1,
            _ => others += 1,
        }
    }
    objects > 0 && objects >= others
}

/// Tells whether a text has no more JSON values than a transcript of its length may have. Most of a transcript is what
/// was said.
fn is_readable(bytes: &[u8]) -> bool {
    json::has_at_most(bytes, VALUES_OF_ANY + bytes.len() / BYTES_A_VALUE)
}

fn from_json(bytes: &[u8]) -> Result<Transcript, TranscriptError> {
    if !is_readable(bytes) {
        return Err(TranscriptError::TooManyValues);
    }
    let mut unreadable = Unreadable::default();
    let (values, lines) = values(bytes, &mut unreadable);
    let mut reading = RecordReader::default();
    for (line, value) in gemini::without_rewound(values) {
        if !reading.take(value) {
            unreadable.note(line);
        }
    }
    unreadable.first.sort_unstable();
    let Some(format) = reading.format else {
        let first = unreadable.first.first().copied();
        return Err(match first {
            Some(first) => TranscriptError::NoMessages { lines, first },
            None => TranscriptError::Unrecognised,
        });
    };
    let requests = std::mem::take(&mut reading.activity).finish();
    Ok(collected(format, reading.finish(), requests, unreadable))
}

/// Returns the values of a file with the lines they stand on, and how many lines are not blank. A file has one value on
/// each line, or one value over several lines.
fn values(bytes: &[u8], unreadable: &mut Unreadable) -> (Vec<(usize, Value)>, usize) {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().map(|(n, line)| (n + 1, line.trim_ascii()));
    let lines: Vec<(usize, &[u8])> = lines.filter(|(_, line)| !line.is_empty()).collect();
    let starts_whole = lines.first().is_some_and(|(_, line)| serde_json::from_slice::<Value>(line).is_ok());
    if !starts_whole && let Ok(whole) = serde_json::from_slice::<Value>(bytes) {
        return (vec![(1, whole)], lines.len());
    }
    let mut values = Vec::new();
    for (n, line) in &lines {
        match serde_json::from_slice(line) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => values.push((*n, value)),
            _ => unreadable.note(*n),
        }
    }
    (values, lines.len())
}

/// A file of records, as far as it was read.
#[derive(Default)]
struct RecordReader {
    format: Option<Format>,
    session: Option<String>,
    current: Conversation,
    activity: Activity,
    /// The turns that Codex tells its screen. They repeat the records and are used where the records lack a side.
    events: Conversation,
    whole: Vec<Conversation>,
    seen: BTreeSet<String>,
}

impl RecordReader {
    /// Takes a value. Tells whether it is one that a transcript may hold.
    fn take(&mut self, value: Value) -> bool {
        let fields = match value {
            Value::Array(items) => return self.take_list(items),
            Value::Object(fields) => fields,
            _ => return false,
        };
        if let Some(Value::Array(items)) = fields.get("messages") {
            let session = record::session_of(&fields);
            let (outer, before) = (std::mem::take(&mut self.current), self.session.take());
            self.session = session;
            let read = self.take_list(items.clone());
            self.whole.push(std::mem::replace(&mut self.current, outer));
            self.session = before;
            return read;
        }
        if let Some(Value::String(uuid)) = fields.get("uuid")
            && !self.seen.insert(uuid.clone())
        {
            return true;
        }
        let (format, mut record) = formats::read(&fields);
        if format == Format::GeminiCli && self.is_said_again(&fields, &record) {
            record = TranscriptRecord::Nothing;
        }
        if !matches!(record, TranscriptRecord::Unknown) {
            self.format = self.format.max(Some(format));
        }
        self.activity.take(&fields, &record, self.session.as_deref());
        match record {
            TranscriptRecord::Unknown => return true,
            TranscriptRecord::Session(id) => self.session = Some(id.chars().take(MAX_SESSION_CHARS).collect()),
            TranscriptRecord::Nothing => {}
            TranscriptRecord::Turn { turn, session } => {
                let session = session.or_else(|| self.session.clone());
                self.current.take(turn, session.as_deref(), record::time_of(&fields));
            }
            TranscriptRecord::Event(turn) => self.events.take(turn, self.session.as_deref(), record::time_of(&fields)),
        }
        true
    }

    /// Tells whether a message was there before, under its id.
    fn is_said_again(&mut self, fields: &Map<String, Value>, record: &TranscriptRecord) -> bool {
        let TranscriptRecord::Turn { turn: Turn::Question(text) | Turn::Answer(text), .. } = record else {
            return false;
        };
        let id = record::text_field(fields, "id").filter(|_| !text.trim().is_empty());
        id.is_some_and(|id| !self.seen.insert(id))
    }

    fn take_list(&mut self, items: Vec<Value>) -> bool {
        let mut read = true;
        for item in items {
            read &= matches!(item, Value::Object(_)) && self.take(item);
        }
        read
    }

    fn finish(mut self) -> Vec<Conversation> {
        let shown = if self.current.is_one_sided() { self.events } else { self.current };
        self.whole.push(shown);
        self.whole
    }
}

fn collected(
    format: Format,
    conversations: Vec<Conversation>,
    requests: Vec<UserRequest>,
    unreadable: Unreadable,
) -> Transcript {
    let (mut exchanges, mut cut_characters) = (Vec::new(), 0);
    for conversation in conversations {
        let (more, cut) = conversation.into_exchanges();
        exchanges.extend(more);
        cut_characters += cut;
    }
    let left_out = exchanges.len().saturating_sub(MAX_EXCHANGES);
    exchanges.truncate(MAX_EXCHANGES);
    Transcript { format, exchanges, requests, unreadable, left_out, cut_characters }
}

#[cfg(test)]
mod tests;
