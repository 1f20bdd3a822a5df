//! The arguments of `memory` and its commands.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use reasoning_bank_domain::memory::ids::MemoryId;

use super::shared::{PageArgs, Sure};
use super::words::{OutcomeArg, ProfileArg, ScopeArg, ScopeFilterArg, SourceArg, StatusArg};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum MemoryCommand {
    /// Find what was learned
    #[command(after_help = "Examples:\n  \
        reasoning-bank memory search \"binary search on a sorted list\" --explain\n  \
        reasoning-bank memory search --errors-only --error-signature \"IndexError: list index out of range\" loop\n  \
        reasoning-bank memory search --since 7d --outcome success \"deploy the service\"")]
    Search(SearchArgs),
    /// Keep a lesson
    #[command(after_help = "Examples:\n  \
        reasoning-bank memory record --title \"Bound retries\" --description \"Calling a flaky service\" \\\n    \
            --content \"Retry at most three times with backoff and jitter.\"\n  \
        reasoning-bank memory record --file lesson.json\n\n\
        The file holds one object with the arguments of the MCP tool record_memory, for example:\n  \
        {\"title\": \"…\", \"description\": \"…\", \"content\": \"…\", \"error_context\":\n   \
        {\"error_type\": \"…\", \"failure_pattern\": \"…\", \"corrective_guidance\": \"…\"}}")]
    Record(Box<RecordArgs>),
    /// Show a memory
    #[command(after_help = "Example:\n  reasoning-bank memory get 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Get {
        /// The memory's id
        id: MemoryId,
    },
    /// List what was learned here, newest first
    #[command(
        long_about = "List what was learned here, newest first. Where there is more than one page, each is in order for \
            itself: what was captured or distilled may stand on a later or earlier page than its time says.",
        after_help = "Examples:\n  \
        reasoning-bank memory list --limit 20\n  \
        reasoning-bank memory list --status quarantined\n  \
        reasoning-bank memory list --since 7d --outcome failure\n  \
        reasoning-bank memory list --parent 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11"
    )]
    List(ListArgs),
    /// Change a memory
    #[command(
        long_about = "Change a memory. What is not named stays as it is; every change gives it a new revision.",
        after_help = "Examples:\n  \
            reasoning-bank memory update 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --title \"Bound retries\"\n  \
            reasoning-bank memory update 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --status archived --if-revision 2"
    )]
    Update(UpdateArgs),
    /// Say whether a memory helped
    #[command(after_help = "Examples:\n  \
        reasoning-bank memory feedback 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --helpful\n  \
        reasoning-bank memory feedback 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --not-helpful \\\n    \
            --comment \"The API has changed since\"")]
    Feedback(FeedbackArgs),
    /// Keep a memory's confidence from fading with time
    #[command(after_help = "Example:\n  reasoning-bank memory pin 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Pin {
        /// The memory's id
        id: MemoryId,
    },
    /// Let a memory's confidence fade again
    #[command(after_help = "Example:\n  reasoning-bank memory unpin 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11")]
    Unpin {
        /// The memory's id
        id: MemoryId,
    },
    /// Remove a memory for good
    #[command(
        long_about = "Remove a memory for good, with what is known about its use. Asks first. `memory quarantine` \
            takes it out of every search and can be undone.",
        after_help = "Example:\n  reasoning-bank memory delete 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --yes"
    )]
    Delete {
        /// The memory's id
        id: MemoryId,
        #[command(flatten)]
        sure: Sure,
    },
    /// Take a memory out of every search, or put it back
    #[command(after_help = "Examples:\n  \
        reasoning-bank memory quarantine 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --descendants\n  \
        reasoning-bank memory quarantine 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --undo")]
    Quarantine {
        /// The memory's id
        id: MemoryId,
        /// And all that was learned from it; with --undo, what was quarantined with it
        #[arg(long)]
        descendants: bool,
        /// Put it back
        #[arg(long)]
        undo: bool,
    },
    /// Say that a newer memory takes the place of an older one, or undo it
    #[command(
        long_about = "Say that a newer memory takes the place of an older one. The older one leaves every search; `memory \
            get`, `memory list`, exports and the genealogy keep it, and `memory search --include-superseded` finds it. What \
            speaks for the older one does not speak for the newer one. --undo brings it back, or takes away the link that \
            rules found; the pair is never linked again by itself.",
        after_help = "Examples:\n  \
            reasoning-bank memory supersede 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --by 01939f3f-12ab-7d02-8c11-5a6b7c8d9e0f\n  \
            reasoning-bank memory supersede 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --undo"
    )]
    Supersede {
        /// The id of the older memory
        older: MemoryId,
        /// The id of the newer memory
        #[arg(long, value_name = "ID", required_unless_present = "undo")]
        by: Option<MemoryId>,
        /// Undo it; with --by, also where nothing links the two yet
        #[arg(long)]
        undo: bool,
    },
    /// Share a memory with the team, then with the organisation; without an id: list what deserves it
    #[command(
        long_about = "Share a copy of a memory with the next wider scope: from the project to its team, from the team \
            to its organisation. The memory stays, as the parent of the copy. Without an id, lists the memories that \
            have proved themselves enough.",
        after_help = "Examples:\n  \
            reasoning-bank memory promote\n  \
            reasoning-bank memory promote 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11"
    )]
    Promote {
        /// The memory's id
        id: Option<MemoryId>,
    },
    /// List what agents were shown here, newest first
    #[command(
        long_about = "List what agents were shown here, newest first: when, for which query or event, and out of which \
            candidates. Servers keep the list for 30 days, unless recall_log.enabled is false.",
        after_help = "Example:\n  reasoning-bank memory recalls --limit 20"
    )]
    Recalls {
        /// The most that are listed, 1 to 10000
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
        limit: u16,
    },
    /// Write memories, traces and signals as JSON Lines to stdout
    #[command(
        long_about = "Write what the workspace has, as JSON Lines in id order to stdout: a line a thing, \
            {\"kind\":\"memory\"|\"trace\"|\"signal\", …}.",
        after_help = "Example:\n  reasoning-bank memory export --all --vectors > bank.jsonl"
    )]
    Export {
        /// Write those of every workspace
        #[arg(long)]
        all: bool,
        /// Write vectors too, and the fingerprint of the embedder that made them
        #[arg(long)]
        vectors: bool,
        /// Write background jobs too, which hold the sessions that are still to be learned from
        #[arg(long)]
        with_jobs: bool,
    },
    /// Take in what `memory export` wrote, of a stranger or of your own
    #[command(
        long_about = "Take in what `memory export` wrote. The words of a file are taken, its claims are not: memories \
            begin at revision 1 as imported, with the trust of a model and a confidence of at most 0.4, unpinned; what \
            was quarantined, archived or superseded stays out of search; links to what they were learned from hold \
            within the file; which one replaces which, and evidence, are not taken. A memory for a team or an \
            organisation is left out unless its workspace is trusted with that very one. Before anything is written \
            into other workspaces than the one in use they are listed, and you are asked.\n\n\
            With --trusted-backup a backup of your own is restored exactly, without a question: workspaces with their \
            teams and organisations, scopes, ids, times, revisions, trust, pins, evidence and jobs, which are done \
            here where they were not over. Say it only of a file \
            that nobody else could write to.\n\n\
            The whole file is checked first; where a line is wrong, all that is wrong is told and nothing is \
            imported. What is there already is skipped and stays as it is, so that an import that broke off is done \
            again. Workspaces that are unknown come with their name and their root, where no other workspace has that \
            directory here. What is checked is kept in the data directory until it is imported: besides the texts of a \
            backup that is the size of the vectors, which the built-in model makes of 384 numbers of 4 bytes each, \
            1.5 kB a passage.",
        after_help = "Examples:\n  \
            reasoning-bank memory import lessons-of-a-colleague.jsonl\n  \
            reasoning-bank memory import --trusted-backup bank.jsonl\n  \
            reasoning-bank --data-dir ./old memory export --all | reasoning-bank memory import --trusted-backup -\n\n\
            A line is an object with a kind, memory, trace, signal, job or bank_file; all but the last have an id. A memory\n\
            needs title, description and content; without a workspace_id it goes to the workspace in use."
    )]
    Import(ImportArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// JSON Lines, or one JSON array; `-` reads stdin
    pub(in crate::cli) file: PathBuf,
    /// Restore a backup of your own exactly, and believe all that it claims
    #[arg(long)]
    pub(in crate::cli) trusted_backup: bool,
    #[command(flatten)]
    pub(in crate::cli) sure: Sure,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SearchArgs {
    /// The task or the error at hand, in words
    pub(in crate::cli) query: String,
    /// An error type, a message or a whole trace; ranks warnings about the same error higher, whatever their words
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) error_signature: Option<String>,
    /// Such as rust or sql; ranks memories of this domain higher
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// The most memories that are found, 1 to 50 [default: retrieval.n_results]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(in crate::cli) n: Option<u32>,
    /// How memories are scored [default: retrieval.profile]
    #[arg(long)]
    pub(in crate::cli) profile: Option<ProfileArg>,
    /// Show how every score came about, and what was considered and left out by which rule
    #[arg(long)]
    pub(in crate::cli) explain: bool,
    /// Find what newer memories took the place of, too
    #[arg(long)]
    pub(in crate::cli) include_superseded: bool,
    #[command(flatten)]
    pub(in crate::cli) only: OnlyArgs,
    /// Memories of at least this confidence, 0 to 1
    #[arg(long, value_name = "CONFIDENCE", help_heading = "Only")]
    pub(in crate::cli) min_confidence: Option<f64>,
    /// Memories of these readers [default: all that the workspace belongs to]
    #[arg(long, help_heading = "Only")]
    pub(in crate::cli) scope: Option<ScopeFilterArg>,
}

/// The conditions that narrow a search or a list; all that are given must hold.
#[derive(Debug, Args)]
#[command(next_help_heading = "Only")]
pub(in crate::cli) struct OnlyArgs {
    /// Warnings about past failures
    #[arg(long)]
    pub(in crate::cli) errors_only: bool,
    /// Memories that are no warnings
    #[arg(long, conflicts_with = "errors_only")]
    pub(in crate::cli) no_errors: bool,
    /// Memories learned then or later: RFC 3339, a date (UTC), or how long ago, such as 12h, 7d or 2w
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(in crate::cli) since: Option<String>,
    /// Memories learned before then; a date counts to its end
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(in crate::cli) until: Option<String>,
    /// Memories with this tag; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(in crate::cli) tags: Vec<String>,
    /// Memories of this domain
    #[arg(long, value_name = "DOMAIN")]
    pub(in crate::cli) domain_filter: Option<String>,
    /// Memories of this difficulty
    #[arg(long)]
    pub(in crate::cli) difficulty: Option<String>,
    /// Memories from experience that went like this
    #[arg(long)]
    pub(in crate::cli) outcome: Option<OutcomeArg>,
    /// Memories learned in this way
    #[arg(long)]
    pub(in crate::cli) source: Option<SourceArg>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RecordArgs {
    /// Read the lesson from a JSON file; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lesson", "error"])]
    pub(in crate::cli) file: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) lesson: LessonArgs,
    #[command(flatten)]
    pub(in crate::cli) error: ErrorArgs,
}

#[derive(Debug, Args)]
#[group(id = "lesson", multiple = true)]
pub(in crate::cli) struct LessonArgs {
    /// The lesson in a few words (at most 120 characters)
    #[arg(long)]
    pub(in crate::cli) title: Option<String>,
    /// One sentence: when to use it, when not (at most 400 characters)
    #[arg(long)]
    pub(in crate::cli) description: Option<String>,
    /// The advice, step by step
    #[arg(long)]
    pub(in crate::cli) content: Option<String>,
    /// How the experience went [default: failure with an error, else success]
    #[arg(long)]
    pub(in crate::cli) outcome: Option<OutcomeArg>,
    /// A tag; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    pub(in crate::cli) tags: Vec<String>,
    /// Such as rust or sql
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// Such as easy or hard
    #[arg(long)]
    pub(in crate::cli) difficulty: Option<String>,
    /// Id of the memory it refines
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) parent: Option<MemoryId>,
    /// Id of a memory it was derived from; may be given again
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) derived_from: Vec<MemoryId>,
    /// The scope in which it may be read
    #[arg(long, default_value = "project")]
    pub(in crate::cli) scope: ScopeArg,
    /// The task it was learned from
    #[arg(long)]
    pub(in crate::cli) task: Option<String>,
    /// Id of a memory that it takes the place of; may be given again
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) supersedes: Vec<MemoryId>,
    /// The time when it was said, where that was before now: RFC 3339, a date or an age (2w)
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) valid_from: Option<String>,
}

/// The error that a warning is about.
#[derive(Debug, Args)]
#[group(id = "error", multiple = true)]
#[command(next_help_heading = "For a warning")]
pub(in crate::cli) struct ErrorArgs {
    /// Such as IndexError
    #[arg(long, value_name = "TYPE")]
    pub(in crate::cli) error_type: Option<String>,
    /// The action that failed
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) failure_pattern: Option<String>,
    /// The action that is right instead
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) corrective_guidance: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// Only memories that were learned from this one
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) parent: Option<MemoryId>,
    /// Only memories of this status
    #[arg(long)]
    pub(in crate::cli) status: Option<StatusArg>,
    #[command(flatten)]
    pub(in crate::cli) page: PageArgs,
    #[command(flatten)]
    pub(in crate::cli) only: OnlyArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UpdateArgs {
    /// The memory's id
    pub(in crate::cli) id: MemoryId,
    /// The lesson in a few words (at most 120 characters)
    #[arg(long)]
    pub(in crate::cli) title: Option<String>,
    /// One sentence: when to use it, when not (at most 400 characters)
    #[arg(long)]
    pub(in crate::cli) description: Option<String>,
    /// The advice, step by step
    #[arg(long)]
    pub(in crate::cli) content: Option<String>,
    /// A tag, in place of all there are; may be given again, and blank alone takes all away
    #[arg(long = "tag", value_name = "TAG")]
    pub(in crate::cli) tags: Option<Vec<String>>,
    /// Such as rust or sql; blank takes it away
    #[arg(long)]
    pub(in crate::cli) domain: Option<String>,
    /// Such as easy or hard; blank takes it away
    #[arg(long)]
    pub(in crate::cli) difficulty: Option<String>,
    /// The status: only active memories are searched
    #[arg(long)]
    pub(in crate::cli) status: Option<StatusArg>,
    /// Change nothing unless the memory has this revision
    #[arg(long, value_name = "N")]
    pub(in crate::cli) if_revision: Option<u64>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("verdict").required(true).multiple(false))]
pub(in crate::cli) struct FeedbackArgs {
    /// The memory's id
    pub(in crate::cli) id: MemoryId,
    /// It helped
    #[arg(long, group = "verdict")]
    pub(in crate::cli) helpful: bool,
    /// It did not help, or did harm
    #[arg(long, group = "verdict")]
    pub(in crate::cli) not_helpful: bool,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) comment: Option<String>,
}
