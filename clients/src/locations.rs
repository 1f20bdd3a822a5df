//! The files that configure each client, for one project or for the user.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::agent_client::AgentClient;
use crate::document::ConfigFormat;

/// The files of a project with instructions for Claude Code alone.
const OF_CLAUDE: [&str; 3] = ["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"];

/// The file with the MCP servers of Cline, in the folder `settings` of its data.
pub const CLINE_SERVERS: &str = "cline_mcp_settings.json";

/// The scope of a set-up: all projects of the user, or one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupScope {
    User,
    Project,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} has no configuration file of a project that names MCP servers", .0.title())]
pub struct NoSuchScope(pub AgentClient);

/// The reason why `setup` writes no hooks for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoHooks {
    #[error("{} has no hooks that are supported", .0.title())]
    OfClient(AgentClient),
    #[error("{} gets hooks in the files of the user alone, not in those of a project", .0.title())]
    OfProject(AgentClient),
    #[error("{} uses a server elsewhere, and hooks ask a bank on this machine", .0.title())]
    OfServer(AgentClient),
}

/// The directories that the files of clients lie in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientPlaces {
    pub home: PathBuf,
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    pub config_home: PathBuf,
    /// The directory in which programs with a window keep their settings: `~/Library/Application Support` on macOS,
    /// `config_home` elsewhere.
    pub application_settings: PathBuf,
    /// The value of `$CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// The value of `$CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// The value of `$GEMINI_CLI_HOME`, in which Gemini CLI has its `.gemini`.
    pub gemini_home: Option<PathBuf>,
    /// The file that a variable of Cline's leads to: `$CLINE_MCP_SETTINGS_PATH`, or the one in `$CLINE_DATA_DIR` or
    /// `$CLINE_DIR`.
    pub cline_servers: Option<PathBuf>,
    /// The root of the project in use.
    pub project: PathBuf,
}

/// The client documents no file of instructions that holds for all projects of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} documents no file of instructions for all projects of the user", .0.title())]
pub struct NoUserInstructions(pub AgentClient);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    pub path: PathBuf,
    pub format: ConfigFormat,
}

impl ClientPlaces {
    /// Returns the paths that are there only where the user has the client.
    pub fn traces_of(&self, client: AgentClient) -> Vec<PathBuf> {
        let home = |name: &str| self.home.join(name);
        match client {
            AgentClient::ClaudeCode => match &self.claude_config_dir {
                Some(directory) => vec![directory.clone()],
                None => vec![home(".claude"), home(".claude.json")],
            },
            AgentClient::Codex => vec![self.codex_home()],
            AgentClient::GeminiCli => {
                vec![self.of_gemini("settings.json"), self.of_gemini("projects.json")]
            }
            AgentClient::Opencode => vec![self.config_home.join("opencode")],
            AgentClient::Cursor => vec![home(".cursor")],
            AgentClient::Vscode => vec![self.application_settings.join("Code/User")],
            AgentClient::Windsurf => vec![home(".codeium/windsurf"), self.config_home.join("devin")],
            AgentClient::Cline => vec![home(".cline")],
            AgentClient::Zed => vec![self.config_home.join("zed")],
            AgentClient::Goose => vec![self.config_home.join("goose")],
        }
    }

    /// Returns the file that names the MCP servers of a client. `exists` says whether a file is there: some clients
    /// read either of two names.
    ///
    /// # Errors
    /// The client has no such file in a project.
    pub fn server_file(
        &self,
        client: AgentClient,
        scope: SetupScope,
        exists: impl Fn(&Path) -> bool,
    ) -> Result<ConfigFile, NoSuchScope> {
        let is_user = scope == SetupScope::User;
        let (home, project) = (&self.home, &self.project);
        let mut format = ConfigFormat::Json;
        let path = match client {
            AgentClient::ClaudeCode if is_user => self.claude_config_dir.as_ref().unwrap_or(home).join(".claude.json"),
            AgentClient::ClaudeCode => project.join(".mcp.json"),
            AgentClient::Codex => {
                format = ConfigFormat::Toml;
                let directory = if is_user { self.codex_home() } else { project.join(".codex") };
                directory.join("config.toml")
            }
            AgentClient::GeminiCli if is_user => self.of_gemini("settings.json"),
            AgentClient::GeminiCli => project.join(".gemini/settings.json"),
            AgentClient::Opencode => {
                let directory = if is_user { self.config_home.join("opencode") } else { project.clone() };
                let with_comments = directory.join("opencode.jsonc");
                if exists(&with_comments) { with_comments } else { directory.join("opencode.json") }
            }
            AgentClient::Cursor => if is_user { home } else { project }.join(".cursor/mcp.json"),
            AgentClient::Vscode if is_user => self.application_settings.join("Code/User/mcp.json"),
            AgentClient::Vscode => project.join(".vscode/mcp.json"),
            AgentClient::Windsurf if is_user => {
                let renamed = self.config_home.join("devin");
                if exists(&renamed) {
                    renamed.join("mcp_config.json")
                } else {
                    home.join(".codeium/windsurf/mcp_config.json")
                }
            }
            AgentClient::Cline if is_user => match &self.cline_servers {
                Some(file) => file.clone(),
                None => home.join(".cline/data/settings").join(CLINE_SERVERS),
            },
            AgentClient::Zed if is_user => self.config_home.join("zed/settings.json"),
            AgentClient::Zed => project.join(".zed/settings.json"),
            AgentClient::Goose if is_user => {
                format = ConfigFormat::Yaml;
                self.config_home.join("goose/config.yaml")
            }
            AgentClient::Windsurf | AgentClient::Cline | AgentClient::Goose => return Err(NoSuchScope(client)),
        };
        Ok(ConfigFile { path, format })
    }

    /// Returns the file with the hooks of a client. The file of a project is the one that is not shared with others: it
    /// has a path of this machine.
    ///
    /// # Errors
    /// The hooks of the client are not supported, or not in a project.
    pub fn hooks_file(&self, client: AgentClient, scope: SetupScope) -> Result<ConfigFile, NoHooks> {
        let path = match (client, scope) {
            (AgentClient::ClaudeCode, SetupScope::User) => {
                let own = self.claude_config_dir.clone();
                own.unwrap_or_else(|| self.home.join(".claude")).join("settings.json")
            }
            (AgentClient::ClaudeCode, SetupScope::Project) => self.project.join(".claude/settings.local.json"),
            (AgentClient::Codex, SetupScope::User) => self.codex_home().join("hooks.json"),
            (AgentClient::GeminiCli, SetupScope::User) => self.of_gemini("settings.json"),
            (AgentClient::Cursor, SetupScope::User) => self.home.join(".cursor/hooks.json"),
            _ if !client.has_hooks() => return Err(NoHooks::OfClient(client)),
            _ => return Err(NoHooks::OfProject(client)),
        };
        Ok(ConfigFile { path, format: ConfigFormat::Json })
    }

    /// Returns the file with what an agent of the client is told at every start. In a project that is CLAUDE.md or
    /// GEMINI.md, or AGENTS.md, which the others read. `exists` says whether a file is there: Claude Code reads
    /// AGENTS.md only where the project has no file of its own.
    ///
    /// # Errors
    /// The client documents no such file of the user.
    pub fn instructions_file(
        &self,
        client: AgentClient,
        scope: SetupScope,
        exists: impl Fn(&Path) -> bool,
    ) -> Result<ConfigFile, NoUserInstructions> {
        let path = match (client, scope) {
            (AgentClient::ClaudeCode, SetupScope::Project) => {
                let has_own = OF_CLAUDE.iter().any(|name| exists(&self.project.join(name)));
                let shared = self.project.join("AGENTS.md");
                if !has_own && exists(&shared) { shared } else { self.project.join("CLAUDE.md") }
            }
            (AgentClient::GeminiCli, SetupScope::Project) => self.project.join("GEMINI.md"),
            (_, SetupScope::Project) => self.project.join("AGENTS.md"),
            (AgentClient::ClaudeCode, SetupScope::User) => match &self.claude_config_dir {
                Some(directory) => directory.join("CLAUDE.md"),
                None => self.home.join(".claude/CLAUDE.md"),
            },
            (AgentClient::GeminiCli, SetupScope::User) => self.of_gemini("GEMINI.md"),
            (AgentClient::Codex, SetupScope::User) => self.codex_home().join("AGENTS.md"),
            (AgentClient::Opencode, SetupScope::User) => self.config_home.join("opencode/AGENTS.md"),
            (AgentClient::Zed, SetupScope::User) => self.config_home.join("zed/AGENTS.md"),
            (AgentClient::Goose, SetupScope::User) => self.config_home.join("goose/.goosehints"),
            (AgentClient::Cursor | AgentClient::Vscode | AgentClient::Windsurf | AgentClient::Cline, _) => {
                return Err(NoUserInstructions(client));
            }
        };
        Ok(ConfigFile { path, format: ConfigFormat::Markdown })
    }

    fn of_gemini(&self, name: &str) -> PathBuf {
        self.gemini_home.as_ref().unwrap_or(&self.home).join(".gemini").join(name)
    }

    fn codex_home(&self) -> PathBuf {
        self.codex_home.clone().unwrap_or_else(|| self.home.join(".codex"))
    }
}

#[cfg(test)]
mod tests;
