//! The parts that `setup` does not write, because a client has no file for them, or because nobody asked for them.

use std::path::Path;

use reasoning_bank_clients::{AgentClient, ClientPlaces, NoHooks, NoSuchScope, NoUserInstructions, SetupScope};

use crate::cli::failure::CommandFailure;

#[derive(Debug, Default)]
pub(super) struct PartsLeftOut {
    /// The clients that were found, and have no file of a project.
    pub(super) servers: Vec<NoSuchScope>,
    pub(super) hooks: Vec<NoHooks>,
    /// The clients that could have hooks.
    pub(super) unasked_hooks: Vec<AgentClient>,
    /// The clients whose server is elsewhere now, and whose hooks are not.
    pub(super) local_hooks: Vec<AgentClient>,
    /// The clients whose entries keep arguments, with these.
    pub(super) kept_arguments: Vec<(AgentClient, String)>,
    pub(super) instructions: Vec<NoUserInstructions>,
}

impl PartsLeftOut {
    /// Refuses what none of these clients can have, where the user named them. Otherwise the report tells of each
    /// client that goes without.
    pub(super) fn check(
        &self,
        clients: &[AgentClient],
        are_named: bool,
        places: &ClientPlaces,
    ) -> Result<(), CommandFailure> {
        if are_named && self.instructions.len() == clients.len() {
            let has_project =
                |&client: &AgentClient| places.server_file(client, SetupScope::Project, Path::exists).is_ok();
            let hint = if clients.iter().all(has_project) {
                "leave out --instructions, or write them into the AGENTS.md of this project with --scope project"
            } else {
                "leave out --instructions; what a client shall know of a project is written into its AGENTS.md"
            };
            return Err(CommandFailure::usage(format!("--instructions: {}", joined(&self.instructions))).hint(hint));
        }
        if are_named && self.hooks.len() == clients.len() {
            return Err(CommandFailure::usage(format!("--with-hooks: {}", joined(&self.hooks))).hint(hooks_hint()));
        }
        Ok(())
    }

    /// Says that none of the clients that were found can be set up in a project.
    pub(super) fn no_server(&self) -> CommandFailure {
        CommandFailure::usage(joined(&self.servers)).hint("leave out --scope project, or name another client")
    }

    pub(super) fn sentences(&self) -> Vec<String> {
        let servers = self.servers.iter().map(|reason| format!("no server is written: {reason}"));
        let hooks = self.hooks.iter().map(|reason| format!("no hooks are written: {reason}"));
        let instructions = self.instructions.iter().map(|reason| format!("no instructions are written: {reason}"));
        let local = (!self.local_hooks.is_empty()).then(|| {
            format!(
                "the hooks of {} still ask the bank of this machine: `reasoning-bank setup --uninstall` takes them out, with \
                 the server, which this writes again",
                titles(&self.local_hooks)
            )
        });
        let kept = self.kept_arguments.iter().map(|(client, arguments)| {
            format!(
                "the server of {} keeps its arguments `{arguments}`: give --http, --config, --data-dir or --llm to change them",
                client.title()
            )
        });
        let unasked = (!self.unasked_hooks.is_empty()).then(|| {
            format!(
                "no hooks are written for {}: with --with-hooks, agents are told what is known without asking for it",
                titles(&self.unasked_hooks)
            )
        });
        servers.chain(kept).chain(hooks).chain(unasked).chain(local).chain(instructions).collect()
    }
}

fn titles(clients: &[AgentClient]) -> String {
    clients.iter().map(|client| client.title()).collect::<Vec<_>>().join(", ")
}

fn hooks_hint() -> String {
    let with_hooks = AgentClient::ALL.into_iter().filter(|client| client.has_hooks());
    let names = with_hooks.map(AgentClient::as_str).collect::<Vec<_>>().join(", ");
    format!(
        "leave out --with-hooks; hooks are written for {names}, and with --scope project for {} alone",
        AgentClient::ClaudeCode
    )
}

fn joined<T: ToString>(reasons: &[T]) -> String {
    reasons.iter().map(T::to_string).collect::<Vec<_>>().join("; ")
}
