//! A line of a rollout file of Codex: `{timestamp, type, payload}`. The older form has only the payloads, one after the
//! other, behind a first line that names the session.

use serde_json::{Map, Value};

use super::conversation::Turn;
use super::record::{TranscriptRecord, said, text_field};

/// Reads a record. None where it is no such line.
pub(super) fn record(fields: &Map<String, Value>) -> Option<TranscriptRecord> {
    let kind = text_field(fields, "type");
    if let (Some(kind), Some(Value::Object(payload))) = (&kind, fields.get("payload")) {
        return Some(match kind.as_str() {
            "session_meta" => session(payload),
            "response_item" => item(payload),
            "event_msg" => event(payload),
            _ => TranscriptRecord::Nothing,
        });
    }
    if fields.contains_key("record_type") {
        return Some(TranscriptRecord::Nothing);
    }
    let is_head = fields.contains_key("id") && fields.contains_key("timestamp") && fields.contains_key("instructions");
    match kind.as_deref() {
        None if is_head => Some(session(fields)),
        Some("message") if fields.contains_key("role") && is_of_responses(fields.get("content")) => Some(item(fields)),
        Some(
            "reasoning" | "function_call" | "function_call_output" | "custom_tool_call" | "custom_tool_call_output",
        ) => Some(TranscriptRecord::Nothing),
        _ => None,
    }
}

fn session(fields: &Map<String, Value>) -> TranscriptRecord {
    let id = text_field(fields, "id").or_else(|| text_field(fields, "session_id"));
    id.map_or(TranscriptRecord::Nothing, TranscriptRecord::Session)
}

fn item(payload: &Map<String, Value>) -> TranscriptRecord {
    let is_message = text_field(payload, "type").as_deref() == Some("message");
    let turn = match (text_field(payload, "role"), payload.get("content")) {
        (Some(role), Some(content)) if is_message => said(&role, content),
        _ => None,
    };
    turn.map_or(TranscriptRecord::Nothing, |turn| TranscriptRecord::Turn { turn, session: None })
}

fn event(payload: &Map<String, Value>) -> TranscriptRecord {
    let role = match text_field(payload, "type").as_deref() {
        Some("user_message") => "user",
        Some("agent_message") => "assistant",
        _ => return TranscriptRecord::Nothing,
    };
    let turn: Option<Turn> = payload.get("message").and_then(|message| said(role, message));
    turn.map_or(TranscriptRecord::Nothing, TranscriptRecord::Event)
}

/// Tells whether content is of the Responses API, whose parts have types of their own.
fn is_of_responses(content: Option<&Value>) -> bool {
    let is = |part: &Value| matches!(part.get("type").and_then(Value::as_str), Some("input_text" | "output_text"));
    content.and_then(Value::as_array).is_some_and(|parts| parts.iter().any(is))
}
