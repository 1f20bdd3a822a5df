//! The command `completions` writes what a shell needs to complete the arguments.

use clap::CommandFactory;
use clap_complete::Shell;
use serde::Serialize;

use super::args::Cli;

#[derive(Debug, Serialize)]
pub(super) struct Completions {
    shell: String,
    script: String,
}

impl Completions {
    pub(super) fn of(shell: Shell) -> Self {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "reasoning-bank", &mut script);
        Self { shell: shell.to_string(), script: String::from_utf8_lossy(&script).into_owned() }
    }

    pub(super) fn text(&self) -> String {
        self.script.clone()
    }
}
