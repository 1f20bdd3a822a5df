//! The clients: the programs that an agent runs in and that can start an MCP server for it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentClient {
    ClaudeCode,
    Codex,
    GeminiCli,
    Opencode,
    Cursor,
    Vscode,
    Windsurf,
    Cline,
    Zed,
    Goose,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no client {name}; the clients are {}", AgentClient::names())]
pub struct UnknownClient {
    name: String,
}

impl AgentClient {
    pub const ALL: [Self; 10] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::Opencode,
        Self::Cursor,
        Self::Vscode,
        Self::Windsurf,
        Self::Cline,
        Self::Zed,
        Self::Goose,
    ];

    /// Returns the name in commands and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Cline => "cline",
            Self::Zed => "zed",
            Self::Goose => "goose",
        }
    }

    /// Returns the name that its makers give it.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Opencode => "OpenCode",
            Self::Cursor => "Cursor",
            Self::Vscode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Cline => "Cline",
            Self::Zed => "Zed",
            Self::Goose => "Goose",
        }
    }

    /// Says whether `make clients` runs the real client on what is written. The others are written by their
    /// documentation alone.
    pub fn is_tried(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::GeminiCli | Self::Opencode)
    }

    /// Returns the name of its program, where it has one that is on the PATH.
    pub fn program(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude"),
            Self::Codex => Some("codex"),
            Self::GeminiCli => Some("gemini"),
            Self::Opencode => Some("opencode"),
            Self::Cursor => Some("cursor"),
            Self::Vscode => Some("code"),
            Self::Windsurf => Some("windsurf"),
            Self::Cline => Some("cline"),
            Self::Zed => Some("zed"),
            Self::Goose => Some("goose"),
        }
    }

    /// Says what the user does next to see that the client has the server.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::ClaudeCode => "start claude anew; `claude mcp list` shows the server",
            Self::Codex => "start codex anew; `codex mcp list` shows the server",
            Self::GeminiCli => "start gemini anew in a trusted folder; `gemini mcp list` shows the server",
            Self::Opencode => "start opencode anew; `opencode mcp list` shows the server",
            Self::Cursor => "start Cursor anew and switch the server on under Settings, MCP",
            Self::Vscode => "run `MCP: List Servers` from the command palette and start the server",
            Self::Windsurf => "press refresh under MCP servers in the settings of Cascade",
            Self::Cline => "start cline anew; the server is in its list of MCP servers",
            Self::Zed => "look for the server under Agent, Settings: a green dot says that it runs",
            Self::Goose => "start goose anew; `goose info -v` lists the extension",
        }
    }

    /// Returns what the user has to do besides, before hooks run.
    pub fn next_step_of_hooks(self) -> Option<&'static str> {
        (self == Self::Codex).then_some("trust each hook when codex asks, or it does not run")
    }

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for AgentClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for AgentClient {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Self, UnknownClient> {
        Self::ALL
            .into_iter()
            .find(|client| client.as_str() == text)
            .ok_or_else(|| UnknownClient { name: text.to_owned() })
    }
}
