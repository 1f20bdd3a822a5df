//! The arguments of `setup`.

use clap::{Args, ValueEnum};
use reasoning_bank_clients::{AgentClient, SetupScope};

use super::shared::Sure;

#[derive(Debug, Args)]
pub(in crate::cli) struct SetupArgs {
    /// The clients [default: those that are found]
    #[arg(value_name = "CLIENT")]
    pub(in crate::cli) clients: Vec<AgentClient>,
    /// Show what it would do, and change nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    #[command(flatten)]
    pub(in crate::cli) sure: Sure,
    /// The projects in which the server is there: all of the user's, or this one
    #[arg(long, value_name = "SCOPE", default_value = "user")]
    pub(in crate::cli) scope: ScopeArg,
    /// Use the server of a team at this URL, which ends with /mcp, over a bridge that the client starts
    #[arg(long, value_name = "URL", value_parser = super::server_url)]
    pub(in crate::cli) http: Option<reqwest::Url>,
    /// Environment variable in which the client has the token for --http
    #[arg(long, value_name = "NAME", default_value = "REASONING_BANK_TOKEN", requires = "http")]
    pub(in crate::cli) token_env: String,
    /// Write five lines into the instructions of the user or, with `--scope project`, of the project (CLAUDE.md, GEMINI.md
    /// or AGENTS.md) too, which tell the agent when to use the memory
    #[arg(long)]
    pub(in crate::cli) instructions: bool,
    /// Let the client run hooks too, which tell the agent what is known of its prompt and of an error (Claude Code,
    /// Codex, Gemini CLI, Cursor; in a project Claude Code alone); on a terminal it is asked for
    #[arg(long, conflicts_with = "http")]
    pub(in crate::cli) with_hooks: bool,
    /// Take back what was written
    #[arg(long, conflicts_with_all = ["http", "instructions", "with_hooks"])]
    pub(in crate::cli) uninstall: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ScopeArg {
    User,
    Project,
}

impl From<ScopeArg> for SetupScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
        }
    }
}
