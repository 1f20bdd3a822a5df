//! The arguments of `working`.

use clap::Subcommand;
use reasoning_bank_domain::memory::ids::WorkingId;

use super::shared::Sure;
use super::words::EpisodeStatusArg;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum WorkingCommand {
    /// List the open tasks of the workspace, the one touched last first
    #[command(after_help = "Example:\n  reasoning-bank working list")]
    List,
    /// Show what is at hand for a task, as an agent sees it when it goes on
    #[command(visible_alias = "resume", after_help = "Example:\n  reasoning-bank working show")]
    Show {
        /// The task's id [default: the one touched last]
        id: Option<WorkingId>,
    },
    /// End a task, and keep it as an episode under the same id
    #[command(
        after_help = "Example:\n  reasoning-bank working clear 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --status success"
    )]
    Clear {
        /// The task's id
        id: WorkingId,
        /// How it ended [default: partial]
        #[arg(long)]
        status: Option<EpisodeStatusArg>,
        /// The output of the task
        #[arg(long, value_name = "TEXT")]
        output: Option<String>,
        /// An insight that is worth knowing next time; may be given several times
        #[arg(long = "insight", value_name = "TEXT")]
        insights: Vec<String>,
        #[command(flatten)]
        sure: Sure,
    },
}
