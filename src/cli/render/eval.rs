//! The tables of measurements.

mod bars;
mod learning;
mod relevance;
mod speed;

use std::fmt::Write;

use serde_json::Value;

pub(in crate::cli) use bars::eval_bars;
pub(in crate::cli) use learning::eval_learning;
pub(in crate::cli) use relevance::eval_relevance;
pub(in crate::cli) use speed::{eval_episode_speed, eval_speed};

use super::style::{bold, doubtful};
use super::{clean, counted};
use crate::eval::report::{LatencyPercentiles, RetrievalReport};
use crate::eval::{capture, embedding};

pub(in crate::cli) fn eval_retrieval(report: &RetrievalReport) -> String {
    let RetrievalReport { corpus, queries, latency_ms, ingest, .. } = report;
    let mut out = format!(
        "{} in {}, {}, {} of them scored\n\n",
        counted(corpus.lines, "document", "documents"),
        counted(corpus.workspaces, "workspace", "workspaces"),
        counted(queries.lines, "query", "queries"),
        queries.scored,
    );
    let _ = writeln!(out, "{:<12} {:>8} {:>14} {:>13}", "", "answers", "keyword alone", "vector alone");
    for (name, answers) in &report.metrics {
        let shown = |value: Option<&Value>| {
            value.and_then(Value::as_f64).map_or_else(|| "none".into(), |value| format!("{value:.4}"))
        };
        let [keyword, vector] = [&report.by_list.keyword, &report.by_list.vector].map(|list| shown(list.get(name)));
        let answers = bold(format!("{:>8}", shown(Some(answers))));
        let _ = writeln!(out, "{name:<12} {answers} {keyword:>14} {vector:>13}");
    }
    let _ = writeln!(out, "\n{:<22} {:>9} {:>9} {:>9}", "ms a query", "p50", "p95", "p99");
    let mut row = |name: &str, LatencyPercentiles { p50, p95, p99 }: LatencyPercentiles| {
        let [p50, p95, p99] = [p50, p95, p99].map(|ms| ms.map_or_else(|| "none".into(), |ms| format!("{ms:.1}")));
        let _ = writeln!(out, "{name:<22} {p50:>9} {p95:>9} {p99:>9}");
    };
    row("with its embedding", latency_ms.with_embedding);
    row("without", latency_ms.without_embedding);
    let _ = writeln!(
        out,
        "\nstored {:.1} documents a second, {:.1} s in all; upkeep {:.1} s",
        ingest.per_second, ingest.seconds, ingest.upkeep_seconds
    );
    let mut note = |holds: bool, text: String| {
        if holds {
            let _ = writeln!(out, "{} {text}", doubtful("note:"));
        }
    };
    let words = counted(queries.by_words_alone, "query was", "queries were");
    note(queries.by_words_alone > 0, format!("{words} searched by words alone"));
    let gold = counted(queries.gold_not_in_corpus, "gold id is", "gold ids are");
    note(queries.gold_not_in_corpus > 0, format!("{gold} not in the corpus and count as not found"));
    note(report.build == "debug", "these times are of a debug build".into());
    out
}

pub(in crate::cli) fn eval_embedding(report: &embedding::EmbeddingReport) -> String {
    let threads = counted(report.threads, "thread", "threads");
    let mut out = format!("{} on {}, {threads}\n\n", report.embedder, report.runtime);
    let _ = writeln!(out, "{:>6} {:>9} {:>9} {:>14}", "tokens", "ms p50", "p95", "texts a second");
    for length in &report.lengths {
        let [p50, p95] = [length.single_ms.p50, length.single_ms.p95].map(Option::unwrap_or_default);
        let _ = writeln!(out, "{:>6} {p50:>9.1} {p95:>9.1} {:>14.1}", length.tokens, length.texts_per_second);
    }
    if report.build == "debug" {
        let _ = writeln!(out, "{} these times are of a debug build", doubtful("note:"));
    }
    out
}

pub(in crate::cli) fn eval_capture(report: &capture::CaptureReport) -> String {
    let share = |count: &capture::Count| {
        let percent = if count.of == 0 { 0.0 } else { 100.0 * count.kept as f64 / count.of as f64 };
        format!("{:>4} {:>4} {percent:>6.1} %", count.kept, count.of)
    };
    let mut out = format!("{:<24} {:>4} {:>4} {:>8}\n", "", "kept", "of", "share");
    let _ = writeln!(out, "{} {}", bold(format!("{:<24}", "valuable")), share(&report.valuable));
    let _ = writeln!(out, "{} {}\n", bold(format!("{:<24}", "worthless")), share(&report.worthless));
    for kind in &report.by_kind {
        let sign = if kind.valuable { '+' } else { '-' };
        let _ = writeln!(out, "{sign} {:<22} {}", clean(&kind.kind), share(&kind.count));
    }
    for wrong in &report.wrong {
        let what = if wrong.valuable { "not kept" } else { "kept" };
        let _ = write!(
            out,
            "\n{} {} ({})\n  {}",
            doubtful(what),
            clean(&wrong.id),
            clean(&wrong.kind),
            clean(&wrong.reason)
        );
    }
    out
}
