//! The arguments of `import` and `learn`.

use std::path::PathBuf;

use clap::Args;
use reasoning_bank_importers::ImportSource;

use super::shared::Sure;

/// Take over what another program remembered; what was imported before adds nothing
#[derive(Debug, Args)]
#[command(
    long_about = "Take over what another program remembered. It shows what it found, asks, and writes. Strategies and \
        warnings become memories with low confidence and the times that they had; facts become lines of the memory \
        bank. Secrets are removed. The memories of a project whose directory is here go to its workspace, and those \
        of no project to the one in use; those of other projects are left out, unless --all-projects takes them into \
        the one in use. The source is never written to, and importing it again adds nothing.",
    after_help = "Examples:\n  \
        reasoning-bank import claude-mem --dry-run            what it would import\n  \
        reasoning-bank import claude-code --yes\n  \
        reasoning-bank import server-memory ~/notes/memory.jsonl\n  \
        reasoning-bank import mem0 --since 90d --json --yes"
)]
pub(in crate::cli) struct SourceArgs {
    /// The program: claude-mem, claude-code, codex, mcp-memory-service, server-memory, mem0, basic-memory, or jsonl for
    /// an export of this one
    #[arg(value_name = "SOURCE")]
    pub(in crate::cli) source: ImportSource,
    /// The place of its memories [default: where the program keeps them]
    #[arg(value_name = "PATH")]
    pub(in crate::cli) path: Option<PathBuf>,
    /// Take nothing older than this: a day, a time, or an age such as 30d
    #[arg(long, value_name = "DATE")]
    pub(in crate::cli) since: Option<String>,
    /// Take the things of projects that no directory here is known for into the workspace in use
    #[arg(long)]
    pub(in crate::cli) all_projects: bool,
    /// Show what it would import, and change nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    #[command(flatten)]
    pub(in crate::cli) sure: Sure,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LearnArgs {
    /// Files; `-` reads one from stdin
    #[arg(required_unless_present = "bank", value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Learn from the files of this memory bank, as `bank list` names it
    #[arg(long, value_name = "TYPE:ID")]
    pub(in crate::cli) bank: Option<String>,
}
