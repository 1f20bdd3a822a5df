//! The arguments of `solve`.

use clap::Args;

use super::ModeArg;

#[derive(Debug, Args)]
pub(in crate::cli) struct SolveArgs {
    /// The task, with all code and constraints; `-` reads it from stdin
    pub(in crate::cli) task: String,
    /// Attempts at the task [default: matts.k]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(in crate::cli) matts_k: Option<u32>,
    /// How attempts run [default: matts.mode]
    #[arg(long, value_name = "MODE")]
    pub(in crate::cli) matts_mode: Option<ModeArg>,
    /// One attempt only
    #[arg(long, conflicts_with_all = ["matts_k", "matts_mode"])]
    pub(in crate::cli) no_matts: bool,
    /// Recall nothing
    #[arg(long)]
    pub(in crate::cli) no_memory: bool,
    /// Keep nothing: no trace, no lessons
    #[arg(long)]
    pub(in crate::cli) no_store: bool,
    /// Such as rust or sql; ranks lessons of this domain higher
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// Check the chosen solution with this command: exit code 0 means that it passed, whatever the judge says
    #[arg(
        long,
        value_name = "COMMAND",
        long_help = "Check the chosen solution with this command: exit code 0 means that it passed, whatever the judge \
            says.\n\nA shell runs it at the top of the workspace, with the solution on stdin and in the file that \
            REASONING_BANK_SOLUTION names, for half of the time that is left at most. It runs what a model wrote: use a \
            sandbox where that matters."
    )]
    pub(in crate::cli) verify: Option<String>,
}
