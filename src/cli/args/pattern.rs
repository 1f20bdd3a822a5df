//! The arguments of `pattern` and its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use reasoning_bank_domain::memory::ids::{MemoryId, TraceId};

use super::words::{CategoryArg, ComplexityArg, StageArg};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum PatternCommand {
    /// Keep a pattern as a candidate
    #[command(after_help = "Example:\n  \
        reasoning-bank pattern add --file pattern.json\n\n\
        The file holds the arguments of the MCP tool record_pattern, for example:\n  \
        {\"title\": \"…\", \"description\": \"when to use it\", \"explanation\": \"…\", \"category\": \"tool_selection\",\n   \
        \"content\": {\"type\": \"heuristic\", \"condition\": \"…\", \"action\": {\"text\": \"…\", \"tools\": [\"rg\"]}},\n   \
        \"applicability\": {\"problem_types\": [\"debugging\"]}}")]
    Add {
        /// A JSON file; `-` reads stdin
        #[arg(long)]
        file: PathBuf,
    },
    /// Show a pattern with its evidence
    #[command(after_help = "Example:\n  reasoning-bank pattern get 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Get {
        /// The pattern's id
        id: MemoryId,
    },
    /// List the patterns of this project
    #[command(after_help = "Example:\n  reasoning-bank pattern list --stage candidate")]
    List {
        /// Only those of this stage
        #[arg(long)]
        stage: Option<StageArg>,
    },
    /// Find the patterns for a task
    #[command(after_help = "Examples:\n  \
        reasoning-bank pattern find --task-type debugging --language rust --explain\n  \
        reasoning-bank pattern find --error \"KeyError: 'id'\" --context files=12 --stage candidate")]
    Find(Box<FindPatternArgs>),
    /// Test a pattern by its applications, or accept it
    #[command(after_help = "Examples:\n  \
        reasoning-bank pattern validate 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11\n  \
        reasoning-bank pattern validate 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --accept \"our convention\"")]
    Validate {
        /// The pattern's id
        id: MemoryId,
        /// Validate it without a test, for this reason
        #[arg(long, value_name = "REASON")]
        accept: Option<String>,
    },
    /// Take a pattern out of use; it is kept for the record
    #[command(after_help = "Example:\n  \
        reasoning-bank pattern deprecate 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --reason \"the tool is gone\"")]
    Deprecate {
        /// The pattern's id
        id: MemoryId,
        /// Why
        #[arg(long)]
        reason: String,
        /// The pattern to use instead
        #[arg(long, value_name = "ID")]
        superseded_by: Option<MemoryId>,
    },
    /// Change what a pattern says and when it applies, as a new version
    #[command(after_help = "Example:\n  \
        reasoning-bank pattern update 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --file pattern.json\n\n\
        The file is that of `pattern add`.")]
    Update {
        /// The pattern's id
        id: MemoryId,
        /// A JSON file; `-` reads stdin
        #[arg(long)]
        file: PathBuf,
    },
    /// Show what a pattern was before each change
    #[command(after_help = "Example:\n  reasoning-bank pattern history 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    History {
        /// The pattern's id
        id: MemoryId,
    },
    /// Name the patterns that say much the same
    #[command(after_help = "Example:\n  reasoning-bank pattern similar 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Similar {
        /// The pattern's id
        id: MemoryId,
    },
    /// Make one pattern of two; `consolidate --undo` takes it back
    #[command(
        long_about = "Make a candidate that says what the first pattern says and applies where one of the two does, with \
            the applications of both. Both are deprecated for it. It is a run of consolidation, which can be undone for \
            30 days.",
        after_help = "Example:\n  \
            reasoning-bank pattern merge 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d12"
    )]
    Merge {
        /// The pattern whose words are kept
        id: MemoryId,
        /// The other one
        other: MemoryId,
    },
    /// Propose patterns that are worth little; none is changed
    #[command(after_help = "Example:\n  reasoning-bank pattern prune")]
    Prune,
    /// Say that a pattern was applied in the work of a trace
    #[command(after_help = "Example:\n  \
        reasoning-bank pattern apply 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d12")]
    Apply {
        /// The pattern's id
        id: MemoryId,
        /// The trace's id
        trace: TraceId,
    },
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FindPatternArgs {
    /// The domain of the task
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// The type of the task, such as debugging or testing
    #[arg(long)]
    pub(in crate::cli) task_type: Option<String>,
    /// How much there is to do
    #[arg(long)]
    pub(in crate::cli) complexity: Option<ComplexityArg>,
    /// A tool at hand; may be given several times
    #[arg(long = "tool", value_name = "TOOL")]
    pub(in crate::cli) tools: Vec<String>,
    /// The programming language
    #[arg(long)]
    pub(in crate::cli) language: Option<String>,
    /// The framework
    #[arg(long)]
    pub(in crate::cli) framework: Option<String>,
    /// The error that was met
    #[arg(long)]
    pub(in crate::cli) error: Option<String>,
    /// A further feature that conditions may ask for; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub(in crate::cli) context: Vec<String>,
    /// Patterns of this stage instead of validated ones; may be given several times
    #[arg(long)]
    pub(in crate::cli) stage: Vec<StageArg>,
    /// Only patterns of this category; may be given several times
    #[arg(long)]
    pub(in crate::cli) category: Vec<CategoryArg>,
    /// The most patterns to show
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub(in crate::cli) n: u16,
    /// Say of each other pattern what keeps it out
    #[arg(long)]
    pub(in crate::cli) explain: bool,
}
