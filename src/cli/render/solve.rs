//! The text of a solve: the solution, and how it came about.

use std::fmt::Write;

use reasoning_bank_domain::solve::task::{AttemptReport, LeftOutMemory, SolveReport, UsedMemory};

use super::trace::judged_by;
use super::{clean, clean_line, counted, kind, outcome, score};

pub(in crate::cli) fn solve(report: &SolveReport) -> String {
    let mut out = clean(report.solution.trim_end());
    out.push_str("\n\n");
    out.push_str(&verdict(report));
    if let Some(evidence) = &report.evidence {
        let _ = writeln!(out, "evidence  {}", clean(&evidence.words()).replace('\n', "\n          "));
    }
    out.push_str(&attempts(report));
    for memory in &report.memories_used {
        let _ = writeln!(out, "used      {}", used(memory));
    }
    if !report.memories_left_out.is_empty() {
        let one = |memory: &LeftOutMemory| format!("{} ({})", clean_line(&memory.title), memory.reason.words());
        let all: Vec<String> = report.memories_left_out.iter().map(one).collect();
        let _ = writeln!(out, "left out  {}", all.join("; "));
    }
    for learned in &report.learnings {
        let _ = writeln!(out, "learned   {}  {}", clean_line(&learned.title), learned.id);
    }
    if let Some(trace) = report.trace_id {
        let _ = writeln!(out, "trace     {trace}");
    }
    let usage = &report.usage;
    let cost = usage.cost_usd.map(|cost| format!(", {cost:.4} USD")).unwrap_or_default();
    let _ = writeln!(
        out,
        "tokens    {} in, {} out; {}, {} from the cache{cost}",
        usage.input_tokens,
        usage.output_tokens,
        counted(usage.llm_calls, "model call", "model calls"),
        usage.cache_hits,
    );
    for note in &report.notes {
        let _ = writeln!(out, "note: {}", clean_line(&note.to_string()));
    }
    for warning in &report.warnings {
        let _ = writeln!(out, "warning: {}", clean_line(&warning.to_string()));
    }
    out
}

/// Says in one line how it went.
pub(in crate::cli) fn verdict(report: &SolveReport) -> String {
    let by = judged_by(report.verdict_source);
    let rounds = counted(report.iterations, "round", "rounds");
    let ended = match (report.early_exit, report.loop_detected) {
        (_, true) => ", ended as it went in circles",
        (true, false) => ", good enough early",
        (false, false) => "",
    };
    format!(
        "outcome   {}{by}, score {}, {rounds}{ended}, {} ms\n",
        outcome(report.outcome),
        score(report.score),
        report.elapsed_ms
    )
}

/// Lists every attempt with its score in one line, with the chosen one marked.
pub(in crate::cli) fn attempts(report: &SolveReport) -> String {
    let one = |attempt: &AttemptReport| {
        let mark = if attempt.index == report.selected { "*" } else { "" };
        match &attempt.error {
            Some(error) => format!("{}{mark} failed ({})", attempt.index, clean_line(&error.to_string())),
            None => format!("{}{mark} {} ({} ms)", attempt.index, score(attempt.score), attempt.latency_ms),
        }
    };
    let all: Vec<String> = report.attempts.iter().map(one).collect();
    format!("attempts  {}\n", all.join("  "))
}

fn used(memory: &UsedMemory) -> String {
    format!("{:.3}  {}  {}  {}", memory.composite_score, kind(memory.warning), clean_line(&memory.title), memory.id)
}
