//! Hooks: which events of a client are asked for, what they say, and how they are answered. A hook that is not understood
//! is answered with nothing.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent_client::AgentClient;
use crate::document::{ConfigChange, ConfigValue};
use crate::server_entry::ServerCommand;

/// Seconds after which a client gives up. The hook itself gives up long before.
const TIMEOUT_S: u32 = 5;
/// A longer error is cut: what names it stands at its ends.
const ERROR_CHARS: usize = 8_000;

/// Something that happened in a session, and that the agent may be told something for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEvent {
    SessionStarted,
    /// A tool failed, other than by the user's interrupt. The text is what it printed.
    ToolFailed {
        error: String,
    },
}

impl AgentClient {
    /// Returns the names of the events that hooks are written for; none for a client whose hooks are not supported.
    pub fn hook_events(self) -> &'static [&'static str] {
        match self {
            Self::ClaudeCode => &["SessionStart", "PostToolUseFailure"],
            _ => &[],
        }
    }
}

impl ServerCommand {
    /// Returns the changes of the file that has the hooks of the client: each runs the binary itself, without a shell, on
    /// the bank in `data_dir`.
    pub fn hook_changes(&self, client: AgentClient, data_dir: &str) -> Vec<ConfigChange> {
        let flags = ["--data-dir", data_dir].map(str::to_owned);
        let change = |event: &&str| {
            let own = ["hook", client.as_str(), event].map(str::to_owned);
            let hook = ConfigValue::map([
                ("type", "command".into()),
                ("command", self.program.as_str().into()),
                ("args", ConfigValue::texts(&[&flags[..], &own].concat())),
                ("timeout", ConfigValue::Number(TIMEOUT_S)),
            ]);
            ConfigChange::element(&["hooks", event], ConfigValue::map([("hooks", ConfigValue::List(vec![hook]))]))
        };
        client.hook_events().iter().map(change).collect()
    }
}

#[derive(Deserialize)]
struct ClaudeCodeEvent {
    hook_event_name: String,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    is_interrupt: Option<bool>,
}

impl HookEvent {
    /// Reads an event that a client wrote to its hook.
    pub fn read(client: AgentClient, document: &str) -> Option<Self> {
        if client != AgentClient::ClaudeCode {
            return None;
        }
        let event: ClaudeCodeEvent = serde_json::from_str(document).ok()?;
        match event.hook_event_name.as_str() {
            "SessionStart" => Some(Self::SessionStarted),
            "PostToolUseFailure" if event.is_interrupt != Some(true) => {
                let error = without_exit_code(event.error.as_deref()?);
                (!error.is_empty()).then(|| Self::ToolFailed { error: ends(error) })
            }
            _ => None,
        }
    }

    /// Returns the answer by which the client tells the agent this text.
    pub fn answer(&self, text: &str) -> Value {
        let name = match self {
            Self::SessionStarted => "SessionStart",
            Self::ToolFailed { .. } => "PostToolUseFailure",
        };
        json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": text } })
    }
}

/// Drops the first line where it says no more than that a command failed: all failing commands share it.
fn without_exit_code(error: &str) -> &str {
    let (first, rest) = error.split_once('\n').unwrap_or((error, ""));
    let code = first.trim().strip_prefix("Exit code ");
    let is_code = code.is_some_and(|code| !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit()));
    if is_code { rest.trim() } else { error.trim() }
}

fn ends(text: &str) -> String {
    let characters = text.chars().count();
    if characters <= ERROR_CHARS {
        return text.to_owned();
    }
    let half = ERROR_CHARS / 2;
    text.chars().take(half).chain("\n".chars()).chain(text.chars().skip(characters - half)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: Value) -> Option<HookEvent> {
        HookEvent::read(AgentClient::ClaudeCode, &document.to_string())
    }

    #[test]
    fn a_failure_says_what_was_printed_and_not_how_the_command_ended() {
        let event =
            |error: &str| json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": error });
        let failed = |error: &str| Some(HookEvent::ToolFailed { error: error.to_owned() });
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
        assert_eq!(read(json!({})), None);
        assert_eq!(HookEvent::read(AgentClient::ClaudeCode, "{ \"hook_event_name\": "), None);
        assert_eq!(HookEvent::read(AgentClient::Codex, "{\"hook_event_name\": \"SessionStart\"}"), None);
    }

    #[test]
    fn of_a_long_error_both_ends_are_kept() {
        let error = format!("first{}last", "é".repeat(1_000_000));
        let event = json!({ "hook_event_name": "PostToolUseFailure", "error": error });
        let Some(HookEvent::ToolFailed { error }) = read(event) else { panic!("it failed") };
        assert!(error.starts_with("first") && error.ends_with("last"));
        assert_eq!(error.chars().count(), ERROR_CHARS + 1);
    }
}
