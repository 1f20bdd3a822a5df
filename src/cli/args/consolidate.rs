//! The arguments of `consolidate`.

use clap::Args;
use reasoning_bank_domain::memory::ids::RunId;

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(in crate::cli) struct ConsolidateArgs {
    /// Do it
    #[arg(long)]
    pub(in crate::cli) apply: bool,
    /// List the runs of the last 30 days
    #[arg(long)]
    pub(in crate::cli) list: bool,
    /// Show what a run changed
    #[arg(long, value_name = "RUN")]
    pub(in crate::cli) show: Option<RunId>,
    /// Take a run back, as far as nobody has changed what it changed
    #[arg(long, value_name = "RUN")]
    pub(in crate::cli) undo: Option<RunId>,
}
