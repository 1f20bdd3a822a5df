//! One record of a file of messages: a plain message with a role, or a line of Claude Code. Those of Codex are in
//! `codex`.

use serde_json::{Map, Value};

use super::conversation::Turn;
use super::{Format, codex, context};

/// What a record says.
pub(super) enum Record {
    Turn {
        turn: Turn,
        session: Option<String>,
    },
    /// The same as some other record says again.
    Event(Turn),
    /// The session that what follows belongs to.
    Session(String),
    /// Known, and nothing that somebody said: a call, a result, a thought, a notice.
    Nothing,
    Unknown,
}

impl Record {
    fn of(turn: Option<Turn>, session: Option<String>) -> Self {
        turn.map_or(Self::Nothing, |turn| Self::Turn { turn, session })
    }
}

pub(super) fn of(fields: &Map<String, Value>) -> (Format, Record) {
    if let Some(record) = codex::record(fields) {
        return (Format::Codex, record);
    }
    if let Some(Value::Object(message)) = fields.get("message")
        && fields.contains_key("type")
    {
        return (Format::ClaudeCode, claude_code(fields, message));
    }
    let session = session_of(fields);
    if !fields.contains_key("role") && text_field(fields, "type").is_some() && session.is_some() {
        // Claude Code notes much else about its sessions.
        return (Format::ClaudeCode, Record::Nothing);
    }
    (Format::Messages, plain(fields, session))
}

pub(super) fn session_of(fields: &Map<String, Value>) -> Option<String> {
    ["sessionId", "session_id", "conversation_id"].iter().find_map(|name| text_field(fields, name))
}

pub(super) fn text_field(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn plain(message: &Map<String, Value>, session: Option<String>) -> Record {
    let (Some(role), Some(content)) = (text_field(message, "role"), message.get("content")) else {
        return Record::Unknown;
    };
    Record::of(said(&role, content), session)
}

/// What somebody said, if it was the user or the assistant. Content is a text or a list of parts with texts.
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

/// Of a part that is text: thoughts, calls, results and images have other types.
fn text_of_part(part: &Value) -> Option<&str> {
    if let Value::String(text) = part {
        return Some(text);
    }
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
    let is_text = matches!(kind, "text" | "input_text" | "output_text");
    part.get("text").and_then(Value::as_str).filter(|_| is_text)
}

/// `type` says who wrote the line; the message in it has a role and content, as the provider's API has them.
fn claude_code(fields: &Map<String, Value>, message: &Map<String, Value>) -> Record {
    let is = |flag: &str| fields.get(flag).and_then(Value::as_bool) == Some(true);
    // Notices of the program, what it says to a helper of its own, and summaries it makes of a session.
    let not_said = ["isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"];
    let by_program = fields.get("origin").and_then(|origin| origin.get("kind")).and_then(Value::as_str);
    let invented = message.get("model").and_then(Value::as_str) == Some("<synthetic>");
    if not_said.into_iter().any(is) || by_program.is_some_and(|kind| kind != "human") || invented {
        return Record::Nothing;
    }
    let (Some(role), Some(content)) = (text_field(message, "role"), message.get("content")) else {
        return Record::Nothing;
    };
    let kind = text_field(fields, "type").unwrap_or_default();
    if kind != role || carries_result(content) {
        return Record::Nothing;
    }
    Record::of(said(&role, content), session_of(fields))
}

/// Results of tools come as messages of the user.
fn carries_result(content: &Value) -> bool {
    let is_result = |part: &Value| part.get("type").and_then(Value::as_str) == Some("tool_result");
    content.as_array().is_some_and(|parts| parts.iter().any(is_result))
}
