//! The text of a trace: what was tried for a task, step by step, and how it went.

use std::fmt::Write;

use reasoning_bank_domain::memory::trace::{Action, Outcome, Step, Trace, TraceSource, Traces, VerdictSource};

use super::style::{bold, dim};
use super::{clean, clean_line, counted, next_page, outcome, score};

pub(in crate::cli) fn traces(listed: &Traces) -> String {
    let mut out = String::new();
    for trace in &listed.traces {
        let task = clean_line(&trace.task).split_whitespace().collect::<Vec<_>>().join(" ");
        let task: String = task.chars().take(72).collect();
        let task = if task.is_empty() { dim("(no task was named)") } else { task };
        let reported = if trace.source == TraceSource::Reported { "reported: " } else { "" };
        let _ = writeln!(
            out,
            "{}  {}  {:>4}  {}  {reported}{task}",
            dim(trace.trace_id),
            outcome(trace.outcome),
            score(trace.final_score),
            trace.created_at.strftime("%Y-%m-%d %H:%M"),
        );
    }
    let _ = writeln!(out, "{}", counted(listed.traces.len(), "trace", "traces"));
    out.push_str(&next_page(listed.next));
    out
}

/// Says who judged the work of a trace.
pub(super) fn judged_by(source: VerdictSource) -> &'static str {
    match source {
        VerdictSource::Judge => ", by the judge",
        VerdictSource::Evidence => ", by evidence",
        VerdictSource::None => ", not judged",
    }
}

pub(in crate::cli) fn trace(trace: &Trace) -> String {
    let is_reported = trace.source == TraceSource::Reported;
    let is_said = trace.verdict_source == VerdictSource::None && trace.outcome != Outcome::Partial;
    let by = if is_reported && is_said { ", as the client says" } else { judged_by(trace.verdict_source) };
    let mut out = format!("{}\n\n", bold(clean(trace.task.trim_end())));
    let mut field = |name: &str, text: String| {
        let _ = writeln!(out, "{name:<9} {}", text.replace('\n', "\n          "));
    };
    field("trace", trace.trace_id.to_string());
    field("outcome", format!("{}{by}, score {}", outcome(trace.outcome), score(trace.final_score)));
    if let Some(evidence) = &trace.evidence {
        field("evidence", clean(evidence));
    }
    let of = &trace.metadata;
    if is_reported {
        field("work", "the client's own, as it reported".into());
    } else {
        field("model", format!("{}, effort {}", clean_line(&of.model), clean_line(&of.reasoning_effort)));
        let attempts = counted(of.matts_k, "attempt", "attempts");
        let rounds = counted(of.total_iterations, "round", "rounds");
        field("work", format!("{attempts}, {rounds}, {} tokens", of.total_tokens));
    }
    if let Some(commit) = &trace.commit {
        field("commit", clean_line(commit));
    }
    if let Some(session) = &of.source_session {
        field("session", clean_line(session));
    }
    if let Some(parent) = trace.parent_trace_id {
        field("after", parent.to_string());
    }
    field("created", trace.created_at.to_string());
    trace.memories_used.iter().for_each(|id| field("used", id.to_string()));
    trace.memory_items.iter().for_each(|id| field("learned", id.to_string()));
    out.extend(trace.trajectory.iter().map(step));
    out
}

fn step(step: &Step) -> String {
    let action = match step.action {
        Action::Recall => "recall",
        Action::Think => "think",
        Action::Evaluate => "evaluate",
        Action::Refine => "refine",
        Action::Judge => "judge",
    };
    let attempt = step.attempt.map(|attempt| format!(", attempt {attempt}")).unwrap_or_default();
    let score = step.score.map(|score| format!(", score {score:.2}")).unwrap_or_default();
    let mut out = format!("\n{}\n", bold(format!("{}. {action}{attempt}{score}", step.iteration)));
    for text in [&step.content, &step.feedback].into_iter().flatten().filter(|text| !text.trim().is_empty()) {
        let _ = writeln!(out, "   {}", clean(text.trim_end()).replace('\n', "\n   "));
    }
    out
}
