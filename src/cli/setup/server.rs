//! The server as each client starts it: what the flags and the settings ask for, and what its entry has already.

use std::path::Path;

use reasoning_bank_clients::{
    AgentClient, ConfigFile, ServerCommand, is_elsewhere, kept_arguments, option_of, own_arguments,
};
use reasoning_bank_domain::access::BearerToken;

use super::files;
use crate::cli::args::SetupArgs;
use crate::cli::failure::CommandFailure;
use crate::hosts::may_carry_token;
use crate::settings::{Loaded, Provider, SettingSources};

/// The directory of the bank below a home, where nobody says otherwise.
const DEFAULT_BANK: &str = ".local/share/reasoning-bank";

/// The server that set-up writes for clients that have no entry yet.
pub(super) struct WantedServer<'a> {
    args: &'a SetupArgs,
    sources: &'a SettingSources,
    /// The variable that the model's key was read from.
    key_variable: Option<String>,
    data_dir: String,
    command: ServerCommand,
}

impl<'a> WantedServer<'a> {
    pub(super) fn new(
        args: &'a SetupArgs,
        loaded: &Loaded,
        sources: &'a SettingSources,
        binary: &Path,
    ) -> Result<Self, CommandFailure> {
        let key = loaded.api_key.as_ref().and_then(|key| key.origin.strip_prefix("environment variable "));
        let mut wanted = Self {
            args,
            sources,
            key_variable: key.map(str::to_owned),
            data_dir: utf8(&loaded.settings.data_dir)?,
            command: ServerCommand { program: utf8(binary)?, arguments: Vec::new(), variables: Vec::new() },
        };
        wanted.command.arguments = wanted.arguments(loaded)?;
        wanted.command.variables = wanted.variables(&wanted.command.arguments);
        Ok(wanted)
    }

    fn arguments(&self, loaded: &Loaded) -> Result<Vec<String>, CommandFailure> {
        if let Some(url) = &self.args.http {
            check_server(url, &self.args.token_env)?;
            let arguments = ["mcp", "--server", url.as_str(), "--token-env", &self.args.token_env];
            return Ok(arguments.map(str::to_owned).to_vec());
        }
        let (flags, settings) = (&self.sources.flags, &loaded.settings);
        let mut arguments = Vec::new();
        if let Some(file) = &flags.config {
            arguments.extend(["--config".to_owned(), utf8(&self.sources.directory.join(file))?]);
        }
        // Some clients hand on the home alone, and not what else says where the bank is.
        let of_home = self.sources.home.as_ref().map(|home| home.join(DEFAULT_BANK));
        if flags.data_dir.is_some() || of_home.as_ref() != Some(&settings.data_dir) {
            arguments.extend(["--data-dir".to_owned(), self.data_dir.clone()]);
        }
        let has_no_key = settings.llm.provider == Provider::Openrouter && loaded.api_key.is_none();
        if let Some(provider) = flags.llm.as_deref().or_else(|| has_no_key.then_some("none")) {
            arguments.extend(["--llm".to_owned(), provider.to_owned()]);
        }
        arguments.push("mcp".to_owned());
        Ok(arguments)
    }

    /// Returns the names of the variables that a server with these arguments reads.
    fn variables(&self, arguments: &[String]) -> Vec<String> {
        if is_elsewhere(arguments) {
            return option_of(arguments, "--token-env").map(str::to_owned).into_iter().collect();
        }
        let has_model = option_of(arguments, "--llm") != Some("none");
        self.key_variable.iter().filter(|_| has_model).cloned().collect()
    }

    /// Returns the server of a client whose entry is in this file. What an entry of ours says already stays, unless a
    /// flag says otherwise.
    pub(super) fn of(&self, client: AgentClient, file: &ConfigFile) -> Result<ClientServer, CommandFailure> {
        let text = files::read(&file.path)?.unwrap_or_default();
        let own = own_arguments(client, file.format, &text).map_err(|error| files::unreadable(&file.path, error))?;
        let mut command = self.command.clone();
        if let Some(own) = own.filter(|_| self.args.http.is_none()) {
            let flags = &self.sources.flags;
            command.arguments = kept_arguments(own, &command.arguments, |option| match option {
                "--config" => flags.config.is_some(),
                "--data-dir" => flags.data_dir.is_some(),
                _ => flags.llm.is_some(),
            });
            command.variables = self.variables(&command.arguments);
        }
        let data_dir = option_of(&command.arguments, "--data-dir").unwrap_or(&self.data_dir).to_owned();
        let keeps = command.arguments != self.command.arguments;
        Ok(ClientServer { command, data_dir, keeps })
    }
}

/// The server as one client starts it.
pub(super) struct ClientServer {
    pub(super) command: ServerCommand,
    /// The bank that its hooks ask.
    pub(super) data_dir: String,
    /// The entry keeps arguments that set-up would not write by itself.
    pub(super) keeps: bool,
}

impl ClientServer {
    pub(super) fn is_elsewhere(&self) -> bool {
        is_elsewhere(&self.command.arguments)
    }

    /// Returns the variable with the token of a server elsewhere, where it is not set here.
    pub(super) fn unset_token(&self, sources: &SettingSources) -> Option<&str> {
        let is_unset = |name: &&String| self.is_elsewhere() && sources.variable(name).is_none();
        self.command.variables.iter().find(is_unset).map(String::as_str)
    }
}

/// Refuses what would write a secret into a file of a client, send the token where others can read it, or reach no
/// server.
fn check_server(url: &reqwest::Url, token_env: &str) -> Result<(), CommandFailure> {
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(CommandFailure::usage("--http: holds a name, a password or a query, which may be secret")
            .hint("put the token into an environment variable, and name that with --token-env"));
    }
    if !url.path().ends_with("/mcp") {
        let path = url.path().trim_end_matches('/').trim_end_matches("/mcp");
        return Err(CommandFailure::usage("--http: does not end in /mcp, the path at which a server answers")
            .hint(format!("give {}://{}{path}/mcp", url.scheme(), url.authority())));
    }
    if !may_carry_token(url) {
        return Err(CommandFailure::usage("--http: is not encrypted, and the token would be sent there")
            .hint("use https, or a server on this machine"));
    }
    let is_name = !token_env.starts_with(|first: char| first.is_ascii_digit())
        && token_env.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    if token_env.is_empty() || !is_name || token_env.parse::<BearerToken>().is_ok() {
        return Err(CommandFailure::usage("--token-env: is no name of an environment variable").hint(
            "name the variable that holds the token, such as REASONING_BANK_TOKEN; the token itself is never written",
        ));
    }
    Ok(())
}

fn utf8(path: &Path) -> Result<String, CommandFailure> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| CommandFailure::usage(format!("{} is not UTF-8, which configuration files are", path.display())))
}
