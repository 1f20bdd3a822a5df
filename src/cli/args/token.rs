//! The arguments of `token` and its commands. A token is named by its name or by its id.

use clap::{ArgGroup, Args, Subcommand};
use reasoning_bank_domain::access::Permission;
use reasoning_bank_domain::memory::workspace::WorkspaceKey;

use crate::tokens::MAX_DAYS;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TokenCommand {
    /// Make a token and print it, this once
    #[command(
        long_about = "Make a token and print it, this once: only its hash is kept. A server that runs takes it at once.",
        after_help = "Examples:\n  \
            reasoning-bank token create ana --all-workspaces\n  \
            reasoning-bank token create ci --owner build --permissions read,write --key git:github.com/acme/shop \
            --team web --expires-days 90"
    )]
    Create(TokenArgs),
    /// List the tokens, without their secrets
    #[command(after_help = "Example:\n  reasoning-bank token list")]
    List,
    /// Show a token, without its secret: what it may do, and when it was used last
    #[command(after_help = "Example:\n  reasoning-bank token show ana")]
    Show {
        /// Its name or id
        token: String,
    },
    /// End a token at once: every server of the data directory refuses it from now on
    #[command(after_help = "Example:\n  reasoning-bank token revoke ana")]
    Revoke {
        /// Its name or id
        token: String,
    },
    /// Replace a token by a new one with the same rights, and end the old one
    #[command(after_help = "Example:\n  reasoning-bank token rotate ana")]
    Rotate {
        /// Its name or id
        token: String,
    },
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("workspaces").required(true).multiple(false))]
pub(in crate::cli) struct TokenArgs {
    /// The name in lists and logs
    pub(in crate::cli) name: String,
    /// The owner: one person or service is one source of evidence, however many tokens it has [default: the name]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) owner: Option<String>,
    /// The permissions: read, write, solve, admin and admin:all
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "read,write")]
    pub(in crate::cli) permissions: Vec<Permission>,
    /// A workspace it is good for, by its key; can be repeated
    #[arg(long, value_name = "KEY", group = "workspaces")]
    pub(in crate::cli) key: Vec<WorkspaceKey>,
    /// It is good for every workspace of its team
    #[arg(long, group = "workspaces")]
    pub(in crate::cli) all_workspaces: bool,
    /// The team whose workspaces and memories it reads; the same key in another team is another workspace
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) team: Option<String>,
    /// The organisation of the team, whose memories it reads as well; a team is of one organisation, or of none
    #[arg(long, value_name = "NAME", requires = "team")]
    pub(in crate::cli) org: Option<String>,
    /// Take the team over, with all that it has, from the organisation that it was of; no valid token may be left there
    #[arg(long, requires = "team")]
    pub(in crate::cli) move_team: bool,
    /// The number of days after which it ends, 1 to 3650 [default: never]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_DAYS)))]
    pub(in crate::cli) expires_days: Option<u32>,
}
