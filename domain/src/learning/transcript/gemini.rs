//! A line of a session file of Gemini CLI: `{id, timestamp, type, content}`, behind a first line that names the
//! session. A message is written again, under the same id, when there is more to tell of it. The calls of tools stand
//! in `toolCalls` of the message, each with its result. `{"$rewindTo": id}` says that the user took back the message of
//! this id and all that came after it (the command `/rewind`).

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::record::{ToolRecord, TranscriptRecord, said, text_field};

/// The tag in which the program puts what a hook told the agent, behind what the tool printed.
const TOLD_BY_HOOK: &str = "<hook_context>";

/// The name of the field that says up to where the user took the conversation back.
const REWOUND_TO: &str = "$rewindTo";

/// Leaves out what the user took back, so that nothing is learned of it. Where the message is not there, the program
/// takes back all messages, and so does this. Each value comes with the line that it stands on.
pub(super) fn without_rewound(values: Vec<(usize, Value)>) -> Vec<(usize, Value)> {
    let mut kept: Vec<(usize, Value)> = Vec::new();
    // A message that is written again stands where it was written first.
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut first_message = None;
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    for (line, value) in values {
        if let Some(id) = text(&value, REWOUND_TO) {
            let Some(from) = places.get(&id).copied().or(first_message) else { continue };
            for id in kept.drain(from..).filter_map(|(_, value)| text(&value, "id")) {
                if places.get(&id).is_some_and(|place| *place >= from) {
                    places.remove(&id);
                }
            }
            first_message = first_message.filter(|first| *first < from);
            continue;
        }
        if let Some(id) = text(&value, "id") {
            first_message.get_or_insert(kept.len());
            places.entry(id).or_insert(kept.len());
        }
        kept.push((line, value));
    }
    kept
}

/// Reads a record. None where it is no such line.
pub(super) fn record(fields: &Map<String, Value>) -> Option<TranscriptRecord> {
    if fields.contains_key("projectHash") {
        return text_field(fields, "sessionId").map(TranscriptRecord::Session);
    }
    if fields.contains_key("$set") || fields.contains_key(REWOUND_TO) {
        return Some(TranscriptRecord::Nothing);
    }
    if !["id", "timestamp", "content"].into_iter().all(|name| fields.contains_key(name)) || fields.contains_key("role")
    {
        return None;
    }
    let content = fields.get("content")?;
    match text_field(fields, "type")?.as_str() {
        // What the user typed, without the files that it names and what hooks added.
        "user" => Some(TranscriptRecord::of(said("user", fields.get("displayContent").unwrap_or(content)), None)),
        "gemini" => Some(TranscriptRecord::of(said("assistant", content), None)),
        "info" | "warning" | "error" => Some(TranscriptRecord::Nothing),
        _ => None,
    }
}

/// Returns the calls of tools in a message, each followed by its result where it has one.
pub(super) fn tool_records(fields: &Map<String, Value>) -> Vec<ToolRecord> {
    let calls = fields.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
    calls.filter_map(Value::as_object).flat_map(|call| [call_of(call), result_of(call)]).flatten().collect()
}

fn call_of(call: &Map<String, Value>) -> Option<ToolRecord> {
    let (id, tool) = (text_field(call, "id")?, text_field(call, "name")?);
    Some(ToolRecord::Call { id, tool, arguments: call.get("args").cloned().unwrap_or_default() })
}

/// Returns the result of a call. A command whose exit code is not 0 has the status `success` as well, and tells its
/// code below what it printed.
fn result_of(call: &Map<String, Value>) -> Option<ToolRecord> {
    let status = text_field(call, "status")?;
    if !matches!(status.as_str(), "success" | "error") {
        return None;
    }
    let parts = call.get("result").and_then(Value::as_array).into_iter().flatten();
    let told = |part: &Value| {
        let response = part.pointer("/functionResponse/response")?;
        ["output", "error"].iter().find_map(|name| response.get(name)?.as_str()).map(printed)
    };
    let output = parts.filter_map(told).collect::<Vec<_>>().join("\n");
    let failed = (status == "error").then_some(true);
    Some(ToolRecord::Result { id: text_field(call, "id")?, output, failed, tells_failure: true })
}

/// Returns what a tool printed, without the fence around it and without what a hook told the agent.
fn printed(told: &str) -> String {
    let told = told.split_once(TOLD_BY_HOOK).map_or(told, |(printed, _)| printed).trim();
    let fenced = told.strip_prefix("<untrusted_context>").and_then(|told| told.strip_suffix("</untrusted_context>"));
    fenced.unwrap_or(told).trim().to_owned()
}
