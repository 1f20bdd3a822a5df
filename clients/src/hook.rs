//! Hooks: which events of a client are asked for, what they say, and how they are answered. A hook that is not
//! understood is answered with nothing.

mod reading;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::reading::only_reads;
use crate::agent_client::AgentClient;
use crate::document::{ConfigChange, ConfigValue};
use crate::server_entry::ServerCommand;

/// Seconds after which a client gives up. The hook itself gives up long before.
const TIMEOUT_S: u32 = 5;
/// The tools that run commands.
const CLAUDE_SHELL: &str = "Bash";
const CURSOR_SHELL: &str = "Shell";
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
    /// The client is about to replace the conversation by a summary of it. Its transcript is in this file, where the
    /// client names one.
    Compacting {
        transcript: Option<PathBuf>,
    },
    /// The session is over. Its transcript is in this file.
    SessionEnded {
        transcript: PathBuf,
    },
}

/// The moment of a session that an event tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMoment {
    SessionStart,
    Prompt,
    ToolFailure,
    /// A tool has ended. What the client tells of it says whether it failed.
    ToolEnd,
    Compaction,
    SessionEnd,
}

impl HookMoment {
    /// Says whether the hook leaves something on the disk for a server, and answers nothing.
    pub fn leaves(self) -> bool {
        matches!(self, Self::Compaction | Self::SessionEnd)
    }
}

impl AgentClient {
    /// Returns the events that hooks are written for, by their names at the client; none for a client whose hooks are
    /// not supported.
    fn hook_moments(self) -> &'static [(&'static str, HookMoment)] {
        use HookMoment::{Compaction, Prompt, SessionEnd, SessionStart, ToolEnd, ToolFailure};
        match self {
            Self::ClaudeCode => &[
                ("SessionStart", SessionStart),
                ("UserPromptSubmit", Prompt),
                ("PostToolUseFailure", ToolFailure),
                ("PostToolUse", ToolEnd),
                ("PreCompact", Compaction),
                ("SessionEnd", SessionEnd),
            ],
            Self::Codex => &[
                ("SessionStart", SessionStart),
                ("UserPromptSubmit", Prompt),
                ("PostToolUse", ToolEnd),
                ("PreCompact", Compaction),
            ],
            Self::GeminiCli => &[
                ("SessionStart", SessionStart),
                ("BeforeAgent", Prompt),
                ("AfterTool", ToolEnd),
                ("PreCompress", Compaction),
                ("SessionEnd", SessionEnd),
            ],
            // Cursor tells the agent nothing of what its event of a prompt is answered.
            Self::Cursor => &[("sessionStart", SessionStart), ("postToolUse", ToolEnd), ("preCompact", Compaction)],
            _ => &[],
        }
    }

    /// Says whether hooks are written for the client.
    pub fn has_hooks(self) -> bool {
        !self.hook_moments().is_empty()
    }

    /// Returns the moment that the client gives this name; none where no hook is written for it.
    pub fn hook_moment(self, name: &str) -> Option<HookMoment> {
        self.hook_moments().iter().find(|(own, _)| *own == name).map(|(_, moment)| *moment)
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
        let change = |(event, moment): &(&str, HookMoment)| {
            let arguments = ["--data-dir", data_dir, "hook", client.as_str(), event].map(str::to_owned);
            let kind = ("type", "command".into());
            let is_tool_end = *moment == HookMoment::ToolEnd;
            let mut hook = match client {
                AgentClient::ClaudeCode => {
                    let command = ("command", self.program.as_str().into());
                    let arguments = ("args", ConfigValue::texts(&arguments));
                    vec![kind, command, arguments, ("timeout", ConfigValue::Number(TIMEOUT_S))]
                }
                _ => {
                    let words = [&self.program].into_iter().chain(&arguments).map(|word| shell_word(word));
                    let line = words.collect::<Vec<_>>().join(" ");
                    // Gemini CLI counts milliseconds.
                    let unit = if client == AgentClient::GeminiCli { 1_000 } else { 1 };
                    vec![kind, ("command", line.as_str().into()), ("timeout", ConfigValue::Number(TIMEOUT_S * unit))]
                }
            };
            // Claude Code is told nothing of a success, so nobody has to wait for its hook.
            if is_tool_end && client == AgentClient::ClaudeCode {
                hook.push(("async", ConfigValue::Flag(true)));
            }
            // Other tools of these clients run no commands.
            let shell = match client {
                AgentClient::ClaudeCode => Some(CLAUDE_SHELL),
                AgentClient::Cursor => Some(CURSOR_SHELL),
                AgentClient::GeminiCli => Some(GEMINI_SHELL),
                _ => None,
            };
            let matcher = shell.filter(|_| is_tool_end).map(|shell| ("matcher", shell.into()));
            let value = if client == AgentClient::Cursor {
                ConfigValue::map(matcher.into_iter().chain(hook))
            } else {
                let hooks = ("hooks", ConfigValue::List(vec![ConfigValue::map(hook)]));
                ConfigValue::map(matcher.into_iter().chain([hooks]))
            };
            ConfigChange::element(&["hooks", event], value)
        };
        client.hook_moments().iter().map(change).collect()
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
    /// The result of a tool of Cursor, a text that is JSON.
    #[serde(default)]
    tool_output: Option<String>,
}

impl HookCall {
    /// Reads an event that a client wrote to its hook. Codex gives what a command printed without its exit code, so that
    /// `names_error` decides whether it failed: it says whether such a text names an error. That a command succeeded
    /// is not told by what it printed.
    pub fn read(client: AgentClient, document: &str, names_error: impl Fn(&str) -> bool) -> Option<Self> {
        let document: EventDocument = serde_json::from_str(document).ok()?;
        let moment = client.hook_moment(&document.hook_event_name)?;
        let command = document.tool_input.get("command").and_then(Value::as_str).map(ends);
        let failed = |error: &str| {
            let error = without_exit_code(error);
            (!error.is_empty()).then(|| HookEvent::ToolFailed { error: ends(error), command: command.clone() })
        };
        let event = match moment {
            HookMoment::SessionStart => HookEvent::SessionStarted,
            HookMoment::Prompt => HookEvent::PromptSubmitted { prompt: ends(document.prompt?.trim()) },
            HookMoment::ToolFailure if document.is_interrupt == Some(true) => return None,
            HookMoment::ToolFailure => failed(&document.error?)?,
            // Claude Code has an event of its own for what failed.
            HookMoment::ToolEnd if client == AgentClient::ClaudeCode => HookEvent::ToolSucceeded { command: command? },
            HookMoment::ToolEnd => {
                let response = match client {
                    AgentClient::Cursor => response_of_cursor(&document.tool_output?)?,
                    _ => document.tool_response,
                };
                let printed = if client == AgentClient::GeminiCli { printed_by_gemini } else { printed_by_codex };
                let (code, output) = printed(&response)?;
                match code {
                    Some(0) => HookEvent::ToolSucceeded { command: command? },
                    Some(_) => failed(output)?,
                    None => {
                        let error = ends(output.trim());
                        // Whether the same command succeeds later is never known, so nothing is to be remembered of it.
                        let may_fail = command.as_deref().is_some_and(|command| !only_reads(command));
                        let is_failure = may_fail && names_error(&error);
                        is_failure.then_some(HookEvent::ToolFailed { error, command: None })?
                    }
                }
            }
            HookMoment::Compaction => HookEvent::Compacting { transcript: named(document.transcript_path) },
            HookMoment::SessionEnd => HookEvent::SessionEnded { transcript: named(document.transcript_path)? },
        };
        let name = document.hook_event_name;
        let session = document.session_id.or(document.conversation_id).unwrap_or_default();
        let directory = named(document.cwd).or_else(|| document.workspace_roots.into_iter().next());
        Some(Self { client, name, session, directory, event })
    }

    /// Names the session as the source of what follows from it: the client, and its id of the session.
    pub fn source(&self) -> String {
        format!("{} {}", self.client, self.session)
    }

    /// Returns the answer by which the client tells the agent this text.
    pub fn answer(&self, text: &str) -> Value {
        if self.client == AgentClient::Cursor {
            return json!({ "additional_context": text });
        }
        json!({ "hookSpecificOutput": { "hookEventName": self.name, "additionalContext": text } })
    }
}

/// Returns a path of an event. An empty one stands for none.
fn named(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty())
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

/// Reads the result of a command of Cursor in the form that Codex has for it. What was printed is its `output`, or, as
/// the documentation has it, its `stdout`. None where no exit code is told.
fn response_of_cursor(result: &str) -> Option<Value> {
    let result: Value = serde_json::from_str(result).ok()?;
    let code = result.get("exitCode")?.as_i64()?;
    let texts = ["output", "stdout", "stderr"].map(|name| result.get(name).and_then(Value::as_str).unwrap_or_default());
    let printed: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    Some(json!({ "exit_code": code, "output": printed.join("\n") }))
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
mod tests;
