//! The arguments of `workspace` and its commands. A workspace is named by a path in it or by its 16-digit id.

use std::path::PathBuf;

use clap::Subcommand;
use reasoning_bank_domain::memory::workspace::WorkspaceKey;

use super::shared::Sure;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum WorkspaceCommand {
    /// List all workspaces that have memories
    #[command(after_help = "Example:\n  reasoning-bank workspace list")]
    List,
    /// Show the workspace that is meant here, why, and what it holds
    #[command(after_help = "Examples:\n  \
        reasoning-bank workspace show\n  \
        reasoning-bank --workspace ~/src/shop workspace show --json")]
    Show,
    /// Choose the workspace that is meant outside of any repository
    #[command(
        long_about = "Choose the workspace that is meant where neither --workspace names one nor the current directory \
            lies in a repository. It is kept in the data directory.",
        after_help = "Example:\n  reasoning-bank workspace switch ~/notes"
    )]
    Switch {
        /// A path in the workspace, or its id
        path: String,
    },
    /// Bind a workspace to the path that its directory has now
    #[command(
        long_about = "Bind a workspace to the path that its directory has now. It keeps its id and all it holds. A \
            moved directory is a new workspace until then.",
        after_help = "Example:\n  reasoning-bank workspace move ~/src/shop ~/work/shop"
    )]
    Move {
        /// The path it had, or its id
        old: String,
        /// The path it has
        new: PathBuf,
    },
    /// Say under which key a team's server knows a project of this machine
    #[command(
        long_about = "Say under which key a team's server knows a project of this machine. `mcp --server URL`, run in the \
            project without --key, then names it to the server. Without a key it is the one that the git remote origin \
            gives, which is shown and asked about first: whoever wrote a checkout chose its remote.",
        after_help = "Examples:\n  \
            reasoning-bank workspace link .\n  \
            reasoning-bank workspace link ~/src/shop git:github.com/acme/shop\n  \
            reasoning-bank workspace link . --remove"
    )]
    Link {
        /// A path in the project
        path: PathBuf,
        /// The key on the server [default: the one of the remote origin]
        #[arg(conflicts_with = "remove")]
        key: Option<WorkspaceKey>,
        /// The project has no key any more
        #[arg(long)]
        remove: bool,
        #[command(flatten)]
        sure: Sure,
    },
    /// Agree to what the checkout of a workspace proposes: team, organisation, ranking
    #[command(
        long_about = "Agree to what the .reasoning-bank.toml of a checkout proposes: the team and the organisation that \
            the workspace reads and shares with (workspace.team, workspace.org), and the ranking of its searches \
            (retrieval.profile, retrieval.weights). Shows them and asks first. What the file proposes otherwise later on \
            counts only after it was agreed to again; what it no longer proposes is taken away.",
        after_help = "Example:\n  reasoning-bank workspace trust ."
    )]
    Trust {
        /// A path in the checkout
        path: PathBuf,
        #[command(flatten)]
        sure: Sure,
    },
    /// Remove traces of this workspace, which are its episodes; what was learned from them stays
    #[command(after_help = "Examples:\n  \
        reasoning-bank workspace purge-traces --older-than 90\n  \
        reasoning-bank workspace purge-traces --yes")]
    PurgeTraces {
        /// Only those that are older [default: all]
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=36_500))]
        older_than: Option<u32>,
        #[command(flatten)]
        sure: Sure,
    },
    /// Remove a workspace with its memories, traces and evidence for good
    #[command(
        long_about = "Remove a workspace with its memories, traces and evidence for good, and say what was removed. \
            Asks first. Copies that a team or an organisation got of its memories stay theirs, unless --with-promoted \
            is given: then every copy goes, whatever was edited since.",
        after_help = "Examples:\n  \
            reasoning-bank workspace delete ~/src/old-project\n  \
            reasoning-bank workspace delete ~/src/old-project --with-promoted"
    )]
    Delete {
        /// A path in the workspace, or its id
        path: String,
        /// Remove what its team and its organisation got of its memories as well
        #[arg(long)]
        with_promoted: bool,
        #[command(flatten)]
        sure: Sure,
    },
}
