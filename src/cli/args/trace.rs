//! The arguments of `trace` and of `genealogy`.

use clap::{Args, Subcommand};
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};

use super::shared::PageArgs;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum TraceCommand {
    /// List the traces of the workspace, newest first
    #[command(after_help = "Example:\n  reasoning-bank trace list --limit 20")]
    List(PageArgs),
    /// Show a trace; --json prints the trace document
    #[command(after_help = "Example:\n  reasoning-bank trace show 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --json")]
    Show {
        /// The trace's id
        id: TraceId,
    },
}

#[derive(Debug, Args)]
pub(in crate::cli) struct GenealogyArgs {
    /// The memory's id
    pub(in crate::cli) id: MemoryId,
    /// The number of generations up and down [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(in crate::cli) depth: Option<u32>,
    /// Print it for Graphviz
    #[arg(long, conflicts_with = "mermaid")]
    pub(in crate::cli) dot: bool,
    /// Print it for Mermaid
    #[arg(long)]
    pub(in crate::cli) mermaid: bool,
}
