//! The arguments of `eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EvalCommand {
    /// Measure how well and how fast documents of a set are found
    #[command(
        long_about = "Measure retrieval on a set of documents and queries: recall@k, MRR@10, nDCG@10, of the answers and \
            of what the words or the vectors alone would have found, the time of a \
            query with and without embedding, documents stored per second. Everything goes through the store and the \
            retrieval that all commands use, with the retrieval settings in force, in a temporary directory.",
        after_help = "Example:\n  \
            reasoning-bank eval retrieval --corpus corpus.jsonl --queries queries.jsonl --out run.jsonl\n\n\
            A line of the corpus:  {\"id\": \"d1\", \"title\": \"\", \"text\": \"…\", \"ts\": \"2026-03-01T12:00:00\", \
            \"workspace\": \"w\"}\n\
            A line of the queries: {\"id\": \"q1\", \"text\": \"…\", \"workspace\": \"w\", \"gold\": [\"d1\"], \
            \"exclude\": [\"d2\"]}\n\
            title, ts, workspace, gold and exclude may be absent. gold may also be {\"d1\": 2, \"d7\": 1}. A query \
            with a workspace\nsearches it alone, one without searches all.\n\
            A line of the run:     {\"id\": \"q1\", \"hits\": [\"d1\", …], \"ms\": 12.3}"
    )]
    Retrieval(RetrievalArgs),
    /// Measure how well an answer knows whether it is one
    #[command(
        long_about = "Measure the relevance of answers on at least two sets, each a directory with corpus.jsonl and \
            queries.jsonl as `eval retrieval` takes them. Banks of the sizes are sampled from each set and asked \
            questions whose answers are there, questions of the same set whose answers were taken out, and questions of \
            the other sets. Everything goes through the store and the retrieval that all commands use, with the \
            settings in force, in a temporary directory.",
        after_help = "Example:\n  reasoning-bank eval relevance tests/data/retrieval/*/"
    )]
    Relevance(RelevanceArgs),
    /// Measure how fast a bank of a size is, and what it takes of memory and disk
    #[command(
        long_about = "Measure the speed of banks that are made up, of the sizes given: memories stored per second, upkeep, \
            bytes on disk and in memory, the time to open, the time of a query with and without embedding, what it \
            consists of, beside upkeep, and without anything kept in memory; the share of the nearest memories that the \
            vector list finds. Nine of ten memories are in the workspace that is asked. Everything goes through the \
            store and the retrieval that all commands use, with the settings in force, in temporary directories, each \
            part in a process of its own. Files are in the cache of the operating system, as they were just written. A \
            million memories take some minutes, and some 10 GB of disk. With --episodes it measures episodes, patterns, \
            contexts for tasks, consolidation and working memory instead, each against its bar, in banks that have as \
            many memories as episodes, 100000 at most.",
        after_help = "Examples:\n  reasoning-bank eval speed --rows 1000,100000\n  \
            reasoning-bank eval speed --episodes 10000,100000"
    )]
    Speed(SpeedArgs),
    /// Hold the team daemon against its bars under the load of many clients
    #[command(
        long_about = "Start the team daemon on a data directory of its own, with memories in it, and let many clients use it \
            over MCP for a time: each has its own token, connection and session, and thinks 3 seconds between two calls. \
            Eight of ten calls retrieve, with a query that nobody asked before or one that was asked often; the others \
            record. Every figure that has a bar is held against it: times, shares, what is stored afterwards, memory, \
            the start and the end. The exit code is 1 where a bar is missed. The configuration file and the environment \
            count, for the daemon too.",
        after_help = "Example:\n  reasoning-bank eval load --clients 200 --seconds 30"
    )]
    Load(LoadArgs),
    /// Kill the team daemon under load, again and again, and look for what is missing
    #[command(
        long_about = "Start the team daemon on a data directory of its own and kill it (SIGKILL) after up to 20 answers, \
            again and again, while clients record and ask without a pause. A write that had no answer is sent again to \
            the next daemon. At the end everything that was acknowledged must be stored, whole and once. The exit code \
            is 1 where it is not.",
        after_help = "Example:\n  reasoning-bank eval kills --rounds 200"
    )]
    Kills(KillsArgs),
    /// Measure how well the rules tell exchanges that are worth keeping from those that are not
    #[command(
        long_about = "Measure the rules of passive learning on exchanges of which somebody has said whether they are \
            worth keeping: how many of either kind are kept. Nothing is stored. The passive settings in force count.",
        after_help = "Example:\n  \
            reasoning-bank eval capture --exchanges exchanges.jsonl\n\n\
            A line: {\"id\": \"x1\", \"question\": \"…\", \"answer\": \"…\", \"valuable\": true, \"kind\": \"debugging\"}"
    )]
    Capture(CaptureArgs),
    /// Measure what is learned right, wrong and not at all, on scenarios with planted truths
    #[command(
        long_about = "Play scenarios in which tasks are solved, sessions are over, lessons are recorded and outcomes are \
            reported, and tell of each what was learned right, what was missed and what was learned wrong. A script \
            answers in place of the language model; all else is real, with the settings in force, each scenario in a \
            bank of its own in a temporary directory. A finding does not fail the command.",
        after_help = "Example:\n  \
            reasoning-bank eval learning --scenarios tests/data/learning\n\n\
            tests/data/learning/README.md of the sources describes the form of a scenario."
    )]
    Learning(LearningArgs),
    /// Measure how fast the embedding model is, by the length of texts
    #[command(
        long_about = "Measure the embedding model of the settings on texts of 4 to 254 tokens: the time of one at a \
            time, and how many a second where many are embedded at once on all threads.",
        after_help = "Example:\n  reasoning-bank eval embedding --seconds 5"
    )]
    Embedding(EmbeddingArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct EmbeddingArgs {
    /// The time for which each length is measured, one at a time and many at once, 1 to 60
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = clap::value_parser!(u64).range(1..=60))]
    pub(in crate::cli) seconds: u64,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LoadArgs {
    /// The number of clients, 1 to 2000
    #[arg(long, value_name = "N", default_value = "500", value_parser = clap::value_parser!(u32).range(1..=2_000))]
    pub(in crate::cli) clients: u32,
    /// The time for which they are counted, 1 to 3600; a sixth of it passes before that, uncounted
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u32).range(1..=3_600))]
    pub(in crate::cli) seconds: u32,
    /// The number of memories that are there before, 0 to 100000
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(in crate::cli) memories: u32,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct KillsArgs {
    /// The number of times that the daemon is killed, 1 to 10000
    #[arg(long, value_name = "N", default_value = "200", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(in crate::cli) rounds: u32,
    /// The number of clients, 1 to 64
    #[arg(long, value_name = "N", default_value = "8", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(in crate::cli) clients: u32,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CaptureArgs {
    /// Exchanges, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) exchanges: PathBuf,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LearningArgs {
    /// A TOML file of scenarios, or a directory of them
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) scenarios: PathBuf,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RetrievalArgs {
    /// Documents, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) corpus: PathBuf,
    /// Queries, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) queries: PathBuf,
    /// The ranks at which recall is measured, 1 to 50 each
    #[arg(long, value_name = "K", value_delimiter = ',', default_value = "1,5,10",
        value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(in crate::cli) k: Vec<u32>,
    /// Write the 20 best hits of every query, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RelevanceArgs {
    /// Directories of sets
    #[arg(value_name = "DIRECTORY", required = true, num_args = 2..)]
    pub(in crate::cli) sets: Vec<PathBuf>,
    /// Sizes of the banks in memories, 2 to 100000 each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "3,10,30,100,1000",
        value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(in crate::cli) sizes: Vec<u32>,
    /// Questions of each kind that are asked of the banks of one size, 10 to 10000
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub(in crate::cli) questions: u32,
    /// Samples other banks
    #[arg(long, value_name = "N", default_value = "1")]
    pub(in crate::cli) seed: u64,
    /// Fit the coefficients to these sets, and measure on each set those that were fitted without it
    #[arg(long)]
    pub(in crate::cli) fit: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SpeedArgs {
    /// Sizes of the banks in memories, 100 to 10000000 each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1000,10000,100000,1000000",
        value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub(in crate::cli) rows: Vec<u32>,
    /// Measure banks of so many episodes instead, 100 to 1000000 each
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "rows",
        value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(in crate::cli) episodes: Vec<u32>,
    /// The patterns of a bank of episodes, 10 to 100000
    #[arg(long, value_name = "N", default_value = "10000", requires = "episodes",
        value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(in crate::cli) patterns: u32,
    /// Makes other banks
    #[arg(long, value_name = "N", default_value = "1")]
    pub(in crate::cli) seed: u64,
    /// Do one part of the measurement, which stdin names
    #[arg(long, hide = true)]
    pub(in crate::cli) part: bool,
}
