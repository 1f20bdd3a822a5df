//! Hooks: which events of a client are asked for, what they say, and how they are answered. A hook that is not
//! understood is answered with nothing.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agent_client::AgentClient;
use crate::document::{ConfigChange, ConfigValue};
use crate::server_entry::ServerCommand;

/// Seconds after which a client gives up. The hook itself gives up long before.
const TIMEOUT_S: u32 = 5;
/// The tool of Gemini CLI that runs commands.
const GEMINI_SHELL: &str = "run_shell_command";
/// A longer text is cut: what names an error stands at its ends.
const TEXT_CHARS: usize = 8_000;

/// An event of a session, as a client tells it to its hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookCall {
    pub client: AgentClient,
    /// The name of the event at the client.
    pub name: String,
    /// The client's id of the session. It is empty where the client names none.
    pub session: String,
    /// The directory that the session works in.
    pub directory: Option<PathBuf>,
    pub event: HookEvent,
}

/// Something that happened in a session, and that the agent may be told something for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    SessionStarted,
    PromptSubmitted {
        prompt: String,
    },
    /// A tool failed, other than by the user's interrupt. The text is what it printed.
    ToolFailed {
        error: String,
        /// The command that failed. None where the tool runs no commands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A command succeeded.
    ToolSucceeded {
        command: String,
    },
    /// The client is about to replace the conversation by a summary of it.
    Compacting,
    /// The session is over. Its transcript is in this file.
    SessionEnded {
        transcript: PathBuf,
    },
}

impl AgentClient {
    /// Returns the names of the events that hooks are written for; none for a client whose hooks are not supported.
    pub fn hook_events(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => {
                &["SessionStart", "UserPromptSubmit", "PostToolUseFailure", "PostToolUse", "PreCompact", "SessionEnd"]
            }
            Self::Codex => &["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact"],
            // Gemini CLI names no transcript that could be learned from at the end of a session.
            Self::GeminiCli => &["SessionStart", "BeforeAgent", "AfterTool", "PreCompress"],
            // Cursor tells the agent nothing of what its other events are answered.
            Self::Cursor => &["sessionStart", "preCompact"],
            _ => &[],
        }
    }
}

impl ServerCommand {
    /// Returns the changes of the file that has the hooks of the client: its hooks, and what else the file has to say.
    pub fn hook_changes(&self, client: AgentClient, data_dir: &str) -> Vec<ConfigChange> {
        let version = ConfigChange::entry(&[], "version", ConfigValue::Number(1));
        let head = (client == AgentClient::Cursor).then_some(version);
        head.into_iter().chain(self.hooks(client, data_dir)).collect()
    }

    /// Returns the hooks of the client: each runs the binary on the bank in `data_dir`. Claude Code runs it without a
    /// shell.
    pub fn hooks(&self, client: AgentClient, data_dir: &str) -> Vec<ConfigChange> {
        let change = |event: &&str| {
            let arguments = ["--data-dir", data_dir, "hook", client.as_str(), event].map(str::to_owned);
            let kind = ("type", "command".into());
            let hook = match client {
                AgentClient::ClaudeCode => {
                    let command = ("command", self.program.as_str().into());
                    let arguments = ("args", ConfigValue::texts(&arguments));
                    let timeout = ("timeout", ConfigValue::Number(TIMEOUT_S));
                    match *event {
                        // Nothing is told of a success, so nobody has to wait for its hook.
                        "PostToolUse" => {
                            ConfigValue::map([kind, command, arguments, timeout, ("async", ConfigValue::Flag(true))])
                        }
                        _ => ConfigValue::map([kind, command, arguments, timeout]),
                    }
                }
                _ => {
                    let words = [&self.program].into_iter().chain(&arguments).map(|word| shell_word(word));
                    let line = words.collect::<Vec<_>>().join(" ");
                    // Gemini CLI counts milliseconds.
                    let unit = if client == AgentClient::GeminiCli { 1_000 } else { 1 };
                    ConfigValue::map([
                        kind,
                        ("command", line.as_str().into()),
                        ("timeout", ConfigValue::Number(TIMEOUT_S * unit)),
                    ])
                }
            };
            if client == AgentClient::Cursor {
                return ConfigChange::element(&["hooks", event], hook);
            }
            let hooks = ("hooks", ConfigValue::List(vec![hook]));
            let group = match (client, *event) {
                // Other tools of these clients run no commands.
                (AgentClient::ClaudeCode, "PostToolUse") => ConfigValue::map([("matcher", "Bash".into()), hooks]),
                (AgentClient::GeminiCli, "AfterTool") => ConfigValue::map([("matcher", GEMINI_SHELL.into()), hooks]),
                _ => ConfigValue::map([hooks]),
            };
            ConfigChange::element(&["hooks", event], group)
        };
        client.hook_events().iter().map(change).collect()
    }
}

fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// An event as Claude Code writes it. The others write theirs in the same way, and Cursor names the session and the
/// directory otherwise.
#[derive(Deserialize)]
struct EventDocument {
    hook_event_name: String,
    #[serde(default)]
    session_id: Option<String>,
    #[serde(default)]
    conversation_id: Option<String>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    workspace_roots: Vec<PathBuf>,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    is_interrupt: Option<bool>,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    tool_response: Value,
}

impl HookCall {
    /// Reads an event that a client wrote to its hook. Codex gives what a command printed without its exit code, so that
    /// `names_error` decides whether it failed: it says whether such a text names an error. That a command succeeded
    /// is not told by what it printed.
    pub fn read(client: AgentClient, document: &str, names_error: impl Fn(&str) -> bool) -> Option<Self> {
        let document: EventDocument = serde_json::from_str(document).ok()?;
        let name = document.hook_event_name.as_str();
        if !client.hook_events().contains(&name) {
            return None;
        }
        let command = document.tool_input.get("command").and_then(Value::as_str).map(ends);
        let failed = |error: &str| {
            let error = without_exit_code(error);
            (!error.is_empty()).then(|| HookEvent::ToolFailed { error: ends(error), command: command.clone() })
        };
        let event = match name {
            "SessionStart" | "sessionStart" => HookEvent::SessionStarted,
            "UserPromptSubmit" | "BeforeAgent" => HookEvent::PromptSubmitted { prompt: ends(document.prompt?.trim()) },
            "PostToolUseFailure" if document.is_interrupt != Some(true) => failed(&document.error?)?,
            // Claude Code has an event of its own for what failed.
            "PostToolUse" if client == AgentClient::ClaudeCode => HookEvent::ToolSucceeded { command: command? },
            "PostToolUse" | "AfterTool" => {
                let printed = if client == AgentClient::GeminiCli { printed_by_gemini } else { printed_by_codex };
                let (code, output) = printed(&document.tool_response)?;
                match code {
                    Some(0) => HookEvent::ToolSucceeded { command: command? },
                    Some(_) => failed(output)?,
                    None => {
                        let error = ends(output.trim());
                        // Whether the same command succeeds later is never known, so nothing is to be remembered of it.
                        let is_failure = command.is_some() && names_error(&error);
                        is_failure.then_some(HookEvent::ToolFailed { error, command: None })?
                    }
                }
            }
            "PreCompact" | "preCompact" | "PreCompress" => HookEvent::Compacting,
            "SessionEnd" => HookEvent::SessionEnded { transcript: document.transcript_path? },
            _ => return None,
        };
        let name = document.hook_event_name;
        let session = document.session_id.or(document.conversation_id).unwrap_or_default();
        let directory = document.cwd.or_else(|| document.workspace_roots.into_iter().next());
        Some(Self { client, name, session, directory, event })
    }

    /// Returns the answer by which the client tells the agent this text.
    pub fn answer(&self, text: &str) -> Value {
        if self.client == AgentClient::Cursor {
            return json!({ "additional_context": text });
        }
        json!({ "hookSpecificOutput": { "hookEventName": self.name, "additionalContext": text } })
    }
}

/// Drops the first line where it says no more than that a command failed: all failing commands share it.
fn without_exit_code(error: &str) -> &str {
    let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
    let code = first.trim().strip_prefix("Exit code ");
    let is_code = code.is_some_and(|code| !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit()));
    if is_code { rest.trim() } else { error.trim() }
}

/// Returns what a command of Codex printed, and its exit code where the response has it: the head of a text may name the
/// code, and a line `Output:` ends it.
fn printed_by_codex(response: &Value) -> Option<(Option<i64>, &str)> {
    if let Some(code) = response.get("exit_code").or_else(|| response.pointer("/metadata/exit_code")) {
        let output = ["output", "aggregated_output"].iter().find_map(|name| response.get(name)?.as_str())?;
        return Some((Some(code.as_i64()?), output));
    }
    let text = response.as_str()?;
    let coded = || {
        let (head, output) = text.split_once("Output:\n")?;
        let code = ["Exit code: ", "exited with code "].iter().find_map(|name| head.split_once(name))?.1;
        Some((Some(code.split_whitespace().next()?.parse().ok()?), output))
    };
    Some(coded().unwrap_or((None, text)))
}

/// Returns what a command of Gemini CLI printed, and its exit code. The response has them within a fence, as
/// `Output: …` and lines such as `Exit Code: 1` behind it, which are left out where a command succeeds. A command that a
/// signal ended, or that never began, counts as one with the code 1. None where the command goes on, or was cancelled.
fn printed_by_gemini(response: &Value) -> Option<(Option<i64>, &str)> {
    let told = response.get("llmContent")?.as_str()?.trim();
    let fenced = told.strip_prefix("<untrusted_context>").and_then(|told| told.strip_suffix("</untrusted_context>"));
    let mut output = fenced.unwrap_or(told).trim().strip_prefix("Output: ")?;
    let mut code = 0;
    while let Some((before, last)) = output.rsplit_once('\n') {
        let is_end = |label: &str| last.starts_with(label);
        if ["Exit Code: ", "Signal: ", "Error: "].into_iter().any(is_end) {
            code = 1;
        }
        if !["Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "].into_iter().any(is_end) {
            break;
        }
        output = before;
    }
    Some((Some(code), output))
}

fn ends(text: &str) -> String {
    let characters = text.chars().count();
    if characters <= TEXT_CHARS {
        return text.to_owned();
    }
    let half = TEXT_CHARS / 2;
    text.chars().take(half).chain("\n".chars()).chain(text.chars().skip(characters - half)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_of(client: AgentClient, document: &Value) -> Option<HookEvent> {
        HookCall::read(client, &document.to_string(), |text| text.contains("Error")).map(|call| call.event)
    }

    fn read(document: Value) -> Option<HookEvent> {
        read_of(AgentClient::ClaudeCode, &document)
    }

    fn failed(error: &str) -> Option<HookEvent> {
        Some(HookEvent::ToolFailed { error: error.to_owned(), command: None })
    }

    #[test]
    fn a_failure_says_what_was_printed_and_not_how_the_command_ended() {
        let event =
            |error: &str| json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": error });
        assert_eq!(read(event("Exit code 1\nKeyError: 'user'\n")), failed("KeyError: 'user'"));
        assert_eq!(read(event("File does not exist.")), failed("File does not exist."));
        assert_eq!(read(event("Exit code 1")), None);
        assert_eq!(read(event("Exit code of the tool\nx")), failed("Exit code of the tool\nx"));
    }

    #[test]
    fn an_interrupt_another_event_and_what_is_no_event_say_nothing() {
        let interrupted = json!({ "hook_event_name": "PostToolUseFailure", "error": "x", "is_interrupt": true });
        assert_eq!(read(interrupted), None);
        assert_eq!(read(json!({ "hook_event_name": "Stop" })), None);
        assert_eq!(read(json!({ "hook_event_name": "UserPromptSubmit" })), None);
        assert_eq!(read(json!({})), None);
        assert_eq!(HookCall::read(AgentClient::ClaudeCode, "{ \"hook_event_name\": ", |_| false), None);
        assert_eq!(read_of(AgentClient::Zed, &json!({ "hook_event_name": "SessionStart" })), None);
    }

    #[test]
    fn an_event_names_its_session_and_its_directory() {
        let event = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/w/shop", "prompt": " Add the tax ",
        });
        let call = HookCall::read(AgentClient::ClaudeCode, &event.to_string(), |_| false).unwrap();
        assert_eq!((&*call.session, call.directory), ("s", Some(PathBuf::from("/w/shop"))));
        assert_eq!(call.event, HookEvent::PromptSubmitted { prompt: "Add the tax".to_owned() });
    }

    #[test]
    fn codex_says_in_the_response_that_a_command_failed() {
        let event = |response: Value| {
            read_of(AgentClient::Codex, &json!({ "hook_event_name": "PostToolUse", "tool_response": response }))
        };
        let of_command = |response: Value| {
            let input = json!({ "command": "make" });
            let event = json!({ "hook_event_name": "PostToolUse", "tool_input": input, "tool_response": response });
            read_of(AgentClient::Codex, &event)
        };
        let printed = |code: i32| format!("Exit code: {code}\nWall time: 0.1 seconds\nOutput:\nKeyError: 'user'\n");
        assert_eq!(event(json!(printed(1))), failed("KeyError: 'user'"));
        assert_eq!(event(json!(printed(0))), None);
        assert_eq!(
            event(json!({ "output": "KeyError: 'user'", "metadata": { "exit_code": 2 } })),
            failed("KeyError: 'user'")
        );
        assert_eq!(of_command(json!("Traceback\nKeyError: 'user'\n")), failed("Traceback\nKeyError: 'user'"));
        assert_eq!(of_command(json!("3 passed")), None);
        assert_eq!(event(json!("Traceback\nKeyError: 'user'\n")), None, "a tool that runs no command");
        assert_eq!(event(json!("Exit code: 1 is what it printed")), None);
        assert_eq!(event(Value::Null), None);
    }

    #[test]
    fn gemini_cli_says_below_the_output_that_a_command_failed() {
        let of = |content: &str| {
            let input = json!({ "command": "make" });
            let response = json!({ "llmContent": content, "returnDisplay": "" });
            let event = json!({ "hook_event_name": "AfterTool", "tool_input": input, "tool_response": response });
            read_of(AgentClient::GeminiCli, &event)
        };
        let failed =
            |error: &str| Some(HookEvent::ToolFailed { error: error.to_owned(), command: Some("make".to_owned()) });
        let succeeded = Some(HookEvent::ToolSucceeded { command: "make".to_owned() });
        assert_eq!(
            of(
                "<untrusted_context>\nOutput: Traceback\nKeyError: 'user'\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>"
            ),
            failed("Traceback\nKeyError: 'user'")
        );
        assert_eq!(of("Output: killed it\nSignal: 9\nProcess Group PGID: 7"), failed("killed it"));
        assert_eq!(of("Output: (empty)\nError: spawn ENOENT"), failed("(empty)\nError: spawn ENOENT"));
        assert_eq!(of("Output: 3 passed\nProcess Group PGID: 7"), succeeded);
        assert_eq!(of("Output: Exit Code: 1 is what it printed\nall is well"), succeeded);
        assert_eq!(of("Command moved to background (PID: 7). Output hidden."), None);
        let compressing = json!({ "hook_event_name": "PreCompress", "trigger": "auto" });
        assert_eq!(read_of(AgentClient::GeminiCli, &compressing), Some(HookEvent::Compacting));
    }

    #[test]
    fn cursor_names_the_session_and_the_directory_in_its_own_way_and_is_answered_in_it() {
        let event = json!({
            "hook_event_name": "sessionStart", "conversation_id": "c", "workspace_roots": ["/w/shop", "/w/other"],
        });
        let call = HookCall::read(AgentClient::Cursor, &event.to_string(), |_| false).unwrap();
        assert_eq!((&*call.session, call.directory.clone()), ("c", Some(PathBuf::from("/w/shop"))));
        assert_eq!(call.event, HookEvent::SessionStarted);
        assert_eq!(call.answer("known"), json!({ "additional_context": "known" }));
        let compacting = json!({ "hook_event_name": "preCompact", "trigger": "auto" });
        assert_eq!(read_of(AgentClient::Cursor, &compacting), Some(HookEvent::Compacting));
    }

    #[test]
    fn a_command_is_named_when_it_fails_and_when_it_succeeds() {
        let input = json!({ "command": "make", "description": "Build" });
        let event =
            json!({ "hook_event_name": "PostToolUseFailure", "tool_input": input, "error": "KeyError: 'user'" });
        let command = Some("make".to_owned());
        assert_eq!(read(event), Some(HookEvent::ToolFailed { error: "KeyError: 'user'".to_owned(), command }));
        let succeeded = Some(HookEvent::ToolSucceeded { command: "make".to_owned() });
        let event = |response: Value| json!({ "hook_event_name": "PostToolUse", "tool_input": input, "tool_response": response });
        assert_eq!(read(event(json!({ "stdout": "" }))), succeeded);
        assert_eq!(read(json!({ "hook_event_name": "PostToolUse", "tool_input": { "file_path": "x" } })), None);
        let of_codex = |response: Value| read_of(AgentClient::Codex, &event(response));
        assert_eq!(of_codex(json!("Exit code: 0\nOutput:\nfine")), succeeded);
        assert_eq!(of_codex(json!("fine")), None, "nothing says that it succeeded");
        assert_eq!(read(json!({ "hook_event_name": "PreCompact", "trigger": "auto" })), Some(HookEvent::Compacting));
    }

    #[test]
    fn of_a_long_error_both_ends_are_kept() {
        let error = format!("first{}last", "é".repeat(1_000_000));
        let event = json!({ "hook_event_name": "PostToolUseFailure", "error": error });
        let Some(HookEvent::ToolFailed { error, .. }) = read(event) else { panic!("it failed") };
        assert!(error.starts_with("first") && error.ends_with("last"));
        assert_eq!(error.chars().count(), TEXT_CHARS + 1);
    }
}
