//! The arguments of `eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum EvalCommand {
    /// Measure how well and how fast documents of a set are found
    #[command(
        long_about = "Measure retrieval on a set of documents and queries: recall@k, MRR@10, nDCG@10, the time of a \
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
    /// Measure how well the rules tell exchanges that are worth keeping from those that are not
    #[command(
        long_about = "Measure the rules of passive learning on exchanges of which somebody has said whether they are \
            worth keeping: how many of either kind are kept. Nothing is stored. The passive settings in force count.",
        after_help = "Example:\n  \
            reasoning-bank eval capture --exchanges exchanges.jsonl\n\n\
            A line: {\"id\": \"x1\", \"question\": \"…\", \"answer\": \"…\", \"valuable\": true, \"kind\": \"debugging\"}"
    )]
    Capture(CaptureArgs),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CaptureArgs {
    /// Exchanges, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) exchanges: PathBuf,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RetrievalArgs {
    /// Documents, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) corpus: PathBuf,
    /// Queries, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) queries: PathBuf,
    /// Where recall is measured, 1 to 50 each
    #[arg(long, value_name = "K", value_delimiter = ',', default_value = "1,5,10",
        value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(in crate::cli) k: Vec<u32>,
    /// Write the 20 best hits of every query, as JSON Lines
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) out: Option<PathBuf>,
}
