//! The entry of the server in the configuration of each client.

use crate::agent_client::AgentClient;
use crate::document::{ConfigChange, ConfigFormat, ConfigValue, SERVER_NAME, is_our_program, names_program};
use crate::edit::{self, ConfigEditError};

/// Seconds that Goose waits for a tool.
const GOOSE_TIMEOUT_S: u32 = 300;
/// The argument with which each of our entries starts the server.
const SERVER_ARGUMENT: &str = "mcp";
/// The option of an entry that leads to a server elsewhere.
const ELSEWHERE: &str = "--server";
/// The options of an entry that say what the server works with.
const OPTIONS: [&str; 3] = ["--config", "--data-dir", MODEL];
/// The option that names the provider of the model.
const MODEL: &str = "--llm";

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

/// Returns the arguments of an entry that is certainly ours: it starts our binary as the server. None where the file
/// has no such entry.
///
/// # Errors
/// The text is not of its format.
pub fn own_arguments(
    client: AgentClient,
    format: ConfigFormat,
    text: &str,
) -> Result<Option<Vec<String>>, ConfigEditError> {
    let program = server_program(client, format, text)?.filter(|program| is_our_program(program));
    let Some((program, mut arguments)) = program.zip(server_arguments(client, format, text)?) else { return Ok(None) };
    // OpenCode has the program in the same list.
    if client == AgentClient::Opencode && arguments.first() == Some(&program) {
        arguments.remove(0);
    }
    Ok(Some(arguments).filter(|arguments| arguments.iter().any(|argument| argument == SERVER_ARGUMENT)))
}

/// Says whether arguments lead to a server elsewhere.
pub fn is_elsewhere(arguments: &[String]) -> bool {
    option_at(arguments, ELSEWHERE).is_some()
}

/// Returns the value of an option among arguments.
pub fn option_of<'a>(arguments: &'a [String], option: &str) -> Option<&'a str> {
    let at = option_at(arguments, option)?;
    match arguments[at].split_once('=') {
        Some((_, value)) => Some(value),
        None => arguments.get(at + 1).map(String::as_str),
    }
}

/// Returns the arguments that an entry has when it is written again: its own, with the options that it does not have
/// yet, and with those that were `given` now. The model is one of the latter alone: that no key of one is set where
/// set-up runs says nothing of where the client runs. An entry that leads elsewhere stays whole, unless an option was
/// given.
pub fn kept_arguments(own: Vec<String>, new: &[String], given: impl Fn(&str) -> bool) -> Vec<String> {
    if is_elsewhere(&own) {
        return if OPTIONS.into_iter().any(given) { new.to_vec() } else { own };
    }
    let mut kept = own;
    for option in OPTIONS.into_iter().rev() {
        let Some(value) = option_of(new, option) else { continue };
        match option_at(&kept, option) {
            Some(_) if !given(option) => {}
            Some(at) if kept[at] == option && at + 1 < kept.len() => value.clone_into(&mut kept[at + 1]),
            Some(at) => kept[at] = format!("{option}={value}"),
            None if option == MODEL && !given(option) => {}
            None => drop(kept.splice(0..0, [option.to_owned(), value.to_owned()])),
        }
    }
    kept
}

fn option_at(arguments: &[String], option: &str) -> Option<usize> {
    arguments
        .iter()
        .position(|argument| argument.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn kept(own: &str, new: &str, given: &[&str]) -> String {
        kept_arguments(words(own), &words(new), |option| given.contains(&option)).join(" ")
    }

    #[test]
    fn an_entry_keeps_its_arguments_but_for_those_that_are_given_now() {
        let bridge = "mcp --server https://bank.example.org/mcp --token-env TEAM_TOKEN";
        assert_eq!(kept(bridge, "--llm none mcp", &[]), bridge);
        assert_eq!(kept(bridge, "--data-dir /d --llm none mcp", &["--data-dir"]), "--data-dir /d --llm none mcp");
        assert_eq!(kept("--data-dir /own --llm none mcp", "--llm none mcp", &[]), "--data-dir /own --llm none mcp");
        assert_eq!(kept("--data-dir=/own mcp", "--data-dir /new mcp", &[]), "--data-dir=/own mcp");
        assert_eq!(kept("mcp", "--llm none mcp", &[]), "mcp");
        assert_eq!(kept("mcp", "--llm none mcp", &["--llm"]), "--llm none mcp");
        assert_eq!(kept("--data-dir=/own mcp", "--data-dir /new mcp", &["--data-dir"]), "--data-dir=/new mcp");
        assert_eq!(
            kept("--data-dir /own -v mcp", "--llm openai mcp", &["--llm"]),
            "--llm openai --data-dir /own -v mcp"
        );
        assert_eq!(kept("--llm none mcp", "--data-dir /d mcp", &[]), "--data-dir /d --llm none mcp");
    }

    #[test]
    fn an_entry_of_ours_is_known_in_the_file_of_every_client() {
        for client in AgentClient::ALL {
            let format = match client {
                AgentClient::Codex => ConfigFormat::Toml,
                AgentClient::Goose => ConfigFormat::Yaml,
                _ => ConfigFormat::Json,
            };
            let written = |program: &str| {
                let arguments = words("--data-dir /d mcp");
                let server = ServerCommand { program: program.to_owned(), arguments, variables: Vec::new() };
                edit::apply(format, "", &[server.change(client)]).unwrap()
            };
            let own = own_arguments(client, format, &written("/opt/bin/reasoning-bank"));
            assert_eq!(own, Ok(Some(words("--data-dir /d mcp"))), "{client}");
            assert_eq!(own_arguments(client, format, &written("/my/own/wrapper")), Ok(None), "{client}");
        }
    }
}
