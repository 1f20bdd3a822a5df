//! The activity for each request of a user: the calls of tools with their results, and the plan. Exchanges hold what
//! was said; episodes are made of this.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::MAX_QUESTION_CHARS;
use super::conversation::Turn;
use super::gemini;
use super::record::{ToolRecord, TranscriptRecord, shortened, text_field, time_of};
use super::todo_list::{RequestPlan, TodoList};
use crate::episode::is_shell;
use crate::memory::signature::error_message;

/// The most requests of a file and calls of a request. Further ones are left out.
const REQUESTS_MAX: usize = 10_000;
const CALLS_MAX: usize = 1_000;
/// The longest answer that is kept, in characters.
const ANSWER_MAX_CHARS: usize = 8_000;

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCall {
    pub tool: String,
    /// The command line, where the tool runs one; else the arguments as JSON.
    pub input: String,
    /// The file that it is about, where it names one.
    pub target: Option<String>,
    pub output: Option<String>,
    /// None where nothing tells.
    pub succeeded: Option<bool>,
    pub at: Option<Timestamp>,
}

/// The work that was done for one request of a user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserRequest {
    pub question: String,
    /// The last thing that was said in answer.
    pub answer: String,
    pub session: Option<String>,
    pub began: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub plan: RequestPlan,
    pub calls: Vec<ToolCall>,
}

/// The requests of a file, as far as it was read.
#[derive(Debug, Default)]
pub(super) struct Activity {
    done: Vec<UserRequest>,
    open: Option<UserRequest>,
    /// The places of the calls of the open request, by their ids.
    calls: HashMap<String, usize>,
    todos: TodoList,
}

impl Activity {
    /// Takes a record: what is said in it was read already, and the calls and results are read from its fields.
    pub(super) fn take(&mut self, fields: &Map<String, Value>, record: &TranscriptRecord, session: Option<&str>) {
        let at = time_of(fields);
        if let TranscriptRecord::Turn { turn, session: own } = record {
            self.said(turn, own.as_deref().or(session), at);
        }
        if is_of_a_helper(fields) {
            return;
        }
        let of_parts = parts(fields).into_iter().filter_map(|part| ToolRecord::of(part.as_object()?));
        for record in of_parts.chain(gemini::tool_records(fields)) {
            self.tool(record, at);
        }
    }

    fn said(&mut self, turn: &Turn, session: Option<&str>, at: Option<Timestamp>) {
        match turn {
            Turn::Question(text) if !text.trim().is_empty() => {
                // A question that nobody has worked on yet goes on.
                if let Some(open) = self.open.as_mut().filter(|open| open.calls.is_empty() && open.answer.is_empty()) {
                    let question = format!("{}\n\n{}", open.question, text.trim());
                    open.question = question.chars().take(MAX_QUESTION_CHARS).collect();
                    return;
                }
                self.close();
                self.open = Some(UserRequest {
                    question: text.trim().chars().take(MAX_QUESTION_CHARS).collect(),
                    session: session.map(str::to_owned),
                    began: at,
                    ended: at,
                    ..UserRequest::default()
                });
            }
            Turn::Answer(text) if !text.trim().is_empty() => {
                if let Some(open) = &mut self.open {
                    open.answer = text.trim().chars().take(ANSWER_MAX_CHARS).collect();
                    open.ended = open.ended.max(at);
                }
            }
            Turn::Break => self.close(),
            Turn::Question(_) | Turn::Answer(_) => {}
        }
    }

    fn tool(&mut self, record: ToolRecord, at: Option<Timestamp>) {
        let Some(open) = &mut self.open else { return };
        match record {
            // A message that is written again has its calls again.
            ToolRecord::Call { id, .. } if self.calls.contains_key(&id) => {}
            ToolRecord::Call { id, tool, arguments } => {
                if self.todos.call(&id, &tool, &arguments) {
                    open.plan = self.todos.plan();
                }
                if open.calls.len() < CALLS_MAX {
                    self.calls.insert(id, open.calls.len());
                    open.calls.push(call_of(tool, &arguments, at));
                }
                open.ended = open.ended.max(at);
            }
            ToolRecord::Result { id, output, failed, tells_failure } => {
                if self.todos.result(&id, &output) {
                    open.plan = self.todos.plan();
                }
                let Some(call) = self.calls.get(&id).and_then(|place| open.calls.get_mut(*place)) else { return };
                let kept = shortened(&output);
                // What a file says of exit codes is no result of the call that read it.
                let code = || if is_shell(&call.tool) { exit_code(&output) } else { None };
                let told = failed.map(|failed| !failed).or_else(|| code().map(|code| code == 0));
                // A result that prints an error and is not told as failed may be either.
                let is_silent = || tells_failure && error_message(&kept).is_none();
                call.succeeded = told.or_else(|| is_silent().then_some(true));
                call.output = Some(kept);
                open.ended = open.ended.max(at);
            }
        }
    }

    fn close(&mut self) {
        self.calls.clear();
        self.todos.begin_request();
        if let Some(open) = self.open.take().filter(|_| self.done.len() < REQUESTS_MAX) {
            self.done.push(open);
        }
    }

    /// Returns the requests for which something was done.
    pub(super) fn finish(mut self) -> Vec<UserRequest> {
        self.close();
        self.done.retain(|request| !request.calls.is_empty());
        self.done
    }
}

/// Tells whether a line of Claude Code is of a helper's own conversation.
fn is_of_a_helper(fields: &Map<String, Value>) -> bool {
    fields.get("isSidechain").and_then(Value::as_bool) == Some(true)
}

/// Returns the parts of a record that may be calls or results, whichever form it has.
fn parts(fields: &Map<String, Value>) -> Vec<&Value> {
    let message = fields.get("message").and_then(Value::as_object).unwrap_or(fields);
    let mut parts: Vec<&Value> = Vec::new();
    for list in ["content", "tool_calls"] {
        parts.extend(message.get(list).and_then(Value::as_array).into_iter().flatten());
    }
    parts.extend(fields.get("payload"));
    parts
}

impl ToolRecord {
    fn of(fields: &Map<String, Value>) -> Option<Self> {
        let json = |value: Option<&Value>| match value {
            // Some write the arguments as a text that is JSON.
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str())),
            Some(value) => value.clone(),
            None => Value::Null,
        };
        let kind = text_field(fields, "type")?;
        match kind.as_str() {
            "tool_use" => Some(Self::Call {
                id: text_field(fields, "id")?,
                tool: text_field(fields, "name")?,
                arguments: json(fields.get("input")),
            }),
            "function" => {
                let function = fields.get("function")?.as_object()?;
                let (id, tool) = (text_field(fields, "id")?, text_field(function, "name")?);
                Some(Self::Call { id, tool, arguments: json(function.get("arguments")) })
            }
            "function_call" | "custom_tool_call" => Some(Self::Call {
                id: text_field(fields, "call_id")?,
                tool: text_field(fields, "name")?,
                arguments: json(fields.get("arguments").or_else(|| fields.get("input"))),
            }),
            "tool_result" => Some(Self::Result {
                id: text_field(fields, "tool_use_id")?,
                output: text_of(fields.get("content")),
                failed: fields.get("is_error").and_then(Value::as_bool),
                tells_failure: true,
            }),
            "function_call_output" | "custom_tool_call_output" => {
                let output = json(fields.get("output"));
                let code = output.pointer("/metadata/exit_code").and_then(Value::as_i64);
                let said = output.get("output").map_or_else(|| text_of(Some(&output)), |said| text_of(Some(said)));
                let (id, failed) = (text_field(fields, "call_id")?, code.map(|code| code != 0));
                Some(Self::Result { id, output: said, failed, tells_failure: false })
            }
            _ => None,
        }
    }
}

/// Returns the text of what a tool gave back: a text, or a list of parts with texts.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let texts = items.iter().filter_map(|item| item.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

fn call_of(tool: String, arguments: &Value, at: Option<Timestamp>) -> ToolCall {
    let named = |names: &[&str]| names.iter().find_map(|name| arguments.get(name)?.as_str());
    let command = match arguments.get("command").or_else(|| arguments.get("cmd")) {
        Some(Value::String(line)) => Some(line.clone()),
        Some(Value::Array(words)) => Some(command_line(words)),
        _ => None,
    };
    let target = named(&["file_path", "path", "notebook_path", "filename", "file"]).map(shortened);
    let input = command.unwrap_or_else(|| match arguments {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    });
    ToolCall { tool, input: shortened(&input), target, at, ..ToolCall::default() }
}

/// Returns the command that a list of words runs. A shell that is only there to run a line is left out.
fn command_line(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [shell, flag, line] if shell.ends_with("sh") && flag.starts_with('-') => (*line).to_owned(),
        words => words.join(" "),
    }
}

/// Reads the exit code that an output tells of in its first lines or in its last ones. What stands between is the text
/// of a program.
fn exit_code(output: &str) -> Option<i64> {
    const SAID: [&str; 4] = ["exit code: ", "exit code ", "exited with code ", "exit status "];
    const FIRST: usize = 5;
    const LAST: usize = 5;
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let head = &lines[..lines.len().min(FIRST)];
    let tail = &lines[head.len().max(lines.len().saturating_sub(LAST))..];
    tail.iter().rev().chain(head.iter().rev()).find_map(|line| {
        let lowered = line.trim().to_lowercase();
        SAID.iter().find_map(|said| {
            let rest = &lowered[lowered.rfind(said)? + said.len()..];
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
    })
}
