//! The entry of the server in the configuration of each client.

use crate::agent_client::AgentClient;
use crate::document::{ConfigChange, ConfigFormat, ConfigValue, SERVER_NAME, names_program};
use crate::edit::{self, ConfigEditError};

/// Seconds that Goose waits for a tool.
const GOOSE_TIMEOUT_S: u32 = 300;

/// The command that starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCommand {
    /// The absolute path of the binary.
    pub program: String,
    pub arguments: Vec<String>,
    /// The names of variables that the server reads from the environment of its client. Their values are never written.
    pub variables: Vec<String>,
}

impl ServerCommand {
    /// Makes a command of which only the name of its entry counts.
    pub fn any() -> Self {
        Self { program: String::new(), arguments: Vec::new(), variables: Vec::new() }
    }

    /// Returns the change of the file that names the MCP servers of the client.
    pub fn change(&self, client: AgentClient) -> ConfigChange {
        let entry = |section: &str, value: ConfigValue| ConfigChange::entry(&[section], SERVER_NAME, value);
        match client {
            AgentClient::ClaudeCode | AgentClient::Vscode => {
                let section = if client == AgentClient::Vscode { "servers" } else { "mcpServers" };
                entry(section, self.value(&[("type", "stdio".into())], "env", self.referenced(client)))
            }
            AgentClient::GeminiCli | AgentClient::Cursor | AgentClient::Windsurf | AgentClient::Cline => {
                entry("mcpServers", self.value(&[], "env", self.referenced(client)))
            }
            AgentClient::Codex => {
                let names = ConfigValue::texts(&self.variables);
                entry("mcp_servers", self.value(&[], "env_vars", (!self.variables.is_empty()).then_some(names)))
            }
            AgentClient::Zed => entry("context_servers", self.value(&[], "env", None)),
            AgentClient::Opencode => entry(
                "mcp",
                ConfigValue::map([
                    ("type", "local".into()),
                    ("command", ConfigValue::texts(&[&[self.program.clone()][..], &self.arguments].concat())),
                    ("enabled", ConfigValue::Flag(true)),
                ]),
            ),
            AgentClient::Goose => entry(
                "extensions",
                ConfigValue::map([
                    ("enabled", ConfigValue::Flag(true)),
                    ("type", "stdio".into()),
                    ("name", SERVER_NAME.into()),
                    ("cmd", self.program.as_str().into()),
                    ("args", ConfigValue::texts(&self.arguments)),
                    ("env_keys", ConfigValue::texts(&self.variables)),
                    ("timeout", ConfigValue::Number(GOOSE_TIMEOUT_S)),
                ]),
            ),
        }
    }

    fn value(&self, first: &[(&str, ConfigValue)], environment: &str, variables: Option<ConfigValue>) -> ConfigValue {
        let own = [("command", self.program.as_str().into()), ("args", ConfigValue::texts(&self.arguments))];
        let entries = first.iter().cloned().chain(own).chain(variables.map(|variables| (environment, variables)));
        ConfigValue::Map(entries.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Returns references to the variables for a client that does not pass its environment on. Gemini CLI holds back
    /// what is called a key or a token; Claude Code and Zed pass on everything.
    fn referenced(&self, client: AgentClient) -> Option<ConfigValue> {
        let reference = |name: &String| match client {
            AgentClient::GeminiCli => Some(format!("${name}")),
            AgentClient::Cursor | AgentClient::Vscode | AgentClient::Windsurf | AgentClient::Cline => {
                Some(format!("${{env:{name}}}"))
            }
            _ => None,
        };
        let references: Option<Vec<_>> =
            self.variables.iter().map(|name| Some((name.clone(), ConfigValue::Text(reference(name)?)))).collect();
        references.filter(|references| !references.is_empty()).map(ConfigValue::Map)
    }
}

/// Returns the arguments that a file of the client starts the server with; none where the file does not name it.
///
/// # Errors
/// The text is not of its format.
pub fn server_arguments(
    client: AgentClient,
    format: ConfigFormat,
    text: &str,
) -> Result<Option<Vec<String>>, ConfigEditError> {
    let Some(entries) = server_entry(client, format, text)? else { return Ok(None) };
    // OpenCode has the program and its arguments in one list.
    let list = ["args", "command"].iter().find_map(|key| {
        entries.iter().find_map(|(name, value)| match value {
            ConfigValue::List(values) if name == key => Some(values),
            _ => None,
        })
    });
    Ok(Some(list.into_iter().flatten().filter_map(text_of).map(str::to_owned).collect()))
}

/// Returns the program that a file of the client starts as the server; none where the file does not name it.
///
/// # Errors
/// The text is not of its format.
pub fn server_program(
    client: AgentClient,
    format: ConfigFormat,
    text: &str,
) -> Result<Option<String>, ConfigEditError> {
    let entries = server_entry(client, format, text)?.unwrap_or_default();
    let command = entries.iter().find(|(name, _)| names_program(name)).map(|(_, value)| value);
    Ok(command
        .and_then(|value| match value {
            ConfigValue::List(values) => values.first().and_then(text_of),
            value => text_of(value),
        })
        .map(str::to_owned))
}

fn server_entry(
    client: AgentClient,
    format: ConfigFormat,
    text: &str,
) -> Result<Option<Vec<(String, ConfigValue)>>, ConfigEditError> {
    let ConfigChange::Entry { section, name, .. } = ServerCommand::any().change(client) else { return Ok(None) };
    let entry = edit::entry(format, text, &section, &name)?;
    Ok(entry.and_then(|entry| if let ConfigValue::Map(entries) = entry { Some(entries) } else { None }))
}

fn text_of(value: &ConfigValue) -> Option<&str> {
    if let ConfigValue::Text(text) = value { Some(text) } else { None }
}
