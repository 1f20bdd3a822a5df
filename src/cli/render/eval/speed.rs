//! The table of banks of several sizes, with a column for each.

mod episodes;

use std::fmt::Write;

use crate::cli::render::style::doubtful;
use crate::eval::report::LatencyPercentiles;
use crate::eval::speed::report::{BankSpeed, SpeedReport};

pub(in crate::cli) use episodes::eval_episode_speed;

const NAME: usize = 38;
const COLUMN: usize = 24;

pub(in crate::cli) fn eval_speed(report: &SpeedReport) -> String {
    let mut out = String::new();
    let mut row = |name: &str, value: &dyn Fn(&BankSpeed) -> String| {
        let values: String = report.banks.iter().map(|bank| format!("{:>COLUMN$}", value(bank))).collect();
        let _ = writeln!(out, "{}", format!("{name:<NAME$}{values}").trim_end());
    };
    row("memories", &|bank| bank.rows.to_string());
    row("stored a second", &|bank| format!("{:.0}", bank.filled.ingest.per_second));
    row("upkeep after that, s", &|bank| format!("{:.1}", bank.filled.ingest.upkeep_seconds));
    row("memory at most until then, MB", &|bank| megabytes(bank.filled.rss_peak_bytes));
    row("disk, MB", &|bank| megabytes(Some(bank.disk_bytes)));
    row("fragments / rows in no index", &|bank| format!("{} / {}", bank.filled.fragments, bank.filled.index_lag_rows));
    row("", &|_| String::new());
    row("a new process: open, ms", &|bank| format!("{:.0}", bank.served.open_ms));
    row("  first answer, ms", &|bank| format!("{:.0}", bank.served.first_answer_ms));
    row("  answers from memory after, ms", &|bank| one(bank.served.resident_after_ms));
    row("memory when serving, MB", &|bank| megabytes(bank.served.rss_bytes));
    row("  of it to be searched, MB", &|bank| megabytes(Some(bank.served.resident_bytes)));
    row("  at most, upkeep included, MB", &|bank| megabytes(bank.served.rss_peak_bytes));
    row("memory where tables are searched, MB", &|bank| megabytes(bank.from_tables.rss_bytes));
    row("", &|_| String::new());
    row("ms", &|_| "p50    p95    p99".into());
    row("query without embedding", &|bank| three(bank.served.query_ms.without_embedding));
    row("  candidates", &|bank| three(bank.served.parts_ms.candidates));
    row("    vector list alone", &|bank| three(bank.served.parts_ms.vector_list));
    row("    text list alone", &|bank| three(bank.served.parts_ms.text_list));
    row("  fusion and scores", &|bank| three(bank.served.parts_ms.fusion_and_scores));
    row("  bodies", &|bank| three(bank.served.parts_ms.bodies));
    row("query with embedding, 16 tokens", &|bank| three(bank.served.query_ms.with_embedding));
    row("  the embedding", &|bank| three(bank.served.query_ms.embedding));
    row("query from tables alone", &|bank| three(bank.from_tables.query_ms));
    row("    vector list alone", &|bank| three(bank.from_tables.parts_ms.vector_list));
    row("    text list alone", &|bank| three(bank.from_tables.parts_ms.text_list));
    row("query while upkeep runs", &|bank| three(bank.served.upkeep.query_ms));
    row("commit of 10 memories", &|bank| three(bank.served.upkeep.commit_ms));
    row("comparing every vector", &|bank| one(Some(bank.exact_scan_ms)));
    row("", &|_| String::new());
    row("recall@10 of the vector list", &|bank| four(bank.recall_at_10));
    row("  from tables", &|bank| four(bank.recall_at_10_from_tables));
    row("p99 / p50", &|bank| times(bank.ratios.p99_to_p50));
    row("p99 while upkeep runs / at rest", &|bank| {
        let queries = bank.served.upkeep.queries;
        format!("{} ({queries} queries)", times(bank.ratios.p99_during_upkeep_to_at_rest))
    });
    row("from tables / from memory, p50", &|bank| times(bank.ratios.from_tables_to_resident));
    row("comparing every vector / query", &|bank| times(bank.ratios.exact_scan_to_query));
    row("embedding / query with it, p50", &|bank| times(bank.ratios.embedding_share));
    for growth in &report.growth {
        let (p50, p99) = (times(growth.p50), times(growth.p99));
        let _ = writeln!(out, "from {} to {} memories: p50 {p50}, p99 {p99}", growth.from_rows, growth.to_rows);
    }
    let texts = &report.texts;
    let _ = writeln!(
        out,
        "memories yet to be embedded: {:.1} stored a second, {:.2} of the {:.1} that are embedded alone",
        texts.stored_per_second, texts.stored_to_embedded, texts.embedded_per_second
    );
    let _ = writeln!(out, "\n{} cores, seed {}", report.cores, report.seed);
    if report.build == "debug" {
        let _ = writeln!(out, "{} these times are of a debug build", doubtful("note:"));
    }
    out
}

fn three(LatencyPercentiles { p50, p95, p99 }: LatencyPercentiles) -> String {
    format!("{:>6} {:>6} {:>6}", one(p50), one(p95), one(p99))
}

fn one(value: Option<f64>) -> String {
    let shown = |value: f64| if value < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
    value.map_or_else(|| "none".into(), shown)
}

fn four(value: Option<f64>) -> String {
    value.map_or_else(|| "none".into(), |value| format!("{value:.4}"))
}

fn times(value: Option<f64>) -> String {
    value.map_or_else(|| "none".into(), |value| format!("{value:.2} x"))
}

fn megabytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown".into(), |bytes| format!("{:.0}", bytes as f64 / 1e6))
}

#[cfg(test)]
mod tests;
