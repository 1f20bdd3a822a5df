//! The table of banks of episodes of several sizes, with a column for each, and the bar of each line in words.

use std::fmt::Write;

use super::{megabytes, one, three, times};
use crate::cli::render::style::doubtful;
use crate::eval::report::LatencyPercentiles;
use crate::eval::speed::episodes::report::{EpisodeBankSpeed, EpisodeSpeedReport, SearchTimes};

const NAME: usize = 42;
const COLUMN: usize = 22;
const BAR: usize = 44;

pub(in crate::cli) fn eval_episode_speed(report: &EpisodeSpeedReport) -> String {
    let mut out = String::new();
    let mut row = |name: &str, bar: &str, value: &dyn Fn(&EpisodeBankSpeed) -> String| {
        let values: String = report.banks.iter().map(|bank| format!("{:>COLUMN$}", value(bank))).collect();
        let _ = writeln!(out, "{}", format!("{name:<NAME$}{values}   {bar:<BAR$}").trim_end());
    };
    row("episodes", "bar", &|bank| bank.episodes.to_string());
    row("memories / patterns beside them", "", &|bank| format!("{} / {}", bank.memories, bank.patterns));
    row("stored a second", "", &|bank| format!("{:.0}", bank.filled.per_second));
    row("upkeep after that, s", "", &|bank| format!("{:.1}", bank.filled.upkeep_seconds));
    row("memory at most until then, MB", "", &|bank| megabytes(bank.filled.rss_peak_bytes));
    row("body as JSON, KB an episode", "", &|bank| kilobytes(bank.filled.body_bytes));
    row("disk without vectors, KB an episode", "at most 10", &|bank| kilobytes(bank.filled.disk_bytes));
    row("disk of the vectors, KB an episode", "", &|bank| kilobytes(bank.filled.vector_disk_bytes));
    row("memory when serving, MB", "", &|bank| megabytes(bank.served.rss_bytes));
    row("  of it to be searched, MB", "", &|bank| megabytes(Some(bank.served.resident_bytes)));
    row("", "", &|_| String::new());
    row("ms", "", &|_| "p50    p95    p99".into());
    row("an episode by its id", "p50 below 5", &|bank| three(bank.served.by_id_ms));
    row("ten by domain, type, outcome, tool", "p50 below 50", &|bank| three(bank.served.by_attributes_ms));
    row("ten by meaning", SEMANTIC, &|bank| three(bank.served.semantic_ms));
    row("  the first of a process", "", &|bank| one(Some(bank.served.first_search_ms)));
    row("  after an episode was recorded", "", &|bank| three(bank.served.semantic_after_record_ms));
    row("ten by labels, from tables alone", "", &|bank| three(bank.from_tables.by_attributes_ms));
    row("ten by meaning, from tables alone", "p50 below 100", &|bank| three(bank.from_tables.semantic_ms));
    row("recording an episode", "", &|bank| three(bank.served.record_ms));
    row("finding patterns", "p50 below 5 at 10000 patterns", &|bank| three(bank.served.patterns_ms));
    row("context for a task, with embedding", CONTEXT, &|bank| three(bank.served.context_ms));
    row("  the embedding alone", "", &|bank| three(bank.served.embedding_ms));
    row("memories, before there were episodes", "", &|bank| three(bank.without.memory_query_ms));
    row("memories, beside the episodes", "as before", &|bank| three(bank.served.memory_query_ms));
    row("", "", &|_| String::new());
    row("consolidation: episodes looked at", "", &|bank| bank.consolidated.looked_at.to_string());
    row("  changes", "", &|bank| bank.consolidated.changes.to_string());
    row("  time, s", "below 600 at 100000 episodes", &|bank| format!("{:.1}", bank.consolidated.seconds));
    row("  memory at most, MB", "below 1000", &|bank| megabytes(bank.consolidated.rss_peak_bytes));
    let of_memories: fn(&SearchTimes) -> LatencyPercentiles = |times| times.memory_query_ms;
    let of_episodes: fn(&SearchTimes) -> LatencyPercentiles = |times| times.semantic_ms;
    for (name, of) in [("  memories", of_memories), ("  episodes by meaning", of_episodes)] {
        row(&format!("{name}, at rest, ms"), "", &|bank| three(of(&bank.consolidated.at_rest)));
        row(&format!("{name}, beside it, ms"), "", &|bank| three(of(&bank.consolidated.beside)));
        row(&format!("{name}, beside it / at rest"), "p50 at most 2 x", &|bank| {
            let (beside, rest) = (of(&bank.consolidated.beside).p50, of(&bank.consolidated.at_rest).p50);
            let ratio = beside.zip(rest).map(|(beside, rest)| beside / rest);
            format!("{} ({} asked)", times(ratio), bank.consolidated.searches)
        });
    }
    let working = &report.working;
    let (operation, synced) = (three(working.operation_ms), three(working.synced_ms));
    let head = format!("working memory, {} open tasks, ms", working.tasks);
    let _ = writeln!(out, "\n{head:<NAME$}{:>COLUMN$}", "p50    p95    p99");
    let _ = writeln!(out, "{:<NAME$}{operation:>COLUMN$}   p99 below 1", "an operation and its line in the log");
    let _ = writeln!(out, "{:<NAME$}{synced:>COLUMN$}", "a state, which is synced");
    let _ =
        writeln!(out, "\n{} cores, seed {}, retrieval.resident_mb {}", report.cores, report.seed, report.resident_mb);
    if report.build == "debug" {
        let _ = writeln!(out, "{} these times are of a debug build", doubtful("note:"));
    }
    out
}

const SEMANTIC: &str = "p50 below 10 at 100000, 25 at 1000000";
const CONTEXT: &str = "p50 below 30 at 100000, 1000 patterns";

fn kilobytes(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e3)
}

#[cfg(test)]
mod tests;
