//! The forms of a record: a plain message with a role, or a line of Claude Code. The lines of Codex are read in
//! `codex`, and those of Gemini CLI in `gemini`.

use serde_json::{Map, Value};

use super::record::{TranscriptRecord, said, session_of, text_field};
use super::{Format, codex, gemini};

/// Reads a record, and says which form it has.
pub(super) fn read(fields: &Map<String, Value>) -> (Format, TranscriptRecord) {
    if let Some(record) = codex::record(fields) {
        return (Format::Codex, record);
    }
    if let Some(record) = gemini::record(fields) {
        return (Format::GeminiCli, record);
    }
    if let Some(Value::Object(message)) = fields.get("message")
        && fields.contains_key("type")
    {
        return (Format::ClaudeCode, claude_code(fields, message));
    }
    let session = session_of(fields);
    if !fields.contains_key("role") && text_field(fields, "type").is_some() && session.is_some() {
        // Claude Code notes much else about its sessions.
        return (Format::ClaudeCode, TranscriptRecord::Nothing);
    }
    (Format::Messages, plain(fields, session))
}

fn plain(message: &Map<String, Value>, session: Option<String>) -> TranscriptRecord {
    let (Some(role), Some(content)) = (text_field(message, "role"), message.get("content")) else {
        return TranscriptRecord::Unknown;
    };
    TranscriptRecord::of(said(&role, content), session)
}

/// Reads a line of Claude Code. `type` says who wrote it. The message in it has a role and content, as the provider's
/// API has them.
fn claude_code(fields: &Map<String, Value>, message: &Map<String, Value>) -> TranscriptRecord {
    let is = |flag: &str| fields.get(flag).and_then(Value::as_bool) == Some(true);
    // Notices of the program, what it says to a helper of its own, and summaries that it makes of a session are not
    // said by anybody.
    let not_said = ["isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"];
    let by_program = fields.get("origin").and_then(|origin| origin.get("kind")).and_then(Value::as_str);
    let invented = message.get("model").and_then(Value::as_str) == Some("<synthetic>");
    if not_said.into_iter().any(is) || by_program.is_some_and(|kind| kind != "human") || invented {
        return TranscriptRecord::Nothing;
    }
    let (Some(role), Some(content)) = (text_field(message, "role"), message.get("content")) else {
        return TranscriptRecord::Nothing;
    };
    let kind = text_field(fields, "type").unwrap_or_default();
    if kind != role || carries_result(content) {
        return TranscriptRecord::Nothing;
    }
    TranscriptRecord::of(said(&role, content), session_of(fields))
}

/// Tells whether content carries the result of a tool, which comes as a message of the user.
fn carries_result(content: &Value) -> bool {
    let is_result = |part: &Value| part.get("type").and_then(Value::as_str) == Some("tool_result");
    content.as_array().is_some_and(|parts| parts.iter().any(is_result))
}
