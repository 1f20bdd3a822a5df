//! The arguments of `episode` and its commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use reasoning_bank_domain::memory::ids::TraceId;

use super::shared::{PageArgs, Sure};
use super::words::{EpisodeStatusArg, StrategyArg};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EpisodeCommand {
    /// Keep what happened in a task
    #[command(after_help = "Examples:\n  \
        reasoning-bank episode record --task \"Fix the pager\" --status success --insight \"The bound was inclusive\"\n  \
        reasoning-bank episode record --file episode.json\n\n\
        The file holds the arguments of the MCP tool record_episode, for example:\n  \
        {\"task\": {\"original_input\": \"…\"}, \"outcome\": {\"status\": \"SUCCESS\"}}")]
    Record(Box<RecordEpisodeArgs>),
    /// Keep what happened in a task, and learn from it
    #[command(
        long_about = "Keep what happened in a task, as `episode record` does, and learn from it: each insight becomes a \
            lesson. With --context the status counts for or against the patterns and memories that were shown before the \
            task. Told again, it is the same episode.",
        after_help = "Examples:\n  \
            reasoning-bank episode learn --task \"Fix the date parser\" --status success --insight \"chrono refuses day 366\"\n  \
            reasoning-bank episode learn --file episode.json --context context.json"
    )]
    Learn(Box<LearnEpisodeArgs>),
    /// Find earlier tasks like one, or like a failure
    #[command(after_help = "Examples:\n  \
        reasoning-bank episode search \"fix the date parser\"\n  \
        reasoning-bank episode search --strategy failure \"KeyError: 'user'\"\n  \
        reasoning-bank episode search --strategy structured --task-type debugging --tool \"cargo test\"\n  \
        reasoning-bank episode search --strategy temporal --since 7d")]
    Search(EpisodeSearchArgs),
    /// Show an episode; --json prints the episode document
    #[command(after_help = "Example:\n  reasoning-bank episode get 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --json")]
    Get {
        /// The episode's id, which is that of its trace
        id: TraceId,
    },
    /// Print a file or a long text that is kept with an episode
    #[command(after_help = "Examples:\n  \
        reasoning-bank episode artefact 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 build.log\n  \
        reasoning-bank episode artefact 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 core.bin --out core.bin")]
    Artefact {
        /// The episode's id
        id: TraceId,
        /// Its name, or its sha256
        name: String,
        /// Write it to this file, which must not be there yet
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// List the episodes of the workspace, newest first
    #[command(after_help = "Examples:\n  \
        reasoning-bank episode list --task-type debugging\n  \
        reasoning-bank episode list --deleted")]
    List(EpisodeListArgs),
    /// List what failed, and how it was resolved
    #[command(after_help = "Examples:\n  \
        reasoning-bank episode failures\n  \
        reasoning-bank episode failures \"error[E0502]: cannot borrow\"")]
    Failures {
        /// The error that was met: those like it come first [default: all failures, newest first]
        error: Option<String>,
        /// The most failures that are listed, 1 to 50
        #[arg(short, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=50))]
        k: u16,
    },
    /// Take an episode out of search; it stays
    #[command(after_help = "Example:\n  reasoning-bank episode archive 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Archive {
        /// The episode's id
        id: TraceId,
    },
    /// Delete an episode; it can be restored for some days
    #[command(
        long_about = "Delete an episode. It is hidden at once, and erased after episodes.retention_days. Until then it can \
            be restored.",
        after_help = "Examples:\n  \
            reasoning-bank episode delete 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11\n  \
            reasoning-bank episode delete 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --now --yes"
    )]
    Delete {
        /// The episode's id
        id: TraceId,
        /// Erase it for good, now
        #[arg(long)]
        now: bool,
        #[command(flatten)]
        sure: Sure,
    },
    /// Bring a deleted or archived episode back
    #[command(after_help = "Example:\n  reasoning-bank episode restore 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Restore {
        /// The episode's id
        id: TraceId,
    },
    /// Erase deleted episodes for good
    #[command(
        long_about = "Erase the deleted episodes of the workspace whose time to be restored is over; with --all every deleted \
            one.",
        after_help = "Examples:\n  \
            reasoning-bank episode purge\n  \
            reasoning-bank episode purge --all --yes"
    )]
    Purge {
        /// Those that can still be restored as well
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        sure: Sure,
    },
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RecordEpisodeArgs {
    /// Take all of it from a JSON file; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "status", "output", "goals", "insights", "failures", "tools", "tags", "domain", "task_type", "session"])]
    pub(in crate::cli) file: Option<PathBuf>,
    /// The task that was to be done
    #[arg(long, required_unless_present = "file")]
    pub(in crate::cli) task: Option<String>,
    /// How it ended
    #[arg(long, required_unless_present = "file")]
    pub(in crate::cli) status: Option<EpisodeStatusArg>,
    /// The output of the task
    #[arg(long)]
    pub(in crate::cli) output: Option<String>,
    /// A part of the task; may be given several times
    #[arg(long = "goal", value_name = "GOAL")]
    pub(in crate::cli) goals: Vec<String>,
    /// An insight that was gained; may be given several times
    #[arg(long = "insight", value_name = "INSIGHT")]
    pub(in crate::cli) insights: Vec<String>,
    /// An error on the way, and behind ` => ` what resolved it; may be given several times
    #[arg(long = "failure", value_name = "ERROR => RESOLUTION")]
    pub(in crate::cli) failures: Vec<String>,
    /// A tool that was used; may be given several times
    #[arg(long = "tool", value_name = "TOOL")]
    pub(in crate::cli) tools: Vec<String>,
    /// A tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(in crate::cli) tags: Vec<String>,
    /// Such as rust or sql
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// Such as debugging or feature [default: told from the task]
    #[arg(long, value_name = "TYPE")]
    pub(in crate::cli) task_type: Option<String>,
    /// A file to keep with it, with secrets taken out; may be given several times
    #[arg(long = "artefact", value_name = "FILE")]
    pub(in crate::cli) artefacts: Vec<PathBuf>,
    /// Keep artefacts that are no text, as they are
    #[arg(long, requires = "artefacts")]
    pub(in crate::cli) binary: bool,
    /// The session that it belongs to: the same said again in it within ten minutes is kept once
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) session: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LearnEpisodeArgs {
    #[command(flatten)]
    pub(in crate::cli) episode: RecordEpisodeArgs,
    /// The file with the answer of `context --json` before the task: the memories in it gain or lose by the status
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    pub(in crate::cli) context: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct EpisodeSearchArgs {
    /// The task, or with --strategy failure the error that was met
    pub(in crate::cli) query: Option<String>,
    /// How to look
    #[arg(long, value_name = "STRATEGY", default_value = "hybrid")]
    pub(in crate::cli) strategy: StrategyArg,
    /// The most episodes that are found, 1 to 50
    #[arg(short, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub(in crate::cli) k: u16,
    /// Least score, 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = 0.0)]
    pub(in crate::cli) min_relevance: f64,
    /// Only of this domain; with --strategy semantic these rank higher
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// Only of this kind, such as debugging or feature
    #[arg(long, value_name = "TYPE")]
    pub(in crate::cli) task_type: Option<String>,
    /// Only those that ended so
    #[arg(long)]
    pub(in crate::cli) status: Option<EpisodeStatusArg>,
    /// Only those in which this tool was used; may be given several times
    #[arg(long = "tool", value_name = "TOOL")]
    pub(in crate::cli) tools: Vec<String>,
    /// Only those with this tag; may be given several times
    #[arg(long = "tag", value_name = "TAG")]
    pub(in crate::cli) tags: Vec<String>,
    /// Only of this session
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) session: Option<String>,
    /// Only from then on: RFC 3339, a date, or an age such as 7d
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) since: Option<String>,
    /// Only until then, in the same forms
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) until: Option<String>,
    /// Only of the last 30 days
    #[arg(long)]
    pub(in crate::cli) prefer_recent: bool,
    /// Only successes
    #[arg(long, conflicts_with = "status")]
    pub(in crate::cli) only_successful: bool,
    /// Archived ones as well
    #[arg(long)]
    pub(in crate::cli) include_archived: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct EpisodeListArgs {
    #[command(flatten)]
    pub(in crate::cli) page: PageArgs,
    /// Archived ones as well
    #[arg(long)]
    pub(in crate::cli) archived: bool,
    /// Only deleted ones, which can be restored
    #[arg(long, conflicts_with = "archived")]
    pub(in crate::cli) deleted: bool,
    /// Only of this domain
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// Only of this kind, such as debugging or feature
    #[arg(long, value_name = "TYPE")]
    pub(in crate::cli) task_type: Option<String>,
    /// Only those that ended so
    #[arg(long)]
    pub(in crate::cli) status: Option<EpisodeStatusArg>,
}
