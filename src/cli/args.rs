//! The arguments of every command, and their help. A flag that is a setting is checked with the settings.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use reasoning_bank_domain::ids::MemoryId;
use reasoning_bank_domain::matts::MattsMode;
use reasoning_bank_domain::memory::{MemoryOutcome, Scope};
use reasoning_bank_domain::score::ProfileName;

use crate::settings::Flags;

#[derive(Debug, Parser)]
#[command(
    name = "reasoning-bank",
    version,
    about = "A memory that makes LLM agents better with use",
    long_about = "A memory that makes LLM agents better with use.\n\n\
        It solves a task with several attempts at once, chooses and judges the best, and keeps what was learned: \
        strategies from what worked, warnings from what failed. The next task is told what fits it.",
    after_help = "Examples:\n  \
        reasoning-bank demo                                   the whole loop, no key, no network\n  \
        reasoning-bank --llm none mcp                         the memory as an MCP server, without a model\n  \
        reasoning-bank memory search \"parse a date\"           what was learned about it\n\n\
        Exit codes: 0 ok, 1 the work failed, 2 wrong use or configuration.",
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Read settings from this file too; it wins over the user's and the workspace's file
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Directory of the memories [default: the XDG data directory; also REASONING_BANK_DATA]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Project whose memories are meant: a path in it, or its 16-digit id [default: the current directory]
    #[arg(long, global = true, value_name = "PATH")]
    workspace: Option<String>,
    /// Where the language model comes from: simulated or none (openrouter, responses and chat are not in this version)
    #[arg(long, global = true, value_name = "PROVIDER")]
    llm: Option<String>,
    /// Print exactly one JSON document on stdout, errors too
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Log more on stderr; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// Log errors only
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
}

impl Global {
    pub(super) fn flags(&self) -> Flags {
        Flags {
            config: self.config.clone(),
            data_dir: self.data_dir.clone(),
            workspace: self.workspace.clone(),
            llm: self.llm.clone(),
            verbose: self.verbose,
            quiet: self.quiet,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve the memory to an agent: MCP over stdio
    #[command(
        long_about = "Serve the memory to an agent: MCP over stdio. stdout carries the protocol only, logs go to \
            stderr or log.file. Ends when stdin does, or with SIGTERM or SIGINT.",
        after_help = "Example, as a client is told of it:\n  \
            {\"command\": \"reasoning-bank\", \"args\": [\"--llm\", \"none\", \"mcp\"]}"
    )]
    Mcp,
    /// Solve a task with several attempts, and learn from it
    #[command(
        long_about = "Solve a task: recall what was learned before, make several attempts at once, choose the best by \
            its evaluation, refine it while it is not good enough, judge it, keep what was learned.\n\n\
            Exits with 1 when the solution is judged a failure.",
        after_help = "Examples:\n  \
            reasoning-bank --llm simulated solve \"Write a function that parses ISO dates\"\n  \
            git diff | reasoning-bank --llm simulated solve --matts-k 3 -"
    )]
    Solve(SolveArgs),
    /// Memories by hand: search, record, get, export
    #[command(subcommand, arg_required_else_help = true)]
    Memory(MemoryCommand),
    /// A tour of the whole loop on a simulated model: no key, no network
    #[command(
        long_about = "A tour of the whole loop on a simulated model, with no key and no network: tasks go in, lessons \
            come out, later tasks are told of them. Uses a temporary directory that is removed afterwards, or the one \
            that --data-dir names.",
        after_help = "Example:\n  reasoning-bank demo --data-dir ./demo-bank"
    )]
    Demo,
    /// Settings: what is in force, and from where
    #[command(subcommand, arg_required_else_help = true)]
    Config(ConfigCommand),
}

#[derive(Debug, Args)]
pub(super) struct SolveArgs {
    /// What to do, with all code and constraints; `-` reads it from stdin
    pub(super) task: String,
    /// Attempts at the task [default: matts.k]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(super) matts_k: Option<u32>,
    /// How attempts run [default: matts.mode]
    #[arg(long, value_name = "MODE")]
    pub(super) matts_mode: Option<ModeArg>,
    /// One attempt only
    #[arg(long, conflicts_with_all = ["matts_k", "matts_mode"])]
    pub(super) no_matts: bool,
    /// Recall nothing
    #[arg(long)]
    pub(super) no_memory: bool,
    /// Keep nothing: no trace, no lessons
    #[arg(long)]
    pub(super) no_store: bool,
    /// Such as rust or sql; ranks lessons of this domain higher
    #[arg(long)]
    pub(super) domain: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum MemoryCommand {
    /// Find what was learned
    #[command(after_help = "Examples:\n  \
        reasoning-bank memory search \"binary search on a sorted list\" --explain\n  \
        reasoning-bank memory search --errors-only --error-signature \"IndexError: list index out of range\" loop")]
    Search(SearchArgs),
    /// Keep a lesson
    #[command(after_help = "Examples:\n  \
        reasoning-bank memory record --title \"Bound retries\" --description \"Calling a flaky service\" \\\n    \
            --content \"Retry at most three times with backoff and jitter.\"\n  \
        reasoning-bank memory record --file lesson.json\n\n\
        The file holds the arguments of the MCP tool record_memory, for example:\n  \
        {\"title\": \"…\", \"description\": \"…\", \"content\": \"…\", \"error_context\":\n   \
        {\"error_type\": \"…\", \"failure_pattern\": \"…\", \"corrective_guidance\": \"…\"}}")]
    Record(Box<RecordArgs>),
    /// Show a memory
    #[command(after_help = "Example:\n  reasoning-bank memory get 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Get {
        /// The memory's id
        id: MemoryId,
    },
    /// Write memories, traces and signals as JSON Lines to stdout
    #[command(
        long_about = "Write what the workspace has, as JSON Lines in id order to stdout: a line a thing, \
            {\"kind\":\"memory\"|\"trace\"|\"signal\", …}.",
        after_help = "Example:\n  reasoning-bank memory export --all --vectors > bank.jsonl"
    )]
    Export {
        /// Of every workspace
        #[arg(long)]
        all: bool,
        /// With vectors and the fingerprint of the embedder that made them
        #[arg(long)]
        vectors: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// The task or the error at hand, in words
    pub(super) query: String,
    /// Only warnings about past failures
    #[arg(long)]
    pub(super) errors_only: bool,
    /// An error type or message; ranks warnings about the same error higher
    #[arg(long, value_name = "TEXT")]
    pub(super) error_signature: Option<String>,
    /// Such as rust or sql; ranks memories of this domain higher
    #[arg(long)]
    pub(super) domain: Option<String>,
    /// Only memories with this tag; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// How many at most, 1 to 50 [default: retrieval.n_results]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(super) n: Option<u32>,
    /// How memories are scored [default: retrieval.profile]
    #[arg(long)]
    pub(super) profile: Option<ProfileArg>,
    /// Show how every score came about
    #[arg(long)]
    pub(super) explain: bool,
}

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    /// Read the lesson from a JSON file; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lesson", "error"])]
    pub(super) file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) lesson: Lesson,
    #[command(flatten)]
    pub(super) error: ErrorArgs,
}

#[derive(Debug, Args)]
#[group(id = "lesson", multiple = true)]
pub(super) struct Lesson {
    /// What it says, in a few words (at most 120 characters)
    #[arg(long)]
    pub(super) title: Option<String>,
    /// One sentence: when to use it, when not (at most 400 characters)
    #[arg(long)]
    pub(super) description: Option<String>,
    /// What to do, step by step
    #[arg(long)]
    pub(super) content: Option<String>,
    /// How the experience went [default: failure with an error, else success]
    #[arg(long)]
    pub(super) outcome: Option<OutcomeArg>,
    /// A tag; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// Such as rust or sql
    #[arg(long)]
    pub(super) domain: Option<String>,
    /// Such as easy or hard
    #[arg(long)]
    pub(super) difficulty: Option<String>,
    /// Id of the memory it refines
    #[arg(long, value_name = "ID")]
    pub(super) parent: Option<MemoryId>,
    /// Id of a memory it was derived from; may be given again
    #[arg(long, value_name = "ID")]
    pub(super) derived_from: Vec<MemoryId>,
    /// Who may read it
    #[arg(long, default_value = "project")]
    pub(super) scope: ScopeArg,
    /// The task it was learned from
    #[arg(long)]
    pub(super) task: Option<String>,
}

/// What went wrong, for a warning.
#[derive(Debug, Args)]
#[group(id = "error", multiple = true)]
#[command(next_help_heading = "For a warning")]
pub(super) struct ErrorArgs {
    /// Such as IndexError
    #[arg(long, value_name = "TYPE")]
    pub(super) error_type: Option<String>,
    /// What was done that failed
    #[arg(long, value_name = "TEXT")]
    pub(super) failure_pattern: Option<String>,
    /// What to do instead
    #[arg(long, value_name = "TEXT")]
    pub(super) corrective_guidance: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print every setting with its value and the layer it comes from; secrets are masked
    #[command(after_help = "Example:\n  reasoning-bank config show --json\n\n\
        Layers, later wins: built-in, the user's config.toml, .reasoning-bank.toml at the workspace root, --config,\n\
        environment (REASONING_BANK__SECTION__KEY), flags. The text printed can be read as a configuration file.")]
    Show,
}

/// The words of a domain enum as values of an argument.
macro_rules! words {
    ($($name:ident for $target:ident { $($variant:ident),+ })+) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub(super) enum $name { $($variant),+ }

        impl From<$name> for $target {
            fn from(word: $name) -> Self {
                match word { $($name::$variant => Self::$variant),+ }
            }
        }
    )+};
}
words! {
    ModeArg for MattsMode { Parallel, Sequential }
    ProfileArg for ProfileName { Composite, Paper, Cascade, Episodic }
    OutcomeArg for MemoryOutcome { Success, Failure, Mixed }
    ScopeArg for Scope { Project, Team, Org }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_argument_is_described_and_every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let name = command.get_name();
            assert!(command.get_about().is_some(), "{name}");
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{name} {}", argument.get_id());
            }
            if command.get_subcommands().next().is_none() {
                let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("Example"), "{name}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }

    #[test]
    fn global_flags_may_stand_before_and_after_the_command() {
        for line in ["x --json --llm none memory search q", "x memory search q --llm none --json"] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert!(cli.global.json && cli.global.llm.as_deref() == Some("none"));
        }
    }

    #[test]
    fn a_lesson_comes_from_flags_or_from_a_file() {
        let parse = |line: &str| Cli::try_parse_from(line.split(' '));
        assert!(parse("x memory record --file f.json").is_ok());
        assert!(parse("x memory record --title t --error-type e").is_ok());
        for both in ["--title t", "--tag t", "--error-type e"] {
            assert!(parse(&format!("x memory record --file f.json {both}")).is_err(), "{both}");
        }
    }
}
