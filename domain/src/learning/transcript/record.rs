//! One record of a file of messages: what it says, and how its fields are read. `formats` decides which form a record
//! has.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::context;
use super::conversation::Turn;

/// The longest input and output of a call that are kept, in characters. A longer one keeps its beginning and its end:
/// programs say at their end how they ended.
const TEXT_MAX_CHARS: usize = 2_000;

/// The content of a record.
pub(super) enum TranscriptRecord {
    Turn {
        turn: Turn,
        session: Option<String>,
    },
    /// The record repeats what another record says.
    Event(Turn),
    /// The session that the following records belong to.
    Session(String),
    /// The record is known and holds nothing that somebody said: a call, a result, a thought, a notice.
    Nothing,
    Unknown,
}

/// A part of a record that is about a tool.
pub(super) enum ToolRecord {
    Call {
        id: String,
        tool: String,
        arguments: Value,
    },
    /// `tells_failure`: the form marks each result that failed, so that one without a mark did not.
    Result {
        id: String,
        output: String,
        failed: Option<bool>,
        tells_failure: bool,
    },
}

impl TranscriptRecord {
    pub(super) fn of(turn: Option<Turn>, session: Option<String>) -> Self {
        turn.map_or(Self::Nothing, |turn| Self::Turn { turn, session })
    }
}

pub(super) fn session_of(fields: &Map<String, Value>) -> Option<String> {
    ["sessionId", "session_id", "conversation_id"].iter().find_map(|name| text_field(fields, name))
}

pub(super) fn time_of(fields: &Map<String, Value>) -> Option<Timestamp> {
    text_field(fields, "timestamp")?.parse().ok()
}

pub(super) fn text_field(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns what somebody said. None where it was neither the user nor the assistant, or nothing of it is the user's
/// own. Content is a text or a list of parts with texts.
pub(super) fn said(role: &str, content: &Value) -> Option<Turn> {
    match role.to_ascii_lowercase().as_str() {
        "user" | "human" => context::question(&parts(content)),
        "assistant" | "model" | "ai" => Some(Turn::Answer(parts(content).join("\n\n"))),
        _ => None,
    }
}

fn parts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Object(_) => text_of_part(content).into_iter().collect(),
        Value::Array(items) => items.iter().filter_map(text_of_part).collect(),
        _ => Vec::new(),
    }
}

/// Returns the text of a part. None for a part of another kind: a thought, a call, a result or an image.
fn text_of_part(part: &Value) -> Option<&str> {
    if let Value::String(text) = part {
        return Some(text);
    }
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
    let is_text = matches!(kind, "text" | "input_text" | "output_text");
    part.get("text").and_then(Value::as_str).filter(|_| is_text)
}

/// Keeps the beginning and the end of a text that is too long.
pub(super) fn shortened(text: &str) -> String {
    let chars = text.chars().count();
    if chars <= TEXT_MAX_CHARS {
        return text.to_owned();
    }
    let half = TEXT_MAX_CHARS / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(chars - half).collect();
    format!("{head}\n[…]\n{tail}")
}
