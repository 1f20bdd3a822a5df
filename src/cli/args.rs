//! The arguments of every command, and their help. A flag that is a setting is checked with the settings.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};
use clap_complete::Shell;
use reasoning_bank_domain::memory::workspace::WorkspaceKey;

use crate::settings::Flags;

mod backup;
mod bank;
mod consolidate;
mod context;
mod episode;
mod eval;
mod hook;
mod import;
mod memory;
mod pattern;
mod setup;
mod shared;
mod solve;
mod token;
mod trace;
mod words;
mod working;
mod workspace;

pub(super) use backup::BackupCommand;
pub(super) use bank::{ActivateBankArgs, BankArgs, BankCommand, UpdateBankArgs};
pub(super) use consolidate::ConsolidateArgs;
pub(super) use context::{ContextArgs, RecoverArgs};
pub(super) use episode::{EpisodeCommand, EpisodeListArgs, EpisodeSearchArgs, LearnEpisodeArgs, RecordEpisodeArgs};
pub(super) use eval::{
    EmbeddingArgs, EvalCommand, KillsArgs, LearningArgs, LoadArgs, RelevanceArgs, RetrievalArgs, SpeedArgs,
};
pub(super) use hook::HookArgs;
pub(super) use import::{LearnArgs, SourceArgs};
pub(super) use memory::{
    ErrorArgs, FeedbackArgs, ImportArgs, LessonArgs, ListArgs, MemoryCommand, OnlyArgs, RecordArgs, SearchArgs,
    UpdateArgs,
};
pub(super) use pattern::{FindPatternArgs, PatternCommand};
pub(super) use setup::{ScopeArg, SetupArgs};
pub(super) use shared::Sure;
pub(super) use solve::SolveArgs;
pub(super) use token::{TokenArgs, TokenCommand};
pub(super) use trace::{GenealogyArgs, TraceCommand};
pub(super) use words::ModeArg;
pub(super) use working::WorkingCommand;
pub(super) use workspace::WorkspaceCommand;

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
        reasoning-bank memory search \"parse a date\"           what was learned about it\n  \
        reasoning-bank doctor                                 whether all it needs is there\n\n\
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
    /// Project whose memories are meant: a path in it, or its 16-digit id [default: the repository of the current
    /// directory, else what `workspace switch` chose, else the current directory]
    #[arg(long, global = true, value_name = "PATH")]
    workspace: Option<String>,
    /// Provider of the language model: openrouter, responses, chat, simulated or none
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
            listen: None,
            verbose: self.verbose,
            quiet: self.quiet,
        }
    }
}

/// Reads the URL of a server of a team.
pub(super) fn server_url(text: &str) -> Result<reqwest::Url, String> {
    let url: reqwest::Url = text.parse().map_err(|error| format!("{error}; it looks like https://HOST/mcp"))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("{other} is neither http nor https")),
    }
}

/// The server of a team that `mcp` leads to. Without one, the bank of this machine is served.
#[derive(Debug, Args)]
pub(super) struct McpArgs {
    /// Pass everything on to the server of a team at this URL, which ends with /mcp
    #[arg(long, value_name = "URL", value_parser = server_url)]
    pub(super) server: Option<reqwest::Url>,
    /// Environment variable that holds the token
    #[arg(long, value_name = "NAME", default_value = "REASONING_BANK_TOKEN", requires = "server")]
    pub(super) token_env: String,
    /// Project that the memories are of, by its key on the server [default: the one that `workspace link` gave the
    /// project of the current directory, else that of the token or of each call]
    #[arg(long, value_name = "KEY", requires = "server", value_parser = WorkspaceKey::chosen)]
    pub(super) key: Option<WorkspaceKey>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve the memory to an agent: MCP over stdio
    #[command(
        long_about = "Serve the memory to an agent: MCP over stdio. stdout carries the protocol only, logs go to \
            stderr or log.file. Ends when stdin does, or with SIGTERM or SIGINT; with 2 when the provider needs a key \
            and there is none, or rejects it.",
        after_help = "Examples, as a client is told of it:\n  \
            {\"command\": \"reasoning-bank\", \"args\": [\"mcp\"], \"env\": {\"OPENROUTER_API_KEY\": \"…\"}}\n  \
            {\"command\": \"reasoning-bank\", \"args\": [\"--llm\", \"none\", \"mcp\"]}\n  \
            {\"command\": \"reasoning-bank\", \"args\": [\"mcp\", \"--server\", \"https://bank.example.org/mcp\", \"--key\", \
            \"git:github.com/acme/shop\"], \"env\": {\"REASONING_BANK_TOKEN\": \"rb_…\"}}"
    )]
    Mcp(McpArgs),
    /// Put the memory into the clients that agents run in: Claude Code, Codex, Gemini CLI, OpenCode and others
    #[command(
        long_about = "Put the memory into the clients that agents run in. Without names, into all that are found here. \
            Shows what it would write, asks, writes with a backup, and starts the server as the clients will. Comments, \
            order and other servers stay as they are. Running it again changes nothing.\n\n\
            The clients are claude-code, codex, gemini-cli and opencode, which every change of this program is tried with, \
            and cursor, vscode, windsurf, cline, zed and goose, which are written by their documentation. Without a key \
            of a provider, the server is started with `--llm none`. A key is never written into a file.",
        after_help = "Examples:\n  \
            reasoning-bank setup                                  every client that is found\n  \
            reasoning-bank setup claude-code --dry-run            what it would write\n  \
            reasoning-bank setup codex --yes --instructions       and tell the agent when to use the memory\n  \
            reasoning-bank setup claude-code --with-hooks         and tell the agent what is known, unasked\n  \
            reasoning-bank setup cursor --scope project --http https://bank.example.org/mcp\n  \
            reasoning-bank setup --uninstall                      take everything back"
    )]
    Setup(SetupArgs),
    /// Answer an event of a client: what an agent is told of a prompt or a failure
    #[command(
        long_about = "Answer an event of a client: it is read on stdin and answered on stdout, in the client's form. `setup \
            --with-hooks` makes clients run it. It waits a tenth of a second at most, and always exits with 0.",
        after_help = "Example:\n  reasoning-bank hook claude-code PostToolUseFailure < event.json"
    )]
    Hook(HookArgs),
    /// Serve one bank to a team: MCP over HTTP
    #[command(
        long_about = "Serve one bank to a team: MCP over HTTP at /mcp, for everyone who has a token. On this machine it \
            works without tokens as well; beyond it, it needs one, and a proxy with TLS before it (http.behind_proxy). \
            Prints its URL. Ends with SIGTERM or SIGINT, once requests in work have ended or 5 seconds have passed.",
        after_help = "Examples:\n  \
            reasoning-bank --llm none serve\n  \
            reasoning-bank token create ana --all-workspaces && reasoning-bank serve --listen 127.0.0.1:8787"
    )]
    Serve {
        /// IP address and port to listen on; port 0 takes a free one [default: http.listen, 127.0.0.1:8787]
        #[arg(long, value_name = "ADDRESS")]
        listen: Option<String>,
    },
    /// Ask a running server whether it is ready
    #[command(
        long_about = "Ask a running server whether it is ready. Exits with 1 when it is not, or does not answer within 5 \
            seconds.",
        after_help = "Examples:\n  reasoning-bank health\n  reasoning-bank health --url http://127.0.0.1:8787"
    )]
    Health {
        /// URL of the server [default: http.listen]
        #[arg(long, value_name = "URL")]
        url: Option<reqwest::Url>,
    },
    /// Make, verify and restore backups of the bank
    #[command(subcommand, arg_required_else_help = true)]
    Backup(BackupCommand),
    /// Make, list and end the tokens of the team's server
    #[command(subcommand)]
    Token(TokenCommand),
    /// Solve a task with several attempts, and learn from it
    #[command(
        long_about = "Solve a task: recall what was learned before, make several attempts at once, choose the best by \
            its evaluation, refine it while it is not good enough, judge it, keep what was learned.\n\n\
            Exits with 1 when the solution is judged a failure, or --verify finds it to be one.",
        after_help = "Examples:\n  \
            OPENROUTER_API_KEY=… reasoning-bank solve \"Write a function that parses ISO dates\"\n  \
            DEFAULT_MODEL=qwen3 REASONING_BANK__LLM__BASE_URL=http://localhost:11434/v1 \\\n    \
                reasoning-bank --llm chat solve \"Write a function that parses ISO dates\"\n  \
            git diff | reasoning-bank --llm simulated solve --matts-k 3 -\n  \
            reasoning-bank --llm simulated solve --verify 'python3 -m py_compile \"$REASONING_BANK_SOLUTION\"' \"…\""
    )]
    Solve(SolveArgs),
    Import(SourceArgs),
    /// Learn from conversations and notes; what was learned before adds nothing
    #[command(
        long_about = "Learn from files: conversations as JSON Lines with role and content, the session files of Claude \
            Code and Codex, chats and notes in markdown. What a file is shows in its content. `--bank` reads the files \
            of a memory bank like notes. Rules decide which \
            exchanges are worth keeping, no model is called; secrets are removed first. Learning the same file again \
            adds nothing.\n\n\
            Exits with 1 when a file could not be read or holds nothing that could; the others are learned all the \
            same.",
        after_help = "Examples:\n  \
            reasoning-bank learn notes.md chat.jsonl\n  \
            reasoning-bank learn --bank project:my-app\n  \
            reasoning-bank learn ~/.claude/projects/*/*.jsonl ~/.codex/sessions/*/*/*/rollout-*.jsonl\n  \
            reasoning-bank --llm none learn --json - < session.jsonl"
    )]
    Learn(LearnArgs),
    /// Show what helps with a task: patterns, warnings, lessons and earlier tasks like it
    #[command(after_help = "Examples:\n  \
        reasoning-bank context \"Fix the date parser\"\n  \
        reasoning-bank context \"Fix the date parser\" --domain rust --context language=rust --budget-tokens 1000\n  \
        reasoning-bank context --json \"Fix the date parser\" > context.json    what `episode learn --context` takes")]
    Context(Box<ContextArgs>),
    /// Show what helps with an error, and what resolved it before
    #[command(after_help = "Examples:\n  \
        reasoning-bank recover \"KeyError: 'user'\"\n  \
        reasoning-bank recover \"error[E0502]: cannot borrow\" --task \"Fix the cache\"")]
    Recover(RecoverArgs),
    /// Memories by hand: find, keep, change, share, remove
    #[command(subcommand, arg_required_else_help = true)]
    Memory(MemoryCommand),
    /// Patterns: ways to work that are proven by their applications
    #[command(subcommand, arg_required_else_help = true)]
    Pattern(PatternCommand),
    /// Traces: the attempts at tasks, and how they went
    #[command(subcommand, arg_required_else_help = true)]
    Trace(TraceCommand),
    /// Episodes, which tell what happened in tasks: keep, find, archive, remove
    #[command(subcommand, arg_required_else_help = true)]
    Episode(EpisodeCommand),
    /// The tasks that agents have in working memory
    #[command(subcommand, arg_required_else_help = true)]
    Working(WorkingCommand),
    /// Memory banks: markdown files that people and agents share
    #[command(subcommand, arg_required_else_help = true)]
    Bank(BankCommand),
    /// Show what a memory was learned from, and what was learned from it
    #[command(after_help = "Examples:\n  \
        reasoning-bank genealogy 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11\n  \
        reasoning-bank genealogy 01939f3e-7f4a-7cc1-b0de-2f6a1c9e8d11 --dot | dot -Tsvg > tree.svg")]
    Genealogy(GenealogyArgs),
    /// Workspaces: the projects that have memories, and the one that is meant
    #[command(subcommand, arg_required_else_help = true)]
    Workspace(WorkspaceCommand),
    /// Count what the bank holds, and what this process did
    #[command(
        long_about = "Count what the bank holds: traces, memories and the store, over all workspaces. Counters of the \
            cache, of model calls and of times belong to a running process, and are those of this one here; a client \
            of the MCP server asks get_statistics for the server's.",
        after_help = "Example:\n  reasoning-bank stats --json"
    )]
    Stats {
        /// Begin the counters anew; what the bank holds stays
        #[arg(long)]
        reset: bool,
    },
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
    /// Measure a bank on sets of documents and queries
    #[command(subcommand, arg_required_else_help = true)]
    Eval(EvalCommand),
    /// Let time tell: what became of the work that used memories; and keep the store in shape
    #[command(
        long_about = "Let time tell. Memories that were used in a solve gain confidence when what was committed in the \
            seven days after it stands for seven more without a revert, and lose some when one of these commits is \
            reverted. Commits of all branches count, as `git log` of the workspace's repository tells them; each solve \
            counts once.\n\n\
            Shows what it would do. With --apply it does it, and keeps the store in shape: what a server does from \
            time to time while it runs.",
        after_help = "Examples:\n  \
            reasoning-bank maintain                    what it would do\n  \
            reasoning-bank maintain --apply --json"
    )]
    Maintain {
        /// Do it
        #[arg(long)]
        apply: bool,
    },
    /// Keep what was recorded small and true: merge what says the same, find and judge patterns
    #[command(
        long_about = "Run consolidation in the workspace. Episodes of 30 to 180 days that tell the same become one, \
            and so do memories that say the same; candidates for patterns are found in what happened, patterns go to the \
            stage that their applications speak for, and those that are under review are refined, similar ones merged \
            and obsolete ones deprecated. Without --apply nothing is changed. A run can be undone for 30 days. A \
            language model proposes patterns where one is set up and background.daily_token_cap allows it.",
        after_help = "Examples:\n  \
            reasoning-bank consolidate                    what it would do\n  \
            reasoning-bank consolidate --apply\n  \
            reasoning-bank consolidate --list\n  \
            reasoning-bank consolidate --undo 01995a2c-7d1e-7c3a-9d0e-5f2f6c1b7a90"
    )]
    Consolidate(ConsolidateArgs),
    /// Give the bank the vectors of the embedding model that is configured
    #[command(
        long_about = "Make the vectors of all memories again with the embedding model of the settings. The bank is \
            searched with the old ones until all are made; then it belongs to the new model, and processes that use the \
            old one are told so. What breaks off is gone on with by the next run.",
        after_help = "Examples:\n  \
            REASONING_BANK__EMBEDDING__MODEL_DIR=models/bge-small reasoning-bank reembed\n  \
            reasoning-bank reembed --json"
    )]
    Reembed,
    /// Check the configuration, the key, the store, the embedding model and the disk
    #[command(
        long_about = "Check what a bank needs: the configuration, the key of the provider, the store, the embedding \
            model and the space on the disk. One line each, ok, warn or fail, with what to do about it. Exits with 1 \
            when a check fails.",
        after_help = "Examples:\n  \
            reasoning-bank doctor\n  \
            reasoning-bank --llm none --data-dir ./bank doctor --json"
    )]
    Doctor,
    /// Print the completions of a shell
    #[command(after_help = "Examples:\n  \
        reasoning-bank completions bash > ~/.local/share/bash-completion/completions/reasoning-bank\n  \
        reasoning-bank completions zsh > ~/.zfunc/_reasoning-bank\n  \
        reasoning-bank completions fish > ~/.config/fish/completions/reasoning-bank.fish")]
    Completions {
        /// The shell that the completions are for
        shell: Shell,
    },
    /// Write the manual pages of all commands
    #[command(after_help = "Example:\n  reasoning-bank man ~/.local/share/man/man1")]
    Man {
        /// The directory that they are written into; it is made where it is not there
        directory: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Print every setting with its value and the layer it comes from; secrets are masked
    #[command(after_help = "Example:\n  reasoning-bank config show --json\n\n\
        Layers, later wins: built-in, the user's config.toml, .reasoning-bank.toml at the workspace root, --config,\n\
        environment (REASONING_BANK__SECTION__KEY), flags. The text printed can be read as a configuration file.")]
    Show,
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
